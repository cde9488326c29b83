"""Estimates of what a trace costs, from shapes alone: to interpret it once, and to compile it.

They need only the right order of magnitude: ``tiering`` weighs the one against the other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxflow._core.aval import Aval
from jaxflow._core.jax_compat import Jaxpr, JaxprEqn, Literal, Var, jaxprs_in_params
from jaxflow._plans.plan import Plan, traced_jaxpr
from jaxflow._shapes.symbolic_dims import hint_of

# Seconds: of interpreting one operation whatever its size; of one element of what passes over its arrays in
# ways that are not known; of one multiplication with its addition.
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
            if plan.interpret_cost is None:
                plan.interpret_cost = _of(plan)
            seconds += plan.interpret_cost
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


# Seconds of one element in a pass over numbers of four or eight bytes, and the primitives that pass so.
_STEPS = {
    0.0: "broadcast_in_dim expand_dims imag real reshape rev slice squeeze stop_gradient transpose",
    5e-10: """add add_any and argmax argmin ceil concatenate convert_element_type copy dot_general
        dynamic_slice dynamic_update_slice floor gather ge gt integer_pow iota is_finite le lt max min mul ne
        neg not abs eq or pad reduce_and reduce_max reduce_min reduce_or reduce_sum sqrt square sub xor""",
    2e-9: "clamp cos exp expm1 log log1p logistic round rsqrt sign sin tanh",
    4e-9: "cumlogsumexp cummax cummin cumprod cumsum select_n",
}
_STEP = {name: seconds for seconds, names in _STEPS.items() for name in names.split()}
_CALLS = frozenset(("checkpoint", "custom_jvp_call", "custom_vjp_call", "jit"))


def _step(eqn: JaxprEqn) -> float:
    """What one element costs in an operation of a jaxpr."""
    seconds = _STEP.get(eqn.primitive.name, _ELEMENT)
    dtype = eqn.outvars[0].aval.dtype if eqn.outvars else None
    if not isinstance(dtype, np.dtype) or dtype.kind not in "biufc" or dtype == np.float16:
        return seconds and _ELEMENT  # NumPy converts each element
    if eqn.primitive.name == "div" and dtype.kind in "fc":
        return _STEP["mul"]
    return seconds


def _inside(jaxpr: Jaxpr) -> float:
    """What all operations of a jaxpr cost for what they pass over."""
    seconds = 0.0
    for eqn in jaxpr.eqns:
        if eqn.primitive.name in _CALLS:
            seconds += sum(map(_inside, jaxprs_in_params(eqn.params)))
        elif eqn.primitive.name.startswith("scatter"):
            operand, _, updates = map(_numel, eqn.invars)
            seconds += _STEP["copy"] * operand + _ELEMENT * updates
        else:
            passed = eqn.outvars if eqn.primitive.name in _LOOKING_UP else (*eqn.invars, *eqn.outvars)
            seconds += _step(eqn) * max(map(_numel, passed), default=0)
    return seconds


def _passes(plan: Plan) -> tuple[list[bool], float]:
    """Which inputs are only looked things up in, and what an element of the largest other array costs."""
    template = plan.member and plan.member[0]  # may be traced for another member
    found = template and template.passes
    if found is None:
        jaxpr = traced_jaxpr(plan).jaxpr
        looked_up = _looked_up(jaxpr)
        read = [v for v, only in zip(jaxpr.invars, looked_up) if not only]
        found = looked_up, _inside(jaxpr) / max(1, *map(_numel, (*read, *jaxpr.outvars)))
        if template:
            template.passes = found
    return found


#: The most dimensions of NumPy's arrays, and the seconds of what therefore is left to XLA.
_DIMS, _NEVER = 64, 1e9


def _of(plan: Plan) -> float:
    avals = *plan.kinds, *plan.out_avals
    if any([isinstance(kind, Aval) and len(kind.shape) > _DIMS for kind in avals]):
        return _NEVER
    results = [aval.numel for aval in plan.out_avals]
    sizes = [*(kind.numel for kind in plan.kinds if isinstance(kind, Aval)), *results]
    seconds = _OPERATION + _ELEMENT * max(sizes, default=1)
    if seconds > 2 * _OPERATION:  # else whatever is passed over does not matter
        looked_up, each = _passes(plan)
        read = [k for k, only in zip(plan.kinds, looked_up) if isinstance(k, Aval) and not only]
        sizes = [*(aval.numel for aval in read), *results]
        # A result that only shows an operand is copied.
        seconds = _OPERATION + max(each * max(sizes, default=0), _STEP["copy"] * max(results, default=0))
    if not PRODUCTS.isdisjoint(plan.name.split("_")):
        # Of (m, k) by (k, n) the three sizes multiply to the square of m * k * n.
        a, b, c = sorted((*sizes, 1, 1), reverse=True)[:3]
        seconds += _PRODUCT * math.sqrt(a) * math.sqrt(b) * math.sqrt(c)
    return seconds


def _numel(v: Any) -> int:
    return math.prod(map(hint_of, v.aval.shape))
