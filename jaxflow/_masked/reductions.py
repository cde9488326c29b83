"""Reductions over what counts: masked where nothing does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jaxflow import _functions as F
from jaxflow import masked as over
from jaxflow._core.layouts import has_parts
from jaxflow._core.tensor import Tensor

from .dispatch import on, refused
from .parts import cleared, data_of, is_masked, mask_of, reduced

#: The functions of ``torch.masked``, by their names.
_OVER: dict[str, Callable] = dict(
    sum=over.sum, mean=over.mean, amin=over.amin, amax=over.amax, argmin=over.argmin, argmax=over.argmax,
    prod=over.prod, norm=over.norm, var=over.var, std=over.std)


def _all(data: Tensor, dim: Any = None, keepdim: bool = False, mask: Tensor | None = None) -> Tensor:
    seen = data.masked_fill(~mask, True)
    return seen.all() if dim is None else seen.all(dim, keepdim)


def _reduction(name: str) -> Callable:
    fn = _OVER.get(name, _all)

    def reduce(original: Callable, input: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        mask, data = mask_of(input), data_of(input)
        whole = not args and not kwargs
        if has_parts(data):
            if not whole:
                raise refused(f"{name} over dimensions of sparse data")
            return reduced(_of_sparse(name, fn, data, mask), mask.values().any())
        data = cleared(input)
        if whole:
            return reduced(fn(data, mask=mask), mask.any())
        dim, keepdim, dtype = _arguments(name, *args, **kwargs)
        by_name = {} if fn is _all else {"dtype": dtype}
        found = fn(data, dim=dim, keepdim=keepdim, mask=mask, **by_name)
        dims = (dim,) if isinstance(dim, int) else dim
        for d in sorted((d % max(input.dim(), 1) for d in dims), reverse=True):
            mask = mask.any(d, keepdim)
        return reduced(found, mask)

    return reduce


def _arguments(name: str, dim: Any, keepdim: bool = False, dtype: Any = None) -> tuple:
    """Those of PyTorch's reductions of masked tensors."""
    return dim, keepdim, dtype


def _of_sparse(name: str, fn: Callable, data: Tensor, mask: Tensor) -> Tensor:
    """A reduction of all of sparse data: of its values; a place is that in the tensor, row by row."""
    found = fn(data.values(), mask=mask.values())
    if name not in ("argmin", "argmax"):
        return found
    rows = data.to_sparse_coo().coalesce().indices()
    place = F.zeros((), dtype=rows.dtype, device=rows.device)
    for row, extent in zip(rows.unbind(0), data.shape, strict=True):
        place = place * extent + row.index_select(0, found.long().reshape(1))
    return place.reshape(()).to(found.dtype)


def _with_both_masks(fn: Callable) -> Callable:
    """A function of ``torch.masked`` of what the mask of a tensor, and one that is given, let count."""
    def call(original: Callable, input: Tensor, *args: Any, mask: Tensor | None = None,
             **kwargs: Any) -> Tensor:
        if not is_masked(input) or has_parts(data_of(input)):
            raise refused("masked functions of these")
        own = mask_of(input)
        return original(data_of(input), *args, mask=own if mask is None else own & mask, **kwargs)
    return call


for _name in (*_OVER, "all"):
    on(_name)(_reduction(_name))
for _name, _fn in _OVER.items():
    on(f"masked.{_name}")(_with_both_masks(_fn))


@on("softmax")
def softmax(original: Callable, input: Tensor, dim: int, dtype: Any = None, **kwargs: Any) -> Tensor:
    """The softmax over what counts."""
    if has_parts(data_of(input)):
        raise refused("softmax of sparse data")
    return reduced(over.softmax(cleared(input), dim, dtype=dtype, mask=mask_of(input)), mask_of(input))



