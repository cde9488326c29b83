"""Between tensors that share storages and the flat runs of bytes a checkpoint keeps of them."""

from __future__ import annotations

import math
import mmap
from typing import Any

import jax
import numpy as np

from jaxflow import _functions as functions
from jaxflow._api.storage.typed import TypedStorage
from jaxflow._api.storage.untyped import storage_of
from jaxflow._core import device as devices
from jaxflow._core import dtype as dtypes
from jaxflow._core.aval import aval_of
from jaxflow._core.device import CPU, resolve
from jaxflow._core.geometry import contiguous_strides
from jaxflow._core.shared import ALIGNED
from jaxflow._core.tensor import make
from jaxflow._core.value import Value
from jaxflow._views.host_shared import tensor_of

_MOST = (1 << 63) - 1

# ----- Saving -----


class StorageRef:
    """A storage as the pickle of a tensor refers to it."""

    __slots__ = ("dtype", "tensor")

    def __init__(self, tensor: Any, dtype: Any) -> None:
        self.tensor, self.dtype = tensor, dtype


# ----- Loading -----


class LoadedStorage:
    """A storage of a checkpoint: what ``map_location`` functions are given, and tensors made of.

    The first tensor made becomes the storage's base if it covers it all; others are views, so what
    shared memory when it was saved does so again.
    """

    def __init__(self, data: np.ndarray | None, dtype: Any, device: Any, nbytes: int) -> None:
        # An untyped storage comes back as one of bytes.
        self._data, self.dtype, self.device, self._nbytes = data, dtype or dtypes.uint8, device, nbytes
        self._base: Any = None

    def nbytes(self) -> int:
        """The size in bytes."""
        return self._nbytes

    def size(self) -> int:
        """The size in bytes, as of an untyped storage."""
        return self._nbytes

    def to(self, device: Any) -> LoadedStorage:
        """The same storage on another device. Raises what asking for a missing device raises."""
        return LoadedStorage(self._data, self.dtype, resolve(device)[0], self._nbytes)

    def cpu(self) -> LoadedStorage:
        """The same storage on the host."""
        return self.to("cpu")

    def cuda(self, device: Any = None) -> LoadedStorage:
        """The same storage on a GPU."""
        return self.to("cuda" if device is None else devices.device("cuda", device))

    def tensor(self, dtype: Any, offset: int, size: tuple, stride: tuple) -> Any:
        """The tensor of this geometry on the storage.

        Raises:
            RuntimeError: for a geometry that no tensor has, or that reaches beyond the storage.
        """
        size, stride = _checked(dtype, offset, size, stride)
        if self._base is None:
            count = self._nbytes // dtype.itemsize
            whole = offset == 0 and _covers(size, stride, count)
            self._base = self._make(dtype, *((size, stride) if whole else ((count,), (1,))))
            if whole:
                return self._base
        base = self._base
        if base.dtype is not dtype:
            base = base.as_strided((self._nbytes // base.itemsize,), (1,), 0).view(dtype)
        return base.as_strided(size, stride, offset).detach()

    def become_typed(self) -> None:
        """Become a TypedStorage, once all is loaded: for checkpoints of storages, and not only of tensors."""
        if self._base is None:
            self._base = self._make(self.dtype, (self._nbytes // self.dtype.itemsize,), (1,))
        found = TypedStorage(wrap_storage=storage_of(self._base), dtype=self.dtype)
        self.__class__, self.__dict__ = TypedStorage, found.__dict__  # type: ignore[assignment]

    def _make(self, dtype: Any, size: tuple, stride: tuple) -> Any:
        aval = aval_of(size, dtype, self.device)
        if self._data is None or self.device.type == "meta":
            return functions.empty_strided(size, stride, dtype=dtype, device="meta")
        flat = self._data[: aval.nbytes].view(dtype.np)
        order = sorted(range(len(size)), key=lambda d: -stride[d])
        dense = flat.reshape([size[d] for d in order]).transpose(np.argsort(order))
        if self.device is CPU and _lies_in_a_file(self._data) and flat.ctypes.data % ALIGNED:
            return tensor_of(dense, dtype)  # XLA would read all of it now, to have a copy
        tensor = make(Value(aval, jax.device_put(dense, resolve(self.device)[1])))
        if stride != contiguous_strides(size):
            tensor._stride = stride
        return tensor


def _lies_in_a_file(data: np.ndarray) -> bool:
    """Whether these bytes are of a mapped file, which is read where somebody reads them."""
    base: Any = data
    while isinstance(base, np.ndarray):
        base = base.base
    return isinstance(base.obj if isinstance(base, memoryview) else base, mmap.mmap)


def _checked(dtype: Any, offset: Any, size: Any, stride: Any) -> tuple[tuple, tuple]:
    """Size and strides as tuples, if a tensor can have them. RuntimeError otherwise.

    Nothing of their size is made here: a file of a few bytes can name any size.
    """
    size, stride = tuple(size), tuple(stride)
    fits = isinstance(dtype, dtypes.dtype) and len(size) == len(stride) and all(
        type(n) is int and 0 <= n <= _MOST for n in (offset, *size, *stride))
    if not fits:
        raise RuntimeError(
            f"the checkpoint holds a tensor that cannot be: of {dtype}, size {list(size)}, strides "
            f"{list(stride)}, offset {offset}"
        )
    if math.prod(size) > _MOST:
        raise RuntimeError(f"numel: integer multiplication overflow (the checkpoint holds a tensor of size "
                           f"{list(size)})")
    return size, stride


def _covers(size: tuple, stride: tuple, count: int) -> bool:
    """Whether the geometry is a dense arrangement of exactly ``count`` elements."""
    expected = 1
    for n, s in sorted(zip(size, stride), key=lambda pair: (pair[1], pair[0])):
        if n != 1 and s != expected:
            return False
        expected *= n
    return expected == count
