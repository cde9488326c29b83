"""An event file: a record for each event."""

from __future__ import annotations

import errno
import itertools
import os
import socket
import threading
import time
from typing import Any

from ._messages import Event, SourceMetadata
from .record_writer import record

_next_file = itertools.count().__next__


class EventFileWriter:
    """Makes an event file in a folder and appends events to it.

    Each event is written by one call of the system when it is added, behind what the file then ends with. So
    a process that is interrupted or killed loses none that was added, a child process may go on with the
    file, and nothing waits in a queue.

    Args:
        logdir: the folder, which is made where it is not there.
        max_queue_size: without effect: no event waits.
        flush_secs: without effect.
        filename_suffix: what the file's name ends with.

    Raises:
        ValueError: for an address instead of a folder.
    """

    def __init__(self, logdir: str, max_queue_size: int = 10, flush_secs: float = 120,
                 filename_suffix: str = "") -> None:
        if "://" in logdir:
            raise ValueError(f"{logdir!r} is no folder of this machine: event files are written to folders. "
                             "Write to one and copy it, or mount the store.")
        os.makedirs(logdir, exist_ok=True)
        self._logdir = logdir
        where = f"{socket.gethostname()}.{os.getpid()}.{_next_file()}"
        name = f"events.out.tfevents.{int(time.time()):010d}.{where}"
        self._file_name = os.path.join(logdir, name) + filename_suffix
        self._lock = threading.Lock()
        self._file = open(self._file_name, "ab", buffering=0)  # noqa: SIM115  (it is open until `close`)
        self.add_event(Event(wall_time=time.time(), file_version="brain.Event:2",
                             source_metadata=SourceMetadata(writer=__name__)))

    def get_logdir(self) -> str:
        """The folder."""
        return self._logdir

    def add_event(self, event: Any) -> None:
        """Append an event.

        Args:
            event: an ``Event``, of this package or of ``tensorboard``.

        Raises:
            TypeError: for what is no message.
            OSError: where the file is closed, or the disk is full; then nothing is appended.
        """
        if not hasattr(event, "SerializeToString"):
            raise TypeError(f"Expected an event_pb2.Event proto, but got {type(event)}")
        data = record(event.SerializeToString())
        with self._lock:
            if self._file.closed:
                raise OSError("Writer is closed")
            written = self._file.write(data)
            if written != len(data):
                # Part of a record would hide all that follow it.
                self._file.truncate(self._file.tell() - written)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), self._file_name)

    def flush(self) -> None:
        """Nothing waits to be written.

        Raises:
            OSError: where the file is closed.
        """
        if self._file.closed:
            raise OSError("Writer is closed")

    def close(self) -> None:
        """Close the file; a closed one stays so."""
        self._file.close()
