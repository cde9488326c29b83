"""The door's view form: a new tensor on the same storage, and nothing runs."""

from __future__ import annotations

import jax

from jaxflow._core.fields import init_history, rebind
from jaxflow._core.levels import LEVELS
from jaxflow._core.tensor import ConstantInfo, Tensor, ViewInfo, make_view, version_cell
from jaxflow._core.value import Untracked

from .door import forward_mode, plan_of, view_value
from .history import INFERENCE, MULTI_OUTPUT, NO_GRAD, edge_of, refreshed
from .state import state
from .traces import MET
from .views import ViewPlan, detached_root, joint_plan, piece_of, replayed, root_of, view_node


def apply_view(name: str, t: Tensor, static: tuple = ()) -> Tensor:
    """The view ``name(t, *static)``; shares storage, version and autograd history with ``t``."""
    out, plan = _child(name, t, static)
    if t._requires_grad and state.grad and out._aval.dtype.category >= 2 and not is_inference(t):
        init_history(out, view_node(plan.step, plan.step_fns.numbers, [edge_of(t)]), 0)
    if LEVELS:
        forward_mode().viewed(out, t, name, static)
    return out


def apply_joint_view(specs: tuple[tuple[str, tuple], ...], t: Tensor, grad_name: str) -> tuple:
    """Several views of ``t`` that are the outputs of one node: ``split``, ``chunk``, ``unbind``."""
    outs = [_child(name, t, static, MULTI_OUTPUT) for name, static in specs]
    if t._requires_grad and state.grad and outs and not is_inference(t):
        plan = joint_plan(tuple(p for _, p in outs), grad_name)
        node = view_node(plan, (), [edge_of(t)])
        for i, (out, _) in enumerate(outs):
            init_history(out, node, i)
    if LEVELS:
        for (out, _), (name, static) in zip(outs, specs, strict=True):
            forward_mode().viewed(out, t, name, static)
    return tuple(out for out, _ in outs)


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
            forward_mode().viewed(out, t, name, static)
    return outs


def _own_version(t: Tensor) -> list[int]:
    if version_cell(t).__class__ is list:
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
                # It may reach beyond its base: the base has to know where in the storage it lies.
                above = replayed(above, piece_of(base))
            base_plan = above.child(name, static)
        # What a view of a view made in inference mode is refused for is that mode, however it is made.
        origin = INFERENCE if view.origin == INFERENCE else origin or view.origin
        info = ViewInfo(plan, base, base_plan, view.version, origin)
    if not state.grad:
        if info.origin != INFERENCE:
            info.origin = INFERENCE if state.inference else NO_GRAD
        info.seen_version = -1 - info.version[0]  # NOTE [Provisional versions]: it records nothing
    out = make_view(t._storage, plan.aval, plan.stride, info)
    if MET:
        _read_traced(out)
    return out, plan


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
    """Read a view of a tracer now: jax may ask for it when its trace is over."""
    if isinstance(view._storage.value.array, jax.core.Tracer):
        view_value(view)


def _untracked_child(name: str, t: Tensor, static: tuple):
    """A view of an inference tensor: autograd knows it for no view, wherever it is made."""
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


def show(t: Tensor, source: Tensor, *more: tuple) -> None:
    """Let ``t`` show the memory of ``source``; its history stays, and its writes are counted as before.

    The rows ``more`` are stored in the same call.
    """
    info = ViewInfo(plan_of(source), None, None, version_cell(t))
    rebind(t, source._storage, source._aval, source._stride, info, *more)
