"""Python numbers on their way into tensors of a dtype."""

import functools
import math
from typing import Any

import numpy as np

from .dtype import dtype

# The names PyTorch's message has for them are those of C++ types.
_C_NAMES = {
    "float16": "c10::Half",
    "bfloat16": "c10::BFloat16",
    "float32": "float",
    "float64": "double",
    "int32": "int",
    "complex64": "c10::complex<float>",
    "complex128": "c10::complex<double>",
}


def check_fits(value: Any, target: dtype) -> None:
    """Refuse a number that ``target`` cannot hold. Raises RuntimeError.

    Fractions are dropped without complaint and bool takes anything; an imaginary part, a number out
    of range, or (for integers) an infinity or nan is refused. An unsigned type takes negative integers
    as far as its range goes.
    """
    if target.name != "bool" and not _fits(value, target):
        name = _C_NAMES.get(target.name, f"{target.name}_t")
        raise RuntimeError(f"value cannot be converted to type {name} without overflow")


def _fits(value: Any, target: dtype) -> bool:
    # Only compared: a compiled call follows a number whose value it need not know.
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
    limits = np.iinfo(target.np)
    lowest = limits.min if target.is_signed or isinstance(value, float) else -limits.max
    return lowest <= value <= limits.max


@functools.cache
def largest_of(target: dtype) -> float:
    """The largest finite number of a floating dtype."""
    import ml_dtypes

    return float(ml_dtypes.finfo(target.np).max)
