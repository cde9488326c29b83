"""What a tensor shows now: the Value of its storage, or what a view reads of it."""

from __future__ import annotations

import jax
import numpy as np

from jaxflow._core.memory_errors import check_sizes
from jaxflow._core.run_hooks import WATCHERS
from jaxflow._core.shared import HostValue
from jaxflow._core.state import state
from jaxflow._core.tensor import Tensor, ViewInfo
from jaxflow._core.traces import MET, as_constant
from jaxflow._core.value import Value
from jaxflow._exec.numpy.immediate import AtOnce
from jaxflow._exec.run import run

from .chain import ViewPlan
from .history import refresh_history
from .host_shared import shown_of
from .reading import by_strides, strided


def view_value(t: Tensor) -> Value:
    """What a view shows now; also brings its autograd history up to date."""
    view = t._view
    if view.seen_version != view.version[0]:
        refresh_history(t)
    storage = t._storage
    at, shown = view.shown
    epoch = storage.epoch  # before the Value: a write in between is noticed so
    if at != epoch:
        plan, base = view.plan, storage.value
        if base.__class__ is HostValue:
            shown = shown_of(base, plan)
            if shown is None:  # what is computed of the memory is not kept
                return run(plan.read, [base, *plan.numbers])[0]
            view.shown = epoch, shown
            return shown
        if plan.spread:
            return _spread_out(view, base)
        value = base if plan.identity else _read_at_once(plan, base)
        if value is None:
            value = run(plan.read, [base, *plan.numbers])[0]
        shown = as_constant(view, value) if MET else value
        view.shown = epoch, shown
    return shown


# Reading more than so many elements is no small operation.
_FEW = 1 << 12


def _read_at_once(plan: ViewPlan, base: Value) -> Value | None:
    """What `run` gives for ``plan.read`` where operations run at once: by its strides, in half of the time.

    None where strides do not say it, or the thread does not run operations at once.
    """
    array, aval = base.array, plan.aval
    program = state.programs.get(aval.device)
    if program.__class__ is not AtOnce or base.__class__ is not Value or base.unchecked is not None:
        return None
    if state.eager or WATCHERS or aval.numel > _FEW or not strided(plan, base):
        return None
    if array.__class__ is not np.ndarray:  # of a large storage: its memory is read where it lies
        if not isinstance(array, jax.Array) or isinstance(array, jax.core.Tracer) or array.is_deleted():
            return None
        array = np.asarray(array)
    return program.took(plan.read, by_strides(plan, array))


def _spread_out(view: ViewInfo, base: Value) -> Value:
    """What a view shows that is not kept: NOTE [Views that memory does not hold]."""
    plan = view.plan
    if state.eager:  # else whoever reads it may need no more than a part
        check_sizes(plan.name, (plan.aval,))
    value = run(plan.read, [base, *plan.numbers])[0]
    return as_constant(view, value) if MET else value


def value_of(t: Tensor) -> Value:
    """The Value a tensor shows now; of memory that others may write to, that of a copy."""
    value = t._storage.value if t._view is None else view_value(t)
    return value.known() if value.__class__ is HostValue else value


def live_value_of(t: Tensor) -> Value:
    """What a tensor shows; memory that others may write to as it is: NOTE [Host-shared storages]."""
    return t._storage.value if t._view is None else view_value(t)
