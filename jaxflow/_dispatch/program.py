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

NOTE [Who takes over whose memory]
    A donated leaf's memory goes to an output of its aval. XLA can write there only if the leaf is not
    read afterwards; else it copies, which costs more than not donating. jax pairs the two in the order
    in which they stand, so they are put in the order that the trace suggests: the latest output with the
    leaf read last, if that is not later. So a new parameter takes the place of the old one, and not of a
    gradient that happens to have its shape.
"""

from __future__ import annotations

import sys
import threading
import time
import weakref
from collections import Counter
from typing import Any

import jax
import numpy as np

from jaxflow._core import flags
from jaxflow._core.aval import Aval
from jaxflow._core.device import resolve
from jaxflow._core.value import Value

from . import explain, room
from .batch import Batched
from .doubt import Question, doubt_of
from .plan import Plan

_LEAST, _MOST = -(1 << 63), (1 << 63) - 1


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

    __slots__ = ("closed", "complexes", "device", "error", "floats", "integers", "leaf_slots",
                 "leaves", "lines", "lock", "ops", "questions", "results", "trace")

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
                    if kind is int and not _LEAST <= x <= _MOST:
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
        if isinstance(value.array, jax.core.Tracer):
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
            array.block_until_ready()
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
        executable = _lookup(trace, alive, donatable)
        if executable is None:
            executable = Executable(self, trace, alive, donatable)
            _store(trace, executable)
        doubt = doubt_of(self.questions, self.leaves, self.trace)
        arrays = executable(self)
        if flags.DEBUG:
            jax.block_until_ready(arrays)  # an error belongs to this program, not to a later one
        for i, array in zip(executable.outputs, arrays, strict=True):
            value = self.results[i]()
            if value is not None:
                if doubt is not None:
                    value.doubt = (doubt, i)
                value.array = array
                value.place = None
        explain.ran(executable.entry, reason, time.perf_counter() - started)

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


# ------------------------------------------------------------------------------------- executables

_executables: dict[tuple, list[Executable]] = {}
_executables_lock = threading.Lock()
room.on_forget.append(_executables.clear)


# How often a program may run without donating what it could before a better one is compiled.
_PATIENCE = 2

# Traces kept; programs of ever-changing shapes would otherwise fill the memory.
_MAX_TRACES = 1024


def _lookup(trace: tuple, alive: tuple[int, ...], donatable: tuple[int, ...]) -> Executable | None:
    for candidate in _executables.get(trace, ()):
        if candidate.serves(alive, donatable):
            if candidate.offered < len(donatable):
                candidate.wasted += 1
                if candidate.wasted > _PATIENCE:
                    continue
            return candidate
    return None


def _store(trace: tuple, executable: Executable) -> None:
    with _executables_lock:
        # The newest first: a loop that has settled asks for the one compiled last.
        _executables.setdefault(trace, []).insert(0, executable)
        if len(_executables) > _MAX_TRACES:
            del _executables[next(iter(_executables))]


class Executable:
    """A compiled trace: which results it returns, and which leaves it donates.

    Attributes:
        alive: the results it returns, in the order of the trace.
        outputs: the same, in the order in which it returns them.
        donated: leaves whose memory the first outputs take over, one each (see the NOTE).
        kept: the other leaves.
        offered: how many leaves could have been donated.
        wasted: how often more than that could have been.
    """

    __slots__ = ("alive", "alive_set", "compiled", "donated", "donated_set", "entry", "kept", "offered",
                 "outputs", "wasted")

    def __init__(self, program: Program, trace: tuple, alive, donatable) -> None:
        room.made()
        self.alive = alive
        self.alive_set = frozenset(alive)
        steps = _without_dead(_parse(trace), set(alive))
        pairs = _heirs(steps, self.alive_set, {i: program.leaves[i].aval for i in donatable})
        self.donated = tuple(leaf for leaf, _ in pairs)
        self.donated_set = frozenset(self.donated)
        heirs = [result for _, result in pairs]
        self.outputs = (*heirs, *(i for i in alive if i not in set(heirs)))
        self.kept = tuple(i for i in range(len(program.leaves)) if i not in self.donated_set)
        self.offered = len(donatable)
        self.wasted = 0
        why = explain.why_compiled(trace, alive, _executables)
        started = time.perf_counter()
        device = resolve(program.device)[1]
        with jax.default_device(device):
            jitted = jax.jit(self._replay(steps), donate_argnums=0)
            lowered = jitted.lower(*self._arguments(program))
            self.compiled = lowered.compile()
        self.entry = explain.compiled(
            explain.program_name(trace), sum(isinstance(t, Plan) for t in trace), why,
            time.perf_counter() - started,
        )

    def serves(self, alive: tuple[int, ...], donatable: tuple[int, ...]) -> bool:
        """Whether this program's outputs cover ``alive`` and it donates only what may be donated."""
        return (alive == self.alive or self.alive_set.issuperset(alive)) and (
            self.donated_set.issubset(donatable)
        )

    def _arguments(self, program: Program) -> tuple:
        leaves = program.leaves
        return (
            [leaves[i].array for i in self.donated],
            [leaves[i].array for i in self.kept],
            np.array(program.floats, np.float64),
            np.array(program.integers, np.int64),
            np.array(program.complexes, np.complex128),
        )

    def __call__(self, program: Program) -> list:
        return self.compiled(*self._arguments(program))

    def _replay(self, steps: list):
        """The function to compile: the plans of ``steps``, applied in order."""
        outputs, donated, kept = self.outputs, self.donated, self.kept

        def replay(donated_leaves: list, kept_leaves: list, floats, integers, complexes) -> list:
            env: dict[int, Any] = {}
            for i, x in zip(donated, donated_leaves, strict=True):
                env[-1 - i] = x
            for i, x in zip(kept, kept_leaves, strict=True):
                env[-1 - i] = x
            vectors = {float: floats, int: integers, bool: integers, complex: complexes}
            for plan, slots, numbers, out in steps:
                arguments = []
                slots, numbers = iter(slots), iter(numbers)
                for kind in plan.kinds:
                    if isinstance(kind, Aval):
                        arguments.append(env[next(slots)])
                    else:
                        x = vectors[kind][next(numbers)]
                        arguments.append(x.astype(np.bool_) if kind is bool else x)
                for k, x in enumerate(plan.jitted(*arguments)):
                    env[out + k] = x
            return [env[i] for i in outputs]

        return replay


def _parse(trace: tuple) -> list:
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


def _without_dead(steps: list, needed: set[int]) -> list:
    live = []
    for step in reversed(steps):
        plan, slots, _, out = step
        if any(out + k in needed for k in range(len(plan.out_avals))):
            live.append(step)
            needed.update(slots)
    live.reverse()
    return live


def _heirs(steps: list, alive: frozenset[int], leaves: dict[int, Aval]) -> list[tuple[int, int]]:
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
