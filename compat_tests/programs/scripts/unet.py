"""milesial/Pytorch-UNet: two training steps on one image, and the outputs in evaluation."""

import torch
from fixed import fill, integers, normal
from unet import UNet

for bilinear in (False, True):
    net = fill(UNet(n_channels=3, n_classes=2, bilinear=bilinear))
    x, y = normal(1, 3, 64, 48), integers(2, 1, 64, 48)
    optimizer = torch.optim.RMSprop(net.parameters(), lr=1e-5, weight_decay=1e-8, momentum=0.9, foreach=True)
    for _ in range(2):
        optimizer.zero_grad(set_to_none=True)
        loss = torch.nn.functional.cross_entropy(net(x), y)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        print(f"{loss.item():.4f}")
    print(f"{net.eval()(x).abs().mean().item():.4f}")
