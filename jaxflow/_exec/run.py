"""Running a plan: the three executors behind one function on Values.

deferred: the plan is appended to this thread's Program of its device (the default). eager: its
jitted function runs at once. traced: an input is a tracer of an outer ``jax.jit``, ``jax.grad`` or
``jax.vmap``, so the plan's function is applied to it there and then; this is found out from the
input, needs no mode, and never records a tracer into a Program. Batched Values (inside ``vmap``) run
in any of the three: see NOTE [Batched values].
"""

from __future__ import annotations

import jax

from jaxflow._core import dtype as dtypes
from jaxflow._core import flags
from jaxflow._core.memory_errors import as_memory_error
from jaxflow._core.run_hooks import WATCHERS
from jaxflow._core.shared import HostValue
from jaxflow._core.state import SMALL, state
from jaxflow._core.value import Value
from jaxflow._plans.plan import Plan
from jaxflow._shapes import plan_cache
from jaxflow._transforms.batching import Batched, run_batched

from . import explain
from .counted import check_inputs
from .eager import run_alone
from .host_shared import run_shared
from .numpy import tiering
from .numpy.immediate import interpret, opened
from .program import BatchedLeaf, ForeignLeaf, HostLeaf, TracerLeaf
from .unread import without_lost

_ESCAPED = (
    "a tensor of the inside of a jax transformation was kept (in a list, an attribute, another tensor) and "
    "used after it: return it from the function instead; what a module changes goes through jaxflow.to_jax"
)


def run(plan: Plan, inputs: list, watched: bool = False) -> list[Value]:
    """Apply a plan to its present dynamic inputs (Values and Python numbers), in this thread's executor."""
    if WATCHERS and not watched:
        return WATCHERS[-1].run(run, plan, inputs)
    if state.eager:
        return _run_now(plan, inputs)
    device = plan.device
    program = state.programs.get(device)
    if program is not None and program.ops >= flags.MAX_OPS:
        program.close(explain.BOUND)
    values = None
    while values is None:
        try:
            values = None if program is None else program.record(plan, inputs)
            if values is None:  # none yet, or closed
                program = state.programs[device] = opened(device)
        except ForeignLeaf as leaf:
            others = without_lost(plan, inputs)
            if others is None:
                inputs = _delivered(inputs, leaf.args[0])
            else:
                inputs = others
        except TracerLeaf:
            return _run_now(plan, inputs)
        except BatchedLeaf:
            return run_batched(run, plan, inputs)
        except HostLeaf:
            return run_shared(run, plan, inputs)
    return values


def _delivered(inputs: list, leaf: Value) -> list:
    """The inputs, of which ``leaf`` has its array now; a leaf of another thread's capture stays one."""
    array = leaf.get()
    if leaf.producer is None:
        return inputs
    known = Value(leaf.aval, array, shared=True)
    return [known if x is leaf else x for x in inputs]


def _run_now(plan: Plan, inputs: list) -> list[Value]:
    explain.ran_eagerly()
    on_host = state.on_host
    if on_host and tiering.interprets(plan.device) and (on_host is SMALL or tiering.alone_in_numpy(plan)):
        try:
            values = interpret(plan, inputs, any_size=on_host is not SMALL)
        except (ForeignLeaf, TracerLeaf, BatchedLeaf):
            values = None
        if values is not None:
            return values
    traced = False
    try:
        arrays = [x.get() if type(x) is Value else x for x in inputs]
    except Exception:
        others = without_lost(plan, inputs)
        if others is None:
            raise
        return _run_now(plan, others)
    for a in arrays:
        if a.__class__ is Batched:
            return run_batched(run, plan, inputs)
        if a.__class__ is HostValue:
            return run_shared(run, plan, inputs)
        if isinstance(a, jax.core.Tracer):
            traced = True
    if traced:
        check_inputs(plan, inputs)
        try:
            outs = plan.fn(*arrays)
        except jax.errors.UnexpectedTracerError as error:
            error.add_note(_ESCAPED)
            raise
        # See NOTE [What jax may not differentiate].
        return _values(plan, map(jax.lax.stop_gradient, outs) if state.constant else outs)
    try:
        outs = _run_concrete(plan, arrays)
    except OverflowError:
        raise OverflowError("int too big to convert") from None  # jax's text names its own function
    if outs and isinstance(outs[0], jax.core.Tracer):
        # Inside an outer trace, but of constants only: what outlives the trace must be an array.
        with jax.ensure_compile_time_eval():
            outs = _run_concrete(plan, arrays)
    return _values(plan, outs)


def _run_concrete(plan: Plan, arrays: list) -> tuple:
    try:
        return run_alone(plan, arrays)
    except jax.errors.JaxRuntimeError as error:
        found = as_memory_error(error)
        if found is error:
            raise
        raise found from error


def _values(plan: Plan, arrays) -> list[Value]:
    return [Value(aval, a) for aval, a in zip(plan.out_avals, arrays, strict=True)]


def flush(reason: str = explain.ASKED) -> None:
    """Run everything this thread has recorded, without waiting for the results."""
    for program in list(state.programs.values()):
        program.close(reason)
    state.programs.clear()
    state.spares.clear()


def _change_plans(before: dtypes.dtype, after: dtypes.dtype) -> None:
    """Use the plans of the new default dtype; what was recorded under the old one runs first."""
    flush()
    plan_cache.change_default(before, after)


dtypes.on_default_change.append(_change_plans)
