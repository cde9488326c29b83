"""Storages of another size than the tensors on them need.

NOTE [Resized storages]
    ``storage.resize_(n)`` changes what all tensors on a storage lie in, and nothing of the tensors: who
    frees a parameter's memory resizes its storage to nothing, and back when it is needed. An array of XLA
    has the size of its shape. So a storage of another size is a host-shared one whose memory is that large,
    for as long as it is of that size: NOTE [Host-shared storages]. Of a tensor that reaches beyond its end
    the shape can be read, and nothing that lies there. Bytes that are new are zero.

    What lies beyond the shape of a storage is shown by another storage in the same memory. To PyTorch they
    are one, so a change of the size gives all of them the new memory, in one call.
"""

from __future__ import annotations

import weakref
from typing import Any, NamedTuple, NoReturn

import jax
import numpy as np

from jaxflow._core import dtype as dtypes
from jaxflow._core.aval import aval_of
from jaxflow._core.commit import commit_results, rows_called
from jaxflow._core.device import CPU
from jaxflow._core.shared import SHARED, HostValue, Memory, convert, convert_all, release
from jaxflow._core.tensor import Tensor, make
from jaxflow._core.value import FixedStorage, Storage, Value, host_array
from jaxflow._dispatch.dispatch import plan_of
from jaxflow._views.host_shared import tensor_of

from .storage_bytes import physical_bytes, shown_nbytes

#: What PyTorch says of a storage that others have the memory of.
FIXED = "Trying to resize storage that is not resizable"


class _Shown(NamedTuple):
    """How a storage lies in its memory (None for contiguous), and how many bytes it needs."""

    stride: tuple[int, ...] | None
    nbytes: int


class _Sized(Memory):
    """The memory of storages that were resized: no smaller and no larger than requested.

    Attributes:
        shown_by: the storages in it, and how they lie there.
    """

    __slots__ = ("shown_by",)

    shown_by: weakref.WeakKeyDictionary[Storage, _Shown]

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


def in_one_memory(t: Tensor) -> list[tuple[Storage, int, _Shown]]:
    """The storages that show the memory of ``t``, at which epoch, and how they lie there."""
    storage, held = t._storage, t._storage.value
    if held.__class__ is HostValue and held.memory.__class__ is _Sized:
        return [(s, s.epoch, shown) for s, shown in list(held.memory.shown_by.items())]
    root = plan_of(t).root
    return [(storage, storage.epoch, _Shown(root.stride, shown_nbytes(root)))]


def held_in(memory: Memory, storage: Storage, shown: _Shown) -> HostValue:
    """What a storage is to hold that is shown in ``memory``, as it is in its present one."""
    aval, nbytes = storage.value.aval, memory.data.nbytes
    live: Any = _Unallocated(nbytes)
    if nbytes >= shown.nbytes:
        live = memory.shown(aval.shape, aval.dtype.np, 0, shown.stride)
    return HostValue(aval, live, memory)


def resize(t: Tensor, nbytes: int) -> None:
    """Give the storage of ``t`` another size, for all tensors on it; what it holds stays as far as it fits.

    Raises:
        RuntimeError: the memory belongs to somebody else or did so, or others have an array over it.
        NotImplementedError: the storage is not on the host.
    """
    storage, root = t._storage, plan_of(t).root
    aval = root.aval
    if aval.device is not CPU:
        raise NotImplementedError(
            f"the storage of a tensor on {aval.device.type} cannot be resized: its array has the memory that "
            "its shape says; use Tensor.resize_, or del the tensor")
    if storage.__class__ is FixedStorage:
        raise RuntimeError(FIXED)
    while True:
        there, held = in_one_memory(t), storage.value
        if held.__class__ is HostValue:
            release(held.memory)
            if storage.value is not held:
                continue
            if held.memory.__class__ is not _Sized or held.memory.is_lent():
                raise RuntimeError(FIXED)
        elif held.__class__ is not Value or isinstance(held.settled(), jax.core.Tracer):
            raise RuntimeError("inside jax.jit, jax.grad or vmap a tensor has no memory that can be resized")
        before = physical_bytes(t)
        if before.nbytes == nbytes:
            return
        memory = _Sized.new(nbytes)
        kept = min(nbytes, before.nbytes)
        memory.data[:kept], memory.data[kept:] = before[:kept], 0
        memory.shown_by = weakref.WeakKeyDictionary({s: shown for s, _, shown in there})
        changes = [(s, held_in(memory, s, shown), epoch) for s, epoch, shown in there]
        if len(there) == 1 and nbytes == shown_nbytes(root):
            _, shared, epoch = changes[0]
            if convert(storage, Value(aval, host_array(shared.copied())), epoch):
                return
        elif convert_all(changes):
            return


def was_resized(held: Any) -> bool:
    """Whether what a storage holds is memory of another size than its shape needs."""
    return held.__class__ is HostValue and held.memory.__class__ is _Sized


def room_of(t: Tensor) -> int | None:
    """How many elements the storage of ``t`` has room for, if it was resized; else None."""
    held = t._storage.value
    return held.memory.data.nbytes // t._aval.dtype.itemsize if was_resized(held) else None


def grown(t: Tensor, extent: int) -> Tensor:
    """A tensor of that many elements in the storage of ``t``, which is made as large if it is smaller.

    It is ``t`` itself if the storage has the size of its shape then. Raises as `resize` does.
    """
    dtype, held = t._aval.dtype, t._storage.value
    have = held.memory.data.nbytes if held.__class__ is HostValue else 0
    resize(t, max(have, extent * dtype.itemsize))
    whole = _shown_whole(t, extent, dtype)
    return t if whole is None else whole


def _shown_whole(t: Tensor, count: int, dtype: dtypes.dtype) -> Tensor | None:
    """So many elements of memory of the host's, in a storage of its own; None where there is none."""
    aval = aval_of((count,), dtype, CPU)
    while True:
        held = t._storage.value
        if held.__class__ is not HostValue:
            return None
        memory = held.memory
        array = memory.shown((count,), dtype.np, 0, (1,))
        if memory.__class__ is not _Sized:  # it was moved to where other processes may have it
            commit_results(rows_called([memory.lending(array)]))
            return tensor_of(array, dtype)
        whole = make(HostValue(aval, array, memory))
        SHARED.note(whole._storage)
        memory.shown_by[whole._storage] = _Shown((1,), array.nbytes)
        if t._storage.value.memory is memory:
            return whole


def resizable(t: Tensor) -> bool:
    """Whether the memory of a storage is its own, and always was."""
    storage = t._storage
    if storage.__class__ is FixedStorage:
        return False
    held = storage.value
    if held.__class__ is HostValue:
        release(held.memory)
        held = storage.value
    return held.__class__ is not HostValue or held.memory.__class__ is _Sized


def whole_of(t: Tensor) -> Tensor | None:
    """All bytes of a storage that was resized, as a tensor of the same memory; None for others."""
    held = t._storage.value
    if held.__class__ is not HostValue or held.memory.data.nbytes == shown_nbytes(plan_of(t).root):
        return None
    return _shown_whole(t, held.memory.data.nbytes, dtypes.uint8)
