"""The Program of a capture: leaves are known by their slots, and no boundary closes it: NOTE [Capture]."""

from __future__ import annotations

import threading
from operator import attrgetter, itemgetter
from typing import Any
from weakref import ref

import jax
import numpy as np

from jaxflow._core import flags
from jaxflow._core.commit import Overtaken, all_equal, all_same, commit_results
from jaxflow._core.generator import Position
from jaxflow._core.shared import HostValue
from jaxflow._core.symbolic_numbers import SymNumber
from jaxflow._core.user_line import user_line
from jaxflow._core.value import SMALL, Value
from jaxflow._exec import explain
from jaxflow._exec.counted import Miscounted, check_inputs, taken
from jaxflow._exec.deferred_checks import Check
from jaxflow._exec.executable import Signature
from jaxflow._exec.handover import copied
from jaxflow._exec.program import LEAST, MOST, BatchedLeaf, ForeignLeaf, HostLeaf, Program, TracerLeaf
from jaxflow._exec.tape import Layout
from jaxflow._plans.plan import Plan
from jaxflow._transforms.batching import Batched

from ._computed import with_computed

_trace_of = attrgetter("trace")
_BOUNDARIES = (explain.STEP, explain.OPTIMIZER, explain.MODULE, explain.BOUND, explain.ASKED)


class Recorder(Program):
    """Records a flat trace (NOTE [A program's key]) as it goes.

    It stands as the entry of everything pending in it: ``(recorder, slot)`` is a Value's producer. While the
    capture is under way it is that of a leaf, too, which has its array.

    Attributes:
        capture: the Capture; None once this is an ordinary Program.
        giving: positions of the leaves that its executable takes the memory of; None to find out.
        vectors: the numbers as that takes them; None to make them.
    """

    __slots__ = ("capture", "complexes", "drawn", "floats", "giving", "integers", "leaf_slots", "leaves",
                 "vectors")

    first = 0  # the slot of its first result, as an entry has it

    def __init__(self, device) -> None:
        super().__init__(device)
        self.capture: Any = None
        self.trace = []
        self.leaves: list[Value] = []
        self.leaf_slots: dict[Value, int] = {}
        self.floats: list[float] = []
        self.integers: list[int] = []
        self.complexes: list[complex] = []
        self.drawn: list[tuple[int, Position]] = []  # which integers are a generator's
        self.giving: tuple[int, ...] | None = None
        self.vectors: tuple | None = None

    @property
    def program(self) -> Recorder:
        """The Program it is recorded in, as an entry says it."""
        return self

    def record(self, plan: Plan, inputs: list) -> list[Value] | None:
        """As `Program.record`."""
        if self.capture is not None:
            plan, inputs = with_computed(self.capture, plan, inputs)
        with self.lock:
            while not self.closed:
                trace, results = self.trace, self.results
                at = len(trace)
                new = _Operation(self, plan, inputs)
                slot = len(results)
                out = [Value(aval, None, (self, slot + k)) for k, aval in enumerate(plan.out_avals)]
                lists = (trace, results, self.leaves, self.floats, self.integers, self.complexes, self.drawn,
                         self.lines, *map(itemgetter(0), new.uses))
                more = (new.entry, list(map(ref, out)), new.leaves, new.floats, new.integers, new.complexes,
                        new.drawn, new.lines, *map(itemgetter(1), new.uses))
                try:
                    # A finalizer may have recorded another operation since, or ended the capture.
                    commit_results(
                        all_same(map(_trace_of, (self,)), (trace,)), all_equal(map(len, (trace,)), (at,)),
                        map(list.extend, lists, more), map(dict.update, (self.leaf_slots,), (new.slots,)),
                    )
                except Overtaken:
                    continue
                self.ops += 1
                return out
            return None

    def reference(self, value: Value) -> int | None:
        """The slot of a result or a leaf."""
        producer = value.producer
        if producer is not None and producer[0] is self:
            return producer[1]
        return self.leaf_slots.get(value)

    def layout(self) -> Layout:
        """The operations as an executable takes them."""
        layout = Layout()
        layout.trace, layout.leaves, layout.results = tuple(self.trace), self.leaves, self.results
        layout.uses = [int(leaf in self.leaf_slots) for leaf in self.leaves]
        layout.floats, layout.integers, layout.complexes = self.floats, self.integers, self.complexes
        layout.slots, layout.lines = dict(self.leaf_slots), self.lines
        layout.vectors = self.vectors
        return layout

    def signature(self) -> Signature:
        """What an executable of this program is compiled for."""
        return Signature.of(self.device, self.layout())

    def number(self, value: Value, slot: int) -> Any:
        """As the capture has it."""
        capture = self.capture
        return None if capture is None else capture.number(value, slot)

    def beside(self, slot: int) -> Value | None:
        """A result, computed by a program of its own while this one goes on recording.

        None if another thread has ended the capture. Reading it raises what the operations do wrong.
        """
        copy, shown = Recorder(self.device), {}
        with self.lock:  # another thread may end the capture before or afterwards
            if self.capture is None:
                return None
            order = list(self.first_uses())
            copy.trace, copy.checks = self.renumbered(order)
            copy.leaves = [self.leaves[-1 - leaf] for leaf in order]
            copy.floats, copy.integers, copy.complexes = self.floats[:], self.integers[:], self.complexes[:]
            copy.lines, copy.giving = self.lines[:], ()
            for flag in (None, *(q.flag for q in self.checks)):
                at = slot if flag is None else flag.producer[1]
                shown[at] = Value(self.results[at]().aval, None, (copy, at))
            for q in copy.checks:
                q.flag = shown[q.flag.producer[1]]
            copy.results = [ref(shown[at]) if at in shown else _nothing for at in range(len(self.results))]
        copy.close(explain.SYNC)
        return shown[slot]

    def renumbered(self, order: list[int]) -> tuple[list, list[Check]]:
        """The trace and the checks where the leaves are those of the slots in ``order``."""
        new = {slot: -1 - i for i, slot in enumerate(order)}
        return [new.get(x, x) if x.__class__ is int else x for x in self.trace], [
            Check(q.flag, [new.get(x, x) for x in q.asked], [new.get(x, x) for x in q.affected],
                     q.error, q.line) for q in self.checks
        ]

    def first_uses(self) -> dict[int, int]:
        """Leaf slot -> where the trace first mentions it, in that order."""
        found: dict[int, int] = {}
        for at, x in enumerate(self.trace):
            if x.__class__ is int and x < 0:
                found.setdefault(x, at)
        return found

    def _let_go(self) -> None:
        super()._let_go()
        self.leaves, self.leaf_slots = [], {}

    def _donatable(self, layout: Layout, free: dict) -> tuple[int, ...]:
        if self.giving is None:
            return super()._donatable(layout, free)
        leaves = layout.leaves
        alone = super()._donatable(layout, dict.fromkeys([leaf.aval for leaf in leaves], len(leaves)))
        for i in set(self.giving).difference(alone):  # somebody refers to it, who will go on doing so
            leaves[i] = Value(leaves[i].aval, copied(leaves[i].array))
        return self.giving

    def deliver(self, value: Value) -> None:
        """As `Program.deliver`; a leaf of another thread's capture is there."""
        producer, capture = value.producer, self.capture
        if producer is not None and producer[1] < 0 and capture is not None and capture.under_way() and (
            capture.thread != threading.get_ident()
        ):
            return
        super().deliver(value)

    def close(self, reason: str) -> None:
        """The recording ends where a number is needed, not at a boundary of the executor."""
        capture = self.capture
        if capture is not None:
            if reason in _BOUNDARIES and capture.under_way():
                return
            capture.broken()
        super().close(reason)


def _nothing() -> None:
    """What the reference to a result says that nobody needs."""


class _Operation:
    """What recording an operation adds to a Recorder, whose lists stay as they are meanwhile.

    Raises TracerLeaf, BatchedLeaf or ForeignLeaf as `Program.record` does.
    """

    __slots__ = ("complexes", "drawn", "entry", "floats", "integers", "leaves", "lines", "recorder", "slots",
                 "uses")

    def __init__(self, recorder: Recorder, plan: Plan, inputs: list) -> None:
        self.recorder = recorder
        self.entry: list = [plan]
        self.leaves: list[Value] = []
        self.slots: dict[Value, int] = {}
        self.floats: list[float] = []
        self.integers: list[int] = []
        self.complexes: list[complex] = []
        self.drawn: list[tuple] = []
        self.uses: list[tuple] = []  # lists of tapes, and what is added to them
        self.lines = [user_line()] if flags.DEBUG else []
        for x in inputs:
            if type(x) is Value:
                producer = x.producer
                if producer is not None and producer[0] is recorder:
                    self.entry.append(producer[1])
                else:
                    slot = recorder.leaf_slots.get(x)
                    self.entry.append(self._leaf(x) if slot is None else slot)
            elif type(x) is Batched:
                raise BatchedLeaf
            elif type(x) is HostValue:
                if recorder.capture is not None:
                    recorder.capture.blame("it reads memory that NumPy may write to", of_others=True)
                raise HostLeaf
            else:
                self._number(x)
        check_inputs(plan, inputs)
        takes = taken((plan,))
        if (len(self.floats), len(self.integers), len(self.complexes)) != takes:
            raise Miscounted(plan, "was given numbers of other kinds")

    def _leaf(self, value: Value) -> int:
        """The slot of a leaf that was first used in the call."""
        known = self.slots.get(value)
        if known is not None:
            return known
        if value.producer is not None:
            raise ForeignLeaf(value)
        array = value.array
        if array.__class__ is np.ndarray:
            if array.nbytes > SMALL:
                value.get()  # or each run of a compiled program would copy it
        elif isinstance(array, jax.core.Tracer):
            raise TracerLeaf
        self.leaves.append(value)
        slot = self.slots[value] = -len(self.recorder.leaves) - len(self.leaves)
        return slot

    def _number(self, x: Any) -> None:
        kind = type(x)
        if kind is SymNumber:
            if x.tape.open:
                if x.at in x.tape.late:
                    x.tape.on_need()
                kind, mine = type(x.value), self.floats if type(x.value) is float else self.integers
                known = self.recorder.floats if kind is float else self.recorder.integers
                self.uses.append((x.tape.uses, [(kind, len(known) + len(mine), x.tape.keep(x))]))
            self._number(x.value)
        elif kind is float:
            self.floats.append(x)
        elif kind is complex:
            self.complexes.append(x)
        else:
            if not LEAST <= x <= MOST:
                raise OverflowError("int too big to convert")
            if kind is Position:
                self.drawn.append((len(self.recorder.integers) + len(self.integers), x))
            self.integers.append(int(x) if kind is Position else x)
