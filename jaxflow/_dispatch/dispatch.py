"""Dispatch: every operation passes ``apply`` (or its in-place and view forms) once.

It finds the plan for the operands' avals, runs it in the current executor, wraps the results, and, with
grad on, records a Node. Nothing else touches arrays, grad recording or versions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from jaxflow._core import promotion
from jaxflow._core.autocast import CASTING
from jaxflow._core.fields import init_history
from jaxflow._core.foreign import Foreign, may_override
from jaxflow._core.generator import give_back
from jaxflow._core.geometry import contiguous_strides, empty_like_strides
from jaxflow._core.graph import RESULT, HeldResult, Node, own_edge
from jaxflow._core.levels import FORWARD, LEVELS
from jaxflow._core.memory_errors import check_sizes
from jaxflow._core.shared import SHARED
from jaxflow._core.state import state
from jaxflow._core.tensor import Tensor, make, make_result, version_cell
from jaxflow._core.torchs import is_torchs, refusal
from jaxflow._core.value import Untracked, Value
from jaxflow._exec.run import run
from jaxflow._plans.op import SCALAR, Always, Op, Operand
from jaxflow._plans.plan import NoneKind, Plan, operand
from jaxflow._plans.unsigned import signed
from jaxflow._shapes.plan_cache import kept, missing
from jaxflow._transforms.batching import plain as all_examples
from jaxflow._transforms.vjp import held_by, vjp_of
from jaxflow._views.chain import root_of
from jaxflow._views.history import edge_of, guard_of
from jaxflow._views.values import value_of, view_value

from .autocasting import cast_operands
from .result_layout import result_strides, unless_contiguous
from .saved_tensors import Packed, pack_node, pack_result
from .shared_operands import kept_of

_NUMBERS = (bool, int, float, complex)
_KNOWN = frozenset((*_NUMBERS, NoneKind))


def apply(op: Op, args: tuple, static: tuple = (), into=None, plain: bool = False) -> Any:
    """Apply an op to its dynamic arguments (tensors, numbers, None) and static arguments.

    ``into`` is the aval an in-place result must have; ``plain`` leaves tangents aside (NOTE [Duals]).
    Returns a Tensor, a tuple of Tensors, or the op's named tuple.
    """
    if CASTING and into is None:
        args = cast_operands(op, args, static, apply)
    if LEVELS and not plain:
        return FORWARD.apply(op, args, static, into)
    kinds: list = [static, into]
    values: list = []
    grad = permuted = False
    for a in args:
        if isinstance(a, Tensor):
            kinds.append(a._aval)
            if a._view is None:
                values.append(a._storage.value)
            else:
                values.append(view_value(a))
            if a._requires_grad:
                grad = True
            if a._stride is not None:
                permuted = True
        else:
            kinds.append(a.__class__)
            if a is not None:
                values.append(a)
    key = tuple(kinds)
    plan = op.plans.get(key)
    if plan is None:
        clean = _only_numbers(op, args)
        if clean is not None:
            return apply(op, clean, static, into, plain)
        try:
            plan = missing(op, key)
        except BaseException:
            values.clear()  # who keeps the error keeps this frame, and so what views were read for nothing
            if op.random:
                give_back()
            raise
    try:
        outs = run(plan, values)
    except OverflowError:
        return apply(op, signed(op, args, static), static, into, plain)
    if grad and state.grad and plan.differentiable:
        node = _record(plan, args, values, outs)
    else:
        node = None
    if plan.single:
        t = make(outs[0]) if node is None else make_result(outs[0], node, 0)
        if plan.preserve and (permuted or not t._aval.numel):
            t._stride = strides_of_results(plan, op, args)[0]
        if node is not None:
            if node._guards.__class__ is _WithResult:
                _guard_result(node, t, 0)
        elif state.inference:
            t._storage.version = Untracked((0,))
        return t
    tensors = []
    for i, value in enumerate(outs):
        t = make(value)
        if node is not None and plan.diff_outputs[i]:
            init_history(t, node, i)
            if node._guards.__class__ is _WithResult:
                _guard_result(node, t, i)
        elif state.inference:
            t._storage.version = Untracked((0,))
        tensors.append(t)
    if node is not None and plan.held_results:
        _guard_results(node, tensors)
    if plan.preserve and (permuted or plan.preserve.__class__ is Always):
        for t, stride in zip(tensors, strides_of_results(plan, op, args)):
            t._stride = stride
    return plan.returns(tensors) if plan.returns else tuple(tensors)


def plan_for(op: Op, args: tuple, static: tuple = (), into=None) -> Plan:
    """The plan `apply` used for these arguments."""
    args = _only_numbers(op, args) or args
    kinds = [a._aval if isinstance(a, Tensor) else a.__class__ for a in args]
    return kept(op, (static, into, *kinds))


def apply_plan(plan: Plan, args: list, plain: bool = False) -> tuple[Tensor, ...]:
    """Apply a plan that is known already (the engine's way in) to present dynamic arguments."""
    if LEVELS and not plain:
        return FORWARD.apply_plan(plan, args)
    values = []
    grad = False
    for a in args:
        if isinstance(a, Tensor):
            values.append(a._storage.value if a._view is None else view_value(a))
            if a._requires_grad:
                grad = True
        else:
            values.append(a)  # a number, or a Value without history
    outs = run(plan, values)
    tensors = tuple(map(make, outs))
    if grad and state.grad and plan.differentiable:
        reached = _reached(plan, args)
        node = _record(plan, args, values, outs) if True in reached else None
        for i, t in enumerate(tensors):
            if reached[i] and node is not None:
                init_history(t, node, i)
                if node._guards.__class__ is _WithResult:
                    _guard_result(node, t, i)
    return tensors


def _reached(plan: Plan, args: list) -> Sequence[bool]:
    """Which results of a backward require grad: NOTE [Constant gradients]."""
    if plan.depends is None:
        return plan.diff_outputs
    varying = 0
    for i, a in enumerate(args):
        if isinstance(a, Tensor) and a._requires_grad:
            varying |= 1 << i
    return [d and bits & varying != 0 for d, bits in zip(plan.diff_outputs, plan.depends, strict=True)]


def run_plan(plan: Plan, args: list) -> list[Value]:
    """The Values of which `apply_plan` would make tensors; no history, and tangents are left aside."""
    return run(plan, [value_of(a) if isinstance(a, Tensor) else a for a in args])


def values_of(op: Op, args: Sequence, static: tuple = (), into=None) -> list[Value]:
    """The Values of which `apply` would make tensors; no history is recorded and tangents are left aside."""
    kinds: list = [static, into]
    values: list = []
    for a in args:
        if isinstance(a, Tensor):
            kinds.append(a._aval)
            values.append(a._storage.value if a._view is None else view_value(a))
        else:
            kinds.append(a.__class__)
            if a is not None:
                values.append(a)
    plan = op.plans.get(tuple(kinds))
    if plan is None:  # the first such call, or not what it takes
        values.clear()
        found = apply(op, tuple(args), static, into)
        return [value_of(t) for t in (found if isinstance(found, tuple) else (found,))]
    try:
        return run(plan, values)
    except OverflowError:
        return values_of(op, signed(op, args, static), static, into)


class _WithResult(list):
    """Guards of a node that PyTorch lets keep its result as well (or alone)."""

    packed = None  # what saved-tensor hooks hold of it already


SAVED_INFERENCE = (
    "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference "
    "mode in computation tracked by autograd. To work around this, you can make a clone to get a "
    "normal tensor and use it in autograd, or use `torch.no_grad()` instead of "
    "`torch.inference_mode()`."
)


def _guard_result(node: Node, t: Tensor, number: int) -> None:
    """Check versions on a result that the node saves, which exists only now."""
    guards = node._guards
    if guards.packed is not None:
        pack_result(node, t, number)
        return
    node._guards = [*guards, (t._storage.version, 0, t._aval, RESULT, None)]


def _guard_results(node: Node, tensors: list) -> None:
    """Guard (or pack) those of several results that PyTorch's node holds, indices among them."""
    guards, plan = node._guards or [], node._plan
    if guards.__class__ is Packed:
        for k in plan.held_results:
            if guards.find(False, k) is None:
                pack_result(node, tensors[k], k)
        return
    done = plan.diff_outputs.index(True) if any(g[3] is RESULT for g in guards) else -1  # by `_guard_result`
    for k in plan.held_results:
        if k != done:
            number = k if plan.diff_outputs[k] else None
            guards = [*guards, (tensors[k]._storage.version, 0, tensors[k]._aval, HeldResult(number), None)]
    node._guards = guards


def _record(plan: Plan, args, values: list, outs: list) -> Node | None:
    """The Node of a plan just run. ``values`` are the present inputs, aligned with ``plan.kinds``."""
    edges = []
    needs = []
    axes = state.axes
    for a in args:
        if a is None:
            continue
        if isinstance(a, Tensor) and a._requires_grad and a._aval.dtype.category >= 2:
            edge = edge_of(a) if axes else own_edge(a)
            edges.append(edge)
            # Where a gradient goes nowhere, a node of several operands saves nothing for it.
            needs.append(edge is not None or len(plan.edge_inputs) < 2)
        else:
            edges.append(None)
            needs.append(False)
    needs = tuple(needs)
    if plan.residual_outputs:  # NOTE [What backward keeps]
        inputs: list = [*values, *(outs[k] for k in plan.residual_outputs)]
        node_inputs, held = (), held_by(plan, needs)
    else:
        vjp = plan.vjps.get((needs, None)) or vjp_of(plan, needs)
        inputs = [None] * len(edges)
        node_inputs, held = vjp.node_inputs, vjp.held
    saves = plan.saves
    guards: Any = None
    if saves == "input" or saves == "both":  # noqa: PLR1714 - quicker than building a tuple
        guards = [] if saves == "input" else _WithResult()
        present = args if len(args) == len(edges) else [a for a in args if a is not None]
        for i in node_inputs:
            inputs[i] = values[i]
        for i in held:
            a = present[i]
            if isinstance(a, Tensor):
                cell = a._storage.version if a._view is None else a._view.version
                if cell.__class__ is not list:
                    if only_inference(args):
                        return None
                    raise RuntimeError(SAVED_INFERENCE)
                where = None if a._view is None else guard_of(a)
                guards.append((cell, cell[0], a._aval, edges[i], where))
    else:
        for i in node_inputs:
            inputs[i] = values[i]
        if saves == "result":
            guards = _WithResult()
    if SHARED:
        inputs = kept_of(plan, inputs)
    node = plan.node(plan, inputs, edges, needs, guards)
    if state.saving is not None:
        pack_node(node, args, values)
    return node


def only_inference(args) -> bool:
    """Whether all operands are inference tensors: PyTorch's autograd layer is not entered for them."""
    return all(isinstance(a, Tensor) and isinstance(version_cell(a), Untracked) for a in args)


def strides_of(t: Tensor) -> tuple[int, ...]:
    """The strides of a tensor, in elements."""
    return contiguous_strides(t._aval.shape) if t._stride is None else t._stride


def plan_of(t: Tensor):
    """The view plan of a tensor on its storage."""
    return root_of(t._aval, t._stride) if t._view is None else t._view.plan


def strides_of_results(plan: Plan, op: Op, args) -> tuple:
    """Strides of each result of operands that are not all contiguous, None for one that is."""
    key = tuple([a._stride for a in args if isinstance(a, Tensor)])
    known = plan.laid
    found = None if known is None else known.get(key)
    if found is None:
        found = _strides_of_results(plan, op, args)
        if known is None or len(known) >= _MOST_LAYOUTS:
            plan.laid = {key: found}
        else:
            known[key] = found
    return found


# Memory orders of a plan's operands that are remembered.
_MOST_LAYOUTS = 16


def _strides_of_results(plan: Plan, op: Op, args) -> tuple:
    operands = args[: len(args) - sum(p.kind == SCALAR for p in op.params)]
    if not isinstance(op.layout, str):
        found = [Operand(a._aval.shape, strides_of(a), a._aval.dtype) if isinstance(a, Tensor) else None
                 for a in operands]
        static = op.named(plan.origin[1])
        return tuple([unless_contiguous(op.layout(found, aval.shape, **static), aval.shape)
                      for aval in plan.out_avals])
    layouts = [
        (a._aval.shape, strides_of(a)) if isinstance(a, Tensor) else ((), ())
        for a in operands if a is not None
    ]
    if op.layout == "preserve":
        layouts = _converted(plan, op, args, layouts)
    return tuple(result_strides(op.layout, layouts, aval.shape) for aval in plan.out_avals)


def _converted(plan: Plan, op: Op, args: Sequence, layouts: list) -> list:
    """The layouts of the operands after their conversion to one dtype, which makes copies without gaps."""
    _, static, places, _ = plan.origin
    promote = op.promote(**op.named(static)) if callable(op.promote) else op.promote
    if promote is None:
        return layouts
    given = [(args[i], p.promotes) for p, at, count in places if p.kind != SCALAR
             for i in range(at, at + count) if args[i] is not None]
    dtype = promotion.common(promote, [
        operand(a._aval if isinstance(a, Tensor) else a.__class__) for a, counts in given if counts])
    return [
        (layout[0], empty_like_strides(*layout))
        if counts and isinstance(a, Tensor) and a._aval.dtype is not dtype else layout
        for (a, counts), layout in zip(given, layouts, strict=True)
    ]


def _only_numbers(op: Op, args: tuple) -> tuple | None:
    """The arguments with numpy scalars as Python numbers, None if nothing changed; TypeError otherwise."""
    changed = False
    out = []
    for i, a in enumerate(args):
        if not isinstance(a, Tensor) and a.__class__ not in _KNOWN:
            if isinstance(a, np.generic):
                a = a.item()
                changed = True
            elif isinstance(a, _NUMBERS):
                a = next(kind for kind in _NUMBERS if isinstance(a, kind))(a)
                changed = True
            else:
                if is_torchs(a):
                    raise refusal(op.name)
                name = op.params[min(i, len(op.params) - 1)].name
                raise (Foreign if may_override(a) else TypeError)(
                    f"{op.name}(): argument '{name}' (position {i + 1}) must be Tensor, not "
                    f"{type(a).__name__}"
                )
        out.append(a)
    return tuple(out) if changed else None


def share(op: Op, t: Tensor) -> Tensor:
    """A new base tensor with the same Value, recorded as ``op`` (an identity): a copy that costs nothing."""
    value = value_of(t)
    if t._view is not None:
        check_sizes(op.name, (t._aval,))  # a view may be larger than what it shows
    new = make(value)
    if t._requires_grad and state.grad:
        key = ((), None, t._aval)
        plan = op.plans.get(key)
        if plan is None:
            plan = missing(op, key)
        init_history(new, plan.node(plan, [None], [edge_of(t)], (True,), None), 0)
    elif state.inference:
        new._storage.version = Untracked((0,))
    if LEVELS:
        FORWARD.carry(new, t, lambda tangent: share(op, tangent))
    return new


def known(t: Any, *, wait: bool = False) -> np.ndarray | None:
    """The elements of a host tensor if they are there already; None while pending, traced, or elsewhere.

    With ``wait`` what is pending is computed first, for the few ops PyTorch lets depend on data; inside
    ``vmap`` that is the array of all examples, in leading dimensions.
    """
    if not isinstance(t, Tensor):
        return None
    value = value_of(t)
    if wait:
        value = all_examples(value)
        value.get()
    if value.producer is not None or t._aval.device.type != "cpu" or isinstance(
        value.array, jax.core.Tracer
    ):
        return None
    return np.asarray(value.settled())
