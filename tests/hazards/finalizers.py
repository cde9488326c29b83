"""Finalizers: an object dies in the middle of an operation, and its ``__del__`` computes with tensors.

At each instruction of a scenario (as in ``interrupts``) an object dies whose finalizer does one of ``DEEDS``.
Both have to get their right results: the scenario those of an undisturbed eager run, the finalizer its own.
Beside that, random programs under garbage collection: ``garbage.py``.
"""

from __future__ import annotations

import argparse
import gc
import random
from collections.abc import Callable

import jaxflow as torch

from . import command_line, garbage
from .bench import MODES, Bench, Point, Verdict, benches, compare, sample
from .report import Results
from .scenario import SCENARIOS
from .surroundings import Hung, executing, in_thread, quiet
from .tracing import disturb, line_of
from .world import snapshot

COLLECT = 200  # points between two collections of garbage


class Estate:
    """What the finalizer works on, and what each deed leaves there."""

    def __init__(self) -> None:
        self.t = torch.tensor([1.0, 2.0])
        self.total = torch.tensor([10.0, 20.0])
        self.q = torch.tensor([3.0, 5.0], requires_grad=True)
        self.result = None

    def compute(self) -> None:
        """Two operations whose result is kept."""
        self.result = self.t * 3.0 + 1.0

    def write(self) -> None:
        """In place, on a tensor that lives longer."""
        self.total.add_(self.t * 2.0)

    def close(self) -> None:
        """Ask for a number, which runs what is pending."""
        self.result = torch.tensor((self.t * 4.0).sum().item())

    def backward(self) -> None:
        """A gradient of its own."""
        (self.q * self.t).sum().backward()

    def seen(self) -> list:
        """The values of everything that a deed may change."""
        return [x if x is None else x.tolist() for x in (self.total, self.q.grad, self.result)]


DEEDS: dict[Callable[[Estate], None], list] = {
    Estate.compute: [[10.0, 20.0], None, [4.0, 7.0]],
    Estate.write: [[12.0, 24.0], None, None],
    Estate.close: [[10.0, 20.0], None, 12.0],
    Estate.backward: [[10.0, 20.0], [1.0, 2.0], None],
}


# Operations in which a backward of the finalizer's own is refused, as in PyTorch: a transform says so, and a
# checkpoint counts what is saved for backward in it, whoever saves it, and in its backward counts again.
_WITHOUT_BACKWARD = ("torch.func.", "utils.checkpoint.", "w.h.sum().backward()")


class Mortal:
    """Performs a deed when it dies; grad mode is on for that, wherever it happens."""

    def __init__(self, deed: Callable[[Estate], None], estate: Estate) -> None:
        self.deed, self.estate = deed, estate

    def __del__(self) -> None:
        with torch.inference_mode(False), torch.enable_grad():
            self.deed(self.estate)


def judge(bench: Bench, point: Point) -> Verdict:
    """Run the scenario, an object dying at the point, and say what came of both."""
    deeds = list(DEEDS)
    if any(text in bench.scenario.operations[point.operation].text for text in _WITHOUT_BACKWARD):
        deeds.remove(Estate.backward)
    deed = random.Random(f"{bench.seed} {point} deed").choice(deeds)
    with quiet() as ignored:
        try:
            return in_thread(_with_a_death, bench, point, deed, ignored)
        except Hung as error:
            return Verdict("hung", str(error))
        except Exception as error:
            return Verdict("failed", f"{deed.__name__}: {type(error).__name__}: {error}"[:200])


def _with_a_death(bench: Bench, point: Point, deed: Callable, ignored: list[str]) -> Verdict:
    operations, k = bench.scenario.operations, point.operation
    exact, start = bench.mode == "eager", bench.start()
    with executing(bench.mode):
        world, estate = bench.world(bench.mode), Estate()
        mortals = [Mortal(deed, estate)]
        for o in operations[:k]:
            o.run(world)
        outcome = disturb(lambda: operations[k].run(world), bench.codes[point.place], point.place.offset,
                          point.execution, mortals.clear)
        if not outcome.reached:
            return Verdict("unreached")
        if ignored:
            return Verdict("finalizer", f"{deed.__name__} raised {ignored[0]}")
        if outcome.raised is not None:
            return Verdict("raised", f"{deed.__name__}: the operation raised {outcome.raised}")
        if point.look:
            verdict, matching = compare(snapshot(world, start=start), [bench.undisturbed[k]], exact, "state")
            if not matching:
                return verdict
        for o in operations[k + 1:]:
            o.run(world)
        verdict, matching = compare(snapshot(world, start=start), [bench.undisturbed[-1]], exact, "later")
        if not matching:
            return Verdict(verdict.kind, f"{deed.__name__}: {verdict.detail}")
        seen = estate.seen()
        if seen != DEEDS[deed]:
            return Verdict("deed", f"{deed.__name__} left {seen} for {DEEDS[deed]}")
        return verdict


def run(mode: str, seed: int, count: int | None, results: Results, names: list[str] | None = None) -> None:
    """Try ``count`` points of each scenario (all if None) not tried yet; stop after one that hangs."""
    for bench in benches(mode, seed, names):
        for i, point in enumerate(sample(bench, count)):
            if str(point) in results.done:
                continue
            verdict = judge(bench, point)
            place = point.place
            line = line_of(bench.codes[place], place.offset)
            results.add(id=str(point), kind=verdict.kind, detail=verdict.detail,
                        group=f"{mode} {point.scenario}", where=f"{place.file}:{line} {place.function}")
            if verdict.kind == "hung":
                return
            if i % COLLECT == 0:
                gc.collect()


def one(text: str, seed: int) -> str:
    """Try the point a report names, and say what came of it."""
    mode, name, _ = text.split("/", 2)
    bench = Bench(mode, SCENARIOS[name], seed)
    found = [str(judge(bench, point)) for point in bench.points() if str(point) == text]
    return found[0] if found else f"{text}: no such point; the code has changed since"


def main(options: argparse.Namespace) -> int:
    """The command line; returns the exit status: 1 if anything was wrong."""

    def collected(mode: str, results: Results) -> None:
        if mode in garbage.MODES and not options.scenario:
            garbage.run(mode, options.seed, options.count or garbage.COUNT, results)

    def attempt(mode: str, results: Results) -> None:
        run(mode, options.seed, options.count, results, options.scenario)

    def again() -> str:
        return (garbage.one if options.point.startswith("garbage/") else one)(options.point, options.seed)

    return command_line.performed("finalizers", options, MODES, collected, attempt, one=again)
