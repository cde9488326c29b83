"""Records with checksums: the framing of TFRecord files."""

from __future__ import annotations

import struct
from typing import Any

from ._crc import crc32c, masked


def record(data: bytes) -> bytes:
    """A record: the length in 8 bytes and its checksum, the data and its checksum.

    The TFRecord format: tensorflow.org/tutorials/load_data/tfrecord.
    """
    length = struct.pack("<Q", len(data))
    return b"".join((length, struct.pack("<I", masked(crc32c(length))), data, struct.pack("<I",
                                                                                          masked(crc32c(data)))))


class RecordWriter:
    """Writes records to a file that is open for bytes.

    Args:
        writer: the file.
    """

    def __init__(self, writer: Any) -> None:
        self._writer = writer

    def write(self, data: bytes) -> None:
        """Append a record."""
        self._writer.write(record(data))

    def flush(self) -> None:
        """Flush the file."""
        self._writer.flush()

    def close(self) -> None:
        """Close the file."""
        self._writer.close()
