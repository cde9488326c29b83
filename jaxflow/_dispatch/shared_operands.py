"""What backward finds of operands in memory that others may write to: NOTE [Host-shared storages].

NOTE [Saved from shared memory]
    PyTorch saves an operand as the tensor it is, so a backward sees what NumPy has written meanwhile, and the
    version counts only PyTorch's own writes. A result that PyTorch saves is memory nobody else has. So a node
    keeps the `HostValue` of a host-shared operand where PyTorch saves operands alone, and the Value of a copy
    where it saves the result, from which the result is computed again. Where PyTorch's formula needs both,
    the one as it is now and the other as it was, that cannot be had by computing it again: a write in between
    is refused. An operand that became host-shared after it was saved is looked up by its version cell, and
    where it lies by its view.

NOTE [Given other memory]
    ``w.data = other`` lets ``w`` show other memory, and counts no write. A node that saved ``w`` before then
    finds what ``w`` shows by now, for PyTorch saves the tensor; one that saved a view of it, as ``linear``
    does of its weight, finds the memory of before: `saves_operand` distinguishes them. It is noted at the
    node to which gradients of ``w`` go, which guards name. A tensor that requires no grad is found by the
    cell of its version: there stands which one was given other memory, and where it lay before. A base is the
    only one at its place; of a view or a detached alias it is not known whether it is the one that the node
    saved, so its backward is refused. So is what has another shape or dtype now: PyTorch's formulas would
    take it.

    Where PyTorch has statistics of an operand beside it (norms) or results of steps, it computes from both,
    whichever of them changed; that is refused, as it is for results.
"""

from __future__ import annotations

import re
import weakref
from operator import setitem
from typing import Any, NamedTuple

from jaxflow._core.aval import Aval
from jaxflow._core.device import CPU, resolve
from jaxflow._core.graph import RESULT, HeldResult, Invalid, Node
from jaxflow._core.saved_names import SAVED_NAMES
from jaxflow._core.sequence import next_sequence
from jaxflow._core.shared import SHARED, HostValue, unshared
from jaxflow._core.tensor import Tensor, version_cell
from jaxflow._core.unseen import APART, LATEST, LOST
from jaxflow._core.value import Storage, Value, device_array, given_in, givens_of, left_in
from jaxflow._exec.run import run
from jaxflow._plans.plan import Plan
from jaxflow._transforms.vjp import held_by
from jaxflow._views.chain import ViewPlan
from jaxflow._views.history import Aliased, Guarded, guard_of
from jaxflow._views.host_shared import shown_of

from .saved_places import saves_operand

# Copies of host-shared operands that nodes keep together with their results, and what they are copies of.
_copies: weakref.WeakKeyDictionary[Value, HostValue] = weakref.WeakKeyDictionary()


class _Given(NamedTuple):
    """The memory that a tensor was given, how it lies there (None for all of it), and when that was."""

    storage: weakref.ref[Storage]
    plan: ViewPlan | None
    sequence: int


# What tensors were given by ``.data =``, at the node that their gradients go to and the number there.
_given: weakref.WeakKeyDictionary[Node, dict[int, _Given]] = weakref.WeakKeyDictionary()


def other_memory_rows(t: Tensor, storage: Storage, plan: ViewPlan | None, cell: list | None) -> list[tuple]:
    """The stores that note that ``t`` is given other memory: NOTE [Given other memory].

    It will lie in ``storage`` by ``plan``; or be all of it, whose cell becomes that of ``t``, ``cell``.
    """
    node = t._grad_fn
    if node.__class__ is Invalid:
        node = node.node
    if node is None and t._accumulator is not None:
        node = t._accumulator()
    counted = version_cell(t)
    if node is None and (t._requires_grad or counted.__class__ is not list):
        return []  # no node has saved it
    sequence = next_sequence()
    rows: list[tuple] = [(setitem, LATEST, 0, sequence)]
    if node is None and (cell is None or t._view is not None):
        rows.append((setitem, givens_of(counted), _place_of(guard_of(t)), (weakref.ref(t), sequence)))
    if node is not None:
        given = _Given(weakref.ref(storage), plan, sequence)
        rows.append((setitem, _given.setdefault(node, {}), t._output_nr, given))
    if cell is not None and cell.__class__ is list:
        rows.append(APART.moved_row(storage, cell, sequence))
    return rows


def _place_of(where: Any) -> Any:
    """How a guard says where an operand lies, as what tensors at that place have in common."""
    if where.__class__ is Aliased:
        return weakref.ref(where.storage), where.plan
    return Guarded if where.__class__ is Guarded else where


# Nodes of PyTorch that hold results besides operands; of those of pooling only the positions found count.
_WITH_RESULTS = frozenset(("WeightNormInterfaceBackward0", *(
    name for name, shown in SAVED_NAMES.items()
    if any(is_tensor and re.fullmatch(r"result\d*|buffer", saved) for saved, is_tensor in shown.items()))))
_POSITIONS = frozenset(name for name in _WITH_RESULTS if "MaxPool" in name)


def _with_results(plan: Plan) -> bool:
    """Whether PyTorch's node holds its first operand together with what was computed from it."""
    return plan.node.__name__ in _WITH_RESULTS and not (
        plan.origin is not None and plan.origin[0].name.startswith("_batch_norm_eval"))


def kept_of(plan: Plan, inputs: list) -> list:
    """What a new node keeps of ``inputs``, some of which may be host-shared."""
    if plan.saves == "input" and not plan.stepwise:
        if not _with_results(plan) or inputs[0].__class__ is not HostValue:
            return inputs
        copy = unshared(inputs[0])
        note_copy(copy, inputs[0])
        return [copy, *inputs[1:]]
    kept = list(map(unshared, inputs))
    if plan.saves in ("input", "both"):
        _copies.update([(copy, x) for copy, x in zip(kept, inputs) if x.__class__ is HostValue])
    return kept


def copy_of(x: HostValue) -> Value:
    """The Value of a copy, for who runs a compiled program on it; nodes that keep it find what it was."""
    copy = Value(x.aval, device_array(x.copied(), resolve(CPU)[1]))
    note_copy(copy, x)
    return copy


def note_copy(copy: Value, x: HostValue) -> None:
    """Note what a Value is a copy of, for nodes that keep it."""
    _copies[copy] = x


def to_look(node: Any) -> bool:
    """Whether anything that a node has kept may be host-shared, or was written to unseen."""
    return bool(SHARED or _copies) or node._sequence < LATEST[0]


def as_they_are(node: Node, inputs: list) -> list:
    """The operands that a node kept; what is host-shared by now, or was written to unseen, as it is now.

    RuntimeError where the node kept them together with its result and they have changed.
    """
    plan = node._plan
    if plan.saves not in ("input", "both") or plan.node.__name__ in _POSITIONS:
        return inputs
    guards = [g for g in node._guards if g[3] is not RESULT and g[3].__class__ is not HeldResult]
    needs = node._needs
    held = held_by(plan, needs)
    at = [i for i in held if isinstance(plan.kinds[i], Aval)]
    pairs = list(zip(at, guards))
    if len(at) != len(guards):  # some are what another node had kept, and have no guard: edges show which
        pairs = [(i, g) for g in guards for i in at if g[3] is not None and node._edges[i] is g[3]]
    found = list(inputs)
    for i, guard in pairs:
        x = inputs[i]
        if x.__class__ is Value or x.__class__ is HostValue:  # maybe of memory that it had before
            found[i] = _as_saved(node, i, _copies.get(x) or x, guard)
    whole = plan.saves == "both" or plan.stepwise
    for before, now in zip(inputs, found[: len(found) if whole else _with_results(plan)]):
        if now is not before and before.host().tobytes() != now.host().tobytes():
            who = "by NumPy" if now.__class__ is HostValue else "through .data, with its own version,"
            raise RuntimeError(
                f"the memory of a tensor that {node.name()} saved for its backward, together with its "
                f"result, was written to {who} since: PyTorch would compute a gradient as if they "
                "belonged together, which jaxflow does not. Write to it after the backward, or give the "
                "operation a copy (clone())"
            )
    return inputs if plan.saves == "both" else found


def _as_saved(node: Node, i: int, value: Any, guard: tuple) -> Any:
    """The operand ``i`` of a node, of which ``value`` was kept, as PyTorch's node would find it now."""
    cell, _, _, edge, where = guard
    given = _given_since(node, edge) if _given else None
    if given is not None:
        return _now(node, value, given) if saves_operand(node, i) else value
    places = given_in(cell) if edge is None else None
    noted, since = places.get(_place_of(where), (None, -1)) if places else (None, -1)
    if noted is not None and since > node._sequence:
        t = noted() if where is None else None
        return _shown_now(node, value, t) if saves_operand(node, i) else value
    if APART.moved(cell) > node._sequence:
        if where is not None or not saves_operand(node, i):
            return value  # or a view of the memory before
        storage = APART.at(cell)
        held = left_in(cell, node._sequence) if storage is None else storage.value
        if isinstance(held, Value) and held.aval is not value.aval:
            raise RuntimeError(_OTHER.format(node.name()))
    return as_it_is(value, cell, value.aval, where, node._sequence)


def given_since(node: Node, guard: tuple) -> bool:
    """Whether the tensor that a guard stands for was given other memory since ``node`` saved it."""
    cell, _, _, edge, where = guard
    if edge is RESULT or edge.__class__ is HeldResult:
        return False
    if edge is not None:
        return _given_since(node, edge) is not None
    _, since = (given_in(cell) or {}).get(_place_of(where), (None, -1))
    return max(since, APART.moved(cell)) > node._sequence


def _shown_now(node: Node, value: Any, t: Tensor | None) -> Any:
    """What the tensor of which ``value`` was saved shows now, after it was given other memory."""
    if t is None:
        raise RuntimeError(
            f"a view, a detached alias or a tensor that is gone was given other memory through .data =, and "
            f"{node.name()} saved for its backward what lay there: jaxflow does not know whether it was that "
            "tensor. Assign to .data after the backward"
        )
    if t._aval is not value.aval:
        raise RuntimeError(_OTHER.format(node.name()))
    held = t._storage.value
    return held if t._view is None else _shown_at(held, t._view.plan, value)


_OTHER = (
    "a tensor that {} saved for its backward was given memory of another shape, dtype or device through "
    ".data = since: jaxflow cannot compute with that in its place. Assign to .data after the backward"
)


def _given_since(node: Node, edge: Any) -> _Given | None:
    """The memory that an operand, which gets its gradients by ``edge``, was given since ``node`` saved it."""
    at = _given.get(edge[0]) if edge.__class__ is tuple else None
    found = at.get(edge[1]) if at else None
    return None if found is None or found.sequence < node._sequence or found.storage() is None else found


def _now(node: Node, value: Any, given: _Given) -> Any:
    """The saved ``value`` of a tensor that was given other memory, as it is there."""
    storage, plan = given.storage(), given.plan
    if (storage.value if plan is None else plan).aval is not value.aval:
        raise RuntimeError(_OTHER.format(node.name()))
    return storage.value if plan is None else _shown_at(storage.value, plan, value)


def as_it_is(value: Any, cell: list, aval: Any, where: Any, sequence: int) -> Any:
    """A saved ``value`` as it is now, if its storage is host-shared by now, or was written to unseen.

    ``cell`` is where the version was counted; ``where`` is None for all of the storage, or says how the
    operand lies in it; ``sequence`` is the number of the node that saved it.
    """
    if where.__class__ is Aliased:
        storage, where = where
    elif APART.moved(cell) < 0:
        storage = SHARED.at(cell) or APART.at(cell)
    else:  # the memory before has the same cell; what lies there as a view is `Aliased`
        storage = APART.at(cell)
    if storage is not None:
        held = storage.value
    else:
        held = left_in(cell, sequence)
        if held is None:
            return value
        if held is LOST:
            raise RuntimeError(
                "what a tensor that was saved for this backward showed at its end is not known: taking note "
                "of it was interrupted. Compute the forward again"
            )
    if where is None:
        return held if held.aval is aval else value
    if where.__class__ is not ViewPlan:
        return value
    return _shown_at(held, where, value)


def _shown_at(held: Any, where: ViewPlan, value: Any) -> Any:
    """What lies at a place of what a storage holds; ``value`` where that cannot be looked up."""
    if held.__class__ is HostValue:
        return shown_of(held, where) or value
    if held.__class__ is not Value:
        return value
    return held if where.identity else run(where.read, [held, *where.numbers])[0]
