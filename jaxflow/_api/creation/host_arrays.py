"""New tensors from arrays of the host, and arrays of the host from numbers."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from jaxflow._core import device as devices
from jaxflow._core import dtype as dtypes
from jaxflow._core.aval import aval_of
from jaxflow._core.cast import cast_numpy
from jaxflow._core.state import state
from jaxflow._core.tensor import Tensor, make
from jaxflow._core.value import Untracked, Value, device_array, host_array

from .nested import from_nested, numpy_dtype


def put(array: np.ndarray, device: Any) -> Tensor:
    """A tensor with a copy of a host array on a device."""
    # A copy: jax may otherwise keep reading the caller's memory, which the caller may change.
    return put_own(np.array(array, order="C"), device)


def put_own(array: np.ndarray, device: Any) -> Tensor:
    """A tensor with a contiguous host array, which nobody writes to from now on, on a device."""
    where, target = devices.resolve(device)
    aval = aval_of(array.shape, dtypes.from_numpy_dtype(array.dtype), where)
    # An array, not a tracer, inside jax.jit too: it is known, and may outlive the trace. ``meta`` has no
    # device: what stands for its data lies on the CPU.
    t = make(Value(aval, host_array(array) if where.type in ("cpu", "meta") else device_array(array, target)))
    if state.inference:
        t._storage.version = Untracked((0,))
    return t


def finished(t: Tensor, requires_grad: bool, name: str) -> Tensor:
    """What the factory ``name`` returns of its new ``t``. TypeError if ``requires_grad`` is no bool."""
    if not isinstance(requires_grad, bool) and (requires_grad is not None or name == "tensor"):
        raise TypeError(
            f"{name}(): argument 'requires_grad' must be bool, not {type(requires_grad).__name__}"
        )
    return differentiable(t) if requires_grad else t


def differentiable(t: Tensor) -> Tensor:
    """``t``, requiring grad, as factories return it for ``requires_grad``. RuntimeError for other dtypes."""
    if t._aval.dtype.category < 2:
        raise RuntimeError(
            "Only Tensors of floating point and complex dtype can require gradients"
        )
    return t.requires_grad_()


def host_array_of(data: Any, dtype: Any) -> np.ndarray:
    """Nested sequences, numbers or an array as an array of ``dtype``, by default of what they show.

    Raises:
        ValueError: for ragged sequences.
        TypeError: for what is not a number.
        RuntimeError: for numbers out of the dtype's range.
    """
    dtype = dtypes.given_dtype(dtype)
    if isinstance(data, np.ndarray | np.generic):
        array = np.asarray(data)
        numpy_dtype(array)
        if isinstance(data, np.generic) and dtype is None and isinstance(data, float):
            dtype = dtypes.float64
    elif isinstance(data, jax.Array):
        array = np.asarray(data)
    else:
        array, dtype = from_nested(data, dtype)
        _check_range(array, dtype)
        return _convert(array, dtype)
    return array if dtype is None else _convert(array, dtype)


def _check_range(array: np.ndarray, dtype: dtypes.dtype) -> None:
    """Refuse Python numbers that an integer type cannot hold (arrays wrap around instead)."""
    if dtype.category != dtypes.INTEGER or array.dtype == dtype.np or array.dtype.kind == "c":
        return
    limits = np.iinfo(dtype.np)
    if array.dtype.kind == "f":
        if dtype is dtypes.uint64 and array.size:
            raise TypeError("an integer is required")
        fits = (array >= float(limits.min)) & (array <= float(limits.max))
    elif dtype is dtypes.uint64:
        if (array < 0).any():
            raise OverflowError("can't convert negative int to unsigned")
        return
    else:
        # An unsigned type takes negative integers as far as its range goes.
        lowest = limits.min if dtype.is_signed else -limits.max
        fits = (array >= lowest) & (array <= limits.max)
    if not fits.all():
        raise RuntimeError(f"value cannot be converted to type {dtype.name} without overflow")


def _convert(array: np.ndarray, dtype: dtypes.dtype) -> np.ndarray:
    if array.dtype.kind == "c" and not dtype.is_complex and dtype is not dtypes.bool:
        raise RuntimeError(
            f"value cannot be converted to type {dtype.scalar_name.lower()} without overflow"
        )
    return cast_numpy(array, dtype.np)
