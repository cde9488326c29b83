"""Cold code made of small operations: each is run by NumPy when it is called, and nothing is recorded.

NOTE [Run at once]
    To record a small operation, to read the trace again, and to find out what is needed of it, takes longer
    than NumPy takes to do it. So where a thread's programs were cold ``STREAK`` times in a row, and their
    operations cheap, the next ones are not recorded: an `AtOnce` stands where the open Program would, and
    runs each plan by the functions that the interpreter has for it, with the same results to the last bit.
    It counts operations, no seconds, so that a script does the same at the same step every time. It ends
    - at an operation that is not cheap (that one is recorded, and may be fused with what follows),
    - where an input is unchecked (NOTE [Faults found late]),
    - where the sequence of plans from one boundary to the next came again as a loop's does (``tiering``) and
      its operations are large enough for a compiled program to be quicker. Where a thread came to no
      boundary for very long, the sequence that it repeats is looked at: each round may read a number. Where
      nothing of it is compiled after all, before programs are cold and cheap again, that is not tried again.
    What an operation yields is never pending, so reading a number is no sync point here.

    Where data is made (``making_data``: a dataset cuts its samples to ever other sizes, operation by
    operation), the eager executor does the same with every cheap operation from the first on. Elsewhere it
    always uses XLA: who switches it on wants to see what each kernel does.
"""

from __future__ import annotations

import contextvars
from collections.abc import Callable

import jax
import numpy as np

from jaxflow._core import flags
from jaxflow._core.dtype import bool as bool_
from jaxflow._core.shared import HostValue
from jaxflow._core.state import state
from jaxflow._core.value import Value, owned
from jaxflow._exec import explain
from jaxflow._exec.counted import check_inputs
from jaxflow._exec.deferred_checks import unchecked_run
from jaxflow._exec.program import LEAST, MOST, BatchedLeaf, ForeignLeaf, Program, TracerLeaf
from jaxflow._plans.plan import NUMBER_DTYPES, Plan
from jaxflow._transforms.batching import Batched

from . import tiering
from .cost_model import seconds_to_interpret
from .lower import host_of

STREAK = 8
# Estimated seconds of an operation that is recorded.
DEAR = 1e-3

# NumPy keeps its error settings in a context variable. To run a function in a copy of a context in which they
# are silent takes a tenth of the time of ``np.errstate``; any thread may enter a copy of its own.
with np.errstate(all="ignore"):
    _SILENT = contextvars.copy_context()


class AtOnce:
    """What stands for the open Program of a thread and device while operations are run at once."""

    __slots__ = ("closed", "device", "ops", "plans")

    def __init__(self, device) -> None:
        self.device = device
        self.closed = False
        self.ops = 0
        self.plans: list[Plan] = []

    def record(self, plan: Plan, inputs: list) -> list[Value] | None:
        """Run one operation; its results, or None where it has to be recorded.

        Raises TracerLeaf, BatchedLeaf or ForeignLeaf, and then has done nothing.
        """
        if self.closed:
            return None
        values = interpret(plan, inputs)
        if values is None:  # from here on this thread records
            self.close(explain.DEAR)
            state.streak = 0
            return None
        self.ops += 1
        self.plans.append(plan)
        return values

    def took(self, plan: Plan, array: np.ndarray) -> Value | None:
        """The result of ``plan``, which is this ``array``; None if nothing is run here any more."""
        if self.closed:
            return None
        self.ops += 1
        self.plans.append(plan)
        return Value(plan.out_avals[0], owned(array))

    def close(self, reason: str) -> None:
        """A boundary: here a loop is recognised."""
        if self.closed:
            return
        self.closed = True
        if self.ops:
            explain.ran_at_once(self.ops, reason)
            if tiering.loop_at_once(self.plans, ended=reason != explain.BOUND):
                state.streak = -tiering.AWAY
        self.plans = []


def opened(device) -> Program | AtOnce:
    """What the next operations of this thread go to."""
    if state.streak >= STREAK and tiering.interprets(device) and not flags.DEBUG:
        tiering.found_cold()
        return AtOnce(device)
    return Program(device)


def interpret(plan: Plan, inputs: list, *, any_size: bool = False) -> list[Value] | None:
    """The results of one operation by NumPy; None where it is not cheap, or an input is unchecked.

    With ``any_size`` it is cheap if it multiplies no matrices, whatever the size of its operands.
    Raises as `AtOnce.record` does.
    """
    quick = plan.quick or _prepared(plan, any_size)
    if quick is None:
        return None
    arrays = []
    for x in inputs:
        kind = x.__class__
        if kind is Value:
            array = x.array
            if array.__class__ is not np.ndarray or x.unchecked is not None:
                array = _array_of(x)
                if array is None:
                    return None
            arrays.append(array)
        elif kind is Batched:
            raise BatchedLeaf
        elif kind is HostValue:  # read where it lies; results that are views of it are copied below
            arrays.append(x.live if x.aval.dtype is not bool_ else x.copied())
        else:
            if kind is int and not LEAST <= x <= MOST:
                raise OverflowError("int too big to convert")
            arrays.append(NUMBER_DTYPES[kind](x))
    if len(arrays) != len(plan.kinds):
        check_inputs(plan, inputs)
    found = _SILENT.copy().run(quick, *arrays) if any_size or plan.quick is quick else quick(*arrays)
    if len(found) == 1:
        return [Value(plan.out_avals[0], owned(found[0]))]
    return [Value(aval, owned(array)) for aval, array in zip(plan.out_avals, found)]


def _prepared(plan: Plan, any_size: bool) -> Callable[..., list] | None:
    """The function that runs a plan; None for one that is dear.

    It is noted as ``quick`` if it is no more than NumPy.
    """
    if any_size:
        host = host_of(plan)
        return None if host.products or host.fallbacks else host.bare
    if seconds_to_interpret((plan,)) > DEAR:
        return None
    first = plan.host is None
    host = host_of(plan)
    if host.fallbacks and first:
        explain.without_rule(plan.name, host.fallbacks)
    if host.products or host.fallbacks:
        return host
    plan.quick = host.bare
    return host.bare


def _array_of(x: Value) -> np.ndarray | None:
    """The array of an input that is no NumPy array or is unchecked; None if that has to be recorded."""
    if x.producer is not None:
        raise ForeignLeaf(x)
    if isinstance(x.array, jax.core.Tracer):
        raise TracerLeaf
    if x.unchecked is not None and unchecked_run([], [x], ()) is not None:
        return None
    return np.asarray(x.array)
