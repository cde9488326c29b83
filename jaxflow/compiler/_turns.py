"""One capture at a time.

NOTE [Captures and other threads]
    A capture changes nothing that other threads can see (NOTE [Capture]): they read, write and make quick
    calls meanwhile. Only another capture has to wait: what one of them has made pending is no leaf for the
    other.

    The captured function may itself wait for the other thread (a queue, a lock). So nobody waits for long:
    who has waited in vain runs as Python (`Busy`).
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

_lock = threading.RLock()

# Seconds that another thread waits for the end of a capture.
PATIENCE = 2.0


class Busy(Exception):
    """Another thread captures, and goes on doing so."""


@contextlib.contextmanager
def capturing() -> Iterator[None]:
    """What is done by one thread at a time. Raises Busy."""
    taken: list[bool] = []  # in one C call with the lock: nothing gets in between
    try:
        taken.extend(map(_lock.acquire, (True,), (PATIENCE,)))
        if not taken[0]:
            raise Busy
        yield
    finally:
        if taken and taken[0]:  # no call before the release, where a signal's handler could get in
            _lock.release()
