"""NOTE [Counted where it is closed]: an operation that was given other inputs than it takes is no result."""

import jax
import pytest

import jaxflow as torch
from jaxflow._core import flags
from jaxflow._core.state import state
from jaxflow._core.value import Value
from jaxflow._dispatch.dispatch import plan_of
from jaxflow._exec import counted, program_cache
from jaxflow._exec.counted import Miscounted
from jaxflow._exec.run import run
from jaxflow._views.values import value_of

INPUTS = {
    "one too many": lambda x: [x, 1, 2],
    "one too few": lambda x: [x],
    "an array too many": lambda x: [x, x, 1],
    "no array": lambda x: [1],
}
FLOAT = {"of another kind": lambda x: [x, 1.0]}


def row():
    """A vector, and the plan of reading one element, which takes a number."""
    x = torch.arange(5) * 10
    return value_of(x), plan_of(x[2]).read


@pytest.fixture(params=["interpreted", "compiled"])
def deferred_way(request, monkeypatch, deferred):
    monkeypatch.setattr(flags, "INTERPRET", request.param == "interpreted")


def others():
    """Operations that take numbers."""
    return (torch.arange(4) + 7).tolist(), (torch.ones(2) * 0.5 + 2.0).tolist()


@pytest.mark.recovers
@pytest.mark.parametrize("name", {**INPUTS, **FLOAT})
@pytest.mark.parametrize("known", [False, True])
def test_a_program_that_holds_other_inputs_than_it_takes_has_no_results(name, known, deferred_way):
    program_cache.forget()
    if known:  # the same trace, recorded as it should be
        kept = torch.zeros(2)
        torch.flush()
        x, plan = row()
        run(plan, [x, 1])
        after = kept + 3
        torch.flush()
        assert after.tolist() == [3, 3]
    kept = torch.zeros(2)
    torch.flush()
    x, plan = row()
    (wrong,) = run(plan, {**INPUTS, **FLOAT}[name](x))
    after = kept + 3
    kept += 4
    with pytest.raises(Miscounted, match="internal error of jaxflow: <plan read_select"):
        torch.flush()
    for lost in (wrong.get, after.tolist, lambda: after * 2):
        with pytest.raises(RuntimeError, match="internal error of jaxflow"):
            lost()
    assert kept.tolist() == [0, 0]
    assert kept._version == 0
    assert others() == ([7, 8, 9, 10], [2.5, 2.5])


@pytest.mark.recovers
def test_too_many_here_and_too_few_there_are_not_right_in_all(deferred):
    x, plan = row()
    program_cache.forget()
    run(plan, [x, 1, 2])
    (last,) = run(plan, [x])
    with pytest.raises(RuntimeError, match="internal error of jaxflow"):
        last.get()
    assert others() == ([7, 8, 9, 10], [2.5, 2.5])


@pytest.mark.parametrize("name", [name for name in INPUTS if name != "no array"])
@pytest.mark.parametrize("way", ["eager", "at once", "traced", "captured"])
def test_an_operation_that_is_run_by_itself_is_given_what_it_takes(name, way):
    x, plan = row()
    x.get()
    inputs = INPUTS[name]
    with torch.execution("eager" if way == "eager" else "deferred"):
        torch.flush()
        if way == "at once":
            state.streak = 1 << 20
        with pytest.raises(Miscounted, match="internal error of jaxflow: <plan read_select"):
            if way == "traced":
                jax.jit(lambda a: run(plan, inputs(Value(x.aval, a)))[0].get())(x.get())
            elif way == "captured":
                torch.compile(lambda t: run(plan, inputs(value_of(t))))(torch.arange(5))
            else:
                run(plan, inputs(x))
        torch.flush()
        assert others() == ([7, 8, 9, 10], [2.5, 2.5])


def test_traces_are_counted_when_they_are_new(deferred, monkeypatch):
    counts = []
    real = counted.taken
    monkeypatch.setattr(counted, "taken", lambda plans: counts.append(1) or real(plans))
    program_cache.forget()
    for k in range(5):
        assert (torch.arange(3) * k + 1.5).tolist() == [1.5, k + 1.5, 2 * k + 1.5]
    assert len(counts) == 1
