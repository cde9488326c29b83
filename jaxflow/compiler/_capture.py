"""A capture: the function runs once, every tensor that lives is an unknown, and one Program records it all.

NOTE [Capture]
    While a function is captured every storage holds a placeholder, a Value that the recording Program owes
    under a negative slot. So whatever the operations read is told by its slot, wherever it went in between;
    and a number that is asked for asks the Program and is noticed. The executor's own boundaries (an
    optimizer's step, an outermost module call) do not close it.
"""

from __future__ import annotations

import threading
from typing import Any

import jax

from jaxflow._core.value import Value
from jaxflow._dispatch import explain
from jaxflow._dispatch.background import alone
from jaxflow._dispatch.generator import Generator
from jaxflow._dispatch.state import state
from jaxflow._dispatch.tracked import Tape

from ._draws import Draws
from ._recorder import Recorder
from ._snapshot import Snapshot


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
    """One run of a function with everything it could read made unknown.

    Attributes:
        snapshot: how things were before it.
        program: what was recorded.
        placeholders: the Value of each leaf slot, -1 first.
        origin: the Value that each placeholder stands for, None for leaves first met in the call.
        held: storage -> its placeholder's slot.
        reasons: why Python has to run at each call; none if it need not.
        break_line: where a number was asked for.
        tape: what was done with the tracked numbers, NOTE [Tracked numbers].
        numbers: (container, key) of numbers that are another one after the call.
        draws: what it draws from generators.
    """

    def __init__(self, fullgraph: bool, view_arguments: list, tape: Tape,
                 generators: dict[int, Generator]) -> None:
        self.tape = tape
        self.numbers: list[tuple] = []
        self.fullgraph = fullgraph
        self.reasons: list[str] = []
        self.lasting = False
        self.outside = False  # whether all that stands in the way is a backward() after the call
        self.break_line: str | None = None
        self.thread = threading.get_ident()
        self.alone = alone()
        self.snapshot = Snapshot()
        self.program = Recorder(None)
        self.program.capture = self
        self.program.ops = -(1 << 60)  # no bound on its length
        self.placeholders: list[Value] = self.program.leaves
        self.origin: list[Value] = []
        self.held: dict[int, tuple[Any, int]] = {}
        self.seen_as: dict[int, int] = {}  # view tensors among the arguments: id -> slot
        self.view_arguments = view_arguments
        self.before: Any = None
        self.draws = Draws(generators, self.blame)

    def undisturbed(self) -> bool:
        """Whether no other thread of Python's was there from its beginning until now."""
        return self.alone and alone()

    # ------------------------------------------------------------------------------ before and after

    def begin(self) -> None:
        """Make everything unknown. What this thread recorded so far must have run."""
        shared: dict[int, int] = {}
        for s, value, _ in self.snapshot.storages:
            if value.__class__ is not Value or isinstance(value.array, jax.core.Tracer):
                continue
            if value.producer is not None:
                continue  # owed to another thread
            # The counters of an optimizer are one Value in many storages, which is part of its program.
            slot = shared.get(id(value)) if value.aval.ndim == 0 else None
            if slot is None:
                slot = shared[id(value)] = self._place(value)
            s.value = self.placeholders[-1 - slot]
            self.held[id(s)] = (s, slot)
        for v, _ in self.snapshot.views:
            v.epoch = -1
        for t, value in self.view_arguments:
            slot = self.seen_as[id(t)] = self._place(value)
            t._view.value, t._view.epoch = self.placeholders[-1 - slot], t._storage.epoch
        self.before = state.programs, state.eager
        state.programs, state.eager = Programs(self), False

    def _place(self, value: Value) -> int:
        slot = -1 - len(self.placeholders)
        self.placeholders.append(Value(value.aval, None, (self.program, slot)))
        self.origin.append(value)
        return slot

    def end(self) -> None:
        """Let the thread go on as it did."""
        self.draws.end()
        if self.before is not None and threading.get_ident() == self.thread:
            state.programs, state.eager = self.before
            self.before = None

    def rollback(self) -> None:
        """Leave everything as it was before."""
        self.draws.end(undo=True)
        self.end()
        self.tape.open = False
        self.program.capture, self.program.closed = None, True
        self.snapshot.restore()
        # The specialisation's questions refer to the program; the arrays of its first call are let go.
        self.program.leaves, self.program.undo = [], []

    def broken(self) -> None:
        """A number is needed: what was recorded so far will run, and the rest as it would uncompiled."""
        line = explain.user_line()
        if threading.get_ident() != self.thread:
            line = f"another thread ({line})"
        if self.break_line is None:
            self.break_line = line
        if self.fullgraph and threading.get_ident() == self.thread:
            raise Unsupported(
                f"fullgraph=True, but a number of a tensor is needed at {line} to go on. Compute the "
                "condition with tensors (torch.where), read the number after the call, or compile without "
                "fullgraph."
            )
        self.commit()

    def commit(self) -> None:
        """Turn the recording into an ordinary Program, which runs on the real arrays when it is closed."""
        program = self.program
        program.capture = None
        self.tape.open = False
        for ph, value in zip(self.placeholders, self.origin):
            ph.array, ph.doubt, ph.producer = value.array, value.doubt, None
            ph.shared = value.shared
        originals = {id(self.placeholders[-1 - slot]): slot for _, slot in self.held.values()}
        for s, _ in self.held.values():
            slot = originals.get(id(s.value))
            if slot is not None:
                s.value = self.origin[-1 - slot]
        used = self.normalise(list(self.first_uses()))
        program.leaves = [self.placeholders[-1 - slot] for slot in used]
        program.leaf_slots = {}
        program.ops = 0
        self.end()

    def release(self) -> None:
        """Refer no more to how things were: what nobody else holds is gone."""
        self.snapshot = None
        self.placeholders, self.origin, self.held, self.view_arguments = [], [], {}, []

    # ------------------------------------------------------------------------------- what was recorded

    def first_uses(self) -> dict[int, int]:
        """Leaf slot -> where the trace first mentions it, in that order."""
        found: dict[int, int] = {}
        for at, x in enumerate(self.program.trace):
            if x.__class__ is int and x < 0:
                found.setdefault(x, at)
        return found

    def normalise(self, order: list[int]) -> list[int]:
        """Give the leaves in ``order`` the slots from -1 down, in the trace and the questions about it."""
        program = self.program
        new = {slot: -1 - i for i, slot in enumerate(order)}
        program.trace = [new.get(x, x) if x.__class__ is int else x for x in program.trace]
        for q in program.questions:
            q.asked = [new.get(x, x) for x in q.asked]
            q.victims = [new.get(x, x) for x in q.victims]
        return order

    def seeds(self) -> dict[int, tuple]:
        """Position in ``integers`` -> (generator, None for its seed or the draw's number)."""
        return {at: (x.generator, x.moved) for at, x in self.program.drawn if x.draws is self.draws}

    def excluded(self, reason: str) -> None:
        """What follows is not to be compiled. Unsupported under ``fullgraph``."""
        if self.fullgraph:
            raise Unsupported(f"fullgraph=True, but {reason} ({explain.user_line()})")
        self.blame(reason)

    def blame(self, reason: str, lasting: bool = False) -> None:
        """Python has to run at each call, because of ``reason``; ``lasting`` if it will not go away."""
        self.lasting = self.lasting or lasting
        if reason not in self.reasons:
            self.reasons.append(reason)

