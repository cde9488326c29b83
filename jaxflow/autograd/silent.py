"""Gradients that require grad for an operand which gives them nothing but its sizes.

See NOTE [Constant gradients]: PyTorch's formulas take such operands, ours do not read them.
"""

from __future__ import annotations

from collections.abc import Sequence

from jaxflow._core.fields import init_history
from jaxflow._core.graph import own_edge
from jaxflow._core.tensor import Tensor
from jaxflow._plans.plan import Plan, Vjp


def read_silently(plan: Plan, vjp: Vjp, node_edges: Sequence, found: Sequence[Tensor]) -> None:
    """Let the fresh gradients ``found`` of a plan require grad for its silent operands too.

    Those get gradients of zeros. Their values are not read, since they may be gone.
    """
    for number, (t, silent) in enumerate(zip(found, vjp.silent, strict=True)):
        edges = [node_edges[i] for i in silent]
        if any(edges) and vjp.plan.out_avals[number].dtype.category >= 2:
            edges.insert(0, own_edge(t) if t._requires_grad else None)
            one = _silent_plan(plan, vjp, number)
            needs = tuple(edge is not None for edge in edges)
            init_history(t, one.node(one, [None] * len(edges), edges, needs, None), 0)


def _silent_plan(plan: Plan, vjp: Vjp, number: int) -> Plan:
    """The first of a gradient and its silent operands."""
    key = ("silent", number)
    found = vjp.plan.vjps.get(key)
    if found is None:
        kinds = [*plan.kinds, *(plan.out_avals[k] for k in plan.residual_outputs)]
        aval, name = vjp.plan.out_avals[number], vjp.plan.grad_name
        found = Plan(name, lambda x, *_: (x,), [aval, *(kinds[i] for i in vjp.silent[number])], [aval],
                     device=aval.device, grad_name=name, saves="none")
        found = vjp.plan.vjps.setdefault(key, found)
    return found
