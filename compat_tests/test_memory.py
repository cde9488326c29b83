"""Tensors and NumPy arrays that are one memory: the same numbers as with torch, whoever writes when.

`python -m compat_tests.memory` runs such programs by the thousand, and shows the shortest that differs.
"""

import numpy as np
import pytest
import torch

import jaxflow
from compat_tests.memory import saved
from compat_tests.memory.generate import generate
from compat_tests.memory.run import MODES, first_difference

PROGRAMS, WIDER, BLOCK = 320, 80, 20


@pytest.mark.parametrize(("first", "wider"), [
    *((first, False) for first in range(0, PROGRAMS, BLOCK)),
    *((first, True) for first in range(0, WIDER, BLOCK)),
])
def test_random_programs(first, wider):
    seeds = range(first, first + BLOCK)
    found = {seed: first_difference(generate(seed, wider), MODES[seed % len(MODES)]) for seed in seeds}
    assert not any(found.values()), {seed: wrong for seed, wrong in found.items() if wrong}


@pytest.mark.parametrize("when", saved.WHEN)
@pytest.mark.parametrize("row", saved.ROWS, ids=[row.loss for row in saved.ROWS])
def test_gradients_of_what_was_saved(row, when, executor):
    expected = saved.gradients(torch, row, when)
    if row.refused and when != "copy":
        with pytest.raises(RuntimeError, match="the memory of a tensor that .* saved"):
            saved.gradients(jaxflow, row, when)
        return
    found = saved.gradients(jaxflow, row, when)
    assert len(found) == len(expected)
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), 1e-6)
