"""Numbers evenly spread over a range."""

from __future__ import annotations

import numpy as np

from .cursor import Cursor, parts_of
from .fused import fused64, rounded_sum
from .rounding import narrow

_LOW_24 = np.uint32((1 << 24) - 1)


def single(cursor: Cursor, n: int, low: float = 0.0, high: float = 1.0) -> np.ndarray:
    """``n`` float32 from [low, high): 24 bits of a word each, stretched by one fused multiply-add."""
    out = np.empty(n, np.float32)
    low, high = np.float32(low), np.float32(high)
    span = high - low
    for begin, end in parts_of(n):
        kept = cursor.words(end - begin) & _LOW_24
        if low or span != 1:
            out[begin:end] = rounded_sum(kept * (2.0**-24 * float(span)), low)
        else:
            part = out[begin:end]
            np.copyto(part, kept.view(np.int32), casting="unsafe")  # exact, and quicker than from uint32
            part *= np.float32(2.0**-24)
    return out


def double(cursor: Cursor, n: int, low: float = 0.0, high: float = 1.0) -> np.ndarray:
    """``n`` float64 from [low, high): 53 bits of two words each."""
    out = np.empty(n, np.float64)
    for begin, end in parts_of(n):
        part = cursor.fractions(end - begin)
        out[begin:end] = part if (low, high) == (0.0, 1.0) else fused64(part, high - low, low)
    return out


def uniform(cursor: Cursor, n: int, dtype: np.dtype, low: float = 0.0, high: float = 1.0) -> np.ndarray:
    """``n`` numbers from [low, high); what rounding made ``high`` becomes ``low``. Of complex ones both
    parts."""
    if dtype.kind == "c":
        part = np.dtype(np.float32 if dtype.itemsize == 8 else np.float64)
        return uniform(cursor, 2 * n, part, low, high).view(dtype)
    if dtype == np.float32:
        x, bottom, top = single(cursor, n, low, high), np.float32(low), np.float32(high)
        if (low, high) == (0.0, 1.0):
            return x  # nothing is rounded
    else:
        x = narrow((double if dtype == np.float64 else single)(cursor, n, low, high), dtype)
        bottom, top = narrow(np.array([low, high], np.float64), dtype)
    ends = x == top
    if np.count_nonzero(ends):
        x[ends] = bottom
    return x
