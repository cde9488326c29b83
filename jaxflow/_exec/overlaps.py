"""Writes that XLA's CPU compiler gets wrong, and how a program is compiled that has some.

NOTE [Updates that read what they replace]
    ``x[1:] = x[:-1].clone()`` becomes one loop that reads and writes the same memory, if x has another shape
    before or after (openxla/xla#49176): it then reads numbers that it has just written. XLA computes an
    update beforehand if it comes out of a conditional. So where what is put into an array may be computed
    from this array, it goes through one whose condition always holds, which XLA cannot deduce.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from operator import or_
from typing import Any

import jax
import jax.numpy as jnp

from jaxflow._core.aval import Aval
from jaxflow._core.jax_compat import ClosedJaxpr, Literal
from jaxflow._plans.plan import Plan, traced_jaxpr
from jaxflow._transforms.evaluate import evaluate, performed

from .trace_analysis import Step

_WRITE = "dynamic_update_slice"
_UNSIGNED = {1: jnp.uint8, 2: jnp.uint16, 4: jnp.uint32, 8: jnp.uint64}


def overlapping(steps: Sequence[Step]) -> set[int]:
    """The steps, by the slot of their first result, which may put into an array what is read from it."""
    plans = {step.plan for step in steps}
    if not any(_has_write(traced_jaxpr(plan)) for plan in plans):
        return set()
    flows = {plan: _flow(plan) for plan in plans}
    found = set()
    above: dict[int, int] = {}  # slot -> what it is computed from and itself, one bit for each slot
    for plan, slots, _, out in steps:
        for slot in slots:
            if slot < 0:
                above.setdefault(slot, 1 << (-2 * slot - 1))
        results, writes = flows[plan]
        if any(_above(into, slots, above) & _above(update, slots, above) for into, update in writes):
            found.add(out)
        for k, sources in enumerate(results):
            above[out + k] = _above(sources, slots, above) | 1 << 2 * (out + k)
    return found


def _above(positions: Iterable[int], slots: tuple[int, ...], above: dict[int, int]) -> int:
    return reduce(or_, (above[slots[i]] for i in positions), 0)


def _flow(plan: Plan) -> tuple[list, list]:
    """Which of the arrays a plan takes each of its results comes from; and for each write in it, which ones
    the array written to, and the update."""
    arrays = iter(range(plan.arrays))
    sources = [frozenset((next(arrays),)) if isinstance(kind, Aval) else frozenset() for kind in plan.kinds]
    writes: list = []
    results = _follow(traced_jaxpr(plan), sources, writes)
    if writes and plan.grad_name == "CopySlices":  # of a view: what it reads of the array it leaves in place
        writes = [(frozenset((0,)), frozenset((1,)))]
    return results, writes


def _has_write(closed: ClosedJaxpr) -> bool:
    return any(eqn.primitive.name == _WRITE or (inner := _inner(eqn)) is not None and _has_write(inner)
               for eqn in closed.jaxpr.eqns)


def _inner(eqn: Any) -> ClosedJaxpr | None:
    """What an equation calls, if all it does is to call it."""
    inner = eqn.params.get("jaxpr")
    return inner if eqn.primitive.name in ("jit", "pjit", "closed_call") else None


def _follow(closed: ClosedJaxpr, sources: list, found: list) -> list:
    """What the results of a jaxpr are computed from; the writes in it are added to ``found``."""
    env: dict = dict.fromkeys(closed.jaxpr.constvars, frozenset())
    env.update(zip(closed.jaxpr.invars, sources))

    def read(v: Any) -> frozenset:
        return frozenset() if isinstance(v, Literal) else env[v]

    for eqn in closed.jaxpr.eqns:
        given, inner = list(map(read, eqn.invars)), _inner(eqn)
        if eqn.primitive.name == _WRITE:
            found.append((given[0], given[1]))
        results = _follow(inner, given, found) if inner is not None else (
            [frozenset().union(*given)] * len(eqn.outvars)
        )
        env.update(zip(eqn.outvars, results))
    return list(map(read, closed.jaxpr.outvars))


def apart(plan: Plan) -> Callable:
    """The function of a plan, every update of which is computed before it is put where it belongs."""
    return lambda *inputs: evaluate(plan.jaxpr, inputs, _perform)


def _perform(eqn: Any, values: list) -> Sequence:
    inner = _inner(eqn)
    if inner is not None:
        return evaluate(inner, values, _perform)
    if eqn.primitive.name == _WRITE:
        values[1] = _computed(values[1])
    return performed(eqn, values)


def _computed(update: Any) -> Any:
    """The same numbers, in memory of their own."""
    if not update.size:
        return update
    first = update.ravel()[0]
    if jnp.iscomplexobj(first):
        first = first.real
    bits = first.astype(jnp.uint8) if first.dtype == jnp.bool_ else (
        jax.lax.bitcast_convert_type(first, _UNSIGNED[first.dtype.itemsize])
    )
    return jax.lax.cond((bits | 1) != 0, lambda x: x, jnp.zeros_like, update)
