"""Masked gradients, for the engine: how they are added, kept, and let through operations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jaxflow._core import dtype as dtypes
from jaxflow._core.tensor import Tensor, make
from jaxflow._core.value import Value
from jaxflow._dispatch.dispatch import apply_plan
from jaxflow._sparse import gradients as sparse
from jaxflow._transforms.vjp import vjp_of

from .parts import data_of, fresh, is_masked, mask_of, masked, same_masks, without_mask


def summed(a: Tensor, b: Tensor) -> Tensor:
    """The sum of two gradients; masked, by the same mask, if one of them is."""
    if is_masked(a) or is_masked(b):
        return a + b
    return sparse.summed(a, b)


def taken(t: Tensor) -> Tensor:
    """A gradient as a leaf keeps it: without history."""
    return fresh(*t._storage.parts) if is_masked(t) else sparse.taken(t)


def through(node: Any, cotangents: list, pull_back: Callable) -> list | None:
    """What an operation's backward makes of cotangents that are sparse or masked.

    A masked cotangent of an operation on single elements gives gradients with the same mask. One of an
    operation that only moves or adds elements gives gradients that are masked where nothing comes that
    counts.

    Raises:
        NotImplementedError: for other operations, which would mix masked numbers with others.
    """
    given = [c for c in cotangents if isinstance(c, Tensor) and is_masked(c)]
    if not given:
        return sparse.through(node, cotangents, pull_back)
    plan, needs = node._plan, node._needs
    grad, several = given[0], len([c for c in cotangents if c is not None]) > 1
    if several and not (_is_of_elements(plan) and _are_alike(given, cotangents)):
        raise _refused(node)
    mask, kept = mask_of(grad), node._inputs or ()
    counts = None
    of_elements = _is_of_elements(plan) and any(x is not None for x in kept)
    if of_elements or several:
        change = data_of
    elif not any(_is_factor(x) for x in kept):
        position = next(i for i, c in enumerate(cotangents) if c is grad)
        defined = None
        if len(cotangents) > 1:
            defined = tuple(i == position for i in range(len(plan.diff_outputs)))
        vjp = vjp_of(plan, needs, defined)
        marks = apply_plan(vjp.plan, [kept[i] for i in vjp.vjp_inputs] + [mask.to(grad.dtype)])
        counts = [None] * len(needs)
        wanted = range(len(needs)) if len(marks) == len(needs) else vjp.wanted
        for i, found in zip(wanted, marks, strict=True):
            counts[i] = None if found is None else _tensor(found) != 0
        change = without_mask
    else:
        raise _refused(node)
    found = pull_back(node, [None if c is None else change(c) for c in cotangents])
    if found is None:
        return None
    result: list = []
    for i, x in enumerate(found):
        t = None if x is None else _tensor(x)
        if t is not None and counts is None and t.shape != grad.shape:
            raise _refused(node, "; expand its operands to one shape before")
        result.append(None if t is None else masked(t, mask if counts is None else counts[i]))
    return result


def _are_alike(masked_ones: list[Tensor], cotangents: list) -> bool:
    """Whether all cotangents are masked, and alike."""
    mask = mask_of(masked_ones[0])
    return len(masked_ones) == len([c for c in cotangents if c is not None]) and all(
        same_masks(mask, mask_of(c)) for c in masked_ones[1:])


def _is_factor(x: Any) -> bool:
    """Whether what a node keeps may be a factor of gradients: integers are indices, bools conditions."""
    aval = getattr(x, "_aval", None) or getattr(x, "aval", None)
    return isinstance(x, (float, complex)) if aval is None else aval.dtype.category >= dtypes.FLOATING


def _is_of_elements(plan: Any) -> bool:
    """Whether each element of the result is computed of one element of each operand."""
    if plan.backs is None:
        return plan.preserve in (True, "preserve")
    shapes = {x.shape for x in (*plan.kinds, *plan.out_avals) if hasattr(x, "shape")}
    return len(shapes) == 1 and _is_of_elements(plan.backs[0])


def _tensor(x: Any) -> Tensor:
    return make(x) if isinstance(x, Value) else x


def _refused(node: Any, instead: str = "") -> NotImplementedError:
    return NotImplementedError(
        f"a gradient that is a MaskedTensor does not pass {node.name()}, which would mix masked elements "
        f"with others: give them a value with to_tensor(value) before{instead}")


