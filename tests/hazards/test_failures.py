"""A sample of the harness `failures`, and that it sees what is wrong; `make hazards` runs all of it."""

import contextlib

import pytest

import jaxflow as torch
from jaxflow._exec import recovery
from jaxflow._exec.program import Program

from . import failures
from .failed_runs import GIVEN
from .failures import MODES, POINTS, run
from .injections import Failure, Stop, after_donation, delivery, late, start
from .report import Results
from .surroundings import executing, in_thread

# A scenario creates graphs of gradients by backward(), which PyTorch warns of.
pytestmark = pytest.mark.filterwarnings("ignore:Using backward")

COUNT = {"deferred": 5, "compiled": 1, "eager": 3}


@pytest.mark.parametrize("mode", MODES)
def test_a_sample(mode):
    results = Results()
    run(mode, 0, COUNT[mode], results)
    assert results.counts()["unreached"] < len(results.rows) / 3
    assert not results.wrong, results.text("python -m tests.hazards failures --point")


def kinds(*names, seed=0, count=6, mode="deferred"):
    results = Results()
    run(mode, seed, count, results, [*names])
    return results.counts()


def test_it_sees_what_is_not_undone(monkeypatch):
    monkeypatch.setattr(recovery, "_undone", lambda *_: [])
    found = kinds("sgd", "in_place", count=10)
    assert found["unreadable"] + found["state"] >= 5, found


def test_it_sees_versions_that_are_not_undone(monkeypatch):
    real = recovery._undone
    monkeypatch.setattr(recovery, "_undone",
                        lambda *args: [row for row in real(*args) if row[0] is not list.__setitem__])
    assert kinds("in_place", count=20)["state"]


def test_it_sees_a_failure_that_is_passed_over(monkeypatch):
    def silent(self, reason, real=Program.close):
        try:
            real(self, reason)
        except Exception:
            self.finished = True

    monkeypatch.setattr(Program, "close", silent)
    found = kinds("sgd", "training_loop", count=10)
    assert found["silent"], found


def test_it_sees_results_that_an_interrupt_loses(monkeypatch):
    def losing(self, real=Program._deliver):
        try:
            real(self)
        except BaseException:
            self.finished = True
            raise

    monkeypatch.setattr(failures, "POINTS", [point for point in POINTS if point[0] is delivery])
    monkeypatch.setattr(Program, "_deliver", losing)
    # Where nothing is given away, what was lost is computed again.
    found = kinds("adam", count=30, mode="compiled")
    assert found["unreadable"], found


def test_it_sees_results_of_a_run_that_failed_late(monkeypatch):
    def passed_over(self):
        with contextlib.suppress(RuntimeError):
            self.unsettled[0].look(self.answers[1])
        self.unsettled = None

    monkeypatch.setattr(failures, "POINTS", [point for point in POINTS if point[0] is late])
    monkeypatch.setattr(Program, "_settle", passed_over)
    found = kinds("sgd", "in_place", count=10)
    assert found["state"] + found["later"], found


@pytest.mark.parametrize("place", [start, after_donation])
def test_what_donated_arrays_were_needed_for(place):
    """Before the call has started nothing is lost; afterwards what needs a donated array says so."""
    def trial():
        with executing("compiled"):
            model = torch.nn.Linear(64, 64)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
            x, untouched = torch.ones(8, 64), torch.ones(64, 64)

            def step():
                optimizer.zero_grad()
                (model(x) ** 2).mean().backward()
                optimizer.step()

            for _ in range(6):
                step()
            torch.flush()
            failure, raised = Failure(RuntimeError, 1), None
            with place(failure):
                try:
                    step()
                except RuntimeError as error:
                    raised = error
            assert failure.raised
            tensors = [*model.parameters(), *(s["momentum_buffer"] for s in optimizer.state.values())]
            return raised, [_read(t) for t in tensors], _read(untouched)

    raised, texts, other = in_thread(trial)
    assert other == ""
    if place is start:
        assert raised is None and texts == [""] * 4
    else:
        assert "RESOURCE_EXHAUSTED" in str(raised) and GIVEN in "".join(raised.__notes__)
        assert all("could not be computed: " in text and GIVEN in text for text in texts), texts


def _read(tensor):
    try:
        tensor.tolist()
    except RuntimeError as error:
        return str(error)
    return ""


def test_every_point_is_met():
    assert {place.__name__ for place, *_ in POINTS} == {
        "layout", "compilation", "copies", "start", "delivery", "end_of_delivery", "whole", "copy_to_host",
        "after_donation", "late",
    }
    assert {kind for _, kind, *_ in POINTS} == {RuntimeError, Stop}
