"""Reading a trace: its operations as steps, which of them are needed, and whose memory goes to whom.

NOTE [Who takes over whose memory]
    A donated leaf's memory goes to an output of its aval. XLA can write there only if the leaf is not
    read afterwards; else it copies, which costs more than not donating. jax pairs the two in the order
    in which they stand, so they are put in the order that the trace suggests: the latest output with the
    leaf read last, if that is not later. So a new parameter takes the place of the old one, and not of a
    gradient that happens to have its shape.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from jaxflow._core.aval import Aval
from jaxflow._plans.plan import Plan

# Which of a program's vectors of numbers holds those of a kind.
VECTOR = {float: float, int: int, bool: int, complex: complex}


class Step(NamedTuple):
    """One operation of a trace: its plan, the slots of its arrays, which of the trace's numbers (of their
    kind) it takes, and the slot of its first result."""

    plan: Plan
    slots: tuple[int, ...]
    numbers: list[int]
    out: int


def parse(trace: Sequence) -> list[Step]:
    """The operations of a trace, in order."""
    steps, at, out = [], 0, 0
    counts = {float: 0, int: 0, complex: 0}
    while at < len(trace):
        plan = trace[at]
        end = at + 1 + plan.arrays
        numbers = []
        if plan.arrays < len(plan.kinds):
            for kind in plan.kinds:
                if not isinstance(kind, Aval):
                    vector = VECTOR[kind]
                    numbers.append(counts[vector])
                    counts[vector] += 1
        steps.append(Step(plan, trace[at + 1 : end], numbers, out))
        out += len(plan.out_avals)
        at = end
    return steps


def inputs(step: Step, array: Callable[[int], Any], number: Callable[[type, int], Any]) -> list:
    """What the plan of ``step`` is called with: ``array`` of a slot, or ``number`` of a kind and position."""
    if not step.numbers:
        return [array(slot) for slot in step.slots]
    slots, numbers = iter(step.slots), iter(step.numbers)
    return [array(next(slots)) if isinstance(kind, Aval) else number(kind, next(numbers))
            for kind in step.plan.kinds]


def without_dead(steps: list[Step], needed: set[int]) -> list[Step]:
    """The steps that the results ``needed`` depend on; ``needed`` grows by what they read."""
    live = []
    for step in reversed(steps):
        plan, slots, _, out = step
        if any(out + k in needed for k in range(len(plan.out_avals))):
            live.append(step)
            needed.update(slots)
    live.reverse()
    return live


def pair_donations(steps: list[Step], alive: frozenset[int],
                   leaves: dict[int, Aval]) -> list[tuple[int, int]]:
    """Pairs of a leaf and the result that takes over its memory; NOTE [Who takes over whose memory]."""
    last_read: dict[int, tuple[int, int]] = {}
    candidates: dict[Aval, list] = {}
    for at, (plan, slots, _, out) in enumerate(steps):
        for position, slot in enumerate(slots):
            if -1 - slot in leaves:
                last_read[-1 - slot] = at, position
        for k, aval in enumerate(plan.out_avals):
            if out + k in alive:
                candidates.setdefault(aval, []).append((at, out + k))
    pairs = []
    for leaf, (read, _) in sorted(last_read.items(), key=lambda item: item[1], reverse=True):
        results = candidates.get(leaves[leaf], ())
        if results and read <= results[-1][0]:
            pairs.append((leaf, results.pop()[1]))
    return pairs


def pair_spares(steps: list[Step], results: frozenset[int],
                spare: Mapping[Aval, int]) -> list[tuple[Aval, int]]:
    """Which of the ``results`` are to lie in the memory of spare arrays, and its aval; the last first."""
    free = Counter(spare)
    found = []
    for plan, _, _, out in reversed(steps):
        for k, aval in enumerate(plan.out_avals):
            if out + k in results and free[aval]:
                free[aval] -= 1
                found.append((aval, out + k))
    return found
