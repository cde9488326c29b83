"""What each gradient of a backward depends on, so that ``create_graph`` gives a history to no constant.

NOTE [Constant gradients]
    All gradients of a node come from one plan, but each from operands of its own: of ``x @ w`` the gradient
    of ``x`` reads ``w`` and the cotangent, and of ``a + x @ w`` that of ``a`` the cotangent alone. As in
    PyTorch, where each is a formula of its own, a gradient requires grad where something it is made of
    does. The jaxpr of the backward shows this; what only decides between elements (a mask, an index) has no
    derivative, and so nothing that is computed from integers or bools counts.

    Two things it does not show. Where PyTorch computes all gradients by one operation (`_JOINT`), each
    requires grad where any operand of that does, though it may give its sizes alone (``avg_pool2d``):
    operands that its node holds and our backward does not read are silent, and get a gradient of zeros. And
    of operations on empty tensors jax leaves parts out, so for those the same operation on more elements is
    examined.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp

from jaxflow._core.aval import Aval
from jaxflow._core.jax_compat import Var
from jaxflow._plans.plan import Plan

#: Nodes whose gradients PyTorch computes by one operation, which has a derivative of its own; or by a factor
#: that has one, where ours only decides between elements.
_JOINT = frozenset("""
    AbsBackward0 AdaptiveAvgPool2DBackward0 AdaptiveAvgPool3DBackward0 AdaptiveMaxPool2DBackward0
    AdaptiveMaxPool3DBackward0 AvgPool2DBackward0 AvgPool3DBackward0 BatchNormWithUpdateBackward0
    ConvolutionBackward0 EluBackward0 FractionalMaxPool2DBackward0 FractionalMaxPool3DBackward0
    GridSampler2DBackward0 GridSampler3DBackward0 HardshrinkBackward0 HardtanhBackward0 LeakyReluBackward0
    LeakyReluBackward1 LinalgVectorNormBackward0 MaxPool2DWithIndicesBackward0 MaxPool3DWithIndicesBackward0
    NativeBatchNormBackward0 NativeBatchNormLegitBackward0 NativeBatchNormLegitBackward1
    NativeLayerNormBackward0 NllLoss2DBackward0 NllLossBackward0 PreluKernelBackward0
    ReflectionPad1DBackward0 ReflectionPad2DBackward0 ReflectionPad3DBackward0 ReluBackward0
    ReplicationPad1DBackward0 ReplicationPad2DBackward0 ReplicationPad3DBackward0 RreluWithNoiseBackward0
    SmoothL1LossBackward0 SoftshrinkBackward0 ThresholdBackward0
""".split())
#: Nodes that leave vectors without elements out: their gradients are zeros that depend on nothing.
_LEAVES_VECTORS_OUT = frozenset(("CatBackward0",))


def dependence(jaxpr: Any, of: Sequence[int] | None = None) -> list[int]:
    """For each result of a jaxpr the set of inputs that it has a derivative by, as bits of a number.

    ``of`` are the sets of the inputs themselves, where they are results of something else.
    """
    sets: dict = {}
    for i, v in enumerate(jaxpr.invars):
        sets[v] = 1 << i if of is None else of[i]

    def read(v: Any) -> int:
        return sets.get(v, 0) if isinstance(v, Var) else 0

    for eqn in jaxpr.eqns:
        given = [read(v) for v in eqn.invars]
        if not any(given):
            continue
        inner = _called(eqn)
        if inner is not None and len(inner.invars) == len(given):
            found = dependence(inner, given)
        else:  # a loop or a branch, of which any result may depend on anything
            union = 0
            for bits in given:
                union |= bits
            found = [union] * len(eqn.outvars)
        for v, bits in zip(eqn.outvars, found, strict=True):
            if bits and jnp.issubdtype(v.aval.dtype, jnp.inexact):
                sets[v] = bits
    return [read(v) for v in jaxpr.outvars]


#: Operations whose result is, in PyTorch, a view of their first operand.
_VIEWS = frozenset("""
    broadcast_in_dim conj expand_dims imag real reshape slice squeeze transpose
""".split())


def read_by_steps(jaxpr: Any, kept: Sequence[int]) -> tuple[int, ...]:
    """The ``kept`` inputs that equations read which have to do with a cotangent, themselves or as views.

    Of an operation that PyTorch composes of others, each of these holds what its own derivative reads: where
    that is a product of operands, it holds the product, and nobody minds if they are overwritten.
    """
    count, found = len(kept), set()
    given = [(frozenset((number,)), False) for number in kept]
    _follow(jaxpr, [*given, *[(frozenset(), True)] * (len(jaxpr.invars) - count)], found)
    return tuple(sorted(found))


def _follow(jaxpr: Any, given: Sequence[tuple], found: set[int]) -> list[tuple]:
    """Add to ``found``; what the results are: (inputs that they show, whether a cotangent is in them)."""
    nothing: tuple = (frozenset(), False)
    known = dict(zip(jaxpr.invars, given, strict=True))

    def read(v: Any) -> tuple:
        return known.get(v, nothing) if isinstance(v, Var) else nothing

    for eqn in jaxpr.eqns:
        operands = [read(v) for v in eqn.invars]
        inner = _called(eqn)
        if inner is not None and len(inner.invars) == len(operands):
            results = _follow(inner, operands, found)
        elif any(varies for _, varies in operands):
            found.update(*(shown for shown, _ in operands))
            results = [(frozenset(), True)] * len(eqn.outvars)
        else:
            results = [operands[0] if eqn.primitive.name in _VIEWS else nothing] * len(eqn.outvars)
        known.update(zip(eqn.outvars, results, strict=True))
    return [read(v) for v in jaxpr.outvars]


def _called(eqn: Any) -> Any:
    """The jaxpr of an equation that only calls a function."""
    if eqn.primitive.name in ("scan", "while", "cond"):
        return None
    inner = eqn.params.get("jaxpr") or eqn.params.get("call_jaxpr") or eqn.params.get("fun_jaxpr")
    return getattr(inner, "jaxpr", inner)


def reads_of(plan: Plan, held: int, wanted: tuple, with_ct: tuple, kept: tuple, jaxpr: Any) -> list[int]:
    """For each gradient the set of what it is made of: the ``held`` inputs, then the cotangents.

    ``jaxpr`` is that of the backward, which takes the inputs ``kept`` and the cotangents.
    """
    if plan.twice:  # a view: of one that shows nothing jax leaves the cotangent out
        return [sum(1 << held + k for k in range(len(with_ct)))] * len(jaxpr.outvars)
    numbers = [*kept, *(held + k for k in range(len(with_ct)))]
    found = [sum(1 << number for i, number in enumerate(numbers) if bits >> i & 1)
             for bits in dependence(jaxpr)]
    if plan.grad_name not in _JOINT:
        return found
    declared = (i for i, _ in plan.version_checked or ())
    held_too = {*kept, *declared, *(wanted if plan.saves in ("result", "both") else ())}
    bits = sum(1 << i for i in held_too if i < len(plan.kinds) and _varies(plan.kinds[i]))
    for one in found:
        bits |= one
    return [bits] * len(found)


def reads_of_empty(plan: Plan, wanted: tuple, reads: Sequence[int]) -> list[int]:
    """The same for an operation on empty tensors, whose ``reads`` would be these if it had some elements."""
    left_out = plan.grad_name in _LEAVES_VECTORS_OUT
    return [0 if left_out and plan.kinds[i].shape == (0,) else bits
            for i, bits in zip(wanted, reads, strict=True)]


def among(reads: Sequence[int], held: int, kept: tuple, cotangents: int) -> tuple[list[int], tuple]:
    """The same for the inputs of the backward's own plan, and the inputs that are not among those.

    The second is for each gradient a tuple of the numbers of inputs, or empty where there are none.
    """
    numbers = [*kept, *(held + k for k in range(cotangents))]
    own = [sum(1 << i for i, number in enumerate(numbers) if bits >> number & 1) for bits in reads]
    silent = tuple(tuple(i for i in range(held) if bits >> i & 1 and i not in kept) for bits in reads)
    return own, silent if any(silent) else ()


def _varies(kind: Any) -> bool:
    return isinstance(kind, Aval) and kind.dtype.category >= 2
