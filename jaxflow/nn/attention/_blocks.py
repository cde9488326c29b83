"""Which blocks of a matrix count: as a matrix of ones and zeros, and as a list of columns for each row.

A list of columns is two int32 tensors: ``counts`` of shape ``(..., rows)``, and ``columns`` of shape
``(..., rows, most)``, of which in each row the first ``counts`` are meant. What follows them has no meaning.
"""

from __future__ import annotations

from jaxflow._core import dtype as dtypes
from jaxflow._core.layout import contiguous_format
from jaxflow._core.tensor import Tensor
from jaxflow._functions import arange, where
from jaxflow.nn._functional import operations as F

Lists = tuple[Tensor, Tensor]


def dense_of(counts: Tensor, columns: Tensor, width: int) -> Tensor:
    """The matrix ``(..., rows, width)`` of int32 that is 1 at the listed columns."""
    meant = arange(columns.shape[-1], device=columns.device) < counts.unsqueeze(-1)
    at = where(meant, columns, width).long()  # what is not meant goes to one column more, which is left out
    zeros = columns.new_zeros((*columns.shape[:-1], width + 1), dtype=dtypes.int32)
    return zeros.scatter(-1, at, 1)[..., :width].contiguous()


def lists_of(dense: Tensor) -> Lists:
    """The listed columns of a matrix of ones and zeros: ascending, and then those that are not meant."""
    dense = dense.to(dtypes.int32)
    columns = dense.argsort(dim=-1, descending=True, stable=True)
    counts = dense.sum(-1)
    return tuple(t.to(dtypes.int32, memory_format=contiguous_format) for t in (counts, columns))


def transposed(counts: Tensor, columns: Tensor) -> Lists:
    """For each column the list of its rows."""
    return lists_of(dense_of(counts, columns, columns.shape[-1]).transpose(-2, -1))


def cropped(counts: Tensor, columns: Tensor, rows: int, width: int) -> Lists:
    """The lists of the upper left part of the matrix."""
    return lists_of(dense_of(counts, columns, columns.shape[-1])[..., :rows, :width])


def blocks_of(mask: Tensor, q_size: int, kv_size: int, separate: bool) -> tuple[Tensor, Tensor | None]:
    """Which blocks of a mask have a True in them, and which of these are True everywhere.

    Args:
        mask: bool, with up to four dimensions, the last two of queries and keys.
        q_size: rows of a block; what is missing from the last one is False.
        kv_size: columns of a block, likewise.
        separate: whether blocks that are True everywhere are in the second result alone.

    Returns:
        Two int8 tensors ``(B, H, rows of blocks, columns of blocks)``, the second None unless ``separate``.
    """
    if mask.dtype is not dtypes.bool:
        raise AssertionError(f"mask.dtype must be torch.bool, got {mask.dtype}")
    mask = mask[(None,) * (4 - mask.dim())]
    batches, heads, queries, keys = mask.shape
    rows, width = -(-queries // q_size), -(-keys // kv_size)
    mask = F.pad(mask, (0, width * kv_size - keys, 0, rows * q_size - queries))
    seen = mask.view(batches, heads, rows, q_size, width, kv_size).sum((3, 5))
    if not separate:
        return (seen > 0).to(dtypes.int8), None
    full = seen == q_size * kv_size
    return ((seen > 0) & ~full).to(dtypes.int8), full.to(dtypes.int8)


def spread(dense: Tensor, block: tuple[int, int], queries: int, keys: int) -> Tensor:
    """A bool matrix ``(..., queries, keys)``: for each element, whether its block counts.

    Raises:
        ValueError: when the blocks do not reach so far.
    """
    rows, width = (-(-n // size) for n, size in zip((queries, keys), block, strict=True))
    if dense.shape[-2] < rows or dense.shape[-1] < width:
        raise ValueError(
            f"block_mask lists blocks of {block} in {dense.shape[-2]} rows and {dense.shape[-1]} columns, "
            f"which do not reach to q_len={queries} and kv_len={keys}")
    tall, broad = (min(n, size) for n, size in zip((queries, keys), block, strict=True))
    dense = dense[..., :rows, :width].bool()[..., :, None, :, None]
    dense = dense.expand(*dense.shape[:-4], rows, tall, width, broad)
    return dense.reshape(*dense.shape[:-4], rows * tall, width * broad)[..., :queries, :keys]


def write_order(partial: Lists, full: Lists | None, q_columns: Tensor, full_q_columns: Tensor | None,
                descending: bool | None) -> tuple[Tensor, Tensor | None]:
    """In what turn each block adds to the gradient of its queries, where the turns are fixed.

    The turn of a block is its place among the blocks of the same queries, by the number of its keys.

    Args:
        partial: for each row of blocks its columns that are masked in part.
        full: likewise, those that are not masked.
        q_columns: for each column of blocks the rows of ``partial``.
        full_q_columns: likewise, of ``full``.
        descending: count from the last keys instead of the first.

    Returns:
        Two int32 tensors like ``q_columns`` and ``full_q_columns``, None for None.
    """
    width, rows = q_columns.shape[-2], partial[1].shape[-2]
    dense = dense_of(*partial, width)
    if full is not None:
        dense = dense | dense_of(*full, width)
    reached = dense.cumsum(-1)
    turn = reached - dense
    if descending:
        turn = reached[..., -1:] - 1 - turn

    def turns_at(columns: Tensor) -> Tensor:
        at = columns.long().clamp(0, rows - 1)
        by_column = turn.transpose(-2, -1)
        return by_column.expand(*at.shape[:-2], *by_column.shape[-2:]).gather(-1, at).to(dtypes.int32)

    return turns_at(q_columns), None if full is None or full_q_columns is None else turns_at(full_q_columns)
