"""Captures and quick calls of other threads: which of them comes first.

NOTE [Captures and other threads]
    A capture makes every storage of the process unknown, and leaves it afterwards as it was before. What a
    compiled function of another thread publishes in between would be undone. So it waits until the capture is
    over; and should one have begun since it looked, it publishes nothing (`Overtaken`), and waits.

    The captured function may itself wait for the other thread (a queue, a lock). So nobody waits for long:
    who has waited in vain runs as Python (`Busy`), and ends the capture if it reads what that made unknown.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterable, Iterator
from operator import itemgetter

from jaxflow._core.commit import Overtaken, all_equal

# One capture at a time.
_lock = threading.RLock()

# Seconds that another thread waits for the end of one.
PATIENCE = 2.0

# How often a capture began or ended: odd while one is under way. And its thread.
_count = [0]
_owner: list[int | None] = [None]
_first = itemgetter(0)


class Busy(Exception):
    """Another thread captures, and goes on doing so."""


@contextlib.contextmanager
def capturing() -> Iterator[None]:
    """What is done by one thread at a time, while no other publishes a quick call. Raises Busy."""
    with _locked():
        try:
            _owner[0] = threading.get_ident()
            _count[0] += 1
            yield
        finally:
            _end()


@contextlib.contextmanager
def _locked() -> Iterator[None]:
    taken: list[bool] = []  # in one C call with the lock: nothing gets in between
    try:
        taken.extend(map(_lock.acquire, (True,), (PATIENCE,)))
        if not taken[0]:
            raise Busy
        yield
    finally:
        if taken and taken[0]:  # no call before the release, where a signal's handler could get in
            _lock.release()


def _end() -> None:
    _owner[0] = None
    _count[0] += _count[0] % 2


def turn() -> int:
    """The number of a time without captures of other threads, after a wait for it. Raises Busy."""
    while _count[0] % 2 and _owner[0] != threading.get_ident():
        with _locked():
            if _owner[0] != threading.get_ident():
                _end()  # an interrupt kept it from being noted
    return _count[0]


def check(number: int) -> None:
    """Raise Overtaken if a capture has begun since `turn` said ``number``."""
    if _count[0] != number:
        raise Overtaken


def still(number: int) -> Iterable:
    """The condition that none has."""
    return all_equal(map(_first, (_count,)), (number,))
