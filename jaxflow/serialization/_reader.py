"""``torch.PyTorchFileReader``: the records of a checkpoint, one by one."""

from __future__ import annotations

import weakref
from typing import Any

from ._archive import Reader


class PyTorchFileReader:
    """The records of a checkpoint that `save` wrote, by name.

    Args:
        file: a path, or a file opened for reading bytes.

    Raises:
        RuntimeError: when there is no such file, or it is no checkpoint.
    """

    def __init__(self, file: Any) -> None:
        if isinstance(file, str):
            try:
                file = open(file, "rb")  # noqa: SIM115 - as long as this object lives
            except OSError as error:
                raise RuntimeError(f"open file failed because of errno {error.errno} on fopen: "
                                   f"{error.strerror}, file path: {file}") from error
            weakref.finalize(self, file.close)
        self._reader = Reader(file)

    def get_all_records(self) -> list[str]:
        """The names of all records."""
        start = len(self._reader.root) + 1
        return [name[start:] for name in self._reader._records]

    def has_record(self, name: str) -> bool:
        """Whether there is a record of that name."""
        return self._reader.has(name)

    def get_record(self, name: str) -> bytes:
        """A record as bytes; RuntimeError when there is none of that name."""
        return self._reader.bytes(name).tobytes()

    def get_record_size(self, name: str) -> int:
        """How many bytes a record has."""
        return self._reader._info(name).file_size

    def serialization_id(self) -> str:
        """What distinguishes the checkpoint from others; empty where it does not say."""
        return self._reader.text(".data/serialization_id", "")
