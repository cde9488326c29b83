"""A training step of image models, by name: ``vision_models.py torchvision resnet18:64 vit_b_32:224 ...``."""

import sys

import torch
from fixed import integers, normal

package, *names = sys.argv[1:]
if package == "timm":
    import timm
    make = timm.create_model
else:
    from torchvision.models import get_model as make

for name in names:
    name, _, size = name.partition(":")
    net = make(name, num_classes=10).train()
    x, y = normal(2, 3, int(size), int(size)), integers(10, 2)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-4)
    out = net(x)
    loss = torch.nn.functional.cross_entropy(out if isinstance(out, torch.Tensor) else out[0], y)
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        after = net.eval()(x)
    print(name, bool(loss.isfinite()), tuple(after.shape), bool(after.isfinite().all()), flush=True)
