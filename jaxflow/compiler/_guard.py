"""The guard of what a function reached in Python: all that its rows hold, compared at once."""

from __future__ import annotations

import collections
import functools
import operator
from collections.abc import Callable
from itertools import chain
from typing import Any

from ._rows import DICTS, MISSING, MISSINGS, Row, shorten

_PLAIN = (list, collections.deque, *DICTS)  # whose truth is their length
_END = object()
_ENDS = (_END, _END)
_content_of = operator.attrgetter("cell_contents")  # ValueError if there is none


class Guard:
    """All rows as one comparison of identities; the slow one by values only where that fails."""

    def __init__(self, rows: list[Row]) -> None:
        self.rows = sorted(rows, key=lambda row: 0 if row.lookups() is not None else 2 - row.is_cell())
        # Names of namespaces, and cells, are looked at by one iterator, much quicker than one for each.
        self.looking = sum(row.lookups() is not None for row in rows)
        cells = [row.holder for row in self.rows if row.is_cell()]
        found = [lookup for row in self.rows[: self.looking] for lookup in row.lookups() or ()]
        there = [(space, name) for space, name, x in found if x is not MISSING]
        absent = [(space.get, name) for space, name, x in found if x is MISSING]
        self.listers: list[Callable] = []
        if there:
            self.listers.append(functools.partial(map, operator.getitem, *zip(*there)))
        if absent:
            self.listers.append(functools.partial(map, operator.call, *zip(*absent), MISSINGS))
        if cells:
            self.listers.append(functools.partial(map, _content_of, cells))
        # Sizes are compared of what was empty. The end mark comes twice: one entry more or less moves it.
        self.listers += [row.lister for row in self.rows[self.looking + len(cells):] if row.held]
        self.listers.append(_ENDS.__iter__)
        whole = [row.holder for row in self.rows if getattr(row.lister, "__self__", None) is row.holder]
        self.empty = [x for x in whole if type(x) in _PLAIN and not x]
        # Keys that are strings are compared at once: they have no `==` of their own.
        self.keyed = [row.holder for row in self.rows if row.held and _has_names(row)]
        self.keys = list(map(list, self.keyed))
        self.all_keys = list(chain.from_iterable(self.keys))
        self.sized = [x for x in whole if hasattr(x, "__len__") and (len(x) or type(x) not in _PLAIN)]
        self.sized += [row.whole for row in self.rows if row.whole is not None]
        self.sizes = list(map(len, self.sized))
        self.flat = self._in_order([row.held for row in self.rows])

    def _in_order(self, lists: list[list]) -> list:
        """What each row lists, as the listers give it one after the other."""
        found = list(chain.from_iterable(lists[: self.looking]))
        there = [x for x in found if x is not MISSING]
        return [*there, *[MISSING] * (len(found) - len(there)),
                *chain.from_iterable(lists[self.looking:]), _END]

    def holds(self) -> bool:
        """Whether everything is as it was."""
        now = chain.from_iterable(map(operator.call, self.listers))
        try:
            if all(map(operator.is_, now, self.flat)) and not any(self.empty) and (
                list(map(len, self.sized)) == self.sizes
            ) and all(map(operator.is_, chain.from_iterable(self.keyed), self.all_keys)):
                return True
        except (KeyError, ValueError):  # a name is there no more, or a variable's value
            return False
        return self._holds_by_value()

    def _holds_by_value(self) -> bool:
        lists = [list(row.lister()) for row in self.rows]  # once: another thread may change something
        if list(map(list, self.keyed)) != self.keys or any(map(Row.changes, self.rows, lists)):
            return False
        self.flat[:] = self._in_order(lists)  # equal, though not identical: from now on these; in one store
        return True

    def index(self, row: Row, key: Any) -> tuple[int, int]:
        """Where what a key names is among what its row held, and among all that the guard compares."""
        index = list(row.names()).index(key)
        number = self.rows.index(row)
        start = sum(len(r.held) for r in self.rows[:number])
        if number < self.looking:  # there what is absent comes last
            held = list(chain.from_iterable(r.held for r in self.rows[:number])) + row.held[:index]
            return index, sum(x is not MISSING for x in held)
        return index, start + index

    def misses(self) -> list[str]:
        """What changed, in words."""
        found = [
            f"{row.describe(key)} was {shorten(old)} and is {shorten(new)}"
            for row in self.rows for key, old, new in row.changes()
        ]
        return found + [f"the keys of a dict were {shorten(old)} and are {shorten(list(x))}"
                        for x, old in zip(self.keyed, self.keys) if list(x) != old]



def _has_names(row: Row) -> bool:
    """Whether what a row holds is all of a dict whose keys are strings."""
    x = row.holder
    return row.named and type(x) in DICTS and row.lister == x.values and all(type(key) is str for key in x)
