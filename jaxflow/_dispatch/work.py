"""Estimates of what a trace costs, from shapes alone: to interpret it once, and to compile it.

They need only the right order of magnitude: ``policy`` weighs the one against the other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from jax.extend.core import Jaxpr, Literal, Var

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


# Primitives that read a part of their first operand, and those that show all of it in another shape.
_LOOKING_UP = frozenset(("gather", "dynamic_slice", "slice"))
_RESHAPING = frozenset(("reshape", "squeeze", "expand_dims"))


def _looked_up(jaxpr: Jaxpr) -> list[bool]:
    """Which inputs are only looked things up in, as in a table of embeddings: nothing passes over them."""
    used: dict[Var, list] = {v: [] for v in jaxpr.invars}
    for eqn in jaxpr.eqns:
        used.update((v, []) for v in eqn.outvars)
        for place, x in enumerate(eqn.invars):
            if x.__class__ is not Literal and x in used:
                used[x].append((eqn, place))
    results = {x for x in jaxpr.outvars if x.__class__ is not Literal}

    def only_looked_up(v: Var) -> bool:
        if v in results:
            return False
        for eqn, place in used[v]:
            name, inner = eqn.primitive.name, eqn.params.get("jaxpr")
            if name in _LOOKING_UP:
                fine = place == 0
            elif name in _RESHAPING:
                fine = only_looked_up(eqn.outvars[0])
            else:
                fine = name == "jit" and inner is not None and _looked_up(inner.jaxpr)[place]
            if not fine:
                return False
        return True

    return list(map(only_looked_up, jaxpr.invars))


def _sizes(plan: Plan) -> list[int]:
    """The sizes of the arrays that running a plan passes over."""
    read = [kind for kind in plan.kinds if isinstance(kind, Aval)]
    results = [aval.numel for aval in plan.out_avals]
    sizes = [aval.numel for aval in read] + results
    if max(sizes, default=1) * _ELEMENT <= _OPERATION:  # whatever is passed over does not matter
        return sizes
    jaxpr = traced_jaxpr(plan).jaxpr
    if plan.name in _WINDOWS and _only_windows(jaxpr):
        return results  # NumPy shows a window without passing over the rest
    read = [kind for kind, only in zip(plan.kinds, _looked_up(jaxpr)) if isinstance(kind, Aval) and not only]
    return [aval.numel for aval in read] + results


def _of(plan: Plan) -> float:
    sizes = _sizes(plan)
    largest = max(sizes, default=1)
    seconds = _OPERATION + _ELEMENT * largest
    if not PRODUCTS.isdisjoint(plan.name.split("_")):
        # Of (m, k) by (k, n) the three sizes multiply to the square of m * k * n.
        a, b, c = sorted((*sizes, 1, 1), reverse=True)[:3]
        seconds += _PRODUCT * math.sqrt(a) * math.sqrt(b) * math.sqrt(c)
    return seconds
