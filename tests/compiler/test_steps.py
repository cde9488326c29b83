"""Whole training steps compiled: the same numbers as without, and no Python from the third call on."""

import functools
import gc

import numpy as np
import pytest

import jaxflow as torch
from jaxflow import nn
from jaxflow._exec import program_cache
from jaxflow._exec.deferred_checks import UncheckedRun
from jaxflow.compiler._first_call import FirstCall

LAYERS = {
    "plain": lambda: [nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3)],
    "dropout": lambda: [nn.Linear(6, 8), nn.Dropout(0.5), nn.Linear(8, 3)],
    "batch_norm": lambda: [nn.BatchNorm1d(6), nn.Linear(6, 3)],
}
OPTIMIZERS = {
    "momentum": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=0.01),
    "adam": lambda p: torch.optim.Adam(p, lr=0.01),
    "adamw": lambda p: torch.optim.AdamW(p, lr=0.01),
}


@pytest.fixture
def double_precision():
    """What is made without a dtype is float64.

    What two programs round differently, an optimizer that divides by the size of a gradient enlarges without
    bound where that gradient is nearly nothing: in float32 the processor decides how far apart two right
    results are. In float64 they agree in more digits than float32 has, and a wrong one is as far off.
    """
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def trained(layers, optimizer, compiled, steps=8):
    """Losses, parameters, gradients and versions after some steps; the learning rate changes on the way."""
    torch.manual_seed(1)
    model = nn.Sequential(*LAYERS[layers]())
    opt = OPTIMIZERS[optimizer](model.parameters())

    def step(x, y):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        opt.step()
        return loss

    run = torch.compile(step, fullgraph=True) if compiled else step
    losses = []
    for i in range(steps):
        if i == 5:
            opt.param_groups[0]["lr"] *= 0.1
        losses.append(run(torch.randn(5, 6), torch.randint(0, 3, (5,))))
    state = [*losses, *model.parameters(), *model.buffers(), *(p.grad for p in model.parameters())]
    state += [s for p in model.parameters() for s in opt.state[p].values()]
    numbers = [t.detach().numpy() for t in state]
    return numbers, [p._version for p in model.parameters()], torch.get_rng_state().tolist(), run


@pytest.mark.parametrize(("layers", "optimizer"), [
    ("plain", "momentum"), ("dropout", "adam"), ("batch_norm", "adamw"),
])
def test_the_numbers_are_those_of_the_plain_function(layers, optimizer, executor, double_precision):
    expected, versions, random_state, _ = trained(layers, optimizer, False)
    found, found_versions, found_state, run = trained(layers, optimizer, True)
    assert len(found) == len(expected)
    for a, b in zip(found, expected):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)
    assert (found_versions, found_state) == (versions, random_state)
    assert run.explain()["hits"] == 6  # the first call makes the optimizer's state, the second is captured
    assert run.explain()["specialisations"] == 1


def outcomes(compiler, bad):
    """What losses and weight say when they are read after all steps, of which some had a wrong class."""
    torch.manual_seed(0)
    layer = nn.Linear(3, 4)
    optimizer = torch.optim.SGD(layer.parameters(), 0.1)
    running = torch.zeros(())

    @compiler
    def step(x, y):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(layer(x), y + 1)  # not known where it is recorded
        loss.backward()
        optimizer.step()
        running.add_(loss.detach())
        return loss.detach()

    def read(x):
        try:
            return x.sum().item()
        except IndexError as error:
            return str(error)

    found = []
    for i in range(40):
        found.append(step(torch.randn(2, 3), torch.tensor([0, 9 if i in bad else 1])))
        if i == 22:
            found.append(layer.weight.detach().clone())
    return [read(x) for x in (layer.weight, *found, running)], step  # the first tells of all


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("bad", [(), (25,), (3, 30)])
def test_a_wrong_value_is_told_of_when_numbers_are_read(bad, deferred):
    expected, _ = outcomes(lambda f: f, bad)
    found, step = outcomes(torch.compile, bad)
    for a, b in zip(found, expected, strict=True):
        assert a == pytest.approx(b, rel=1e-5) if isinstance(b, float) else a == b
    assert step.explain()["hits"] >= 38 and any(isinstance(b, str) for b in expected) == bool(bad)


@pytest.mark.usefixtures("compiled")
def test_a_module_whose_backward_comes_after_the_call_is_one_program_a_step(deferred, monkeypatch):
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
    model.compile(fullgraph=True)
    optimizer = torch.optim.Adam(model.parameters())
    captured = []
    monkeypatch.setattr(FirstCall, "run", functools.partialmethod(
        lambda self, before: captured.append(self) or before(self), FirstCall.run
    ))
    compilations = []
    for _ in range(7):
        optimizer.zero_grad()
        model(torch.randn(2, 3)).sum().backward()
        optimizer.step()
        compilations.append(len(program_cache.executables()))
    assert len(captured) == 1 and len(set(compilations[3:])) == 1
    assert model._compiled_call_impl.explain()["hits"] == 6


def test_many_steps_whose_checks_nobody_has_looked_at():
    """The checks of class indices hang on each other from step to step; asking the last asks all of them."""
    layer = torch.nn.Linear(4, 3)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.01)
    x, y = torch.ones(2, 4), torch.tensor([0, 2])

    @torch.compile
    def step():
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(layer(x), y)
        loss.backward()
        optimizer.step()
        return loss

    first = step().item()
    for _ in range(600):
        last = step()
    assert last.item() < first


def unchecked_runs():
    gc.collect()
    return sum(type(x) is UncheckedRun for x in gc.get_objects())


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("wrong", [False, True], ids=["right", "wrong"])
@pytest.mark.parametrize("asked", ["loss", "weight"])
def test_checks_nobody_asks_about_do_not_pile_up(asked, wrong, deferred):
    """Whichever number was read before: only the loss, or a weight, which alone is checked then."""
    before = unchecked_runs()  # which others hold
    layer = torch.nn.Linear(4, 3)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.01)

    @torch.compile
    def step(x, y):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(layer(x), y)
        loss.backward()
        optimizer.step()
        return loss

    def run(steps, label=2):
        for _ in range(steps):
            loss = step(torch.ones(2, 4), torch.tensor([0, label]))
        return loss

    found = run(5)
    (found if asked == "loss" else layer.weight.sum()).item()
    if wrong:
        run(1, label=7)
    run(150)
    assert unchecked_runs() - before < 50
    if not wrong:
        assert np.isfinite(run(1).item())
        return
    with pytest.raises(IndexError, match="Target 7 is out of bounds"):
        layer.weight.sum().item()
