"""Making sparse tensors: of indices and values, of dense tensors, of nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from jaxflow import _functions as F
from jaxflow._core import dtype as dtypes
from jaxflow._core.layout import sparse_coo
from jaxflow._core.layouts import has_parts
from jaxflow._core.tensor import Tensor

from . import invariants
from .coo import assembled, at_places, dense, flat, parts_of
from .dispatch import on
from .nodes import recorded


def as_tensor(x: Any, dtype: Any, device: Any) -> Tensor:
    """``x`` as a tensor, with its history if it is one."""
    if isinstance(x, Tensor):
        if has_parts(x):
            return x
        return x if dtype is None and device is None else x.to(device=device, dtype=dtype)
    return F.tensor(x, dtype=dtype, device=device)


def _need_dense(t: Tensor, what: str) -> None:
    if has_parts(t):
        raise RuntimeError(f"expected {what} to be a dense tensor, but got {what} of layout "
                           f"{_shown(t._storage.parts.layout)}")


def _shown(layout: Any) -> str:
    return "Sparse" if layout is sparse_coo else "".join(w.capitalize() for w in layout.name.split("_"))


def sparse_coo_tensor(*args: Any, dtype: Any = None, device: Any = None, pin_memory: bool = False,
                      requires_grad: bool = False, check_invariants: bool | None = None,
                      is_coalesced: bool | None = None, size: Any = None, indices: Any = None,
                      values: Any = None) -> Tensor:
    """`torch.sparse_coo_tensor`, in its three forms."""
    given = list(args)
    if len(given) == 1 and indices is None and values is None:  # the size alone
        size, given = given[0], []
    indices = given.pop(0) if given else indices
    values = given.pop(0) if given else values
    size = given.pop(0) if given else size
    if given or (indices is None) != (values is None) or (indices is None and size is None):
        raise TypeError(
            "sparse_coo_tensor() received an invalid combination of arguments: it takes (indices, values, "
            "size=None) or (size), and dtype, device, pin_memory, requires_grad, check_invariants, "
            "is_coalesced "
            "by name")
    if indices is None:
        return _finished(empty(tuple(size), dtype, device), requires_grad)
    values = as_tensor(values, dtype, device)
    if not isinstance(indices, Tensor):
        indices = F.tensor(indices, device=values.device)
    _need_dense(indices, "indices")
    _need_dense(values, "values")
    indices = indices.detach()
    if indices.dtype is not dtypes.int64 or indices.device != values.device:
        indices = indices.to(device=values.device, dtype=dtypes.int64)
    if values.dim() == 0:
        values = values.reshape(1)
    shape = _checked_size(indices, values, size)
    if invariants.wanted(check_invariants):
        invariants.check_coo(indices, shape, bool(is_coalesced))
    made = assembled(indices, values, shape, bool(is_coalesced))
    return _finished(made, requires_grad)


def _finished(t: Tensor, requires_grad: bool) -> Tensor:
    if requires_grad:
        if t._aval.dtype.category < 2:
            raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
        t = t if t.requires_grad else t.requires_grad_()
    return t


def _checked_size(indices: Tensor, values: Tensor, size: Any) -> tuple[int, ...]:
    if indices.dim() != 2:
        raise RuntimeError(f"indices must be sparse_dim x nnz, but got: {list(indices.shape)}")
    if indices.shape[1] != values.shape[0]:
        raise RuntimeError("indices and values must have same nnz, but got nnz from indices: "
                           f"{indices.shape[1]}, nnz from values: {values.shape[0]}")
    inner = tuple(values.shape[1:])
    if size is None:
        if not indices.shape[1]:
            return (*(0,) * indices.shape[0], *inner)
        if not indices.shape[0]:
            return inner
        for d, least in enumerate(indices.amin(1).tolist()):
            if least < 0:
                raise RuntimeError(f"found negative index {least} for dim {d}")
        return (*(most + 1 for most in indices.amax(1).tolist()), *inner)
    shape = tuple(int(n) for n in size)
    if len(shape) != indices.shape[0] + len(inner):
        raise RuntimeError(
            f"'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = {len(shape)}, sparse_dim = "
            f"{indices.shape[0]}, dense_dim = {len(inner)}")
    if any(n < 0 for n in shape):
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(shape)}: {list(shape)}")
    if shape[indices.shape[0]:] != inner:
        raise RuntimeError(
            f"values has incorrect size, expected {[values.shape[0], *shape[indices.shape[0]:]]}, got "
            f"{list(values.shape)}")
    return shape


def empty(size: Sequence[int], dtype: Any = None, device: Any = None,
          sparse_dim: int | None = None) -> Tensor:
    """A tensor without entries; all its dimensions are sparse unless ``sparse_dim`` is given."""
    size = tuple(size)
    if any(n < 0 for n in size):
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(size)}: {list(size)}")
    count = len(size) if sparse_dim is None else sparse_dim
    indices = F.zeros((count, 0), dtype=dtypes.int64, device=device)
    return assembled(indices, F.zeros((0, *size[count:]), dtype=dtype, device=device), size, True)


def empty_of(name: str, size: Sequence[int], dtype: Any, layout: Any, device: Any,
             requires_grad: bool) -> Tensor:
    """``torch.zeros`` and its like, of another layout than strided."""
    if name not in ("zeros", "empty"):
        raise RuntimeError("full(...) is not implemented for sparse layout")
    if layout is sparse_coo:
        return _finished(empty(size, dtype, device), requires_grad)
    blocks = layout.name in ("sparse_bsr", "sparse_bsc")
    if blocks or len(size) != 2:
        raise NotImplementedError(
            f"{name}() of layout {layout} and size {list(size)}: make it of its parts by "
                                  "torch.sparse_compressed_tensor()")
    return F.zeros(size, dtype=dtype, device=device).to_sparse(layout=layout).requires_grad_(requires_grad)


# ---------------------------------------------------------------------------------------- conversions


def coo_of_dense(t: Tensor, sparse_dim: int) -> Tensor:
    """A dense tensor in coordinates: an entry where not all behind ``sparse_dim`` dimensions is zero."""
    shape, rank = t._aval.shape, t._aval.ndim
    if sparse_dim > rank:
        raise RuntimeError(f"dense_to_sparse: sparse_dim argument must be in [0,{rank}] range, but "
                           f"{sparse_dim} is given")
    if rank and sparse_dim <= 0:
        raise RuntimeError("dense_to_sparse: sparse_dim argument must be in >0 when self.dim()>0")
    there = t.detach() != 0
    if rank > sparse_dim:
        there = there.reshape((*shape[:sparse_dim], -1)).any(-1)
    indices = there.nonzero().t() if sparse_dim else F.zeros(
        (0, int(there.item())), dtype=dtypes.int64, device=t.device)
    rows = t.reshape((math.prod(shape[:sparse_dim]), *shape[sparse_dim:]))
    values = rows.index_select(0, flat(indices, shape[:sparse_dim]))
    return assembled(indices.contiguous(), values, shape, True, "ToSparse")


@on("sparse_mask")
def sparse_mask(self: Tensor, mask: Tensor) -> Tensor:
    """The elements of ``self`` at the places where ``mask`` has entries."""
    if self._aval.shape != mask._aval.shape:
        raise RuntimeError(
            f"sparse_mask(): operands have incompatible sizes; self has size {list(self._aval.shape)} but "
            "mask "
            f"has size {list(mask._aval.shape)}")
    parts = parts_of(mask)
    return assembled(parts.indices, at_places(self, parts.indices), self._aval.shape, parts.coalesced,
                     "SparseMask")


@on("to_dense")
def to_dense(self: Tensor, dtype: Any = None, *, masked_grad: bool | None = None) -> Tensor:
    """The dense tensor of the same elements."""
    if dtype is not None:
        raise RuntimeError("dtype argument is not supported by sparse_to_dense")
    count = parts_of(self).indices.shape[0]
    if masked_grad is False and self.requires_grad:
        return recorded(dense(self.detach()), "ToDense", [(self, lambda grad: coo_of_dense(grad, count))])
    return dense(self)
