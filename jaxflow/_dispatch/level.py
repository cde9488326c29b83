"""Levels: the ``vmap`` under way, and tensors crossing their borders: in, out, and captured ones.

NOTE [Leaving a level]
    Nodes recorded inside a level get batched cotangents. Where an edge leads out, to something recorded or
    required before the level began, every example contributes: a node in between sums over them. Which
    edges those are is seen when an edge is made (`outward`, called by ``history.edge_of`` while a level is
    open). While the level is open, as in ``vmap(grad(f))``, the gradient wanted is that of one example, and
    the node passes on what it gets. What enters by an argument of ``vmap`` and leaves by its result crosses
    explicitly: the gradient of `enter` is `leave`, and the other way round.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import jax
import numpy as np

from jaxflow._core import device as devices
from jaxflow._core import dtype as dtypes
from jaxflow._core.aval import aval_of
from jaxflow._core.tensor import Tensor, make
from jaxflow._core.value import Value

from . import batch
from .door import value_of
from .generator import Generator
from .graph import AccumulateGrad, Node, _next_sequence
from .history import edge_of
from .run import run
from .state import state


class Level:
    """One ``vmap`` under way (or over: its batched Values may live on in a graph).

    Attributes:
        serial: later levels lie inside earlier ones.
        size: how many examples.
        randomness: what random operations do: ``error``, ``same`` or ``different``.
        start: nodes with a smaller sequence number were recorded outside.
        leaves: tensors that began to require grad inside, by id.
        joins: the nodes that lead out of the level, by the edge they lead to.
    """

    __slots__ = ("joins", "leaves", "randomness", "serial", "size", "start")

    _serials = itertools.count()

    def __init__(self, size: int, randomness: str) -> None:
        self.serial = next(self._serials)
        self.size = size
        self.randomness = randomness
        self.start = _next_sequence()
        self.leaves: dict[int, Tensor] = {}
        self.joins: dict[tuple, Node] = {}

    def outward(self, edge: tuple, node, t: Tensor) -> tuple:
        """The edge from inside to ``t``, whose own node is ``node``; see NOTE [Leaving a level]."""
        inside = id(node.variable) in self.leaves if node.__class__ is AccumulateGrad else (
            node._sequence >= self.start
        )
        if inside:
            return edge
        key = (id(edge[0]), edge[1])
        join = self.joins.get(key)
        if join is None:
            join = self.joins[key] = _crossing("ExpandBackward0")(edge, t._aval, self, _out_of)
        return (join, 0)


@contextmanager
def opened(size: int, randomness: str) -> Iterator[Level]:
    """A new innermost level for the ``with`` block."""
    level = Level(size, randomness)
    before = state.levels
    state.levels = (*before, level)
    try:
        yield level
    finally:
        state.levels = before
        level.joins.clear()  # nodes refer to their level: no cycle may stay behind
        level.leaves.clear()


class _Crossing(Node):
    """The node of a crossing: its backward is another one."""

    __slots__ = ("_aval", "_level", "_pull")

    _is_python = True
    _saves_something = False
    _num_outputs = 1

    def __init__(self, edge: tuple | None, aval, level: Level, pull: Callable) -> None:
        super().__init__(None, (), [edge], (True,), None)
        self._aval, self._level, self._pull = aval, level, pull

    @property
    def next_functions(self) -> tuple:
        """The one input."""
        return (self._edges[0] or (None, 0),)

    def _out_aval(self, number: int):
        return self._aval

    def _run(self, cotangents: list, keep: bool) -> list:
        """The cotangent, crossing back."""
        (cotangent,) = cotangents
        return [None if cotangent is None else self._pull(cotangent, self._level)]


@functools.cache
def _crossing(name: str) -> type[_Crossing]:
    return type(name, (_Crossing,), {"__slots__": (), "__module__": Node.__module__})


def _cross(t: Tensor, level: Level, change: Callable, pull: Callable, name: str) -> Tensor:
    out = make(change(run, value_of(t), level))
    if t._requires_grad and state.grad:
        out._grad_fn = _crossing(name)(edge_of(t), out._aval, level, pull)
        out._requires_grad = True
    return out


def enter(t: Tensor, level: Level) -> Tensor:
    """One example of ``t``, whose first dimension runs over the examples of ``level``."""
    return _cross(t, level, batch.hide, leave, "UnbindBackward0")


def leave(t: Tensor, level: Level) -> Tensor:
    """All examples of ``t`` along a new first dimension."""
    return _cross(t, level, batch.show, enter, "StackBackward0")


def add_up(t: Tensor, level: Level) -> Tensor:
    """The sum of ``t`` over the examples of ``level``."""
    return _cross(t, level, batch.total, _same_for_all, "SumBackward0")


def _out_of(t: Tensor, level: Level) -> Tensor:
    """A cotangent on its way out of ``level``: summed, unless the walk itself goes on inside."""
    return t if level in state.levels else add_up(t, level)


def _same_for_all(t: Tensor, level: Level) -> Tensor:
    """``t`` as it is used by every example: its gradient is the sum of theirs."""
    return _cross(t, level, lambda run, value, level: value, add_up, "ExpandBackward0")


def alike(t: Tensor, model: Tensor) -> Tensor:
    """A new tensor ``t``, batched at the levels of ``model``: what is batched can be written to it."""
    storage = t._storage
    for level in batch.levels_of(model._storage.value):
        storage.value = batch.hide(run, batch.show(run, storage.value, level), level)
    return t


def draw_inside(generator: Generator, levels: tuple[Level, ...]) -> tuple[int, int | Tensor]:
    """Seed and offset for a random op inside ``levels``: a number, or one for each example.

    Raises:
        RuntimeError: if one of the levels allows no random operations.
    """
    if any(level.randomness == "error" for level in levels):
        raise RuntimeError(
            "vmap: called random operation while in randomness error mode. Please either use the "
            "'same' or 'different' randomness flags on vmap or perform the randomness operation out "
            "of vmap"
        )
    apart = [level for level in levels if level.randomness == "different"]
    sizes = tuple(level.size for level in apart)
    count = math.prod(sizes)
    seed, first = generator.draw(count)
    if not apart:
        return seed, first
    aval = aval_of(sizes, dtypes.int64, devices.CPU)
    offsets = Value(aval, jax.device_put(first + np.arange(count).reshape(sizes)))
    for level in apart:
        offsets = batch.hide(run, offsets, level)
    return seed, make(offsets)
