"""Memory that other processes may have, too: mapped files, and memory that forked processes share.

Storages in it are host-shared for good: NOTE [Host-shared storages].
"""

from __future__ import annotations

import mmap
import os
import weakref

import jax
import numpy as np

from jaxflow._core import dtype as dtypes
from jaxflow._core.device import CPU
from jaxflow._core.shared import HostValue, Memory, convert
from jaxflow._core.tensor import Tensor
from jaxflow._core.value import Value

from .door import plan_of
from .shared import tensor_of
from .storage_bytes import physical_bytes, shown_nbytes

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


def share(t: Tensor) -> None:
    """Move the storage of ``t`` to memory that processes forked from now on share; nothing if it is there.

    An array of NumPy's over it stays with the memory that was.
    """
    storage, root = t._storage, plan_of(t).root
    while not is_mapped(t):
        epoch, held = storage.epoch, storage.value
        if held.__class__ is not HostValue and (
                held.__class__ is not Value or isinstance(held.settled(), jax.core.Tracer)):
            raise RuntimeError("inside jax.jit, jax.grad or vmap a tensor has no memory that can be shared")
        aval = held.aval
        if aval.device is not CPU:
            return
        before = physical_bytes(t)
        if before.nbytes < shown_nbytes(root):
            raise RuntimeError(
                f"a storage that was resized to {before.nbytes} bytes, where its tensors need more, cannot "
                "be moved to shared memory: resize it back first")
        # Of no bytes there is no mapping.
        array = np.frombuffer(mmap.mmap(-1, max(before.nbytes, 1)), np.uint8)[: before.nbytes]
        memory = Memory.at(array.__array_interface__["data"][0], before.nbytes, array, storage)
        memory.data[:] = before
        _mappings[memory] = None
        live = memory.shown(aval.shape, aval.dtype.np, 0, root.stride)
        convert(storage, HostValue(aval, live, memory), epoch)


def is_mapped(t: Tensor) -> bool:
    """Whether other processes may have the memory of a tensor."""
    held = t._storage.value
    return held.__class__ is HostValue and held.memory in _mappings


def filename_of(t: Tensor) -> str | None:
    """The file that what is written to a tensor reaches."""
    held = t._storage.value
    return _mappings.get(held.memory) if held.__class__ is HostValue else None
