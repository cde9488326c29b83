"""One run of a specialisation's program: pending like any other program, until XLA has returned.

NOTE [A quick call publishes first]
    A compiled call changes what tensors show in one C call, before XLA is called: each storage that it writes
    gets a Value that is pending in a `Run`, versions and gradients change, generators go on. Then the run is
    closed like any other Program (NOTE [Prepare, run, deliver]): arguments are handed over, and the Values
    get their arrays. So who looks meanwhile, another thread or a finalizer, finds a pending Value and waits,
    or closes the run; who looked before has the old Value, which is then not given away, since somebody
    refers to it; an interrupt leaves a run that the next reader closes; and a run that fails is recovered
    from like a program, operation by operation.

    No tensor shows the old Values any more when it is decided what to give away, so nobody can get hold of
    one between that and the hand-over.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import repeat
from operator import attrgetter, setitem
from threading import RLock
from typing import TYPE_CHECKING, Any
from weakref import ref

import jax
import numpy as np

from jaxflow._core import flags
from jaxflow._core.commit import Overtaken, all_equal, commit, commit_results, rows_called, stores
from jaxflow._core.value import Value
from jaxflow._exec import handover
from jaxflow._exec.buffer_reuse import chosen
from jaxflow._exec.handover import HandedOver
from jaxflow._exec.program import Program
from jaxflow._exec.tape import Layout
from jaxflow._exec.undo import GRADS, WRITES, kept_grad, source_of

from ._sole import SOLE, array_references, references

if TYPE_CHECKING:
    from ._specialisation import Specialisation

_array_of, _finished_of, _shared = attrgetter("array"), attrgetter("finished"), attrgetter("shared")
_NONE = repeat(None)


class Run(Program):
    """See NOTE [A quick call publishes first].

    It is also what a pending Value of it names as the entry: the number beside it is the slot in the trace.

    Attributes:
        spec: the Specialisation.
        values: the Values it reads, in the order of ``spec.leaf_at``.
        numbers: what the program takes beside them.
        new: the Values of what it returns.
        marks: the ``unchecked`` of each of these, or None, and
        noted: the rows that note what it may turn out to have done wrong.
        replaced: what it writes over: storages, their Values, version cells and versions; and the owners of
            gradients, with the gradients.
        dropped: the Values of old gradients, whose memory new ones may take.
    """

    __slots__ = ("dropped", "marks", "new", "noted", "numbers", "replaced", "spec", "values")

    first = 0  # as an entry says it

    def __init__(self, spec: Specialisation, values: list[Value], numbers: Sequence) -> None:
        self.spec, self.values, self.numbers = spec, values, numbers
        self.lock = RLock()
        self.closed, self.finished, self.wanted = True, False, False
        self.unsettled = self.marks = None
        self.ops, self.failed, self.trace = 0, {}, spec.trace
        self.entries, self.checks, self.lines = [], [], []
        self.answers, self.undo, self.gradients = [], [], []
        self.results: Any = ()
        self.new: Sequence[Value] = ()
        self.noted: Sequence[tuple] = ()
        self.replaced: tuple = ((), (), (), (), (), ())
        self.dropped: Sequence[Value] = ()

    @property
    def program(self) -> Run:
        """As an entry names its Program."""
        return self

    @property
    def plan(self) -> Run:
        """As an entry names what yields its results."""
        return self

    @property
    def out_avals(self) -> dict[int, Any]:
        """The aval of each slot."""
        return self.spec.avals

    def layout(self) -> Layout:
        """The operations as they are run one by one, should the whole not run."""
        layout = Layout()
        spec = self.spec
        layout.trace = spec.trace
        layout.leaves = [self.values[k] for k in spec.leaf_at]
        layout.slots = {value: -1 - i for i, value in enumerate(layout.leaves)}
        floats, integers, complexes = self.numbers
        layout.floats, layout.integers, layout.complexes = (
            [] if x is None else np.asarray(x).tolist() for x in (floats, integers, complexes))
        return layout

    def _run(self, reason: str) -> None:
        """Hand the arguments over; afterwards ``answers`` says what came of it."""
        try:
            self._hand_over()
        except HandedOver:
            return  # a finalizer needed a number, and closed the run meanwhile
        except Exception as error:
            if self.finished:
                return
            if self.answers:  # it ran: whatever this was, the results are there
                raise
            self._recover(self.layout(), self.spec.outputs, error)

    def _hand_over(self) -> None:
        spec = self.spec
        executable = spec.executable
        values = self.values
        arrays = list(map(_array_of, values))
        if np.ndarray in map(type, arrays):
            arrays = [values[i].get() if arrays[i].__class__ is np.ndarray else arrays[i]
                      for i in range(len(arrays))]  # the device's from now on
        given = spec.pick_donated(values)
        donated, kept = list(spec.pick_donated(arrays)), list(spec.pick_kept(arrays))
        del arrays
        counts = references(given, donated)
        if counts != spec.sole or any(map(_shared, given)):
            for n, value in enumerate(given):
                if (counts[n], counts[len(given) + n]) != SOLE[:2] or value.shared:
                    donated[n] = handover.copied(donated[n])
        if executable.spares:
            donated += chosen(executable.spares, self._spare())
        if executable.watched or flags.DEBUG:
            self.unsettled = executable, self.layout(), executable.outputs
        spec.entrance.run(donated, kept, self.numbers, None, self.answers, len(given))

    def _spare(self) -> list[tuple]:
        """Arrays of old gradients that nobody else refers to, each with its aval: NOTE [Spare arrays]."""
        dropped = self.dropped
        counts = list(map(sys.getrefcount, dropped))
        return [(v.aval, v.array) for v, count in zip(dropped, counts)
                if count == SOLE.dropped and not v.shared and isinstance(v.array, jax.Array)
                and array_references(v) == SOLE.of_value]

    def _recover(self, layout: Layout, alive: tuple[int, ...], error: Exception) -> None:
        """Note what was replaced, which no run needs that succeeds; then as any program."""
        storages, old, cells, versions, owners, grads = self.replaced
        records = [(WRITES, storages, list(map(source_of, old)), cells, list(zip(versions))),
                   (GRADS, list(map(ref, owners)), [g if g is None else kept_grad(g) for g in grads])]
        self.results = dict(zip(self.spec.outputs, map(ref, self.new)))
        if old or owners:
            commit([(setitem, self.undo, slice(0, 0), records), (setattr, self, "replaced", ((),) * 6)])
        super()._recover(layout, alive, error)

    def _deliver(self) -> None:
        """Give each Value its array, unless that is done, and let go of everything else."""
        if self.results:  # it failed, and was recovered from
            super()._deliver()
            return
        new, marks = self.new, self.marks
        unchecked_runs = () if marks is None else stores(new, "unchecked", marks)
        try:
            commit_results(
                all_equal(map(_finished_of, (self,)), (False,)), unchecked_runs,
                stores(new, "array", self.answers[1]), stores(new, "producer", _NONE),
                rows_called(self.noted), map(setattr, (self,), ("finished",), (True,)),
            )
        except Overtaken:
            return  # a finalizer has delivered meanwhile
        self._let_go()

    def give_up(self) -> None:
        """Its Values are nobody's: it will not be run."""
        self.finished = True
        self._let_go()

    def _let_go(self) -> None:
        super()._let_go()
        self.values = self.new = self.replaced = self.dropped = self.noted = ()
        self.marks = None
