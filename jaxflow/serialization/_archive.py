"""The container of a checkpoint: an uncompressed zip file whose records start at multiples of 64.

Written so that PyTorch reads it, and so that a storage can be mapped into memory where it lies.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import struct
import sys
import uuid
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

ALIGNMENT = 64
_LOCAL_HEADER = struct.Struct("<26xHH")  # lengths of name and extra field, at the end of 30 bytes
_PADDING_ID = struct.pack("<H", 0x4246)
_PIECE = 1 << 20  # bytes read at once from a compressed record
_MOST_TEXT = 1024  # bytes of a record that is a word
_ZIP64_EXTRA = 20  # bytes zipfile adds to the header of a record too long for 32 bits
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the same objects give the same file, whenever they are saved

CORRUPT = (
    "PytorchStreamReader failed reading zip archive: {}. The checkpoint is damaged or was not "
    "written to its end; copy or save it again."
)


class Writer:
    """Writes records into an archive under the folder ``root``."""

    def __init__(self, file: Any, root: str) -> None:
        self._zip = zipfile.ZipFile(file, "w", zipfile.ZIP_STORED, allowZip64=True)
        self._root = root
        self._checksum = 0

    def write(self, name: str, data: Any) -> None:
        """Add one record; ``data`` is bytes or a flat buffer of bytes."""
        view = memoryview(data)
        info = zipfile.ZipInfo(f"{self._root}/{name}", _EPOCH)
        info.file_size = view.nbytes
        large = view.nbytes >= zipfile.ZIP64_LIMIT
        header = _LOCAL_HEADER.size + len(info.filename.encode()) + (_ZIP64_EXTRA if large else 0)
        start = self._zip.fp.tell() + header
        # The padding is an extra field of its own: two bytes of id, two of length, then zeros.
        padding = -(start + 4) % ALIGNMENT
        info.extra = _PADDING_ID + struct.pack("<H", padding) + b"\0" * padding
        with self._zip.open(info, "w", force_zip64=large) as record:
            record.write(view)
        self._checksum = zlib.crc32(view, self._checksum)

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, kind: Any, *exc: object) -> None:
        if kind is None:
            self._finish()
        else:
            self._zip.fp = None  # or its finalizer would try to write a directory

    def _finish(self) -> None:
        """Add what every archive has, and its directory."""
        self.write("version", b"3\n")
        self.write(".data/serialization_id", f"{self._checksum:040d}".encode())
        self._zip.close()


class Reader:
    """Reads the records of an archive.

    Raises:
        RuntimeError: when it is damaged, or is no checkpoint.
    """

    def __init__(self, file: Any) -> None:
        self._file = file
        try:
            self._zip = zipfile.ZipFile(file)
        except (zipfile.BadZipFile, OSError, struct.error) as error:
            raise RuntimeError(CORRUPT.format("failed finding central directory")) from error
        self._records = {info.filename: info for info in self._zip.infolist()}
        file.seek(0, os.SEEK_END)
        self._size = file.tell()
        if sum(info.compress_size for info in self._records.values()) > self._size:
            raise RuntimeError(CORRUPT.format("its records are longer than the file"))
        first = next(iter(self._records), "")
        self.root = first.partition("/")[0]
        if not self.has("version") and not self.has(".data/version"):
            raise RuntimeError(
                'Expected hasRecord("version") to be true, but got false.  The file is a zip '
                "archive but no checkpoint."
            )

    def has(self, name: str) -> bool:
        """Whether there is such a record."""
        return f"{self.root}/{name}" in self._records

    def text(self, name: str, default: str) -> str:
        """A small record as text."""
        if not self.has(name):
            return default
        with self._opened(self._info(name)) as record:
            return record.read(_MOST_TEXT).decode(errors="replace").strip()

    def bytes(self, name: str) -> np.ndarray:
        """A record as bytes at an aligned address, so that XLA can use them where they are."""
        info = self._info(name)
        if info.compress_type != zipfile.ZIP_STORED:
            return self._inflated(info)
        start = self._start(info)
        out = read_aligned(self._file, start, info.file_size)
        if out is None:
            raise _too_short(info)
        if zlib.crc32(out) != info.CRC:
            raise RuntimeError(CORRUPT.format(f"{info.filename} does not match its checksum"))
        return out

    def mapped(self, name: str, memory: mmap.mmap) -> np.ndarray:
        """A record where it lies in the mapped file; read when it is used, and not checked.

        A compressed record lies nowhere in the file, and is read at once.
        """
        info = self._info(name)
        if info.compress_type != zipfile.ZIP_STORED:
            return self._inflated(info)
        return np.frombuffer(memory, np.uint8, info.file_size, self._start(info))

    def _inflated(self, info: zipfile.ZipInfo) -> np.ndarray:
        """A compressed record, in memory that grows with what is there, whatever length it claims."""
        out = Growing(info.file_size)
        with self._opened(info) as record:
            try:
                while piece := record.read(_PIECE):
                    out.add(piece)
            except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError) as error:
                raise RuntimeError(CORRUPT.format(f"{info.filename}: {error}")) from error
        if out.size != info.file_size:
            raise _too_short(info)
        return out.finished()

    def _opened(self, info: zipfile.ZipInfo) -> Any:
        """A stream of a record's content, which checks its checksum at the end."""
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            method = f"compression method {info.compress_type}, and checkpoints are stored or deflated"
            raise RuntimeError(CORRUPT.format(f"{info.filename} has the {method}"))
        try:
            return self._zip.open(info)
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
            raise RuntimeError(CORRUPT.format(f"{info.filename}: {error}")) from error

    def _info(self, name: str) -> zipfile.ZipInfo:
        info = self._records.get(f"{self.root}/{name}")
        if info is None:
            raise RuntimeError(
                f"PytorchStreamReader failed locating file {name}: file not found. The file is no "
                "checkpoint, or not a whole one."
            )
        return info

    def _start(self, info: zipfile.ZipInfo) -> int:
        """Where the data of a stored record begin. RuntimeError where the file does not hold all of them."""
        start = self._offset(info)
        if info.file_size != info.compress_size or start + info.file_size > self._size:
            raise _too_short(info)
        return start

    def _offset(self, info: zipfile.ZipInfo) -> int:
        """Where the data of a record begins: the local header's lengths are its own."""
        self._file.seek(info.header_offset)
        header = self._file.read(30)
        if header[:4] != b"PK\3\4":
            raise RuntimeError(CORRUPT.format(f"no record at the place of {info.filename}"))
        return info.header_offset + 30 + sum(_LOCAL_HEADER.unpack(header))


def _too_short(info: zipfile.ZipInfo) -> RuntimeError:
    return RuntimeError(CORRUPT.format(f"{info.filename} ends before the {info.file_size} bytes it claims"))


class Growing:
    """Bytes that come piece by piece, in one buffer that is never much larger than what has come.

    Args:
        most: how many there are to be; more are refused.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        # Large ones move by pages, not by copying; NumPy's arrays do not since NumPy 2.5.
        self._raw = bytearray()

    @property
    def size(self) -> int:
        """How many have come."""
        return len(self._raw)

    def add(self, piece: bytes) -> None:
        """Append some bytes."""
        if len(self._raw) + len(piece) > self._most:
            raise ValueError(f"there are more than {self._most} bytes")
        self._raw += piece

    def finished(self) -> np.ndarray:
        """All bytes, at an address that XLA accepts without copying; no more can be added."""
        size = len(self._raw)
        self._raw += bytes(ALIGNMENT)
        raw = np.frombuffer(self._raw, np.uint8)
        start = -raw.ctypes.data % ALIGNMENT
        if start:
            ctypes.memmove(raw.ctypes.data + start, raw.ctypes.data, size)
        return raw[start : start + size]


def aligned(size: int) -> np.ndarray:
    """``size`` bytes at an address that XLA accepts without copying."""
    raw = np.empty(size + ALIGNMENT, np.uint8)
    start = -raw.ctypes.data % ALIGNMENT
    return raw[start : start + size]


def read_aligned(file: Any, start: int, size: int) -> np.ndarray | None:
    """So many bytes of ``file``, in memory that is `aligned`; None where it ends before."""
    out = aligned(size)
    file.seek(start)
    view, done = memoryview(out), 0
    while done < size:
        got = file.readinto(view[done:])
        if not got:
            return None
        done += got
    return out


def native_order() -> str:
    """``"little"`` or ``"big"``."""
    return sys.byteorder


@contextmanager
def replacing(path: str) -> Iterator[Any]:
    """A file to write that takes the place of ``path`` at the end; on an error, nothing changes.

    Raises:
        RuntimeError: when the folder is not there.
    """
    folder = os.path.dirname(path)
    if folder and not os.path.isdir(folder):
        raise RuntimeError(f"Parent directory {folder} does not exist.")
    target = os.path.realpath(path)
    if os.path.exists(target) and not os.path.isfile(target):
        with open(path, "wb") as file:  # a pipe or a device is written to as it is
            yield file
        return
    temporary = f"{target}.{uuid.uuid4().hex[:8]}.tmp"
    try:
        with open(temporary, "xb") as file:
            if os.path.exists(target):
                os.chmod(temporary, os.stat(target).st_mode & 0o7777)
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise
