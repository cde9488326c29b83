"""Failed runs: what is left when a program cannot be compiled, handed over, run, delivered or read.

In a run of a scenario a failure is armed at a statement drawn by the seed. Some are raised a few times and
concern no operation: then nothing may be lost, whether the user sees the error or not. Some say that certain
operations cannot run, as a whole or alone: then an error that names one of them has to come out of a
statement, and everything has to be as `computable` says. Then the batch is halved, or what is left of the
scenario is performed, and that has to give the numbers that the eager executor gives.
"""

from __future__ import annotations

import argparse
import random

import jaxflow as torch
from jaxflow._plans.plan import Plan

from . import (  # noqa: F401  (they declare the scenarios)
    command_line,
    injections,
    scenarios_tensors,
    scenarios_training,
)
from .computable import Course
from .failed_runs import Trial, judge
from .injections import Failure, Stop
from .report import Results
from .scenario import SCENARIOS, Scenario
from .scenarios_memory import MEMORY
from .surroundings import executing, in_thread

MODES = ("deferred", "compiled", "eager")
COUNT = 40
NAMES = ("sgd", "adam", "adam_later", "adamw", "training_loop", "accumulation", "hidden_state", "statistics",
         "fragile", "histories", "views", "gradients_of_gradients", "backward_twice",
         "backward_with_hook", "chain_with_grad", "in_place", "in_place_through_views", "in_place_with_grad")
KNOWN = {**SCENARIOS, **MEMORY}

# Failures that concern no operation: where, what is raised, how often (-1: always), in which modes.
POINTS = [
    *((place, kind, most, ("deferred", "compiled"))
      for place in (injections.layout, injections.delivery, injections.end_of_delivery)
      for kind, most in ((RuntimeError, 1), (Stop, 1), (Stop, 2))),
    *((place, kind, most, ("compiled",))
      for place in (injections.compilation, injections.copies, injections.start)
      for kind, most in ((RuntimeError, 1), (RuntimeError, -1), (Stop, 1))),
    (injections.whole, RuntimeError, -1, ("deferred", "compiled")),
    *((injections.late, kind, most, ("deferred", "compiled"))
      for kind, most in ((RuntimeError, 1), (RuntimeError, -1), (Stop, 1))),
    (injections.copy_to_host, RuntimeError, 1, MODES),
    (injections.copy_to_host, Stop, 1, MODES),
    (injections.after_donation, RuntimeError, 1, ("compiled",)),
]


def drawn(mode: str, scenario: Scenario, seed: int, i: int) -> Trial:
    """The ``i``-th trial."""
    draw = random.Random(f"{mode}/{scenario.name}/{seed}/{i}")
    armed = draw.randrange(len(scenario.operations))
    donates = draw.random() < 0.7
    operations = draw.random() < 0.5
    points = [(place, kind, most) for place, kind, most, modes in POINTS if mode in modes]
    place, kind, most = draw.choice(points)
    if scenario.name == "fragile" and mode != "eager" and draw.random() < 0.5:
        failure = Failure(RuntimeError, plans=frozenset((injections.FRAGILE.plan,)))
        return Trial(mode, scenario, seed, armed, injections.callback, failure, donates)
    if operations:
        statements = [found for found in in_thread(_plans, scenario, seed)[armed:] if found]
        if statements:
            several = [draw.choice(draw.choice((statements[0], draw.choice(statements)))) for _ in range(2)]
            failure = Failure(draw.choice((RuntimeError, MemoryError)),
                              plans=frozenset(several[: draw.choice((1, 1, 2))]))
            return Trial(mode, scenario, seed, armed, injections.operations, failure, donates)
    donates = donates and place is not injections.late
    return Trial(mode, scenario, seed, armed, place, Failure(kind, most), donates)


def _plans(scenario: Scenario, seed: int) -> list[list[Plan]]:
    """The operations of each statement."""
    with executing("eager"):
        torch.manual_seed(seed)
        course = Course(scenario.build(seed))
        with course.watching():
            for o in scenario.operations:
                course.run(o)
    return course.plans


def run(mode: str, seed: int, count: int, results: Results, names: list[str] | None = None) -> None:
    """``count`` trials of each scenario, those that are not tried yet."""
    for name in names or NAMES:
        if mode == "eager" and name == "backward_with_hook":
            continue  # what was found before the hook is stored before it is called, as in PyTorch
        for i in range(count):
            text = f"{mode}/{name}/{seed}/{i}"
            if text in results.done:
                continue
            t = drawn(mode, KNOWN[name], seed, i)
            verdict = judge(t)
            results.add(id=text, kind=verdict.kind, detail=f"{t}: {verdict.detail}", group=f"{mode} {name}",
                        where=f"{t.place.__name__} {t.failure.kind.__name__} x{t.failure.most}")
            if verdict.kind == "hung":
                return


def one(text: str) -> str:
    """Try once more what the report names."""
    mode, name, seed, i = text.split("/")
    t = drawn(mode, KNOWN[name], int(seed), int(i))
    return f"{text}: {t}\n  {judge(t)}"


def main(options: argparse.Namespace) -> int:
    """The command line; returns the exit status: 1 if anything was wrong."""

    def attempt(mode: str, results: Results) -> None:
        run(mode, options.seed, options.count or COUNT, results, options.scenario)

    return command_line.performed("failures", options, MODES, attempt, one=lambda: one(options.point))
