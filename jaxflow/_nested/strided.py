"""Nested tensors of the strided layout: how they are made, and how their elements are moved.

Rows have any sizes, with as many dimensions each. The sizes are numbers of Python, so where an element goes
is worked out in NumPy, and the elements are then looked up at once.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxflow import _functions as F
from jaxflow._core.tensor import Tensor
from jaxflow._core.warning import warn_once

from .padding import number_of
from .parts import counts, parts_of, pieces, values_of

_PROTOTYPE = (
    "The PyTorch API of nested tensors is in prototype stage, and may change. layout=torch.jagged, for rows "
    "that differ in one extent, is the layout that is developed further")


def of_rows(rows: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """A nested tensor without history, of a list of tensors or of what `torch.tensor` takes."""
    if not isinstance(rows, list):
        raise TypeError("Only lists (List[Tensor] and List[List...[Scalar]]) are accepted in nested_tensor")
    return of_tensors([t.detach() if isinstance(t, Tensor) else F.tensor(t, dtype=dtype, device=device)
                       for t in rows], dtype, device)


def of_tensors(rows: Sequence[Tensor], dtype: Any = None, device: Any = None) -> Tensor:
    """A nested tensor of copies of tensors, with their history. RuntimeError for several ranks."""
    warn_once(_PROTOTYPE)
    if not rows:
        return pieces(F.empty(0, dtype=dtype, device=device), ())
    for i, t in enumerate(rows):
        if t.dim() != rows[0].dim():
            raise RuntimeError(
                f"All Tensors given to nested_tensor must have the same dimension. Found dimension {t.dim()} "
                f"for Tensor at index {i} and dimension {rows[0].dim()} for Tensor at index 0.")
    dtype = dtype or rows[0].dtype
    device = device or rows[0].device
    values = F.cat([t.reshape(-1).to(device=device, dtype=dtype) for t in rows])
    return pieces(values, [tuple(t.shape) for t in rows])


def places(sizes: Sequence[Sequence[int]]) -> list[np.ndarray]:
    """For each row, an array of its size: where each element stands among all."""
    starts = [0, *itertools.accumulate(counts(sizes))]
    return [np.arange(a, b).reshape(size) for a, b, size in zip(starts, starts[1:], sizes, strict=False)]


def _looked_up(values: Tensor, index: np.ndarray) -> Tensor:
    return values.index_select(0, F.tensor(index.astype(np.int64), device=values.device))


def rearranged(t: Tensor, rows: Sequence[np.ndarray], contiguous: bool = True) -> Tensor:
    """A nested tensor whose rows hold elements of ``t``: each where an array says."""
    index = np.concatenate([r.reshape(-1) for r in rows]) if rows else np.zeros(0)
    return pieces(_looked_up(values_of(t), index), [r.shape for r in rows], contiguous)


def resized(t: Tensor, sizes: Sequence[Sequence[int]]) -> Tensor:
    """The same elements in rows of other sizes."""
    return pieces(values_of(t), sizes, parts_of(t).contiguous)


def _widths(sizes: Sequence[Sequence[int]]) -> tuple[int, ...]:
    return tuple(max(column) for column in zip(*sizes, strict=True))


def dense(t: Tensor, padding: Any, shape: Sequence[int] | None = None) -> Tensor:
    """The rows as one dense tensor, with ``padding`` where a row has no element.

    Raises:
        RuntimeError: if ``shape`` has no room for a row.
    """
    sizes, values = parts_of(t).sizes, values_of(t)
    widths = _widths(sizes)
    if shape is not None:
        if len(shape) != len(widths) + 1 or any(a < b for a, b in zip(shape[1:], widths, strict=False)):
            raise RuntimeError("Value in output_size is less than NestedTensor padded size. Truncation is "
                               "not supported.")
        widths = tuple(shape[1:])
    total = values.shape[0]
    index = np.full((len(sizes) if shape is None else shape[0], *widths), total)
    for where, row in zip(index, places(sizes), strict=False):
        where[tuple(slice(n) for n in row.shape)] = row
    more = F.full((1,), number_of(values, padding), dtype=values.dtype, device=values.device)
    return _looked_up(F.cat([values, more]), index.reshape(-1)).reshape(index.shape)


def gathered(t: Tensor, sizes: Sequence[Sequence[int]]) -> Tensor:
    """The nested tensor with rows of these sizes that a dense one holds: each at the beginning."""
    whole = np.arange(t.numel()).reshape(tuple(t.shape))
    rows = [block[tuple(slice(n) for n in size)] for block, size in zip(whole, sizes, strict=True)]
    index = np.concatenate([r.reshape(-1) for r in rows]) if rows else np.zeros(0)
    return pieces(_looked_up(t.reshape(-1), index), [r.shape for r in rows])


def unbound(t: Tensor) -> tuple[Tensor, ...]:
    """The rows as ordinary tensors, with their history."""
    sizes = parts_of(t).sizes
    return tuple(v.reshape(size) for v, size in zip(values_of(t).split(counts(sizes)), sizes, strict=True))
