"""Gradients that are sparse: how they are added, and look-ups that make them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jaxflow import _functions as F
from jaxflow._core import dtype as dtypes
from jaxflow._core.layouts import has_parts
from jaxflow._core.tensor import Tensor

from .compressed import Compressed, built, entries_of
from .coo import assembled
from .elementwise import add
from .nodes import recorded


def summed(a: Tensor, b: Tensor) -> Tensor:
    """The sum of two gradients: dense if one of them is."""
    if has_parts(a) and has_parts(b):
        ours, theirs = a._storage.parts, b._storage.parts
        if ours.layout is not theirs.layout:
            return summed(a.to_dense(), b.to_dense())
        if ours.__class__ is Compressed:
            if ours.plain is theirs.plain:
                return built(ours.compressed, ours.plain, entries_of(a) + entries_of(b), a._aval.shape,
                             ours.layout)
            return F.add(a.to_dense(), b.to_dense())
        return add(a, b)
    if has_parts(a):
        a, b = b, a
    return add(a, b) if b._storage.parts.__class__ is not Compressed else F.add(a, b.to_dense())


def as_dense(t: Tensor) -> Tensor:
    """A gradient with its zeros, for an operation that takes no other."""
    return t.to_dense() if has_parts(t) else t


def through(node: Any, cotangents: list, pull_back: Callable) -> list | None:
    """What an operation's backward makes of cotangents some of which are sparse: it takes dense ones."""
    return pull_back(node, [as_dense(c) if isinstance(c, Tensor) else c for c in cotangents])


def taken(t: Tensor) -> Tensor:
    """A gradient as a leaf keeps it: its parts without history, and not said to be coalesced."""
    parts = t._storage.parts
    if parts.__class__ is Compressed:
        return t.detach()
    return assembled(parts.indices, parts.values, t._aval.shape, False)


def rows_with_gradient(found: Tensor, weight: Tensor, index: Tensor, padding: int | None,
                       by_frequency: bool) -> Tensor:
    """``found``, which are the rows ``index`` of a table, with a sparse gradient for the table.

    Args:
        found: ``(*index.shape, size)``, fresh and without history.
        weight: the table, ``(rows, size)``.
        index: integers of any shape.
        padding: a row that gets no gradient, or None.
        by_frequency: whether the look-up divides gradients by how often a row came, which backward refuses.
    """
    index = index.detach()
    shape, size = weight._aval.shape, weight._aval.shape[1:]

    def back(grad: Tensor) -> Tensor:
        if by_frequency:
            raise RuntimeError("embedding_backward: scale_grad_by_freq not supported with sparse gradients")
        where = index.reshape(-1).to(dtypes.int64)
        values = as_dense(grad).reshape((-1, *size))
        if padding is not None:
            kept = (where != padding).nonzero().squeeze(1)
            where, values = where.index_select(0, kept), values.index_select(0, kept)
        return assembled(where.unsqueeze(0), values, shape)

    return recorded(found, "Embedding", [(weight, back)], (index,))

