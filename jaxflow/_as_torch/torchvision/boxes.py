"""Suppression of boxes that overlap a better one."""

from __future__ import annotations

import numpy as np

import jaxflow
from jaxflow import Tensor


def nms(dets: Tensor, scores: Tensor, iou_threshold: float) -> Tensor:
    """The numbers of the boxes that are kept, by falling score; of equal scores the first box comes first.

    Args:
        dets: ``(N, 4)``, floating point: x1, y1, x2, y2.
        scores: ``(N,)``, of the same dtype.
        iou_threshold: a box is left out if its overlap with one that is kept is larger than that.

    Raises:
        RuntimeError: for other shapes, or two dtypes.
    """
    if dets.dim() != 2:
        raise RuntimeError(f"boxes should be a 2d tensor, got {dets.dim()}D")
    if dets.size(1) != 4:
        raise RuntimeError(f"boxes should have 4 elements in dimension 1, got {dets.size(1)}")
    if scores.dim() != 1:
        raise RuntimeError(f"scores should be a 1d tensor, got {scores.dim()}D")
    if len(dets) != len(scores):
        raise RuntimeError("boxes and scores should have same number of elements in dimension 0, got "
                           f"{len(dets)} and {len(scores)}")
    if dets.dtype != scores.dtype:
        raise RuntimeError("dets should have the same type as scores")
    wide = jaxflow.float64 if dets.dtype == jaxflow.float64 else jaxflow.float32
    boxes = dets.detach().cpu().to(wide).numpy()
    order = np.argsort(-scores.detach().cpu().to(wide).numpy(), kind="stable")
    kept = kept_of(boxes[order], iou_threshold)
    return jaxflow.from_numpy(order[kept].astype(np.int64)).to(dets.device)


def kept_of(boxes: np.ndarray, threshold: float) -> list[int]:
    """The numbers of the rows that are kept of boxes in order."""
    x1, y1, x2, y2 = boxes.T
    area = (x2 - x1) * (y2 - y1)
    left = np.arange(len(boxes))
    kept = []
    while len(left):
        first, left = left[0], left[1:]
        kept.append(first)
        wide = np.maximum(0, np.minimum(x2[first], x2[left]) - np.maximum(x1[first], x1[left]))
        high = np.maximum(0, np.minimum(y2[first], y2[left]) - np.maximum(y1[first], y1[left]))
        shared = wide * high
        with np.errstate(divide="ignore", invalid="ignore"):
            overlap = shared / (area[first] + area[left] - shared)
        left = left[~(overlap > threshold)]
    return kept
