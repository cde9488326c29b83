"""``x[index]`` and ``x[index] = value``: views for the basic part, then a gather or a scatter.

NOTE [Data-dependent indices]
    A boolean mask has as many results as it has true elements, so reading by one is a sync point; writing
    one number by a mask is not (it becomes ``where``). Whether integer indices are in range is checked at
    the call when their values are known already, and not by forcing what is still owed.
"""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from jaxflow._core import dtype as dtypes
from jaxflow._core.geometry import contiguous_strides
from jaxflow._core.indexing import Tensors, gathered_strides, gathering, parse
from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.composite import composite
from jaxflow._dispatch.door import apply, strides_of, value_of
from jaxflow._dispatch.inplace import apply_inplace
from jaxflow._dispatch.op import OPS
from jaxflow._dispatch.viewing import apply_view

from .construct import put, tensor

_TENSORS = Tensors(Tensor, lambda t: t._aval.dtype.name)


def _take(t: Tensor, steps: tuple) -> Tensor:
    for name, *static in steps:
        t = apply_view(name, t, tuple(static))
    return t


def _getitem(self: Tensor, index: Any) -> Tensor:
    plan = parse(index, self._aval.shape, _TENSORS)
    view = _take(self, plan.steps)
    if not plan.advanced:
        return view
    dims, indices = _indices(plan.advanced, view)
    return gather(view, dims, indices)


def gather(view: Tensor, dims: tuple[int, ...], indices: list[Tensor]) -> Tensor:
    """``view`` indexed along ``dims`` by integer tensors."""
    shape = gathering(view._aval.shape, dims, tuple(i._aval.shape for i in indices))
    out = apply(OPS["_index"], (view, *indices), (dims,))
    layouts = [(i._aval.shape, strides_of(i)) for i in indices]
    stride = gathered_strides(shape, (view._aval.shape, strides_of(view)), layouts)
    out._stride = None if stride == contiguous_strides(out._aval.shape) else stride
    return out


def _indices(advanced: tuple, view: Tensor) -> tuple[tuple[int, ...], list[Tensor]]:
    """The dimensions indexed and their integer index tensors; masks become their nonzero positions."""
    dims: list[int] = []
    indices: list[Tensor] = []
    for dim, index, is_mask in advanced:
        if is_mask:
            found = np.nonzero(np.asarray(value_of(index).get() if isinstance(index, Tensor) else index))
            for k, positions in enumerate(found):
                dims.append(dim + k)
                indices.append(put(positions, view._aval.device))
            continue
        _check_range(index, dim, view._aval.shape[dim])
        if not isinstance(index, Tensor):
            index = put(np.asarray(index), view._aval.device)
        elif index._aval.device is not view._aval.device:
            index = index.to(view._aval.device)
        dims.append(dim)
        indices.append(index)
    return tuple(dims), indices


def _check_range(index: Any, dim: int, extent: int) -> None:
    if isinstance(index, Tensor):
        value = value_of(index)
        if value.place is not None or isinstance(value.array, jax.core.Tracer) or (
            index._aval.device.type != "cpu"
        ):
            return
        index = np.asarray(value.array)
    if index.size == 0:
        return
    low, high = int(index.min()), int(index.max())
    if low < -extent or high >= extent:
        bad = low if low < -extent else high
        raise IndexError(
            f"index {bad} is out of bounds for dimension {dim} with size {extent}"
        )


def _setitem(self: Tensor, index: Any, value: Any) -> None:
    if index is False or (isinstance(index, tuple) and any(i is False for i in index)):
        return
    plan = parse(index, self._aval.shape, _TENSORS, writing=True)
    view = _take(self, plan.steps) if plan.steps else self
    if not plan.advanced:
        _assign(view, value)
        return
    value = _as_value(value, self)
    if len(plan.advanced) == 1 and plan.advanced[0].mask and value._aval.numel == 1 and (
        isinstance(plan.advanced[0].index, Tensor)
    ):
        _fill_masked(view, plan.advanced[0], value)
        return
    dims, indices = _indices(plan.advanced, view)
    scatter_(view, dims, indices, value, False)


def scatter_(view: Tensor, dims: tuple[int, ...], indices: list[Tensor], value: Tensor,
             accumulate: bool) -> Tensor:
    """Write (or add) ``value`` into ``view`` where ``indices`` point along ``dims``."""
    if any(i._aval.numel == 0 for i in indices):
        gathering(view._aval.shape, dims, tuple(i._aval.shape for i in indices))
    return apply_inplace(OPS["_index_put"], (view, value, *indices), (dims, accumulate))


def _as_value(value: Any, target: Tensor) -> Tensor:
    """The right-hand side of an assignment as a tensor of the target's dtype."""
    if not isinstance(value, Tensor):
        if isinstance(value, (list, tuple)) or not isinstance(
            value, (bool, int, float, complex, np.generic, np.ndarray)
        ):
            raise TypeError(f"can't assign a {type(value).__name__} to a torch.{_name(target)}Tensor")
        return tensor(value, dtype=target._aval.dtype, device=target._aval.device)
    if value._aval.dtype is not target._aval.dtype:
        raise RuntimeError(
            "Index put requires the source and destination dtypes match, got "
            f"{target._aval.dtype.scalar_name} for the destination and "
            f"{value._aval.dtype.scalar_name} for the source."
        )
    return value


def _name(t: Tensor) -> str:
    return t._aval.dtype.scalar_name


def _assign(view: Tensor, value: Any) -> None:
    if isinstance(value, Tensor):
        shape = value._aval.shape
        extra = len(shape) - view._aval.ndim
        if extra > 0 and all(n == 1 for n in shape[:extra]):
            value = apply_view("view", value, (shape[extra:],))
        view.copy_(value)
    elif isinstance(value, (bool, int, float, complex)) and not (
        isinstance(value, complex) and view._aval.dtype.category < dtypes.COMPLEX
    ):
        view.fill_(value)
    else:
        view.copy_(_as_value(value, view))


def _fill_masked(view: Tensor, mask: Any, value: Tensor) -> None:
    """One number written by a mask: a ``where``, which needs no sync."""
    index = mask.index
    if index._aval.dtype is not dtypes.bool:
        index = index.to(dtypes.bool)
    shape = index._aval.shape
    ones = view._aval.ndim - mask.dim - len(shape)
    index = index.view(shape + (1,) * ones) if ones else index
    if value._aval.ndim:
        value = value.reshape(())
    apply_inplace(OPS["_masked_write"], (view, index, value))


Tensor.__getitem__ = _getitem
Tensor.__setitem__ = _setitem


@composite("function method")
def index_put_(input: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Tensor:
    """Write (or with ``accumulate`` add) ``values`` where the index tensors point."""
    advanced = parse(tuple(indices), input._aval.shape, _TENSORS, writing=True)
    dims, found = _indices(advanced.advanced, input)
    return scatter_(input, dims, found, values, accumulate)


@composite("function method")
def index_put(input: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Tensor:
    """A copy of ``input`` with ``values`` written (or added) where the index tensors point."""
    return index_put_(input.clone(), indices, values, accumulate)
