"""Doubt: what a finished Program may turn out to have done wrong, looked at when its numbers are needed.

NOTE [Faults found late]
    What a body cannot see from shapes, a guard asks of the values (an index in range, a class, a
    probability): ``Watch.within``. Where they are there already, PyTorch's error is raised at the call.
    Where a Program still owes them, asking would be a sync point, so the question is recorded behind the
    operation: one more, tiny result of the same Program says what the first wrong value is, if any. What
    the Program yields is in `Doubt` until that answer is looked at: when somebody needs one of its
    numbers, or when a later Program takes one up and the answer is there. The first number asked for
    raises PyTorch's error, whichever it is; those computed from the refused operation's result raise it
    every time; the others are sound.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from jaxflow._core.value import Value

from .trace_analysis import parse
from .unread import slots_read


class Question:
    """What one result of a Program answers; ``flag`` is [whether, which tensor, its value].

    ``asked`` are the slots it is about, ``victims`` those of what is wrong if so, and ``line`` is where
    the user called.
    """

    __slots__ = ("asked", "error", "flag", "line", "reported", "victims")

    def __init__(self, flag: Value, asked: list[int], victims: list[int], error: Callable,
                 line: str) -> None:
        self.flag, self.asked, self.victims = flag, asked, victims
        self.error, self.line = error, line
        self.reported = False

    def raised(self, value: Any, k: int) -> Exception:
        """The error to raise, which says where the operation was called."""
        self.reported = True
        error = self.error(value, k)
        error.add_note(f"raised when a number was asked for, about the operation at {self.line}")
        return error


# Settling is short: what has to be waited for was waited for before.
_lock = threading.RLock()


class Doubt:
    """What a run may turn out to have done wrong.

    ``inherited`` are the leaves in doubt: (slot, their doubt and slot there); ``chain`` is a shorter way to
    say it, (the doubt they are all in, (slot, slot there) of each). ``wrong`` maps what a
    fault has spoiled to (question, value, which tensor), and each question whose answer is bad to the
    same; it is None while that is open.
    """

    __slots__ = ("chain", "inherited", "questions", "trace", "wrong")

    def __init__(self, questions: list[Question], inherited: list, trace: Sequence,
                 chain: tuple[Doubt, list] | None = None) -> None:
        self.questions, self.inherited, self.trace, self.chain = questions, inherited, trace, chain
        self.wrong: dict | None = None

    def settle(self, *, wait: bool) -> dict | None:
        """What is spoiled; None where that takes waiting and ``wait`` forbids it."""
        with _lock:
            # Runs nobody asked about hang on each other in chains of any length: the oldest first.
            unsettled, stack = {}, [self]
            while stack:
                doubt = stack.pop()
                if doubt.wrong is None and id(doubt) not in unsettled:
                    unsettled[id(doubt)] = doubt
                    stack += doubt._before()
            for doubt in reversed(unsettled.values()):
                if not doubt.sound():
                    doubt._settle(wait)
            return self.wrong

    def _before(self) -> list[Doubt]:
        """The doubts that its leaves are in."""
        return [self.chain[0]] if self.chain is not None else [doubt for _, (doubt, _) in self.inherited]

    def _settle(self, wait: bool) -> None:
        if self.wrong is None and self.chain is not None:
            before, pairs = self.chain
            self.inherited = [(slot, (before, there)) for slot, there in pairs]
            self.chain = None
        if self.wrong is None and self._ready(wait):
            spoiled = self._spoiled()
            self.wrong = _spread(spoiled, self.trace, self.questions) if spoiled else spoiled
            self.questions, self.inherited, self.trace = [], [], ()

    def sound(self) -> bool:
        """Whether it is known, without waiting, that nothing went wrong: `settle`'s usual end, at once."""
        if self.wrong is None and not self.inherited and (self.chain is None or self.chain[0].wrong == {}):
            for q in self.questions:
                if not _ready(q.flag.array) or np.asarray(q.flag.array)[0]:
                    return False
            with _lock:
                if self.wrong is None:
                    self.wrong, self.questions, self.trace, self.chain = {}, [], (), None
        return self.wrong == {}

    def _ready(self, wait: bool) -> bool:
        before = {id(doubt): doubt for _, (doubt, _) in self.inherited}
        if any(doubt.settle(wait=wait) is None for doubt in before.values()):
            return False
        return wait or all(_ready(q.flag.array) for q in self.questions)

    def _spoiled(self) -> dict:
        spoiled: dict = {}
        for slot, (doubt, there) in self.inherited:
            if there in doubt.wrong:
                spoiled[slot] = doubt.wrong[there]
            spoiled.update(_untold(doubt.wrong))
        for q in self.questions:
            found, k, value = np.asarray(q.flag.array).tolist()
            if found:
                spoiled[q] = (q, value, k)
                for slot in q.victims:
                    spoiled.setdefault(slot, spoiled[q])
        return spoiled

    def answer(self, value: Value, slot: int) -> None:
        """Raise the fault that spoiled ``value``, the result ``slot``, or one nobody was told of."""
        if value.array.__class__ is not np.ndarray:
            value.array.block_until_ready()
        if self.sound():  # the answers of the same run are there, too
            value.doubt = None
            return
        wrong = self.settle(wait=True)
        fault = wrong.get(slot)
        if fault is None:
            fault = next(iter(_untold(wrong).values()), None)
            if fault is None:
                value.doubt = None
                return
        question, bad, k = fault
        raise question.raised(bad, k)


def _ready(array: Any) -> bool:
    return array.__class__ is np.ndarray or array.is_ready()


def _untold(wrong: dict) -> dict:
    """The questions with a bad answer that nobody was told of."""
    return {q: f for q, f in wrong.items() if isinstance(q, Question) and not q.reported}


def _spread(spoiled: dict, trace: Sequence, questions: list[Question]) -> dict:
    """What was computed from the spoiled slots is spoiled too, and what backward read wrong values for."""
    asked = {s: f for q, f in spoiled.items() if q in questions for s in q.asked}
    for plan, slots, _, out in parse(trace):
        fault = next((spoiled[s] for s in slots if s in spoiled), None)
        if fault is not None:
            fault = next((spoiled[s] for s in slots_read(plan, slots) if s in spoiled), None)
        if fault is None and plan.name.endswith("_vjp"):
            fault = next((asked[s] for s in slots if s in asked), None)
        for k in range(len(plan.out_avals) if fault else 0):
            spoiled.setdefault(out + k, fault)
    return spoiled


def doubt_of(questions: list[Question], leaves: list[Value], trace: Sequence) -> Doubt | None:
    """The doubt about a run's results, None if there is none. Leaves found sound are so from now on."""
    inherited = []
    last = wrong = None
    for i, leaf in enumerate(leaves):
        doubt = leaf.doubt
        if doubt is not None:
            if doubt[0] is not last:  # the parameters of a model are all in the same
                last = doubt[0]
                wrong = last.settle(wait=False)
            if wrong is None or doubt[1] in wrong or _untold(wrong):
                inherited.append((-1 - i, doubt))
            elif not wrong:
                leaf.doubt = None
    return Doubt(questions, inherited, trace) if questions or inherited else None
