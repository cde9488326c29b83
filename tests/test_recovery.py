"""NOTE [What a failed run leaves]: what others write meanwhile, and how a lost tensor is written over."""

import re
import sys
import threading

import pytest

import jaxflow as torch
from jaxflow._core import flags
from jaxflow._core.state import state
from jaxflow._exec import recovery
from jaxflow._exec.numpy import tiering
from jaxflow._exec.program import Program
from jaxflow._shapes import plan_cache
from jaxflow._writes import writes
from jaxflow.nn import functional as F
from tests.hazards.injections import Failure, operations

pytestmark = [pytest.mark.usefixtures("deferred"), pytest.mark.recovers]


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


@pytest.mark.parametrize("step", ["answers", "results"])
def test_a_finalizer_that_delivers_while_results_are_delivered(step, monkeypatch):
    state.streak = -tiering.AWAY  # its operations are recorded
    real, came = Program._deliver, []
    x = torch.arange(3.0)
    kept, dropped = x + 1, [x * 2]
    plain: list = []

    def come():
        if not came:
            came.append(True)
            setattr(program, step, plain)
            real(program)
            dropped.clear()  # one of them is gone when the others are gathered

    class Looked(list):
        def __iter__(self):
            come()
            return iter(plain)

        def __getitem__(self, slot):
            come()
            return plain[slot]

    def deliver(self):
        if self is program and not came:
            plain.extend(getattr(program, step))
            setattr(program, step, Looked(plain))
        real(self)

    program = kept._storage.value.producer[0].program
    monkeypatch.setattr(Program, "_deliver", deliver)
    torch.flush()
    assert came and kept.tolist() == [1, 2, 3]


def lost(*shape):
    """A tensor that could not be computed."""
    state.streak = -tiering.AWAY  # its operations are recorded
    x = torch.ones(*shape).exp()
    with failing("exp"), pytest.raises(RuntimeError):
        torch.flush()
    return x


SOURCE = torch.arange(12.0).reshape(3, 4)
OVER = {
    "copy_": lambda x: x.copy_(SOURCE),
    "copy_ of another dtype": lambda x: x.copy_(SOURCE.long()),
    "copy_ of a row": lambda x: x.copy_(SOURCE[1]),
    "fill_": lambda x: x.fill_(2),
    "fill_ with a tensor": lambda x: x.fill_(SOURCE[0, 1]),
    "zero_": lambda x: x.zero_(),
    "x[:]": lambda x: x.__setitem__(slice(None), SOURCE),
    "x[...]": lambda x: x.__setitem__(..., 3.0),
    "out=": lambda x: torch.add(SOURCE, 1, out=x),
    "detach().copy_": lambda x: x.detach().copy_(SOURCE),
    "data.copy_": lambda x: x.data.copy_(SOURCE),
    "_foreach_copy_": lambda x: torch._foreach_copy_([x], [SOURCE]),
    "_foreach_zero_": lambda x: torch._foreach_zero_([x]),
    "normal_": lambda x: x.normal_(),
    "uniform_": lambda x: x.uniform_(1, 2),
    "exponential_": lambda x: x.exponential_(),
    "bernoulli_": lambda x: x.bernoulli_(0.5),
    "random_": lambda x: x.random_(7),
    "xavier_uniform_": torch.nn.init.xavier_uniform_,
    "trunc_normal_": torch.nn.init.trunc_normal_,
    "orthogonal_": torch.nn.init.orthogonal_,
    "eye_": torch.nn.init.eye_,
}


@pytest.mark.parametrize("then", ["deferred", "eager"])
@pytest.mark.parametrize("name", OVER)
def test_a_lost_tensor_can_be_written_over(name, then):
    x, sound = lost(3, 4), torch.ones(3, 4)
    for t in (x, sound):
        torch.manual_seed(3)
        with torch.execution(then):
            OVER[name](t)
            torch.flush()
    assert x.tolist() == sound.tolist()
    assert x._version >= 1 or "data" in name


@pytest.mark.parametrize("then", ["deferred", "eager"])
@pytest.mark.parametrize("act", [
    lambda x: x.mul_(0), lambda x: x.add_(1), lambda x: x[0].fill_(1), lambda x: x[1:].copy_(SOURCE[1:]),
    lambda x: x.masked_fill_(SOURCE > 3, 0), lambda x: x.clamp_(0, 1), lambda x: x + 1,
])
def test_what_reads_a_lost_tensor_says_so(act, then):
    x = lost(3, 4)
    with torch.execution(then), pytest.raises(RuntimeError, match=r"could not be computed: exp\(float32"):
        act(x)
    with pytest.raises(RuntimeError, match="could not be computed"):
        x.tolist()


def test_a_model_that_lost_its_parameters_is_loaded_again():
    model = torch.nn.Linear(4, 3)
    saved = {name: t.clone() for name, t in model.state_dict().items()}
    with torch.no_grad():
        model.weight.set_(lost(3, 4))
        model.bias.set_(lost(3))
    with pytest.raises(RuntimeError, match="could not be computed"):
        model(torch.ones(4)).tolist()
    model.load_state_dict(saved)
    assert [p.tolist() for p in model.parameters()] == [t.tolist() for t in saved.values()]
    model(torch.ones(4)).sum().backward()
    assert model.bias.grad.tolist() == [1] * 3


def test_what_is_written_over_in_the_program_that_fails_is_there():
    state.streak = -tiering.AWAY
    x, y = torch.ones(3), torch.ones(3)
    x.exp_()
    x.fill_(5)
    y.exp_()
    with failing("exp"), pytest.raises(RuntimeError):
        torch.flush()
    assert (x.tolist(), x._version) == ([5] * 3, 2)
    assert (y.tolist(), y._version) == ([1] * 3, 0)


def test_nobody_hears_of_a_failure_that_only_concerned_what_was_written_over():
    state.streak = -tiering.AWAY
    x = torch.ones(3)
    x.exp_()
    x.copy_(SOURCE[0, :3])
    with failing("exp"):
        torch.flush()
    assert x.tolist() == [0, 1, 2]


def test_a_wrong_index_does_not_spoil_what_was_written_over():
    x, y = torch.zeros(3), torch.zeros(3)
    at = torch.tensor([3]) + 0
    x[at] = 1.0
    y[at] = 1.0
    x.fill_(2)
    torch.flush()
    for _ in range(2):  # whatever is read first tells of each wrong index
        with pytest.raises(IndexError):
            x.tolist()
    assert x.tolist() == [2] * 3
    with pytest.raises(IndexError):
        y.tolist()
    y.copy_(x)
    assert F.relu(y).tolist() == [2] * 3


def here(lines_before=0):
    """The line that calls, or one before it, as an error names it."""
    frame = sys._getframe(1)
    return f"{frame.f_code.co_filename}:{frame.f_lineno - lines_before}"


def test_the_error_names_the_line_of_an_operation_whose_sizes_are_new():
    plan_cache.forget()
    x = torch.ones(3, 11, 7)
    y = x.sin()
    y = y.exp()
    line = here(1)
    with failing("exp"), pytest.raises(RuntimeError) as caught:
        y.tolist()
    note, = caught.value.__notes__
    assert f"exp(float32[3,11,7]), first met with these sizes at {line}, in a program of " in note
    with pytest.raises(RuntimeError, match=f"first met with these sizes at {re.escape(line)} failed"):
        y.tolist()


def test_the_error_names_the_line_of_each_call_under_debug(monkeypatch):
    monkeypatch.setattr(flags, "DEBUG", True)
    for _ in range(2):
        y = torch.ones(3, 11, 7).exp()
    y = torch.ones(3, 11, 7).exp()
    line = here(1)
    with failing("exp"), pytest.raises(RuntimeError) as caught:
        y.tolist()
    note, = caught.value.__notes__
    assert f"exp(float32[3,11,7]) at {line}, in a program of " in note
