"""A scenario made ready for disturbances: the points where they can come in, and what would be right then."""

from __future__ import annotations

import random
from collections.abc import Iterator
from types import CodeType
from typing import Any, NamedTuple

import jaxflow as torch

from . import (  # noqa: F401  (they declare the scenarios)
    scenarios_layouts,
    scenarios_state,
    scenarios_tensors,
    scenarios_training,
)
from .scenario import SCENARIOS, Scenario
from .surroundings import executing, in_thread
from .tracing import Place, place_of, profile
from .windows import window_of
from .world import Unreadable, World, differences, snapshot

MODES = ("deferred", "compiled", "eager", "compile")
WARM = 60  # runs of a scenario, at most, until twice in a row the same instructions are executed


class Point(NamedTuple):
    """Where one run is disturbed, and whether its state is looked at at once."""

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
    """One scenario in one mode, warmed up: its points, and its references."""

    def __init__(self, mode: str, scenario: Scenario, seed: int) -> None:
        self.mode, self.scenario, self.seed = mode, scenario, seed
        self.codes: dict[tuple[Place, int], CodeType] = {}
        self.excluded: dict[str, int] = {}
        self._references: dict[int, list[Reference]] = {}
        self.undisturbed: list[dict[str, Any]] = in_thread(self._trajectory, "eager")
        self.profiles = self._warm_up()

    def world(self, mode: str) -> World:
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
            world = self.world(self.mode)
            return [profile(lambda o=o: o.run(world)) for o in self.scenario.operations]

    def check(self) -> list[str]:
        """In which facts an undisturbed run in this mode differs from one in eager mode: nothing may."""
        states = in_thread(self._trajectory, self.mode)
        return [f"after {o.text!r}: {name}"
                for o, state, expected in zip(self.scenario.operations, states, self.undisturbed)
                for name in differences(state, expected, exact=self.mode == "eager")]

    def _trajectory(self, mode: str) -> list[dict[str, Any]]:
        with executing(mode):
            world = self.world(mode)
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
            world = self.world("eager")
            start = snapshot(world)
            for o in self.scenario.operations[:k]:
                o.run(world)
            self.scenario.operations[k].run_to(cut, world)
            state = snapshot(world, start=start)
            return Reference(state, self.go_on(world, k, start))

    def go_on(self, world: World, k: int, start: dict[str, Any]) -> dict[str, Any]:
        """Perform operation ``k`` once more and what follows; the state then, and what was raised."""
        raised = []
        for o in self.scenario.operations[k:]:
            try:
                o.run(world)
                raised.append(None)
            except Exception as error:
                raised.append(type(error).__name__)
        return {**snapshot(world, start=start), "raised": str(raised)}

    def start(self) -> dict[str, Any]:
        """The first state, from a run of its own: to ask for it closes what is pending."""
        if not hasattr(self, "_started"):
            self._started = in_thread(self._first_state)
        return self._started

    def _first_state(self) -> dict[str, Any]:
        with executing(self.mode):
            return snapshot(self.world(self.mode))


def compare(state: dict[str, Any], allowed: list, exact: bool, kind: str) -> tuple[Verdict, list]:
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


def sample(bench: Bench, count: int | None) -> list[Point]:
    """``count`` of the points (all if None), the same in every process."""
    points = bench.points()
    if count is None:
        return points
    return sorted(points, key=lambda point: random.Random(f"{bench.seed} {point}").random())[:count]


def half(mode: str, odd: bool) -> list[str]:
    """The names of every second scenario of a mode: the odd ones, or the others; the next mode swaps them.

    So two harnesses that take a half each meet every scenario in every mode, and each of them meets every
    scenario of several modes in one of them.
    """
    names = [name for name, scenario in SCENARIOS.items()
             if (scenario.compiled is not None) == (mode == "compile")]
    return names[(odd + MODES.index(mode)) % 2 :: 2]


def benches(mode: str, seed: int, names: list[str] | None = None) -> Iterator[Bench]:
    """The scenarios of a mode, each warmed up."""
    for scenario in SCENARIOS.values():
        if (scenario.compiled is not None) == (mode == "compile") and (not names or scenario.name in names):
            yield Bench(mode, scenario, seed)
