"""What the tests of `jaxflow.compile` share."""

import _thread

import pytest

from jaxflow._exec import background


@pytest.fixture(autouse=True)
def threads_of_the_test(monkeypatch):
    """Threads that were there before the test (of a runner of tests, say) are no company."""
    before = _thread._count() - (background._worker is not None)
    monkeypatch.setattr(background, "_started", lambda: _thread._count() - before)
