"""Programs: recorded operations that run as one XLA executable when somebody needs a number.

NOTE [A program's key]
    While recording, a Program writes a flat trace: a Plan, then a slot for each of its array inputs;
    slots from 0 up are results, from -1 down leaves. Numbers are not written: the Plan says how many it
    takes and of which kind, and they lie in the order of recording in three vectors (floats, integers,
    complex), each one leaf. The key is this trace plus which results are still alive; Plans carry shapes,
    dtypes and static arguments. So a learning rate never changes the key, and closing costs one hash.

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
import weakref
from collections import Counter
from collections.abc import Callable

import jax
import numpy as np

from jaxflow._core import flags
from jaxflow._core.aval import Aval
from jaxflow._core.value import SMALL, Value

from . import explain, library, policy, spares
from .batch import Batched
from .doubt import Question, doubt_of
from .executable import Executable, Signature
from .plan import Plan
from .state import state
from .tracked import Tracked

LEAST, MOST = -(1 << 63), (1 << 63) - 1


class TracerLeaf(Exception):
    """An input is a tracer of an outer jax transformation: the op must run at once, inside it."""


class BatchedLeaf(Exception):
    """An input is a batched Value: the op must run on all examples at once."""


class ForeignLeaf(Exception):
    """An input (the argument) is still owed by another Program, which has to run first.

    Its lock must not be taken while holding this one's: the other thread may want the reverse.
    """


class Program:
    """The operations one thread has recorded on one device and not yet run."""

    __slots__ = ("closed", "complexes", "device", "error", "floats", "gradients", "integers",
                 "leaf_slots", "leaves", "lines", "lock", "ops", "questions", "results", "trace")

    def __init__(self, device) -> None:
        self.device = device
        self.lock = threading.RLock()
        self.trace: list = []
        self.leaves: list[Value] = []
        self.leaf_slots: dict[Value, int] = {}
        self.floats: list[float] = []
        self.integers: list[int] = []
        self.complexes: list[complex] = []
        self.results: list[weakref.ref] = []
        self.questions: list[Question] = []
        self.lines: list[str] = []
        self.gradients: list[int] = []  # slots of large ones: NOTE [Spare arrays]
        self.ops = 0
        self.closed = False
        self.error: BaseException | None = None

    # ------------------------------------------------------------------------------ recording

    def record(self, plan: Plan, inputs: list) -> list[Value] | None:
        """Append one operation; the Values it will yield, or None if another thread closed this program.

        Raises TracerLeaf, BatchedLeaf or ForeignLeaf, and then records nothing.
        """
        with self.lock:
            if self.closed:
                return None
            leaf_slots = self.leaf_slots
            before = len(self.leaves)
            numbers = None
            entry: list = [plan]
            for x in inputs:
                kind = type(x)
                if kind is Value:
                    place = x.place
                    if place is not None and place[0] is self:
                        entry.append(place[1])
                    else:
                        slot = leaf_slots.get(x)
                        entry.append(self._leaf(x, before) if slot is None else slot)
                elif kind is Batched:
                    self._forget_leaves(before)
                    raise BatchedLeaf
                else:
                    if kind is int and not LEAST <= x <= MOST:
                        self._forget_leaves(before)
                        raise OverflowError("int too big to convert")
                    if numbers is None:
                        numbers = [x]
                    else:
                        numbers.append(x)
            if numbers is not None:
                self._keep_numbers(numbers)
            self.trace += entry
            results = self.results
            slot = len(results)
            out = []
            for aval in plan.out_avals:
                value = Value(aval, None, (self, slot))
                results.append(weakref.ref(value))
                out.append(value)
                slot += 1
            self.ops += 1
            if flags.DEBUG:
                self.lines.append(explain.user_line())
            return out

    def slot_of(self, value: Value) -> int | None:
        """The slot of a result or a leaf of this program."""
        place = value.place
        return place[1] if place is not None and place[0] is self else self.leaf_slots.get(value)

    def _leaf(self, value: Value, before: int) -> int:
        """The slot of a new leaf; ``before`` leaves were known when this operation's recording began."""
        if value.place is not None:
            self._forget_leaves(before)
            raise ForeignLeaf(value)
        array = value.array
        if array.__class__ is np.ndarray:
            if array.nbytes > SMALL:
                value.get()  # or each run of a compiled program would copy it
        elif isinstance(array, jax.core.Tracer):
            self._forget_leaves(before)
            raise TracerLeaf
        self.leaves.append(value)
        slot = self.leaf_slots[value] = -len(self.leaves)
        return slot

    def _forget_leaves(self, before: int) -> None:
        """Undo the leaves first met in an operation that will not be recorded."""
        while len(self.leaves) > before:
            del self.leaf_slots[self.leaves.pop()]

    def _keep_numbers(self, numbers: list) -> None:
        for x in numbers:
            kind = type(x)
            if kind is float:
                self.floats.append(x)
            elif kind is complex:
                self.complexes.append(x)
            elif kind is Tracked:
                self._keep_numbers([x.value])
            else:
                self.integers.append(x)

    # -------------------------------------------------------------------------------- running

    def deliver(self, value: Value) -> None:
        """Make ``value`` known. Called by whoever needs the number, in whichever thread."""
        self.close(explain.SYNC)
        array = value.array
        if array is None:
            raise RuntimeError(
                "the program that computes this value failed earlier; see the error it raised then"
            ) from self.error
        try:
            # Whoever is here needs the number anyway; what failed meanwhile can still be named.
            jax.block_until_ready(array)
        except Exception as error:
            self._name_operations(error)
            raise

    def close(self, reason: str) -> None:
        """Run what was recorded and hand every living result its array. Harmless when closed."""
        with self.lock:
            if self.closed:
                return
            self.closed = True
            try:
                self._run(reason)
            except BaseException as error:
                self.error = error
                self._name_operations(error)
                raise
            finally:
                self.leaf_slots, self.leaves, self.results, self.questions = {}, [], [], []

    def _name_operations(self, error: BaseException) -> None:
        """Add to an error which operations the failing program consists of."""
        steps = [step for step in self.trace if isinstance(step, Plan)]
        if self.lines:
            shown = [f"  {s.name} at {line}" for s, line in zip(steps, self.lines, strict=True)]
            error.add_note("\n".join((f"in a program of {len(steps)} operations:", *shown)))
        else:
            names = ", ".join(f"{n} {name}" for name, n in Counter(s.name for s in steps).items())
            error.add_note(
                f"in a program of {len(steps)} operations: {names}; set JAXFLOW_DEBUG=1 to see the "
                "source line of each"
            )

    def _run(self, reason: str) -> None:
        results = [ref() for ref in self.results]
        alive = tuple(i for i, v in enumerate(results) if v is not None)
        if len(alive) <= len(self.questions):
            return  # nobody can see what the questions are about
        started = time.perf_counter()
        trace = tuple(self.trace)
        self.leaf_slots = {}  # from here on only ``leaves`` refers to the leaf Values
        outputs = [results[i] for i in alive]
        del results
        donatable = self._donatable(outputs)
        offered = spares.take()
        entry = library.known(trace)
        executable = (entry.serving(alive, donatable)
                      or self._compiled(entry, trace, alive, donatable, self._spare(offered)))
        doubt = doubt_of(self.questions, self.leaves, self.trace)
        if executable is None:
            offered.clear()
            answers, arrays = alive, entry.schedule(trace, alive)(self)
        else:
            answers, arrays = executable.outputs, executable(self, offered)
            if flags.DEBUG:
                jax.block_until_ready(arrays)  # an error belongs to this program, not to a later one
        for i, array in zip(answers, arrays, strict=True):
            value = self.results[i]()
            if value is not None:
                if doubt is not None:
                    value.doubt = (doubt, i)
                value.array = array
                value.place = None
        seconds = time.perf_counter() - started
        if executable is not None:
            state.streak = min(state.streak, 0)
            explain.ran(executable.entry, reason, seconds)
        else:
            explain.interpreted(trace, entry.sightings[alive].seen == 1, reason, seconds)

    def _spare(self, offered: list) -> Counter:
        """For how many arrays of an aval spare ones are there, or will be as long as this program recurs."""
        gradients = [ref() for ref in map(self.results.__getitem__, set(self.gradients))]
        return Counter(aval for aval, _ in offered) | Counter(v.aval for v in gradients if v is not None)

    def signature(self) -> Signature:
        """What an executable of this program is compiled for."""
        return Signature(self.device, tuple(leaf.aval for leaf in self.leaves), len(self.floats),
                         len(self.integers), len(self.complexes))

    def _compiled(self, entry: library.Known, trace: tuple, alive: tuple[int, ...],
                  donatable: tuple[int, ...], spare: Counter) -> Executable | None:
        """An executable for a trace that none serves yet; None where it is to be interpreted."""
        signature = self.signature()

        def compiling(reason: str) -> Callable[[], Executable]:
            why = explain.why_compiled(trace, alive, library.traces())
            if reason:
                why = f"{why}; {reason}"
            line = explain.user_line()
            return functools.partial(Executable, trace, alive, donatable, signature, why, line, spare)

        executable = None
        if policy.interprets(self.device):
            sightings = entry.sightings.get(alive)
            if sightings is None:
                sightings = entry.sightings[alive] = policy.Sightings(trace)
            executable = policy.choose(sightings, compiling)
            if executable is None:
                return None
            library.keep(trace, entry, executable)
        if executable is None or not executable.serves(alive, donatable):
            executable = compiling("")()
            library.keep(trace, entry, executable)
        return executable

    def _donatable(self, outputs: list[Value]) -> tuple[int, ...]:
        """Leaves nobody else refers to, as far as an output of the same aval can take their memory."""
        room: dict[Aval, int] = {}
        for value in outputs:
            room[value.aval] = room.get(value.aval, 0) + 1
        found = []
        leaves = self.leaves
        for i in range(len(leaves)):
            if sys.getrefcount(leaves[i]) == _SOLE and not leaves[i].shared:
                aval = leaves[i].aval
                free = room.get(aval, 0)
                if free and aval.numel and sys.getrefcount(leaves[i].array) == _SOLE:
                    room[aval] = free - 1
                    found.append(i)
        return tuple(found)


def _calibrate() -> int:
    """What ``sys.getrefcount`` says of an object only a list refers to; Python versions differ."""
    holder = [object()]
    return sys.getrefcount(holder[0])


# A free-threaded build has no reliable count: there, nothing is donated.
_SOLE = _calibrate() if getattr(sys, "_is_gil_enabled", lambda: True)() else -1
