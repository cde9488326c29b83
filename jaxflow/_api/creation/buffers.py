"""Tensors from memory of others: ``frombuffer``, and ``asarray``, which takes whatever there is."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from jaxflow._api.storage.typed import TypedStorage, shown_by
from jaxflow._api.storage.untyped import UntypedStorage
from jaxflow._core import dtype as dtypes
from jaxflow._core.shared import BUFFERS
from jaxflow._core.tensor import Tensor
from jaxflow._core.torchs import array_of, is_torchs, shows_memory
from jaxflow._core.warning import warn_once
from jaxflow._publish.composite import composite

from .construct import from_array, from_numpy, from_torch, imported, one_memory, tensor
from .dlpack import from_dlpack
from .jax_memory import is_jaxs


def _bytes_of(buffer: Any) -> memoryview | None:
    """The bytes of an object with Python's buffer protocol; None for others."""
    try:
        found = memoryview(buffer)
    except TypeError:
        return None
    except ValueError as error:  # NumPy's, of elements that are no buffer's
        raise RuntimeError("could not retrieve buffer from object") from error
    if not found.c_contiguous:
        raise RuntimeError("could not retrieve buffer from object")
    return found.cast("B") if found.nbytes else found


@composite("function")
def frombuffer(
    buffer: Any, *, dtype: Any = None, count: int = -1, offset: int = 0, requires_grad: bool = False
) -> Tensor:
    """A 1-D tensor that is one memory with a buffer, whose bytes are read as elements of ``dtype``.

    Args:
        buffer: anything with Python's buffer protocol.
        dtype: the elements' type.
        count: how many elements to read; negative for all.
        offset: how many bytes to leave out first.
        requires_grad: whether operations on the result are recorded.

    Raises:
        ValueError: for what is no buffer, or one that does not hold these elements.
        TypeError: for a missing ``dtype``, or one that is none.
    """
    dtype = dtypes.given_dtype(dtype)
    if not isinstance(dtype, dtypes.dtype):
        if dtype is None:
            raise TypeError('frombuffer() missing 1 required positional arguments: "dtype"')
        raise TypeError(
            f"frombuffer(): argument 'dtype' must be torch.dtype, not {type(dtype).__name__}"
        )
    data = _bytes_of(buffer)
    if data is None:
        raise ValueError("object does not implement Python buffer protocol.")
    if data.readonly:
        warn_once(
            "The given buffer is not writable, and PyTorch does not support non-writable tensors. This means "
            "you can write to the underlying (supposedly non-writable) buffer using the tensor. You may want "
            "to copy the buffer to protect its data or make it writable before converting it to a tensor. "
            "This type of warning will be suppressed for the rest of this program.")
    length, size = data.nbytes, dtype.itemsize
    if not length or not count:
        raise ValueError(f"both buffer length ({length}) and count ({count}) must not be 0")
    if not 0 <= offset < length:
        raise ValueError(
            f"offset ({offset} bytes) must be non-negative and no greater than buffer length ({length} "
            "bytes) minus 1"
        )
    if count < 0:
        if (length - offset) % size:
            raise ValueError(
                f"buffer length ({length - offset} bytes) after offset ({offset} bytes) must be a multiple "
                f"of element size ({size})"
            )
        count = (length - offset) // size
    elif offset + count * size > length:
        raise ValueError(
            f"requested buffer length ({count} * {size} bytes) after offset ({offset} bytes) must not be "
            f"greater than actual buffer length ({length} bytes)"
        )
    watched = type(buffer) in BUFFERS
    source = buffer if watched else data
    del buffer, data  # or they would count as others who refer to it
    array = np.frombuffer(source, np.uint8, count * size, offset).view(dtype.np)
    t = imported(array) if not watched and is_jaxs(array) else one_memory(array, watched)
    return t.requires_grad_() if requires_grad and _may_require(dtype) else t


def _may_require(dtype: dtypes.dtype) -> bool:
    if dtype.category < 2:
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
    return True


@composite("function")
def asarray(
    obj: Any, *, dtype: Any = None, device: Any = None, copy: bool | None = None,
    requires_grad: bool | None = None,
) -> Tensor:
    """``obj`` as a tensor: itself if it is one, else a tensor of an array, a buffer, or nested sequences.

    Args:
        obj: a tensor, a NumPy or jax array, an object with DLPack's or Python's buffer protocol, numbers.
        dtype: of the result. A buffer is read as that, float32 by default; others are converted.
        device: of the result.
        copy: True for a copy in any case. With False a copy is an error: tensors, arrays of NumPy and of jax
            and buffers can be had without one.
        requires_grad: whether operations on the result are recorded; None leaves a tensor as it is.

    Raises:
        ValueError: when ``copy=False`` cannot be granted.
        RuntimeError: for ``requires_grad`` with an integer or bool tensor.
    """
    if isinstance(obj, Tensor):
        if requires_grad is None and obj.requires_grad:
            warn_once(
                "torch.asarray: unspecified requires_grad now defaults to obj.requires_grad instead of "
                "False. Pass requires_grad=False explicitly to get the old behavior and silence this "
                "warning."
            )
        source = obj
    else:
        source = _imported(obj, dtypes.given_dtype(dtype), copy)
    t = source.to(device=device, dtype=dtype)
    if copy is False and t is not source:
        raise ValueError(
            f"can't alias tensor with dtype '{source.dtype.scalar_name}' into dtype "
            f"'{t.dtype.scalar_name}'."
            if t.dtype is not source.dtype else
            f"can't alias tensor on device '{source.device}' onto device '{t.device}'."
        )
    if copy and t is obj:
        t = t.clone()
    if requires_grad is False and t.requires_grad:
        return t.detach()
    if requires_grad and not t.requires_grad and _may_require(t.dtype):
        t.requires_grad_()
    return t


def _imported(obj: Any, dtype: Any, copy: bool | None) -> Tensor:
    if isinstance(obj, jax.Array):
        return from_array(obj, shared=True)
    if isinstance(obj, np.generic) and copy is False:
        raise ValueError("can't alias NumPy scalars. Either remove copy=False or transform it in a ndarray. ")
    if isinstance(obj, np.ndarray | np.generic):
        # PyTorch takes an array without dimensions for a number, and copies it in any case.
        return (from_numpy if obj.ndim and not copy else imported)(np.asarray(obj))
    if is_torchs(obj):
        if not copy and shows_memory(obj) and not is_jaxs(array := array_of(obj)):
            return one_memory(array, watched=False)
        what, t = "a tensor of PyTorch that is not there as such in the host's memory", from_torch
    elif hasattr(obj, "__dlpack__"):
        what, t = "an array of another framework", from_dlpack
    elif isinstance(obj, UntypedStorage | TypedStorage) and copy is not False:
        return shown_by(obj, dtype)  # in PyTorch it is the storage's memory even with copy=True
    elif (data := _bytes_of(obj)) is not None:
        found = _read(data, dtype)
        return found.clone() if copy else found
    else:
        what, t = "arbitrary sequence", lambda o: tensor(o, dtype=dtype)
    if copy is False:
        raise ValueError(f"can't alias {what} into a tensor.")
    return t(obj)


def _read(data: memoryview, dtype: Any) -> Tensor:
    return frombuffer(data, dtype=dtype or dtypes.get_default_dtype())
