"""The nodes of a graph, made anew around the Values of a call: NOTE [A backward after the call]."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from weakref import ref

from jaxflow._core.graph import own_edge
from jaxflow._core.tensor import Tensor
from jaxflow._core.value import Value
from jaxflow._transforms.batching import Batched
from jaxflow._views.history import Guarded

if TYPE_CHECKING:
    from ._call import Call


class Nodes:
    """How to make them; none of the captured call's Values is kept.

    Attributes:
        templates: of each node, in the order in which they are made: its number, class, plan, inputs that
            are the same at each call, (position, slot, None or what `Batched` takes beside it) of those that
            are Values, (position, a vector of
            numbers or None, where) of those that are numbers, edges, needs and guards.
        leaves: the tensors to whose histories the cotangents go that leave the graph: ("tensor", t), or
            ("argument" or "item", i).
        cells: whose versions are guarded: ("fresh", number of a storage), ("place", a place), or ("gone",
            the cell of a tensor that nobody has any more).
        fresh: (number of a storage, its cell) where that is among them.
    """

    def __init__(self) -> None:
        self.templates: list[tuple] = []
        self.leaves: list[tuple] = []
        self.cells: list[tuple] = []
        self.fresh: list[tuple] = []

    @property
    def hold(self) -> bool:
        """Whether one of them keeps what the call computes or draws."""
        return any(values or any(vector is not None for _, vector, _ in numbers)
                   for *_, values, numbers, _, _, _ in self.templates)

    def load(self, at: dict[int, int]) -> None:
        """Let templates say where a Value stands among those of a call: ``at`` says it of slots."""
        self.templates = [
            (number, kind, plan, inputs, [(i, at[slot], batch) for i, slot, batch in values], *rest)
            for number, kind, plan, inputs, values, *rest in self.templates
        ]

    def begin(self, call: Call) -> list[tuple]:
        """The cells whose versions nodes guard, and the version from which each counts."""
        call.cells = {number: cell[:] for number, cell in self.fresh}
        found = []
        for kind, x in self.cells:
            if kind == "fresh":
                found.append((call.cells[x], 0))
            elif kind == "gone":
                found.append((x, 0))
            else:
                cell = call.place(x).version
                found.append((cell, cell[0]))
        return found

    def make(self, call: Call, values: Sequence[Value], integers: list, cells: list[tuple]) -> None:
        """Make the nodes of a call; ``values`` are all of its Values, ``cells`` what `begin` returned."""
        nodes: list = [None] * len(self.templates)
        call.nodes = nodes
        leaves = [own_edge(_present(call, kind, x)) for kind, x in self.leaves]
        for number, kind, plan, inputs, kept, numbers, edges, needs, guards in self.templates:
            if inputs is not None:
                inputs = inputs[:]
                for i, k, batch in kept:
                    inputs[i] = values[k] if batch is None else Batched(batch[0], values[k], batch[1])
                for i, vector, k in numbers:
                    inputs[i] = call.entries[k] if vector is None else integers[k]
            edges = [None if e is None else leaves[e] if e.__class__ is int else (nodes[e[0]], e[1])
                     for e in edges]
            if guards is not None:
                of, guards = guards[0], [
                    (cells[at][0], cells[at][1] + version, aval, known if i is None else edges[i],
                     self._guarded(call, *special) if special.__class__ is tuple else special)
                    for at, version, aval, known, i, special in guards[1]
                ]
                if of is not list:
                    guards = of(guards)
            nodes[number] = kind(plan, inputs, edges, needs, guards)

    @staticmethod
    def _guarded(call: Call, base: tuple | None, node: Any, number: int, origin: str) -> Guarded:
        guard = Guarded.__new__(Guarded)
        guard.base = _nobody if base is None else ref(_present(call, *base))
        guard.node = call.nodes[node] if node.__class__ is int else node
        guard.number, guard.origin = number, origin
        return guard


def _nobody() -> None:
    """What a reference to a tensor says that is gone."""


def _present(call: Call, kind: str, x: Any) -> Tensor:
    """The tensor at this call whose history the graph leads to."""
    return x if kind == "tensor" else (call.arguments if kind == "argument" else call.items)[x]
