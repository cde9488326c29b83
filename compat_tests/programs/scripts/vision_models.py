"""A training step of image models, by weights of NumPy: ``vision_models.py timm name:size ...``.

``name:size:option`` gives the model the size by an option of that name.
"""

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
    options = dict.fromkeys(more, int(size))
    if name in ("googlenet", "inception_v3"):
        options["init_weights"] = False
    if name == "inception_v3":
        options["aux_logits"] = False  # they need large images
    net = fill(make(name, num_classes=10, **options)).train()
    for part in net.modules():
        for key in ("p", "drop_prob", "drop_rate"):
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
    numbers = (f"{n.item():.4g}" for n in (loss, norm, after.abs().mean()))
    print(name, tuple(after.shape), *numbers, flush=True)
