"""Random programs while garbage is collected in the middle of their operations; NumPy says what is right.

Before each operation garbage is made whose finalizers compute, write to shared totals, ask for numbers and
call backward, and leave new garbage; the collector runs at random instructions of the operation, where
CPython from 3.12 on does it, too. (3.11 collects at allocations; forced at random ones it crashed in its own
``frame_dealloc``.) All numbers are small integers, so the order of additions does not matter and every
comparison is exact.
"""

from __future__ import annotations

import gc
import os
import random
import traceback
import weakref
from typing import Any

import numpy as np

import jaxflow as torch

from .bench import Verdict
from .report import Results
from .surroundings import Hung, executing, in_thread, quiet
from .tracing import now_and_then

MODES = ("deferred", "compiled", "eager")
COUNT = 150
OPERATIONS = 12
LONGEST = 1500  # instructions until the collector comes, at most
RESPAWN = 3  # how many generations of garbage follow each other within an operation


class Ledger:
    """What the finalizers work on, and what they say they have done."""

    def __init__(self) -> None:
        self.total = torch.zeros(2)
        self.q = torch.zeros(2, requires_grad=True)
        self.kept: list[tuple[torch.Tensor, float]] = []
        self.read: list[tuple[float, float]] = []
        self.written = self.gone_back = 0.0

    def perform(self, deed: str, t: torch.Tensor, number: float) -> None:
        """One deed, with a tensor that is ``[number, number]``; then it is entered."""
        with torch.enable_grad():
            if deed == "compute":
                self.kept.append((t * 2.0 + 1.0, number * 2.0 + 1.0))
            elif deed == "write":
                self.total.add_(t * 2.0)
                self.written += number * 2.0
            elif deed == "close":
                self.read.append(((t * 3.0).sum().item(), number * 6.0))
            else:
                (self.q * t).sum().backward()
                self.gone_back += number

    def faults(self) -> list[str]:
        """Where the tensors differ from what was entered."""
        found = []
        if self.total.tolist() != [self.written] * 2:
            found.append(f"total is {self.total.tolist()}, not {self.written}")
        grad = [0.0, 0.0] if self.q.grad is None else self.q.grad.tolist()
        if grad != [self.gone_back] * 2:
            found.append(f"gradient is {grad}, not {self.gone_back}")
        found += [f"kept {t.tolist()}, not {n}" for t, n in self.kept if t.tolist() != [n, n]]
        return found + [f"read {got}, not {expected}" for got, expected in self.read if got != expected]


DEEDS = ("compute", "write", "close", "backward")


class Cycle:
    """Garbage that only the collector finds. Its death does a deed and leaves more of its kind."""

    def __init__(self, draw: random.Random, ledger: Ledger, left: int = RESPAWN) -> None:
        self.me = self
        self.draw, self.ledger, self.left = draw, ledger, left
        self.number = float(draw.randint(1, 4))
        self.t = torch.full((2,), self.number)

    def __del__(self) -> None:
        self.ledger.perform(self.draw.choice(DEEDS), self.t, self.number)
        if self.left:
            Cycle(self.draw, self.ledger, self.left - 1)


class Plain:
    """Garbage with a ``weakref.finalize``."""


def litter(draw: random.Random, ledger: Ledger) -> None:
    """Make a piece of garbage of one kind or the other."""
    if draw.random() < 0.7:
        Cycle(draw, ledger)
        return
    plain, number = Plain(), float(draw.randint(1, 4))
    plain.me = plain
    weakref.finalize(plain, ledger.perform, draw.choice(DEEDS), torch.full((2,), number), number)


class Program:
    """A random program on a few tensors, performed on NumPy arrays as well."""

    def __init__(self, draw: random.Random) -> None:
        self.draw = draw
        first = np.array([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]], np.float32)
        self.tensors, self.arrays = [torch.tensor(first)], [first.copy()]
        self.p, self.p_array = torch.tensor([1.0, 2.0, 3.0], requires_grad=True), np.array([1.0, 2.0, 3.0])
        self.velocity = np.zeros(3)
        self.opt = torch.optim.SGD([self.p], lr=0.5, momentum=0.5)

    def operation(self) -> None:
        """Perform one operation, in jaxflow and in NumPy."""
        kind = self.draw.choice(("new", "new", "new", "in place", "view", "sum", "train"))
        i = self.draw.randrange(len(self.tensors))
        t, a, n = self.tensors[i], self.arrays[i], float(self.draw.randint(-2, 2))
        if kind == "new":
            new, expected = (t + n, a + n) if self.draw.random() < 0.5 else (-t + n, -a + n)
            self.tensors.append(new)
            self.arrays.append(expected)
        elif kind == "in place":
            t.add_(n)
            a += n
        elif kind == "view":
            t[1].sub_(n)
            a[1] -= n
        elif kind == "sum":
            got = t.sum().item()
            if got != float(a.sum()):
                raise AssertionError(f"a sum is {got}, not {a.sum()}")
        else:
            self._train(n)

    def _train(self, n: float) -> None:
        self.opt.zero_grad()
        (self.p * n).sum().backward()
        self.opt.step()
        self.velocity = 0.5 * self.velocity + n
        self.p_array = self.p_array - 0.5 * self.velocity

    def faults(self) -> list[str]:
        """Where the tensors differ from the arrays."""
        pairs = [*zip(self.tensors, self.arrays), (self.p.detach(), self.p_array)]
        return [f"tensor {i} is {t.tolist()}, not {a.tolist()}"
                for i, (t, a) in enumerate(pairs) if t.tolist() != a.tolist()]


def judge(mode: str, name: str) -> Verdict:
    """Perform the program a name draws, under garbage collection."""
    with quiet() as ignored:
        try:
            return in_thread(_judge, mode, random.Random(name), ignored)
        except Hung as error:
            return Verdict("hung", str(error))
        except Exception as error:
            where = [f"{os.path.basename(f.filename)}:{f.lineno} {f.name}"
                     for f in traceback.extract_tb(error.__traceback__)[-1:-5:-1]]
            return Verdict("failed", f"{type(error).__name__}: {error} at {' < '.join(where)}"[:400])


def _judge(mode: str, draw: random.Random, ignored: list[str]) -> Verdict:
    with executing(mode):
        ledger, program = Ledger(), Program(draw)
        for _ in range(OPERATIONS):
            litter(draw, ledger)
            now_and_then(program.operation, lambda: draw.randrange(LONGEST), lambda: gc.collect(0))
        for _ in range(RESPAWN + 1):
            gc.collect()  # the finalizers of this program run in this thread, under this executor
        faults = [*program.faults(), *ledger.faults()]
    if ignored:
        return Verdict("finalizer", ignored[0][:200])
    return Verdict("state", "; ".join(faults)[:200]) if faults else Verdict("right")


def run(mode: str, seed: int, count: int, results: Results) -> None:
    """``count`` programs that are not tried yet; stops after one that hangs."""
    for i in range(count):
        name = f"garbage/{mode}/{seed}/{i}"
        if name not in results.done:
            verdict = judge(mode, name)
            results.add(id=name, kind=verdict.kind, detail=verdict.detail, group=f"garbage {mode}",
                        where=mode)
            if verdict.kind == "hung":
                return


def one(name: str, seed: Any) -> str:
    """Try a program the report names, and say what came of it."""
    return f"{name}: {judge(name.split('/')[1], name)}"
