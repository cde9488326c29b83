"""A sample of the harness `stateful`, and the programs that it found wrong; `make hazards` runs more."""

import pytest

from .report import Results
from .stateful import Source, run, tried
from .surroundings import in_thread

COUNT = {"deferred": 30, "compiled": 5}

# What was wrong once: statements, and what happens before each call.
FOUND = (
    # the version of a new tensor that was written to through a view of it
    (("self.a = (self.a * 0.5 + y).detach()", "self.a.t().copy_(y.detach().t())"), ((),) * 4),
    # attributes of tensors
    (("y = y + getattr(self.a, 'note', 0.25)",), ((), (), (), ("p.a.note = 0.75",), ())),
    # a tracked number is no float for `type`
    (("if type(n) is float:\n    y = y + n",), ((), (), ("n = 2.0",), ("n = 0.5",), ())),
)


@pytest.mark.parametrize("mode", COUNT)
def test_some_programs(mode):
    results = Results()
    run(mode, 0, COUNT[mode], results)
    assert not results.wrong, results.text("python -m tests.hazards stateful --point")


@pytest.mark.parametrize(("body", "between"), FOUND)
def test_programs_that_were_wrong(body, between):
    assert not in_thread(tried, Source(body, between), "deferred")[0]
