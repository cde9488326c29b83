"""`tests.hazards.modes`, case by case."""

import sys

import pytest

from . import modes

pytestmark = pytest.mark.skipif(
    sys.version_info[:2] != (3, 11), reason="the exempted opcodes are those of Python 3.11"
)


@pytest.mark.parametrize("case", modes.CASES)
def test_modes_are_restored_wherever_an_exception_comes(case):
    tried, used, failures = modes.check(case)
    assert not failures
    assert tried > 30
    assert set(used) <= set(modes.EXEMPT)


def test_a_mode_that_is_not_restored_is_found(monkeypatch):
    class Careless:
        def __enter__(self):
            modes.state.grad = False
            modes.state.pinned = True

        def __exit__(self, *exc):
            modes.state.grad = True
            modes.state.pinned = False

    monkeypatch.setitem(modes.CASES, "with careless", modes.in_context(Careless))
    # Followed as the package's own code is.
    monkeypatch.setattr(modes, "_PACKAGE", __file__)
    assert modes.check("with careless")[2]
