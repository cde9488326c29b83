"""Running one seed on both libraries, and shrinking what it finds."""

import dataclasses
import functools

import torch

from compat_tests.exact import Twins

from .compare import first_difference
from .generate import generate
from .interpret import run
from .minimise import minimise
from .program import text


@dataclasses.dataclass(frozen=True)
class Finding:
    """A disagreement: its seed, the shortest program that shows it, and what differs there."""

    seed: int
    executor: str
    program: list
    difference: object

    def __str__(self):
        return (
            f"--- seed {self.seed}, {self.executor} ---\n{self.difference}\n\n"
            f"{text(self.program)}\n"
        )


def check(seed, library, executor, *, shrink=True):
    """Run the program of ``seed`` on torch and on ``library``; returns a `Finding` or None."""
    program = generate(seed)
    difference = compare(program, library, executor)
    if difference is None:
        return None
    if shrink:

        def same_kind(shorter):
            found = compare(shorter, library, executor)
            return found is not None and found.kind == difference.kind

        program = minimise(program, same_kind)
        difference = compare(program, library, executor)
    return Finding(seed, executor, program, difference)


def compare(program, library, executor):
    """The first difference between the logs of the two libraries."""
    expected = run(program, torch)
    with library.execution(executor):
        actual = run(program, library)
    return first_difference(expected, actual, functools.cache(lambda: _exact(program)))


def _exact(program):
    """torch's log with its numbers in double precision."""
    with Twins() as twins:
        return run(program, torch, lambda t: twins.value(t).numpy())
