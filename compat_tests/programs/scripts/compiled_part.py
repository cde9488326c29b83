"""torchvision where its compiled part cannot be loaded, as by PyTorch's CPU build: what models use of it.

To be imported before torchvision. Torchvision's own ``roi_align`` in Python counts samples beyond the border,
which its compiled one leaves out.
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
        # Two boxes without area, 0 / 0, do not overlap.
        rest = rest[~(shared / (areas[rest] + areas[best] - shared) > threshold)]
    return torch.stack(kept) if kept else torch.zeros(0, dtype=torch.int64)


def roi_align(features, boxes, output_size, spatial_scale, sampling_ratio):
    """Means of ``sampling_ratio`` squared samples in each part of a box, interpolated between pixels."""
    def samples(start, end, parts, extent):
        start, end = start * spatial_scale, end * spatial_scale
        step = (end - start).clamp(min=1) / (parts * sampling_ratio)
        at = start[:, None] + step[:, None] * (torch.arange(parts * sampling_ratio) + 0.5)
        inside = (at >= -1) & (at <= extent)
        at = at.clamp(0, extent - 1)
        low = at.floor().long()
        return low, (low + 1).clamp(max=extent - 1), at - low, inside

    image, (left, top, right, bottom) = boxes[:, 0].long()[:, None, None], boxes[:, 1:].unbind(1)
    y0, y1, down, rows = (t[:, :, None] for t in samples(top, bottom, output_size[0], features.shape[2]))
    x0, x1, across, columns = (t[:, None] for t in samples(left, right, output_size[1], features.shape[3]))
    pixels = features.permute(0, 2, 3, 1)
    down, across, inside = down[..., None], across[..., None], (rows & columns)[..., None]
    upper = pixels[image, y0, x0] * (1 - across) + pixels[image, y0, x1] * across
    lower = pixels[image, y1, x0] * (1 - across) + pixels[image, y1, x1] * across
    found = (upper * (1 - down) + lower * down) * inside
    return torch.nn.functional.avg_pool2d(found.permute(0, 3, 1, 2), sampling_ratio)


try:
    torch.ops.load_library(str(_FOLDER / "_C_stable.so"))
except OSError:
    for name in ("nms", "qnms"):  # torchvision registers shapes for both when it is imported
        torch.library.define(f"torchvision::{name}", _NMS)
    torch.library.impl("torchvision::nms", "CPU")(nms)
    import torchvision.ops.boxes
    import torchvision.ops.poolers
    torchvision.ops.boxes._assert_has_ops = lambda: None
    torchvision.ops.poolers.roi_align = roi_align
