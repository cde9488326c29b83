"""Numbers that calls change: counters and totals in attributes, lists, dicts, globals and closures.

NOTE [Numbers that calls change]
    A number that the function leaves as another one is guarded in vain by its value. From the next capture on
    it is followed like a number among the arguments, NOTE [Numbers of calls]: while the function runs, a
    tracked number stands at its place. The quick call reads what is there, does the arithmetic again and
    stores what comes out; what Python decided by it is guarded, and its type. A constant is stored only if no
    other thread was there meanwhile, which might have written it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from operator import is_, setitem
from types import CellType
from typing import Any

from jaxflow._core.commit import commit_results, rows_called
from jaxflow._core.symbolic_numbers import NumberTape, SymNumber

from ._guard import Guard
from ._python_guards import Reach
from ._rows import Row
from ._settling import DICTS, contents_of, entries_of, settle, settle_in

_KINDS = (float, int)


class Place:
    """Where a number is: a row of the walk and one of its keys.

    Attributes:
        before: what was there before the call.
        entry: the tape's entry of that number; None if it is not followed.
    """

    __slots__ = ("at", "before", "entry", "get", "holder", "key", "put", "row")

    def __init__(self, row: Row, key: Any, before: Any) -> None:
        self.row, self.key, self.before, self.holder = row, key, before, row.holder
        self.entry: int | None = None
        self.get, self.put, self.at = row.access(key)

    def now(self) -> Any:
        """What is there; None if nothing is."""
        try:
            return self.get(self.holder, self.at)
        except (LookupError, ValueError, AttributeError):
            return None

    def untouched(self) -> bool:
        """Whether the tracked number that was put there still stands there."""
        x = self.now()
        return type(x) is SymNumber and x.tape.open and x.at == self.entry


def is_store(row: Row) -> bool:
    """Whether what a row lists can be looked up and stored by key."""
    kind = type(row.holder)
    if isinstance(row.holder, type):
        return kind.__setattr__ is type.__setattr__
    if kind in DICTS:
        return row.lister == row.holder.values or row.lookups() is not None
    return kind is list or kind is CellType or kind is deque or row.slotted


class Numbers:
    """The numbers of one capture that are followed: those at ``places``, (container, key) pairs."""

    def __init__(self, reach: Reach, places: Iterable[tuple]) -> None:
        asked: dict[int, set] = {}
        for holder, key in places:
            asked.setdefault(id(holder), set()).add(key)
        self.rows, self.known = reach.rows, reach.seen
        self.found: list[Place] = []
        for row in self.rows if asked else ():
            keys = asked.pop(id(row.holder), None)
            if keys:
                self.found += [Place(row, key, x) for key, x in zip(row.names(), row.held)
                               if key in keys and type(x) in _KINDS]
        self.saved: list[tuple] = []

    def note(self) -> None:
        """Note what all containers hold."""
        holders = {id(row.holder): (row.holder, row) for row in self.rows}
        for x, row in holders.values():
            if type(x) in DICTS:
                self.saved.append((x, dict(x)))
            elif type(x) is list or type(x) is deque:
                self.saved.append((x, list(x)))
            elif type(x) is CellType:
                self.saved.append((x, [*contents_of(x)]))
            elif row.slotted or isinstance(x, type):
                self.saved.append((x, dict(entries_of(x))))

    def track(self, tracked: list[SymNumber]) -> None:
        """Put tracked numbers there."""
        for place, x in zip(self.found, tracked):
            place.entry = x.at
            place.put(place.holder, place.at, x)

    def put_back(self) -> None:
        """Leave all containers as they were noted: what the call has stored there is not to be."""
        for x, before in self.saved:
            if type(x) is CellType:
                if before:
                    x.cell_contents = before[0]
                elif contents_of(x):
                    del x.cell_contents
            elif type(x) is list or type(x) is deque:
                if len(x) != len(before) or not all(map(is_, x, before)):
                    commit_results(rows_called([(x.clear,), (x.extend, before)]))
            elif type(x) in DICTS:
                _put_back(x, before)
            else:
                _put_back_attributes(x, before)

    def settle(self, tape: NumberTape, *more: Any) -> None:
        """Leave plain numbers where a call that is not repeated left tracked ones.

        They stand in containers that were there before, in what the call has put there, and in ``more``.
        """
        tape.close()
        todo = list(more)
        saved = {id(x): before for x, before in self.saved}
        for row in self.rows:
            held = saved.get(id(row.holder), row.held)
            before = set(map(id, held.values() if isinstance(held, dict) else held))
            settle_in(row.holder)
            todo += [x for _, x in entries_of(row.holder) if id(x) not in before]
        settle(todo, self.known)


class Stored:
    """What stands at a place after the captured call, an entry of the tape or a constant."""

    __slots__ = ("entry", "number", "place")

    def __init__(self, place: Place) -> None:
        self.place, x = place, place.now()
        self.entry, self.number = None, x
        if type(x) is SymNumber:
            self.entry, self.number = (x.at, None) if x.tape.open else (None, x.value)

    def rows(self, guard: Guard) -> Callable[[Any], list[tuple]]:
        """A function of a call's entries that gives the rows for its commit."""
        place, entry, number = self.place, self.entry, self.number
        index, at = guard.index(place.row, place.key)

        def stores(entries: Any) -> list[tuple]:
            x = number if entry is None else entries[entry]
            if place.entry is None:  # what was there is guarded by its value
                return [(place.put, place.holder, place.at, x)]
            return [(place.put, place.holder, place.at, x), (setitem, place.row.held, index, x),
                    (setitem, guard.flat, at, x)]

        return stores


def _put_back_attributes(x: Any, before: dict) -> None:
    """Those of a class, or what an object has in slots."""
    kind = type if isinstance(x, type) else object
    for name, now in entries_of(x):
        if name not in before:
            kind.__delattr__(x, name)
        elif now is not before[name]:
            kind.__setattr__(x, name, before[name])
    for name in before.keys() - dict(entries_of(x)).keys():
        kind.__setattr__(x, name, before[name])


def _put_back(x: dict, before: dict) -> None:
    if list(x) != list(before):
        for key in [key for key in x if key not in before]:
            del x[key]
    for key, value in before.items():
        if x.get(key) is not value or key not in x:
            x[key] = value
