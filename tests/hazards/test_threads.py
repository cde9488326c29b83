"""A sample of the harness `threads`; `make hazards` runs all of it."""

import pytest

from .report import Results
from .threads import MODES, run


# Not `compile`: a capture changes what other threads see, which fails now and then (docs/reliability.md).
@pytest.mark.parametrize("mode", [mode for mode in MODES if mode != "compile"])
def test_each_trial_once(mode):
    results = Results()
    run(mode, 0, 1, results)
    assert not results.wrong, results.text("python -m tests.hazards threads --point")
