"""A sample of the harness `interrupts`; `make hazards` runs all of it."""

import pytest

from .bench import MODES, half
from .interrupts import run
from .report import Results

COUNT = {"deferred": 12, "compiled": 2, "eager": 15, "compile": 6}


@pytest.mark.parametrize("mode", MODES)
def test_a_sample_of_all_points(mode):
    """Of half of the scenarios; the other half is met by the finalizers."""
    results = Results()
    run(mode, 0, COUNT[mode], results, half(mode, odd=False))
    assert results.counts()["unreached"] < len(results.rows) / 2
    assert not results.wrong, results.text("python -m tests.hazards interrupts --point")
