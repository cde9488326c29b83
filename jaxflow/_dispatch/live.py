"""What backward finds of operands in memory that others may write to: NOTE [Host-shared storages].

NOTE [Saved from shared memory]
    PyTorch saves an operand as the tensor it is, so a backward sees what NumPy has written meanwhile, and the
    version tells only of PyTorch's own writes. A result that PyTorch saves is memory nobody else has. So a
    node keeps the `HostValue` of a host-shared operand where PyTorch saves operands alone, and the Value of a
    copy where it saves the result, from which the result is computed again. Where PyTorch's formula needs
    both, the one as it is now and the other as it was, that cannot be had by computing it again: a write in
    between is refused. An operand that became host-shared after it was saved is looked up by its version
    cell, and where it lies by its view.

NOTE [Given other memory]
    ``w.data = other`` lets ``w`` show other memory, and counts no write. A node that saved ``w`` before then
    finds what ``w`` shows by now, for PyTorch saves the tensor; one that saved a view of it, as ``linear``
    does of its weight, finds the memory of before: `saves_operand` tells them apart. It is noted at the node
    to which gradients of ``w`` go, which guards name; of a tensor that requires no grad the storage is found
    by its version cell. What has another shape or dtype now is refused: PyTorch's formulas would take it.
"""

from __future__ import annotations

import weakref
from operator import setitem
from typing import Any, NamedTuple

from jaxflow._core.aval import Aval
from jaxflow._core.device import CPU, resolve
from jaxflow._core.sequence import next_sequence
from jaxflow._core.shared import SHARED, HostValue, unshared
from jaxflow._core.tensor import Tensor
from jaxflow._core.unseen import APART, LATEST, LOST
from jaxflow._core.value import Storage, Value, device_array, left_in

from .graph import RESULT, HeldResult, Node
from .history import Aliased, Invalid
from .plan import Plan
from .run import run
from .shared import shown_of
from .shown import saves_operand
from .views import ViewPlan

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
    if node is None and (t._requires_grad or cell is None):
        return []  # no node has saved it
    sequence = next_sequence()
    rows: list[tuple] = [(setitem, LATEST, 0, sequence)]
    if node is not None:
        given = _Given(weakref.ref(storage), plan, sequence)
        rows.append((setitem, _given.setdefault(node, {}), t._output_nr, given))
    if cell is not None and cell.__class__ is list:
        rows.append(APART.moved_row(storage, cell, sequence))
    return rows


def kept_of(plan: Plan, inputs: list) -> list:
    """What a new node keeps of ``inputs``, some of which may be host-shared."""
    if plan.saves == "input":
        return inputs
    kept = list(map(unshared, inputs))
    if plan.saves == "both":
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
    if plan.saves not in ("input", "both"):
        return inputs
    guards = [g for g in node._guards if g[3] is not RESULT and g[3].__class__ is not HeldResult]
    needs = node._needs
    held = plan.held(needs) if plan.keeps else (plan.vjps.get((needs, None)) or plan.vjp(needs)).held
    at = [i for i in held if isinstance(plan.kinds[i], Aval)]
    pairs = list(zip(at, guards))
    if len(at) != len(guards):  # some are what another node had kept, and have no guard: histories tell them
        pairs = [(i, g) for g in guards for i in at if g[3] is not None and node._edges[i] is g[3]]
    found = list(inputs)
    for i, guard in pairs:
        x = inputs[i]
        if x.__class__ is Value or x.__class__ is HostValue:  # maybe of memory that it had before
            found[i] = _as_saved(node, i, _copies.get(x) or x, guard)
    if plan.saves == "input":
        return found
    for before, now in zip(inputs, found):
        if now is not before and before.host().tobytes() != now.host().tobytes():
            who = "by NumPy" if now.__class__ is HostValue else "through .data, with its own version,"
            raise RuntimeError(
                f"the memory of a tensor that {node.name()} saved for its backward, together with its "
                f"result, was written to {who} since: PyTorch would compute a gradient as if they "
                "belonged together, which jaxflow does not. Write to it after the backward, or give the "
                "operation a copy (clone())"
            )
    return inputs


def _as_saved(node: Node, i: int, value: Any, guard: tuple) -> Any:
    """The operand ``i`` of a node, of which ``value`` was kept, as PyTorch's node would find it now."""
    cell, _, _, edge, where = guard
    given = _given_since(node, edge) if _given else None
    if given is not None:
        return _now(node, value, given) if saves_operand(node, i) else value
    if APART.moved(cell) > node._sequence and not (where is None and saves_operand(node, i)):
        return value  # or a view of the memory before
    return as_it_is(value, cell, value.aval, where, node._sequence)


def _given_since(node: Node, edge: Any) -> _Given | None:
    """The memory that an operand, which gets its gradients by ``edge``, was given since ``node`` saved it."""
    at = _given.get(edge[0]) if edge.__class__ is tuple else None
    found = at.get(edge[1]) if at else None
    return None if found is None or found.sequence < node._sequence or found.storage() is None else found


def _now(node: Node, value: Any, given: _Given) -> Any:
    """The saved ``value`` of a tensor that was given other memory, as it is there."""
    storage, plan = given.storage(), given.plan
    if (storage.value if plan is None else plan).aval is not value.aval:
        raise RuntimeError(
            f"a tensor that {node.name()} saved for its backward was given memory of another shape, dtype "
            "or device through .data = since: jaxflow cannot compute with that in its place. Assign to "
            ".data after the backward"
        )
    return storage.value if plan is None else _shown_at(storage.value, plan, value)


def as_it_is(value: Any, cell: list, aval: Any, where: Any, sequence: int) -> Any:
    """A saved ``value`` as it is now, if its storage is host-shared by now, or was written to unseen.

    ``cell`` is where the version was counted; ``where`` is None for all of the storage, or says how the
    operand lies in it; ``sequence`` is the number of the node that saved it.
    """
    if where.__class__ is Aliased:
        storage, where = where
    else:
        storage = SHARED.at(cell) or APART.at(cell)
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
