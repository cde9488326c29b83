"""Mapped axes: the ``vmap`` calls under way, and how tensors enter them, leave them and are captured.

NOTE [Leaving a mapped axis]
    Nodes recorded while an axis is open get batched cotangents. Where an edge leads to something that was
    recorded, or required grad, before the axis was opened, every example contributes: a node in between
    sums over them. Which edges those are is seen when an edge is made (`outward`, called by
    ``history.edge_of``). A walk that itself runs while the axis is open, as in ``vmap(grad(f))``, needs the
    gradient of one example, and the node passes on what it gets. What enters by an argument of ``vmap`` and
    leaves by its result crosses explicitly: the gradient of `enter` is `leave`, and the other way round.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import jax
import numpy as np

from jaxflow._core import device as devices
from jaxflow._core import dtype as dtypes
from jaxflow._core.aval import Aval, aval_of
from jaxflow._core.fields import init_history
from jaxflow._core.generator import Generator
from jaxflow._core.graph import AccumulateGrad, Node
from jaxflow._core.levels import FORWARD, LEVELS
from jaxflow._core.modes import Changed
from jaxflow._core.sequence import next_sequence
from jaxflow._core.state import state
from jaxflow._core.tensor import Tensor, make
from jaxflow._core.value import Value
from jaxflow._exec.run import run
from jaxflow._transforms import batching
from jaxflow._views.history import edge_of
from jaxflow._views.values import value_of


class MappedAxis:
    """One ``vmap`` under way (or over: its batched Values may live on in a graph).

    Attributes:
        serial: later axes lie inside earlier ones.
        size: how many examples.
        randomness: what random operations do: ``error``, ``same`` or ``different``.
        start: nodes with a smaller sequence number were recorded outside.
        leaves: tensors that began to require grad inside, by id.
        joins: the nodes in between, by the edge they lead to: NOTE [Leaving a mapped axis].
    """

    __slots__ = ("joins", "leaves", "randomness", "serial", "size", "start")

    _serials = itertools.count()

    def __init__(self, size: int, randomness: str) -> None:
        self.serial = next(self._serials)
        self.size = size
        self.randomness = randomness
        self.start = next_sequence()
        self.leaves: dict[int, Tensor] = {}
        self.joins: dict[tuple, Node] = {}

    def outward(self, edge: tuple, node, t: Tensor) -> tuple:
        """An ``edge`` on its way from the innermost axis to ``t``, whose own node is ``node``."""
        inside = id(node.variable) in self.leaves if node.__class__ is AccumulateGrad else (
            node._sequence >= self.start
        )
        if inside:
            return edge
        key = (id(edge[0]), edge[1])
        join = self.joins.get(key)
        if join is None:
            join = self.joins[key] = _made_crossing("ExpandBackward0", edge, t._aval, self, _out_of)
        return (join, 0)


class opened(Changed):  # noqa: N801 - reads like the context managers beside it
    """A new innermost axis for the ``with`` block."""

    __slots__ = ()

    def __init__(self, size: int, randomness: str) -> None:
        axis = MappedAxis(size, randomness)
        super().__init__(state, axis, axes=(*state.axes, axis))

    def left(self) -> None:
        """Let go of what was noted inside."""
        self.given.joins.clear()  # nodes refer to their axis: no cycle may stay behind
        self.given.leaves.clear()


class Way(NamedTuple):
    """A way across an axis, in the place of a plan: the class of its nodes, and what they do.

    Attributes:
        node: the class.
        aval: of the result.
        axis: the axis, which may be over.
        pull: the way back of a cotangent, a function of it and the axis.
    """

    node: type
    aval: Aval
    axis: MappedAxis
    pull: Callable


class Crossing(Node):
    """The node of a crossing, whose ``_plan`` is a `Way`: its backward is another one."""

    __slots__ = ()

    _is_python = True
    _saves_something = False
    _num_outputs = 1

    @property
    def next_functions(self) -> tuple:
        """The one input."""
        return (self._edges[0] or (None, 0),)

    def _out_aval(self, number: int):
        return self._plan.aval

    def _run(self, cotangents: list, keep: bool) -> list:
        """The cotangent, crossing back."""
        (cotangent,) = cotangents
        way = self._plan
        return [None if cotangent is None else way.pull(cotangent, way.axis)]


@functools.cache
def _crossing(name: str) -> type[Crossing]:
    return type(name, (Crossing,), {"__slots__": (), "__module__": Node.__module__})


def _made_crossing(name: str, edge: tuple | None, aval: Aval, axis: MappedAxis, pull: Callable) -> Crossing:
    kind = _crossing(name)
    return kind(Way(kind, aval, axis, pull), (), [edge], (True,), None)


def _cross(t: Tensor, axis: MappedAxis, change: Callable, pull: Callable, name: str) -> Tensor:
    out = make(change(run, value_of(t), axis))
    if t._requires_grad and state.grad:
        init_history(out, _made_crossing(name, edge_of(t), out._aval, axis, pull), 0)
    if LEVELS:
        FORWARD.carry(out, t, lambda tangent: _cross(tangent, axis, change, pull, name))
    return out


def enter(t: Tensor, axis: MappedAxis) -> Tensor:
    """One example of ``t``, whose first dimension runs over the examples of ``axis``."""
    return _cross(t, axis, batching.hide, leave, "UnbindBackward0")


def leave(t: Tensor, axis: MappedAxis) -> Tensor:
    """All examples of ``t`` along a new first dimension."""
    return _cross(t, axis, batching.show, enter, "StackBackward0")


def add_up(t: Tensor, axis: MappedAxis) -> Tensor:
    """The sum of ``t`` over the examples of ``axis``."""
    return _cross(t, axis, batching.total, _same_for_all, "SumBackward0")


def _out_of(t: Tensor, axis: MappedAxis) -> Tensor:
    """A cotangent on its way out of ``axis``: summed, unless the walk itself goes on inside."""
    return t if axis in state.axes else add_up(t, axis)


def _same_for_all(t: Tensor, axis: MappedAxis) -> Tensor:
    """``t`` as it is used by every example: its gradient is the sum of theirs."""
    return _cross(t, axis, lambda run, value, axis: value, add_up, "ExpandBackward0")


def alike(t: Tensor, model: Tensor) -> Tensor:
    """A new tensor ``t``, batched at the axes of ``model``: what is batched can be written to it."""
    storage = t._storage
    for axis in batching.axes_of(model._storage.value):
        storage.value = batching.hide(run, batching.show(run, storage.value, axis), axis)
    return t


def examples_apart(axes: tuple[MappedAxis, ...]) -> list[MappedAxis]:
    """Those of ``axes``, outermost first, whose examples draw other numbers each.

    Raises:
        RuntimeError: if one of the axes allows no random operations.
    """
    if any(axis.randomness == "error" for axis in axes):
        raise RuntimeError(
            "vmap: called random operation while in randomness error mode. Please either use the "
            "'same' or 'different' randomness flags on vmap or perform the randomness operation out "
            "of vmap"
        )
    return [axis for axis in axes if axis.randomness == "different"]


def hidden(value: Value, axes: Iterable[MappedAxis]) -> Tensor:
    """A tensor whose leading dimensions are the examples of ``axes``."""
    for axis in axes:
        value = batching.hide(run, value, axis)
    return make(value)


def hidden_in(t: Tensor, axes: Sequence[MappedAxis]) -> Tensor:
    """The new ``t``, whose leading dimensions become the examples of ``axes``, if there are any."""
    return hidden(t._storage.value, axes) if axes else t


def draw_inside(generator: Generator, axes: tuple[MappedAxis, ...]) -> tuple[int, int | Tensor]:
    """Seed and offset for a random op inside ``axes``: a number, or one for each example.

    Raises:
        RuntimeError: if one of the axes allows no random operations.
    """
    apart = examples_apart(axes)
    sizes = tuple(axis.size for axis in apart)
    count = math.prod(sizes)
    seed, first = generator.draw(count)
    if not apart:
        return seed, first
    aval = aval_of(sizes, dtypes.int64, devices.CPU)
    return seed, hidden(Value(aval, jax.device_put(first + np.arange(count).reshape(sizes))), apart)
