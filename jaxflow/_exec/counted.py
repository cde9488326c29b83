"""Programs hold exactly the inputs that their plans take.

NOTE [Counted where it is closed]
    The numbers of a program lie in three vectors in the order of recording, and each operation takes the next
    ones, as many as its plan says (NOTE [A program's key]). If there is one number too many or too few, all
    operations after it read the numbers of others: results would be wrong, and no error would be raised. So
    the entries of a trace that is new are counted one by one, and each time it is closed the three lengths
    are compared with what its plans take in all. An operation that is run by itself is checked alone.

    What does not agree is an error of the library. No operation of such a program can be trusted, so all its
    results are lost: NOTE [What a failed run leaves].
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from jaxflow._core.aval import Aval
from jaxflow._plans.plan import Plan

from .trace_analysis import VECTOR

if TYPE_CHECKING:
    from .program_cache import CacheEntry
    from .tape import Entry, Layout


class Miscounted(RuntimeError):
    """An operation was recorded with other inputs than its plan takes: an error of the library.

    Attributes:
        plan: that of the operation, as far as it is known which one it is.
    """

    def __init__(self, plan: Plan, found: str) -> None:
        super().__init__(f"internal error of jaxflow: {plan!r} takes {len(plan.kinds)} inputs, and {found}; "
                         "nothing was computed with them. Please report what your program does here")
        self.plan = plan


def taken(plans: Iterable[Plan]) -> tuple[int, int, int]:
    """How many floats, integers and complex numbers these plans take in all."""
    counts = {float: 0, int: 0, complex: 0}
    for plan in plans:
        if plan.arrays < len(plan.kinds):
            for kind in plan.kinds:
                if not isinstance(kind, Aval):
                    counts[VECTOR[kind]] += 1
    return counts[float], counts[int], counts[complex]


def check_inputs(plan: Plan, inputs: Sequence) -> None:
    """Raise Miscounted where a plan is to be run with another number of inputs than it takes."""
    if len(inputs) != len(plan.kinds):
        raise Miscounted(plan, f"was given {len(inputs)}")


def check_program(known: CacheEntry, layout: Layout, entries: Sequence[Entry]) -> None:
    """Raise Miscounted where other numbers were recorded than the plans of the trace take.

    ``known`` is what is known of the trace, ``entries`` are its operations, where they were recorded one by
    one.
    """
    has = len(layout.floats), len(layout.integers), len(layout.complexes)
    if has == known.takes:
        return
    for entry in entries:
        check_inputs(entry.plan, entry)
    known.takes = takes = taken([x for x in layout.trace if x.__class__ is Plan])
    if has != takes:
        plan = next((e.plan for e in entries if _numbers(e) != taken([e.plan])), layout.trace[0])
        raise Miscounted(plan, "its program has {} floats, {} integers and {} complex numbers for the {}, {} "
                               "and {} that are taken".format(*has, *takes))


def _numbers(inputs: Iterable[Any]) -> tuple[int, int, int]:
    """How many floats, integers and complex numbers there are among recorded inputs."""
    kinds = [x.__class__ for x in inputs]
    floats, complexes = kinds.count(float), kinds.count(complex)
    return floats, sum(issubclass(kind, int) for kind in kinds), complexes
