"""What nodes show of what they save: ``grad_fn._saved_<name>``, under PyTorch's names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jaxflow._core.aval import Aval
from jaxflow._core.graph import RESULT, AccumulateGrad, HeldResult, Node, read_saved
from jaxflow._core.saved_names import SAVED_NAMES
from jaxflow._core.tensor import Tensor, make
from jaxflow._core.value import Value
from jaxflow._dispatch.dispatch import apply
from jaxflow._dispatch.saved_places import not_shown, place_of
from jaxflow._dispatch.saved_tensors import FREED, Packed, at_edge, edge_of_result, packed_late
from jaxflow._exec.run import run
from jaxflow._plans.op import OPS
from jaxflow._plans.plan import NUMBER_KINDS, Plan
from jaxflow._transforms.vjp import held_by
from jaxflow._views.values import value_of

from .version_checks import refuse_overwritten


def saved_value(node: Node, name: str, raw: bool = False) -> Any:
    """What ``node._saved_<name>`` (or ``_raw_saved_<name>``) shows.

    Raises:
        RuntimeError: for a tensor, once the graph was freed.
        AttributeError: where nothing of that name is at hand.
    """
    is_tensor = SAVED_NAMES[type(node).__name__][name]
    place = place_of(node, name)
    if raw:
        return SavedTensor(node, name, place)
    if is_tensor and node._inputs is None:
        raise RuntimeError(FREED)
    if is_tensor and place[0] != "given":
        return _tensor_at(node, name, place)
    return _plain(node, name, place)


def _tensor_at(node: Node, name: str, place: tuple) -> Tensor | None:
    kind, number = place
    if kind == "transposed":
        t = _tensor_at(node, name, ("operand", number))
        return None if t is None else t.t()
    plan, guards = node._plan, node._guards
    pack = guards.find(kind == "operand", number) if guards.__class__ is Packed else None
    if kind == "result":
        edge = edge_of_result(node, number)
        if pack is not None:
            return pack.unpack(edge)
        _check_guard(node, kind, number)
        return at_edge(make(_computed(node)[number]), edge)
    edge = node._edges[number]
    if pack is not None:
        return pack.unpack(edge)
    x = node._inputs[number]
    held = number in _held(node)
    if x is None or (isinstance(x, Value) and not held):
        if held or all(node._needs[i] for i in plan.edge_inputs):
            raise not_shown(node, name)  # PyTorch's node would hold it
        return None
    if not isinstance(x, Value):
        return _wrapped(plan, x)
    _check_guard(node, kind, number)
    if edge is not None and edge[0].__class__ is AccumulateGrad:
        return edge[0].variable
    return at_edge(make(x), edge)


def _check_guard(node: Node, kind: str, number: int) -> None:
    """Refuse to show what was overwritten since it was saved. RuntimeError."""
    if kind == "result":
        guards = [g for g in node._guards or () if g[3] in (RESULT, HeldResult(number))]
    else:
        operands = [
            g for g in node._guards or () if g[3] is not RESULT and g[3].__class__ is not HeldResult
        ]
        held = [i for i in _held(node) if isinstance(node._plan.kinds[i], Aval)]
        held = held[len(held) - len(operands):]  # an operation in place let go of its first
        guards = [g for i, g in zip(held, operands) if i == number]
    if any(cell[0] != version for cell, version, *_ in guards):
        refuse_overwritten(node)


def _held(node: Node) -> tuple[int, ...]:
    return held_by(node._plan, node._needs)


def _wrapped(plan: Plan, x: Any) -> Tensor:
    """A number that took an operand's place, as the tensor PyTorch makes of it."""
    return apply(OPS["_full"], (x,), ((), NUMBER_KINDS[type(x)], plan.device))


def _computed(node: Node) -> list[Value]:
    """The node's results again, from what it keeps; in a Program the engine finds that it has them."""
    inputs = node._inputs
    if node._guards.__class__ is Packed:
        inputs = node._guards.unpack(node)[0]
    inputs = inputs[: len(node._plan.kinds)]
    if any(x is None for x in inputs):
        raise AttributeError(
            f"'{node.name()}' keeps too little here to show its result; keep the result yourself"
        )
    return run(node._plan, [value_of(x) if isinstance(x, Tensor) else x for x in inputs])


def _plain(node: Node, name: str, place: tuple) -> Any:
    if place[0] == "operand":
        x = node._inputs[place[1]] if node._inputs is not None else None
        return x if not isinstance(x, Value) else _tensor_at(node, name, place)
    x = place[1]
    if name == "reduction":
        return _REDUCTIONS.get(x, x)
    if name == "padding_idx" and x is None:
        x = -1
    if name == "padding" and isinstance(x, tuple) and x and isinstance(x[0], tuple):
        if any(before != behind for before, behind in x):
            raise not_shown(node, name)  # PyTorch pads first then, in a node of its own
        x = tuple(before for before, _ in x)
    if type(x) is int and name in _LISTS.get(type(node).__name__, ()):
        x = (x,)
    return _unsigned(x)


_REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}

# Where PyTorch's signature has a list, a single number was one of one.
_LISTS = dict.fromkeys(
    ("AmaxBackward0", "AminBackward0", "LinalgVectorNormBackward0", "LogsumexpBackward0", "MeanBackward1",
     "SumBackward1", "StdBackward0", "StdMeanBackward0", "VarBackward0", "VarMeanBackward0"), ("dim",),
) | {"RollBackward0": ("shifts", "dims"), "FlipBackward0": ("dims",)}


def _unsigned(x: Any) -> Any:
    """A negative dimension as PyTorch shows it: an unsigned number of 64 bits."""
    if isinstance(x, (tuple, list)):
        return tuple(map(_unsigned, x))
    return x + (1 << 64) if type(x) is int and x < 0 else x


class SavedTensor:
    """One saved tensor of a node: what ``_raw_saved_<name>`` shows, to put hooks on it alone."""

    __slots__ = ("_name", "_node", "_place")

    def __init__(self, *parts: Any) -> None:
        if not parts:
            raise RuntimeError("Trying to create a SavedTensor object from Python is forbidden.")
        self._node, self._name, self._place = parts

    def unpack(self) -> Tensor | None:
        """The tensor as it was saved. RuntimeError once freed."""
        return saved_value(self._node, self._name)

    def register_hooks(self, pack_hook: Callable, unpack_hook: Callable) -> None:
        """Give this tensor to ``pack_hook`` now, and take it from ``unpack_hook`` whenever it is needed.

        Raises RuntimeError once it was freed, where there is no tensor, or where it has hooks already.
        """
        node, operand, number = self._node, self._place[0] == "operand", self._place[1]
        guards, freed = node._guards, node._inputs is None
        packed = guards.__class__ is Packed and guards.find(operand, number) is not None
        t = None if freed or packed else self.unpack()
        pack = packed_late(self, freed, packed, t, pack_hook, unpack_hook)
        if guards.__class__ is not Packed:
            guards = node._guards = Packed(guards or ())
        guards.add(self._name, operand, number, pack)
        if operand:
            node._inputs[number] = None


read_saved.append(saved_value)
