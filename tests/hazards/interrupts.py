"""Interrupts: an exception at each instruction, held against the same operations undisturbed in eager mode.

For each point (an instruction, at its first and at a later execution) the scenario runs in fresh variables
and is interrupted there. Then the interrupted operation is tried again and the rest performed. Correct is
what the eager executor gives when it stops before the operation, after it, or between its parts, and goes on.
Half of the points look at the state at once, which also closes what is pending; the others only at the end.
"""

from __future__ import annotations

import argparse
import gc

from . import command_line
from .bench import MODES, Bench, Point, Reference, Verdict, benches, compare, sample
from .report import Results
from .scenario import SCENARIOS
from .surroundings import Hung, executing, in_thread, quiet
from .tracing import disturb, line_of
from .world import snapshot

COLLECT = 200  # points between two collections of garbage


def judge(bench: Bench, point: Point) -> Verdict:
    """Run the scenario, interrupted at the point, and say what came of it."""
    references = bench.references(point.operation)
    with quiet() as ignored:
        try:
            return in_thread(_interrupted, bench, point, references, ignored)
        except Hung as error:
            return Verdict("hung", str(error))
        except Exception as error:  # a state that is wrong may fail anywhere, also in what is sound
            return Verdict("failed", f"{type(error).__name__}: {error}"[:200])


def _interrupted(bench: Bench, point: Point, references: list[Reference], ignored: list[str]) -> Verdict:
    operations, k = bench.scenario.operations, point.operation
    exact, start = bench.mode == "eager", bench.start()
    with executing(bench.mode):
        world = bench.world(bench.mode)
        # Where versions start is known from an undisturbed run: asking here would close what is pending.
        for o in operations[:k]:
            o.run(world)
        code = bench.codes[point.place]
        outcome = disturb(lambda: operations[k].run(world), code, point.place.offset, point.execution)
        if not outcome.reached:
            return Verdict("unreached")
        if outcome.raised is None:
            if "Interrupt" not in ignored:
                return Verdict("swallowed", "the operation ended as if nothing had been raised")
            state = snapshot(world, start=start)  # Python itself ignores what a finalizer raises
            return compare(state, [bench.undisturbed[k]], exact, "state")[0]
        if outcome.raised != "Interrupt":
            return Verdict("changed", f"{outcome.raised} came out")
        matching = references
        if point.look:
            verdict, matching = compare(snapshot(world, start=start), references, exact, "state")
            if not matching:
                return verdict
        end = bench.go_on(world, k, start)
        return compare(end, [r.end for r in matching], exact, "later")[0]


def run(mode: str, seed: int, count: int | None, results: Results, names: list[str] | None = None) -> None:
    """Try ``count`` points of each scenario (all if None), drawn by the seed, that are not tried yet.

    Stops after a run that hangs: the locks it holds are lost to this process.
    """
    for bench in benches(mode, seed, names):
        unlike = bench.check()
        if unlike:
            results.add(id=f"{mode}/{bench.scenario.name}", kind="undisturbed", detail="; ".join(unlike),
                        group=f"{mode} {bench.scenario.name}", where="nowhere: without any interrupt")
            continue
        for i, point in enumerate(sample(bench, count)):
            if str(point) not in results.done:
                verdict = judge(bench, point)
                record(results, bench, point, verdict)
                if verdict.kind == "hung":
                    return
            if i % COLLECT == 0:
                gc.collect()


def record(results: Results, bench: Bench, point: Point, verdict: Verdict) -> None:
    place = point.place
    line = line_of(bench.codes[place], place.offset)
    results.add(id=str(point), kind=verdict.kind, detail=verdict.detail,
                group=f"{point.mode} {point.scenario}", where=f"{place.file}:{line} {place.function}")


def one(text: str, seed: int) -> str:
    """Try the point a report names, and say what came of it."""
    mode, name, _ = text.split("/", 2)
    bench = Bench(mode, SCENARIOS[name], seed)
    points = [point for point in bench.points() if str(point) == text]
    if not points:
        return f"{text}: no such point; the code has changed since"
    operation = bench.scenario.operations[points[0].operation].text
    return f"{text}\n  in {operation!r}\n  {judge(bench, points[0])}"


def main(options: argparse.Namespace) -> int:
    """The command line; returns the exit status: 1 if anything was wrong."""

    def attempt(mode: str, results: Results) -> None:
        run(mode, options.seed, options.count, results, options.scenario)

    return command_line.performed("interrupts", options, MODES, attempt,
                                  one=lambda: one(options.point, options.seed))
