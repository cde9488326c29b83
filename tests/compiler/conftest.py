"""What the tests of `jaxflow.compile` share."""

import _thread

import pytest

from jaxflow._exec import background


@pytest.fixture(autouse=True)
def threads_of_the_test(monkeypatch):
    """Threads that were there before the test (of a runner of tests, say) are no company.

    One that another test has left may end meanwhile, so that there are fewer than before.
    """
    worker = background._worker
    before = _thread._count() - (worker is not None and worker.is_alive())
    monkeypatch.setattr(background, "_started", lambda: max(_thread._count() - before, 0))
