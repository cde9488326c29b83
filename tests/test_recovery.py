"""NOTE [What a failed run leaves]: what others write meanwhile, and how a lost tensor is written over."""

import threading

import pytest

import jaxflow as torch
from jaxflow._dispatch import recovery, writes
from tests.hazards.injections import Failure, operations

pytestmark = pytest.mark.usefixtures("deferred")


def failing(name):
    """Inside, no operation whose name begins so can be run."""
    class Named:
        def __contains__(self, plan):
            return plan.name.lstrip("_").startswith(name)

    failure = Failure(RuntimeError)
    failure.plans = Named()
    return operations(failure)


def in_between(monkeypatch, act):
    """Another thread acts when it is known what has to go back, and before that is stored."""
    real, acted = recovery._undone, []

    def undone(*args):
        rows = real(*args)
        if not acted:
            acted.append(True)
            thread = threading.Thread(target=act)
            thread.start()
            thread.join(60)
            assert not thread.is_alive()
        return rows

    monkeypatch.setattr(recovery, "_undone", undone)
    return acted


def test_a_tensor_that_another_thread_wrote_meanwhile_keeps_what_it_wrote(monkeypatch):
    p, q, other = torch.ones(3), torch.ones(3), torch.full((3,), 7.0)
    other.tolist()
    p.exp_()
    q.exp_()
    acted = in_between(monkeypatch, lambda: writes.write(p, other))
    with failing("exp"), pytest.raises(RuntimeError):
        torch.flush()
    assert acted
    assert (p.tolist(), p._version) == ([7] * 3, 2)
    assert (q.tolist(), q._version) == ([1] * 3, 0)


def test_a_gradient_that_another_thread_set_meanwhile_stays(monkeypatch):
    p, q = (torch.ones(3, requires_grad=True) for _ in range(2))
    grad = torch.full((3,), 7.0)
    (p.exp() + q.exp()).sum().backward()
    acted = in_between(monkeypatch, lambda: setattr(p, "grad", grad))
    with failing("exp"), pytest.raises(RuntimeError):
        torch.flush()
    assert acted
    assert p.grad is grad
    assert q.grad is None


def test_a_pending_result_that_another_thread_stored_meanwhile_goes_back_too(monkeypatch):
    p, q = torch.ones(3), torch.full((3,), 5.0)
    q.tolist()
    p.exp_()
    acted = in_between(monkeypatch, lambda: writes.write(q, p))
    with failing("exp"), pytest.raises(RuntimeError):
        torch.flush()
    assert acted
    assert (p.tolist(), q.tolist()) == ([1] * 3, [5] * 3)


def test_a_finalizer_that_needs_a_number_meanwhile(monkeypatch):
    p, seen = torch.ones(3), []
    real = recovery._undone

    def undone(*args):
        rows = real(*args)
        if not seen:
            seen.append(None)
            try:
                p.tolist()
            except RuntimeError:
                p.fill_(9)
        return rows

    p.exp_()
    monkeypatch.setattr(recovery, "_undone", undone)
    with failing("exp"), pytest.raises(RuntimeError, match="RESOURCE_EXHAUSTED"):
        torch.flush()
    assert seen
    assert p.tolist() == [9] * 3
