"""Memory that other processes may have, too: mapped files, and memory that is shared by processes.

Storages in it are host-shared for good: NOTE [Host-shared storages].
"""

from __future__ import annotations

import mmap
import os
import weakref

import jax
import numpy as np

from jaxflow._core import dtype as dtypes
from jaxflow._core.aval import aval_of
from jaxflow._core.device import CPU
from jaxflow._core.shared import HostValue, Memory, convert_all, note
from jaxflow._core.tensor import ConstantInfo, Tensor, make, make_view
from jaxflow._core.unseen import APART
from jaxflow._core.value import Storage, Value
from jaxflow._views.chain import root_of
from jaxflow._views.host_shared import tensor_of

from . import memory_files
from .resized import held_in, in_one_memory
from .storage_bytes import physical_bytes

# Mapped memory, and the file that what is written to it reaches.
_mappings: weakref.WeakKeyDictionary[Memory, str | None] = weakref.WeakKeyDictionary()


def map_file(filename: str, shared: bool, nbytes: int) -> Tensor:
    """The first bytes of a file as a tensor that is one memory with it.

    With ``shared`` what is written reaches the file, which is made, or made as large, if need be.

    Raises:
        RuntimeError: the file cannot be opened, or is smaller and not ``shared``.
    """
    mode = os.O_RDWR | os.O_CREAT if shared else os.O_RDONLY
    try:
        file = os.open(filename, mode, 0o600)
    except OSError as error:
        how = "read-write" if shared else "read-only"
        raise RuntimeError(
            f"unable to open file <{filename}> in {how} mode: {error.strerror} ({error.errno})") from error
    try:
        size = os.fstat(file).st_size
        if size < nbytes:
            if not shared:
                raise RuntimeError(
                    f"file <{filename}> size <{size}> is smaller than the required mapping size <{nbytes}>")
            os.ftruncate(file, nbytes)
        if nbytes == 0:
            return _noted(np.empty(0, np.uint8), filename if shared else None)
        access = mmap.ACCESS_WRITE if shared else mmap.ACCESS_COPY
        mapping = mmap.mmap(file, nbytes, access=access)
    finally:
        os.close(file)
    return _noted(np.frombuffer(mapping, np.uint8), filename if shared else None)


def _noted(array: np.ndarray, filename: str | None) -> Tensor:
    t = tensor_of(array, dtypes.uint8)
    _mappings[t._storage.value.memory] = filename
    return t


# Shared memory by what identifies its file, and the name that this process has for it.
_shared: weakref.WeakValueDictionary[tuple, Memory] = weakref.WeakValueDictionary()
_names: weakref.WeakKeyDictionary[Memory, str] = weakref.WeakKeyDictionary()


def share(t: Tensor) -> None:
    """Move the storage of ``t`` to memory that other processes may have; nothing if it is there.

    Processes that are forked from now on have it, and those to which `sent` gives it.

    An array of NumPy's over it stays with the memory that was.
    """
    storage = t._storage
    while not is_mapped(t):
        there, held = in_one_memory(t), storage.value
        if held.__class__ is not HostValue and (
                held.__class__ is not Value or isinstance(held.settled(), jax.core.Tracer)):
            raise RuntimeError("inside jax.jit, jax.grad or vmap a tensor has no memory that can be shared")
        if held.aval.device is not CPU:
            return
        before = physical_bytes(t)
        if before.nbytes < max([shown.nbytes for _, _, shown in there]):
            raise RuntimeError(
                f"a storage that was resized to {before.nbytes} bytes, where its tensors need more, cannot "
                "be moved to shared memory: resize it back first")
        nbytes = max(before.nbytes, 1)  # of no bytes there is no mapping
        name, mapping = memory_files.made(nbytes) if memory_files.AVAILABLE else (None, mmap.mmap(-1, nbytes))
        memory = _memory_of(mapping, before.nbytes, name, storage)
        memory.data[:] = before
        convert_all([(s, held_in(memory, s, shown), epoch) for s, epoch, shown in there])


def _memory_of(mapping: mmap.mmap, nbytes: int, name: str | None, storage: Storage | None = None) -> Memory:
    array = np.frombuffer(mapping, np.uint8)[:nbytes]
    memory = Memory.at(array.__array_interface__["data"][0], nbytes, array, storage)
    _mappings[memory] = None
    if name is not None:
        memory_files.let_go_with(memory, name)
        _names[memory] = name
        _shared[memory_files.identity_of(name)] = memory
    return memory


def sent(t: Tensor) -> tuple[str, int] | None:
    """The name and the size of the memory of ``t``, shared from now on, for one message to another process.

    None where memory cannot be shared so.
    """
    if not memory_files.AVAILABLE or t._aval.device is not CPU:
        return None
    share(t)
    memory = t._storage.value.memory
    name = _names.get(memory)  # none of a file of the user's
    return None if name is None else (memory_files.named_for_message(name), memory.data.nbytes)


def received(name: str, nbytes: int) -> Tensor:
    """All bytes of the memory that another process has sent; one storage, however often it is sent."""
    memory = _shared.get(memory_files.identity_of(name))
    storage = None if memory is None or memory.storage is None else memory.storage()
    held = None if storage is None else storage.value
    if held.__class__ is not HostValue or held.memory is not memory:
        memory = _memory_of(memory_files.mapped(name, max(nbytes, 1)), nbytes, name)
        aval = aval_of((nbytes,), dtypes.uint8, CPU)
        t = make(HostValue(aval, memory.shown((nbytes,), aval.dtype.np, 0, None), memory))
        note(t._storage, memory)
        return t
    memory_files.take_away(name)
    live = held.live
    stride = None if live.flags.c_contiguous else tuple([s // live.itemsize for s in live.strides])
    APART.note(storage)
    info = ConstantInfo(root_of(held.aval, stride), None, None, [0])
    return make_view(storage, held.aval, stride, info)


def is_mapped(t: Tensor) -> bool:
    """Whether other processes may have the memory of a tensor."""
    held = t._storage.value
    return held.__class__ is HostValue and held.memory in _mappings


def filename_of(t: Tensor) -> str | None:
    """The file that what is written to a tensor reaches."""
    held = t._storage.value
    return _mappings.get(held.memory) if held.__class__ is HostValue else None
