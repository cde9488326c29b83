"""Tensors that take another shape: from where they start in their memory, or in memory of their own.

NOTE [Another shape in the same memory]
    As in PyTorch a tensor that takes another shape keeps its memory where that has room for it: a view goes
    on being a view of its base, and what a tensor had beyond its end comes back when it grows again.
    Where the memory is too small PyTorch lets it grow for all tensors that show it. An array of XLA cannot
    grow: a tensor that has a storage for itself moves to a larger one, and one that shares it is refused.
"""

from __future__ import annotations

import gc
import sys
from typing import NamedTuple

from jaxflow._core.fields import rebind_rows
from jaxflow._core.geometry import contiguous_strides, storage_extent
from jaxflow._core.shared import any_shared
from jaxflow._core.tensor import Tensor, ViewInfo, version_cell
from jaxflow._ops.positions import capacity

from .door import apply, plan_of
from .history import history_rows, refreshed
from .inplace import apply_inplace
from .op import OPS
from .viewing import alias, apply_view, show
from .writes import write


def take_result(t: Tensor, result: Tensor, stride: tuple[int, ...] | None, recorded: bool) -> None:
    """Let ``t`` have the shape and the elements of ``result``, all at once; it counts as one write.

    Args:
        t: what changes.
        result: of another shape and the same dtype.
        stride: how ``t`` lies after it; None for contiguous.
        recorded: whether ``t`` becomes a copy of ``result`` for autograd, and not the very result.

    Raises:
        RuntimeError: ``t`` is a view whose storage would have to grow.
    """
    view = in_place(t, result._aval.shape, stride)
    if view is not None:
        before = t._view, t._grad_fn  # kept until the call is over
        if recorded:
            apply_inplace(OPS["_copy"], (view, result), asking=lambda copy: _Shown(t, view, copy))
        else:
            write(view, result, beside=_Shown(t, view, result))
        del before
        return
    if recorded:
        operand = alias(result)
        if refreshed(t)._requires_grad:  # its elements get a gradient of zero, in the shape that it had
            total = apply(OPS["sum"], (t,), (None, False, None))
            operand = apply_view("expand", total, (result._aval.shape,))
        result = apply(OPS["_copy"], (operand, result), ())
    result._stride = stride
    history = history_rows(t, result._grad_fn, result._output_nr) if result._grad_fn is not None else ()
    cell = version_cell(t)
    show(t, result, (list.__setitem__, cell, 0, cell[0] + 1), *history)


def in_place(t: Tensor, size: tuple[int, ...], stride: tuple[int, ...] | None) -> Tensor | None:
    """A fresh tensor that shows the memory of ``t`` from where it starts, as ``t`` itself is to show it.

    None where the memory is too small and ``t`` has it for itself; RuntimeError where it shares it.
    """
    plan = plan_of(t)
    stride = contiguous_strides(size) if stride is None else stride
    room = capacity(plan.geometry)
    if storage_extent(size, stride, plan.offset) > room:
        if any_shared((t._storage,)):
            raise RuntimeError("Trying to resize storage that is not resizable")
        is_view = t._view is not None and (t._view.base is not None or plan.offset)
        if not room or not (is_view or _is_shared(t)):
            return None
        raise RuntimeError(
            f"cannot resize a view to {list(size)}: its storage would have to grow, which others share; "
            "clone() it first"
        )
    view = apply_view("as_strided", t, (size, stride, plan.offset))
    info, old = view._view, t._view
    if old is None or old.base is None:  # it goes on being no view of another tensor
        info.__class__ = ViewInfo if old is None else old.__class__  # which says of what kind it is
        info.base = info.base_plan = None
        info.version = version_cell(t)
        info.seen_version = info.version[0]
    info.origin = None if old is None else old.origin
    return view


def _is_shared(t: Tensor) -> bool:
    """Whether another tensor shows the storage of ``t``."""
    storage = t._storage
    if sys.getrefcount(storage) <= _ALONE:
        return False
    # What is pending may refer to it, too. Of frozen objects nobody can say to what they refer.
    return gc.get_freeze_count() > 0 or any(
        isinstance(x, Tensor) and x is not t for x in gc.get_referrers(storage)
    )


# References to a storage that one tensor shows: the tensor's, the variable's and the argument's.
_ALONE = 3


class _Shown(NamedTuple):
    """What is stored together with the write of a ``result`` to ``view``: ``t`` becomes that view."""

    t: Tensor
    view: Tensor
    result: Tensor

    def rows(self) -> list[tuple]:
        """The stores, as `commit` takes them."""
        view = self.view
        rows = rebind_rows(self.t, view._storage, view._aval, view._stride, view._view)
        if self.result._grad_fn is not None and view._view.base is None:
            rows += history_rows(self.t, self.result._grad_fn, self.result._output_nr)
        return rows

    def undisturbed(self) -> tuple:
        """Nothing that is looked at can change."""
        return ()
