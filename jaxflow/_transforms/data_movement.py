"""Operations that only move elements: their plans and backwards without a trace.

A trace says what comes out of a body and what its backward reads. Where elements are only moved the first
follows from the shapes and the second is nothing, so neither is traced before XLA is to compile it. That is
for operations on as many tensors as there happen to be (the steps of an episode, the rows of a matrix):
of every number of them there is another plan, for which no family stands.
"""

from __future__ import annotations

from jaxflow._core.aval import Aval, aval_of
from jaxflow._plans import planning
from jaxflow._plans.op import Op
from jaxflow._plans.plan import Plan, Vjp

from .vjp import backward_jaxpr, backward_name, function_of


def build(op: Op, kinds: tuple, static: tuple) -> Plan | None:
    """The plan of an op that says what it ``moves``; None where it does not say so of these."""
    first = kinds[0] if kinds else None
    for kind in kinds:
        if kind.__class__ is not Aval or kind.dtype is not first.dtype or kind.device is not first.device:
            return None
    if first is None:
        return None
    shape = op.moves([kind.shape for kind in kinds], *static)
    if shape is None:
        return None
    plan = planning.build(op, kinds, static, result=aval_of(shape, first.dtype, first.device))
    plan.untraced = backward
    return plan


def backward(plan: Plan, needs: tuple[bool, ...], defined: tuple[bool, ...]) -> Vjp:
    """The backward of a plan that moves elements; it keeps nothing."""
    wanted = tuple(i for i, need in enumerate(needs) if need)
    with_ct = tuple(i for i, d in enumerate(defined) if d)
    found = Plan(
        plan.name + "_vjp", None, [plan.out_avals[i] for i in with_ct], [plan.kinds[i] for i in wanted],
        device=plan.device, grad_name=backward_name(plan.grad_name), single=False,
        differentiable=True if plan.twice is None else plan.twice,
    )

    def function():
        return function_of(backward_jaxpr(plan, wanted, with_ct, ()))

    found.make_fn = function
    return Vjp(found, (), wanted, with_ct, ()).of(plan)
