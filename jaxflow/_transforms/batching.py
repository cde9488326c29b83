"""Batched Values: one Value that stands for many examples, and how a plan runs on them.

NOTE [Batched values]
    Inside ``vmap`` a tensor shows one example, but its Value is a `Batched`: the aval of the example, and
    an ``inner`` Value with one more leading dimension for each axis (``vmap_axes.MappedAxis``) it is
    batched at, outermost first. Tensors, views, versions, in-place writes and the graph lie above Values and
    do not depend on it. A plan with a batched input becomes the plan of ``jax.vmap`` of its function (made
    once for each pattern of batched inputs), which is recorded or run on the inner Values like any other. So
    backward, which runs plans too, is batched by the same few lines.
"""

from __future__ import annotations

import itertools
from typing import Any

import jax
import jax.numpy as jnp

from jaxflow._core import budget
from jaxflow._core.aval import Aval, aval_of
from jaxflow._core.value import Value
from jaxflow._plans.plan import Plan, Traced

# More numbers of examples than this are not remembered of one plan.
_MOST_SIZES = 256


NO_NUMBERS = (
    "vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over calling .item() on a "
    "Tensor, please try to rewrite what you're doing with other operations. The same goes for other ways to "
    "ask for its numbers: numpy(), a mask as an index. Do it outside of vmap."
)


class _Nowhere:
    """In the place of the entry and the Program of a batched Value: it has no single array."""

    @property
    def program(self) -> _Nowhere:
        """As an entry names its Program."""
        return self

    def deliver(self, value: Value) -> None:
        raise RuntimeError(NO_NUMBERS)


_NOWHERE = (_Nowhere(), 0)


class Batched(Value):
    """A Value of one example; ``inner`` holds all of them. See NOTE [Batched values]."""

    __slots__ = ("inner", "axes")

    def __init__(self, aval: Aval, inner: Value, axes: tuple) -> None:
        super().__init__(aval, None, _NOWHERE)
        self.inner = inner
        self.axes = axes


def refuse_batched(words: str, *tensors: Any) -> None:
    """Refuse, in these ``words``, what needs numbers that are others in each example. RuntimeError."""
    for t in tensors:
        if t._storage.value.__class__ is Batched:
            raise RuntimeError(words)


#: What an operation says whose result would be of another size in each example.
DYNAMIC = ("vmap: We do not support batching operators that can output dynamic shape. Attempted to vmap over "
           "aten::{}. Do it outside of vmap")
NO_STORAGE = "Cannot access data pointer of Tensor that doesn't have storage: vmap runs over it"


def plain(value: Value) -> Value:
    """The Value of all examples; a plain Value itself."""
    return value.inner if value.__class__ is Batched else value


def axes_of(value: Value) -> tuple:
    """The axes at which a Value is batched."""
    return value.axes if value.__class__ is Batched else ()


def _wrap(aval: Aval, inner: Value, axes: tuple) -> Value:
    return Batched(aval, inner, axes) if axes else inner


def run_batched(run, plan: Plan, inputs: list) -> list[Value]:
    """``run`` a plan on inputs some of which are batched; its results are batched at all their axes."""
    found = {axis for x in inputs if x.__class__ is Batched for axis in x.axes}
    axes = tuple(sorted(found, key=lambda axis: axis.serial))
    key = (
        tuple(axis.size for axis in axes),
        tuple(
            tuple(axis in x.axes for axis in axes) if x.__class__ is Batched else None
            for x in inputs
        ),
    )
    if plan.batched is None or len(plan.batched) >= _MOST_SIZES:
        plan.batched = {}
    mapped = plan.batched.get(key)
    if mapped is None:
        mapped = plan.batched[key] = _mapped(plan, *key)
    outs = run(mapped, [plain(x) if isinstance(x, Value) else x for x in inputs])
    return [Batched(aval, out, axes) for aval, out in zip(plan.out_avals, outs, strict=True)]


def _mapped(plan: Plan, sizes: tuple[int, ...], patterns: tuple) -> Plan:
    """The plan of ``jax.vmap`` of a plan: once for each axis, the outermost last."""
    fn = plan.fn  # at least one axis: what Plan names below is a new function
    for k in reversed(range(len(sizes))):
        axes = tuple(0 if pattern is not None and pattern[k] else None for pattern in patterns)
        fn = jax.vmap(fn, axes, 0, axis_size=sizes[k])
    kinds = [
        kind if pattern is None else _with_batch(kind, tuple(itertools.compress(sizes, pattern)))
        for kind, pattern in zip(plan.kinds, patterns, strict=True)
    ]
    return Plan(f"vmap_{plan.name}", fn, kinds,
                [_with_batch(aval, sizes) for aval in plan.out_avals], device=plan.device,
                grad_name="", differentiable=False, single=plan.single)


def _with_batch(kind, sizes: tuple[int, ...]):
    """The aval of all examples. A number that differs between examples is an array by now."""
    if not isinstance(kind, Aval):
        raise TypeError(f"a number of kind {kind.__name__} cannot be batched")
    return aval_of((*sizes, *kind.shape), kind.dtype, kind.device)


# ----------------------------------------------------------------------- moving an axis in and out


def _position(axes: tuple, axis: Any) -> int:
    return sum(other.serial < axis.serial for other in axes)


def hide(run, value: Value, axis: Any) -> Value:
    """A Value whose first dimension becomes the examples of ``axis``."""
    axes = axes_of(value)
    k = _position(axes, axis)
    inner = _physical(run, "move", plain(value), len(axes), k)
    aval = aval_of(value.aval.shape[1:], value.aval.dtype, value.aval.device)
    return Batched(aval, inner, (*axes[:k], axis, *axes[k:]))


def show(run, value: Value, axis: Any) -> Value:
    """The opposite: the examples of ``axis`` become the first dimension; repeated if all are the same."""
    axes = axes_of(value)
    rest = tuple(other for other in axes if other is not axis)
    if axis in axes:
        inner = _physical(run, "move", plain(value), axes.index(axis), len(rest))
    else:
        inner = _physical(run, "repeat", plain(value), len(axes), axis.size)
    aval = aval_of((axis.size, *value.aval.shape), value.aval.dtype, value.aval.device)
    return _wrap(aval, inner, rest)


def total(run, value: Value, axis: Any) -> Value:
    """The sum over the examples of ``axis``; the Value itself if it is not batched there."""
    axes = axes_of(value)
    if axis not in axes:
        return value
    k = axes.index(axis)
    inner = _physical(run, "total", plain(value), k, 0)
    return _wrap(value.aval, inner, (*axes[:k], *axes[k + 1:]))


_CHANGES = {
    "move": jnp.moveaxis,
    "repeat": lambda x, a, n: jnp.broadcast_to(
        jnp.expand_dims(x, a), (*x.shape[:a], n, *x.shape[a:])
    ),
    "total": lambda x, a, _: jnp.sum(x, a, dtype=x.dtype),
}


def _physical(run, kind: str, value: Value, a: int, b: int) -> Value:
    if kind == "move" and a == b:
        return value
    return run(_physical_plan(kind, value.aval, a, b), [value])[0]


_physical_plans = budget.Table("plans of batched axes")


def _physical_plan(kind: str, aval: Aval, a: int, b: int) -> Plan:
    key = (kind, aval, a, b)
    found = _physical_plans.get(key)
    return _physical_plans.add(key, _new_physical_plan(*key)) if found is None else found


def _new_physical_plan(kind: str, aval: Aval, a: int, b: int) -> Plan:
    change = _CHANGES[kind]

    def fn(x):
        return (change(x, a, b),)

    traced = Traced(f"vmap_{kind}", fn, [aval], aval.device)
    return Plan(f"vmap_{kind}", fn, [aval], traced.out_avals, device=aval.device,
                grad_name="", differentiable=False, traced=traced)
