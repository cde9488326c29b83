"""Forward mode: tangents that travel with tensors through operations.

NOTE [Duals]
    A tensor with a tangent is a Tensor whose ``_tangents`` maps a `Level` to another Tensor of its shape.
    While any level is open, dispatch hands every operation over to this module. It runs the operation as
    always, on the primals, and then for each level the operation's *jvp plan*: ``jax.jvp`` of the plan's
    function, traced once for each pattern of tangents and without its dead code. That plan is dispatched
    like any other, with the primals and tangents stripped of this level and of later ones. So the tangent
    of a level has tangents of the levels before it (nested jvp) and a history (reverse over forward); and a
    node recorded for duals keeps duals, so that a backward pass makes duals (forward over reverse).

    The tangent of a view is the same view of the tangent. An in-place operation writes into the tangent.
    Where a level ends, its tangents are dropped.
"""

from __future__ import annotations

import itertools
import operator
import threading
import weakref
from collections.abc import Callable, Iterable
from typing import Any

from jaxflow._core.fields import init_history
from jaxflow._core.graph import Node
from jaxflow._core.levels import FORWARD, LEVELS
from jaxflow._core.tensor import Tensor, make, version_cell
from jaxflow._dispatch import dispatch, viewing
from jaxflow._dispatch.saved_tensors import Packed
from jaxflow._dispatch.vmap_axes import alike
from jaxflow._plans.op import OPS, Op
from jaxflow._plans.plan import Plan
from jaxflow._transforms.jvp import jvp_of
from jaxflow._views.history import edge_of, refreshed
from jaxflow._views.values import value_of
from jaxflow._writes.inplace import apply_inplace, captured


class _State(threading.local):
    enabled = True


_state = _State()


def is_enabled() -> bool:
    """Whether this thread's operations see tangents."""
    return _state.enabled


def set_enabled(mode: bool) -> None:
    """Let this thread's operations see tangents or not."""
    _state.enabled = mode


_serials = itertools.count()


class Level:
    """One open forward-mode level, of the thread that opened it."""

    __slots__ = ("_room", "began", "holders", "serial")

    def __init__(self) -> None:
        self.began = 0  # for `func.jvp`: tensors with older storages were captured by its function
        self.holders: list[weakref.ref] = []  # of tensors with a tangent of this level
        self._room = 1000
        self.serial = next(_serials)  # later levels lie inside earlier ones

    def open(self) -> None:
        """Begin the level."""
        LEVELS.append(self)

    def hold(self, t: Tensor) -> None:
        """Remember that ``t`` has a tangent of this level, as long as it lives."""
        if len(self.holders) >= self._room:
            self.holders = [ref for ref in self.holders if ref() is not None]
            self._room = 2 * len(self.holders) + 1000
        self.holders.append(weakref.ref(t))

    def close(self) -> None:
        """End the level: its tangents are dropped, wherever they are. It may have ended, or not begun."""
        if self in LEVELS:
            LEVELS.remove(self)
        for ref in self.holders:
            t = ref()
            if t is not None and t._tangents is not None:
                t._tangents.pop(self, None)
                if not t._tangents:
                    t._tangents = None
        self.holders.clear()


# ------------------------------------------------------------------------------ reading and setting


def tangents_of(t: Tensor) -> dict[Level, Tensor | None]:
    """The tangents of ``t`` by level.

    A view made before its base got a tangent finds its own there.
    """
    if not _state.enabled:
        return {}
    own = t._tangents
    view = t._view
    if view is None or view.base is None:
        return own or {}
    for level, above in tangents_of(view.base).items():
        if above is not None and level not in (own or ()):
            set_tangent(t, level, _replay(view.base_plan, above))
            own = t._tangents
    return own or {}


def _replay(plan, t: Tensor) -> Tensor:
    return t if plan.parent is None else viewing.apply_view(plan.key[0], _replay(plan.parent, t), plan.key[1])


def tangent_of(t: Any, level: Level) -> Tensor | None:
    """The tangent of ``t`` at a level, if it is a tensor that has one."""
    return tangents_of(t).get(level) if isinstance(t, Tensor) else None


def is_dual(t: Tensor) -> bool:
    """Whether ``t`` has a tangent at any level."""
    return any(tangent is not None for tangent in tangents_of(t).values())


def set_tangent(t: Tensor, level: Level, tangent: Tensor | None) -> None:
    """Give ``t`` a tangent; None says that it has none although its base may have one."""
    if t._tangents is None:
        t._tangents = {}
    if level not in t._tangents:
        level.hold(t)
    t._tangents[level] = tangent


def carry(out: Tensor, t: Tensor, change: Callable[[Tensor], Tensor]) -> None:
    """Give ``out``, a linear function ``change`` of ``t``, the tangents that follow from those of ``t``."""
    if out._aval.dtype.category < 2:
        return
    for level, tangent in list(tangents_of(t).items()):
        if tangent is not None:
            set_tangent(out, level, change(tangent))


def _levels_of(args: Iterable) -> list[Level]:
    """The levels of which any argument has a tangent, outermost first."""
    found = {
        level for a in args if isinstance(a, Tensor)
        for level, tangent in tangents_of(a).items() if tangent is not None
    }
    return sorted(found, key=_serial) if found else []


_serial = operator.attrgetter("serial")


def snapshot(t: Tensor, inside: Level | None = None) -> Tensor:
    """``t`` as it is now: same value, history and version cell; tangents of the levels around ``inside``."""
    new = make(value_of(t))
    new._stride = t._stride
    new._storage.version = version_cell(t)
    if refreshed(t)._requires_grad:
        edge = edge_of(t)
        if edge is not None:
            init_history(new, *edge)
    for level, tangent in tangents_of(t).items():
        if tangent is not None and (inside is None or level.serial < inside.serial):
            set_tangent(new, level, snapshot(tangent, inside))
    return new


# ------------------------------------------------------------------------------- while it dispatches


def apply(op: Op, args: tuple, static: tuple, into) -> Any:
    """``apply`` of dispatch while a level is open."""
    levels = _levels_of(args)
    if levels and op.underived is not None:
        present = [a for a in args if a is not None]
        underived = op.underived
        while underived is not None:
            holds = underived.error and underived.formula is None and (
                not underived.of or underived.of_dtypes(present))
            if holds and underived.which(present, into is not None):
                raise underived.of_tangents(into is not None)
            underived = underived.otherwise
    result = dispatch.apply(op, args, static, into, True)
    if levels:
        plan = dispatch.plan_for(op, args, static, into)
        if plan.differentiable:
            outs = (result,) if isinstance(result, Tensor) else tuple(result)
            _push(plan, [a for a in args if a is not None], outs, levels)
    return result


def apply_plan(plan: Plan, args: list) -> tuple[Tensor, ...]:
    """``apply_plan`` of dispatch while a level is open."""
    outs = dispatch.apply_plan(plan, args, True)
    levels = _levels_of(args)
    if levels and plan.differentiable:
        _push(plan, args, outs, levels)
    return outs


def _push(plan: Plan, args: list, outs: tuple, levels: list[Level]) -> None:
    for level in levels:
        tangents = [tangent_of(a, level) for a in args]
        jvp = jvp_of(plan, tuple(t is not None for t in tangents))
        given = [args[i] for i in jvp.inputs]
        primals = [snapshot(a, level) if isinstance(a, Tensor) and tangents_of(a) else a for a in given]
        found = dispatch.apply_plan(jvp.plan, primals + [
            _as(a, t, level) for a, t in zip(args, tangents, strict=True) if t is not None
        ])
        for i, tangent in zip(jvp.outputs, found, strict=True):
            tangent._stride = outs[i]._stride
            set_tangent(outs[i], level, tangent)
    _keep_duals(args, outs)


def _as(a: Tensor, tangent: Tensor, level: Level) -> Tensor:
    """The tangent of ``a`` in its dtype, which may differ where the user gave it."""
    if tangent._aval.dtype is not a._aval.dtype:
        tangent = dispatch.apply(OPS["_to_dtype"], (tangent,), (a._aval.dtype,))
    inner = any(other.serial >= level.serial for other in tangents_of(tangent))
    return snapshot(tangent, level) if inner else tangent


def _keep_duals(args: list, outs: tuple) -> None:
    """A node just recorded keeps duals, not their primals alone."""
    node = next((t._grad_fn for t in outs if t._grad_fn is not None), None)
    if node is None or not node._inputs:
        return
    if node._guards.__class__ is Packed:  # saved-tensor hooks hold the primals, the node the tangents
        for _, operand, number, pack in node._guards.packs:
            t = (args if operand else outs)[number]
            pack.tangents = {
                level: snapshot(tangent) for level, tangent in tangents_of(t).items() if tangent is not None
            }
    args = [*args, *(outs[k] for k in node._plan.residual_outputs)]
    for i, (a, kept) in enumerate(zip(args, node._inputs, strict=True)):
        if kept is not None and isinstance(a, Tensor) and tangents_of(a):
            dual = make(value_of(a))
            for level, tangent in tangents_of(a).items():
                if tangent is not None:
                    set_tangent(dual, level, snapshot(tangent))
            node._inputs[i] = dual


# -------------------------------------------------------------------------------- views and writes


def viewed(out: Tensor, t: Tensor, name: str, static: tuple) -> None:
    """``out`` is the view ``name`` of ``t``: its tangents are views of those of ``t``."""
    if name == "view_dtype":
        return

    def same_view(tangent: Tensor) -> Tensor:
        at = static
        if name == "as_strided" and len(static) > 2 and static[2] is not None:
            # Offsets count from where the storage begins, and the tangent has another one.
            shift = dispatch.plan_of(tangent).offset - dispatch.plan_of(t).offset
            at = (*static[:2], static[2] + shift, *static[3:])
        return viewing.apply_view(name, tangent, at)

    carry(out, t, same_view)


def check_write(op: Op, t: Tensor, result: Tensor) -> None:
    """Refuse to give a tensor that the function of a ``jvp`` captured a tangent by writing to it."""
    old = tangents_of(t)
    for level, tangent in tangents_of(result).items():
        if tangent is not None and old.get(level) is None and t._storage.epoch < level.began:
            raise captured(op)


def wrote(t: Tensor, result: Tensor) -> None:
    """``result`` was written into ``t``: the tangents follow."""
    new, old = tangents_of(result), tangents_of(t)
    for level in sorted({*new, *old}, key=_serial):
        tangent, before = new.get(level), old.get(level)
        if before is not None:
            if tangent is before:
                continue
            if tangent is not None:
                alike(before, tangent)
            if tangent is None:
                apply_inplace(OPS["_zero"], (before,))
            else:
                apply_inplace(OPS["_copy"], (before, tangent))
        elif tangent is not None:
            _receive(t, level, tangent)


def _receive(t: Tensor, level: Level, tangent: Tensor) -> None:
    """A first tangent: that of a view belongs to its base, which is zero elsewhere."""
    view = t._view
    base = None if view is None else view.base
    if base is None or tangent_of(base, level) is not None or level in (t._tangents or ()):
        set_tangent(t, level, tangent)
        return
    aval = base._aval
    zeros = dispatch.apply(OPS["_full"], (0.0,), (aval.shape, aval.dtype, aval.device))
    zeros._stride = base._stride
    alike(zeros, tangent)
    set_tangent(base, level, zeros)
    part = tangent_of(t, level)
    apply_inplace(OPS["_copy"], (part, tangent))


# ---------------------------------------------------------------------------------- duals and back


class CppFunction(Node):
    """The history of an unpacked primal: PyTorch has no Python class for it."""

    __slots__ = ()

    def name(self) -> str:
        """PyTorch's name of the node."""
        return "torch::autograd::Identity"


def make_dual(t: Tensor, tangent: Tensor, level: Level, number: int = 0) -> Tensor:
    """A view of ``t`` with this tangent at a level that neither may have one of already. RuntimeError."""
    if tangent_of(t, level) is not None:
        raise RuntimeError(
            "Making a dual Tensor based on a Tensor that already has a forward gradient at the same level "
            f"{number} is not supported."
        )
    if tangent_of(tangent, level) is not None:
        raise RuntimeError(
            "Setting a forward grad that itself has a forward gradient at the same "
            f"level{number} is not supported."
        )
    if tangent._aval.shape != t._aval.shape:
        raise RuntimeError(
            "Trying to set a forward gradient that has a different size than that of the original Tensor, "
            f"this is not supported. Tensor is of size {list(t._aval.shape)} while the given forward "
            f"gradient is of size {list(tangent._aval.shape)}."
        )
    if tangent._aval.dtype.is_complex and not t._aval.dtype.is_complex:
        raise RuntimeError(
            f"a tangent of dtype {tangent._aval.dtype} for a tensor of dtype {t._aval.dtype} is not "
            "supported; a real function has real tangents: take them one after the other"
        )
    dual = viewing.apply_view("view", t, (t._aval.shape,))
    if dispatch.strides_of(tangent) != dispatch.strides_of(t):
        copy = dispatch.share(OPS["clone"], tangent)
        copy._stride = t._stride
        tangent = copy
    set_tangent(dual, level, tangent)
    return dual


def unpack_dual(t: Tensor, level: Level) -> tuple[Tensor, Tensor | None]:
    """A view of ``t`` without a tangent at this level, and that tangent."""
    tangent = tangent_of(t, level)
    with_tangents = dict(tangents_of(t))
    primal = viewing.apply_view("alias", t)
    if primal._grad_fn is not None:
        primal._grad_fn.__class__ = CppFunction
    if tangent is not None:
        set_tangent(primal, level, None)
    for other, below in with_tangents.items():
        if other is not level:
            set_tangent(primal, other, below)
    return primal, tangent


FORWARD.apply, FORWARD.apply_plan = apply, apply_plan
FORWARD.carry, FORWARD.is_dual = carry, is_dual
FORWARD.set_tangent, FORWARD.tangents_of, FORWARD.viewed = set_tangent, tangents_of, viewed
FORWARD.check_write, FORWARD.wrote = check_write, wrote
