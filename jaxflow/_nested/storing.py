"""Nested tensors in checkpoints of PyTorch's format: what is written of them, and what is made of that."""

from __future__ import annotations

import itertools
from typing import Any

from jaxflow import _functions as F
from jaxflow._core import dtype as dtypes
from jaxflow._core.geometry import contiguous_strides
from jaxflow._core.tensor import Tensor

from .parts import Jagged, counts, parts_of, pieces, view_of
from .ragged import Ragged


def stored(t: Tensor) -> tuple[str, tuple]:
    """The name of the function that makes a nested tensor again, and its arguments."""
    parts = parts_of(t)
    if parts.__class__ is Jagged:
        ragged = parts.ragged
        lengths = {"min_seqlen": ragged.least, "max_seqlen": ragged.most}
        known = {name: F.zeros(n, 0) for name, n in lengths.items() if n is not None}
        return "torch.nested._internal.nested_tensor._rebuild_njt", ({
            "values": parts.values.detach(), "offsets": ragged.offsets, "lengths": ragged.lengths,
            "_ragged_idx": parts.dim, "_metadata_cache": known, "requires_grad": t.requires_grad},)
    if not parts.sizes:
        raise NotImplementedError("a nested tensor of the strided layout without rows is not saved")
    sizes = F.tensor([list(size) for size in parts.sizes], dtype=dtypes.int64)
    strides = F.tensor([list(contiguous_strides(size)) for size in parts.sizes], dtype=dtypes.int64)
    starts = [0, *itertools.accumulate(counts(parts.sizes))][:-1]
    offsets = F.tensor(starts, dtype=dtypes.int64)
    return "torch._utils._rebuild_nested_tensor", (parts.values.detach(), sizes, strides, offsets)


def jagged_again(given: dict) -> Tensor:
    """The nested tensor of the jagged layout that `stored` wrote, or PyTorch."""
    known = given.get("_metadata_cache") or {}
    least, most = (known[k].shape[0] if k in known else None for k in ("min_seqlen", "max_seqlen"))
    ragged = Ragged(given["offsets"], given.get("lengths"), least, most)
    made = view_of(given["values"].detach(), ragged, given.get("_ragged_idx", 1))
    return made.requires_grad_() if given.get("requires_grad") else made


def pieces_again(values: Tensor, sizes: Tensor, strides: Tensor, offsets: Tensor) -> Tensor:
    """The nested tensor of the strided layout that `stored` or PyTorch wrote. RuntimeError for gaps."""
    rows: Any = [tuple(size) for size in sizes.tolist()]
    starts = [0, *itertools.accumulate(counts(rows))]
    wanted = [list(contiguous_strides(size)) for size in rows]
    if offsets.tolist() != starts[:-1] or strides.tolist() != wanted:
        raise RuntimeError("the checkpoint holds a nested tensor whose rows are not contiguous: save "
                           "contiguous()")
    return pieces(values[:starts[-1]], rows)
