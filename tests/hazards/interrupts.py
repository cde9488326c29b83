"""Interrupts: an exception at each instruction, held against the same operations undisturbed in eager mode.

For each point (an instruction, at its first and at a later execution) the scenario runs in fresh variables
and is interrupted there. Then the interrupted operation is tried again and the rest performed. Correct is
what the eager executor gives when it stops before the operation, after it, or between its parts, and goes on.
Half of the points look at the state at once, which also closes what is pending; the others only at the end.
"""

from __future__ import annotations

import argparse
import gc
import os
import random
import sys
from collections.abc import Iterator
from types import CodeType
from typing import Any, NamedTuple

import jaxflow as torch

from . import scenarios_tensors, scenarios_training  # noqa: F401  (they declare the scenarios)
from .report import Results
from .scenario import SCENARIOS, Scenario
from .surroundings import Hung, executing, in_thread, quiet
from .tracing import Place, interrupt, line_of, place_of, profile
from .windows import window_of
from .world import Unreadable, World, differences, snapshot

MODES = ("deferred", "compiled", "eager", "compile")
COLLECT = 200  # points between two collections of garbage
WARM = 60  # runs of a scenario, at most, until twice in a row the same instructions are executed


class Point(NamedTuple):
    """Where one run is interrupted, and whether its state is looked at at once."""

    mode: str
    scenario: str
    place: Place
    operation: int
    execution: int  # of this instruction within the operation, from 0
    look: bool

    def __str__(self) -> str:
        when = f"{self.operation}.{self.execution}"
        return f"{self.mode}/{self.scenario}/{self.place}@{when}{'!' if self.look else ''}"


class Verdict(NamedTuple):
    """``kind`` is ``right``, ``unreached``, or what is wrong."""

    kind: str
    detail: str = ""


class Reference(NamedTuple):
    """An undisturbed run in eager mode: its state at a cut, and at the end if it goes on from there."""

    state: dict[str, Any]
    end: dict[str, Any]


class Bench:
    """One scenario in one mode, warmed up: its points, its references, and a judge of single points."""

    def __init__(self, mode: str, scenario: Scenario, seed: int) -> None:
        self.mode, self.scenario, self.seed = mode, scenario, seed
        self.codes: dict[tuple[Place, int], CodeType] = {}
        self.excluded: dict[str, int] = {}
        self._references: dict[int, list[Reference]] = {}
        self._undisturbed: list[dict[str, Any]] = in_thread(self._trajectory, "eager")
        self.profiles = self._warm_up()

    def _world(self, mode: str) -> World:
        torch.manual_seed(self.seed)
        world = self.scenario.build(self.seed)
        if self.scenario.compiled and mode == "compile":
            function = getattr(world, self.scenario.compiled)
            setattr(world, self.scenario.compiled, torch.compile(function))
        self.scenario.warm(world)
        return world

    def _warm_up(self) -> list[dict[tuple[CodeType, int], int]]:
        """The instructions of each operation, once they are the same run after run."""
        before = None
        for _ in range(WARM):
            now = in_thread(self._profile)
            if now == before:
                break
            before = now
        for counts in now:
            for code, offset in counts:
                self.codes[place_of(code, offset)] = code
        return now

    def _profile(self) -> list[dict[tuple[CodeType, int], int]]:
        with executing(self.mode):
            world = self._world(self.mode)
            return [profile(lambda o=o: o.run(world)) for o in self.scenario.operations]

    def check(self) -> list[str]:
        """In which facts an undisturbed run in this mode differs from one in eager mode: nothing may."""
        states = in_thread(self._trajectory, self.mode)
        return [f"after {o.text!r}: {name}"
                for o, state, expected in zip(self.scenario.operations, states, self._undisturbed)
                for name in differences(state, expected, exact=self.mode == "eager")]

    def _trajectory(self, mode: str) -> list[dict[str, Any]]:
        with executing(mode):
            world = self._world(mode)
            start = snapshot(world)
            states = []
            for o in self.scenario.operations:
                o.run(world)
                states.append(snapshot(world, start=start))
            return states

    # ----------------------------------------------------------------------------------- points

    def points(self) -> list[Point]:
        """Each instruction at its first execution, looking at once and later, and at a later execution."""
        times: dict[tuple[CodeType, int], list[tuple[int, int]]] = {}
        for k, counts in enumerate(self.profiles):
            for key, count in counts.items():
                times.setdefault(key, []).append((k, count))
        found = []
        for (code, offset), where in times.items():
            place = place_of(code, offset)
            window = window_of(code, place)
            if window is not None:
                self.excluded[window.reason] = self.excluded.get(window.reason, 0) + 1
                continue
            draw = random.Random(f"{self.seed} {place}")
            first = where[0][0]
            found.append(Point(self.mode, self.scenario.name, place, first, 0, True))
            found.append(Point(self.mode, self.scenario.name, place, first, 0, False))
            later = [(k, n) for k, count in where for n in {0, count // 2, count - 1} if (k, n) != (first, 0)]
            if later:
                k, n = draw.choice(sorted(later))
                found.append(Point(self.mode, self.scenario.name, place, k, n, draw.random() < 0.5))
        return found

    # -------------------------------------------------------------------------------- references

    def references(self, k: int) -> list[Reference]:
        """What may be after an interrupt in operation ``k``, one for each cut."""
        if k not in self._references:
            cuts = range(self.scenario.operations[k].cuts())
            self._references[k] = [in_thread(self._reference, k, cut) for cut in cuts]
        return self._references[k]

    def _reference(self, k: int, cut: int) -> Reference:
        with executing("eager"):
            world = self._world("eager")
            start = snapshot(world)
            for o in self.scenario.operations[:k]:
                o.run(world)
            self.scenario.operations[k].run_to(cut, world)
            state = snapshot(world, start=start)
            return Reference(state, self._go_on(world, k, start))

    def _go_on(self, world: World, k: int, start: dict[str, Any]) -> dict[str, Any]:
        """Perform operation ``k`` once more and what follows; the state then, and what was raised."""
        raised = []
        for o in self.scenario.operations[k:]:
            try:
                o.run(world)
                raised.append(None)
            except Exception as error:
                raised.append(type(error).__name__)
        return {**snapshot(world, start=start), "raised": str(raised)}

    # -------------------------------------------------------------------------------------- judge

    def judge(self, point: Point) -> Verdict:
        """Run the scenario, interrupted at the point, and say what came of it."""
        references = self.references(point.operation)
        with quiet() as ignored:
            try:
                return in_thread(self._interrupted, point, references, ignored)
            except Hung as error:
                return Verdict("hung", str(error))
            except Exception as error:  # a state that is wrong may fail anywhere, also in what is sound
                return Verdict("failed", f"{type(error).__name__}: {error}"[:200])

    def _interrupted(self, point: Point, references: list[Reference], ignored: list[str]) -> Verdict:
        operations, k = self.scenario.operations, point.operation
        exact = self.mode == "eager"
        with executing(self.mode):
            world = self._world(self.mode)
            # Where versions start is known from an undisturbed run: asking here would close what is pending.
            start = self._start()
            for o in operations[:k]:
                o.run(world)
            code = self.codes[point.place]
            outcome = interrupt(lambda: operations[k].run(world), code, point.place.offset, point.execution)
            if not outcome.reached:
                return Verdict("unreached")
            if outcome.raised is None:
                if "Interrupt" not in ignored:
                    return Verdict("swallowed", "the operation ended as if nothing had been raised")
                state = snapshot(world, start=start)  # Python itself ignores what a finalizer raises
                return _verdict(state, [self._undisturbed[k]], exact, "state")[0]
            if outcome.raised != "Interrupt":
                return Verdict("changed", f"{outcome.raised} came out")
            matching = references
            if point.look:
                verdict, matching = _verdict(snapshot(world, start=start), references, exact, "state")
                if not matching:
                    return verdict
            end = self._go_on(world, k, start)
            return _verdict(end, [r.end for r in matching], exact, "later")[0]

    def _start(self) -> dict[str, Any]:
        if not hasattr(self, "_started"):
            self._started = in_thread(self._first_state)
        return self._started

    def _first_state(self) -> dict[str, Any]:
        with executing(self.mode):
            return snapshot(self._world(self.mode))


def _verdict(state: dict[str, Any], allowed: list, exact: bool, kind: str) -> tuple[Verdict, list]:
    """What a state is worth, and which of the allowed ones (states or references) it equals."""
    unlike = [differences(state, getattr(other, "state", other), exact=exact) for other in allowed]
    matching = [other for other, names in zip(allowed, unlike, strict=True) if not names]
    if matching:
        return Verdict("right"), matching
    nearest = min(unlike, key=len)
    unreadable = [name for name in nearest if isinstance(state.get(name), Unreadable)]
    if unreadable:
        return Verdict("unreadable", f"{unreadable[0]}: {state[unreadable[0]][:160]}"), []
    if all(name.startswith("mode:") for name in nearest):
        return Verdict("mode", ", ".join(nearest)), []
    shown = ", ".join(f"{name} = {state.get(name, 'missing')!s:.60}" for name in nearest[:3])
    return Verdict(kind, f"{len(nearest)} facts differ from the nearest cut: {shown}"), []


# ------------------------------------------------------------------------------------------ running


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
        points = bench.points()
        if count is not None:
            points = random.Random(f"{seed} {bench.scenario.name}").sample(points, min(count, len(points)))
        for i, point in enumerate(points):
            if str(point) not in results.done:
                verdict = bench.judge(point)
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
    return f"{text}\n  in {operation!r}\n  {bench.judge(points[0])}"


def main(options: argparse.Namespace) -> int:
    """The command line; returns the exit status: 1 if anything was wrong."""
    if options.point:
        print(one(options.point, options.seed))
        return 0
    results = Results(options.resume)
    for mode in options.mode or MODES:
        before = len(results.wrong)
        run(mode, options.seed, options.count, results, options.scenario)
        if any(row["kind"] == "hung" for row in results.wrong[before:]):
            os.execv(sys.executable, [sys.executable, "-m", "tests.hazards", *sys.argv[1:]])
    print(results.text(f"python -m tests.hazards interrupts --seed {options.seed} --point"))
    return 1 if results.wrong else 0


def benches(mode: str, seed: int, names: list[str] | None = None) -> Iterator[Bench]:
    """The scenarios of a mode, each warmed up."""
    for scenario in SCENARIOS.values():
        if (scenario.compiled is not None) == (mode == "compile") and (not names or scenario.name in names):
            yield Bench(mode, scenario, seed)
