"""Storages as runs of elements of one dtype, which PyTorch deprecates."""

from __future__ import annotations

import copy as _copy
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Self

import numpy as np

from jaxflow._api.creation.host_arrays import host_array_of, put
from jaxflow._core import device as devices
from jaxflow._core import dtype as dtypes
from jaxflow._core.tensor import Tensor

from .untyped import UntypedStorage, listed, storage_of

#: What an error about the arguments of a typed storage begins with.
EXPECTED = """TypedStorage.__init__ received an invalid combination of arguments. Expected one of:
 * (*, torch.device device, torch.dtype dtype)
 * (int size, *, torch.device device, torch.dtype dtype)
 * (Sequence data, *, torch.device device, torch.dtype dtype)
 * (*, UntypedStorage wrap_storage, torch.dtype dtype)
"""


class TypedStorage:
    """A storage as a run of elements; PyTorch deprecates it.

    Args:
        data: how many elements it shall have, or what they are.
        dtype: of the elements, by default the default dtype.
        wrap_storage: an untyped storage to show, instead of ``data``; needs a dtype.
        device: where; by default on the CPU.
    """

    __module__ = "jaxflow.storage"
    is_sparse = False

    def __init__(self, *data: Any, dtype: Any = None, wrap_storage: Any = None, device: Any = None) -> None:
        if wrap_storage is not None:
            if data:
                raise RuntimeError(
                    EXPECTED + "No positional arguments should be given when using 'wrap_storage'")
            if dtype is None:
                raise RuntimeError(EXPECTED + "Argument 'dtype' must be specified")
            if device is not None:
                raise RuntimeError(
                    EXPECTED + "Argument 'device' should not be specified when 'wrap_storage' is given")
            if not isinstance(wrap_storage, UntypedStorage):
                raise TypeError(
                    f"{EXPECTED}Argument 'wrap_storage' must be UntypedStorage, but got {type(wrap_storage)}")
        if len(data) > 1:
            raise RuntimeError(EXPECTED + "Too many positional arguments")
        self.dtype: dtypes.dtype = dtypes.given_dtype(dtype) or dtypes.get_default_dtype()
        if wrap_storage is None:
            wrap_storage = _made(data[0] if data else 0, self.dtype, device or "cpu")
        self._untyped_storage = wrap_storage

    @classmethod
    def of(cls, t: Tensor) -> TypedStorage:
        """The storage of a tensor as elements of its dtype."""
        return cls(wrap_storage=storage_of(t), dtype=t._aval.dtype)

    @classmethod
    def from_buffer(cls, buffer: Any, byte_order: str | None = None, count: int = -1,
                    offset: int = 0) -> TypedStorage:
        """A storage of a copy of a buffer's bytes; see `UntypedStorage.from_buffer`."""
        kind = cls._only_dtype("from_buffer")
        untyped = UntypedStorage.from_buffer(buffer, byte_order, count, offset, dtype=kind)
        return TypedStorage(wrap_storage=untyped, dtype=kind)

    @classmethod
    def from_file(cls, filename: Any, shared: bool = False, size: int = 0) -> TypedStorage:
        """A storage of ``size`` elements, one memory with a file; see `UntypedStorage.from_file`."""
        kind = cls._only_dtype("from_file")
        untyped = UntypedStorage.from_file(filename, shared, size * kind.itemsize)
        return TypedStorage(wrap_storage=untyped, dtype=kind)

    @classmethod
    def _only_dtype(cls, asked: str) -> dtypes.dtype:
        if cls is TypedStorage:
            raise RuntimeError(f"{asked} can only be called on derived classes")
        return cls.dtype

    def _like(self, untyped: UntypedStorage) -> TypedStorage:
        return TypedStorage(wrap_storage=untyped, dtype=self.dtype)

    # ----- what it is

    @property
    def _tensor(self) -> Tensor:
        return self._untyped_storage._tensor

    @property
    def device(self) -> devices.device:
        """Where the storage lies."""
        return self._untyped_storage.device

    @property
    def is_cuda(self) -> bool:
        """Whether it lies on a GPU."""
        return self._untyped_storage.is_cuda

    @property
    def filename(self) -> str | None:
        """The file that what is written to it reaches."""
        return self._untyped_storage.filename

    @property
    def _cdata(self) -> int:
        return self._untyped_storage._cdata

    def untyped(self) -> UntypedStorage:
        """The same storage as bytes."""
        return self._untyped_storage

    def size(self) -> int:
        """How many elements there are."""
        return self.nbytes() // self.element_size()

    def __len__(self) -> int:
        return self.size()

    def element_size(self) -> int:
        """Bytes of one element."""
        return self.dtype.itemsize

    def type(self, dtype: Any = None, non_blocking: bool = False) -> str:
        """The name of the type. NotImplementedError where a ``dtype`` is given."""
        if dtype is not None:
            return self._untyped_storage.type(dtype)
        where = "" if self.device.type == "cpu" else f"{self.device.type}."
        return f"torch.{where}{self.dtype.scalar_name}Storage"

    def pickle_storage_type(self) -> str:
        """The name of the class of storages of its dtype."""
        return f"{self.dtype.scalar_name}Storage"

    # ----- reading and writing

    def tensor(self, dtype: dtypes.dtype, offset: int, size: tuple, stride: tuple) -> Tensor:
        """The tensor of this geometry on the storage; see `UntypedStorage.tensor`."""
        return self._untyped_storage.tensor(dtype, offset, size, stride)

    def _elements(self) -> Tensor:
        return self._untyped_storage.elements(self.dtype)

    def tolist(self) -> list:
        """All elements, as Python numbers."""
        return self._elements().tolist()

    def __iter__(self) -> Iterator:
        return iter(self.tolist())

    def __getitem__(self, index: Any) -> Any:
        if self.device.type == "meta":
            raise NotImplementedError("Not available for 'meta' device type")
        if isinstance(index, slice):
            raise RuntimeError("slices are only supported in UntypedStorage.__getitem__")
        if not isinstance(index, int):
            raise RuntimeError(f"can't index a {type(self)} with {type(index)}")
        if isinstance(index, bool):
            raise TypeError(f"can't index a {type(self)} with {type(index)}")
        n = self.size()
        if not -n <= index < n:
            raise IndexError(f"index {index} out of range for storage of size {n}")
        return self._elements()[index].item()

    def __setitem__(self, index: Any, value: Any) -> None:
        if not isinstance(index, int | slice):
            raise RuntimeError(f"can't index a {type(self)} with {type(index)}")
        if isinstance(value, UntypedStorage | TypedStorage):
            raise RuntimeError(f"cannot set item with value type {type(value)}")
        self._elements()[index] = value

    def fill_(self, value: Any) -> Self:
        """Write one number everywhere."""
        self._elements()[:] = value
        return self

    def copy_(self, source: Any, non_blocking: bool | None = None) -> Self:
        """Write the bytes of another storage of this size in bytes."""
        self._untyped_storage.copy_(source)
        return self

    def resize_(self, size: int) -> None:
        """Give it so many elements; see `UntypedStorage.resize_`."""
        self._untyped_storage.resize_(size * self.element_size())

    def share_memory_(self) -> Self:
        """Move it to memory that other processes may have; see `Tensor.share_memory_`."""
        self._untyped_storage.share_memory_()
        return self

    # ----- copies of it

    def to(self, *, device: Any, non_blocking: bool = False) -> TypedStorage:
        """The storage on another device."""
        return self._like(self._untyped_storage.to(device=device))

    def cuda(self, device: Any = None, non_blocking: bool = False) -> TypedStorage:
        """The storage on a GPU. Raises PyTorch's error where there is none."""
        return self._like(self._untyped_storage.cuda(device))

    def __copy__(self) -> TypedStorage:
        return self.clone()

    def __deepcopy__(self, memo: dict) -> TypedStorage:
        return self._like(_copy.deepcopy(self._untyped_storage, memo))

    def __reduce__(self) -> tuple:
        return _rebuilt, (self._untyped_storage, self.dtype.name)

    def __repr__(self) -> str:
        return listed(self, f"[torch.storage.TypedStorage(dtype={self.dtype}, device={self.device}) of size "
                            f"{len(self)}]")


def shown_by(storage: UntypedStorage | TypedStorage, dtype: dtypes.dtype | None) -> Tensor:
    """All of a storage as a tensor on it, as PyTorch makes one of data.

    Without a ``dtype`` the elements of a typed one have to be of the default dtype, and bytes are int64.
    """
    if isinstance(storage, UntypedStorage):
        return storage.elements(dtype or dtypes.int64)
    wanted = dtype or dtypes.get_default_dtype()
    if storage.dtype is not wanted:
        raise RuntimeError(
            f"Expected a Storage of type {wanted.scalar_name} or an UntypedStorage, but got "
            f"{storage.dtype.scalar_name}")
    return storage.untyped().elements(wanted)


def _made(data: Any, dtype: dtypes.dtype, device: Any) -> UntypedStorage:
    if isinstance(data, int | np.integer):
        return UntypedStorage(int(data) * dtype.itemsize, device=device)
    if not isinstance(data, Sequence):
        raise TypeError(f"{EXPECTED}Argument type not recognized: {type(data)}")
    return storage_of(put(host_array_of(data, dtype), device))


def _rebuilt(untyped: UntypedStorage, dtype: str) -> TypedStorage:
    return TypedStorage(wrap_storage=untyped, dtype=dtypes.ALL[dtype])


def _told(name: str) -> Callable:
    """A method that returns what the same method of the untyped storage returns."""
    def method(self: TypedStorage, *args: Any) -> Any:
        return getattr(self._untyped_storage, name)(*args)

    method.__name__, method.__doc__ = name, getattr(UntypedStorage, name).__doc__
    method.__qualname__ = f"TypedStorage.{name}"
    return method


def _wrapped(name: str) -> Callable:
    """A method that gives what the untyped storage gives, as elements of the same dtype."""
    def method(self: TypedStorage, *args: Any) -> TypedStorage:
        return self._like(getattr(self._untyped_storage, name)(*args))

    method.__name__, method.__doc__ = name, getattr(UntypedStorage, name).__doc__
    method.__qualname__ = f"TypedStorage.{name}"
    return method


for _name in ("data_ptr", "get_device", "nbytes", "is_pinned", "is_shared", "resizable"):
    setattr(TypedStorage, _name, _told(_name))
for _name in ("clone", "cpu", "pin_memory"):
    setattr(TypedStorage, _name, _wrapped(_name))


def _converter(name: str, dtype: dtypes.dtype) -> None:
    def method(self: UntypedStorage | TypedStorage) -> TypedStorage:
        found = self.untyped().elements(getattr(self, "dtype", dtypes.uint8))
        return TypedStorage.of(found.to(dtype, copy=True))

    method.__name__, method.__doc__ = name, f"A storage of the elements as {dtype.name}."
    for kind in (UntypedStorage, TypedStorage):
        setattr(kind, name, method)


for _name, _dtype in (
        ("bfloat16", dtypes.bfloat16), ("bool", dtypes.bool), ("byte", dtypes.uint8), ("char", dtypes.int8),
        ("complex_double", dtypes.complex128), ("complex_float", dtypes.complex64),
        ("double", dtypes.float64), ("float", dtypes.float32), ("half", dtypes.float16),
        ("int", dtypes.int32), ("long", dtypes.int64), ("short", dtypes.int16)):
    _converter(_name, _dtype)
