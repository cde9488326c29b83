"""Copies with one view of them replaced: ``select_scatter`` and its like; they lie as what they copy.

PyTorch copies all of the memory of a view here, and the copy shows it where the view did: with the view's
strides, gaps and offset. An operation gives results without gaps, so what is a view is copied apart, and
the result shows that; its history is the operation's.
"""

from __future__ import annotations

from collections.abc import Sequence

from jaxflow._api.forms import required_dim
from jaxflow._core.geometry import empty_like_strides, has_internal_overlap
from jaxflow._core.levels import LEVELS
from jaxflow._core.modes import Changed
from jaxflow._core.state import state
from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.dispatch import apply, plan_of, strides_of
from jaxflow._dispatch.result_layout import unless_contiguous
from jaxflow._dispatch.viewing import alias, apply_view
from jaxflow._plans.op import OPS
from jaxflow._publish.composite import composite
from jaxflow._publish.publish import function_of
from jaxflow._views.chain import root_of
from jaxflow._views.history import set_history

from .copies import warn_of_real_part
from .views import ints


def _replaced(name: str, input: Tensor, src: Tensor, static: tuple, result: Tensor) -> Tensor:
    """The ``result`` of a copy of ``input`` with the view ``name`` of it replaced, where ``input`` lies."""
    if src._requires_grad and state.grad and not result._requires_grad:  # integers, or bools
        raise RuntimeError(f"Autograd not support dtype: {result._aval.dtype.scalar_name}")
    warn_of_real_part(src, input)
    shape, stride = input._aval.shape, strides_of(input)
    if input._view is None or state.axes or LEVELS or has_internal_overlap(shape, stride):
        return result
    shown = Changed(state, grad=False).run(_copied, name, input, src, static, shape, stride)
    if result._grad_fn is not None:
        set_history(shown, result._grad_fn, result._output_nr)
    return shown


def _copied(name: str, input: Tensor, src: Tensor, static: tuple, shape: tuple, stride: tuple) -> Tensor:
    room = input.untyped_storage().nbytes() // input._aval.dtype.itemsize
    copy = input.detach().as_strided((room,), (1,), 0).clone()
    shown = copy.as_strided(shape, stride, input.storage_offset())
    apply_view(name, shown, static).copy_(src)
    return alias(shown, own_version=True)


@composite()
def select_scatter(input: Tensor, src: Tensor, dim: int | None = None, index: int | None = None, *,
                   axis: int | None = None) -> Tensor:
    """``input`` with the slice at ``index`` along ``dim`` replaced by ``src``."""
    dim = required_dim("select_scatter", dim, axis)
    if index is None:
        raise TypeError('select_scatter() missing 1 required positional arguments: "index"')
    result = function_of(OPS["select_scatter"])(input, src, dim, index)
    return _replaced("select", input, src, (dim, index), result)


@composite()
def slice_scatter(input: Tensor, src: Tensor, dim: int = 0, start: int | None = None, end: int | None = None,
                  step: int = 1, *, axis: int | None = None, out: Tensor | None = None) -> Tensor:
    """``input`` with ``start:end:step`` along ``dim`` replaced by ``src``."""
    dim = dim if axis is None else axis
    result = function_of(OPS["slice_scatter"])(input, src, dim, start, end, step, out=out)
    return result if out is not None else _replaced("slice", input, src, (dim, start, end, step), result)


@composite()
def diagonal_scatter(input: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """``input`` with the diagonal of two dimensions replaced by ``src``."""
    result = function_of(OPS["diagonal_scatter"])(input, src, offset, dim1, dim2)
    return _replaced("diagonal", input, src, (offset, dim1, dim2), result)


@composite()
def as_strided_scatter(input: Tensor, src: Tensor, size: Sequence[int], stride: Sequence[int],
                       storage_offset: int | None = None) -> Tensor:
    """A copy of ``input`` with what `as_strided` shows of it replaced by ``src``."""
    place = (ints((size,)), ints((stride,)), storage_offset)
    plan, shape, strides = plan_of(input), input._aval.shape, strides_of(input)
    if has_internal_overlap(shape, strides):  # its copy has memory for each element
        plan = root_of(input._aval, unless_contiguous(empty_like_strides(shape, strides), shape))
    static = (tuple(plan.geometry), *place)
    result = apply(OPS["_as_strided_scatter"], (input, src), static)
    return _replaced("as_strided", input, src, place, result)
