"""Draws from PyTorch's stream in a captured call, which each later call makes again from where the
generators are.

A draw is a node: from the place where a generator was when the call began, from a place that the call went
to itself (``manual_seed(0)``), or from behind another draw. Places never change, so a generator that goes
back to an earlier one, as after a ``fork_rng`` block, needs nothing special. What is drawn is a leaf of the
program.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import CodeType
from typing import Any, NamedTuple

import numpy as np

from jaxflow._api.random.torch_stream import leaf_drawn
from jaxflow._core.device import resolve
from jaxflow._core.generator import Generator
from jaxflow._core.value import Value, device_array
from jaxflow._random.cursor import Cursor
from jaxflow._random.place import Place

_PLAIN = frozenset({int, float, bool, str, type(None)})


class Node(NamedTuple):
    """One draw; ``begin`` is a place, the number of a generator, or of the node that it follows."""

    begin: tuple[str, Any]
    draw: Callable[..., np.ndarray]
    args: tuple


class Taking:
    """The account of one capture.

    ``blame`` takes why Python has to run; ``leaf`` makes a leaf of the recording of a Value.
    """

    def __init__(self, blame: Callable[..., None], leaf: Callable[[Value], Value]) -> None:
        self.blame, self.leaf = blame, leaf
        self.roots: list[tuple[Generator, int, Place]] = []  # with the seed and the place at the beginning
        self.nodes: list[Node] = []
        self.values: dict[int, tuple[Value, int]] = {}  # what was drawn, by id, and its node
        self.known: dict[int, tuple[Place, tuple[str, Any]]] = {}  # places by id, and how they are reached

    def returns(self) -> dict[CodeType, Callable[[Any, Any], None]]:
        """What to do with the frame of a function that ends, and what it returns."""
        return {leaf_drawn.__code__: self._drawn, Generator.go_to.__code__: self._went}

    def begin(self, g: Generator) -> None:
        """A generator that was there before the call is used for the first time."""
        self._know(g._offset, ("root", len(self.roots)))
        self.roots.append((g, g._seed, g._offset))

    def is_root(self, g: Generator) -> bool:
        """Whether a generator was there before the call and is used in it."""
        return any(g is root for root, *_ in self.roots)

    def _know(self, place: Place, how: tuple[str, Any]) -> None:
        self.known.setdefault(id(place), (place, how))

    def _went(self, frame: Any, nothing: None) -> None:
        """A place to which the call itself lets a generator go is the same at each call, unless it was drawn
        to."""
        place = frame.f_locals["position"].get("_offset")
        if place.__class__ is Place:
            self._know(place, ("place", place))

    def _drawn(self, frame: Any, t: Any) -> None:
        if t is None:  # it raised
            return
        draw, args, taken, source = (frame.f_locals[name] for name in ("draw", "args", "taken", "source"))
        if not all(map(_constant, args)):
            of_tensors = any(isinstance(x, np.ndarray) for x in args)
            self.blame("it draws by the elements of tensors" if of_tensors else
                       "it draws by a number that is another one at each call")
            return
        before = self.known.get(id(taken.before))
        if before is None:
            if self.is_root(source):
                self.blame("another thread draws from the same generator meanwhile", of_others=True)
                return
            before = taken.before, ("place", taken.before)  # of a generator that the call has made
            self.known[id(taken.before)] = before
        number = len(self.nodes)
        self.nodes.append(Node(before[1], draw, args))
        self._know(taken.after, ("node", number))
        value = t._storage.value = self.leaf(t._storage.value)
        self.values[id(value)] = value, number

    def node_of(self, value: Value) -> int | None:
        """Which draw gave a Value."""
        found = self.values.get(id(value))
        return None if found is None else found[1]

    def ends(self) -> list[tuple[Generator, tuple[str, Any], int | None]]:
        """(generator, how it comes to its place, the seed it ended with or None) of those that the call
        moved."""
        found = []
        for g, seed, place in self.roots:
            now = g._offset
            if now is place:
                continue
            known = self.known.get(id(now))
            if known is None:
                self.blame("another thread draws from the same generator meanwhile", of_others=True)
            else:
                found.append((g, known[1], None if g._seed == seed else g._seed))
        return found

    def undo(self) -> None:
        """Let the generators be where they were, unless another thread has moved them since."""
        for g, seed, place in self.roots:
            if id(g._offset) in self.known:
                g.go_to({"_seed": seed, "_offset": place})

    def taken(self, leaves: Sequence[Value], ends: list[tuple], device: Any) -> Taken | None:
        """What later calls do; ``leaves`` are the Values that are drawn, in the program's order."""
        if not self.nodes and not ends:
            return None
        return Taken([g for g, *_ in self.roots], self.nodes, [self.values[id(v)][1] for v in leaves],
                     [v.aval for v in leaves], ends, device)


def _constant(x: Any) -> bool:
    """Whether an argument of a draw is the same thing at each call."""
    return type(x) in _PLAIN or isinstance(x, np.dtype) or (type(x) is tuple and all(map(_constant, x)))


class Draws(NamedTuple):
    """What one call draws.

    Attributes:
        values: of the leaves.
        places: where the generators are, which must still hold when the call publishes.
        rows: the stores that let them go on.
    """

    values: list[Value]
    places: list[Place]
    rows: list[tuple]


NO_DRAWS = Draws([], [], [])


class Taken:
    """The draws of a specialisation."""

    def __init__(self, generators: list[Generator], nodes: list[Node], leaves: list[int], avals: list,
                 ends: list[tuple], device: Any) -> None:
        self.generators, self.nodes, self.leaves, self.avals = generators, nodes, leaves, avals
        self.ends, self.device = ends, resolve(device)[1]

    def again(self) -> Draws:
        """Draw from where the generators are; they stay there."""
        places = [g._offset for g in self.generators]
        reached: list[tuple[np.ndarray, Place]] = []

        def place_of(how: tuple[str, Any]) -> Place:
            kind, x = how
            return places[x] if kind == "root" else reached[x][1] if kind == "node" else x

        for node in self.nodes:
            cursor = Cursor(place_of(node.begin))
            array = node.draw(cursor, *node.args)
            reached.append((array, cursor.place()))
        values = [Value(aval, device_array(reached[n][0], self.device))
                  for n, aval in zip(self.leaves, self.avals)]
        rows = []
        for g, how, seed in self.ends:
            rows.append((setattr, g, "_offset", place_of(how)))
            if seed is not None:
                rows.append((setattr, g, "_seed", seed))
        return Draws(values, places, rows)
