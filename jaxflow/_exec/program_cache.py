"""The library: what is known of the traces that came so far."""

from __future__ import annotations

import itertools
import threading
from collections import Counter
from collections.abc import Iterable, Mapping

from jaxflow._core import budget, cache_pressure
from jaxflow._core.aval import Aval
from jaxflow._plans.plan import Plan

from .executable import Executable
from .numpy.interpret import Schedule
from .numpy.tiering import RunCounts

# The most traces kept of each kind, compiled and cold; where there are more, the quarter used least recently
# goes. A generation (NOTE [What is kept]) ends with all of them gone that were not looked up in it: the
# others name no plan that goes.
_MAX_TRACES = 1024

# How often a program may run without donating what it could before a better one is compiled.
_PATIENCE = 2


class CacheEntry:
    """What is known of one trace.

    Attributes:
        executables: it compiled, for several sets of results or of donated leaves; the newest first,
            since a loop that has settled uses the one compiled last.
        run_counts: what the policy notes of it, by the set of results that was needed.
        schedules: how to interpret it, by the same.
        counted: what `places` said last, and of which results.
        takes: the floats, integers and complex numbers its plans take: NOTE [Counted where it is closed].
        used: when it was last looked up, counted in programs.
        generation: and in which generation.
    """

    __slots__ = ("counted", "executables", "generation", "schedules", "run_counts", "takes", "used")

    def __init__(self) -> None:
        self.executables: list[Executable] = []
        self.run_counts: dict[tuple[int, ...], RunCounts] = {}
        self.schedules: dict[tuple[int, ...], Schedule] = {}
        self.counted: tuple[tuple[int, ...], Mapping[Aval, int]] = (), {}
        self.takes: tuple[int, int, int] | None = None
        self.used = self.generation = 0

    def places(self, trace: tuple, alive: tuple[int, ...]) -> Mapping[Aval, int]:
        """How many of these results there are of each aval."""
        known, found = self.counted
        if known != alive:
            avals = [aval for step in trace if step.__class__ is Plan for aval in step.out_avals]
            found = Counter([avals[slot] for slot in alive])
            self.counted = alive, found
        return found

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
            if self.run_counts[alive].seen > 1:
                self.schedules[alive] = found
        return found


_compiled: dict[tuple, CacheEntry] = {}
_cold: dict[tuple, CacheEntry] = {}
_lock = threading.RLock()
_met = itertools.count(1).__next__
_evicted = 0


def known(trace: tuple) -> CacheEntry:
    """The entry of ``trace``, which is made if there is none."""
    found = _compiled.get(trace)
    if found is None:
        with _lock:
            found = _cold.get(trace)
            if found is None:
                found = CacheEntry()
                _add(_cold, trace, found)
    found.used = _met()
    found.generation = budget.account.generation
    return found


def keep(trace: tuple, entry: CacheEntry, executable: Executable) -> None:
    """Note that ``trace`` was compiled."""
    with _lock:
        entry.executables.insert(0, executable)
        _cold.pop(trace, None)
        _compiled.pop(trace, None)
        _add(_compiled, trace, entry)
    budget.settle()


def _add(shelf: dict, trace: tuple, entry: CacheEntry) -> None:
    if len(shelf) >= _MAX_TRACES:
        by_use = sorted(shelf.items(), key=lambda item: item[1].used)
        _drop(shelf, [trace for trace, _ in by_use[: max(1, _MAX_TRACES // 4)]])
    shelf[trace] = entry


def _drop(shelf: dict, traces: Iterable[tuple]) -> None:
    global _evicted
    for trace in traces:
        if shelf.pop(trace, None) is not None:
            _evicted += 1


def _rotate() -> None:
    """The end of a generation."""
    ended = budget.account.generation - 1
    with _lock:
        for shelf in (_compiled, _cold):
            _drop(shelf, [trace for trace, entry in shelf.items() if entry.generation < ended])


def _report() -> tuple[str, int, int, int]:
    count = len(executables())
    return "programs", len(_compiled) + len(_cold), count * budget.PROGRAM, _evicted


def traces() -> dict[tuple, CacheEntry]:
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


cache_pressure.on_forget.append(forget)
budget.on_rotate.append(_rotate)
budget.reports.append(_report)
