"""The tape: recorded operations as entries, and how they are laid out to be run.

Recording an operation makes an `Entry` (its plan, its inputs, its results) and appends it: one append, so
an operation is recorded or it is not. An input is a Value that is there (a leaf), a Python number, or
``(entry, k)``, the k-th result of an earlier entry; entries never refer to pending Values, so that those
nobody needs any more are seen to be gone (NOTE [Liveness]). A pending Value refers to its entry, and
the entry to its inputs: what is pending owns what it will be computed from.

NOTE [A program's key]
    To be run, a tape is laid out as a flat trace: a Plan, then a slot for each of its array inputs;
    slots from 0 up are results, from -1 down leaves. Numbers are not written: the Plan says how many it
    takes and of which kind, and they lie in the order of recording in three vectors (floats, integers,
    complex), each one leaf. The key is this trace plus which results are still alive; Plans carry shapes,
    dtypes and static arguments. So a learning rate never changes the key.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jaxflow._core.value import Value

from .deferred_checks import Check


class Entry(list):
    """One recorded operation: a list of its inputs, each a Value that is there, a number or ``(entry, k)``.

    Attributes:
        program: the Program it is recorded in.
        plan: what is to be done.
        result: a weak reference to the Value of its one result, or a tuple of one for each.
        first: the slot of the first result in the layout.
        line: where the user called, in debug mode.
    """

    __slots__ = ("first", "line", "plan", "program", "result")

    __hash__ = object.__hash__
    __eq__ = object.__eq__

    @property
    def results(self) -> tuple:
        """A weak reference to the Value of each result."""
        return self.result if self.result.__class__ is tuple else (self.result,)


class Layout:
    """The operations of a Program in the form in which an executable or the interpreter takes them.

    Attributes:
        trace: see NOTE [A program's key].
        leaves: the Values of the slots from -1 down.
        uses: how often entries, and what is to be undone, mention each leaf.
        floats, integers, complexes: the numbers.
        results: a weak reference to the Value of each result.
        lines: where the user called, an entry each; empty but in debug mode.
        vectors: the numbers as a compiled program takes them, if they are there.
    """

    __slots__ = ("complexes", "floats", "integers", "leaves", "lines", "results", "slots", "trace", "uses",
                 "vectors")

    def __init__(self) -> None:
        self.leaves: list[Value] = []
        self.uses: list[int] = []
        self.floats: list[float] = []
        self.integers: list[int] = []
        self.complexes: list[complex] = []
        self.lines: list[str] = []
        self.slots: dict[Value, int] = {}
        self.results: list = []
        self.trace: tuple = ()
        self.vectors: tuple | None = None

    def slot_of(self, source: Any) -> int:
        """The slot of a leaf, of ``(entry, k)``, or of a slot itself. KeyError for any other Value."""
        kind = source.__class__
        if kind is tuple:
            return source[0].first + source[1]
        return source if kind is int else self.slots[source]

    def check(self, q: Check) -> Check:
        """A check that was noted while recording, in terms of slots."""
        asked, affected = ([self.slot_of(x) for x in group] for group in (q.asked, q.affected))
        return Check(q.flag, asked, affected, q.error, q.line)


def laid_out(entries: Sequence[Entry]) -> Layout:
    """The layout of ``entries``; what it notes in them is the same each time."""
    layout = Layout()
    trace: list = []
    results: list = []
    leaves, slots, uses = layout.leaves, layout.slots, layout.uses
    floats, integers, complexes = layout.floats, layout.integers, layout.complexes
    slot_of = slots.setdefault
    slot, fresh = 0, -1
    for entry in entries:
        entry.first = slot
        trace.append(entry.plan)
        for x in entry:
            kind = x.__class__
            if kind is tuple:
                trace.append(x[0].first + x[1])
            elif kind is Value:
                known = slot_of(x, fresh)
                if known == fresh:
                    leaves.append(x)
                    uses.append(1)
                    fresh -= 1
                else:
                    uses[-1 - known] += 1
                trace.append(known)
            elif kind is float:
                floats.append(x)
            elif kind is complex:
                complexes.append(x)
            else:
                integers.append(x)
        result = entry.result
        if result.__class__ is tuple:
            results += result
            slot += len(result)
        else:
            results.append(result)
            slot += 1
    layout.trace = tuple(trace)
    layout.results = results
    return layout
