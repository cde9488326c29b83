"""Operations compiled by themselves: what the eager executor runs.

NOTE [Lowered and let go]
    What jax lowers a function to takes 1.2 MB on the CPU, since each lowering has an MLIR context of its own.
    That is five times what a small compiled operation takes, and jax keeps it as long as the trace that was
    lowered. A plan keeps its trace, for the interpreter, for backward and for programs to come. So no
    plan's ``jitted`` is called outside of a trace: a function around it is compiled ahead of time, whose own
    trace (one call) goes as soon as that is done. Calling the result takes as long as calling ``jitted``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax

from jaxflow._core import budget, cache_pressure, options
from jaxflow._core.device import CPU, placed
from jaxflow._plans.plan import Plan, struct_of

from . import result_buffers
from .counted import check_inputs

_compiled = budget.Table("operations by themselves", budget.PROGRAM)


def run_alone(plan: Plan, arguments: Sequence) -> tuple:
    """Apply ``plan`` to arrays and numbers, as a program of its own."""
    found = _compiled.young.get(plan)
    if found is None:
        found = _compiled.get(plan) or _add(plan)
    compiled, large = found
    try:
        results = (getattr(compiled, "_call", None) or compiled)(*arguments)
    except (TypeError, ValueError):  # arrays that lie elsewhere than on the one device it was compiled for
        check_inputs(plan, arguments)
        with placed(plan.device):
            return plan.jitted(*arguments)
    if large:
        result_buffers.register(results, large)
    return results


def _add(plan: Plan) -> tuple[Any, tuple[int, ...]]:
    """What is compiled, and which of its results are large."""

    def run(*arguments: Any) -> tuple:
        return plan.jitted(*arguments)

    run.__name__ = run.__qualname__ = plan.name
    cache_pressure.made()
    with placed(plan.device):
        lowered = jax.jit(run).lower(*map(struct_of, plan.kinds))
        large = result_buffers.large(lowered.out_info) if plan.device is CPU else ()
        found = _compiled.add(plan, (options.compiled(lowered, plan.device), large))
    budget.settle()
    return found


cache_pressure.on_forget.append(_compiled.clear)
