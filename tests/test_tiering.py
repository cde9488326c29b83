"""Programs that are interpreted, and when they stop being: NOTE [When a program is compiled]."""

import threading
import warnings

import numpy as np
import pytest
from running import in_threads

import jaxflow as torch
from jaxflow._core import flags
from jaxflow._exec import background, executable, explain, program_cache
from jaxflow._exec.numpy import cost_model as pricing
from jaxflow._exec.numpy import tiering
from jaxflow._plans.op import OPS

F = torch.nn.functional


@pytest.fixture(autouse=True)
def _fresh(deferred):
    program_cache.forget()


class Counts:
    """What ran since this was made: ``(interpreted, compiled runs, compilations)``."""

    KEYS = ("interpreted", "runs", "compilations")

    def __init__(self):
        self.before = self._now()

    def _now(self):
        torch.flush()
        report = torch.explain()
        return [report[key] for key in self.KEYS]

    def __call__(self):
        return tuple(now - before for now, before in zip(self._now(), self.before))


@pytest.fixture
def costs(monkeypatch):
    """Set what the policy thinks a run and a compilation cost, in seconds."""

    def set_(interpret_cost, compile_cost):
        monkeypatch.setattr(tiering, "seconds_to_interpret", lambda trace: interpret_cost)
        monkeypatch.setattr(tiering, "seconds_to_compile", lambda trace: compile_cost)

    set_(0.001, 0.1)
    return set_


def other_programs(n):
    """``n`` programs unlike each other and any other here."""
    for i in range(n):
        (torch.ones(3 + i, 7).cumsum(0) - 0.5).tolist()


def test_a_program_met_once_is_not_compiled(costs):
    counts = Counts()
    for n in range(1, 6):
        assert (torch.arange(n) * 2 + 1).tolist() == [2 * i + 1 for i in range(n)]
    assert counts() == (5, 0, 0)


def test_how_to_interpret_a_trace_is_kept_from_its_second_run_on(costs):
    kept = []
    for _ in range(3):
        (torch.ones(3) * 2).tolist()
        kept.append(sum(len(entry.schedules) for entry in program_cache._cold.values()))
    assert kept == [0, 1, 1]


def test_a_loop_is_compiled_after_a_few_runs(costs):
    counts = Counts()
    x = torch.tensor([1.0, 1.0, 1.0])
    for _ in range(tiering.LOOPS + 4):
        assert (x * 2 + 1).tolist() == [3.0, 3.0, 3.0]
    assert counts() == (tiering.LOOPS - 1, 5, 1)


def test_a_loop_too_small_to_pay_for_it_is_not_compiled(costs):
    costs(2 * tiering.CALL, 2.5 * tiering.CALL * tiering.HORIZON)
    counts = Counts()
    x = torch.tensor([1.0, 1.0, 1.0])
    for _ in range(tiering.LOOPS + 4):
        (x * 2 + 1).tolist()
    assert counts() == (tiering.LOOPS + 4, 0, 0)


def test_a_step_with_a_call_of_a_compiled_function_is_compiled_at_its_second_time(costs):
    costs(tiering.CALL, 0.4)  # which pays for itself too late for any other
    weight = torch.ones(3, requires_grad=True)
    step = torch.compile(lambda x: (weight * x).exp().sum())
    counts = Counts()
    for _ in range(6):
        torch.autograd.grad(step(torch.ones(3)), weight)[0].tolist()
    # The argument of the first call, that call and its backward are a program each.
    assert step.explain()["hits"] == 5 and counts() == (4, 4, 1)


def test_what_is_pinned_stays_interpreted(costs):
    counts = Counts()
    x = torch.tensor([1.0, 1.0, 1.0])
    with tiering.pinned():
        for _ in range(tiering.LOOPS + 4):
            (x * 2 + 1).tolist()
    assert counts() == (tiering.LOOPS + 4, 0, 0)
    (x * 2 + 1).tolist()
    assert counts() == (tiering.LOOPS + 4, 1, 1)


def test_a_loop_of_several_programs_is_compiled(costs):
    counts = Counts()
    x = torch.tensor([1.0, 1.0, 1.0])
    for _ in range(tiering.LOOPS + 1):
        for k in range(1, tiering.NEAR):
            (x.repeat(k) * 2).tolist()
    n = tiering.NEAR - 1
    assert counts() == ((tiering.LOOPS - 1) * n, 2 * n, n)


def test_what_comes_again_later_is_compiled_once_that_pays(costs):
    costs(0.04 + tiering.CALL, 0.1)
    x = torch.tensor([1.0, 1.0, 1.0])
    counts = Counts()
    for _ in range(5):
        other_programs(tiering.NEAR + 1)
        (x * 2).tolist()
    # After three runs interpreting has cost 0.12 seconds; the other programs pay as well by then.
    assert counts() == (3 * (tiering.NEAR + 2), 2 * (tiering.NEAR + 2), tiering.NEAR + 2)
    assert any(tiering.PAID in p["why"] for p in torch.explain()["programs"])


def test_what_is_dear_to_interpret_is_compiled_at_once(costs):
    costs(0.2, 0.1)
    counts = Counts()
    (torch.ones(3) * 2).tolist()
    assert counts() == (0, 1, 1)
    assert any(tiering.FIRST in p["why"] for p in torch.explain()["programs"])


def test_the_estimates_tell_large_work_from_small():
    counts = Counts()
    (torch.ones(3) * 2).tolist()
    assert counts() == (1, 0, 0)
    torch.ones(4000, 4000).lgamma()[0, :2].tolist()
    assert counts()[2] == 1


def test_nothing_is_interpreted_where_that_is_switched_off(costs, monkeypatch):
    monkeypatch.setattr(flags, "INTERPRET", False)
    counts = Counts()
    (torch.ones(3) * 2).tolist()
    assert counts() == (0, 1, 1)


def test_deterministic_programs_are_all_compiled(costs):
    torch.use_deterministic_algorithms(True)
    try:
        counts = Counts()
        (torch.ones(3) * 2).tolist()
        assert counts() == (0, 1, 1)
    finally:
        torch.use_deterministic_algorithms(False)


@pytest.mark.parametrize(("interpret_cost", "more"), [
    (0.1, 5), (0.02, tiering.AHEAD - 1), (1e-3, 0.55 / tiering.TURN),
])
def test_the_interpreter_goes_on_while_the_program_is_compiled(costs, monkeypatch, interpret_cost, more):
    costs(interpret_cost, 0.55)
    go, Real = threading.Event(), executable.Executable
    threads = []

    def slow(*args):
        threads.append(threading.current_thread().name)
        assert go.wait(60)
        return Real(*args)

    monkeypatch.setattr("jaxflow._exec.program.Executable", slow)
    x = torch.tensor([1.0, 1.0, 1.0])
    counts = Counts()
    before = tiering.LOOPS + int(more)  # the last of LOOPS starts it; then come those that the costs suggest
    for _ in range(before):
        assert (x * 2).tolist() == [2.0, 2.0, 2.0]
    assert counts() == (before, 0, 0)
    go.set()
    for _ in range(3):
        assert (x * 2).tolist() == [2.0, 2.0, 2.0]
    assert counts() == (before, 3, 1)
    assert threads == ["jaxflow-compile"]
    assert any("in the background" in p["why"] for p in torch.explain()["programs"])


@pytest.mark.parametrize(("compile_cost", "runs"), [(0.9, tiering.LOOPS), (2.0, 51), (8.0, 201)])
def test_a_loop_has_to_cost_a_part_of_a_long_compilation_before_it_is_begun(
        costs, monkeypatch, compile_cost, runs):
    costs(0.01 + tiering.CALL, compile_cost)
    begun = []

    def submitted(call):
        begun.append(x.numel())
        return background.Job(call)

    monkeypatch.setattr(tiering, "submit", submitted)
    x = torch.tensor([1.0, 1.0, 1.0])
    for _ in range(runs - 1):
        assert (x * 2).tolist() == [2.0, 2.0, 2.0]
    assert begun == []
    assert (x * 2).tolist() == [2.0, 2.0, 2.0]
    assert begun == [3]


def test_a_failed_background_compilation_loses_nothing(costs, monkeypatch):
    costs(0.5, 0.6)

    def fails(*args):
        raise MemoryError("no room")

    monkeypatch.setattr("jaxflow._exec.program.Executable", fails)
    x = torch.tensor([1.0, 1.0, 1.0])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(tiering.LOOPS + 6):
            assert (x * 2).tolist() == [2.0, 2.0, 2.0]
    assert [str(w.message) for w in caught] == [
        "compiling a program in the background failed (MemoryError: no room); it stays interpreted"
    ]


def test_jobs_raise_what_they_did_and_run_in_order():
    done = []
    jobs = [background.submit(lambda i=i: done.append(i) or i) for i in range(5)]
    bad = background.submit(lambda: 1 // 0)
    assert [job.result() for job in jobs] == done == list(range(5))
    with pytest.raises(ZeroDivisionError):
        bad.result()


def test_two_threads_meet_the_same_program(costs):
    costs(0.01, 0.6)

    def work(k):
        with torch.execution("deferred"):
            x = torch.full((4,), float(k))
            for i in range(30):
                assert (x * 2 + i).tolist() == [2.0 * k + i] * 4

    in_threads(work, 4)


# ----- what the interpreter yields ----------------------------------------------------------------


def test_results_are_values_like_any_other(costs):
    x = torch.arange(6.0).reshape(2, 3)
    y = x * 2
    read = y.numpy()
    y += 1
    assert read.tolist() == [[1, 3, 5], [7, 9, 11]] and y[1].tolist() == [7, 9, 11]
    assert np.asarray(y.jax()).tolist() == [[1, 3, 5], [7, 9, 11]]
    assert np.from_dlpack(y.detach())[0, 0] == 1


def test_no_result_lies_in_the_memory_of_a_leaf(costs, monkeypatch):
    """A leaf's memory may be given to a later program's result; a view of it would change with that."""
    x = torch.ones(4, 5)
    monkeypatch.setattr(flags, "INTERPRET", False)
    x = x + 1
    torch.flush()  # in memory of XLA's
    monkeypatch.setattr(flags, "INTERPRET", True)
    same = [x.clone(), x + 0, x.reshape(20).clone(), x.T.contiguous()]
    torch.flush()
    monkeypatch.setattr(flags, "INTERPRET", False)
    x += 40
    torch.flush()
    assert all(set(t.flatten().tolist()) == {2.0} for t in same)


def test_numbers_of_every_kind_are_leaves(costs):
    x = torch.tensor([True, False])
    counts = Counts()
    for k in (1, 2, 3):
        assert (torch.tensor([1.0, 2.0]) * k).tolist() == [k, 2.0 * k]
        assert torch.where(x, k * 0.5, -1.0).tolist() == [k * 0.5, -1.0]
        assert (torch.tensor([1j]) * (k + 1j)).tolist() == [(k + 1j) * 1j]
        assert (x | bool(k - 2)).tolist() == [True, k != 2]
    assert counts()[0] > 0


def test_training_goes_on_across_the_change(costs, monkeypatch):
    """Parameters and states made by the interpreter are taken over by the compiled program.

    In double precision: Adam divides by the size of gradients and enlarges rounding without bound.
    """

    def losses(interpreted):
        monkeypatch.setattr(flags, "INTERPRET", interpreted)
        program_cache.forget()
        torch.manual_seed(0)
        net = torch.nn.Sequential(torch.nn.Linear(5, 7), torch.nn.GELU(), torch.nn.Linear(7, 3)).double()
        opt = torch.optim.Adam(net.parameters(), lr=0.05)
        x, y = torch.randn(8, 5).double(), torch.arange(8) % 3
        found = []
        for _ in range(8):
            loss = F.cross_entropy(F.dropout(net(x), 0.1), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            found.append(loss.item())
        return found

    counts = Counts()
    mixed = losses(True)
    assert counts()[0] and counts()[1]
    np.testing.assert_allclose(mixed, losses(False), rtol=1e-9)


@pytest.mark.recovers
def test_what_the_interpreter_fails_at_is_computed_by_xla(costs, monkeypatch):
    def breaks(*_):
        raise FloatingPointError("broken")

    breaks.bare, breaks.fallbacks = breaks, ()
    for module in ("numpy.interpret", "recovery"):
        monkeypatch.setattr(f"jaxflow._exec.{module}.host_of", lambda plan: breaks)
    before = torch.explain()["recoveries"]
    x = torch.ones(3) * 2
    assert x.tolist() == [2.0] * 3
    assert torch.explain()["recoveries"] == before + 1
    assert "ran operation by operation" in str(torch.explain())


def test_explain_says_where_programs_were_interpreted(costs, monkeypatch):
    # Of a process that has met few lines: only so many are counted one by one.
    monkeypatch.setattr(explain, "_figures", explain._Figures())
    for n in range(2, 5):
        torch.arange(n).sum().item()
    cold = torch.explain()["cold"]
    (line,) = cold
    assert cold[line] == (3, 3) and "test_tiering.py" in line
    assert "interpreted without compiling" in str(torch.explain())


def test_explain_names_what_the_interpreter_leaves_to_xla(costs):
    q, r = torch.linalg.qr(torch.tensor([[3.0, 1.0], [4.0, 2.0]]))
    torch.flush()
    report = torch.explain()
    assert any("qr" in name for name in report["without_rule"])
    assert "has no rule and ran through XLA" in str(report)
    np.testing.assert_allclose((q @ r).numpy(), [[3, 1], [4, 2]], rtol=1e-5)


def test_every_word_that_marks_products_names_an_operation():
    words = {word for name in OPS for word in name.split("_")}
    assert words >= pricing.PRODUCTS
