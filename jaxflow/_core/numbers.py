"""Python numbers on their way into tensors of a dtype."""

import functools
import math
from typing import Any

import numpy as np

from .dtype import FLOATING, dtype, float64
from .indexing import FINITE


def check_fits(value: Any, target: dtype) -> None:
    """Refuse a number that ``target`` cannot hold. Raises RuntimeError, OverflowError beyond all integers.

    Fractions are dropped without complaint and bool takes anything; an imaginary part, a number out
    of range, or (for integers) an infinity or nan is refused. An unsigned type takes negative integers
    as far as its range goes.
    """
    if target.name != "bool" and not _fits(value, target):
        if isinstance(value, int) and not -(2**63) <= value < 2**64:
            raise OverflowError("can't convert negative int to unsigned" if value < 0 else
                                "int too big to convert")
        raise overflow(target)


def check_fits_element(value: Any, target: dtype) -> None:
    """`check_fits` for a number that goes into one element: halves take it by way of double, as infinity."""
    check_fits(value, float64 if target.is_floating_point and target.itemsize < 4 else target)


def check_fits_filled(value: Any, target: dtype, count: int) -> None:
    """Refuse a number that is to fill ``count`` elements of ``target``."""
    (check_fits_element if count == 1 else check_fits)(value, target)


def overflow(target: dtype) -> RuntimeError:
    """PyTorch's error for a number that ``target`` cannot hold."""
    # Integers are called by the types of a fixed width, but for one.
    plain = target.category >= FLOATING or target.name == "int32"
    name = target.c_name if plain else f"{target.name}_t"
    return RuntimeError(f"value cannot be converted to type {name} without overflow")


def bounds_of(target: dtype, source: dtype) -> tuple:
    """Between which numbers of the dtype ``source`` ``target`` holds all; see `FINITE`."""
    if target.category >= FLOATING:
        largest = largest_of(target.to_real())
        return -largest, largest, FINITE
    return _integer_bounds(target, source.category >= FLOATING)


def _integer_bounds(target: dtype, of_fractions: bool) -> tuple[int, int]:
    limits = np.iinfo(target.np)
    return int(limits.min if target.is_signed or of_fractions else -limits.max), int(limits.max)


def _fits(value: Any, target: dtype) -> bool:
    # The value is only compared: a compiled call can follow a number through comparisons.
    if isinstance(value, complex):
        if not target.is_complex:
            return value.imag == 0 and _fits(value.real, target)
        return _fits(value.real, target) and _fits(value.imag, target)
    if target.is_complex:
        target = target.to_real()
    if target.is_floating_point:
        if isinstance(value, float) and target.itemsize == 8:
            return True
        return abs(value) <= largest_of(target) or not abs(value) < math.inf
    lowest, highest = _integer_bounds(target, isinstance(value, float))
    return lowest <= value <= highest


@functools.cache
def largest_of(target: dtype) -> float:
    """The largest finite number of a floating dtype."""
    import ml_dtypes

    return float(ml_dtypes.finfo(target.np).max)
