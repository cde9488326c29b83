"""A quick call that runs no program of its own: NOTE [A backward after the call]."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from jaxflow._core.commit import all_same
from jaxflow._core.value import Value, as_number
from jaxflow._exec.deferred_checks import Check
from jaxflow._exec.run import run
from jaxflow._exec.trace_analysis import VECTOR, Step, inputs, parse
from jaxflow._exec.undo import grads_rows, writes_rows
from jaxflow._publish.value_checks import Asked

from ._call import MISSED, Call
from ._picks import pick
from ._tensor_guards import Found

if TYPE_CHECKING:
    from ._specialisation import Specialisation


class Recorded:
    """In the place of an executable: what was recorded, to be recorded again.

    Its ``steps`` take Values that are numbered: those of ``leaf_at`` for leaves, and then all results.
    """

    donated: tuple = ()
    entrance = None

    def __init__(self, trace: Sequence, leaves: int, results: int) -> None:
        self.trace, self.kept, self.outputs = trace, range(leaves), range(results)

    def load(self, at: dict[int, int]) -> None:
        """Find where the operations take what they take; ``at`` is the number of a slot's Value."""
        self.steps = [
            (step.plan, None if step.numbers else pick([at[slot] for slot in step.slots]),
             Step(step.plan, tuple(at[slot] for slot in step.slots), step.numbers, step.out))
            for step in parse(self.trace)
        ]


class Joined:
    """One such call: what it records is pending in the thread's Program, as what Python records.

    Attributes:
        new: the Values of all results.
        replaced: as that of a `Run`.
    """

    def __init__(self, spec: Specialisation, values: list[Value], numbers: Sequence) -> None:
        self.spec, self.values = spec, values
        floats, integers, _ = numbers
        self.numbers: dict[type, list] = {
            float: spec.floats if floats is spec.float_array else floats.tolist(),
            int: spec.integers if integers is spec.integer_array else integers.tolist(),
            complex: spec.complexes,
        }
        self.new: list[Value] = []
        self.replaced: tuple = ((), (), (), (), (), ())
        self.asked: list[tuple] = []

    def record(self) -> bool:
        """Record the operations; False if one of them is known to be wrong, and where has to be said."""
        every, spec, numbers = self.values[:], self.spec, self.numbers

        def number(kind: type, k: int) -> Any:
            return kind(numbers[VECTOR[kind]][k])

        for plan, take, step in spec.executable.steps:
            every += run(plan, inputs(step, every.__getitem__, number) if take is None else take(every))
        self.new = every[len(self.values):]
        producer = self.new[-1].producer
        if producer is not None:
            producer[0].program.wanted = True
        return all(self._ask(q, flag, every) for q, flag in zip(spec.checks, spec.pick_flags(self.new)))

    def read(self) -> list | None:
        """The numbers that the call reads, for which what is recorded has to run; None if it cannot."""
        try:
            return [as_number(np.asarray(x.get())) for x in self.spec.pick_reads([*self.values, *self.new])]
        except Exception:  # noqa: BLE001 - Python comes to the same, and says where
            return None

    def _ask(self, q: Check, flag: Value, every: list[Value]) -> bool:
        """Let the Program answer a check; False if the answer is there and bad, or nobody can give it."""
        producer = flag.producer
        if producer is None:
            return not np.asarray(flag.array)[0]
        program, at = producer[0].program, self.spec.at
        asked, affected = ([program.reference(every[at[slot]]) for slot in slots]
                          for slots in (q.asked, q.affected))
        if any(x.__class__ is not tuple or x[0].program is not program for x in affected):
            return False  # they are results of a Program that was closed in between
        self.asked.append((program, Check(flag, asked, affected, q.error, q.line)))
        return True

    def conditions(self) -> Iterable:
        """The condition that the Programs which compute the checks' answers are not closed yet."""
        return all_same(Asked(self.asked).undisturbed(), repeat(True))

    def rows(self) -> list[tuple]:
        """The stores that note the checks, and what is replaced as long as this is pending."""
        storages, old, cells, _, owners, grads = self.replaced
        written = self.spec.pick_written([*self.values, *self.new])
        found = Asked(self.asked).rows()
        if storages:
            found += writes_rows(storages, old, cells, written)
        if owners:
            found += grads_rows(owners, grads, self.new)
        return found

    def close(self, reason: str) -> None:
        """Nothing: it runs with what comes after it."""

    def give_up(self) -> None:
        """Nothing: nobody refers to its Values."""


class Joining:
    """The quick call of a `Specialisation` of which nothing but a result and its graph is to be seen.

    A model's forward is mostly one. As with `Reading`, an interrupt has nothing to tear.
    """

    @staticmethod
    def possible(spec: Specialisation) -> bool:
        """Whether it changes nothing at all."""
        return spec.joins and spec.only_makes()

    def __init__(self, spec: Specialisation) -> None:
        """There is nothing to prepare."""

    def run(self, spec: Specialisation, found: Found) -> Any:
        """The quick call, or MISSED where gradients that it reads have to be looked at one by one."""
        arguments, grads, memory, entries, floats, integers, _ = found
        if grads is None:
            return MISSED
        this = Call(arguments, (), (), entries, len(spec.fresh), len(spec.recipes))
        guarded = spec.nodes.begin(this)  # before the Values: a write in between is noticed so
        values = spec.read(arguments, memory)
        joined = Joined(spec, values, spec.numbers(floats, integers))
        joined.record()
        values += joined.new
        spec.nodes.make(this, values, joined.numbers[int], guarded)
        this.fresh = spec.pick_fresh(values)
        for number, recipe in spec.makers:
            this.made[number] = recipe(this)
        return spec.result(this)
