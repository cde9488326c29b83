"""Operations on memory that others may write to: NOTE [Host-shared storages]."""

from __future__ import annotations

from collections.abc import Callable

import jax

from jaxflow._core.device import CPU
from jaxflow._core.shared import HostValue, release
from jaxflow._core.value import SMALL, Value
from jaxflow._plans.plan import Plan

from .numpy.immediate import interpret


def run_shared(run: Callable, plan: Plan, inputs: list) -> list[Value]:
    """``run`` a plan on inputs some of which are host-shared, as they are now."""
    large = False
    for x in inputs:
        if x.__class__ is HostValue:
            release(x.memory)
            large = large or x.live.nbytes > SMALL
    if large and plan.device is CPU:
        values = _where_it_lies(plan, inputs)
        if values is not None:
            return values
    return run(plan, [x.known() if x.__class__ is HostValue else x for x in inputs])


def _where_it_lies(plan: Plan, inputs: list) -> list[Value] | None:
    """The results of a plan that NumPy runs on the memory itself; None where a copy of it is better."""
    for x in inputs:
        if isinstance(x, Value) and x.__class__ is not HostValue:
            if x.__class__ is not Value or isinstance(x.settled(), jax.core.Tracer):
                return None
    return interpret(plan, inputs, any_size=True)
