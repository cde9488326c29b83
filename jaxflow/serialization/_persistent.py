"""The storages of one file, each read once, as a pickle refers to them."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np

from jaxflow._core.device import resolve

from ._archive import Reader, native_order
from ._names import StorageType
from ._storages import LoadedStorage


class Storages:
    """Makes storages of bytes that a subclass reads; ``restore`` puts them where they are wanted."""

    def __init__(self, restore: Callable[[LoadedStorage, str], LoadedStorage]) -> None:
        self._restore = restore
        self._loaded: dict[str, LoadedStorage] = {}

    def persistent_load(self, pid: Any) -> LoadedStorage:
        """The storage that ``("storage", type, key, location, elements)`` refers to."""
        kind, key, location, nbytes = reference(pid)
        if key not in self._loaded:
            data = self._read(key, nbytes, kind.dtype)
            storage = LoadedStorage(data, kind.dtype, resolve("cpu")[0], nbytes)
            self._loaded[key] = self._restore(storage, location)
        return self._loaded[key]

    def finish(self) -> None:
        """Make storages of all that was loaded, when the tensors on them are made."""
        for storage in self._loaded.values():
            if isinstance(storage, LoadedStorage):
                storage.become_typed()

    def _read(self, key: str, nbytes: int, dtype: Any) -> np.ndarray:
        raise NotImplementedError


def reference(pid: Any) -> tuple[StorageType, str, str, int]:
    """(type, key, location, bytes) of the storage that a pickle refers to; UnpicklingError for all else."""
    if not isinstance(pid, tuple) or len(pid) < 5 or _text(pid[0]) != "storage":
        raise pickle.UnpicklingError(f"Only persistent_load of storage is allowed, but got {type(pid)}")
    kind, key, location, count = StorageType.of(pid[1]), _text(pid[2]), _text(pid[3]), pid[4]
    if kind is None or not isinstance(key, str) or not isinstance(count, int) or count < 0:
        raise pickle.UnpicklingError(f"there is no storage {key!r} of {count!r} elements of {pid[1]}")
    return kind, key, location, count if kind.dtype is None else count * kind.dtype.itemsize


def _text(x: Any) -> Any:
    """Text, also where ``encoding="bytes"`` leaves what Python 2 wrote as bytes."""
    return x.decode("ascii", "replace") if isinstance(x, bytes) else x


class Records(Storages):
    """Those of an archive; with ``memory``, the mapped file, they are read when they are used."""

    def __init__(self, reader: Reader, memory: Any, restore: Callable) -> None:
        super().__init__(restore)
        self._reader, self._memory = reader, memory
        self._swap = reader.text("byteorder", "little") != native_order()

    def _read(self, key: str, nbytes: int, dtype: Any) -> np.ndarray:
        name = f"data/{key}"
        if self._memory is not None and not self._swap:
            data = self._reader.mapped(name, self._memory)
        else:
            data = self._reader.bytes(name)
        if data.nbytes < nbytes:
            raise RuntimeError(
                f"the checkpoint's record {name} has {data.nbytes} bytes where {nbytes} are needed"
            )
        return swapped(data[:nbytes], dtype) if self._swap else data[:nbytes]


def swapped(data: np.ndarray, dtype: Any) -> np.ndarray:
    """Bytes of elements in the other byte order. RuntimeError for ``dtype`` None: no width is known."""
    if dtype is None:
        raise RuntimeError(
            "the checkpoint was written on a machine of the other byte order and holds a "
            "storage without a dtype, which cannot be converted"
        )
    width = dtype.itemsize // (2 if dtype.is_complex else 1)
    return np.ascontiguousarray(data.reshape(-1, width)[:, ::-1]).reshape(-1)
