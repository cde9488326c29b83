"""The autograd history of a tensor: where its cotangents go, and how a view's history follows its base.

A view requires grad when its base does. Its ``grad_fn`` is the node of the view op until the base is
written to; at the next use it becomes a node that reads the new base (``AsStridedBackward0``).
Views whose making recorded nothing, or which came several at once, may not change that way:
PyTorch then refuses every use that needs their history, and not before. `Invalid` stands for it.

NOTE [Provisional versions]
    While the base requires no grad, ``seen_version`` is ``-1 - version``, which no version equals: so
    every use comes by `refresh_history`, which notices when ``requires_grad_()`` was called on the base.
"""

from __future__ import annotations

import weakref
from typing import NamedTuple

from jaxflow._core import fields
from jaxflow._core.commit import commit
from jaxflow._core.geometry import contiguous_strides
from jaxflow._core.graph import Invalid, own_edge, short_name
from jaxflow._core.state import state
from jaxflow._core.tensor import Tensor
from jaxflow._core.unseen import APART
from jaxflow._core.value import Storage

from .chain import ViewPlan, piece_of, placed, root_of, view_node

# Why in-place writes through a view, or under it, may be refused.
NO_GRAD, INFERENCE, MULTI_OUTPUT, FUNCTION = "no_grad", "inference", "multi_output", "function"
GROWN = "grown"  # given more elements than its base has


def edge_of(t: Tensor) -> tuple | None:
    """Where a cotangent of ``t`` goes from an operation recorded now; see NOTE [Leaving a mapped axis]."""
    edge = own_edge(t)
    if state.axes and edge is not None:
        node = edge[0]
        for axis in state.axes:
            edge = axis.outward(edge, node, t)
    return edge


def refreshed(t: Tensor) -> Tensor:
    """``t``, its ``requires_grad`` and history brought up to date."""
    view = t._view
    if view is not None and view.seen_version != view.version[0]:
        refresh_history(t)
    return t


def refresh_history(t: Tensor) -> None:
    """Let a view follow what happened to its base since ``seen_version``.

    ``seen_version`` is stored last, or together with the history that it stands for: an interrupt may not
    leave an old history behind that looks like the present one.
    """
    view = t._view
    base, version = view.base, view.version[0]
    if base is None:
        view.seen_version = version
        return
    node = before = t._grad_fn
    if node.__class__ is Invalid:
        node = node.node
    if node is None and not base._requires_grad:
        if before is not None or t._requires_grad is not view.own:  # seldom: it is looked at at every use
            fields.set_history(t, None, t._output_nr, view.own)
        return
    seen = view.seen_version
    if version in (seen, -1 - seen):
        if before is not node or not t._requires_grad:
            fields.set_history(t, node, t._output_nr)
        if node is not None:  # else it only follows its base, which may be detached again
            view.seen_version = version
    elif view.origin is not None:
        lost = Invalid(_refusal(view.origin, node, t._output_nr, INDIRECTLY), node)
        fields.set_history(t, lost, t._output_nr)
    else:
        plan = base_plan_of(view)
        edge = edge_of(base) if base._requires_grad else None
        new = view_node(plan.read, plan.numbers, [edge])
        commit([*history_rows(t, new, 0), (setattr, view, "seen_version", version)])
    del before  # kept until the call is over


def base_plan_of(view):
    """The chain from a view's base to the view, whatever ``t_()`` and its like made of the base since."""
    plan, base = view.base_plan, view.base
    now = contiguous_strides(base._aval.shape) if base._stride is None else base._stride
    if plan.base_aval is not base._aval or plan.root.geometry.stride != now:
        above = root_of(base._aval, base._stride) if base._view is None else piece_of(base)
        plan = view.base_plan = placed(above, view.plan)
    return plan


def set_history(t: Tensor, node, number: int) -> None:
    """Make ``t`` an output of ``node``, at once."""
    old = t._grad_fn  # kept until the call is over
    commit(history_rows(t, node, number))
    del old


def history_rows(t: Tensor, node, number: int) -> list[tuple]:
    """The stores that make ``t`` an output of ``node``; a grad it was to retain is retained there."""
    rows = fields.history_rows(t, node, number)
    old = t._grad_fn
    if old is not None and old._retained:
        ref = old._retained.get(t._output_nr)
        if ref is not None and ref() is t:
            rows.append((dict.pop, old._retained, t._output_nr, None))
            rows.append((setattr, node, "_retained", {**(node._retained or {}), number: ref}))
    return rows


INDIRECTLY = "its base or another view of its base has been"


def refusal(t: Tensor, modified: str) -> str:
    """Why a view of special origin may not see its base change; ``modified`` says who changes."""
    node = t._grad_fn
    if node.__class__ is Invalid:
        node = node.node
    return _refusal(t._view.origin, node, t._output_nr, modified)


#: The nodes whose outputs were detached in place, each with the numbers of those outputs.
DETACHED: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()


def detached_in_place(edge) -> bool:
    """Whether the tensor that was saved at ``edge`` of the graph was cut off it since, by ``detach_()``."""
    return edge.__class__ is tuple and edge[1] in DETACHED.get(edge[0], ())


#: In the place of how a saved view lies in its storage, where nobody can say that.
ELSEWHERE = object()


class Aliased(NamedTuple):
    """A saved operand whose storage cannot be found by its version: that storage, and how it lies there."""

    storage: Storage
    plan: ViewPlan


class Guarded:
    """A saved view of special origin: all it takes to refuse its use once its base was written."""

    __slots__ = ("base", "node", "number", "origin")

    def __init__(self, t: Tensor) -> None:
        view = t._view
        self.base = weakref.ref(view.base)
        self.node, self.number, self.origin = t._grad_fn, t._output_nr, view.origin

    def base_requires_grad(self) -> bool:
        """Whether what the view shows requires grad now, if anyone still holds it."""
        base = self.base()
        return base is not None and base._requires_grad

    def check(self) -> None:
        """RuntimeError if the view would have to be read from the new base, which is for its history."""
        if self.node is not None or self.base_requires_grad():
            raise RuntimeError(_refusal(self.origin, self.node, self.number, INDIRECTLY))


class Rebuilt:
    """A view that an operation wrote to and keeps as its result: PyTorch gives it a new node at once."""

    __slots__ = ("node", "version", "view")

    def __init__(self, t: Tensor) -> None:
        refresh_history(t)
        self.node, self.view = weakref.ref(t._grad_fn), weakref.ref(t)
        self.version = t._view.version[0]

    def maker(self) -> str | None:
        """The name of that node; None if it is gone, or if only a later write through the view holds it."""
        node, t = self.node(), self.view()
        if node is None or (t is not None and t._view.written > self.version):
            return None
        return node.name()


def guard_of(t: Tensor) -> Guarded | Aliased | ViewPlan | None:
    """What is needed, besides the version, when the saved ``t`` is used again.

    Of a view how it lies in its storage; of one of special origin what to check.
    """
    view = t._view
    if view is None:
        return None
    if view.origin is not None and view.base is not None:
        return Guarded(t)
    apart = view.version is not t._storage.version or (APART and APART.moved(view.version) >= 0)
    return Aliased(t._storage, view.plan) if apart else view.plan


def _refusal(origin: str, node, number: int, modified: str) -> str:
    if origin == GROWN:
        return (f"A view was given more elements than its base has, and {modified} modified inplace: to "
                "autograd it is no part of its base. Use detach() or clone() of it")
    made = "" if node is None else f"Output {number} of {short_name(node.name())} is a view"
    mode = "inference" if origin == INFERENCE else "no_grad"
    if origin in (MULTI_OUTPUT, FUNCTION) and node is not None:
        text = f"{made} and {modified} modified inplace."
    else:
        start = f"{made} of a view which was created in" if made else "A view was created in"
        end = "in normal mode" if origin == INFERENCE else "with grad mode enabled"
        text = f"{start} {mode} mode and {modified} modified inplace {end}."
    if origin == MULTI_OUTPUT:
        return (
            f"{text} This view is the output of a function that returns multiple views. Such functions "
            "do not allow the output views to be modified inplace. You should replace the inplace "
            "operation by an out-of-place one."
        )
    if origin == FUNCTION:
        return (
            f"{text} This view was created inside a custom Function (or because an input was "
            "returned as-is) and the autograd logic to handle view+inplace would override the custom "
            "backward associated with the custom Function, leading to incorrect gradients. This "
            "behavior is forbidden. You can fix this by cloning the output of the custom Function."
        )
    block = "inference_mode" if origin == INFERENCE else "no_grad"
    return (
        f"{text} Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify "
        f"your code by moving both the view and the inplace either both inside the {block} block (if you "
        "don't want the inplace to be tracked) or both outside (if you want the inplace to be tracked)."
    )
