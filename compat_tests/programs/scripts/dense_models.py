"""Models of torchvision that give classes of pixels, or boxes: ``dense_models.py name:size ...``."""

import sys

import compiled_part  # noqa: F401
import torch
from fixed import fill, normal
from torchvision.models import get_model

for name in sys.argv[1:]:
    name, _, size = name.partition(":")
    boxes = "rcnn" in name or "fcos" in name or "retina" in name
    options = {"min_size": int(size), "max_size": int(size), "box_score_thresh": 0.0} if boxes else {}
    if "fcos" in name or "retina" in name:
        options["score_thresh"] = options.pop("box_score_thresh")
    net = fill(get_model(name, weights=None, weights_backbone=None, num_classes=4, **options)).eval()
    with torch.no_grad():
        images = normal(1, 3, int(size), int(size)).sigmoid()
        found = net(images) if "ssd" not in name and not boxes else net(list(images))[0]
    for key, value in sorted(found.items()):
        print(name, key, tuple(value.shape), f"{value.float().abs().mean().item():.4g}", flush=True)
