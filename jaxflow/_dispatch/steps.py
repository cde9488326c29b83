"""Reading a trace: its operations as steps, which of them are needed, and whose memory goes to whom.

NOTE [Who takes over whose memory]
    A donated leaf's memory goes to an output of its aval. XLA can write there only if the leaf is not
    read afterwards; else it copies, which costs more than not donating. jax pairs the two in the order
    in which they stand, so they are put in the order that the trace suggests: the latest output with the
    leaf read last, if that is not later. So a new parameter takes the place of the old one, and not of a
    gradient that happens to have its shape.
"""

from __future__ import annotations

from jaxflow._core.aval import Aval


def parse(trace: tuple) -> list:
    """The trace as steps ``(plan, slots, positions of its numbers, first result slot)``."""
    steps, at, result = [], 0, 0
    counts = {float: 0, int: 0, complex: 0}
    while at < len(trace):
        plan = trace[at]
        slots = trace[at + 1 : at + 1 + plan.arrays]
        numbers = []
        for kind in plan.kinds:
            if not isinstance(kind, Aval):
                vector = int if kind is bool else kind
                numbers.append(counts[vector])
                counts[vector] += 1
        steps.append((plan, slots, numbers, result))
        result += len(plan.out_avals)
        at += 1 + plan.arrays
    return steps


def without_dead(steps: list, needed: set[int]) -> list:
    live = []
    for step in reversed(steps):
        plan, slots, _, out = step
        if any(out + k in needed for k in range(len(plan.out_avals))):
            live.append(step)
            needed.update(slots)
    live.reverse()
    return live


def heirs(steps: list, alive: frozenset[int], leaves: dict[int, Aval]) -> list[tuple[int, int]]:
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
