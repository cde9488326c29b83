"""What the rules need about dtypes:

kinds, halves that are computed wide, conversions as XLA does them.
"""

from __future__ import annotations

from collections.abc import Callable

import ml_dtypes
import numpy as np

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
HALVES = frozenset((BFLOAT16, np.dtype(np.float16)))
FLOATS = HALVES | {np.dtype(np.float32), np.dtype(np.float64)}
COMPLEX = frozenset(map(np.dtype, (np.complex64, np.complex128)))
SIGNED = frozenset(map(np.dtype, (np.int8, np.int16, np.int32, np.int64)))
UNSIGNED = frozenset(map(np.dtype, (np.uint8, np.uint16, np.uint32, np.uint64)))
INTEGERS = SIGNED | UNSIGNED
BOOL = np.dtype(np.bool_)
#: The dtypes that the rules support. Equations with others (int4, float8) run through XLA.
KNOWN = FLOATS | COMPLEX | INTEGERS | {BOOL}


def wide_of(dtype: np.dtype) -> np.dtype:
    """The dtype in which values of ``dtype`` are computed: float32 for halves, else itself."""
    return np.dtype(np.float32) if dtype in HALVES else dtype


def computed_wide(function: Callable, dtype: np.dtype) -> Callable:
    """``function`` on arrays of ``dtype``, halves computed in float32 and rounded once at the end."""
    if dtype not in HALVES:
        return function
    wide = np.float32

    def rounded(*arrays):
        return function(*[x.astype(wide) for x in arrays]).astype(dtype)

    return rounded


def _float_to_integer(target: np.dtype) -> Callable:
    """Towards zero, saturating, and NaN to 0: what XLA does, where C leaves it open."""
    low, high = np.iinfo(target).min, np.iinfo(target).max

    def convert(x):
        # float(high) may round up to one above it, which saturates too; low is a power of two and exact.
        x = np.trunc(x)
        kind = x.dtype.type
        above, below = x >= kind(float(high)), x < kind(float(low))
        outside = above | below | np.isnan(x)
        if outside.any():
            inside = np.where(outside, kind(0), x).astype(target)
            return np.where(above, target.type(high), np.where(below, target.type(low), inside))
        return x.astype(target)

    return convert


def converter(source: np.dtype, target: np.dtype) -> Callable | None:
    """A function from arrays of ``source`` to arrays of ``target``; None where it is the identity."""
    if source == target:
        return None
    if source in COMPLEX and target not in COMPLEX:
        if target == BOOL:
            return lambda x: np.not_equal(x, 0)
        real = np.dtype(np.float32) if source == np.complex64 else np.dtype(np.float64)
        rest = converter(real, target)
        return (lambda x: x.real) if rest is None else (lambda x: rest(x.real))
    if target == BOOL:
        return lambda x: np.not_equal(x, x.dtype.type(0))
    if source in FLOATS and target in INTEGERS:
        convert = _float_to_integer(target)
        if source in HALVES:
            return lambda x: convert(x.astype(np.float32))
        return convert
    if target == BFLOAT16 and source.itemsize > 4 or source == BFLOAT16 and target.itemsize > 4:
        return lambda x: x.astype(np.float32).astype(target)
    return lambda x: x.astype(target)
