"""Storages as runs of bytes: the memory behind tensors, read and written as it is.

What is written through a storage is seen by all tensors on it and counts as a write to none of them, like
what is written through ``.data``.
"""

from __future__ import annotations

import operator
import threading
import weakref
from collections.abc import Iterator
from typing import Any, Self

import numpy as np

from jaxflow._api.creation.host_arrays import put
from jaxflow._api.creation.placing import device_of, need_accelerator
from jaxflow._api.shape.conjugates import as_marked
from jaxflow._core import device as devices
from jaxflow._core import dtype as dtypes
from jaxflow._core.tensor import ConstantInfo, Tensor, make_view
from jaxflow._dispatch.dispatch import apply, plan_of
from jaxflow._memory import mappings, resized
from jaxflow._memory.addresses import address_of
from jaxflow._memory.lending import lend
from jaxflow._memory.storage_bytes import physical_bytes, storage_nbytes
from jaxflow._plans.op import OPS
from jaxflow._views.host_shared import tensor_of

from .files import copied_buffer, mapped_file

# The object of each storage that somebody has, by the id of the storage: a second look-up finds the same.
_objects: weakref.WeakValueDictionary[int, UntypedStorage] = weakref.WeakValueDictionary()
_lock = threading.RLock()


def storage_of(t: Tensor) -> UntypedStorage:
    """The storage of a tensor."""
    storage = t._storage
    with _lock:
        found = _objects.get(id(storage))
        if found is None or found._tensor._storage is not storage:
            found = UntypedStorage.__new__(UntypedStorage)
            root = plan_of(t).root
            g = root.geometry
            if g.root_conj or g.root_neg:
                found._show(as_marked(t.data, False, False).data)
            else:
                info = ConstantInfo(root, None, None, [0])
                found._show(make_view(storage, root.aval, root.stride, info))
        return found


class UntypedStorage:
    """A storage as a run of bytes.

    Args:
        data: how many bytes it shall have, or what they are.
        device: where; by default on the CPU.
    """

    __module__ = "jaxflow.storage"
    is_sparse = False

    def __init__(self, data: Any = 0, *, device: Any = "cpu") -> None:
        if isinstance(data, int | np.integer):
            if data < 0:
                raise RuntimeError(f"Storage size is negative: {data}")
            made = apply(OPS["_full"], (0,), ((int(data),), dtypes.uint8, device_of(device)))
        elif isinstance(data, Tensor) or not (hasattr(data, "__len__") and hasattr(data, "__getitem__")):
            raise RuntimeError(
                f"torch.UntypedStorage(): Expected a sequence type, but got {type(data).__name__}")
        else:
            made = put(np.array([operator.index(x) & 255 for x in data], np.uint8), device)
        self._show(made)

    def _show(self, t: Tensor) -> None:
        self._tensor = t
        _objects[id(t._storage)] = self

    # ----- what it is

    @property
    def device(self) -> devices.device:
        """Where the storage lies."""
        return self._tensor._aval.device

    @property
    def is_cuda(self) -> bool:
        """Whether it lies on a GPU."""
        return self.device.type == "cuda"

    @property
    def filename(self) -> str | None:
        """The file that what is written to it reaches; see `from_file`."""
        return mappings.filename_of(self._tensor)

    @property
    def _cdata(self) -> int:
        return id(self._tensor._storage)

    def data_ptr(self) -> int:
        """Where its first byte lies, 0 if there is none; see `Tensor.data_ptr`."""
        return address_of(self._tensor)

    def get_device(self) -> int:
        """The index of the device, -1 for the CPU."""
        return self._tensor.get_device()

    def nbytes(self) -> int:
        """The size in bytes."""
        return storage_nbytes(self._tensor)

    def size(self) -> int:
        """The size in bytes."""
        return self.nbytes()

    def __len__(self) -> int:
        return self.nbytes()

    def element_size(self) -> int:
        """1: elements are bytes."""
        return 1

    def is_pinned(self, device: Any = None) -> bool:
        """Always False: XLA manages transfers."""
        return False

    def pin_memory(self, device: Any = None) -> Self:
        """The storage itself; as `Tensor.pin_memory`."""
        need_accelerator("UntypedStorage", self._tensor._aval.device, device)
        return self

    def is_shared(self) -> bool:
        """Whether other processes may have it; see `Tensor.is_shared`."""
        return self.is_cuda or mappings.is_mapped(self._tensor)

    def share_memory_(self) -> Self:
        """Move it to memory that other processes may have; see `Tensor.share_memory_`."""
        mappings.share(self._tensor)
        return self

    def untyped(self) -> Self:
        """The storage itself."""
        return self

    def type(self, dtype: Any = None, non_blocking: bool = False) -> str:
        """The name of the type. NotImplementedError where a ``dtype`` is given."""
        if dtype is not None:
            raise NotImplementedError(
                "type() of a storage tells its type alone: convert with float(), int(), or of a tensor")
        return "torch.storage.UntypedStorage"

    # ----- tensors on it

    def tensor(self, dtype: dtypes.dtype, offset: int, size: tuple, stride: tuple) -> Tensor:
        """The tensor of this geometry on the storage. RuntimeError where it reaches beyond the end."""
        base = resized.whole_of(self._tensor)
        if base is None:
            base = self._tensor
        if base.dtype is not dtype:
            nbytes = self.nbytes() // dtype.itemsize * dtype.itemsize
            base = base.as_strided((nbytes // base.itemsize,), (1,), 0).view(dtype)
        if not offset and stride == (1,) == base.stride() and size == base.shape:
            return base.detach()
        return base.as_strided(tuple(size), tuple(stride), offset).detach()

    def elements(self, dtype: dtypes.dtype) -> Tensor:
        """All of it in a row, as elements of ``dtype``; bytes at the end that make none are left out."""
        return self.tensor(dtype, 0, (self.nbytes() // dtype.itemsize,), (1,))

    # ----- reading and writing

    def __iter__(self) -> Iterator:
        return iter(self.tolist())

    def tolist(self) -> list[int]:
        """All bytes, as numbers."""
        return physical_bytes(self._tensor).tolist()

    def _position(self, index: Any) -> int:
        if isinstance(index, bool) or not hasattr(index, "__index__") or isinstance(index, Tensor):
            raise TypeError(f"can't index a torch.UntypedStorage with {type(index).__name__}")
        return operator.index(index)

    def _range(self, index: slice) -> tuple[int, int]:
        start, stop, step = index.indices(self.nbytes())
        if step != 1:
            raise RuntimeError(f"Trying to slice with a step of {step}, but only a step of 1 is supported")
        return start, max(start, stop)

    def __getitem__(self, index: Any) -> Any:
        if self.device.type == "meta":
            raise NotImplementedError("Not available for 'meta' device type")
        if isinstance(index, slice):
            return self._part(*self._range(index))
        n, i = self.nbytes(), self._position(index)
        if not -n <= i < n:
            raise IndexError(f"index {i} out of range for storage of size {n}")
        return self.elements(dtypes.uint8)[i].item()

    def _part(self, start: int, stop: int) -> UntypedStorage:
        """A storage of its own, of the same memory."""
        array = lend(self.elements(dtypes.uint8))
        if array is None:
            raise NotImplementedError(
                f"a slice of a storage shares its memory, which cannot be had on {self.device.type}: slice "
                "a tensor on it")
        # Of an empty slice NumPy forgets where it is.
        part = np.ndarray((stop - start,), np.uint8, array, start)
        return storage_of(tensor_of(part, dtypes.uint8))

    def __setitem__(self, index: Any, value: Any) -> None:
        if not isinstance(value, int):
            raise RuntimeError(
                f"can only set storage content with a int types, but got {type(value).__name__} instead")
        if isinstance(index, slice):
            start, stop = self._range(index)
        else:
            n, start = self.nbytes(), self._position(index)
            if not -n <= start < n:
                raise RuntimeError("out of bounds")
            start %= n
            stop = start + 1
        self.elements(dtypes.uint8)[start:stop].fill_(value & 255)

    def fill_(self, value: int) -> Self:
        """Write one byte everywhere."""
        if not isinstance(value, int):
            raise RuntimeError(f"fill_ expects int, but got {type(value).__name__}")
        self.elements(dtypes.uint8).fill_(value & 255)
        return self

    def copy_(self, source: Any, non_blocking: bool | None = None) -> Self:
        """Write the bytes of another storage of this size."""
        found = source.untyped() if hasattr(source, "untyped") else source
        if not isinstance(found, UntypedStorage):
            raise TypeError(
                f"copy_(): argument 'src' (position 1) must be torch.Storage, not {type(source).__name__}")
        if found.nbytes() != self.nbytes():
            raise RuntimeError(
                f"size does not match, self was {self.nbytes()} bytes but src was {found.nbytes()} bytes")
        self.elements(dtypes.uint8).copy_(found.elements(dtypes.uint8))
        return self

    def byteswap(self, dtype: dtypes.dtype) -> None:
        """Turn around the bytes of every element of ``dtype``, or of each part of a complex one."""
        width = dtype.itemsize // (2 if dtype.is_complex else 1)
        if width > 1:
            whole = self.nbytes() // width * width
            rows = self.elements(dtypes.uint8)[:whole].view(-1, width)
            rows.copy_(rows.flip(1))

    # ----- copies of it

    def clone(self) -> UntypedStorage:
        """A storage of the same bytes in memory of its own."""
        return storage_of(self.elements(dtypes.uint8).clone())

    def new(self) -> UntypedStorage:
        """An empty storage on the same device."""
        return UntypedStorage(device=self.device)

    def to(self, *, device: Any, non_blocking: bool = False) -> UntypedStorage:
        """The storage on another device; itself if it is there."""
        where = devices.resolve(device)[0]
        return self if where is self.device else storage_of(self.elements(dtypes.uint8).to(where))

    def cpu(self) -> UntypedStorage:
        """The storage on the host; itself if it is there."""
        return self.to(device="cpu")

    def cuda(self, device: Any = None, non_blocking: bool = False) -> UntypedStorage:
        """The storage on a GPU. Raises PyTorch's error where there is none."""
        return self.to(device="cuda" if device is None else device)

    def __copy__(self) -> UntypedStorage:
        return self.clone()

    def __deepcopy__(self, memo: dict) -> UntypedStorage:
        if resized.whole_of(self._tensor) is not None:
            return self.clone()
        copy = self._tensor.__deepcopy__(memo)
        memo.pop(id(self._tensor), None)
        return storage_of(copy)

    def __reduce__(self) -> tuple:
        return _rebuilt, (physical_bytes(self._tensor), str(self.device))

    # ----- its size

    def resizable(self) -> bool:
        """Whether the memory is its own."""
        return resized.resizable(self._tensor)

    def resize_(self, size: int) -> Self:
        """Give it so many bytes, for all tensors on it; they stay as they are.

        What it holds stays as far as it fits, and what is new is zero. A tensor that reaches beyond the end
        has a shape and nothing else until the storage is large enough again.

        Raises:
            RuntimeError: the memory is somebody else's, or an array of NumPy's over it is there.
            NotImplementedError: the storage is on an accelerator.
        """
        if isinstance(size, bool) or not isinstance(size, int):
            raise RuntimeError(f"resize_ expects an int, but got {type(size).__name__}")
        if size < 0:
            raise RuntimeError(f"Storage size is negative: {size}")
        resized.resize(self._tensor, size)
        return self

    # ----- other ways to make one

    @classmethod
    def from_buffer(cls, buffer: Any, byte_order: str | None = None, count: int = -1, offset: int = 0, *,
                    dtype: dtypes.dtype | None = None) -> UntypedStorage:
        """A storage of a copy of a buffer's bytes, as elements of ``dtype`` in this machine's byte order."""
        return storage_of(copied_buffer(buffer, byte_order, count, offset, dtype))

    @classmethod
    def from_file(cls, filename: Any, shared: bool = False, nbytes: int = 0) -> UntypedStorage:
        """A storage that is one memory with the first bytes of a file.

        Args:
            filename: of a file; with ``shared`` it is made, or made as large, if need be.
            shared: whether what is written reaches the file.
            nbytes: how many bytes.
        """
        return storage_of(mapped_file(filename, shared, nbytes))

    def __repr__(self) -> str:
        about = f"[torch.storage.UntypedStorage(device={self.device}) of size {len(self)}]"
        return listed(self, about)


def listed(storage: Any, about: str) -> str:
    """The elements of a storage below each other, as it shows itself."""
    if storage.device.type == "meta":
        return f"...\n{about}"
    return " " + "\n ".join([str(x) for x in storage.tolist()]) + f"\n{about}"


def _rebuilt(data: np.ndarray, device: str) -> UntypedStorage:
    return storage_of(put(data, device))
