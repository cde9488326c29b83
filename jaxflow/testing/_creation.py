"""Tensors of random numbers for tests."""

from __future__ import annotations

import math
from typing import Any

from jaxflow import _functions as functions
from jaxflow._core import dtype as dtypes
from jaxflow._core.tensor import Tensor
from jaxflow._core.typeinfo import finfo
from jaxflow.autograd.grad_mode import no_grad


def make_tensor(
    *shape: Any, dtype: dtypes.dtype, device: Any, low: float | None = None, high: float | None = None,
    requires_grad: bool = False, noncontiguous: bool = False, exclude_zero: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """A tensor of numbers drawn uniformly from ``[low, high)``.

    Args:
        shape: extents, or one sequence of them.
        dtype: the elements' type; of complex numbers both parts are drawn.
        device: where the tensor lives.
        low: the least number; -9 by default, 0 for unsigned integers and bools.
        high: what all numbers are below; 9 by default, 10 for integers, 2 for bools.
        requires_grad: whether operations on the result are recorded.
        noncontiguous: whether gaps are left in memory; ignored for fewer than two elements.
        exclude_zero: whether a zero is replaced by the smallest positive number, 1 for integers.
        memory_format: the order of the dimensions in memory.

    Raises:
        ValueError: if ``low`` is not below ``high``, or for both ``noncontiguous`` and ``memory_format``.
        RuntimeError: if integers are to require grad.
    """
    size = tuple(shape[0]) if len(shape) == 1 and not isinstance(shape[0], int) else shape
    if noncontiguous and memory_format is not None:
        raise ValueError(
            "The parameters `noncontiguous` and `memory_format` are mutually exclusive, but got "
            f"noncontiguous={noncontiguous!r} and memory_format={memory_format!r}"
        )
    inexact = dtype.is_floating_point or dtype.is_complex
    if requires_grad and not inexact:
        raise ValueError(
            "`requires_grad=True` is not supported for boolean and integral dtypes, but got "
            f"dtype={dtype!r}"
        )
    least, most = (-9, 9) if inexact else (0, 2) if dtype is dtypes.bool else (
        -9 if dtype.is_signed else 0, 10)
    low, high = least if low is None else low, most if high is None else high
    if low >= high:
        raise ValueError(f"`low` must be less than `high`, but got {low!r} >= {high!r}")
    with no_grad():
        t = _drawn(size, dtype, device, low, high)
        if exclude_zero:
            t[t == 0] = finfo(dtype).tiny if inexact else 1
        if noncontiguous and t.numel() > 1:
            t = t.repeat_interleave(2, dim=-1)[..., ::2]
        elif memory_format is not None:
            t = t.clone(memory_format=memory_format)
    return t.requires_grad_() if requires_grad else t


def _drawn(size: tuple, dtype: dtypes.dtype, device: Any, low: float, high: float) -> Tensor:
    if dtype.is_complex:
        parts = _drawn((*size, 2), dtype.to_real(), device, low, high)
        return functions.view_as_complex(parts).clone()
    if dtype.is_floating_point:
        return functions.rand(size, dtype=dtype, device=device) * (high - low) + low
    if dtype is dtypes.bool:
        return functions.randint(0, 2, size, device=device).to(dtype)
    return functions.randint(math.ceil(low), math.ceil(high), size, device=device).to(dtype)
