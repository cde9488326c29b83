"""Runs that turn out to have failed when somebody reads what they returned: which operations it was.

NOTE [Failures found at a read]
    XLA returns before a program has run. What calls the host, and on an accelerator what needs much memory,
    is looked at before it is delivered, and undone like a failure at the call (NOTE [Calls of the host]).
    Anything else that fails so late (a fault of the device) is raised where a result is read, or a result
    of a result: every array that depends on the run raises the same error. Its arguments are gone by then,
    so nothing can be computed again. The error is given the operations of the program where it began: the
    first of the latest runs that still shows a failed result.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Sequence
from typing import Any
from weakref import ref

import jax

from jaxflow._core import value
from jaxflow._core.memory_errors import as_memory_error
from jaxflow._plans.plan import Plan

# Of the latest runs: trace, source lines, and what says whether it failed, weakly: two of the arrays, or what
# has storages that were ``written``. No Value: a weak reference to one means that somebody may read it.
_runs: deque[tuple] = deque(maxlen=32)

# So many kinds of operations an error lists where their lines are not known.
_SHOWN = 20


def ran(trace: Sequence, lines: Sequence[str], arrays: Sequence) -> None:
    """Note a run that returned these arrays."""
    if arrays:
        _runs.append((trace, lines, ref(arrays[0]), ref(arrays[-1])))


def called(about: tuple) -> None:
    """Note a call of a compiled function: trace, no lines, and a reference to what has what it wrote."""
    _runs.append(about)


def named(error: BaseException, trace: Sequence = (), lines: Sequence[str] = ()) -> BaseException:
    """The error that reading an array raised, with a note of the operations that failed.

    ``trace`` is that of the program which returned the array, if it is known.
    """
    for began, where, *about in list(_runs):
        if any(map(_failed, _arrays(about))):
            trace, lines = began, where
            break
    if trace:
        error.add_note(operations(trace, lines))
    return as_memory_error(error)


def operations(trace: Sequence, lines: Sequence[str]) -> str:
    """The operations of a program, as an error names them."""
    plans = [step for step in trace if isinstance(step, Plan)]
    if lines:
        shown = [f"  {p.name} at {line}" for p, line in zip(plans, lines, strict=True)]
        return "\n".join((f"in a program of {len(plans)} operations:", *shown))
    met = Counter((p.name, p.line) for p in plans).most_common()
    shown = [f"  {n} {name}, first met with these sizes at {line}" for (name, line), n in met[:_SHOWN]]
    if len(met) > _SHOWN:
        shown.append(f"  and {sum(n for _, n in met[_SHOWN:])} others")
    title = f"in a program of {len(plans)} operations; set JAXFLOW_DEBUG=1 to see the line of each:"
    return "\n".join((title, *shown))


def _arrays(about: Sequence[ref]) -> Iterable[Any]:
    for found in [reference() for reference in about]:
        yield from [s.value.array for s in found.written] if hasattr(found, "written") else [found]


def _failed(array: Any) -> bool:
    """Whether it is known that the run which returned the array failed."""
    if not isinstance(array, jax.Array) or isinstance(array, jax.core.Tracer):
        return False
    if array.is_deleted() or not array.is_ready():
        return False
    try:
        jax.block_until_ready(array)
    except jax.errors.JaxRuntimeError:
        return True
    return False


value.on_unreadable.append(named)
