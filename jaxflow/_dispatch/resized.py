"""Storages of another size than the tensors on them need.

NOTE [Resized storages]
    ``storage.resize_(n)`` changes what all tensors on a storage lie in, and nothing of the tensors: who
    frees a parameter's memory resizes its storage to nothing, and back when it is needed. An array of XLA
    has the size of its shape. So a storage of another size is a host-shared one whose memory is that large,
    for as long as it is of that size: NOTE [Host-shared storages]. A tensor that reaches beyond its end can
    be asked for its shape, and for nothing that lies there. Bytes that are new are zero.
"""

from __future__ import annotations

from typing import Any, NoReturn

import jax
import numpy as np

from jaxflow._core import dtype as dtypes
from jaxflow._core.device import CPU
from jaxflow._core.shared import HostValue, Memory, convert, release
from jaxflow._core.tensor import Tensor
from jaxflow._core.value import Value, host_array

from .door import plan_of
from .shared import tensor_of
from .storage_bytes import physical_bytes, shown_nbytes

#: What PyTorch says of a storage that others have the memory of.
FIXED = "Trying to resize storage that is not resizable"


class _Sized(Memory):
    """The memory of a storage that was resized: no smaller and no larger than somebody asked for."""

    __slots__ = ()

    def shown(self, shape: tuple, dtype: np.dtype, offset: int, stride: tuple[int, ...] | None) -> np.ndarray:
        """As of any memory. RuntimeError for what lies beyond the end."""
        try:
            return super().shown(shape, dtype, offset, stride)
        except TypeError:
            _refuse(self.data.nbytes)

    def reachable(self) -> bool:
        """Always: the storage needs it, not another side."""
        return True

    def is_lent(self) -> bool:
        """Whether somebody else has an array over it."""
        return super().reachable()


class _Unallocated:
    """What the base of a storage shows that is too small for it: nothing that could be read."""

    __slots__ = ("_nbytes",)

    def __init__(self, nbytes: int) -> None:
        self._nbytes = nbytes

    def __getattr__(self, name: str) -> Any:
        _refuse(self._nbytes)


def _refuse(nbytes: int) -> NoReturn:
    raise RuntimeError(
        "The tensor has a non-zero number of elements, but its data is not allocated yet: its storage was "
        f"resized to {nbytes} bytes, which does not hold it. Resize the storage again, or write to another "
        "tensor"
    )


def resize(t: Tensor, nbytes: int) -> None:
    """Give the storage of ``t`` another size, for all tensors on it; what it holds stays as far as it fits.

    Raises:
        RuntimeError: the memory belongs to somebody else, or others have an array over it.
        NotImplementedError: the storage is not on the host.
    """
    storage, root = t._storage, plan_of(t).root
    aval = root.aval
    if aval.device is not CPU:
        raise NotImplementedError(
            f"the storage of a tensor on {aval.device.type} cannot be resized: its array has the memory that "
            "its shape says; use Tensor.resize_, or del the tensor")
    while True:
        epoch, held = storage.epoch, storage.value
        if held.__class__ is HostValue:
            release(held.memory)
            if storage.value is not held:
                continue
            memory = held.memory
            if memory.__class__ is not _Sized or memory.is_lent():
                raise RuntimeError(FIXED)
        elif held.__class__ is not Value or isinstance(held.settled(), jax.core.Tracer):
            raise RuntimeError("inside jax.jit, jax.grad or vmap a tensor has no memory that can be resized")
        before = physical_bytes(t)
        if before.nbytes == nbytes:
            return
        memory = _Sized.new(nbytes, storage)
        kept = min(nbytes, before.nbytes)
        memory.data[:kept], memory.data[kept:] = before[:kept], 0
        live: Any = _Unallocated(nbytes)
        if nbytes >= shown_nbytes(root):
            live = memory.shown(aval.shape, aval.dtype.np, 0, root.stride)
        new: Value = HostValue(aval, live, memory)
        if nbytes == shown_nbytes(root):
            new = Value(aval, host_array(new.copied()))
        if convert(storage, new, epoch):
            return


def grown(t: Tensor, extent: int) -> Tensor:
    """So many elements of the storage of ``t``, which is to hold them, as a tensor of that memory.

    Raises as `resize` does.
    """
    dtype, held = t._aval.dtype, t._storage.value
    have = held.memory.data.nbytes if held.__class__ is HostValue else 0
    resize(t, max(have, extent * dtype.itemsize))
    return _shown_whole(t, extent, dtype)


def _shown_whole(t: Tensor, count: int, dtype: dtypes.dtype) -> Tensor:
    memory = t._storage.value.memory
    array = memory.shown((count,), dtype.np, 0, (1,))
    memory.lent = memory.lend(array)
    return tensor_of(array, dtype)


def resizable(t: Tensor) -> bool:
    """Whether the memory of a storage is its own."""
    held = t._storage.value
    if held.__class__ is HostValue:
        release(held.memory)
        held = t._storage.value
    return held.__class__ is not HostValue or held.memory.__class__ is _Sized


def whole_of(t: Tensor) -> Tensor | None:
    """All bytes of a storage that was resized, as a tensor of the same memory; None for others."""
    held = t._storage.value
    if held.__class__ is not HostValue or held.memory.data.nbytes == shown_nbytes(plan_of(t).root):
        return None
    return _shown_whole(t, held.memory.data.nbytes, dtypes.uint8)
