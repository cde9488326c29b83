"""A capture: the function runs once, on the real state, and one Program records all of it.

NOTE [Capture]
    Each storage that can be followed gets a Value of its own before the call: a leaf. It holds the same
    array, so all other threads read and write what they would without a capture; its producer is the
    recording Program with a negative slot. So whatever the operations read is known by its slot, wherever it
    went in between, and it is noticed when this thread reads a number. Results of the call are pending like
    any other; another thread that reads one ends the capture. The executor's own boundaries (an
    optimizer's step, an outermost module call) do not.

    When the call is over, or a number is needed, the recording becomes an ordinary Program (`commit`), and
    runs. So an exception or an interrupt leaves what it would leave without a capture.
"""

from __future__ import annotations

import sys
import threading
from itertools import repeat
from operator import attrgetter
from typing import Any

import numpy as np

from jaxflow._core.commit import Overtaken, all_same, commit, commit_parts, stores
from jaxflow._core.generator import Generator
from jaxflow._core.shared import SHARED, HostValue, any_shared
from jaxflow._core.state import state
from jaxflow._core.symbolic_numbers import NumberTape
from jaxflow._core.tensor import UNREAD, Tensor
from jaxflow._core.user_line import user_line
from jaxflow._core.value import Storage, Value, as_number
from jaxflow._exec import explain
from jaxflow._exec.background import alone
from jaxflow._exec.host_calls import call_host
from jaxflow._exec.unread import is_lost
from jaxflow._plans.plan import Plan

from ._draws import Draws
from ._journal import Journal, is_known
from ._profilers import resume
from ._recorder import Recorder
from ._shared_arguments import Borrowed, apart, stays_there

_value_of = attrgetter("value")

NEEDED = "a number of a tensor is needed at"

# What `Capture.reads` may be.
END, SHOW, FOLLOW = "end", "show", "follow"
# So many numbers are computed beside a recording; each takes what comes before it once more.
_MOST_READS = 8


class Unsupported(RuntimeError):
    """What ``fullgraph=True`` refuses."""


class Programs(dict):
    """In the place of the thread's open Programs: the one that captures, whatever the device is called."""

    def __init__(self, capture: Capture) -> None:
        super().__init__()
        self.capture = capture

    def get(self, device: Any, default: Any = None) -> Any:
        capture = self.capture
        program = capture.program
        if program.capture is None:
            return super().get(device, default)
        if program.device is None:
            program.device = device
        elif program.device != device:
            capture.blame(f"it computes on {program.device} and on {device}")
            return super().get(device, default)
        return program

    def values(self) -> list:
        """Those that a boundary closes."""
        return list(super().values())


class Capture:
    """One run of a function that is recorded whole.

    Attributes:
        journal: how things were before it, and what it made.
        program: what was recorded.
        leaves: the Value of each leaf slot, -1 first.
        held: id of a storage -> (it, its leaf's slot).
        seen_as: id of a view among the arguments -> its leaf's slot.
        reasons: why Python has to run at each call; none if it need not.
        break_line: where a number was needed.
        tape: what was done with the tracked numbers, NOTE [Numbers of calls].
        numbers: (container, key) of numbers that are another one after the call.
        draws: what it draws from generators.
        reads: what becomes of a number of a tensor that ``item()`` or a condition reads: END ends the
            recording there, SHOW gives it as it is and goes on, FOLLOW gives a tracked one.
        read_line: where SHOW did that.
        shown: slot -> the number, of those that were read.
        read_values: entry of the tape -> the Value it was read from, and
        computed: entry -> a Value that is that number, NOTE [Computed numbers].
        keeps_numbers: whether a tracked number stands where it cannot be followed.
    """

    def __init__(self, fullgraph: bool, tape: NumberTape, generators: dict[int, Generator],
                 reads: str) -> None:
        self.reads = reads
        self.read_line: str | None = None
        self.shown: dict[int, Any] = {}
        self.read_values: dict[int, Value] = {}
        self.computed: dict[int, Value] = {}
        self.keeps_numbers = False
        tape.on_need = self._needed
        self.tape = tape
        self.numbers: list[tuple] = []
        self.fullgraph = fullgraph
        self.reasons: list[str] = []
        self.lasting = False
        self.of_others = False  # whether all reasons are what somebody else did
        self.outside = False  # whether all that stands in the way is a backward() after the call
        self.break_line: str | None = None
        self.thread = threading.get_ident()
        self.alone = alone()
        self.journal = Journal(self.blame)
        self.draws = Draws(generators, self.blame, self._drawn_leaf)
        self.program = Recorder(None)
        self.program.capture = self
        self.program.ops = -(1 << 60)  # no bound on its length
        self.leaves: list[Value] = self.program.leaves
        self.held: dict[int, tuple[Storage, int]] = {}
        self.seen_as: dict[int, int] = {}
        self.before: tuple | None = None
        self.borrowed = Borrowed()

    def undisturbed(self) -> bool:
        """Whether no other thread of Python's was there from its beginning until now."""
        return self.alone and alone()

    # ------------------------------------------------------------------------------ before and after

    def begin(self, view_arguments: list[tuple[Tensor, int, Value]], counters: set[int],
              given: set[int]) -> None:
        """Give everything that is noted its leaf. What this thread recorded so far must have run.

        ``counters`` are the ids of storages that have a leaf in common where they have a Value in common:
        many counters of an optimizer are one Value, and that is part of its program. ``given`` are those of
        the arguments, which are borrowed where they are host-shared: NOTE [Shared arguments].
        """
        for s, *_ in self.journal.storages.values():
            if s.value.__class__ is Value and s.value.producer is not None and not is_lost(s.value):
                s.value.producer[0].program.close(explain.ASKED)  # another thread's; captures wait
        while True:
            found = [(s, s.value) for s, *_ in self.journal.storages.values()]
            storages, values = [], []
            borrowed = []
            new: dict[int, Value] = {}
            for s, value in found:
                if value.__class__ is HostValue and id(s) in given and not stays_there(value):
                    leaf = self._leaf(value)
                    borrowed.append((s, value, leaf))
                elif is_known(value):  # else it is lost or traced
                    leaf = new.get(id(value)) if id(s) in counters else None
                    if leaf is None:
                        leaf = self._leaf(value)
                        if id(s) in counters:
                            new[id(value)] = leaf
                else:
                    continue
                storages.append(s)
                values.append(value)
                self.held[id(s)] = s, leaf.producer[1]
            self.borrowed.take(borrowed)
            try:
                commit_parts(
                    all_same(map(_value_of, storages), values),
                    stores(storages, "value", [self.leaves[-1 - slot] for _, slot in self.held.values()]),
                )
                break
            except Overtaken:  # another thread wrote to one of them meanwhile
                self.leaves.clear()
                self.held.clear()
                self.borrowed.forget()
        if SHARED and any_shared([s for s, *_ in self.journal.storages.values()]):
            self.blame("it reaches a tensor whose memory NumPy may write to", of_others=True)
        if any(s.epoch != epoch for s, _, epoch in self.journal.storages.values()):
            self.blame("another thread wrote to a tensor that it reached, just before", of_others=True)
        for view, _ in self.journal.views:
            view.shown = UNREAD
        for t, epoch, value in view_arguments:
            if t._storage.epoch != epoch:
                self.blame("another thread wrote to a tensor that it was given, just before", of_others=True)
            leaf = self._leaf(value)
            self.seen_as[id(t)] = leaf.producer[1]
            commit([(setattr, t._view, "shown", (epoch, leaf))])
        self.before = state.programs, state.eager
        state.programs, state.eager = Programs(self), False

    def _leaf(self, value: Value) -> Value:
        there = apart(value)
        leaf = Value(value.aval, there.array, (self.program, -1 - len(self.leaves)), there.shared)
        if there is not value:
            self.borrowed.copies.append((leaf, value))
        leaf.unchecked = value.unchecked
        self.leaves.append(leaf)
        return leaf

    def _drawn_leaf(self, value: Value) -> Value:
        """A leaf of what was drawn in the call; the Value as it is once nothing is recorded any more."""
        with self.program.lock:  # another thread may end the capture before or afterwards
            return self._leaf(value) if self.under_way() else value

    def under_way(self) -> bool:
        """Whether the function still runs, and what it does is recorded."""
        return self.before is not None and self.program.capture is self

    def leave(self) -> None:
        """Record no more: the thread goes on as it did before."""
        if self.before is not None and threading.get_ident() == self.thread:
            state.programs, state.eager = self.before
            self.before = None

    def end(self) -> None:
        """Take note of nothing any more."""
        self.leave()
        self.read_values, self.computed = {}, {}
        self.journal.end()
        self.draws.end()
        self.borrowed.give_back()

    def rollback(self) -> None:
        """Leave everything as it was before the call, which will be made again."""
        self.draws.end(undo=True)
        constants = self.journal.constants()
        self.borrowed.forget()  # as the journal restores all that it has noted
        self.end()
        self.tape.close()
        leaves = set(map(id, self.leaves))
        self.commit()
        self.program.closed = self.program.finished = True

        def written_here(value: Any) -> bool:
            producer = value.producer if value.__class__ is Value else None
            return id(value) in leaves or id(value) in constants or (
                producer is not None and producer[0] is self.program)

        self.journal.restore(written_here)

    def broken(self) -> None:
        """A number is needed: what was recorded so far will run, and the rest as it would uncompiled."""
        mine = threading.get_ident() == self.thread
        with self.program.lock:
            if self.under_way():
                line = user_line()
                self.break_line = line if mine else f"another thread ({line})"
                self._needed() if mine else self.blame(f"{NEEDED} {self.break_line}", of_others=True)
            self.commit()
        self.journal.end()
        self.end() if mine else self.borrowed.give_back()

    def _needed(self) -> None:
        """Python needs a number to go on. Raises Unsupported under ``fullgraph``."""
        line = user_line()
        self.blame(f"{NEEDED} {line}", lasting=True)
        if self.fullgraph:
            raise Unsupported(
                f"fullgraph=True, but {NEEDED} {line} to go on. Compute the condition "
                "with tensors (torch.where), read the number after the call, or compile without fullgraph."
            )

    def number(self, value: Value, slot: int) -> Any:
        """The one number of a result or a leaf, if the recording goes on without being run; else None."""
        if (
            self.reads == END or not self.under_way() or threading.get_ident() != self.thread
            or value.aval.dtype.is_complex
            or call_host(x for x in self.program.trace if x.__class__ is Plan)
        ):
            return None
        if slot < 0:
            unchecked = value.unchecked
            if unchecked is not None:
                unchecked[0].answer(value, unchecked[1])
            number = as_number(np.asarray(value.array))
        elif slot not in self.shown and len(self.shown) == _MOST_READS:
            self.reads = END
            return None
        else:
            number = self._shown(slot)
        if number is None or not self.tape.open:  # another thread has ended the capture
            return number
        if self.reads == SHOW:
            self.read_line = self.read_line or user_line()
            return number
        followed = self.tape.read(slot, number)
        self.read_values[followed.at] = value
        return bool(followed) if type(number) is bool else followed

    def _shown(self, slot: int) -> Any:
        if slot not in self.shown:
            watching = sys.getprofile()
            try:
                sys.setprofile(None)  # what runs now is no part of the function
                found = self.program.beside(slot)
                if found is None:
                    return None
                self.shown[slot] = as_number(found.host())
            finally:
                resume(watching)
        return self.shown[slot]

    def over(self) -> bool:
        """Whether the recording is an ordinary Program by now."""
        return self.program.capture is None

    def commit(self, order: list[int] | None = None) -> None:
        """Let the recording be an ordinary Program. Doing it again changes nothing.

        Its leaves are those of the slots in ``order``, or those that were used. Overtaken, having done
        nothing, if it is to be in that order and is one already.
        """
        program = self.program
        with program.lock:
            if self.over():
                if order is not None:
                    raise Overtaken
                return
            self.tape.close()
            order = list(program.first_uses()) if order is None else order
            trace, checks = program.renumbered(order)
            commit_parts(
                map(setattr, repeat(program), ("trace", "leaves", "leaf_slots", "checks", "ops"), (
                    trace, [self.leaves[-1 - slot] for slot in order], {}, checks, 0,
                )),
                stores(list(self.leaves), "producer", repeat(None)), stores((program,), "capture", (None,)),
            )

    def release(self) -> None:
        """Refer no more to how things were: what nobody else holds is gone."""
        for view, _ in self.journal.views:  # what it has read last is kept for no later reader
            _, value = view.shown
            if value is not None and value.producer is not None and value.producer[0] is self.program:
                view.shown = UNREAD
        self.journal = Journal(self.blame)
        self.leaves, self.held = [], {}

    # ------------------------------------------------------------------------------- what was recorded

    def seeds(self) -> dict[int, tuple]:
        """Position in ``integers`` -> (generator, None for its seed or the draw's number)."""
        return {at: (x.generator, x.moved) for at, x in self.program.drawn if x.draws is self.draws}

    def excluded(self, reason: str) -> None:
        """What follows is not to be compiled. Unsupported under ``fullgraph``."""
        if self.fullgraph:
            raise Unsupported(f"fullgraph=True, but {reason} ({user_line()})")
        self.blame(reason)

    def blame(self, reason: str, lasting: bool = False, *, of_others: bool = False) -> None:
        """Python has to run at each call, because of ``reason``; ``lasting`` if it will not go away.

        ``of_others``: it is what somebody else did meanwhile, who may do something else the next time.
        """
        self.lasting = self.lasting or lasting
        self.of_others = of_others and (self.of_others or not self.reasons)
        if reason not in self.reasons:
            self.reasons.append(reason)
