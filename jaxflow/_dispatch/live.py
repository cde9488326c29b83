"""What backward finds of operands in memory that others may write to: NOTE [Host-shared storages].

NOTE [Saved from shared memory]
    PyTorch saves an operand as the tensor it is, so a backward sees what NumPy has written meanwhile, and the
    version tells only of PyTorch's own writes. A result that PyTorch saves is memory nobody else has. So a
    node keeps the `HostValue` of a host-shared operand where PyTorch saves operands alone, and the Value of a
    copy where it saves the result, from which the result is computed again. Where PyTorch's formula needs
    both, the one as it is now and the other as it was, that cannot be had by computing it again: a write in
    between is refused. An operand that became host-shared after it was saved is looked up by its version
    cell, and where it lies by its view.
"""

from __future__ import annotations

import weakref
from typing import Any

from jaxflow._core.aval import Aval
from jaxflow._core.device import CPU, resolve
from jaxflow._core.shared import SHARED, HostValue, unshared
from jaxflow._core.unseen import APART, LATEST, LOST
from jaxflow._core.value import Value, device_array, left_in

from .graph import RESULT, HeldResult, Node
from .history import Aliased
from .plan import Plan
from .run import run
from .shared import shown_of
from .views import ViewPlan

# Copies of host-shared operands that nodes keep together with their results, and what they are copies of.
_copies: weakref.WeakKeyDictionary[Value, HostValue] = weakref.WeakKeyDictionary()


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
            found[i] = as_it_is(_copies.get(x) or x, guard[0], x.aval, guard[4])
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


def as_it_is(value: Any, cell: list, aval: Any, where: Any) -> Any:
    """A saved ``value`` as it is now, if its storage is host-shared by now, or was written to unseen.

    ``cell`` is where the version was counted; ``where`` is None for all of the storage, or says how the
    operand lies in it.
    """
    if where.__class__ is Aliased:
        storage, where = where
    else:
        storage = SHARED.at(cell) or APART.at(cell)
    if storage is not None:
        held = storage.value
    else:
        held = left_in(cell)
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
    if held.__class__ is HostValue:
        return shown_of(held, where) or value
    if held.__class__ is not Value:
        return value
    return held if where.identity else run(where.read, [held, *where.numbers])[0]
