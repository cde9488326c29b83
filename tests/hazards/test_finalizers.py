"""A sample of the harness `finalizers`; `make hazards` runs all of it."""

import pytest

from . import finalizers, garbage
from .bench import MODES, half
from .report import Results

COUNT = {"deferred": 8, "compiled": 2, "eager": 8, "compile": 4}
PROGRAMS = {"deferred": 20, "compiled": 5, "eager": 20}


@pytest.mark.parametrize("mode", MODES)
def test_a_sample_of_all_points(mode):
    """Of half of the scenarios; the other half is met by the interrupts."""
    results = Results()
    finalizers.run(mode, 0, COUNT[mode], results, half(mode, odd=True))
    assert results.counts()["unreached"] < len(results.rows) / 2
    assert not results.wrong, results.text("python -m tests.hazards finalizers --point")


@pytest.mark.parametrize("mode", garbage.MODES)
def test_a_sample_of_random_programs(mode):
    results = Results()
    garbage.run(mode, 0, PROGRAMS[mode], results)
    assert not results.wrong, results.text("python -m tests.hazards finalizers --point")
