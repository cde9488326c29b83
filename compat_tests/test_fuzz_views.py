"""Random programs of views, in-place writes and gradients answer alike on torch and on jaxflow.

``JAXFLOW_FUZZ`` says how many programs each executor runs (default 300). A failure prints the seed
and the shortest program that shows it; ``python -m compat_tests.fuzz`` runs them by the thousand.
"""

import dataclasses
import os

import pytest
import torch

import jaxflow
from compat_tests.fuzz.compare import first_difference
from compat_tests.fuzz.generate import generate
from compat_tests.fuzz.interpret import UNNAMED, run
from compat_tests.fuzz.minimise import minimise
from compat_tests.fuzz.program import Instruction
from compat_tests.fuzz.runner import check

PROGRAMS = int(os.environ.get("JAXFLOW_FUZZ", "300"))
BLOCK = 25


@pytest.mark.parametrize("first", range(0, PROGRAMS, BLOCK))
def test_random_programs(first, executor):
    seeds = range(first, min(first + BLOCK, PROGRAMS))
    findings = [check(seed, jaxflow, executor) for seed in seeds]
    found = [str(f) for f in findings if f]
    assert not found, "\n\n".join(found)


def test_programs_are_reproducible_and_varied():
    assert generate(3) == generate(3)
    logs = [run(generate(seed), torch) for seed in range(150)]
    codes = " ".join(entry.code for log in logs for entry in log)
    for word in ("as_strided", "unfold", "backward", "autograd.grad", "no_grad", "] =", "del "):
        assert word in codes, word
    assert any(entry.error for log in logs for entry in log)


def test_differences_are_found_and_shrunk():
    program = [
        Instruction("t0 = T.ones(2)", ("t0",)),
        Instruction("t1 = T.ones(3)", ("t1",)),
        Instruction("t0.add_(1)"),
        Instruction("pass", looks=True),
    ]
    wrong = [Instruction("t0.add_(2)") if i.code == "t0.add_(1)" else i for i in program]

    def fails(part):
        other = [wrong[program.index(i)] for i in part]
        found = first_difference(run(part, torch), run(other, torch))
        return found is not None and found.kind == "path"

    assert minimise(program, fails) == [program[0], program[2]]
    a, b = run(program, torch), run(program, torch)
    assert first_difference(a, b) is None
    b[-1].facts["t0"].values[0] += 1
    assert first_difference(a, b).kind == "values"


def test_a_base_that_was_named_is_compared():
    program = [Instruction("t0 = T.ones(2)", ("t0",)), Instruction("t1 = t0[:1]", ("t1",)),
               Instruction("pass", looks=True)]
    a, b = run(program, torch), run(program, torch)
    assert first_difference(a, b, kinds=("base",)) is None
    b[-1].facts["t1"] = dataclasses.replace(b[-1].facts["t1"], base=None)
    assert first_difference(a, b, kinds=("base",)).kind == "base"
    a[-1].facts["t1"] = dataclasses.replace(a[-1].facts["t1"], base=UNNAMED)
    b[-1].facts["t1"] = dataclasses.replace(b[-1].facts["t1"], base="t0")
    assert first_difference(a, b, kinds=("base",)).kind == "base"  # t0 is no view of another
