"""Backwards of plans: ``jax.vjp`` of their functions, traced once, without dead code.

NOTE [What backward keeps]
    The backward of a Plan is ``jax.vjp`` of its function, traced once. Dead code is then removed, and
    only the inputs the rest still reads are kept by the graph: ``add`` keeps nothing, ``mul`` the other
    factor, ``relu`` its input. A cheap forward is computed again from the kept inputs; inside one
    Program XLA finds that it has it already, and so keeps its intermediate results until then. Where
    those are as large as the input and cheap (``gelu``, ``layer_norm``), the op ``recomputes``: its
    backward gets the kept inputs through a selection that seems to depend on the last cotangent, so that
    nothing of the body runs again before that is there, nor is taken over from the first time.
    It may name the operands that this is for: a convolution's weight is turned round for backward, which
    depends on nothing but the weight, so that XLA would do it for all layers when the program begins.
    Of loops XLA does not find out that it has them. So where the forward is one, the op has
    ``residual_outputs``, results for its backward: the node holds all inputs, then these results, and the
    backward is traced with the results in the place of what computes them.

PyTorch's gradient of a real loss is the conjugate of jax's cotangent. So cotangents are conjugated on
the way into ``jax.vjp`` and results on the way out; nothing else in the project depends on it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxflow._core.aval import Aval, aval_of
from jaxflow._core.jax_compat import ClosedJaxpr, Var, jaxpr_as_fun, partial_eval
from jaxflow._ops._xla import held_back
from jaxflow._plans.plan import NoneKind, Plan, Vjp, build_lock, struct_of
from jaxflow._plans.planning import build

from .dependence import among, read_by_steps, reads_of, reads_of_empty
from .evaluate import evaluate

#: The extent that stands for 0 where the backward of an empty operation is found from one that is not.
_SOME = 2


def vjp_of(plan: Plan, needs: tuple[bool, ...], defined: tuple[bool, ...] | None = None) -> Vjp:
    """The backward of a plan for the inputs marked in ``needs``, given cotangents of the marked outputs.

    It is built once, and kept by the plan.
    """
    key = (needs, defined)
    found = plan.vjps.get(key)
    if found is None:
        with build_lock:
            found = plan.vjps.get(key)
            if found is None and plan.untraced is not None:
                found = plan.untraced(plan, needs, defined or plan.diff_outputs)
            elif found is None and plan.member is not None:
                template, numbers = plan.member
                found = template.vjp(plan, numbers, needs, defined)
            if found is None:
                found = build_vjp(plan, needs, defined or plan.diff_outputs)
            if plan.version_checked is not None:
                found.held = plan.declared(needs)
            plan.vjps[key] = found
    return found


def held_by(plan: Plan, needs: tuple[bool, ...]) -> tuple[int, ...]:
    """Which inputs PyTorch's node holds where the gradients marked in ``needs`` are wanted."""
    if plan.residual_outputs:  # its backward is traced late: NOTE [What backward keeps]
        return plan.declared(needs)
    return (plan.vjps.get((needs, None)) or vjp_of(plan, needs)).held


def build_vjp(plan: Plan, needs: tuple[bool, ...], defined: tuple[bool, ...]) -> Vjp:
    """Trace ``jax.vjp`` of the plan, drop dead code, and keep only the inputs still read."""
    wanted = tuple(i for i, need in enumerate(needs) if need)
    with_ct = tuple(i for i, d in enumerate(defined) if d)
    return finish_vjp(plan, *_backward(plan, wanted, with_ct), wanted, with_ct)


def _backward(plan: Plan, wanted: tuple, with_ct: tuple) -> tuple[Callable, Sequence]:
    """The function from what a node may keep and the cotangents to the gradients; kinds of the former."""
    if plan.residual_outputs:
        return backward_from_results(plan, wanted, with_ct, plan.residual_outputs)
    n = len(plan.kinds)

    def backward(*inputs):
        return forward_and_backward(plan, wanted, with_ct, inputs[:n], inputs[n:])[1]

    return backward, plan.kinds


def backward_jaxpr(plan: Plan, wanted: tuple, with_ct: tuple, kept: tuple) -> ClosedJaxpr | None:
    """The backward as a jaxpr of the ``kept`` inputs and the cotangents; None if it reads others."""
    closed, found = _live(plan, *_backward(plan, wanted, with_ct), wanted, with_ct, kept)
    return closed if found == kept else None


def _live(plan: Plan, backward: Callable, kinds: Sequence, wanted: tuple, with_ct: tuple,
          anyway: tuple = ()) -> tuple[ClosedJaxpr, tuple[int, ...]]:
    """The jaxpr of a backward without its dead code, and the inputs it keeps, ``anyway`` among them."""
    n = len(kinds)
    ct_kinds = [plan.out_avals[i] for i in with_ct]
    closed = jax.make_jaxpr(backward)(*map(struct_of, (*kinds, *ct_kinds)))
    jaxpr, used = partial_eval.dce_jaxpr(closed.jaxpr, [True] * len(wanted))
    anyway = {*anyway, *_kept_anyway(plan, wanted, with_ct)}
    kept = tuple(i for i in range(n) if used[i] or i in anyway)
    # The cotangents always come along, used or not: one calling convention for every backward.
    invars = closed.jaxpr.invars
    return closed.replace(jaxpr=jaxpr.replace(invars=[*(invars[i] for i in kept), *invars[n:]])), kept


def backward_from_results(plan: Plan, wanted: tuple, with_ct: tuple,
                          results: tuple[int, ...]) -> tuple[Callable, Sequence]:
    """The same for a backward that takes ``results`` after the inputs, and reads them wherever it can."""
    n, m = len(plan.kinds), len(results)

    def both(*inputs):
        outs, grads = forward_and_backward(plan, wanted, with_ct, inputs[:n], inputs[n:])
        return (*(outs[k] for k in results), *grads)

    closed = jax.make_jaxpr(both)(*map(struct_of, plan.kinds), *(plan.out_avals[i].struct for i in with_ct))

    def backward(*inputs):
        pairs = zip(closed.jaxpr.outvars[:m], inputs[n:n + m])
        given = {v: x for v, x in pairs if isinstance(v, Var)}
        return evaluate(closed, (*inputs[:n], *inputs[n + m:]), given=given)[m:]

    return backward, (*plan.kinds, *(plan.out_avals[k] for k in results))


def forward_and_backward(plan: Plan, wanted: tuple, with_ct: tuple, inputs, cotangents) -> tuple:
    """All results of a plan, and the gradients of the ``wanted`` inputs for cotangents of some results."""
    def forward(*varied):
        primals = list(inputs)  # a list that outlived the call would be a leak of jax's tracers
        for i, x in zip(wanted, varied, strict=True):
            primals[i] = x
        outs = plan.fn(*primals)
        return tuple(outs[i] for i in with_ct), tuple(outs)

    _, pullback, outs = jax.vjp(forward, *(inputs[i] for i in wanted), has_aux=True)
    return outs, tuple(map(_conj, pullback(tuple(map(_conj, cotangents)))))


def finish_vjp(plan: Plan, backward: Callable, kinds: Sequence, wanted: tuple, with_ct: tuple) -> Vjp:
    """The Vjp of a function of inputs of these ``kinds`` and cotangents, dead code removed."""
    closed, kept = _live(plan, backward, kinds, wanted, with_ct)
    reads = _reads(plan, len(kinds), wanted, with_ct, kept, closed.jaxpr)
    depends, silent = among(reads, len(kinds), kept, len(with_ct))
    name = plan.name + "_vjp"
    out_avals = [plan.kinds[i] for i in wanted]
    fn = function_of(closed, late_inputs(plan, kept))
    vjp_plan = Plan(name, fn, [*(kinds[i] for i in kept), *(plan.out_avals[i] for i in with_ct)], out_avals,
                    device=plan.device, grad_name=backward_name(plan.grad_name), single=False,
                    differentiable=list(map(bool, depends)) if plan.twice is None else plan.twice,
                    jaxpr=closed)
    vjp_plan.depends = tuple(depends)
    numbers = {i for i, kind in enumerate(plan.kinds) if not isinstance(kind, Aval)}
    found = Vjp(vjp_plan, kept, wanted, with_ct, tuple(sorted({*kept, *numbers})), tuple(reads), silent)
    if plan.stepwise:
        found.held = read_by_steps(closed.jaxpr, kept)
    return found.of(plan)


def late_inputs(plan: Plan, kept: tuple[int, ...]) -> tuple[int, ...]:
    """Which inputs of a backward, that keeps these of its forward's, nothing is computed from early."""
    late = plan.recomputes
    if late is True:
        return tuple(range(len(kept)))
    return tuple(kept.index(i) for i in late or () if i in kept)


def function_of(closed: ClosedJaxpr, late: tuple[int, ...] = ()) -> Callable:
    """The function of a jaxpr, which takes numbers for 0-d inputs.

    Nothing is computed from the inputs of these numbers before the last one is there: NOTE [What backward
    keeps].
    """
    run = jaxpr_as_fun(closed)
    in_dtypes = tuple(a.dtype for a in closed.in_avals)

    def fn(*inputs):
        if late:
            inputs = held_back(inputs, late)
        return tuple(run(*(
            jnp.asarray(x, d) if isinstance(x, (bool, int, float, complex)) else x
            for x, d in zip(inputs, in_dtypes, strict=True)
        )))

    return fn


def _kept_anyway(plan: Plan, wanted: tuple, with_ct: tuple) -> tuple[int, ...]:
    """What the backward of an empty operation does not read, but PyTorch's node holds: as of any other.

    Where there is no other, these are the indices and masks.
    """
    if plan.saves == "none" or all(k.numel for k in plan.kinds if isinstance(k, Aval)):
        return ()
    other = vjp_of_some_elements(plan, wanted, with_ct)
    if other is not None:
        return tuple(i for i in other.vjp_inputs if i < len(plan.kinds))
    return tuple(i for i, k in enumerate(plan.kinds) if isinstance(k, Aval) and k.dtype.category < 2)


def _conj(x):
    return jnp.conj(x) if jnp.issubdtype(x.dtype, np.complexfloating) else x


def backward_name(grad_name: str) -> str:
    """PyTorch's name of the node of a node's backward."""
    return grad_name[:-1] + "Backward0" if grad_name.endswith("0") else grad_name + "Backward0"


# ----------------------------------------------------------------------- operations on empty tensors


def _reads(plan: Plan, held: int, wanted: tuple, with_ct: tuple, kept: tuple, jaxpr: Any) -> list[int]:
    """`reads_of`, by way of the same operation on more elements where an operand has none."""
    if held == len(plan.kinds) + len(plan.residual_outputs) and not plan.twice and _is_empty(plan):
        other = vjp_of_some_elements(plan, wanted, with_ct)
        if other is not None:
            return reads_of_empty(plan, wanted, other.reads)
    return reads_of(plan, held, wanted, with_ct, kept, jaxpr)


def vjp_of_some_elements(plan: Plan, wanted: tuple, with_ct: tuple) -> Vjp | None:
    """The backward of the same operation where no extent of an operand is 0, if there is such a thing."""
    other = _of_some_elements(plan)
    if other is None:
        return None
    needs = tuple(i in wanted for i in range(len(plan.kinds)))
    defined = tuple(i in with_ct for i in range(len(plan.out_avals)))
    return vjp_of(other, needs, None if defined == other.diff_outputs else defined)


def _of_some_elements(plan: Plan) -> Plan | None:
    """The same operation where no extent of an operand is 0; None where there is no such thing."""
    if plan.origin is None:
        return None
    op, static, layout, present = plan.origin
    kinds: list = [NoneKind] * (sum(count for _, _, count in layout) + 2 * op.random)
    for at, kind in zip(present, plan.kinds, strict=True):
        kinds[at] = _filled(kind) if isinstance(kind, Aval) else kind
    try:
        return build(op, tuple(kinds), static)
    except Exception:  # sizes that only go together where they are 0: the operation is used as it is
        return None


def _is_empty(plan: Plan) -> bool:
    """Whether an operand has no elements."""
    return any(n.__class__ is int and n == 0 for k in plan.kinds if isinstance(k, Aval) for n in k.shape)


def _filled(aval: Aval) -> Aval:
    return aval_of(tuple(n or _SOME for n in aval.shape), aval.dtype, aval.device)
