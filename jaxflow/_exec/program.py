"""Programs: recorded operations that run as one XLA executable when somebody needs a number.

NOTE [Prepare, run, deliver]
    Recording takes no lock: an entry is made, appended, and then it is looked whether the program was
    closed meanwhile (by a finalizer, a hook, another thread). If so the operation is recorded again in the
    next program, and nobody ever sees the results of the entry here.

    Closing has three stages. *Prepare*: the entries are laid out, a compiled program is found or made,
    arguments are gathered; all this may fail or be interrupted at any point, and the program can be closed
    again. *Run*: one C call hands the arguments over and puts what comes back into ``answers``
    (``handover``), and does nothing if something is in there already. *Deliver*: each Value gets its array;
    doing that again changes nothing, so whoever comes next finishes what an interrupt cut short. The inputs
    are kept until then. If it cannot be run, ``recovery`` computes what can be computed.

NOTE [Liveness]
    A result is an output only if its Value is still referred to when the Program closes (a weak
    reference answers that). A compiled program whose outputs include all that are needed may serve
    too, as long as it donates nothing that is still wanted.
"""

from __future__ import annotations

import functools
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import repeat
from operator import attrgetter, setitem, sub
from sys import getrefcount
from typing import Any
from weakref import ref

import jax
import numpy as np

from jaxflow._core import flags
from jaxflow._core.aval import Aval
from jaxflow._core.commit import Overtaken, all_equal, commit_results, stores
from jaxflow._core.memory_errors import as_memory_error
from jaxflow._core.shared import HostValue
from jaxflow._core.state import state
from jaxflow._core.symbolic_numbers import SymNumber
from jaxflow._core.user_line import user_line
from jaxflow._core.value import SMALL, Value
from jaxflow._plans.plan import Plan
from jaxflow._transforms.batching import Batched

from . import buffer_reuse, explain, late_failures, program_cache, result_buffers
from .counted import check_program
from .deferred_checks import Check, unchecked_run
from .executable import Executable, Signature
from .handover import HandedOver
from .numpy import tiering
from .recovery import Lost, compute_late, recover
from .tape import Entry, Layout, laid_out
from .undo import Undo, count_mentions

LEAST, MOST = -(1 << 63), (1 << 63) - 1
_NONE = repeat(None)
_finished_of = attrgetter("finished")


class TracerLeaf(Exception):
    """An input is a tracer of an outer jax transformation: the op must run at once, inside it."""


class BatchedLeaf(Exception):
    """An input is a batched Value: the op must run on all examples at once."""


class HostLeaf(Exception):
    """An input is memory that others may write to: the op must read it now."""


class ForeignLeaf(Exception):
    """An input (the argument) is pending in another Program, which has to run first."""


class Program:
    """The operations one thread has recorded on one device and not yet run.

    Attributes:
        entries: the operations; new ones are appended until ``closed``.
        checks: what the results may turn out to have done wrong; entries of their own compute the answers.
        gradients: ``(entry, k)`` of large new gradients, for NOTE [Spare arrays].
        undo: what the stores that published pending Values replaced.
        trace, lines, results: those of the layout, once it was closed.
        answers: empty, or the arrays that a run returned, with the slots they are for.
        failed: why a result could not be computed, by slot.
        unsettled: while a run may turn out to have failed, its executable, its layout and what is alive.
        wanted: whether a call of a compiled function is among what it records: then it is worth compiling.
        finished: whether every result that somebody can see has its array, or its failure.
    """

    __slots__ = ("answers", "closed", "device", "entries", "failed", "finished", "gradients", "lines", "lock",
                 "ops", "checks", "results", "trace", "undo", "unsettled", "wanted")

    def __init__(self, device) -> None:
        self.device = device
        self.lock = threading.RLock()
        self.entries: list[Entry] = []
        self.checks: list[Check] = []
        self.gradients: list[tuple] = []
        self.undo: list[Undo] = []
        self.trace: Sequence = ()
        self.lines: list[str] = []
        self.results: list = []
        self.answers: list = []
        self.failed: dict[int, Lost] = {}
        self.unsettled: tuple | None = None
        self.ops = 0
        self.closed = False
        self.finished = False
        self.wanted = False

    # ------------------------------------------------------------------------------ recording

    def record(self, plan: Plan, inputs: list) -> list[Value] | None:
        """Append one operation; the Values it will yield, or None if this program was closed meanwhile.

        Raises TracerLeaf, BatchedLeaf, HostLeaf or ForeignLeaf, and then records nothing.
        """
        if self.closed:
            return None
        entry = Entry()
        take = entry.append
        for x in inputs:
            kind = x.__class__
            if kind is Value:
                producer = x.producer
                if producer is not None:
                    if producer[0].program is not self:
                        raise ForeignLeaf(x)
                    take(producer)
                    continue
                kind = x.array.__class__
                if kind is np.ndarray:
                    if x.array.nbytes > SMALL:
                        x.get()  # or each run of a compiled program would copy it
                elif kind not in _CONCRETE:
                    _check_concrete(x.array)
            elif kind is int:
                if not LEAST <= x <= MOST:
                    raise OverflowError("int too big to convert")
            elif kind is SymNumber:
                x = x.value
            elif kind is Batched:
                raise BatchedLeaf
            elif kind is HostValue:
                raise HostLeaf
            take(x)
        entry.program = self
        entry.plan = plan
        avals = plan.out_avals
        if len(avals) == 1:
            value = Value(avals[0], None, (entry, 0))
            entry.result = ref(value)
            values = [value]
        else:
            values = [Value(aval, None, (entry, k)) for k, aval in enumerate(avals)]
            entry.result = tuple(map(ref, values))
        if flags.DEBUG:
            entry.line = user_line()
        self.entries.append(entry)
        if self.closed:  # since the test above; the entry may have come too late
            return None
        self.ops += 1
        return values

    def reference(self, value: Value) -> tuple | Value:
        """How a check recorded here refers to a result of this program, or to a Value that is there."""
        producer = value.producer
        return value if producer is None else producer

    def layout(self) -> Layout:
        """The operations as an executable takes them."""
        layout = laid_out(self.entries[:])
        if flags.DEBUG:
            layout.lines = [entry.line for entry in self.entries[:]]
        return layout

    # -------------------------------------------------------------------------------- running

    def number(self, value: Value, slot: int) -> Any:
        """The one number of the result ``slot``, if it can be had without running all of this; else None."""
        return None

    def deliver(self, value: Value) -> None:
        """Make ``value`` known. Called by whoever needs the number, in whichever thread."""
        producer = value.producer
        self.close(explain.SYNC)
        if value.producer is not None:
            failure = self.failed.get(producer[0].first + producer[1])
            if failure is not None:
                raise failure.raised()
            if producer[0].__class__ is not Entry:
                raise RuntimeError("this value was never computed: the call that recorded it was given up")
            compute_late(value)
        array = value.array
        try:
            # Whoever is here needs the number anyway; what failed meanwhile can still be named.
            jax.block_until_ready(array)
        except Exception as error:
            raise late_failures.named(error, self.trace, self.lines) from error.__cause__

    def close(self, reason: str) -> None:
        """Run what was recorded and hand every living result its array. Harmless when that was done.

        After an interrupt it can be called again. See NOTE [Prepare, run, deliver].
        """
        if self.finished:
            return
        with self.lock:
            if self.finished:
                return
            self.closed = True
            if not self.answers:
                self._run(reason)
            if self.unsettled is not None:
                self._settle()
            self._deliver()

    def _settle(self) -> None:
        """Look whether a run that may fail late has failed; if so recover from it as from any other."""
        executable, layout, alive = self.unsettled
        try:
            executable.look(self.answers[1])
        except Exception as error:
            self._recover(layout, alive, as_memory_error(error))
        self.unsettled = None

    def _recover(self, layout: Layout, alive: tuple[int, ...], error: Exception) -> None:
        """Compute what can be computed, and undo the rest; raises the first failure."""
        recover(self, layout, alive, error)

    def _run(self, reason: str) -> None:
        """Prepare and run; afterwards ``answers`` says what came of it."""
        layout = self.layout()
        self.trace, self.lines, self.results = layout.trace, layout.lines, layout.results
        alive = tuple([i for i, ref in enumerate(layout.results) if ref() is not None])
        checks = [layout.check(q) for q in self.checks]
        if len(alive) <= len(checks):
            self.answer((), (), None)
            return  # nobody can see what the checks are about
        try:
            self._attempt(layout, alive, checks, reason)
        except HandedOver:
            return  # a finalizer needed a number, and closed the program meanwhile
        except Exception as error:
            if self.finished:
                return  # likewise, and the arguments that were gathered here had been given away
            if self.answers:  # it ran: whatever this was, the results are there
                raise
            self._recover(layout, alive, error)

    def answer(self, slots: tuple, arrays: list | tuple, unchecked=None) -> None:
        """Note results that may be computed again: all of them in one store."""
        self.answers[:] = [(slots, unchecked), arrays]

    def _attempt(self, layout: Layout, alive: tuple, checks: list, reason: str) -> None:
        started = time.perf_counter()
        trace = layout.trace
        entry = program_cache.known(trace)
        check_program(entry, layout, self.entries)
        unchecked = unchecked_run(checks, layout.leaves, trace)
        count_mentions(self.undo, layout.slots, layout.uses)
        layout.slots = {}  # from here on only the entries, the list and what is to be undone refer to leaves
        donatable = self._donatable(layout, dict(entry.places(trace, alive)))
        offered = buffer_reuse.take()
        executable = (entry.serving(alive, donatable)
                      or self._compiled(entry, layout, alive, donatable, self._spare(offered)))
        if executable is None:
            offered.clear()
            self.answer(alive, entry.schedule(trace, alive)(layout), unchecked)
        else:
            if executable.watched or flags.DEBUG:
                self.unsettled = executable, layout, alive
            executable(layout, offered, (executable.outputs, unchecked), self.answers)
            late_failures.ran(trace, layout.lines, self.answers[1])
            if executable.large:
                result_buffers.register(self.answers[1], executable.large)
        seconds = time.perf_counter() - started
        if executable is not None:
            state.streak, state.tried = min(state.streak, 0), None
            explain.ran(executable.entry, reason, seconds)
        else:
            explain.interpreted(trace, entry.run_counts[alive].seen == 1, reason, seconds)

    def _deliver(self) -> None:
        """Give each Value its array, and let go of everything else. Doing it again changes nothing."""
        results = self.results
        (slots, unchecked), arrays = self.answers
        if self.finished:  # tested last: a finalizer that delivers takes both away
            return
        values = [results[slot]() for slot in slots]
        if None in values:  # gone meanwhile, or never needed
            there = [at for at, value in enumerate(values) if value is not None]
            values, arrays = [values[at] for at in there], [arrays[at] for at in there]
            slots = [slots[at] for at in there]
        marks = () if unchecked is None else stores(
            values, "unchecked", [(unchecked, slot) for slot in slots])
        try:
            commit_results(
                all_equal(map(_finished_of, (self,)), (False,)), marks,
                stores(values, "array", arrays), stores(values, "producer", _NONE),
                map(setattr, (self,), ("finished",), (True,)), map(setitem, (self.answers,), (1,), ((),)),
            )
        except Overtaken:
            return  # a finalizer has delivered meanwhile, and the Values may have gone on since
        if not self.failed:  # else what depends on them still needs its entry
            self._let_go()

    def _let_go(self) -> None:
        """Refer no more to what was needed to run."""
        self.entries, self.checks, self.gradients, self.results, self.undo = [], [], [], [], []

    def _spare(self, offered: list) -> Counter:
        """For how many arrays of an aval spare ones are there, or will be as long as this program recurs."""
        gradients = [entry.results[k]() for entry, k in set(self.gradients)]
        return Counter(aval for aval, _ in offered) | Counter(v.aval for v in gradients if v is not None)

    def _compiled(self, entry: program_cache.CacheEntry, layout: Layout, alive: tuple[int, ...],
                  donatable: tuple[int, ...], spare: Counter) -> Executable | None:
        """An executable for a trace that none serves yet; None where it is to be interpreted."""
        trace = layout.trace
        signature = Signature.of(self.device, layout)

        def compiling(reason: str) -> Callable[[], Executable]:
            why = explain.why_compiled(trace, alive, program_cache.traces())
            if reason:
                why = f"{why}; {reason}"
            line = user_line()
            return functools.partial(Executable, trace, alive, donatable, signature, why, line, spare)

        executable = None
        if tiering.interprets(self.device):
            run_counts = entry.run_counts.get(alive)
            if run_counts is None:
                run_counts = entry.run_counts[alive] = tiering.RunCounts(trace)
            executable = tiering.choose(run_counts, compiling, self.wanted)
            if executable is None:
                return None
            program_cache.keep(trace, entry, executable)
        if executable is None or not executable.serves(alive, donatable):
            executable = compiling("")()
            program_cache.keep(trace, entry, executable)
        return executable

    def _donatable(self, layout: Layout, free: dict[Aval, int]) -> tuple[int, ...]:
        """Leaves nobody else refers to, as far as an output of the same aval can take their memory.

        ``free`` says how many outputs of each aval there are.
        """
        found = []
        leaves = layout.leaves
        for i, others in enumerate(map(sub, map(getrefcount, leaves), layout.uses)):
            if others == _ALONE:
                leaf = leaves[i]
                aval = leaf.aval
                left = free.get(aval, 0)
                if left and aval.numel and not leaf.shared and getrefcount(leaf.array) == _SOLE:
                    free[aval] = left - 1
                    found.append(i)
        return tuple(found)


# Classes of arrays that are known to be no tracers.
_CONCRETE: set[type] = set()


def _check_concrete(array) -> None:
    if isinstance(array, jax.core.Tracer):
        raise TracerLeaf
    _CONCRETE.add(array.__class__)


def _calibrate() -> tuple[int, int]:
    """What ``getrefcount`` returns for an object that only a list refers to: called alone, and by ``map``."""
    holder = [object()]
    return getrefcount(holder[0]), next(map(getrefcount, holder))


# A free-threaded build has no reliable count: there, nothing is donated.
_SOLE, _ALONE = _calibrate() if getattr(sys, "_is_gil_enabled", lambda: True)() else (-(1 << 40),) * 2
