"""Running the program of a seed on both libraries, and shrinking what it finds."""

import dataclasses
import functools
import re

import torch

import jaxflow
from compat_tests.exact import Twins

from . import machine, programs, whole
from .compare import KINDS, first_difference
from .generate import generate
from .interpret import run
from .minimise import minimise
from .program import text

#: Mode to how it is run and how its programs are drawn.
MODES = dict.fromkeys(machine.MODES, (machine.first_wrong, programs.drawn))
MODES |= dict.fromkeys(whole.MODES, (whole.first_wrong, programs.drawn_pure))
MODES["views"] = (lambda program, rounds, _, kinds: machine.first_wrong(program, rounds, "eager", kinds),
                  lambda seed: (generate(seed), [{}]))

#: Of twenty seeds that are run in mixed modes, one each; the others are interpreted. Two go through XLA.
_OF_TWENTY = ("compiled", "compile", "vmap", "eager", "at_once", "views")


def mode_of(seed, mode):
    """The mode that a seed is run in."""
    if mode != "mixed":
        return mode
    return _OF_TWENTY[seed % 20] if seed % 20 < len(_OF_TWENTY) else "interpreter"


@dataclasses.dataclass(frozen=True)
class Found:
    """What a seed's program does wrong in a mode: the shortest program found, its sizes, the difference."""

    seed: int
    mode: str
    program: list
    rounds: list
    wrong: object

    @property
    def cause(self):
        """What is different after a call of what, in a word each: findings of one cause mostly share it."""
        called = re.findall(r"\.?(\w+)\(", self.wrong.difference.code.partition("make.new")[0])
        return f"{self.wrong.kind} {called[-1] if called else self.wrong.difference.code[:40]}"

    def __str__(self):
        return (f"--- seed {self.seed}, {self.mode} ---\n{self.wrong}\n\nsizes {self.rounds}\n"
                f"{text(self.program, sizes=self.rounds[0])}\n")


def found_by(seed, mode="interpreter", *, shrink=True, kinds=KINDS):
    """Run the program of ``seed`` over all operators; what is wrong, as `Found`, or None."""
    mode = mode_of(seed, mode)
    first_wrong, draw = MODES[mode]
    _hear_of_faults()
    program, rounds = draw(seed)
    wrong = first_wrong(program, rounds, mode, kinds)
    if wrong is None:
        return None
    if shrink:
        program, rounds, wrong = _shrunk(program, rounds, wrong,
                                         lambda *smaller: first_wrong(*smaller, mode, kinds))
    return Found(seed, mode, program, rounds, wrong)


def _hear_of_faults():
    """Let faults of this thread's programs be raised that no number was asked for after.

    A program that raises on torch is not looked at further, and may leave one, which the first number of the
    next program would raise: NOTE [Faults found late].
    """
    for _ in range(8):
        try:
            jaxflow.ones(1).add(1).tolist()
            return
        except Exception as error:
            if not any("when a number was asked for" in note for note in getattr(error, "__notes__", ())):
                raise


def _shrunk(program, rounds, wrong, check):
    """Fewer lines and rounds that show a difference of the same kind after the same line."""
    def same(part, sizes):
        found = check(part, sizes)
        return (found is not None and found.kind == wrong.kind
                and found.difference.code == wrong.difference.code)

    for fewer in ([wrong.sizes], [rounds[0], wrong.sizes], rounds[: wrong.round + 1]):
        if len(fewer) < len(rounds) and same(program, fewer):
            rounds = fewer
            break
    program = minimise(program, lambda part: same(part, rounds))
    return program, rounds, check(program, rounds) or wrong  # what comes and goes was seen all the same


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
        return run(program, torch, twins.value)
