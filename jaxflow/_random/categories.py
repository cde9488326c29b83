"""Indices drawn by weights."""

from __future__ import annotations

import numpy as np

from .cursor import Cursor
from .uniform import double


def with_replacement(
    cursor: Cursor, weights: np.ndarray, count: int, replacement: bool = True
) -> np.ndarray:
    """``count`` indices for each row of ``weights``, int64, by inversion.

    They are where evenly spread numbers fall among the running sums.
    """
    kind = np.dtype(np.float32) if weights.dtype.itemsize < 4 else weights.dtype
    rows = weights.reshape(-1, weights.shape[-1]).astype(kind)
    out = np.empty((len(rows), count), np.int64)
    for row, places in zip(rows, out):
        sums = np.add.accumulate(row, dtype=kind)
        sums = sums / sums[-1]
        sums[-1] = 1
        places[:] = np.searchsorted(sums.astype(np.float64), double(cursor, count), side="left")
    return out.reshape(*weights.shape[:-1], count)
