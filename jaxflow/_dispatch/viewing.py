"""View operations: a new tensor on the same storage, and nothing runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import jax

from jaxflow._core.fields import init_history, rebind
from jaxflow._core.levels import FORWARD, LEVELS
from jaxflow._core.shared import HostValue
from jaxflow._core.state import state
from jaxflow._core.tensor import ConstantInfo, MovedInfo, Tensor, ViewInfo, make_view, version_cell
from jaxflow._core.traces import MET
from jaxflow._core.unseen import APART
from jaxflow._core.value import Untracked
from jaxflow._views.chain import (
    ViewPlan,
    detached_root,
    joint_plan,
    piece_of,
    placed,
    replayed,
    root_of,
    view_node,
)
from jaxflow._views.history import INFERENCE, MULTI_OUTPUT, NO_GRAD, edge_of, refreshed
from jaxflow._views.values import view_value

from .dispatch import plan_of


def apply_view(name: str, t: Tensor, static: tuple = ()) -> Tensor:
    """The view ``name(t, *static)``; shares storage, version and autograd history with ``t``."""
    out, plan = _child(name, t, static)
    if t._requires_grad and state.grad and out._aval.dtype.category >= 2 and not is_inference(t):
        init_history(out, view_node(plan.step, plan.step_fns.numbers, [edge_of(t)]), 0)
    if LEVELS:
        FORWARD.viewed(out, t, name, static)
    return out


def apply_joint_view(specs: Sequence[tuple[str, tuple]], t: Tensor, grad_name: str) -> tuple:
    """Several views of ``t`` that are the outputs of one node: ``split``, ``chunk``, ``unbind``.

    They are selections along one dimension, or slices of it.
    """
    outs, plans = _children(specs, t)
    if t._requires_grad and state.grad and outs and not is_inference(t):
        node = view_node(joint_plan(tuple(plans), grad_name), (), [edge_of(t)])
        for i, out in enumerate(outs):
            init_history(out, node, i)
    if LEVELS:
        for out, (name, static) in zip(outs, specs, strict=True):
            FORWARD.viewed(out, t, name, static)
    return tuple(outs)


def _children(specs: Sequence[tuple[str, tuple]], t: Tensor) -> tuple[list[Tensor], list[ViewPlan]]:
    """What `_child` gives for each of many views, with their plans made together: NOTE [Siblings]."""
    view = t._view
    if len(specs) <= _FEW or (t._storage.version if view is None else view.version).__class__ is not list:
        found = [_child(name, t, static, MULTI_OUTPUT) for name, static in specs]
        return [out for out, _ in found], [plan for _, plan in found]
    if view is None:
        plans = above = root_of(t._aval, t._stride).several(specs)
        base, version, origin = t, t._storage.version, MULTI_OUTPUT
    else:
        refreshed(t)
        plans, base, base_plan = view.plan.several(specs), view.base, view.base_plan
        if base is not None and base_plan is view.plan:
            above = plans
        else:
            above = (detached_root(t) if base is None else base_plan).several(specs)
            base = t if base is None else base
        version, origin = view.version, INFERENCE if view.origin == INFERENCE else MULTI_OUTPUT
    infos = [ViewInfo(plan, base, base_plan, version, origin) for plan, base_plan in zip(plans, above)]
    if not state.grad:
        for info in infos:
            _unrecorded(info)
    storage = t._storage
    outs = [make_view(storage, plan.aval, plan.stride, info) for plan, info in zip(plans, infos)]
    if MET:
        for out in outs:
            _read_traced(out)
    return outs, plans


# So many views are made each by itself.
_FEW = 8


def rows(t: Tensor) -> Iterator[Tensor] | None:
    """What ``unbind(0)`` gives of ``t`` as it is now, each row made when the iterator yields it.

    Without a node that has them all as its outputs a row is the same whenever it is made. So a loop over
    very many of them does not hold them all. None where they have to be made at once.
    """
    view, count = t._view, t._aval.shape[0]
    version = (t._storage if view is None else view).version
    if count <= _FEW or version.__class__ is not list or LEVELS or MET:
        return None
    if view is None:
        plan = above = root_of(t._aval, t._stride)
        base, origin = t, MULTI_OUTPUT
    else:
        refreshed(t)
        plan = view.plan
        base = t if view.base is None else view.base
        above = detached_root(t) if view.base is None else view.base_plan
        origin = INFERENCE if view.origin == INFERENCE else MULTI_OUTPUT
    if state.grad and (t._requires_grad or base._requires_grad):
        return None
    if not state.grad and origin != INFERENCE:
        origin = INFERENCE if state.inference else NO_GRAD
    plan, first = plan.child("select", (0, 0)), above.child("select", (0, 0))
    if not (plan.has_siblings() and first.has_siblings()):
        return None
    storage, seen = t._storage, -1 - version[0]

    def row(i: int) -> Tensor:
        key = ("select", (0, i))
        own = plan.sibling(key, i)
        info = ViewInfo(own, base, own if first is plan else first.sibling(key, i), version, origin)
        info.seen_version = seen  # NOTE [Provisional versions]: as it would be if it had been made then
        return make_view(storage, own.aval, own.stride, info)

    return map(row, range(count))


def apply_unsafe_views(specs: tuple[tuple[str, tuple], ...], t: Tensor, grad_name: str) -> tuple:
    """Views of ``t`` that autograd takes for new tensors: writes to them are counted for each alone."""
    refreshed(t)
    plans = tuple([plan_of(t).child(name, static) for name, static in specs])
    infos = [ViewInfo(plan, None, None, _own_version(t)) for plan in plans]
    outs = tuple([make_view(t._storage, info.plan.aval, info.plan.stride, info) for info in infos])
    if t._requires_grad and state.grad and outs and not is_inference(t):
        node = view_node(joint_plan(plans, grad_name), (), [edge_of(t)])
        for i, out in enumerate(outs):
            init_history(out, node, i)
    if LEVELS:
        for out, (name, static) in zip(outs, specs, strict=True):
            FORWARD.viewed(out, t, name, static)
    return outs


def _own_version(t: Tensor) -> list[int]:
    if version_cell(t).__class__ is list:
        APART.note(t._storage)
        return [0]
    return (Untracked if state.inference else Counted)((0,))


def _child(name: str, t: Tensor, static: tuple, origin: str | None = None):
    view = t._view
    if (t._storage.version if view is None else view.version).__class__ is not list:
        return _untracked_child(name, t, static)
    if view is None:
        plan = root_of(t._aval, t._stride).child(name, static)
        info = ViewInfo(plan, t, plan, t._storage.version, origin)
    else:
        refreshed(t)
        plan = view.plan.child(name, static)
        if view.base is not None and view.base_plan is view.plan:
            base, base_plan = view.base, plan
        else:
            detached = view.base is None
            base = t if detached else view.base
            above = detached_root(t) if detached else view.base_plan
            if name == "as_strided" and base._view is not None:
                # It may reach beyond its base, so it matters where in the storage the base lies. What was
                # between does not matter to it, where the base has another shape by now (``squeeze_()``).
                piece, root = piece_of(base), above.root
                same = root.aval is base._aval and root.stride == base._stride
                above = replayed(above, piece) if same else piece
            base_plan = above.child(name, static)
        # What a view of a view made in inference mode is refused for is that mode, however it is made.
        origin = INFERENCE if view.origin == INFERENCE else origin or view.origin
        info = (MovedInfo if view.__class__ is MovedInfo else ViewInfo)(
            plan, base, base_plan, view.version, origin)
    if not state.grad:
        _unrecorded(info)
    out = make_view(t._storage, plan.aval, plan.stride, info)
    if MET:
        _read_traced(out)
    return out, plan


def _unrecorded(info: ViewInfo) -> None:
    """Note that a view is made where nothing is recorded."""
    if info.origin != INFERENCE:
        info.origin = INFERENCE if state.inference else NO_GRAD
    info.seen_version = -1 - info.version[0]  # NOTE [Provisional versions]


class Counted(Untracked):
    """The cell of an inference tensor detached in normal mode: writes in normal mode are counted."""

    __slots__ = ()

    def __setitem__(self, index, value) -> None:
        if not state.inference:
            super().__setitem__(index, value)


def is_inference(t: Tensor) -> bool:
    """Whether ``t`` was made in inference mode, or is a view or a detached alias of such a tensor."""
    return isinstance(version_cell(t), Untracked)


def _read_traced(view: Tensor) -> None:
    """Read a view of a tracer now: jax may need it when its trace is over."""
    value = view._storage.value
    if value.__class__ is not HostValue and isinstance(value.array, jax.core.Tracer):
        view_value(view)


def _untracked_child(name: str, t: Tensor, static: tuple):
    """A view of an inference tensor: autograd does not treat it as a view, wherever it is made."""
    plan = plan_of(t).child(name, static)
    return make_view(t._storage, plan.aval, plan.stride, ViewInfo(plan, None, None, Untracked((0,)))), plan


def alias(t: Tensor, *, own_version: bool = False, constant: bool = False) -> Tensor:
    """The same storage without autograd history: ``detach()``, or ``.data`` with a version of its own.

    Both are ``constant``: see NOTE [What jax may not differentiate].
    """
    plan: ViewPlan = plan_of(t)
    version = version_cell(t)
    if own_version or version.__class__ is not list:
        version = _own_version(t)
    info = (ConstantInfo if constant else ViewInfo)(plan, None, None, version)
    out = make_view(t._storage, plan.aval, plan.stride, info)
    if MET:
        _read_traced(out)
    return out


def retyped(t: Tensor, dtype: Any) -> Tensor:
    """The same storage and version read as another dtype: to autograd, no view of ``t``."""
    plan = plan_of(t).child("view_dtype", (dtype,))
    version = version_cell(t)
    if version.__class__ is not list:
        version = Untracked((0,))
    out = make_view(t._storage, plan.aval, plan.stride, ViewInfo(plan, None, None, version))
    if MET:
        _read_traced(out)
    return out


def show(t: Tensor, source: Tensor, *more: tuple) -> None:
    """Let ``t`` show the memory of ``source``; its history stays, and its writes are counted as before.

    To autograd a view stays one of its base, read as if it lay there as it does in its memory now. Without
    a graph it may be larger than the base, and has none then. The rows ``more`` are stored in the same call.

    Raises:
        RuntimeError: a view of a tensor in a graph would be no part of it.
    """
    plan, old = plan_of(source), t._view
    info = ViewInfo(plan, None, None, version_cell(t))
    if old is not None and old.base is not None:
        base = old.base
        try:
            above = root_of(base._aval, base._stride) if base._view is None else piece_of(base)
            base_plan = placed(above, plan)
        except RuntimeError as error:
            if base._requires_grad or t._requires_grad:
                raise RuntimeError(
                    "a view of a tensor that requires grad was given memory through .data = that its base "
                    "has no room for: to autograd it stays a part of it. Detach the view first"
                ) from error
        else:
            info = MovedInfo(plan, base, base_plan, info.version, old.origin)
            info.seen_version, info.own, info.written = old.seen_version, old.own, old.written
    rebind(t, source._storage, source._aval, source._stride, info, *more)
