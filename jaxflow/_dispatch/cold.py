"""Cold programs: recorded operations run at once by NumPy, without compiling them.

NOTE [Cold programs]
    XLA compiles per shape, and compiling costs from 20 ms (one small operation) to seconds. A Program that
    is not known to come again is therefore interpreted on the CPU: each of its plans was lowered to a
    function on NumPy arrays (``host_of``), shared by all programs with that plan. ``policy`` says when a
    trace is interpreted and when it is compiled; results of the two agree to rounding. What the
    interpreter yields small stays a NumPy array in its Value, until somebody wants a jax array of it:
    making one costs more than most small operations. It is never written to, and never part of a leaf's
    memory, which a later Program might overwrite.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from jaxflow._core.aval import Aval
from jaxflow._core.value import host_array

from . import explain
from .host import host_of
from .plan import NUMBER_DTYPES, Plan

if TYPE_CHECKING:
    from .program import Program


class Schedule:
    """The steps of a trace as functions on NumPy arrays, for the results in ``alive``.

    ``steps`` holds, for each operation that is needed, its function, where its inputs stand, where its
    first result goes, and what nobody reads after it. Inputs stand in one list: results, then numbers
    (floats, integers, complex), then the leaves from the last to the first, so that slots index it.
    """

    __slots__ = ("alive", "bools", "results", "steps")

    def __init__(self, trace: tuple, alive: tuple[int, ...], results: int, floats: int,
                 integers: int) -> None:
        self.alive, self.results = alive, results
        self.bools: set[int] = set()
        operations = self._read(trace, {float: results, int: results + floats,
                                        complex: results + floats + integers})
        read_later = set(alive)
        self.steps = []
        for plan, where, out in reversed(operations):
            after = range(out, out + len(plan.out_avals))
            if read_later.isdisjoint(after):
                continue
            drop = [i for i in where if 0 <= i < results and i not in read_later]
            if len(after) > 1:
                drop += [i for i in after if i not in read_later]
            read_later.update(where)
            run = host_of(plan)
            if run.fallbacks:
                explain.without_rule(plan.name, run.fallbacks)
            self.steps.append((run.bare, where, out, after.stop, drop))
        self.steps.reverse()

    def _read(self, trace: tuple, numbers: dict[type, int]) -> list[tuple]:
        """The operations of the trace, as plan, where its inputs stand, and where its first result goes."""
        found = []
        at = out = 0
        while at < len(trace):
            plan = trace[at]
            end = at + 1 + plan.arrays
            where = trace[at + 1 : end]
            if plan.arrays < len(plan.kinds):
                where = self._with_numbers(plan, iter(where), numbers)
            found.append((plan, where, out))
            out += len(plan.out_avals)
            at = end
        return found

    def _with_numbers(self, plan: Plan, slots: Iterator[int], numbers: dict[type, int]) -> list[int]:
        """Where the inputs of a plan stand that takes numbers; ``numbers`` says where the next ones do."""
        where = []
        for kind in plan.kinds:
            if isinstance(kind, Aval):
                where.append(next(slots))
                continue
            vector = int if kind is bool else kind
            where.append(numbers[vector])
            if kind is bool:
                self.bools.add(numbers[vector])
            numbers[vector] += 1
        return where

    def __call__(self, program: Program) -> list:
        """The arrays of the results in ``alive``."""
        env: list = [None] * self.results
        for kind, numbers in (
            (float, program.floats), (int, program.integers), (complex, program.complexes)
        ):
            dtype = NUMBER_DTYPES[kind]
            env += [np.array(x, dtype) for x in numbers]
        for i in self.bools:
            env[i] = env[i] != 0
        env += [np.asarray(leaf.array) for leaf in reversed(program.leaves)]
        from jaxflow._interpreter import interpreting  # it has been loaded: the steps are its functions

        with interpreting():
            for run, where, out, stop, drop in self.steps:
                env[out:stop] = run(*[env[i] for i in where])
                for i in drop:
                    env[i] = None
        return [_own(env[i]) for i in self.alive]


def _own(array: np.ndarray):
    """``array`` in memory of its own, as a Value holds it."""
    if not (array.flags.owndata and array.flags.c_contiguous):
        array = array.copy()
    return host_array(array)
