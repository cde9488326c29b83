"""Tensors that take another shape: from where they start in their memory, or in memory of their own.

As in PyTorch a tensor that takes another shape keeps its memory where that has room for it: a view goes
on being a view of its base, and what a tensor had beyond its end comes back when it grows again.
Where the memory is too small PyTorch lets it grow for all tensors that show it. An array of XLA cannot
grow: a tensor that has a storage for itself moves to a larger one. Where others show it, the storage is
resized (NOTE [Resized storages]), and the tensor shows the new memory by a storage of its own, whose
elements are all that lies there: to the others those beyond their storage's shape are no elements.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence
from itertools import chain
from types import FrameType
from typing import Any, NamedTuple

from jaxflow._core.commit import Overtaken, commit
from jaxflow._core.fields import rebind_rows
from jaxflow._core.geometry import contiguous_strides, storage_extent
from jaxflow._core.levels import LEVELS
from jaxflow._core.tensor import Tensor, ViewInfo, version_cell
from jaxflow._dispatch.dispatch import apply, plan_of
from jaxflow._dispatch.viewing import alias, apply_view
from jaxflow._memory.resized import FIXED, grown, resizable, room_of
from jaxflow._ops.positions import capacity
from jaxflow._plans.op import OPS
from jaxflow._views.history import GROWN, history_rows, refreshed

from .inplace import copied_over
from .writes import counted_once_more, rows_of, written_through


class Taken(NamedTuple):
    """What a tensor is going to have, the shape and the elements of a result of the same dtype.

    Attributes:
        t: what changes.
        result: what it takes.
        stride: how ``t`` lies after it, where its shape changes; None for contiguous.
        recorded: whether ``t`` becomes a copy of ``result`` for autograd, and not the very result.
    """

    t: Tensor
    result: Tensor
    stride: tuple[int, ...] | None
    recorded: bool


def take_results(taken: Sequence[Taken]) -> None:
    """Let every tensor have its result, all at once; each counts as one write.

    Raises:
        RuntimeError: a tensor is a view whose storage would have to grow.
    """
    while True:
        try:
            _take_once(taken)
            return
        except Overtaken:
            continue


def _take_once(taken: Sequence[Taken]) -> None:
    """`take_results`, but Overtaken if somebody else wrote to one of the storages meanwhile."""
    rows: list[tuple] = []
    copies: list[tuple] = []
    written: dict[int, Any] = {}
    targets: list[Tensor] = []
    results: list[Tensor] = []
    epochs = []
    for t, result, stride, recorded in taken:
        epoch = t._storage.epoch
        fits = t._aval.shape == result._aval.shape
        target = t if fits else in_place(t, result._aval.shape, stride)
        if target is None:
            rows += _moved(t, result, stride, recorded, written)
            continue
        if target._storage is not t._storage:  # the memory has grown
            epoch = target._storage.epoch
        if recorded:
            result = copied_over(target, result)
        rows += rows_of(target, result, epoch, written=written, copies=copies)
        if not fits:
            rows += _shown(t, target, result)
        targets.append(target)
        results.append(result)
        epochs.append(epoch)
    before = [(x.t._storage, x.t._storage.value, x.t._view, x.t._grad_fn, x.t._tangents) for x in taken]
    commit(rows + copies, storages=[t._storage for t in targets], epochs=epochs)
    del before  # what was replaced is kept until the call is over
    for target, result in zip(targets, results):
        if result._requires_grad:
            written_through(target, result)


def _moved(t: Tensor, result: Tensor, stride: tuple[int, ...] | None, recorded: bool,
           written: dict[int, Any]) -> list[tuple]:
    """The stores that let ``t`` show other memory, that of ``result``; ``written`` as in `rows_of`."""
    if recorded:
        operand = alias(result)
        if refreshed(t)._requires_grad:  # its elements get a gradient of zero, in the shape that it had
            total = apply(OPS["sum"], (t,), (None, False, None))
            operand = apply_view("expand", total, (result._aval.shape,))
        result = apply(OPS["_copy"], (operand, result), ())
    result._stride = stride
    cell = version_cell(t)
    info = ViewInfo(plan_of(result), None, None, cell)
    rows = rebind_rows(t, result._storage, result._aval, result._stride, info)
    rows.append((list.__setitem__, cell, 0, counted_once_more(cell, cell[0] + 1, written)))
    if result._grad_fn is not None:
        rows += history_rows(t, result._grad_fn, result._output_nr)
    return rows


def in_place(t: Tensor, size: tuple[int, ...], stride: tuple[int, ...] | None) -> Tensor | None:
    """A fresh tensor that shows the memory of ``t`` from where it starts, as ``t`` itself is to show it.

    None where the memory is too small and ``t`` has it for itself. RuntimeError where that belongs to
    somebody else, holds conjugated or negated elements, or belongs to a graph.
    """
    plan = plan_of(t)
    stride = contiguous_strides(size) if stride is None else stride
    elements, extent = capacity(plan.geometry), storage_extent(size, stride, plan.offset)
    room = room_of(t)
    shown = t
    if extent > (elements if room is None else min(room, elements)):
        if (room is None or extent > room) and not resizable(t):
            raise RuntimeError(FIXED)
        is_view = t._view is not None and (t._view.base is not None or plan.offset)
        if room is None and not (elements and (is_view or shows_with_others(t))):
            return None
        g, base = plan.geometry, None if t._view is None else t._view.base
        if (g.conj or g.neg or g.root_conj or g.root_neg or LEVELS or t._requires_grad
                or (base is not None and base._requires_grad)):
            raise RuntimeError(
                f"cannot resize a view to {list(size)}: its storage would have to grow, which others share; "
                "clone() it first"
            )
        shown = grown(t, extent)
    view = apply_view("as_strided", shown, (size, stride, plan.offset))
    info, old = view._view, t._view
    if old is None or old.base is None or shown is not t:  # it goes on being no view of another tensor
        info.__class__ = ViewInfo if old is None else old.__class__  # which says of what kind it is
        info.base = info.base_plan = None
        info.version = version_cell(t)
        info.seen_version = info.version[0]
    info.origin = None if old is None else old.origin
    if shown is not t and old is not None and old.base is not None:
        info.base, info.base_plan, info.origin = old.base, info.plan, GROWN
        info.seen_version = -1 - info.version[0]  # NOTE [Provisional versions]
    return view


def shows_with_others(t: Tensor) -> bool:
    """Whether another tensor shows the storage of ``t``."""
    storage = t._storage
    if sys.getrefcount(storage) <= _ALONE:
        return False
    # What is pending may refer to it, too, and so may the notes of a function that is being compiled.
    known = _known_references(t)
    if known is None or not gc.get_freeze_count():
        return known is None
    # Of frozen objects nobody can say to what they refer; but all references may be those of others.
    return sys.getrefcount(storage) - _OUR_OWN > known


# References to a storage that one tensor shows: the tensor's, the variable's and the argument's.
_ALONE, _OUR_OWN = 3, 2


def _known_references(t: Tensor) -> int | None:
    """How many references objects that are not frozen have to the storage of ``t``; frames do not count.

    None where one of them is another tensor.
    """
    found = [x for x in gc.get_referrers(t._storage) if x.__class__ is not FrameType]
    if any(isinstance(x, Tensor) and x is not t for x in found):
        return None
    return sum(x is t._storage for x in chain.from_iterable(map(gc.get_referents, found)))


def _shown(t: Tensor, view: Tensor, result: Tensor) -> list[tuple]:
    """The stores that make ``t`` the ``view`` of its memory to which ``result`` is written."""
    rows = rebind_rows(t, view._storage, view._aval, view._stride, view._view)
    if result._grad_fn is not None and view._view.base is None:
        rows += history_rows(t, result._grad_fn, result._output_nr)
    return rows
