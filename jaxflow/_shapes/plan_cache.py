"""The plans of each op that are kept: where they are looked up, made and let go.

``op.plans`` holds those of the generation that goes on, ``op.older_plans`` those of the one before: NOTE
[What is kept]. Their keys are the static arguments, the aval an in-place result must have, and the avals and
classes of the dynamic arguments.
"""

from __future__ import annotations

from jaxflow._core import budget
from jaxflow._core import dtype as dtypes
from jaxflow._core.aval import alive
from jaxflow._core.torchs import look
from jaxflow._plans.op import OPS, Op
from jaxflow._plans.plan import Plan

from .shape_families import build

# Estimated bytes of an aval and its key.
_AVAL = 400

_evicted = 0

# Plans made under another default dtype: what a Python number means is part of them.
_set_aside: dict[tuple[Op, dtypes.dtype], dict] = {}


def kept(op: Op, key: tuple) -> Plan:
    """The plan of ``op`` under ``key``; made if there is none."""
    plan = op.plans.get(key)
    return missing(op, key) if plan is None else plan


def missing(op: Op, key: tuple) -> Plan:
    """The same for a key that is not in ``op.plans``. Raises whatever refuses these arguments."""
    plan = op.older_plans.get(key)
    if plan is None:
        static, into, *kinds = key
        look()
        plan = build(op, tuple(kinds), static, into)
    plan = op.plans.setdefault(key, plan)
    budget.settle()
    return plan


def change_default(before: dtypes.dtype, after: dtypes.dtype) -> None:
    """Use the plans of the new default dtype."""
    for op in OPS.values():
        _set_aside[op, before] = {**op.older_plans, **op.plans}
        op.older_plans, op.plans = {}, _set_aside.pop((op, after), {})


def forget() -> None:
    """Keep no plan."""
    for op in OPS.values():
        op.plans, op.older_plans = {}, {}


def _rotate() -> None:
    """The end of a generation. At every moment a plan that was used in it is in one of the two dicts."""
    global _evicted
    _set_aside.clear()
    for op in OPS.values():
        young, old = op.plans, op.older_plans
        if old:
            _evicted += sum(key not in young for key in list(old))
        if young or old:
            op.older_plans = young
            op.plans = {}


def _report() -> tuple[str, int, int, int]:
    found = [plan for op in OPS.values() for plan in {**op.older_plans, **op.plans}.values()]
    count = sum(1 + len(plan.vjps) for plan in found)
    return "plans", count, count * budget.PLAN, _evicted


def _report_avals() -> tuple[str, int, int, int]:
    return "avals", len(alive()), len(alive()) * _AVAL, 0


budget.on_rotate.append(_rotate)
budget.reports += [_report, _report_avals]
