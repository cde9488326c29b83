"""Random graphs, walked from random roots to random inputs, answer alike on torch and on jaxflow.

``JAXFLOW_FUZZ_BACKWARD`` says how many programs each executor runs (default 40).
"""

import os
import warnings

import pytest
import torch

import jaxflow
from compat_tests.fuzz.backward import STEPS, alike, run

PROGRAMS = int(os.environ.get("JAXFLOW_FUZZ_BACKWARD", "40"))
BLOCK = 10


@pytest.mark.usefixtures("executor")
@pytest.mark.parametrize("first", range(0, PROGRAMS, BLOCK))
def test_random_graphs(first):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of create_graph, and of the .grad of non-leaves
        for seed in range(first, min(first + BLOCK, PROGRAMS)):
            expected, found = run(seed, torch), run(seed, jaxflow)
            assert alike(expected, found), f"seed {seed}:\n{expected}\n{found}"


def test_programs_are_reproducible_and_varied():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert alike(run(3, torch), run(3, torch)) and not alike(run(3, torch), run(4, torch))
        text = " ".join(str(run(seed, torch)) for seed in range(120))
    for word in ("True, [[", "False, [[", "None", "RuntimeError", "does not require grad", "second time"):
        assert word in text, word
    assert len(STEPS) == 15
