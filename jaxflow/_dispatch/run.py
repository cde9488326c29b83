"""Running a plan: the three executors behind one function on Values.

NOTE [Three executors]
    deferred: the plan is appended to this thread's Program of its device (the default). eager: its
    jitted function runs at once. traced: an input is a tracer of an outer ``jax.jit``, ``jax.grad`` or
    ``jax.vmap``, so the plan's function is applied to it there and then; this is found out from the
    input, needs no mode, and never records a tracer into a Program.
"""

from __future__ import annotations

import jax

from jaxflow._core import device as devices
from jaxflow._core import flags
from jaxflow._core.value import Value

from . import explain
from .plan import Plan
from .program import Program, TracerLeaf
from .state import state


def run(plan: Plan, inputs: list) -> list[Value]:
    """Apply a plan to its present dynamic inputs (Values and Python numbers), in this thread's executor."""
    if state.eager:
        return _run_now(plan, inputs)
    device = plan.device
    program = state.programs.get(device)
    if program is not None and program.ops >= flags.MAX_OPS:
        program.close(explain.BOUND)
    try:
        values = None if program is None else program.record(plan, inputs)
        while values is None:
            program = state.programs[device] = Program(device)
            values = program.record(plan, inputs)
        return values
    except TracerLeaf:
        return _run_now(plan, inputs)


def _run_now(plan: Plan, inputs: list) -> list[Value]:
    arrays = [x.get() if type(x) is Value else x for x in inputs]
    fn = plan.jitted
    for a in arrays:
        if isinstance(a, jax.core.Tracer):
            fn = plan.fn
            break
    else:
        if plan.arrays == 0 and plan.device is not devices.CPU:
            with jax.default_device(devices.resolve(plan.device)[1]):
                return _values(plan, fn(*arrays))
    return _values(plan, fn(*arrays))


def _values(plan: Plan, arrays) -> list[Value]:
    return [Value(aval, a) for aval, a in zip(plan.out_avals, arrays, strict=True)]


def flush(reason: str = explain.ASKED) -> None:
    """Run everything this thread has recorded, without waiting for the results."""
    for program in list(state.programs.values()):
        program.close(reason)
    state.programs.clear()
