"""The same compiled programs on PyTorch and on jaxflow: numbers, identities, errors."""

import inspect

import numpy as np
import pytest
import torch

import jaxflow
from compat_tests.both import check_both

BACKEND = {"backend": "eager"}  # PyTorch's capture and guards, its kernels


def weights(shape, seed):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def model_of(lib):
    nn = lib.nn
    model = nn.Sequential(nn.BatchNorm1d(3), nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    with lib.no_grad():
        for i, p in enumerate(model.parameters()):
            p.copy_(lib.from_numpy(weights(tuple(p.shape), i)))
    return model


def training_step(lib):
    """A step with a schedule, clipping and an average of weights."""
    model = model_of(lib)
    average = [p.detach().clone() for p in model.parameters()]
    opt = lib.optim.AdamW(model.parameters(), lr=0.05)
    schedule = lib.optim.lr_scheduler.ExponentialLR(opt, 0.9)

    @lib.compile(**BACKEND)
    def loss_of(x):
        return model(x).pow(2).sum()

    def step(x):
        opt.zero_grad()
        loss = loss_of(x)
        loss.backward()
        lib.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        schedule.step()
        with lib.no_grad():
            for a, p in zip(average, model.parameters()):
                a.lerp_(p, 0.1)
        return loss.detach()

    if lib is jaxflow:
        step = lib.compile(step)
    out = [step(lib.from_numpy(weights((5, 3), 10 + i))) for i in range(6)]
    notes = [schedule.get_last_lr(), schedule.last_epoch]
    return [*out, *model.parameters(), *model.buffers(), *average], notes


def aliases(lib):
    """Writes through views and aliases of arguments and captured tensors."""
    buffer = lib.zeros(4)
    tail = buffer[2:]

    @lib.compile(**BACKEND)
    def f(x, y):
        buffer.add_(x.sum())
        tail.mul_(2)
        y.add_(1)
        return x * y, x.view(-1), buffer

    out, notes = [], []
    x, y = lib.ones(2, 2), lib.ones(2, 2)
    for pair in ((x, y), (x, y), (x, x), (y, x), (x, x)):
        product, view, same = f(*pair)
        view.add_(1)
        out += [product.clone(), view.clone(), x.clone(), y.clone(), buffer.clone(), tail.clone()]
        notes += [same is buffer, view._base is pair[0]]
    return out, notes


def python_values(lib):
    """Numbers and modes that the function depends on change between calls."""
    options = {"scale": 2.0, "steps": [1, 2]}
    model = model_of(lib)
    compiled = lib.compile(model, **BACKEND)

    @lib.compile(**BACKEND, recompile_limit=20)
    def f(x, k=1, flip=False):
        for s in options["steps"]:
            x = x * options["scale"] + s
        return -x * k if flip else x * k

    out, x = [], lib.ones(2)
    for change in range(6):
        out += [f(x), f(x, 2), f(x, k=0.5, flip=True)]
        options["scale"] += change
        if change == 2:
            options["steps"].append(7)
        with lib.no_grad():
            model.train(change % 2 == 0)
            out.append(compiled(lib.from_numpy(weights((4, 3), change))))
    return out, list(compiled.state_dict())


def effects(lib):
    """Python that has to run: a counter, a list, a branch on a tensor."""
    seen, count = [], 0

    @lib.compile(**BACKEND)
    def f(x):
        nonlocal count
        count += 1
        seen.append(x * count)
        return x + 1 if x.sum() > 0 else x - 1

    out = [f(lib.ones(2) * (-1) ** i) for i in range(6)]
    return [*out, *seen], [count, len(seen)]


@pytest.mark.parametrize("program", [training_step, aliases, python_values, effects])
def test_the_same_as_pytorch(program):
    torch._dynamo.reset()
    check_both(program)


def test_signatures_and_refusals():
    ours, theirs = inspect.signature(jaxflow.compile).parameters, inspect.signature(torch.compile).parameters
    assert [(p.name, p.kind, p.default) for p in ours.values()] == [
        (p.name, p.kind, p.default) for p in theirs.values()
    ]
    bad = (
        lambda lib: lib.compile(None)(None), lambda lib: lib.compile(abs, mode="nope"),
        lambda lib: lib.compile(abs, mode="default", options={}), lambda lib: lib.compile(5, backend="eager"),
    )
    for call in bad:
        with pytest.raises((RuntimeError, AssertionError)) as theirs:
            call(torch)
        with pytest.raises(type(theirs.value)) as ours:
            call(jaxflow)
        assert str(ours.value) == str(theirs.value)
    assert jaxflow.compiler.list_backends() == torch.compiler.list_backends()
