"""Forward derivatives of plans: ``jax.jvp`` of their functions, traced once, without dead code."""

from __future__ import annotations

from typing import Any

import jax

from jaxflow._core.jax_compat import partial_eval, subjaxprs
from jaxflow._plans.plan import Plan, struct_of

from .vjp import function_of


class Jvp:
    """The tangents of a Plan's outputs: which inputs they need, and the Plan that computes them.

    ``plan`` takes the inputs listed in ``inputs``, then one tangent for each input marked present; it
    returns a tangent for each output listed in ``outputs``.
    """

    __slots__ = ("inputs", "outputs", "plan")

    def __init__(self, plan: Plan, inputs: tuple, outputs: tuple) -> None:
        self.plan, self.inputs, self.outputs = plan, inputs, outputs


def jvp_of(plan: Plan, present: tuple[bool, ...]) -> Jvp:
    """The `Jvp` of a plan for tangents of the inputs marked in ``present``."""
    key = ("jvp", present)
    found = plan.vjps.get(key)
    return plan.vjps.setdefault(key, _build_jvp(plan, present)) if found is None else found


def _backward_alone(jaxpr: Any) -> bool:
    """Whether some function in it has a ``jax.custom_vjp``, pushed forward."""
    return any(eqn.primitive.name == "custom_lin" for eqn in jaxpr.eqns) or any(
        map(_backward_alone, subjaxprs(jaxpr))
    )


def _build_jvp(plan: Plan, present: tuple[bool, ...]) -> Jvp:
    n = len(plan.kinds)
    varied = tuple(i for i, p in enumerate(present) if p)
    outputs = tuple(i for i, d in enumerate(plan.diff_outputs) if d)

    def push(*inputs):
        primals, tangents = list(inputs[:n]), inputs[n:]

        def forward(*xs):
            for i, x in zip(varied, xs, strict=True):
                primals[i] = x
            outs = plan.fn(*primals)
            return tuple(outs[i] for i in outputs)

        return jax.jvp(forward, tuple(primals[i] for i in varied), tangents)[1]

    tangent_kinds = [plan.kinds[i] for i in varied]
    closed = jax.make_jaxpr(push)(*map(struct_of, (*plan.kinds, *tangent_kinds)))
    jaxpr, used = partial_eval.dce_jaxpr(
        closed.jaxpr, [True] * len(outputs), [False] * n + [True] * len(varied)
    )
    if _backward_alone(jaxpr):  # jax itself complains when it is run, which may be much later
        raise TypeError(
            f"can't apply forward-mode autodiff (jvp) to a custom_vjp function: {plan.name} has a rule for "
            "backward alone; give it a jax.custom_jvp instead, from which jax derives both"
        )
    kept = tuple(i for i in range(n) if used[i])
    closed = closed.replace(jaxpr=jaxpr)
    fn = function_of(closed)
    pushed = Plan(plan.name + "_jvp", fn, [plan.kinds[i] for i in kept] + tangent_kinds,
                  [plan.out_avals[i] for i in outputs], device=plan.device, grad_name=plan.grad_name,
                  single=False, jaxpr=closed)
    return Jvp(pushed, kept, outputs)
