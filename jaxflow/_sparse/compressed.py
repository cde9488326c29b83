"""Compressed sparse tensors: rows or columns, of elements or of blocks.

Entries are in the order of their lines (rows of CSR and BSR, columns of CSC and BSC). ``compressed`` says
where each line begins, ``plain`` at which place along the line each entry stands (Saad, "Iterative methods
for sparse linear systems", 2nd edition, section 3.4). What is in front of the last dimension of ``plain`` are
batches.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from jaxflow import _functions as F
from jaxflow._core import dtype as dtypes
from jaxflow._core.layout import layout as Layout
from jaxflow._core.layout import sparse_bsc, sparse_bsr, sparse_coo, sparse_csc, sparse_csr
from jaxflow._core.layouts import has_parts
from jaxflow._core.state import state
from jaxflow._core.tensor import Tensor, make
from jaxflow._views.values import value_of

from . import coo
from .make import coo_of_dense
from .nodes import recorded

COMPRESSED_LAYOUTS: dict[str, Layout] = dict(
    sparse_csr=sparse_csr, sparse_csc=sparse_csc, sparse_bsr=sparse_bsr, sparse_bsc=sparse_bsc)

_ROWS = ("crow_indices", "col_indices", "values")
_COLUMNS = ("ccol_indices", "row_indices", "values")
_NAMES = {sparse_coo: ("indices", "values"), sparse_csr: _ROWS, sparse_bsr: _ROWS, sparse_csc: _COLUMNS,
          sparse_bsc: _COLUMNS}


class Compressed(NamedTuple):
    """The parts of a compressed tensor: see the module."""

    compressed: Tensor
    plain: Tensor
    values: Tensor
    layout: Layout

    @property
    def by_rows(self) -> bool:
        """Whether lines are rows."""
        return self.layout in (sparse_csr, sparse_bsr)

    @property
    def block(self) -> tuple[int, int]:
        """The extents of a block; (1, 1) of elements."""
        at = self.plain.dim()
        return tuple(self.values.shape[at:at + 2]) if self.layout in (sparse_bsr, sparse_bsc) else (1, 1)


def part_names(parts: Any) -> tuple[str, ...]:
    """What the parts of a layout are called."""
    return _NAMES[parts.layout]


def built(compressed: Tensor, plain: Tensor, values: Tensor, shape: tuple[int, ...], layout: Layout,
          name: str = "SparseCompressedTensor") -> Tensor:
    """The compressed tensor of these parts: NOTE [Gradients through parts]."""
    parts = Compressed(compressed.detach(), plain.detach(), values.detach(), layout)
    return recorded(coo.fresh(shape, parts), name, [(values, lambda grad: _at_entries(grad, parts))])


def _at_entries(grad: Tensor, parts: Compressed) -> Tensor:
    """The elements of a gradient, dense or sparse, where a compressed tensor has its entries."""
    if has_parts(grad):
        own = grad._storage.parts
        if own.__class__ is Compressed and own.plain is parts.plain and own.layout is parts.layout:
            return entries_of(grad)
        grad = grad.to_dense()
    batch = parts.plain.dim() - 1
    if batch:
        lead = grad._aval.shape[:batch]
        each = [_at_entries(g, p) for g, p in zip(grad.flatten(0, batch - 1).unbind(0), _batches(parts))]
        return F.stack(each).unflatten(0, lead)
    high, wide = parts.block
    rows, columns = grad._aval.shape[:2]
    inner = grad._aval.shape[2:]
    blocks = grad.reshape((rows // high, high, columns // wide, wide, *inner)).transpose(1, 2)
    flat = blocks.reshape((rows // high * (columns // wide), high, wide, *inner))
    row, column = places(parts)
    found = flat.index_select(0, row * (columns // wide) + column)
    return found if parts.block != (1, 1) or parts.layout in (sparse_bsr, sparse_bsc) else found[:, 0, 0]


def entries_of(t: Tensor) -> Tensor:
    """The values of a sparse tensor of any layout, with their history."""
    parts = t._storage.parts
    if parts.layout is sparse_coo:
        return coo.entries(t)
    if not (t.requires_grad and state.grad):
        return parts.values
    shape = t._aval.shape
    return recorded(make(value_of(parts.values)), "Values", [
        (t, lambda grad: built(parts.compressed, parts.plain, grad, shape, parts.layout))])


def with_values(t: Tensor, values: Tensor, name: str, *, copied: bool = False, device: Any = None) -> Tensor:
    """``t`` with other values, at copies of its indices or at the same ones."""
    def moved(x: Tensor) -> Tensor:
        x = x.clone() if copied else x
        return x if device is None else x.to(device)

    parts = t._storage.parts
    if parts.layout is sparse_coo:
        return coo.assembled(moved(parts.indices), values, t._aval.shape, parts.coalesced, name)
    return built(moved(parts.compressed), moved(parts.plain), values, t._aval.shape, parts.layout, name)


def places(parts: Compressed) -> tuple[Tensor, Tensor]:
    """The row and the column of each entry (each block), of a tensor without batches."""
    counts = parts.compressed[1:] - parts.compressed[:-1]
    lines = F.arange(counts.shape[0], device=counts.device).repeat_interleave(counts.to(dtypes.int64))
    plain = parts.plain.to(dtypes.int64)
    return (lines, plain) if parts.by_rows else (plain, lines)


def _batches(parts: Compressed) -> list[Compressed]:
    """The parts of each tensor of a batch."""
    last = parts.plain.dim() - 1
    return [Compressed(c, p, v, parts.layout) for c, p, v in zip(
        parts.compressed.flatten(0, last - 1).unbind(0), parts.plain.flatten(0, last - 1).unbind(0),
        parts.values.flatten(0, last - 1).unbind(0), strict=True)]


def dense_of(t: Tensor) -> Tensor:
    """The dense tensor of the same elements."""
    parts, shape = t._storage.parts, t._aval.shape
    batch = parts.plain.dim() - 1
    if not batch:
        return _dense(parts, entries_of(t), shape)
    values = entries_of(t).flatten(0, batch - 1).unbind(0)
    each = [_dense(p, v, shape[batch:]) for p, v in zip(_batches(parts), values)]
    return F.stack(each).unflatten(0, shape[:batch])


def _dense(parts: Compressed, values: Tensor, shape: tuple[int, ...]) -> Tensor:
    high, wide = parts.block
    inner = shape[2:]
    rows, columns = shape[0] // high, shape[1] // wide
    row, column = places(parts)
    total = coo.summed(values, row * columns + column, rows * columns)
    if parts.layout in (sparse_csr, sparse_csc):
        return total.reshape(shape)
    return total.reshape((rows, columns, high, wide, *inner)).transpose(1, 2).reshape(shape)


# ------------------------------------------------------------------------------------------ conversions


def coo_of(t: Tensor) -> Tensor:
    """A compressed tensor of elements, or of blocks, in coordinates."""
    parts = t._storage.parts
    if parts.plain.dim() != 1:
        raise NotImplementedError(
            f"a batch of layout {parts.layout} has no form in coordinates here: convert "
                                  "it with to_dense() first")
    row, column = places(parts)
    values = entries_of(t)
    if parts.layout in (sparse_csr, sparse_csc):
        made = coo.assembled(F.stack([row, column]), values, t._aval.shape, parts.by_rows, "ToSparse")
        return made if parts.by_rows else coo.coalesce(made)
    high, wide = parts.block
    inside = F.arange(high * wide, device=row.device)
    count = row.shape[0]
    rows = (row * high).repeat_interleave(high * wide) + F.div(inside, wide,
                                                               rounding_mode="floor").repeat(count)
    columns = (column * wide).repeat_interleave(high * wide) + (inside % wide).repeat(count)
    flat = values.reshape((count * high * wide, *values.shape[3:]))
    return coo.coalesce(coo.assembled(F.stack([rows, columns]), flat, t._aval.shape, False, "ToSparse"))


def _lines(numbers: Tensor, count: int) -> Tensor:
    """Where each of ``count`` lines begins, of the line of each entry in order."""
    ends = F.bincount(numbers, minlength=count).cumsum(0)
    return F.cat([ends.new_zeros(1), ends])


def compressed_of(t: Tensor, layout: Layout) -> Tensor:
    """A matrix in coordinates as CSR or CSC."""
    if len(coo.sparse_shape(t)) != 2:
        raise RuntimeError("Only tensors with two sparse dimensions can be converted to the "
                           f"{_short(layout)} layout, got {len(coo.sparse_shape(t))}")
    shape, inner = t._aval.shape, coo.dense_shape(t)
    by_rows = layout is sparse_csr
    ordered = coo.coalesce(t) if by_rows else coo.coalesce(
        coo.assembled(coo.parts_of(t).indices.flip(0), coo.entries(t), (shape[1], shape[0], *inner), False,
                      "Transpose"))
    lines, plain = coo.parts_of(ordered).indices.unbind(0)
    return built(_lines(lines, shape[0] if by_rows else shape[1]), plain, coo.entries(ordered), shape, layout,
                 "ToSparse")


def _short(layout: Layout) -> str:
    return "".join(word.capitalize() for word in layout.name.split("_"))


def blocks_of(t: Tensor, layout: Layout, blocksize: Any) -> Tensor:
    """A dense matrix as BSR or BSC: blocks that hold no zeros only."""
    if blocksize is None:
        raise RuntimeError(f"to_sparse_{layout.name[-3:]}: blocksize is missing")
    high, wide = (int(n) for n in blocksize)
    rows, columns = t._aval.shape[:2]
    if high < 1 or wide < 1 or rows % high or columns % wide:
        raise RuntimeError(
            f"dense_to_{layout.name}: tensor sparse size ({rows},{columns}) must be divisible by "
                           f"given blocksize ({high},{wide})")
    inner = t._aval.shape[2:]
    blocks = t.reshape((rows // high, high, columns // wide, wide, *inner)).transpose(1, 2)
    if layout is sparse_bsc:
        blocks = blocks.transpose(0, 1)
    count = blocks.shape[1]
    there = (blocks.detach() != 0).reshape((*blocks.shape[:2], -1)).any(-1)
    lines, plain = there.nonzero().unbind(1)
    values = blocks.reshape((-1, high, wide, *inner)).index_select(0, lines * count + plain)
    return built(_lines(lines, blocks.shape[0]), plain, values, t._aval.shape, layout, "ToSparse")


def of_dense(t: Tensor, layout: Layout, blocksize: Any, dense_dim: Any) -> Tensor:
    """A dense tensor in a compressed layout."""
    behind = dense_dim or 0
    batch = t._aval.ndim - 2 - behind
    if batch < 0:
        raise RuntimeError(f"to_{layout.name}: a tensor of at least {2 + behind} dimensions is needed, got "
                           f"{t._aval.ndim}")
    if layout in (sparse_bsr, sparse_bsc):
        def convert(x: Tensor) -> Tensor:
            return blocks_of(x, layout, blocksize)
    else:
        if blocksize is not None:
            raise RuntimeError(f"to_sparse for {_short(layout)} layout does not take a blocksize")

        def convert(x: Tensor) -> Tensor:
            return compressed_of(coo_of_dense(x, 2), layout)
    if not batch:
        return convert(t)
    lead = t._aval.shape[:batch]
    each = [convert(x) for x in t.flatten(0, batch - 1).unbind(0)]
    if len({x._storage.parts.plain.shape[0] for x in each}) > 1:
        raise RuntimeError("Expect the same number of specified elements per batch.")
    parts = [x._storage.parts for x in each]
    joined = [F.stack(list(column)).unflatten(0, lead) for column in (
        [p.compressed for p in parts], [p.plain for p in parts], [entries_of(x) for x in each])]
    return built(*joined, t._aval.shape, layout, "ToSparse")


def to_layout(t: Tensor, layout: Layout, blocksize: Any, dense_dim: Any) -> Tensor:
    """A sparse tensor of any layout in another one."""
    given = t._storage.parts.layout
    if layout is sparse_coo:
        return coo_of(t)
    if layout in (sparse_bsr, sparse_bsc) or (given is not sparse_coo and t._storage.parts.plain.dim() > 1):
        return of_dense(t.to_dense(), layout, blocksize, dense_dim)
    return compressed_of(t if given is sparse_coo else coo_of(t), layout)


def shape_of(compressed: Tensor, plain: Tensor, values: Tensor, layout: Layout) -> tuple[int, ...]:
    """The size that parts have where none is given: the last place that an entry has is the last there is."""
    parts = Compressed(compressed, plain, values, layout)
    high, wide = parts.block
    lines = compressed.shape[-1] - 1
    along = int(plain.amax().item()) + 1 if plain.numel() else 0
    rows, columns = (lines, along) if parts.by_rows else (along, lines)
    behind = plain.dim() + (2 if layout in (sparse_bsr, sparse_bsc) else 0)
    return (*plain.shape[:-1], rows * high, columns * wide, *values.shape[behind:])

