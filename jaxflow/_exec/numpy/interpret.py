"""Cold programs: recorded operations run at once by NumPy, without compiling them.

NOTE [Cold programs]
    XLA compiles per shape, and compiling costs from 20 ms (one small operation) to seconds. A Program that
    is not known to come again is therefore interpreted on the CPU: each of its plans was lowered to a
    function on NumPy arrays (``host_of``), shared by all programs with that plan. ``tiering`` says when a
    trace is interpreted and when it is compiled; results of the two agree to rounding. What the
    interpreter yields small stays a NumPy array in its Value, until a jax array of it is needed:
    making one costs more than most small operations. It is never written to, and never part of a leaf's
    memory, which a later Program might overwrite.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from jaxflow._core.aval import Aval
from jaxflow._core.value import host_array, owned
from jaxflow._exec import explain
from jaxflow._exec.trace_analysis import VECTOR, inputs, parse
from jaxflow._plans.plan import NUMBER_DTYPES

from .lower import host_of

if TYPE_CHECKING:
    from jaxflow._exec.tape import Layout


class Schedule:
    """The steps of a trace as functions on NumPy arrays, for the results in ``alive``.

    ``steps`` holds, for each operation that is needed, its function, where its inputs stand, where its
    first result goes, and what nobody reads after it. Inputs stand in one list: results, then numbers
    (floats, integers, complex), then the leaves from the last to the first, so that slots index it.
    """

    __slots__ = ("alive", "bools", "results", "steps")

    def __init__(self, trace: tuple, alive: tuple[int, ...]) -> None:
        self.alive = alive
        parsed = parse(trace)
        self.results = parsed[-1].out + len(parsed[-1].plan.out_avals)
        self.bools: set[int] = set()
        taken = Counter(VECTOR[kind] for step in parsed if step.numbers
                        for kind in step.plan.kinds if not isinstance(kind, Aval))
        first = {float: self.results, int: self.results + taken[float],
                 complex: self.results + taken[float] + taken[int]}

        def number(kind: type, position: int) -> int:
            at = first[VECTOR[kind]] + position
            if kind is bool:
                self.bools.add(at)
            return at

        read_later = set(alive)
        self.steps = []
        for step in reversed(parsed):
            plan, out = step.plan, step.out
            after = range(out, out + len(plan.out_avals))
            if read_later.isdisjoint(after):
                continue
            where = inputs(step, int, number) if step.numbers else step.slots
            drop = [i for i in where if 0 <= i < self.results and i not in read_later]
            if len(after) > 1:
                drop += [i for i in after if i not in read_later]
            read_later.update(where)
            run = host_of(plan)
            if run.fallbacks:
                explain.without_rule(plan.name, run.fallbacks)
            self.steps.append((run.bare, where, out, after.stop, drop))
        self.steps.reverse()

    def __call__(self, layout: Layout) -> list:
        """The arrays of the results in ``alive``."""
        env: list = [None] * self.results
        for kind, numbers in (
            (float, layout.floats), (int, layout.integers), (complex, layout.complexes)
        ):
            dtype = NUMBER_DTYPES[kind]
            env += [np.array(x, dtype) for x in numbers]
        for i in self.bools:
            env[i] = env[i] != 0
        env += [np.asarray(leaf.array) for leaf in reversed(layout.leaves)]
        from jaxflow._interpreter import interpreting  # it has been loaded: the steps are its functions

        with interpreting():
            for run, where, out, stop, drop in self.steps:
                env[out:stop] = run(*[env[i] for i in where])
                for i in drop:
                    env[i] = None
        return [host_array(owned(env[i])) for i in self.alive]
