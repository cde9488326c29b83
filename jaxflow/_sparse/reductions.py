"""Sums over dimensions, norms, and softmax along a dimension of the entries that are there."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from jaxflow import _functions as F
from jaxflow._core import dtype as dtypes
from jaxflow._core.geometry import wrap_dim
from jaxflow._core.layout import sparse_coo
from jaxflow._core.layouts import has_parts
from jaxflow._core.tensor import Tensor

from .coo import assembled, coalesce, entries, flat, merged, parts_of, sparse_shape
from .dispatch import on, refused
from .nodes import recorded


def _dims(dim: Any, rank: int) -> list[int]:
    given = [dim] if isinstance(dim, int) else list(dim)
    dims = [wrap_dim(d, rank) for d in given]
    for d in dims:
        if dims.count(d) > 1:
            raise RuntimeError(f"dim {d} appears multiple times in the list of dims")
    return dims


def _summed(t: Tensor, dims: Sequence[int], keepdim: bool, name: str) -> Tensor:
    """Sums over ``dims``: sparse while a sparse dimension is left, else dense."""
    if all(d >= len(sparse_shape(t)) for d in dims):
        t = coalesce(t)
    parts, shape, count = parts_of(t), t._aval.shape, len(sparse_shape(t))
    values, kept = entries(t), [d for d in range(count) if d not in dims]
    inner = [d - count + 1 for d in dims if d >= count]
    if inner:
        values = values.sum(inner, keepdim=keepdim)
    dense_extents = tuple(values.shape[1:])
    if not kept and not (keepdim and count):
        return values.sum(0)
    extents = tuple(shape[d] for d in kept)
    indices = parts.indices
    if len(kept) < count:
        rows = indices.unbind(0)
        indices = F.stack([rows[d] for d in kept]) if kept else indices[:0]
        if kept:
            indices, values = merged(indices, values, extents)
        else:
            indices, values = indices[:, :1], values.sum(0, keepdim=True)
    if keepdim and len(kept) < count:
        zero = F.zeros(indices.shape[1], dtype=dtypes.int64, device=indices.device)
        own = iter(indices.unbind(0))
        indices = F.stack([zero if d in dims else next(own) for d in range(count)])
        extents = tuple(1 if d in dims else shape[d] for d in range(count))
    coalesced = parts.coalesced if len(kept) == count else not keepdim
    return assembled(indices, values, (*extents, *dense_extents), coalesced, name)


def sparse_sum(input: Tensor, dim: Any = None, dtype: Any = None) -> Tensor:
    """`torch.sparse.sum`."""
    if not has_parts(input) or input._storage.parts.layout is not sparse_coo:
        shown = "SparseCsr" if has_parts(input) else "Strided"
        raise RuntimeError(f"coalesce expected sparse coordinate tensor layout but got {shown}")
    if dim is None:
        return entries(input).sum(dtype=dtype)
    dims = _dims(dim, input._aval.ndim)
    if dtype is not None:
        input = input.to(dtype)
    return coalesce(input) if not dims else _summed(input, dims, False, "SparseSum")


@on("sum")
def sum_(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """`torch.sum`: over all dimensions where none is given."""
    if dim is None or (not isinstance(dim, int) and not len(dim)):
        shape, kind = input._aval.shape, input._aval.dtype
        if not input.is_leaf or not input.requires_grad:
            return entries(input).sum(dtype=dtype)
        total = parts_of(input).values.sum(dtype=dtype)
        return recorded(total, "Sum", [(input, lambda grad: grad.to(kind).expand(shape))])
    if dtype is not None:
        input = input.to(dtype)
    elif input._aval.dtype.category < 2:
        input = input.to(dtypes.int64)
    return _summed(input, _dims(dim, input._aval.ndim), keepdim, "Sum")


@on("norm", "native_norm")
def norm(input: Tensor, p: Any = 2, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Tensor:
    """The norm of all elements."""
    if dim is not None and len(_dims(dim, input._aval.ndim)) not in (0, input._aval.ndim):
        raise RuntimeError("norm_sparse currently only supports full reductions, so 'dim' must either be "
                           "empty or contain all dimensions of the input")
    return entries(coalesce(input)).reshape(-1).norm(2 if p in (None, "fro") else p, dtype=dtype)


@on("any")
def any_(input: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Whether an element is not zero."""
    if dim is not None:
        raise refused("any.dim", "SparseCPU")
    return parts_of(coalesce(input)).values.any()


# ------------------------------------------------------------------------------------------------ softmax


def sparse_softmax(input: Tensor, dim: int, dtype: Any, log: bool) -> Tensor:
    """`torch.sparse.softmax`, or its logarithm: elements that are not there count as minus infinity."""
    name = "_sparse_log_softmax" if log else "_sparse_softmax"
    if not has_parts(input) or input._storage.parts.layout is not sparse_coo:
        raise refused(name, "SparseCsrCPU" if has_parts(input) else "CPU")
    dim = wrap_dim(dim, input._aval.ndim)
    t = coalesce(input if dtype is None else input.to(dtype))
    if t._aval.dtype.category < 2:
        raise NotImplementedError(f"\"softmax\" not implemented for '{t._aval.dtype.scalar_name}'")
    parts, shape, count = parts_of(t), sparse_shape(t), len(sparse_shape(t))
    values, shown = entries(t), "SparseLogSoftmax" if log else "SparseSoftmax"
    if dim >= count:
        found = (F.log_softmax if log else F.softmax)(values, dim - count + 1)
        return assembled(parts.indices, found, t._aval.shape, True, shown)
    if not values.shape[0]:
        return assembled(parts.indices, values * 1, t._aval.shape, True, shown)
    others = [d for d in range(count) if d != dim]  # entries that agree in these are normalized together
    rows = parts.indices.unbind(0)
    rest = tuple(shape[d] for d in others)
    places = F.zeros_like(rows[dim]) if not others else flat(F.stack([rows[d] for d in others]), rest)
    numbers, group = F.unique(places, return_inverse=True)
    size = (numbers.shape[0], *values.shape[1:])
    where = group.reshape((-1, *(1,) * (values.dim() - 1))).expand(values.shape)
    most = values.new_full(size, -math.inf).scatter_reduce(0, where, values.detach(), "amax")
    shifted = values - most.index_select(0, group)
    total = values.new_zeros(size).index_add(0, group, shifted.exp())
    if log:
        found = shifted - total.log().index_select(0, group)
    else:
        found = shifted.exp() / total.index_select(0, group)
    return assembled(parts.indices, found, t._aval.shape, True, shown)
