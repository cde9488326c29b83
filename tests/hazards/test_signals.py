"""A sample of the harness `signals`; `make hazards` runs all of it."""

import pytest

from .report import Results
from .signals import MODES, run

COUNT = {"deferred": 20, "compiled": 20, "eager": 20, "compile": 12}


@pytest.mark.parametrize("mode", MODES)
def test_a_sample_of_all_times(mode):
    results = Results()
    run(mode, 0, COUNT[mode], results)
    assert not results.wrong, results.text("python -m tests.hazards signals")
