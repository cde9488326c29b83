"""Checks that are made late: what a finished Program may have done wrong, found when its numbers are needed.

NOTE [Faults found late]
    What a body cannot see from shapes, a guard checks in the values (an index in range, a class, a
    probability): ``Watch.within``. Where they are there already, PyTorch's error is raised at the call.
    Where they are pending, looking would be a sync point, so the check is recorded behind the operation:
    one more, tiny result of the same Program says what the first wrong value is, if any. What the Program
    yields is unchecked (`UncheckedRun`) until that answer is looked at: when somebody needs one of its
    numbers, or when a later Program takes one up and the answer is there. The first number that is read
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


class Check:
    """What one result of a Program answers; ``flag`` is [whether, which tensor, its value].

    ``asked`` are the slots it is about, ``affected`` those of what is wrong if so, and ``line`` is where
    the user called.
    """

    __slots__ = ("asked", "error", "flag", "line", "reported", "affected")

    def __init__(self, flag: Value, asked: list[int], affected: list[int], error: Callable,
                 line: str) -> None:
        self.flag, self.asked, self.affected = flag, asked, affected
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


class UncheckedRun:
    """What a run may turn out to have done wrong.

    ``inherited`` are the unchecked leaves: (slot, their run and slot there); ``chain`` is a shorter way to
    say it, (the run they are all of, (slot, slot there) of each). ``wrong`` maps what a
    fault has spoiled to (check, value, which tensor), and each check whose answer is bad to the
    same; it is None while that is open.
    """

    __slots__ = ("chain", "inherited", "checks", "trace", "wrong")

    def __init__(self, checks: list[Check], inherited: list, trace: Sequence,
                 chain: tuple[UncheckedRun, list] | None = None) -> None:
        self.checks, self.inherited, self.trace, self.chain = checks, inherited, trace, chain
        self.wrong: dict | None = None

    def settle(self, *, wait: bool) -> dict | None:
        """What is spoiled; None where that takes waiting and ``wait`` forbids it."""
        with _lock:
            # Runs that are not settled depend on each other in chains of any length: the oldest first.
            unsettled, stack = {}, [self]
            while stack:
                unchecked = stack.pop()
                if unchecked.wrong is None and id(unchecked) not in unsettled:
                    unsettled[id(unchecked)] = unchecked
                    stack += unchecked._before()
            for unchecked in reversed(unsettled.values()):
                if not unchecked.sound():
                    unchecked._settle(wait)
            return self.wrong

    def _before(self) -> list[UncheckedRun]:
        """The unchecked runs that its leaves are of."""
        return [self.chain[0]] if self.chain is not None else [run for _, (run, _) in self.inherited]

    def _settle(self, wait: bool) -> None:
        if self.wrong is None and self.chain is not None:
            before, pairs = self.chain
            self.inherited = [(slot, (before, there)) for slot, there in pairs]
            self.chain = None
        if self.wrong is None and self._ready(wait):
            spoiled = self._spoiled()
            self.wrong = _spread(spoiled, self.trace, self.checks) if spoiled else spoiled
            self.checks, self.inherited, self.trace = [], [], ()

    def sound(self) -> bool:
        """Whether it is known, without waiting, that nothing went wrong: `settle`'s usual end, at once."""
        if self.wrong is None and not self.inherited and (self.chain is None or self.chain[0].wrong == {}):
            for q in self.checks:
                if not _ready(q.flag.array) or np.asarray(q.flag.array)[0]:
                    return False
            with _lock:
                if self.wrong is None:
                    self.wrong, self.checks, self.trace, self.chain = {}, [], (), None
        return self.wrong == {}

    def _ready(self, wait: bool) -> bool:
        before = {id(unchecked): unchecked for _, (unchecked, _) in self.inherited}
        if any(unchecked.settle(wait=wait) is None for unchecked in before.values()):
            return False
        return wait or all(_ready(q.flag.array) for q in self.checks)

    def _spoiled(self) -> dict:
        spoiled: dict = {}
        for slot, (unchecked, there) in self.inherited:
            if there in unchecked.wrong:
                spoiled[slot] = unchecked.wrong[there]
            spoiled.update(_unreported(unchecked.wrong))
        for q in self.checks:
            found, k, value = np.asarray(q.flag.array).tolist()
            if found:
                spoiled[q] = (q, value, k)
                for slot in q.affected:
                    spoiled.setdefault(slot, spoiled[q])
        return spoiled

    def answer(self, value: Value, slot: int) -> None:
        """Raise the fault that spoiled ``value``, the result ``slot``, or one that was not reported yet."""
        if value.array.__class__ is not np.ndarray:
            value.array.block_until_ready()
        if self.sound():  # the answers of the same run are there, too
            value.unchecked = None
            return
        wrong = self.settle(wait=True)
        fault = wrong.get(slot)
        if fault is None:
            fault = next(iter(_unreported(wrong).values()), None)
            if fault is None:
                value.unchecked = None
                return
        check, bad, k = fault
        raise check.raised(bad, k)


def _ready(array: Any) -> bool:
    return array.__class__ is np.ndarray or array.is_ready()


def _unreported(wrong: dict) -> dict:
    """The checks with a bad answer that was not reported yet."""
    return {q: f for q, f in wrong.items() if isinstance(q, Check) and not q.reported}


def _spread(spoiled: dict, trace: Sequence, checks: list[Check]) -> dict:
    """What was computed from the spoiled slots is spoiled too, and what backward read wrong values for."""
    asked = {s: f for q, f in spoiled.items() if q in checks for s in q.asked}
    for plan, slots, _, out in parse(trace):
        fault = next((spoiled[s] for s in slots if s in spoiled), None)
        if fault is not None:
            fault = next((spoiled[s] for s in slots_read(plan, slots) if s in spoiled), None)
        if fault is None and plan.name.endswith("_vjp"):
            fault = next((asked[s] for s in slots if s in asked), None)
        for k in range(len(plan.out_avals) if fault else 0):
            spoiled.setdefault(out + k, fault)
    return spoiled


def unchecked_run(checks: list[Check], leaves: list[Value], trace: Sequence) -> UncheckedRun | None:
    """What is still to be checked of a run's results, or None. Leaves found sound are so from now on."""
    inherited = []
    last = wrong = None
    for i, leaf in enumerate(leaves):
        unchecked = leaf.unchecked
        if unchecked is not None:
            if unchecked[0] is not last:  # the parameters of a model are all in the same
                last = unchecked[0]
                wrong = last.settle(wait=False)
            if wrong is None or unchecked[1] in wrong or _unreported(wrong):
                inherited.append((-1 - i, unchecked))
            elif not wrong:
                leaf.unchecked = None
    return UncheckedRun(checks, inherited, trace) if checks or inherited else None
