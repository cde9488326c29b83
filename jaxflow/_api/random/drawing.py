"""What the random functions share: a draw from a generator, and which numbers a dtype can hold."""

from __future__ import annotations

import functools
import math
import warnings
from typing import Any

import numpy as np

from jaxflow._core import dtype as dtypes
from jaxflow._core.generator import Generator, source_of
from jaxflow._core.tensor import Tensor
from jaxflow._core.typeinfo import finfo, iinfo
from jaxflow._dispatch.dispatch import apply
from jaxflow._plans.op import OPS
from jaxflow._publish.bind import draw

from .torch_stream import from_words

#: Up to which power of 2 a floating dtype holds every integer.
_DIGITS = {"float64": 53, "float32": 24, "float16": 11, "bfloat16": 8}


def drawn(
    name: str, numbers: tuple, static: tuple, generator: Any, device: Any,
    strides: tuple[int, ...] | None = None,
) -> Tensor:
    """A draw by the op ``name`` on ``device``, with the generator's next key or words.

    ``strides`` are those of the tensor that it is written to, if there is one: PyTorch's stream is drawn in
    the order of memory.

    Raises TypeError for what is no Generator.
    """
    if generator is not None and not isinstance(generator, Generator):
        raise TypeError(
            f"expected a 'torch._C.Generator' object for argument 'generator' but got "
            f"{type(generator).__name__}"
        )
    source = source_of(generator, device)
    if source.stream == "torch":
        return from_words(source, name, numbers, static, strides)
    return apply(OPS[name], (*numbers, *draw(source)), static)


def traced_back(values: Tensor, node: str, *sources: Any) -> Tensor:
    """``values``, drawn by what ``sources`` say: those that require a gradient get zeros."""
    for source in reversed(sources):
        if isinstance(source, Tensor) and source._requires_grad:
            values = apply(OPS["_drawn"], (source, values), (node,))
    return values


def integer(name: str, argument: str, position: int, value: Any) -> int:
    """An argument that must be an integer, or a tensor of one. TypeError."""
    if type(value) is int:
        return value
    if isinstance(value, (bool, float, complex, str)) or not hasattr(value, "__index__"):
        raise TypeError(
            f"{name}(): argument '{argument}' (position {position}) must be int, not {type(value).__name__}"
        )
    return value.__index__()


def need_float(kernel: str, dtype: dtypes.dtype, complex_too: bool = True) -> None:
    """Refuse to draw real numbers into integers. NotImplementedError."""
    if dtype.category < dtypes.FLOATING or (dtype.is_complex and not complex_too):
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{dtype.scalar_name}'")


def check_bounds(dtype: dtypes.dtype, low: float, high: float) -> None:
    """What ``uniform_`` refuses: bounds that the dtype does not hold, or in the wrong order. RuntimeError."""
    need_float("check_uniform_bounds", dtype)
    least, most = _whole(dtype)
    for word, bound in (("from", low), ("to", high)):
        if not least <= bound <= most:
            raise RuntimeError(f"{word} is out of bounds for {dtype.to_real().c_name}")
    if low > high:
        raise RuntimeError(
            f"uniform_ expects to return a [from, to) range, but found from={low:g} > to={high:g}"
        )
    if high - low > most:
        real = dtype.to_real()
        raise RuntimeError(
            f"uniform_ expects to-from <= std::numeric_limits<{real.scalar_name}>::max(), but found "
            f"to={high:g} and from={low:g} which result in to-from to exceed the limit"
        )


@functools.cache
def _whole(dtype: dtypes.dtype) -> tuple[float, float]:
    """The smallest and the largest number of a dtype."""
    if dtype is dtypes.bool:
        return 0, 1
    limits = iinfo(dtype) if dtype.category == dtypes.INTEGER else finfo(dtype)
    return limits.min, limits.max


def check_range(dtype: dtypes.dtype, low: int, high: int) -> None:
    """What ``random_`` refuses: an empty range, or one that the dtype does not hold. RuntimeError.

    Warns of integers that a floating dtype rounds.
    """
    if low >= high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    if dtype.is_complex:
        raise RuntimeError("check_random_bounds handles only integral, floating-point and boolean types")
    digits, (least, most) = _DIGITS.get(dtype.name), _whole(dtype)
    for word, bound in (("from", low), ("to - 1", high - 1)):
        if not least <= bound <= most:
            raise RuntimeError(f"{word} is out of bounds for {dtype.c_name}")
        if digits is not None and abs(bound) > 1 << digits:
            warnings.warn(
                f"{word} is out of bounds [-(2^{digits}), 2^{digits}]. Due to precision limitations "
                f"{dtype.c_name} can support discrete uniform distribution only within this range. This "
                "warning will become an error in version 1.7 release, please fix the code in advance",
                stacklevel=4,
            )


def upper_end(dtype: dtypes.dtype) -> int:
    """One more than the largest number that ``random_`` without bounds draws."""
    digits = _DIGITS.get(dtype.name)
    return int(_whole(dtype)[1]) + 1 if digits is None else (1 << digits) + 1


def integers(
    size: tuple, dtype: dtypes.dtype, device: Any, low: int, high: int, generator: Any,
    strides: tuple[int, ...] | None = None,
) -> Tensor:
    """Integers from ``low`` to ``high - 1``, of which the latter need not be more than an int64 holds."""
    endless = high > np.iinfo(np.int64).max
    bounds, static = (low, 0 if endless else high), (size, dtype, device, endless)
    return drawn("_randint", bounds, static, generator, device, strides)


def shown(number: float) -> str:
    """A number as PyTorch prints it in errors."""
    return f"{float(number):g}" if math.isfinite(number) else str(float(number))
