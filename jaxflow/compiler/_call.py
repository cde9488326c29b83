"""What a quick call makes: what the recipes of its results refer to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

#: Says that another way of the quick call has to be taken; nothing was changed.
MISSED = object()

#: What `explain` says ran a program.
COMPILED = "call of a compiled function"


class Call:
    """One quick call under way.

    Attributes:
        arguments: the tensors among its arguments.
        grads, items: tensors that owners of a ``.grad`` and containers held before it.
        entries: numbers among its arguments, and what was computed from them.
        fresh: the Value of each new storage; ``storages``: those storages that were made so far.
        made: the new tensors.
        bumps: id of a version cell -> by how much the call raises it.
        containers: those that stand at several places.
        nodes: those of a graph that is walked after the call; ``cells``: number of a new storage -> its
            version cell, where one of them guards that.
    """

    __slots__ = ("arguments", "bumps", "cells", "containers", "entries", "fresh", "grads", "items", "made",
                 "nodes", "storages")

    def __init__(self, arguments: list, grads: Sequence, items: Sequence, entries: list | None,
                 storages: int, recipes: int) -> None:
        self.arguments, self.grads, self.items, self.entries = arguments, grads, items, entries
        self.bumps: dict[int, int] = {}
        self.containers: dict[int, Any] | None = None
        self.fresh: Sequence = ()
        self.nodes: Sequence = ()
        self.cells: dict[int, list] = {}
        self.storages = [None] * storages
        self.made = [None] * recipes

    def raise_versions(self, cells: list, bumps: list[int]) -> None:
        """Note by how much the call raises the versions in these cells."""
        for cell, bump in zip(cells, bumps):
            self.bumps[id(cell)] = self.bumps.get(id(cell), 0) + bump

    def place(self, place: tuple) -> Any:
        """The storage at a place."""
        kind, x = place
        if kind == "fixed":
            return x
        if kind == "argument":
            return self.arguments[x]._storage
        return (self.grads if kind == "grad" else self.items)[x]._storage
