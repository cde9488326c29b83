"""The library: what is known of the traces met so far."""

from __future__ import annotations

import threading

from . import room
from .cold import Schedule
from .executable import Executable
from .policy import Sightings

# Traces kept: of those that were compiled the last compiled, of the others those met last.
_MAX_TRACES = 1024

# How often a program may run without donating what it could before a better one is compiled.
_PATIENCE = 2


class Known:
    """What is known of one trace.

    Attributes:
        executables: it compiled, for several sets of results or of donated leaves; the newest first,
            since a loop that has settled asks for the one compiled last.
        sightings: what the policy notes of it, by the set of results that was needed.
        schedules: how to interpret it, by the same.
    """

    __slots__ = ("executables", "schedules", "sightings")

    def __init__(self) -> None:
        self.executables: list[Executable] = []
        self.sightings: dict[tuple[int, ...], Sightings] = {}
        self.schedules: dict[tuple[int, ...], Schedule] = {}

    def serving(self, alive: tuple[int, ...], donatable: tuple[int, ...]) -> Executable | None:
        """An executable that yields these results and donates no other leaves; see NOTE [Liveness]."""
        for candidate in self.executables:
            if candidate.serves(alive, donatable):
                if candidate.offered < len(donatable):
                    candidate.wasted += 1
                    if candidate.wasted > _PATIENCE:
                        continue
                return candidate
        return None

    def schedule(self, trace: tuple, alive: tuple[int, ...]) -> Schedule:
        """How to interpret the trace for these results; kept if it came again, for most never do."""
        found = self.schedules.get(alive)
        if found is None:
            found = Schedule(trace, alive)
            if self.sightings[alive].seen > 1:
                self.schedules[alive] = found
        return found


_compiled: dict[tuple, Known] = {}
_cold: dict[tuple, Known] = {}
_lock = threading.Lock()


def known(trace: tuple) -> Known:
    """The entry of ``trace``, which is made if there is none."""
    found = _compiled.get(trace)
    if found is None:
        with _lock:
            found = _cold.pop(trace, None) or Known()
            _add(_cold, trace, found)
    return found


def keep(trace: tuple, entry: Known, executable: Executable) -> None:
    """Note that ``trace`` was compiled."""
    with _lock:
        entry.executables.insert(0, executable)
        _cold.pop(trace, None)
        _compiled.pop(trace, None)
        _add(_compiled, trace, entry)


def _add(shelf: dict, trace: tuple, entry: Known) -> None:
    shelf[trace] = entry
    if len(shelf) > _MAX_TRACES:
        del shelf[next(iter(shelf))]


def traces() -> dict[tuple, Known]:
    """The traces that were compiled, the latest last."""
    return _compiled


def executables() -> list[Executable]:
    """Everything that is compiled."""
    return [e for entry in list(_compiled.values()) for e in entry.executables]


def forget() -> None:
    """Forget every trace."""
    with _lock:
        _compiled.clear()
        _cold.clear()


room.on_forget.append(forget)
