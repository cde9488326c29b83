"""From rows of several lengths to a dense tensor and back: one look-up each way."""

from __future__ import annotations

from typing import Any

from jaxflow import _functions as F
from jaxflow._core.tensor import Tensor

from .ragged import Ragged


def number_of(t: Tensor, padding: Any) -> Any:
    """``padding`` as a number of the dtype of ``t``."""
    dtype = t._aval.dtype
    if dtype.is_floating_point or dtype.is_complex:
        return padding
    return bool(padding) if dtype.name == "bool" else int(padding)


def padded(values: Tensor, ragged: Ragged, dim: int, padding: Any, length: int | None = None) -> Tensor:
    """The dense tensor of a nested one's rows, with ``padding`` where a row has ended.

    Args:
        values: the packed rows, whose packed dimension is ``dim - 1``.
        ragged: where the rows lie.
        dim: the ragged dimension of the result.
        padding: a number.
        length: the extent of that dimension; as a default the length of the longest row.
    """
    length = ragged.longest() if length is None else length
    packed = values.movedim(dim - 1, 0)
    total, inner = packed.shape[0], tuple(packed.shape[1:])
    shape = (ragged.count, length, *inner)
    if not total or not length or not ragged.count:
        return F.full(shape, number_of(values, padding), dtype=values.dtype,
                      device=values.device).movedim(1, dim)
    places, there = ragged.places(length)
    found = packed.index_select(0, places.clamp(max=total - 1).flatten()).reshape(shape)
    missing = ~there.reshape(ragged.count, length, *(1,) * len(inner))
    return found.masked_fill(missing, number_of(values, padding)).movedim(1, dim)


def packed(dense: Tensor, ragged: Ragged, dim: int, total: int) -> Tensor:
    """The packed rows of a dense tensor: what `padded` was made of.

    Args:
        dense: dimension 0 counts rows, dimension ``dim`` is as long as the longest row, or longer.
        ragged: where the rows lie.
        dim: the ragged dimension.
        total: the extent of the packed dimension.
    """
    rows = dense.movedim(dim, 1)
    length = rows.shape[1]
    if not total:
        return rows.flatten(0, 1)[:0].movedim(0, dim - 1)
    return rows.flatten(0, 1).index_select(0, ragged.flat(total, length)).movedim(0, dim - 1)
