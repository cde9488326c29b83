"""Indices drawn by weights."""

from __future__ import annotations

import numpy as np

from .cursor import Cursor
from .inversion import exponential
from .uniform import double


def categories(cursor: Cursor, weights: np.ndarray, count: int, replacement: bool) -> np.ndarray:
    """``count`` indices for each row of ``weights``, int64.

    One index, or several without replacement, are where weights divided by exponential numbers are largest
    (Efraimidis and Spirakis 2006). Several with replacement are found by inversion: where evenly spread
    numbers fall among the running sums.
    """
    if replacement and count > 1:
        return _inverted(cursor, weights, count)
    noise = exponential(cursor, weights.size, weights.dtype).reshape(weights.shape)
    with np.errstate(divide="ignore", invalid="ignore"):
        scores = weights / noise if weights.dtype.itemsize >= 4 else (
            weights.astype(np.float32) / noise.astype(np.float32)).astype(weights.dtype)
    if count == 1:
        return np.argmax(scores, -1)[..., None]
    return np.argsort(-scores, -1, kind="stable")[..., :count]


def _inverted(cursor: Cursor, weights: np.ndarray, count: int) -> np.ndarray:
    kind = np.dtype(np.float32) if weights.dtype.itemsize < 4 else weights.dtype
    rows = np.atleast_2d(weights).astype(kind)
    out = np.empty((len(rows), count), np.int64)
    for row, places in zip(rows, out):
        sums = np.add.accumulate(row, dtype=kind)
        sums = sums / sums[-1]
        sums[-1] = 1
        places[:] = np.searchsorted(sums.astype(np.float64), double(cursor, count), side="left")
    return out if weights.ndim > 1 else out[0]
