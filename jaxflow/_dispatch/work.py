"""Estimates of what a trace costs, from shapes alone: to interpret it once, and to compile it.

They need only the right order of magnitude: ``policy`` weighs the one against the other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from jaxflow._core.aval import Aval

from .plan import Plan

# Seconds: of interpreting one operation whatever its size; of one element of its largest array, for some
# ten passes of NumPy over it; of one multiplication with its addition.
_OPERATION, _ELEMENT, _PRODUCT = 8e-6, 8e-9, 4e-11

# Seconds of tracing, lowering and compiling: a program, each plan of it, each input of a plan (optimizers
# have many), each operation.
_PROGRAM, _PLAN, _INPUT, _USE = 0.02, 0.012, 0.006, 0.015

# Words in the names of operations whose cost is in products, not in passes over their arrays.
PRODUCTS = frozenset((
    "linear", "bilinear", "matmul", "mm", "addmm", "mv", "addmv", "bmm", "addbmm", "baddbmm", "dot", "vdot",
    "einsum", "tensordot", "convolution", "attention", "lstm", "gru", "rnn",
))


def seconds_to_interpret(trace: Sequence) -> float:
    """What one run by the interpreter takes, about."""
    seconds = 0.0
    for plan in trace:
        if plan.__class__ is Plan:
            if plan.rent is None:
                plan.rent = _of(plan)
            seconds += plan.rent
    return seconds


def seconds_to_record(plans: list[Plan]) -> float:
    """What recording these operations takes: about as much as interpreting small ones."""
    return _OPERATION * len(plans)


def seconds_to_compile(trace: Sequence) -> float:
    """What tracing, lowering and compiling it takes, about."""
    plans = [step for step in trace if step.__class__ is Plan]
    different = set(plans)
    inputs = sum(len(plan.kinds) for plan in different)
    return _PROGRAM + _PLAN * len(different) + _INPUT * inputs + _USE * len(plans)


def _of(plan: Plan) -> float:
    sizes = [kind.numel for kind in (*plan.kinds, *plan.out_avals) if isinstance(kind, Aval)]
    largest = max(sizes, default=1)
    seconds = _OPERATION + _ELEMENT * largest
    if not PRODUCTS.isdisjoint(plan.name.split("_")):
        # Of (m, k) by (k, n) the three sizes multiply to the square of m * k * n.
        a, b, c = sorted((*sizes, 1, 1), reverse=True)[:3]
        seconds += _PRODUCT * math.sqrt(a) * math.sqrt(b) * math.sqrt(c)
    return seconds
