"""A sample of the harness `threads`; `make hazards` runs all of it."""

import pytest

from .report import Results
from .threads import MODES, run


@pytest.mark.parametrize("mode", MODES)
def test_each_trial_once(mode):
    results = Results()
    run(mode, 0, 1, results)
    assert not results.wrong, results.text("python -m tests.hazards threads --point")
