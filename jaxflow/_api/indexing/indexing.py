"""``x[index]`` and ``x[index] = value``: views for the basic part, then a gather or a scatter.

A boolean mask has as many results as it has true elements, so reading by one is a sync point; writing
one number by a mask is not (it becomes ``where``). Whether integer indices are in range is no reason to
wait for them: NOTE [Faults found late].
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from jaxflow._api.creation.construct import from_array, tensor
from jaxflow._api.creation.host_arrays import put
from jaxflow._api.shape.copies import warn_of_real_part
from jaxflow._core import dtype as dtypes
from jaxflow._core.geometry import contiguous_strides, empty_like_strides, expand_geometry, overlaps
from jaxflow._core.index_data import type_name
from jaxflow._core.indexing import (
    Tensors,
    check_bounds,
    check_value_shape,
    gathered_strides,
    gathering,
    parse,
    parse_arrays,
    plain_steps,
    strip_leading_ones,
)
from jaxflow._core.numbers import check_fits_element
from jaxflow._core.state import state
from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.dispatch import apply, strides_of
from jaxflow._dispatch.held_operands import hold_also
from jaxflow._dispatch.result_layout import unless_contiguous
from jaxflow._dispatch.viewing import apply_view
from jaxflow._ops.scatter import other_dtype
from jaxflow._plans.op import OPS
from jaxflow._publish.composite import composite
from jaxflow._publish.publish import inplace_of
from jaxflow._publish.value_checks import Watch, guarded, run_under
from jaxflow._transforms.batching import Batched, refuse_batched
from jaxflow._views.values import value_of
from jaxflow._writes.inplace import PARTIAL_OVERLAP, apply_inplace, check_recorded, check_writable, layout_of
from jaxflow._writes.parts import settle


def _is_traced(t: Tensor) -> bool:
    return isinstance(value_of(t).get(), jax.core.Tracer)


def _is_batched(t: Tensor) -> bool:
    return value_of(t).__class__ is Batched


def _of_jax(item: Any) -> Tensor | None:
    return from_array(item, shared=True) if isinstance(item, jax.Array) else None


_TENSORS = Tensors(Tensor, lambda t: t._aval.dtype.name, _is_traced, _of_jax, _is_batched)


def _take(t: Tensor, steps: tuple) -> Tensor:
    for name, *static in steps:
        t = apply_view(name, t, tuple(static))
    return t


def _getitem(self: Tensor, index: Any) -> Tensor:
    if index.__class__ is slice and (isinstance(index.start, Tensor) or isinstance(index.stop, Tensor)):
        index = _with_numbers(index)
    steps = plain_steps(index, self._aval.shape)
    if steps is not None:
        return _take(self, steps)
    plan = parse(index, self._aval.shape, _TENSORS)
    view = _take(self, plan.steps)
    if not plan.advanced:
        return view
    watch = Watch()
    dims, indices = _indices(plan.advanced, view, watch)
    return watch.over(gather(view, dims, indices))


def _with_numbers(item: slice) -> slice:
    """``item`` with the numbers of the tensors of one integer that bound it, as in ``x[i:i + 8]``."""
    return slice(*[
        operator.index(x) if x.__class__ is Tensor and x._aval.numel == 1 and (
            x._aval.dtype.category <= dtypes.INTEGER) else x
        for x in (item.start, item.stop, item.step)])


def gather(view: Tensor, dims: tuple[int, ...], indices: list[Tensor]) -> Tensor:
    """``view`` indexed along ``dims`` by integer tensors."""
    out = apply(OPS["_index"], (view, *indices), (dims,))
    shape = gathering(view._aval.shape, dims, tuple(i._aval.shape for i in indices))
    layouts = [(i._aval.shape, strides_of(i)) for i in indices]
    stride = gathered_strides(shape, (view._aval.shape, strides_of(view)), layouts)
    out._stride = unless_contiguous(stride, out._aval.shape)
    return out


def _indices(advanced: tuple, view: Tensor, watch: Watch,
             value: Tensor | None = None) -> tuple[tuple[int, ...], list[Tensor]]:
    """The dimensions indexed and their integer index tensors; masks become their nonzero positions.

    A ``value`` that is to be written there is refused for its shape, and then for its dtype, before any index
    is for its number.
    """
    dims: list[int] = []
    indices: list[Tensor] = []
    device = view._aval.device
    for dim, index, is_mask in advanced:
        if is_mask:
            if isinstance(index, Tensor):
                refuse_batched("vmap: We do not support batching operators that can support dynamic shape. "
                               "Attempting to batch over indexing with a boolean mask.", index)
            mask = value_of(index).host() if isinstance(index, Tensor) else np.asarray(index)
            for k, positions in enumerate(np.nonzero(mask)):
                dims.append(dim + k)
                indices.append(put(positions, device))
            continue
        dims.append(dim)
        if isinstance(index, Tensor):
            indices.append(index if index._aval.device is device else index.to(device))
        else:
            indices.append(put(index, device))
    shape = gathering(view._aval.shape, tuple(dims), tuple(i._aval.shape for i in indices))
    if value is not None:
        check_value_shape(value._aval.shape, shape.size)
        have, want = (t._aval.dtype for t in (value, view))
        if have is not want:
            raise RuntimeError(
                "Index put requires the source and destination dtypes match, got "
                f"{want.scalar_name} for the destination and {have.scalar_name} for the source."
            )
    check_bounds(indices, shape, view._aval.shape, watch.within)
    return shape.dims, indices


def _setitem(self: Tensor, index: Any, value: Any) -> None:
    _check_assignable(value, self)
    if index is False:
        return
    if index is True:
        _assign(apply_view("unsqueeze", self, (0,)), value)
        return
    steps = plain_steps(index, self._aval.shape, writing=True)
    if steps is not None:
        _assign(_take(self, steps), value)
        return
    one = not isinstance(value, Tensor) or value._aval.numel == 1
    # PyTorch's kernel looks at index tensors, which autograd stands before.
    plan = parse(index, self._aval.shape, _TENSORS, writing=True, filling=one,
                 sooner=lambda steps: check_recorded((_take(self, steps), value)))
    view = _take(self, plan.steps)
    if not plan.advanced:
        _assign(view, value)
        return
    if not isinstance(value, Tensor):
        value = tensor(value, dtype=self._aval.dtype, device=self._aval.device)
    _put(view, plan.advanced, value, False)


def _check_assignable(value: Any, target: Tensor) -> None:
    """Refuse a right-hand side that is neither a tensor nor a Python number fit for the dtype."""
    if isinstance(value, Tensor):
        return
    if not isinstance(value, (int, float, complex, np.integer)):
        raise TypeError(
            f"can't assign a {type_name(value)} to a torch.{target._aval.dtype.scalar_name}Tensor"
        )
    if isinstance(value, (int, np.integer)) and not -(2**63) <= value < 2**63:
        raise ValueError("Overflow when unpacking long long")
    check_fits_element(value, target._aval.dtype)


def _assign(view: Tensor, value: Any) -> None:
    """Write a number, or a tensor that expands to it, over all of a view."""
    if not isinstance(value, Tensor):
        apply_inplace(OPS["_assign" if view._aval.ndim else "_copy"], (view, value))
        return
    shape = value._aval.shape
    if shape == view._aval.shape:
        view.copy_(value)
    elif not shape:
        warn_of_real_part(value, view)
        apply_inplace(OPS["_assign"], (view, value))
    else:
        stripped = strip_leading_ones(shape)
        if stripped != shape:
            value = apply_view("view", value, (stripped,))
        view.copy_(apply_view("expand", value, (view._aval.shape,)))


def _put(view: Tensor, advanced: tuple, value: Tensor, accumulate: bool,
         run: Callable = apply_inplace) -> Tensor:
    """Write (or add) ``value`` where index arrays and masks point; by `_anew` into a copy."""
    if run is apply_inplace:
        check_recorded((view, value))
        settle((view, value, *(a.index for a in advanced)))
    masked = len(advanced) == 1 and advanced[0].mask
    if masked and not accumulate and value._aval.numel == 1:
        return _fill_masked(view, advanced[0], value, run)
    watch = Watch()
    dims, indices = _indices(advanced, view, watch, value)
    if run is apply_inplace:
        for t in (value, *(a.index for a in advanced if not a.mask and isinstance(a.index, Tensor))):
            if t._storage is view._storage and (t is view or overlaps(layout_of(view), layout_of(t))):
                raise RuntimeError(PARTIAL_OVERLAP)
    out = run_under(watch, run, OPS["_index_put"], (view, value, *indices), (dims, accumulate))
    if state.grad and out._requires_grad and out._view is None:  # of masks the positions are held
        hold_also(out, *(a.index for a in advanced if a.mask and isinstance(a.index, Tensor)))
    return out


def _anew(op: Any, args: tuple, static: tuple = ()) -> Tensor:
    """What an in-place operation makes of its first operand, as a new tensor that lies like it."""
    like = args[0]
    out = apply(op, args, static, like._aval)
    out._stride = unless_contiguous(empty_like_strides(like._aval.shape, strides_of(like)), like._aval.shape)
    return out


def _fill_masked(view: Tensor, mask: Any, value: Tensor, run: Callable) -> Tensor:
    """One number written by a mask: a ``where``, which needs no sync."""
    index = mask.index
    if not isinstance(index, Tensor):
        index = put(index, view._aval.device)
    if index._aval.dtype is not dtypes.bool:
        index = index.to(dtypes.bool)
    shape = index._aval.shape
    ones = view._aval.ndim - mask.dim - len(shape)
    index = index.view(shape + (1,) * ones) if ones else index
    if value._aval.ndim:
        value = value.reshape(())
    return guarded(run, OPS["_masked_write"], (view, index, value), ())


def _delitem(self: Tensor, index: Any) -> None:
    raise TypeError("Tensor does not support deleting items")


Tensor.__getitem__ = _getitem
Tensor.__setitem__ = _setitem
Tensor.__delitem__ = _delitem


@composite("function", name="index", namespace="ops.aten")
def index(self: Tensor, indices: Any) -> Tensor:
    """``self`` at index tensors and masks, one for each dimension; None takes all of a dimension."""
    if not isinstance(indices, (tuple, list)) or not all(i is None or isinstance(i, Tensor) for i in indices):
        raise RuntimeError("Overloaded torch operator invoked from Python failed to match any schema:\n"
                           "aten::index() takes 'indices' as a list of tensors and None")
    if not indices:
        raise IndexError("at least one index must be provided")
    return _getitem(self, tuple(slice(None) if i is None else i for i in indices))


@composite("function method")
def index_put_(input: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Tensor:
    """Write (or with ``accumulate`` add) ``values`` where the index tensors point."""
    try:
        advanced = _index_tensors("index_put_", input, indices, values)
    except IndexError:
        check_recorded((input, values))  # autograd stands before the kernel, which looks at the indices
        raise
    _put(input, advanced, values, accumulate)
    return input


@composite("function method")
def index_put(input: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Tensor:
    """A copy of ``input`` with ``values`` written (or added) where the index tensors point."""
    return _put(input, _index_tensors("index_put", input, indices, values), values, accumulate, _anew)


@composite("method")
def masked_scatter_(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """`masked_scatter` into ``input``, to whose shape the mask is expanded; RuntimeError if it cannot be."""
    for i, (name, t) in enumerate((("mask", mask), ("source", source)), 1):
        if not isinstance(t, Tensor):
            raise TypeError(
                f"masked_scatter_(): argument '{name}' (position {i}) must be Tensor, not {type_name(t)}"
            )
    check_writable(input, input.requires_grad or source.requires_grad, (input, mask, source))
    if source._aval.dtype is not input._aval.dtype:
        raise other_dtype(input._aval.dtype.scalar_name, source._aval.dtype.scalar_name)
    shape = mask._aval.shape
    expand_geometry(shape, contiguous_strides(shape), input._aval.shape,
                    f"CPU{mask._aval.dtype.scalar_name}Type")
    return inplace_of(OPS["masked_scatter"])(input, mask, source)


def _index_tensors(name: str, input: Tensor, indices: Any, values: Any) -> tuple:
    if not isinstance(indices, (tuple, list)):
        raise TypeError(
            f"{name}(): argument 'indices' (position 1) must be tuple of Tensors, not "
            f"{type_name(indices)}"
        )
    if not isinstance(values, Tensor):
        raise TypeError(
            f"{name}(): argument 'values' (position 2) must be Tensor, not {type_name(values)}"
        )
    return parse_arrays(indices, input._aval.shape, _TENSORS)


@composite("function", name="_unsafe_masked_index")
def unsafe_masked_index(input: Tensor, mask: Tensor, indices: Any, fill: Any) -> Tensor:
    """``input`` at index tensors, with ``fill`` where ``mask`` is false; indices are not checked."""
    return guarded(apply, OPS["_unsafe_masked_index"], (input, mask, *indices, fill), ())


@composite("function", name="_unsafe_masked_index_put_accumulate")
def unsafe_masked_index_put_accumulate(input: Tensor, mask: Tensor, indices: Any, values: Tensor) -> Tensor:
    """``input`` with ``values`` added at index tensors where ``mask`` is true; indices are not checked."""
    return apply(OPS["_unsafe_masked_index_put_accumulate"], (input, mask, values, *indices))
