"""torchvision where its compiled part cannot be loaded, as by PyTorch's CPU build: ``nms`` in Python instead.

The other operators have forms in Python in torchvision itself. To be imported before torchvision.
"""

import importlib.util
import pathlib

import torch

_NMS = "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"
_FOLDER = pathlib.Path(importlib.util.find_spec("torchvision").origin).parent


def nms(boxes, scores, threshold):
    """Which boxes are kept: from the best score on, those that overlap none of the kept ones by more."""
    left, top, right, bottom = boxes.unbind(1)
    areas, rest, kept = (right - left) * (bottom - top), scores.argsort(descending=True, stable=True), []
    while rest.numel():
        best, rest = rest[0], rest[1:]
        kept.append(best)
        width = (right[rest].minimum(right[best]) - left[rest].maximum(left[best])).clamp(min=0)
        height = (bottom[rest].minimum(bottom[best]) - top[rest].maximum(top[best])).clamp(min=0)
        shared = width * height
        rest = rest[shared / (areas[rest] + areas[best] - shared) <= threshold]
    return torch.stack(kept) if kept else torch.zeros(0, dtype=torch.int64)


try:
    torch.ops.load_library(str(_FOLDER / "_C_stable.so"))
except OSError:
    for name in ("nms", "qnms"):  # torchvision registers shapes for both when it is imported
        torch.library.define(f"torchvision::{name}", _NMS)
    torch.library.impl("torchvision::nms", "CPU")(nms)
    import torchvision.ops.boxes
    torchvision.ops.boxes._assert_has_ops = lambda: None
