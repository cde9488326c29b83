"""Results in other dtypes, and the C library's functions of doubles."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

#: Up to which power of 2 a floating dtype holds every integer.
DIGITS = {"float64": 53, "float32": 24, "float16": 11, "bfloat16": 8}

#: From a float64 to a float32, 29 digits go; a function of NumPy's is within some of the last of them.
_LOST = (1 << 29) - 1
_NEAR = 64
_SMALLEST_NORMAL = 2.0**-126


def narrow(x: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """``x`` in ``dtype``; halves are rounded from float32, as PyTorch converts them."""
    if x.dtype == dtype:
        return x
    with np.errstate(over="ignore", invalid="ignore"):
        return (x.astype(np.float32) if dtype.itemsize < 4 else x).astype(dtype)


def whole(x: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Integers in another dtype: a small one keeps the lower bits; halves are rounded from float32."""
    if x.dtype == dtype:
        return x
    if dtype.name in ("float16", "bfloat16"):
        return x.astype(np.float32).astype(dtype)
    return x.astype(dtype)


def each(function: Callable[[float], float], x: np.ndarray) -> np.ndarray:
    """A function of the C library, element by element; float64."""
    return np.fromiter(map(function, x.ravel().tolist()), np.float64, x.size).reshape(x.shape)


def log(x: float) -> float:
    """The logarithm, of 0 too."""
    return math.log(x) if x > 0 else -math.inf


def exp(x: float) -> float:
    """e to the power of x; infinity where it is too large."""
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf


def narrow_as_c(quick: np.ndarray, exact: Callable[[Any], np.ndarray], dtype: np.dtype) -> np.ndarray:
    """``quick``, float64 and right to some of its last digits, in a narrower dtype, as if all its digits
    were right.

    ``exact(where)`` gives the C library's values at some places: where the last digits decide about the
    rounding.
    """
    lost = quick.view(np.int64) & _LOST
    doubtful = np.abs(lost - (1 << 28)) <= _NEAR
    doubtful |= (np.abs(quick) < _SMALLEST_NORMAL) & (quick != 0)  # rounded at other digits
    where = np.nonzero(doubtful)
    if where[0].size:
        quick[where] = exact(where)
    return narrow(quick.astype(np.float32), dtype)
