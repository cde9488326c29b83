"""Reductions: of everything, over the ragged dimension, over dimensions that all rows share."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from jaxflow import _functions as F
from jaxflow._core import dtype as dtypes
from jaxflow._core.tensor import Tensor
from jaxflow._core.typeinfo import finfo, iinfo

from .dispatch import on
from .elementwise import pointwise
from .padding import packed, padded
from .parts import jagged, like, parts_of, values_of


def dim_of(t: Tensor, dim: int) -> int:
    """A dimension counted from the start. IndexError where there is none."""
    rank = t.dim()
    if not -rank <= dim < rank:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but got "
                         f"{dim})")
    return dim % rank


def inner_dim(t: Tensor, dim: int, name: str, ragged: bool = False) -> int:
    """The dimension of the values that is dimension ``dim`` of a nested tensor.

    Raises:
        RuntimeError: for the dimension that counts rows, and unless ``ragged`` for the ragged one.
    """
    dim = dim_of(t, dim)
    if dim == parts_of(t).dim and not ragged:
        raise RuntimeError(f"{name}(): not supported for NestedTensor on ragged dim")
    if dim == 0:
        raise RuntimeError(f"{name}(): not supported for NestedTensor on dim=0")
    return dim - 1


def _of_both(found: Any, change: Callable[[Tensor], Tensor]) -> Any:
    return type(found)(*map(change, found)) if isinstance(found, tuple) else change(found)


def _extreme(most: bool) -> Callable[[Any], Any]:
    def least_or_most(dtype: Any) -> Any:
        if dtype is dtypes.bool:
            return most
        found = finfo(dtype) if dtype.is_floating_point else iinfo(dtype)
        return found.max if most else found.min
    return least_or_most


#: What stands where a row has ended, so that it does not count, given the dtype.
_NEUTRAL: dict[str, Callable[[Any], Any]] = dict(
    sum=lambda dtype: 0, prod=lambda dtype: 1, any=lambda dtype: False, all=lambda dtype: True,
    amax=_extreme(False), max=_extreme(False), argmax=_extreme(False),
    amin=_extreme(True), min=_extreme(True), argmin=_extreme(True))


def _without_holes(t: Tensor, name: str) -> None:
    if parts_of(t).ragged.lengths is not None:
        raise RuntimeError(f"{name}(): reducing across the ragged dimension is not supported for "
                           "non-contiguous nested tensors with holes")


def _over(original: Callable, name: str, t: Tensor, dims: Sequence[int], several: bool, keepdim: bool,
          extra: dict) -> Any:
    """A reduction over dimensions of a nested tensor."""
    parts = parts_of(t)
    dims = list(dict.fromkeys(dim_of(t, d) for d in dims))
    batch, ragged = 0 in dims, parts.dim in dims
    if ragged:
        _without_holes(t, name)
    if batch and not ragged:
        raise RuntimeError(f"{name}(): reducing along the batch dimension but not the ragged dimension is "
                           "not supported for nested tensors")
    if ragged and not batch:
        if len(dims) > 1:
            raise RuntimeError(f"{name}(): reducing along a ragged and non-batch dimension is not supported "
                               "for nested tensors")
        dense = padded(values_of(t), parts.ragged, parts.dim, _NEUTRAL[name](t.dtype))
        return original(dense, dims if several else parts.dim, keepdim, **extra)
    inner = [d - 1 for d in dims if d]
    found = original(values_of(t), inner if several else inner[0], keepdim, **extra)
    if ragged:
        return _of_both(found, lambda x: x.unsqueeze(0)) if keepdim else found
    moved = 0 if keepdim else sum(d < parts.dim - 1 for d in inner)
    return _of_both(found, lambda x: jagged(x, parts.ragged, parts.dim - moved))


def _reduction(name: str) -> Callable:
    def reduce(original: Callable, input: Tensor, dim: Any = None, keepdim: bool = False,
               **extra: Any) -> Any:
        if name in ("max", "min") and isinstance(dim, Tensor):
            return pointwise(original, input, dim)
        if isinstance(dim, dtypes.dtype):
            dim, extra = None, {"dtype": dim}
        if dim is None or (isinstance(dim, (tuple, list)) and not dim):
            _without_holes(input, name)
            found = original(values_of(input), **extra)
            return found.reshape((1,) * input.dim()) if keepdim else found
        several = isinstance(dim, (tuple, list))
        return _over(original, name, input, dim if several else (dim,), several, keepdim, extra)
    return reduce


for _name in _NEUTRAL:
    on(_name)(_reduction(_name))


@on("mean")
def mean(original: Callable, input: Tensor, dim: Any = None, keepdim: bool = False, **extra: Any) -> Tensor:
    """The mean; over the ragged dimension, of as many elements as each row has."""
    parts = parts_of(input)
    if dim is None or (isinstance(dim, (tuple, list)) and not dim):
        _without_holes(input, "mean")
        return original(values_of(input), **extra)
    dims = [dim_of(input, d) for d in (dim if isinstance(dim, (tuple, list)) else (dim,))]
    if parts.dim in dims and 0 not in dims:
        if len(dims) > 1:
            raise AssertionError(
                "Cannot reduce on both ragged and non-batch dimensions without also reducing on batch")
        total = _over(F.sum, "sum", input, dims, True, True, extra)
        counts = parts.ragged.row_lengths().reshape(-1, *(1,) * (total.dim() - 1))
        found = total / counts
        return found if keepdim else found.squeeze(parts.dim)
    return _over(original, "mean", input, dims, True, keepdim, extra)


@on("softmax", "log_softmax")
def softmax(original: Callable, input: Tensor, dim: Any = None, *args: Any, **kwargs: Any) -> Tensor:
    """The softmax over one dimension; over the ragged one, of each row alone."""
    name, parts = original.__name__, parts_of(input)
    if isinstance(dim, tuple):
        raise RuntimeError(f"{name}(): not supported for dimensions of type 'tuple' for NestedTensor")
    at = dim_of(input, dim)
    if at == 0:
        raise RuntimeError(
            f"{name}(): not supported when reducing across the batch dimension for NestedTensor")
    if at != parts.dim:
        return like(parts, original(values_of(input), at - 1, *args, **kwargs))
    if name == "log_softmax":
        raise RuntimeError(
            "log_softmax(): not supported when reducing along the ragged dimension for NestedTensor")
    if parts.dim > 1:
        raise RuntimeError("softmax(): not supported when reducing along the ragged dimension for "
                           "ragged_idx > 1 for NestedTensor")
    if parts.ragged.lengths is not None:
        raise RuntimeError("softmax(): not supported where lengths is not None if reducing across the ragged "
                           "dimension for NestedTensor")
    dense = padded(values_of(input), parts.ragged, 1, -math.inf)
    return like(parts, packed(original(dense, 1, *args, **kwargs), parts.ragged, 1, parts.values.shape[0]))


@on("layer_norm")
def layer_norm(original: Callable, input: Tensor, normalized_shape: Sequence[int], *args: Any,
               **kwargs: Any) -> Tensor:
    """Normalized over the last dimensions, which all rows share."""
    parts = parts_of(input)
    if input.dim() <= 2:
        raise RuntimeError("layer_norm(): not supported for NestedTensor objects with 2 or fewer dimensions")
    shape = tuple(normalized_shape)
    if len(shape) >= input.dim():
        raise RuntimeError(
            "layer_norm(): not supported when normalizing over the batch dimension for NestedTensor")
    if len(shape) >= input.dim() - parts.dim:
        raise NotImplementedError(
            "layer_norm(): nested tensors are normalized here over dimensions behind the ragged one alone; "
            "to_padded_tensor(padding) gives an ordinary tensor")
    return like(parts, original(values_of(input), shape, *args, **kwargs))


@on("rms_norm")
def rms_norm(original: Callable, input: Tensor, normalized_shape: Sequence[int], *args: Any,
             **kwargs: Any) -> Tensor:
    """Normalized over the last dimensions, which all rows share."""
    parts = parts_of(input)
    if len(tuple(normalized_shape)) > input.dim() - parts.dim - 1:
        raise ValueError("rms_norm(): Normalization over the ragged dim not supported for nested tensors")
    return like(parts, original(values_of(input), normalized_shape, *args, **kwargs))
