"""NOTE [What is kept]: what was not used goes, what is used stays, and whatever is held works as before."""

import gc
import threading
import weakref

import numpy as np
import pytest

import jaxflow as torch
from jaxflow._core import budget
from jaxflow._core import dtype as dtypes
from jaxflow._core.aval import _latest, alive, aval_of
from jaxflow._core.device import CPU
from jaxflow._exec import program_cache
from jaxflow._plans.op import OPS
from jaxflow._shapes import plan_cache, shape_families
from jaxflow._views.chain import root_of


@pytest.fixture(autouse=True)
def alone():
    """Begins with nothing kept; whatever the test keeps is gone afterwards."""
    plan_cache.forget()
    shape_families.forget()
    program_cache.forget()
    yield
    plan_cache.forget()


def plan_of(x, op="mul"):
    """The plan of ``x * x``, without using it."""
    key = ((), None, x._aval, x._aval)
    return OPS[op].plans.get(key) or OPS[op].older_plans.get(key)


def test_what_was_not_used_goes_and_what_was_used_stays(executor):
    x, y = torch.ones(3), torch.ones(4)
    x * x, y * y
    used, other = plan_of(x), plan_of(y)
    for _ in range(3):
        budget.rotate()
        x * x
    assert plan_of(x) is used
    assert other is not None and plan_of(y) is None


def test_new_plans_spend_the_budget(deferred, monkeypatch):
    monkeypatch.setattr(budget, "PLANS", 40)
    w = torch.ones(1, requires_grad=True)
    for n in range(1, 200):
        (torch.ones(n) * w).sum().backward()
    assert budget.report()["plans"]["count"] <= 100
    w.grad = None
    assert len(OPS["mul"].plans) + len(OPS["mul"].older_plans) < 30


def test_compiled_programs_spend_the_budget(deferred, compiled, monkeypatch):
    monkeypatch.setattr(budget, "BYTES", 10 * budget.PROGRAM)
    for n in range(1, 40):
        (torch.ones(n) * 2 + 1).tolist()
    assert len(program_cache.executables()) <= 12


def test_programs_go_with_their_plans(deferred, compiled):
    x, y = torch.ones(3), torch.ones(4)
    (x * x).tolist(), (y * y).tolist()
    budget.rotate()
    (x * x).tolist()
    budget.rotate()
    named = {plan for trace in program_cache.traces() for plan in trace}
    assert plan_of(x) in named
    assert plan_of(y) is None and not any(p.kinds[0] is y._aval for p in named if not isinstance(p, int))


def test_a_trace_that_is_met_again_is_not_compiled_again(deferred, compiled):
    x = torch.ones(5)
    x.tolist()
    (x * x).tolist()
    before = torch.explain()["compilations"]
    for _ in range(4):
        budget.rotate()
        (x * x).tolist()
    assert torch.explain()["compilations"] == before


def test_what_is_held_works_after_everything_is_let_go(executor):
    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    y = (x * x).clone()
    part = y[0]
    part *= 2
    total = y.sum() + part.exp().sum()
    for _ in range(3):
        budget.rotate()
    assert plan_of(x) is None
    gc.collect()
    total.backward(retain_graph=True)
    first = x.grad.clone()
    row, other = x.detach().numpy()  # y is 2 * row**2 and other**2
    np.testing.assert_allclose(first.numpy(), [4 * row * (1 + np.exp(2 * row**2)), 2 * other], rtol=1e-6)
    x.grad = None
    for _ in range(3):
        budget.rotate()
    total.backward()
    assert x.grad.tolist() == first.tolist()


def test_views_are_let_go_one_generation_later(executor):
    x = torch.arange(10.0)
    x[2:5].tolist(), x[3:7].tolist()
    seen = root_of(x._aval, None).child("slice", (0, 2, 5, 1))
    for _ in range(3):
        budget.rotate()
        x[2:5].tolist()
    root = root_of(x._aval, None)
    assert root.child("slice", (0, 2, 5, 1)) is seen
    assert ("slice", (0, 3, 7, 1)) not in {**root.older, **root.children}
    held = x[1:4]
    for _ in range(3):
        budget.rotate()
    assert not x._aval.roots
    held += 1
    assert x.tolist() == [0, 2, 3, 4, 4, 5, 6, 7, 8, 9] and held.tolist() == [2, 3, 4]


def test_views_that_differ_in_where_they_start_go_on_sharing_a_plan(executor):
    x = torch.arange(10.0)
    a = x[2:5]
    a.tolist()
    for start in range(3, 7):
        budget.rotate()
        x[2:5].tolist()
        assert x[start : start + 3]._view.plan.read is a._view.plan.read


@pytest.mark.parametrize("every", [1, 2, 7])
def test_training_is_the_same_however_little_is_kept(deferred, monkeypatch, every):
    def trained():
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.05)
        for i in range(12):
            x = torch.linspace(-1, 1, 3 * (2 + i % 5)).reshape(-1, 3)
            x[1:].mul_(1.5)
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(x), x.sum(1, keepdim=True)).backward()
            optimizer.step()
        return torch.cat([p.detach().reshape(-1) for p in model.parameters()])

    expected = trained()
    missed = []
    real = budget.settle

    def settle():
        missed.append(1)
        if len(missed) % every == 0:
            budget.rotate()
        real()

    monkeypatch.setattr(budget, "settle", settle)
    plan_cache.forget()
    assert torch.allclose(trained(), expected, rtol=1e-5, atol=1e-6)
    assert len(missed) > 100


def test_a_compiled_function_stays_compiled(deferred):
    model = torch.nn.Linear(3, 3)
    x = torch.ones(2, 3)
    run = torch.compile(lambda x, part: model(x) + part)
    part = x[:1]
    run(x, part)
    first = run(x, part).tolist()
    before = torch.explain()["compilations"]
    for _ in range(4):
        budget.rotate()
        assert run(x, part).tolist() == first
    assert torch.explain()["compilations"] == before


def test_forward_mode_finds_plans_that_were_let_go(executor, monkeypatch):
    monkeypatch.setattr(budget, "PLANS", 1)
    x = torch.tensor([1.0, 2.0])
    out, tangent = torch.func.jvp(lambda x: (x * x).sin(), (x,), (torch.ones(2),))
    assert torch.allclose(tangent, 2 * x * (x * x).cos())


def test_another_default_dtype_has_plans_of_its_own(executor):
    x = torch.ones(3, dtype=torch.int32)
    for _ in range(3):
        assert (x / 2).dtype is torch.float32
        budget.rotate()
        torch.set_default_dtype(torch.float64)
        try:
            assert (x / 2).dtype is torch.float64
            budget.rotate()
            assert (x / 2).dtype is torch.float64
        finally:
            torch.set_default_dtype(torch.float32)


# ------------------------------------------------------------------------------------------- avals


def test_an_aval_is_one_while_anything_refers_to_it():
    one = aval_of((70001,), dtypes.float32, CPU)
    assert aval_of((70001,), dtypes.float32, CPU) is one
    assert one in alive()
    gone = weakref.ref(one)
    del one
    _latest.clear()
    gc.collect()
    assert gone() is None
    assert not any(aval.shape == (70001,) for aval in alive())


def test_avals_of_tensors_stay_when_plans_go(executor):
    x, y = torch.ones(70002), torch.ones(70002)
    for _ in range(3):
        budget.rotate()
    gc.collect()
    assert torch.ones(70002)._aval is x._aval is y._aval


def test_threads_get_the_same_aval():
    n, rounds = 4, 300
    start, found = threading.Barrier(n), [[] for _ in range(n)]

    def ask(mine):
        for i in range(rounds):
            start.wait()
            mine.append(aval_of((80000 + i,), dtypes.float32, CPU))

    workers = [threading.Thread(target=ask, args=(mine,)) for mine in found]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for same in zip(*found, strict=True):
        assert len(set(map(id, same))) == 1


def test_an_aval_made_while_another_of_its_triple_dies_is_kept():
    """What is called when an aval dies may ask for its triple: the entry of the new one is not taken away."""
    made = []
    for i in range(200):
        one = aval_of((90000 + i,), dtypes.float32, CPU)
        weakref.finalize(one, lambda i=i: made.append(aval_of((90000 + i,), dtypes.float32, CPU)))
        del one
        _latest.clear()
    gc.collect()
    assert len(made) == 200
    for i, aval in enumerate(made):
        assert aval_of((90000 + i,), dtypes.float32, CPU) is aval


# ------------------------------------------------------------------------------------------ report


def test_explain_shows_what_is_kept(executor):
    x = torch.ones(3)
    ((x * x)[1:] + 1).tolist()
    before = torch.explain()["caches"]
    assert {"plans", "avals", "programs", "plans of views", "families of shapes"} <= set(before)
    assert before["plans"]["count"] >= 1 and before["plans of views"]["bytes"] > 0
    for _ in range(2):
        budget.rotate()
    report = torch.explain()
    assert report["caches"]["plans"]["count"] == 0
    assert report["caches"]["plans"]["evicted"] > before["plans"]["evicted"]
    assert "plans of views" in str(report)
