"""Operations on shapes: they compute new indices, and leave or choose values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jaxflow import _functions as F
from jaxflow._core import dtype as dtypes
from jaxflow._core.fields import rebind
from jaxflow._core.geometry import wrap_dim
from jaxflow._core.layouts import has_parts
from jaxflow._core.tensor import Tensor

from .coo import assembled, dense_shape, entries, parts_of, sparse_shape
from .dispatch import on, refused
from .inplace import again, check_may_write
from .make import empty


def _count(t: Tensor) -> int:
    return len(sparse_shape(t))


@on("transpose", "swapaxes", "swapdims")
def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Two sparse dimensions exchanged."""
    rank, count = input._aval.ndim, _count(input)
    a, b = wrap_dim(dim0, rank), wrap_dim(dim1, rank)
    if a >= count or b >= count:
        raise RuntimeError(
            "sparse transpose: transposed dimensions must be sparse Got sparse_dim: "
            f"{count}, d0: {a}, d1: {b}")
    order = list(range(rank))
    order[a], order[b] = b, a
    return _permuted(input, order, "Transpose")


def _permuted(t: Tensor, order: Sequence[int], name: str) -> Tensor:
    """``t`` with its dimensions in another order, in which sparse ones come first as before."""
    if list(order) == list(range(len(order))):
        return assembled(parts_of(t).indices, entries(t), t._aval.shape, parts_of(t).coalesced, name)
    count, shape = _count(t), t._aval.shape
    rows = parts_of(t).indices.unbind(0)
    indices = F.stack([rows[d] for d in order[:count]]) if count else parts_of(t).indices
    values = entries(t)
    if len(order) > count and list(order[count:]) != list(range(count, len(order))):
        values = values.permute(0, *(d - count + 1 for d in order[count:]))
    moved = list(order[:count]) != list(range(count))
    return assembled(indices, values, tuple(shape[d] for d in order), parts_of(t).coalesced and not moved,
                     name)


@on("t")
def t_(input: Tensor) -> Tensor:
    """The transposed matrix."""
    if input._aval.ndim > 2:
        raise RuntimeError(
            f"t() expects a tensor with <= 2 dimensions, but self is {input._aval.ndim}D")
    return transpose(input, 0, 1) if input._aval.ndim == 2 else input


on("adjoint")(lambda input: _conj(transpose(input, -2, -1)))


def _conj(t: Tensor) -> Tensor:
    return t.conj() if t._aval.dtype.is_complex else t


@on("permute")
def permute(input: Tensor, *dims: Any) -> Tensor:
    """The dimensions in another order; sparse and dense ones do not mix."""
    order = list(dims[0]) if len(dims) == 1 and not isinstance(dims[0], int) else list(dims)
    rank, count = input._aval.ndim, _count(input)
    if len(order) != rank:
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the "
            f"desired ordering of dimensions i.e. input.dim() = {rank} is not equal to len(dims) = "
            f"{len(order)}")
    order = [wrap_dim(d, rank) for d in order]
    if len(set(order)) != rank:
        raise RuntimeError("permute(sparse_coo): duplicate dims are not allowed.")
    if any(d >= count for d in order[:count]):
        raise RuntimeError(
            "permute(sparse_coo): transpositions between sparse and dense dimensions are not allowed."
            "Only transpositions within sparse and dense dimensions are supported.")
    return _permuted(input, order, "Permute")


@on("t_")
def t_in_place(self: Tensor) -> Tensor:
    """`t` of a square matrix, in place."""
    return again(self, lambda: t_(self))


@on("transpose_")
def transpose_in_place(self: Tensor, dim0: int, dim1: int) -> Tensor:
    """`transpose` in place, of extents that are equal."""
    return again(self, lambda: transpose(self, dim0, dim1))


# ------------------------------------------------------------------------------------------- choosing


def _chosen(t: Tensor, kept: Tensor, rows: list[Tensor], shape: tuple[int, ...], coalesced: bool,
            name: str) -> Tensor:
    """The entries whose numbers are ``kept``, with the coordinates ``rows``; dense without coordinates."""
    values = entries(t).index_select(0, kept)
    if not rows:
        return values.sum(0)
    return assembled(F.stack(rows), values, shape, coalesced, name)


@on("select")
def select(input: Tensor, dim: int, index: int) -> Tensor:
    """The elements at ``index`` of a dimension, without that dimension."""
    if isinstance(index, Tensor):
        index = int(index.item())
    rank, shape, count = input._aval.ndim, input._aval.shape, _count(input)
    if not rank:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    at = wrap_dim(dim, rank)
    extent = shape[at]
    if not -extent <= index < extent:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {list(shape)} at dimension "
                         f"{at}")
    index %= extent
    left, parts = shape[:at] + shape[at + 1:], parts_of(input)
    if at >= count:
        values = entries(input).select(at - count + 1, index)
        return assembled(parts.indices, values, left, parts.coalesced, "Select")
    rows = list(parts.indices.unbind(0))
    kept = (rows[at] == index).nonzero().squeeze(1)
    rows = [row.index_select(0, kept) for d, row in enumerate(rows) if d != at]
    return _chosen(input, kept, rows, left, parts.coalesced, "Select")


@on("narrow_copy")
def narrow_copy(input: Tensor, dim: int, start: int, length: int) -> Tensor:
    """The elements ``start`` to ``start + length`` of a dimension."""
    rank, shape, count, parts = input._aval.ndim, input._aval.shape, _count(input), parts_of(input)
    at = wrap_dim(dim, rank)
    start = start + shape[at] if start < 0 else start
    if length < 0 or start < 0 or start + length > shape[at]:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({shape[at]}).")
    size = (*shape[:at], length, *shape[at + 1:])
    if at >= count:
        values = entries(input).narrow(at - count + 1, start, length)
        return assembled(parts.indices, values, size, parts.coalesced, "Narrow")
    rows = list(parts.indices.unbind(0))
    kept = F.logical_and(rows[at] >= start, rows[at] < start + length).nonzero().squeeze(1)
    rows = [row.index_select(0, kept) - (start if d == at else 0) for d, row in enumerate(rows)]
    return _chosen(input, kept, rows, size, parts.coalesced, "Narrow")


@on("index_select")
def index_select(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """The elements of a dimension that ``index`` names, in its order."""
    if has_parts(index) or not has_parts(input):
        raise refused("index_select", "SparseCPU")
    rank, shape, count, parts = input._aval.ndim, input._aval.shape, _count(input), parts_of(input)
    at = wrap_dim(dim, rank)
    if index._aval.ndim > 1:
        raise RuntimeError("index_select() argument index must be 1-D long-tensor.")
    index = index.reshape(-1).to(dtypes.int64)
    wanted = index.shape[0]
    low, high = (index.amin().item(), index.amax().item()) if wanted else (0, 0)
    if wanted and not (-shape[at] <= low and high < shape[at]):
        raise IndexError(f"index_select(): index out of range for dimension {at} of size {shape[at]}")
    index = F.where(index < 0, index + shape[at], index)
    size = (*shape[:at], wanted, *shape[at + 1:])
    if at >= count:
        values = entries(input).index_select(at - count + 1, index)
        return assembled(parts.indices, values, size, parts.coalesced, "IndexSelect")
    rows = list(parts.indices.unbind(0))
    order = rows[at].argsort(stable=True)  # entries by their coordinate there: those of one are neighbours
    held = F.bincount(rows[at], minlength=shape[at])
    each = held.index_select(0, index)
    place = F.arange(wanted, device=index.device).repeat_interleave(each)
    first = (held.cumsum(0) - held).index_select(0, index).index_select(0, place)
    behind = F.arange(place.shape[0], device=index.device) - (each.cumsum(0) - each).index_select(0, place)
    kept = order.index_select(0, first + behind)
    rows = [place if d == at else row.index_select(0, kept) for d, row in enumerate(rows)]
    return _chosen(input, kept, rows, size, False, "IndexSelect")


@on("__getitem__")
def item_of(self: Tensor, index: Any) -> Tensor:
    """Indexing with integers, None, full slices and an ellipsis."""
    given = list(index) if isinstance(index, tuple) else [index]
    used = sum(1 for x in given if x is not None and x is not Ellipsis)
    if used > self._aval.ndim:
        raise IndexError(f"too many indices for tensor of dimension {self._aval.ndim}")
    if Ellipsis in [x for x in given if x is Ellipsis]:
        at = next(i for i, x in enumerate(given) if x is Ellipsis)
        given[at:at + 1] = [slice(None)] * (self._aval.ndim - used)
    t, dim = self, 0
    for x in given:
        if x is None:
            t, dim = unsqueeze(t, dim), dim + 1
        elif isinstance(x, int) and not isinstance(x, bool):
            t = select(t, dim, x) if has_parts(t) else t.select(dim, x)
        elif isinstance(x, slice) and x == slice(None):
            dim += 1
        elif isinstance(x, slice):
            raise refused("as_strided", "SparseCPU")
        else:
            raise refused("index.Tensor", "SparseCPU")
    return t


@on("__setitem__")
def set_item(self: Tensor, index: Any, value: Any) -> None:
    """Refused: there are no views of sparse tensors."""
    raise TypeError("Cannot assign to a sparse tensor")


# ------------------------------------------------------------------------------------------ joining


@on("unsqueeze")
def unsqueeze(input: Tensor, dim: int) -> Tensor:
    """A new dimension of extent 1: sparse before and right behind sparse ones, else dense."""
    rank, count, parts = input._aval.ndim, _count(input), parts_of(input)
    at = wrap_dim(dim, rank + 1)
    shape = (*input._aval.shape[:at], 1, *input._aval.shape[at:])
    if at > count:
        return assembled(parts.indices, entries(input).unsqueeze(at - count + 1), shape, parts.coalesced,
                         "Unsqueeze")
    zero = F.zeros((1, parts.indices.shape[1]), dtype=dtypes.int64, device=parts.indices.device)
    indices = F.cat([parts.indices[:at], zero, parts.indices[at:]])
    return assembled(indices, entries(input), shape, False, "Unsqueeze")


def _check_all_sparse(tensors: Sequence[Tensor]) -> None:
    for i, t in enumerate(tensors):
        if not has_parts(t):
            raise RuntimeError(
                f"Concatenating sparse tensors, but a dense tensor was found at position {i}.")


@on("cat", "concat", "concatenate")
def cat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Tensors one behind the other along a dimension."""
    _check_all_sparse(tensors)
    first = tensors[0]
    at, shape, count = wrap_dim(dim, first._aval.ndim), first._aval.shape, _count(first)
    for i, t in enumerate(tensors):
        if _count(t) != count or t._aval.ndim != len(shape):
            raise RuntimeError(
                "All tensors must have the same sparse_dim and dense_dim: tensor 0 has "
                f"{count}, {len(shape) - count}, but tensor at position {i} has {_count(t)}, "
                f"{t._aval.ndim - _count(t)}.")
        other = t._aval.shape
        if other[:at] + other[at + 1:] != shape[:at] + shape[at + 1:]:
            raise RuntimeError(
                f"Sizes of tensors must match except in dimension {at}. Expected {list(shape)} but got "
                f"{list(other)} for tensor number {i} in the list")
    kind = F.promote_types(first._aval.dtype, first._aval.dtype)
    for t in tensors[1:]:
        kind = F.promote_types(kind, t._aval.dtype)
    total = sum(t._aval.shape[at] for t in tensors)
    indices, values, before = [], [], 0
    for t in tensors:
        own, given = entries(t).to(kind), parts_of(t).indices
        if at < count:
            rows = [row + before if d == at else row for d, row in enumerate(given.unbind(0))]
            given = F.stack(rows)
        else:  # zeros beside it, where the others have their elements
            wide = list(own.shape)
            wide[at - count + 1] = before
            left = own.new_zeros(wide)
            wide[at - count + 1] = total - before - t._aval.shape[at]
            own = F.cat([left, own, own.new_zeros(wide)], at - count + 1)
        before += t._aval.shape[at]
        indices.append(given)
        values.append(own)
    size = (*shape[:at], total, *shape[at + 1:])
    return assembled(F.cat(indices, 1), F.cat(values), size, False, "Cat")


@on("stack")
def stack(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Tensors of one size along a new dimension."""
    _check_all_sparse(tensors)
    for i, t in enumerate(tensors):
        if t._aval.shape != tensors[0]._aval.shape:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(tensors[0]._aval.shape)} at "
                "entry 0 "
                f"and {list(t._aval.shape)} at entry {i}")
    return cat([unsqueeze(t, dim) for t in tensors], wrap_dim(dim, tensors[0]._aval.ndim + 1))


@on("hstack")
def hstack(tensors: Sequence[Tensor]) -> Tensor:
    """Tensors side by side: along the second dimension, vectors along their only one."""
    return cat(tensors, 0 if tensors[0]._aval.ndim == 1 else 1)


@on("vstack", "row_stack")
def vstack(tensors: Sequence[Tensor]) -> Tensor:
    """Tensors one below the other; vectors are rows."""
    return cat([unsqueeze(t, 0) if t._aval.ndim == 1 else t for t in tensors])


def _no_reshape(*args: Any, **kwargs: Any) -> Tensor:
    raise RuntimeError("reshape is not implemented for sparse tensors")


def _no_expand(*args: Any, **kwargs: Any) -> Tensor:
    raise RuntimeError("expand is unsupported for Sparse tensors")


def _not_contiguous(*args: Any, **kwargs: Any) -> Tensor:
    raise RuntimeError("unsupported memory format option Contiguous")


on("reshape", "flatten", "reshape_as", "ravel")(_no_reshape)
on("expand", "expand_as", "broadcast_to")(_no_expand)
on("contiguous")(_not_contiguous)
on("is_contiguous")(lambda self, memory_format=None: False)


def _resized(self: Tensor, size: Sequence[int], sparse_dim: int, dense_dim: int) -> Tensor:
    """``self`` with another size, which leaves no entry outside."""
    size, parts, before = tuple(size), parts_of(self), _count(self)
    if len(size) != sparse_dim + dense_dim:
        raise RuntimeError(
            f"'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = {len(size)}, sparse_dim = "
            f"{sparse_dim}, dense_dim = {dense_dim}")
    if parts.values.shape[0]:
        for kind, old, new in (("sparse", before, sparse_dim), ("dense", self._aval.ndim - before,
                                                                dense_dim)):
            if old != new:
                raise RuntimeError(
                    f"changing the number of {kind} dimensions (from {old} to {new}) on a non-empty sparse "
                    "tensor is not supported. Empty it with sparse_resize_and_clear_(), or make a new one "
                    "of its "
                    "indices and values")
        for kind, old, new in (("sparse", sparse_shape(self), size[:sparse_dim]),
                               ("dense", dense_shape(self), size[sparse_dim:])):
            if any(n < o for o, n in zip(old, new)):
                raise RuntimeError(
                    f"shrinking the size of {kind} dimensions (from {list(old)} to {list(new)}) on a "
                    "non-empty "
                    "sparse tensor is not supported. Empty it with sparse_resize_and_clear_(), or make a "
                    "new one "
                    "of its indices and values")
        wide = [n - o for o, n in zip(dense_shape(self), size[sparse_dim:])]
        values = parts.values
        for d, more in enumerate(wide):
            if more:
                extents = list(values.shape)
                extents[d + 1] = more
                values = F.cat([values, values.new_zeros(extents)], d + 1)
        return assembled(parts.indices, values, size, parts.coalesced)
    return empty(size, self._aval.dtype, self._aval.device, sparse_dim)


@on("sparse_resize_")
def sparse_resize_(self: Tensor, size: Sequence[int], sparse_dim: int, dense_dim: int) -> Tensor:
    """Another size, in place; entries stay."""
    return _become(self, _resized(self, size, sparse_dim, dense_dim))


@on("sparse_resize_and_clear_")
def sparse_resize_and_clear_(self: Tensor, size: Sequence[int], sparse_dim: int, dense_dim: int) -> Tensor:
    """Another size, in place, and no entries."""
    if len(tuple(size)) != sparse_dim + dense_dim:
        raise RuntimeError(
            f"'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = {len(tuple(size))}, "
            "sparse_dim "
            f"= {sparse_dim}, dense_dim = {dense_dim}")
    return _become(self, empty(size, self._aval.dtype, self._aval.device, sparse_dim))


@on("resize_as_sparse_")
def resize_as_sparse_(self: Tensor, the_template: Tensor) -> Tensor:
    """The size of another sparse tensor, in place."""
    count = _count(the_template)
    return sparse_resize_(self, the_template._aval.shape, count, the_template._aval.ndim - count)


def _become(self: Tensor, other: Tensor) -> Tensor:
    check_may_write(self)
    rebind(self, other._storage, other._aval, None, None)
    return self
