"""What a quick call makes, and what it stores in the C call that runs its program."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, repeat, starmap
from operator import attrgetter, call, setitem
from typing import Any

from jaxflow._core.value import Value

#: Says that another way of the quick call has to be taken; nothing was changed.
MISSED = object()

_array_of = attrgetter("array")


class Call:
    """One quick call under way: what recipes of results refer to."""

    __slots__ = ("arguments", "bumps", "entries", "fresh", "grads", "items", "made", "storages")

    def __init__(self, arguments: list, grads: Sequence, items: Sequence, entries: list | None,
                 fresh: Sequence, recipes: int) -> None:
        self.arguments, self.grads, self.items, self.entries = arguments, grads, items, entries
        self.bumps: dict[int, int] = {}  # id of a version cell -> by how much the call raises it
        self.fresh = fresh
        self.storages = [None] * len(fresh)
        self.made = [None] * recipes

    def place(self, place: tuple) -> Any:
        """The storage at a place."""
        kind, x = place
        if kind == "fixed":
            return x
        if kind == "argument":
            return self.arguments[x]._storage
        return (self.grads if kind == "grad" else self.items)[x]._storage


class Stores:
    """What is stored where: NOTE [One hand-over].

    Attributes:
        targets, picks: Values, and which of the results is the array of each.
        rows: everything else, or
        more: iterators of it.
        held: what is replaced, kept until the call is over.
    """

    __slots__ = ("held", "more", "picks", "rows", "targets")

    def __init__(self) -> None:
        self.targets: list[Value] = []
        self.picks: list[int] = []
        self.rows: list[tuple] = []
        self.more: list[Iterator] = []
        self.held: list = []

    def new(self, aval: Any, k: int) -> Value:
        """A new Value for the ``k``-th result."""
        v = Value(aval)
        self.targets.append(v)
        self.picks.append(k)
        return v

    def set(self, holder: Any, name: str, x: Any) -> None:
        """``holder.name = x``."""
        self.rows.append((setattr, holder, name, x))

    def written(self, s: Any, epoch: int, bump: int, call: Call) -> None:
        """The storage counts ``epoch`` more writes, and its version goes up by ``bump``."""
        self.rows.append((setattr, s, "epoch", s.epoch + epoch))
        cell = s.version
        call.bumps[id(cell)] = bump = call.bumps.get(id(cell), 0) + bump
        self.rows.append((setitem, cell, 0, cell[0] + bump))

    def stores(self, answers: list) -> Iterator:
        """All of it as an iterator; the results will be ``answers[1]``."""
        self.held += map(_array_of, self.targets)
        found: list = []
        return chain(
            map(call, (found.extend,), map(answers.__getitem__, (1,))),
            map(setattr, self.targets, repeat("array"), map(found.__getitem__, self.picks)),
            starmap(call, self.rows), *self.more,
        )
