"""What the tests of `jaxflow.compile` share."""

import _thread
import threading

import pytest

from jaxflow._exec import background


@pytest.fixture(autouse=True)
def threads_of_the_test(monkeypatch):
    """Threads that were there before the test (of a runner of tests, say) are no company.

    One that another test has left may end meanwhile: a thread of the test's own does not stand in for it.
    """
    worker, earlier = background._worker, threading.enumerate()
    before = _thread._count() - (worker is not None and worker.is_alive())

    def started():
        return max(_thread._count() - before + sum(not thread.is_alive() for thread in earlier), 0)

    monkeypatch.setattr(background, "_started", started)
