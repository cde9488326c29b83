"""Tensors from Python data, NumPy arrays and jax arrays."""

from __future__ import annotations

import warnings
from typing import Any

import jax
import numpy as np

from jaxflow._api.storage.typed import TypedStorage, shown_by
from jaxflow._api.storage.untyped import UntypedStorage
from jaxflow._core import device as devices
from jaxflow._core import dtype as dtypes
from jaxflow._core import torchs
from jaxflow._core.arguments import misfit
from jaxflow._core.aval import aval_of
from jaxflow._core.geometry import is_non_overlapping_and_dense
from jaxflow._core.state import state
from jaxflow._core.tensor import Tensor, make
from jaxflow._core.traces import met
from jaxflow._core.value import Untracked, Value
from jaxflow._core.warning import warn_once
from jaxflow._publish.composite import composite
from jaxflow._views.host_shared import tensor_of

from .host_arrays import finished, host_array_of, put
from .jax_memory import is_jaxs
from .nested import numpy_dtype
from .placing import need_memory


def from_array(array: Any, *, shared: bool = False) -> Tensor:
    """A tensor that holds a jax array (or tracer) as it is."""
    where = devices.get_default_device()
    if isinstance(array, jax.core.Tracer):
        met(array)
    elif isinstance(array, jax.Array):
        where = devices.from_jax(next(iter(array.devices())))
    aval = aval_of(array.shape, dtypes.from_numpy_dtype(array.dtype), where)
    return make(Value(aval, array, shared=shared))


@composite("function")
def tensor(
    data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A new leaf tensor with a copy of ``data`` (nested sequences, numbers, arrays, tensors).

    Floats become the default dtype, ints int64, bools bool, complex numbers the default complex dtype.
    Arrays and tensors keep their dtype. To share memory with an array use ``from_numpy`` or ``as_tensor``.

    Args:
        data: a number, nested lists or tuples of numbers, a NumPy or jax array, a storage, or a tensor
            (with a warning; use ``data.detach().clone()`` instead). All sequences at one depth must have
            the same length.
        dtype: of the result; None for the dtype that ``data`` show.
        device: where the result lies; None for the default device, or the one where a given tensor lies.
        requires_grad: whether autograd records what is done with the result; floating point and complex
            only.
        pin_memory: of no effect where there is an accelerator, and an error without one.

    Returns:
        A leaf tensor with memory of its own. Its shape is the length of the sequences at each depth; a
        number gives a 0-d tensor.

    Raises:
        ValueError: for ragged sequences.
        TypeError: for what is not a number.
        RuntimeError: for ``requires_grad`` with an integer or bool tensor, for ``pin_memory`` of
            what cannot be pinned, or for a number that ``dtype`` cannot hold.

    Example:
        >>> torch.tensor([[1, 2], [3, 4]])
        tensor([[1, 2],
                [3, 4]])
        >>> torch.tensor([1, 2.5])
        tensor([1.0000, 2.5000])
        >>> torch.tensor([0, 2], dtype=torch.bool)
        tensor([False,  True])
    """
    if pin_memory is not False:
        if pin_memory is True and isinstance(data, Tensor):
            raise RuntimeError("Can't pin tensor constructed from a variable")
        if pin_memory is None:
            raise misfit("tensor", "pin_memory", None, "bool", pin_memory)
        need_memory("tensor", None, pin_memory, device)
    if isinstance(data, Tensor):
        t = copied(data, dtype, device, "torch.tensor")
    elif torchs.is_torchs(data):
        t = from_torch(data, device).to(dtype=dtype)
    elif isinstance(data, UntypedStorage | TypedStorage):
        t = shown_by(data, dtypes.given_dtype(dtype)).to(device=device)
    else:
        t = put(host_array_of(data, dtype), device)
        if isinstance(data, np.ndarray):
            _lay_out(t, data)
    return finished(t, requires_grad, "tensor")


def copied(source: Tensor, dtype: Any, device: Any, name: str) -> Tensor:
    """A copy of a tensor that was given where data are expected; PyTorch warns that ``clone`` is better."""
    warnings.warn(
        "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
        f"sourceTensor.detach().clone().requires_grad_(True), rather than {name}(sourceTensor).",
        UserWarning, stacklevel=3,
    )
    return source.detach().to(device=device, dtype=dtype, copy=True)


@composite("function")
def as_tensor(data: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """``data`` as a tensor; itself when it already is one of that dtype and device.

    Args:
        data: what `tensor` takes: a tensor, a NumPy or jax array, a number, nested sequences of numbers.
        dtype: of the result; None for the dtype of ``data``.
        device: where the result lies; None for where ``data`` lie, or the default device for numbers.

    Returns:
        A tensor. It is ``data`` itself where that is a tensor and nothing changes, and shares the memory of
        a NumPy array of the same dtype; in other cases it is a copy. Of a tensor autograd history is kept.

    Raises:
        ValueError: for ragged sequences.
        TypeError: for what is not a number.

    Example:
        >>> array = np.array([1, 2])
        >>> t = torch.as_tensor(array)
        >>> array[0] = 7
        >>> t
        tensor([7, 2])
        >>> torch.as_tensor(t) is t
        True
    """
    if isinstance(data, Tensor):
        return data.to(device=device, dtype=dtype)
    if isinstance(data, np.ndarray):
        t = from_numpy(data)
        return t.to(device=device, dtype=dtype)
    if isinstance(data, UntypedStorage | TypedStorage):
        return shown_by(data, dtypes.given_dtype(dtype)).to(device=device)
    if torchs.is_torchs(data):
        return from_torch(data, device).to(dtype=dtype)
    return tensor(data, dtype=dtype, device=device)


@composite("function")
def from_numpy(ndarray: np.ndarray, /) -> Tensor:
    """A tensor that is one memory with a NumPy array: what is written to either shows in the other.

    An array in the memory of a jax array, which may not be written to, is copied. An array that is
    read-only in NumPy gives a warning, once.

    Args:
        ndarray: the array, of any shape, of bools, integers, floats or complex numbers in native byte
            order.

    Returns:
        A tensor on the CPU of the same shape, strides and dtype, which does not require grad.

    Raises:
        TypeError: for what is no NumPy array, or a dtype tensors do not have.
        ValueError: for strides that are negative, or do not lead from element to element.

    Example:
        >>> array = np.zeros(3)
        >>> t = torch.from_numpy(array)
        >>> t.dtype
        torch.float64
        >>> t[1] = 5
        >>> array.tolist()
        [0.0, 5.0, 0.0]
    """
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(ndarray).__name__})")
    warn_of_read_only(ndarray)
    return imported(ndarray) if is_jaxs(ndarray) else one_memory(ndarray)


def from_torch(data: Any, device: Any = None) -> Tensor:
    """A tensor with a copy of what a tensor of PyTorch holds; by default on the device where that is."""
    torchs.look()
    if device is None and data.device.type == devices.accelerator() == "cuda":
        device = devices.device("cuda", data.device.index)
    array, where = torchs.array_of(data), "cpu" if device is None else device
    # PyTorch's arrays without elements have lost their strides.
    return imported(array, where) if array.size else put(array, where)


def warn_of_read_only(array: np.ndarray) -> None:
    """Warn, once, of an array that may not be written to, as PyTorch does; writes go to it all the same."""
    if not array.flags.writeable:
        warn_once(
            "The given NumPy array is not writable, and PyTorch does not support non-writable tensors. This "
            "means writing to this tensor will result in undefined behavior. You may want to copy the array "
            "to protect its data or make it writable before converting it to a tensor. This type of warning "
            "will be suppressed for the rest of this program.")


def imported(array: np.ndarray, device: Any = "cpu") -> Tensor:
    """A tensor with a copy of a NumPy array, in its order of memory if that leaves no gaps."""
    array = host_array_of(array, None)
    t = put(array, device)
    _lay_out(t, array)
    return t


def _lay_out(t: Tensor, array: np.ndarray) -> None:
    """Give a fresh tensor the order of memory of an array, if that leaves no gaps."""
    if not array.flags.c_contiguous or not array.size:
        stride = tuple(s // array.itemsize for s in array.strides)
        if not array.size or is_non_overlapping_and_dense(array.shape, stride):
            t._stride = stride


def one_memory(array: np.ndarray, watched: bool = True) -> Tensor:
    """The tensor of the same memory as a NumPy array. Raises as `from_numpy` does.

    Not ``watched``, others may write to the memory who do not refer to the array.
    """
    dtype = numpy_dtype(array)
    if not array.dtype.isnative:
        raise ValueError(
            "given numpy array has byte order different from the native byte order. Conversion between byte "
            "orders is currently not supported."
        )
    size = array.itemsize
    if any(s < 0 for s in array.strides):
        raise ValueError(
            "At least one stride in the given numpy array is negative, and tensors with negative strides are "
            "not currently supported. (You can probably work around this by making a copy of your array with "
            "array.copy().) "
        )
    if any(s % size for s in array.strides):
        raise ValueError(
            "given numpy array strides not a multiple of the element byte size. Copy the numpy array to "
            "reallocate the memory."
        )
    t = tensor_of(array, dtype, watched)
    if state.inference:
        t._storage.version = Untracked((0,))
    return t


@composite("function")
def from_jax(array: Any) -> Tensor:
    """A tensor on a jax array or tracer, without a copy."""
    return from_array(array, shared=True)


@composite("function", checks=False)
def _shape_as_tensor(self: Tensor) -> Tensor:
    """The sizes of a tensor as a tensor of int64, on the CPU."""
    return tensor(list(self.shape), dtype=dtypes.int64, device="cpu")
