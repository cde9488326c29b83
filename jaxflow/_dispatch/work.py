"""Estimates of what a trace costs, from shapes alone: to interpret it once, and to compile it.

They need only the right order of magnitude: ``policy`` weighs the one against the other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from jax.extend.core import Jaxpr

from jaxflow._core.aval import Aval

from .plan import Plan, traced_jaxpr

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


# Plans that may show a part of a large array, and what they are made of if that is all they do.
_WINDOWS = frozenset((
    "select", "slice", "piece", "narrow", "read_select", "read_slice", "read_piece", "read_view",
    "read_unsqueeze", "read_transpose", "read_t", "read_permute", "read_squeeze_dim", "read_expand",
))
_SHOWING = frozenset((
    "dynamic_slice", "slice", "squeeze", "expand_dims", "reshape", "transpose", "broadcast_in_dim",
))


_NUMBERS = frozenset(("lt", "add", "select_n", "convert_element_type"))


def _only_windows(jaxpr: Jaxpr) -> bool:
    """Whether this shows a part of an array, and computes nothing but where that begins."""
    for eqn in jaxpr.eqns:
        inner = eqn.params.get("jaxpr")
        if inner is not None:
            if not _only_windows(inner.jaxpr):
                return False
        elif eqn.primitive.name not in _SHOWING and (
            eqn.primitive.name not in _NUMBERS or any(v.aval.ndim for v in eqn.outvars)
        ):
            return False
    return True


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
    if plan.name in _WINDOWS and _only_windows(traced_jaxpr(plan).jaxpr):
        sizes = [aval.numel for aval in plan.out_avals]  # NumPy shows a window without passing over the rest
    largest = max(sizes, default=1)
    seconds = _OPERATION + _ELEMENT * largest
    if not PRODUCTS.isdisjoint(plan.name.split("_")):
        # Of (m, k) by (k, n) the three sizes multiply to the square of m * k * n.
        a, b, c = sorted((*sizes, 1, 1), reverse=True)[:3]
        seconds += _PRODUCT * math.sqrt(a) * math.sqrt(b) * math.sqrt(c)
    return seconds
