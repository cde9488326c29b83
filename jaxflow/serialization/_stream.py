"""The format that PyTorch wrote before version 1.6, and still writes on request.

Pickles follow each other: a number by which the format is known, its version, what the machine was like, the
object, and the keys of its storages. Then come the storages in the order of the keys: how many elements, in
eight bytes, and the elements, both little-endian whatever the machine.
"""

from __future__ import annotations

import io
import pickle
import struct
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from jaxflow._memory.storage_bytes import physical_bytes

from ._archive import native_order, read_aligned
from ._names import STORAGE_CLASSES, UNTYPED, StorageType, storage_type
from ._persistent import Storages, reference, swapped
from ._unpickler import WeightsOnlyUnpickler

_MAGIC = 0x1950A86A20F9469CFC6C
_VERSION = 1001
#: How the pickle of ``_MAGIC`` ends, in every protocol.
_MARK = pickle.LONG1 + b"\n" + _MAGIC.to_bytes(10, "little") + pickle.STOP
#: So many bytes of a file hold the first pickle.
HEAD = 32


def is_stream(head: bytes) -> bool:
    """Whether a file that begins with ``head`` has this format."""
    return head.startswith(pickle.PROTO) and _MARK in head


# --------------------------------------------------------------------------------------------- loading


def read(file: Any, restore: Callable, load: Callable[[io.BytesIO, Callable], Any], encoding: str) -> Any:
    """The object that follows in ``file``, which is left behind it.

    Args:
        file: seekable, at the first pickle.
        restore: as `Storages` takes it.
        load: unpickles the object, given its pickle and what loads a storage.
        encoding: of text that Python 2 wrote.

    Raises:
        RuntimeError: for another version, and for a file that ends too early.
        pickle.UnpicklingError: for a damaged pickle.
    """
    if _plain(file) != _MAGIC:
        raise RuntimeError("Invalid magic number; corrupt file?")
    version = _plain(file)
    if version != _VERSION:
        raise RuntimeError(f"Invalid protocol version: {version}")
    _plain(file)
    start = file.tell()
    references = _References(file, encoding=encoding, errors="replace")
    _whole(references)
    end = file.tell()
    keys = _plain(file)
    if not isinstance(keys, list) or not all(isinstance(key, str | bytes) for key in keys):
        raise RuntimeError("the checkpoint is damaged: it has no list of its storages")
    places, behind = _places(file, keys, references.found)
    file.seek(start)
    storages = _Elements(file, places, restore)
    result = load(io.BytesIO(file.read(end - start)), storages.persistent_load)
    storages.finish()
    file.seek(behind)
    return result


def _plain(file: Any) -> Any:
    """The next pickle, of numbers, texts and containers."""
    return _whole(WeightsOnlyUnpickler(file, reference))


def _whole(unpickler: pickle._Unpickler) -> Any:
    """What it reads. UnpicklingError where that is no pickle, or not all of one."""
    try:
        return unpickler.load()
    except (LookupError, ValueError, TypeError, AttributeError, EOFError, struct.error) as error:
        raise pickle.UnpicklingError(f"the checkpoint is damaged: {error!r}") from error


def _places(file: Any, keys: Sequence, found: dict[str, tuple[int, int]]) -> tuple[dict, int]:
    """Key -> (where its elements begin, how many bytes they are), and where the last ones end."""
    places: dict[str, tuple[int, int]] = {}
    at = file.tell()
    size = file.seek(0, io.SEEK_END)
    for key in keys:
        key = key.decode("ascii", "replace") if isinstance(key, bytes) else key
        file.seek(at)
        head = file.read(8)
        if key not in found or len(head) < 8:
            raise RuntimeError(f"the checkpoint is damaged: nothing is known of its storage {key!r}")
        width, expected = found[key]
        nbytes = int.from_bytes(head, "little", signed=True) * width
        if nbytes != expected:
            raise RuntimeError(
                f"the checkpoint is damaged: storage {key!r} has {nbytes} bytes where {expected} are needed")
        at += 8
        if at + nbytes > size:
            raise RuntimeError(
                f"unexpected EOF, expected {at + nbytes - size} more bytes. The file might be corrupted.")
        places[key] = at, nbytes
        at += nbytes
    return places, at


class _Elements(Storages):
    """The storages of a stream."""

    def __init__(self, file: Any, places: dict[str, tuple[int, int]], restore: Callable) -> None:
        super().__init__(restore)
        self._file, self._places = file, places

    def persistent_load(self, pid: Any) -> Any:
        """A storage; or a module, which old files hold beside its source."""
        if isinstance(pid, tuple) and len(pid) > 1 and pid[0] == "module":
            return pid[1]
        if isinstance(pid, tuple) and len(pid) > 5 and pid[5] is not None:
            raise RuntimeError(
                "the checkpoint holds a storage that is a part of another one, as PyTorch wrote it before "
                "version 0.4; load it with PyTorch and save it again"
            )
        return super().persistent_load(pid)

    def _read(self, key: str, nbytes: int, dtype: Any) -> np.ndarray:
        if key not in self._places:
            raise RuntimeError(f"the checkpoint is damaged: it has no storage {key!r}")
        start, there = self._places[key]
        if there < nbytes:
            raise RuntimeError(f"the checkpoint's storage {key!r} has {there} bytes of the {nbytes} needed")
        out = read_aligned(self._file, start, nbytes)
        if out is None:  # somebody has cut it since `_places` looked
            raise RuntimeError("unexpected EOF. The file might be corrupted.")
        return out if native_order() == "little" or dtype is None else swapped(out, dtype)


class _Anything:
    """In the place of every object and function of a pickle that is only looked through."""

    def __new__(cls, *args: Any, **kwargs: Any) -> _Anything:
        return object.__new__(_Anything)  # what stands for a class may itself be made by a call

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Takes whatever it is given."""

    def __call__(self, *args: Any, **kwargs: Any) -> _Anything:
        """What a function gives is anything, too."""
        return self

    append = extend = add = update = __setitem__ = __setstate__ = __init__


class _References(pickle._Unpickler):
    """Looks through a pickle for the storages that it refers to; it makes nothing and calls nothing of it.

    Where their elements lie is known only from all of them, and only then can tensors be made.
    """

    dispatch = {
        **pickle._Unpickler.dispatch,
        pickle.BYTEARRAY8[0]: WeightsOnlyUnpickler.dispatch[pickle.BYTEARRAY8[0]],
    }

    def __init__(self, file: Any, **options: Any) -> None:
        super().__init__(file, **options)
        self.found: dict[str, tuple[int, int]] = {}  # key -> (bytes of an element, of all)

    def find_class(self, module: str, name: str) -> Any:
        """A type of storages; nothing else is looked up."""
        if (module, name) == UNTYPED:
            return StorageType(None)
        return (storage_type(name) if module == "torch" else None) or _Anything

    def persistent_load(self, pid: Any) -> Any:
        """Note a storage."""
        if isinstance(pid, tuple) and pid and pid[0] in ("storage", b"storage"):
            kind, key, _, nbytes = reference(pid)
            width = 1 if kind.dtype is None else kind.dtype.itemsize
            self.found[key] = width, max(nbytes, self.found.get(key, (0, 0))[1])
        return _Anything()


# ---------------------------------------------------------------------------------------------- saving


def write(file: Any, pickled: memoryview, tensors: Sequence, protocol: int) -> None:
    """Write an object's pickle, and the storages of ``tensors``, whose keys are their positions."""
    sizes = dict(short=2, int=4, long=4)
    machine = dict(protocol_version=_VERSION, little_endian=sys.byteorder == "little", type_sizes=sizes)
    for head in (_MAGIC, _VERSION, machine):
        pickle.dump(head, file, protocol)
    file.write(pickled)
    by_key = {str(n): t for n, t in enumerate(tensors)}
    keys = sorted(by_key)
    pickle.dump(keys, file, protocol)
    for key in keys:
        dtype, data = by_key[key].dtype, physical_bytes(by_key[key])
        width = dtype.itemsize if dtype.name in STORAGE_CLASSES else 1
        file.write((data.nbytes // width).to_bytes(8, "little"))
        file.write(data if native_order() == "little" or width == 1 else swapped(data, dtype))
