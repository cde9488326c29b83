"""Indices drawn by weights."""

from __future__ import annotations

import numpy as np

from .cursor import Cursor
from .inversion import exponential
from .order import in_memory_order
from .uniform import double


def categories(
    cursor: Cursor, weights: np.ndarray, count: int, replacement: bool, strides: tuple[int, ...] | None = None
) -> np.ndarray:
    """``count`` indices for each row of ``weights``, int64.

    One index, or several without replacement, are where weights divided by exponential numbers are largest
    (Efraimidis and Spirakis 2006); these are drawn in the order of a memory of ``strides``. Several with
    replacement are found by inversion: where evenly spread numbers fall among the running sums.
    """
    if replacement and count > 1:
        return _inverted(cursor, weights, count).reshape(*weights.shape[:-1], count)
    noise = in_memory_order(exponential(cursor, weights.size, weights.dtype), weights.shape, strides)
    with np.errstate(divide="ignore", invalid="ignore"):
        scores = weights / noise if weights.dtype.itemsize >= 4 else (
            weights.astype(np.float32) / noise.astype(np.float32)).astype(weights.dtype)
    if count == 1:
        return np.argmax(scores, -1)[..., None]
    return np.argsort(-scores, -1, kind="stable")[..., :count]


def _inverted(cursor: Cursor, weights: np.ndarray, count: int) -> np.ndarray:
    kind = np.dtype(np.float32) if weights.dtype.itemsize < 4 else weights.dtype
    rows = weights.reshape(-1, weights.shape[-1]).astype(kind)
    out = np.empty((len(rows), count), np.int64)
    for row, places in zip(rows, out):
        sums = np.add.accumulate(row, dtype=kind)
        sums = sums / sums[-1]
        sums[-1] = 1
        places[:] = np.searchsorted(sums.astype(np.float64), double(cursor, count), side="left")
    return out
