"""A training step of image models, by weights of NumPy: ``vision_models.py torchvision resnet18:64 ...``."""

import sys

import compiled_part  # noqa: F401
import torch
from fixed import fill, integers, normal

package, *names = sys.argv[1:]
if package == "timm":
    from timm import create_model as make
else:
    from torchvision.models import get_model as make

for name in names:
    name, size, *more = name.split(":")
    options = {"init_weights": False} if name in ("googlenet", "inception_v3") else {}
    if more:
        options["img_size"] = int(size)
    net = fill(make(name, num_classes=10, **options)).train()
    for part in net.modules():
        for key in ("p", "drop_prob"):
            if isinstance(getattr(part, key, None), float):
                setattr(part, key, 0.0)
    x, y = normal(2, 3, int(size), int(size)), integers(10, 2)
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-2)
    out = net(x)
    loss = torch.nn.functional.cross_entropy(out if isinstance(out, torch.Tensor) else out[0], y)
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    optimizer.step()
    with torch.no_grad():
        after = net.eval()(x)
    print(name, f"{loss.item():.4g} {norm.item():.4g}", tuple(after.shape), f"{after.abs().mean().item():.4g}",
          flush=True)
