"""Distributions by inversion: a function of one evenly spread float64 an element."""

from __future__ import annotations

import math

import numpy as np

from .cursor import Cursor, parts_of
from .fused import fused64
from .normal import one_by_one
from .rounding import DIGITS, each, exp, log, narrow, narrow_as_c
from .uniform import double, single

_LOW_21 = np.uint32((1 << 21) - 1)


def coins(cursor: Cursor, n: int, chance: float) -> np.ndarray:
    """``n`` bools, True with one chance: two words each, also where the chance is 0 or 1."""
    # u < chance, in units of 2 ** -53: the 21 bits of the first word decide, unless they are equal.
    first, second = divmod(math.ceil(math.ldexp(chance, 53)), 1 << 32)
    out = np.empty(n, np.bool_)
    for begin, end in parts_of(n):
        words = cursor.words(2 * (end - begin))
        high, below = words[::2] & _LOW_21, out[begin:end]
        np.less(high, np.uint32(first), below)
        equal = high == np.uint32(first)
        if equal.any():
            below[equal] = words[1::2][equal] < second
    return out


def thresholds(cursor: Cursor, n: int, dtype: np.dtype) -> np.ndarray:
    """``n`` numbers that are below a chance of ``dtype`` as often as it says: float64 for float64, else
    float32."""
    return double(cursor, n) if dtype == np.float64 else single(cursor, n)


def exponential(cursor: Cursor, n: int, dtype: np.dtype, rate: float = 1.0) -> np.ndarray:
    """``n`` exponential numbers."""
    u, scale = double(cursor, n), -1.0 / rate
    if dtype == np.float64:
        return scale * each(math.log1p, -u)
    return narrow_as_c(scale * np.log1p(-u), lambda where: scale * each(math.log1p, -u[where]), dtype)


def geometric(cursor: Cursor, n: int, dtype: np.dtype, chance: float) -> np.ndarray:
    """``n`` counts of trials up to the first success."""
    u, bottom = double(cursor, n), math.log1p(-chance)
    with np.errstate(divide="ignore"):
        trials = np.log(u) / bottom
    counts = np.ceil(trials)
    near = np.nonzero(np.abs(trials - np.rint(trials)) <= 1e-13 * np.maximum(trials, 1))
    if near[0].size:
        counts[near] = np.ceil(each(log, u[near]) / bottom)
    return narrow(counts, dtype) if dtype.name in DIGITS else counts.astype(np.int64).astype(dtype)


def cauchy(cursor: Cursor, n: int, dtype: np.dtype, median: float = 0.0, sigma: float = 1.0) -> np.ndarray:
    """``n`` Cauchy numbers."""
    angle = math.pi * (double(cursor, n) - 0.5)
    if dtype == np.float64:
        return fused64(sigma, each(math.tan, angle), median)
    return narrow_as_c(fused64(sigma, np.tan(angle), median),
                       lambda where: fused64(sigma, each(math.tan, angle[where]), median), dtype)


def log_normal(cursor: Cursor, n: int, dtype: np.dtype, mean: float = 1.0, std: float = 2.0) -> np.ndarray:
    """``n`` numbers whose logarithms are normal."""
    return narrow(each(exp, one_by_one(cursor, n, mean, std)), dtype)
