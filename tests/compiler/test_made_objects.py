"""Objects that each call makes anew and keeps: functions, copies of modules, objects with attributes."""

import copy
import functools
import gc
import weakref
from types import FunctionType, SimpleNamespace

import pytest
from running import check_same, numbers

import jaxflow as torch
from jaxflow import nn

DOUBLE = torch.float64
CASES = []


def case(hits):
    """A step of (kept, x), of which ``hits`` of nine calls run no Python."""
    return lambda step: CASES.append(pytest.param(step, hits, id=step.__name__)) or step


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3))
        self.scale, self.names = 0.5, {"a"}

    def forward(self, x):
        return torch.tanh(self.inner(x)) * self.scale


class Box:
    def __init__(self, value, note):
        self.value, self.note = value, note

    def scaled(self, by):
        return self.value * by


def kept():
    torch.manual_seed(0)
    net = Net().double()
    return SimpleNamespace(net=net, target=copy.deepcopy(net), fn=None, box=None, pair=None, count=0,
                           a=torch.zeros(3, dtype=DOUBLE), info=SimpleNamespace(best=None, at=1))


@case(7)
def a_function_without_variables(s, x):
    y = x if s.fn is None else s.fn(x)
    s.fn = lambda t: t * 0.5
    return y + 1


@case(7)
def a_function_with_a_tensor(s, x):
    y = x if s.fn is None else s.fn(x)
    latest = x.sum(0)

    def added(t, by=latest * 2, *, more=0.5):
        return t + latest * by * more

    s.fn = added
    return y


@case(7)
def a_function_with_what_was_there(s, x):
    net = s.net
    s.fn = lambda t: net(t) * s.a.sum()
    return s.fn(x)


@case(7)
def a_partial(s, x):
    y = x if s.fn is None else s.fn(x)
    s.fn = functools.partial(torch.clamp, max=0.5)
    return y * 2


@case(6)
def one_public_function_or_another(s, x):
    s.fn = torch.sin if s.fn is torch.tanh else torch.tanh
    return s.fn(x)


@case(7)
def functions_that_share_a_variable(s, x):
    if s.pair is not None:
        x = x + s.pair[1]()
    total = x.sum(0)

    def add(t):
        nonlocal total
        total = total + t

    s.pair = add, lambda: total
    return x * 1


@case(8)
def a_copy_of_a_module(s, x):
    s.target = copy.deepcopy(s.net)
    with torch.no_grad():
        for p in s.net.parameters():
            p.mul_(0.75)
    return s.target(x).detach()


@case(7)
def a_copy_that_was_read(s, x):
    s.net.eval()
    y = s.target(x).detach()
    s.target = copy.deepcopy(s.net)
    with torch.no_grad():
        for p in s.net.parameters():
            p.mul_(0.75)
    return y


@case(7)
def an_object(s, x):
    y = x if s.box is None else s.box.scaled(x) + len(s.box.note)
    s.box = Box(x.sum(0) * 0.5, "a note")
    return y


@case(7)
def a_namespace_in_a_namespace(s, x):
    y = x if s.info.best is None else x + s.info.best.inner.value
    s.info = SimpleNamespace(best=SimpleNamespace(inner=Box(x.mean(0), ["b"])), at=s.info.at)
    return y * s.info.at


@case(7)
def an_object_as_the_result(s, x):
    return Box(x * 2, {"n": s.a}), lambda t: t + x.sum()


def run(step, compiler):
    s = kept()
    call = compiler(lambda x: step(s, x))
    found, shown = [], []
    for i in range(9):
        result = call(torch.linspace(-1, 1, 6, dtype=DOUBLE).reshape(2, 3) * (i + 1))
        if isinstance(result, tuple):
            box, fn = result
            result = [box.value, box.note["n"], fn(torch.ones(2, dtype=DOUBLE))]
        found.append(result)
        shown.append([type(s.fn), type(s.box), type(s.target), s.target.training, s.target.names,
                      [p.requires_grad for p in s.target.parameters()]])
        if s.pair is not None:  # which changes what the other one of them shows
            s.pair[0](1.0)
        if i == 5:  # what stands there between calls is used, and is what the next call finds
            if isinstance(s.fn, (FunctionType, functools.partial)):
                found.append(s.fn(torch.ones(2, 3, dtype=DOUBLE)))
            found += [p * 1 for p in s.target.parameters()]
            with torch.no_grad():
                for p in s.target.parameters():
                    p.add_(0.25)
    return found, shown, call


@pytest.mark.parametrize(("step", "hits"), CASES)
def test_objects_made_anew(step, hits, executor):
    expected, like, _ = run(step, lambda f: f)
    found, shown, call = run(step, torch.compile)
    check_same(numbers(found), numbers(expected))
    assert shown == like
    report = call.explain()
    assert report["hits"] == hits, report


def test_each_call_makes_another(deferred):
    s, seen = kept(), []

    @torch.compile
    def step(x):
        by = x * 2
        s.fn, s.box, s.target = (lambda t: t * by), Box(by, "n"), copy.deepcopy(s.net)
        return x + 1

    for _ in range(6):
        step(torch.ones(3, dtype=DOUBLE))
        seen += [s.fn, s.box, s.target, *s.target.parameters()]
    assert step.explain()["hits"] >= 4
    assert len(set(map(id, seen))) == len(seen)
    assert seen[0].__qualname__.endswith("step.<locals>.<lambda>") and seen[-1].grad_fn is None
    assert not set(map(id, s.net.parameters())) & set(map(id, s.target.parameters()))
    s.target.inner[0].weight.data.zero_()
    assert s.net.inner[0].weight.abs().sum() > 0


def test_what_is_replaced_is_let_go(deferred):
    s = kept()

    @torch.compile
    def step(x):
        s.target = copy.deepcopy(s.net)
        return x + 1

    seen = [weakref.ref(s.target)]
    for _ in range(5):
        step(torch.ones(3, dtype=DOUBLE))
        seen.append(weakref.ref(s.target))
    gc.collect()
    assert [old() for old in seen[:-1]] == [None] * 5 and step.explain()["hits"] == 4


def test_another_object_between_calls(deferred):
    s = kept()

    @torch.compile
    def step(x):
        y = x if s.fn is None else s.fn(x)
        s.fn = lambda t: t * 0.5
        return y + 1

    found = []
    for i in range(9):
        if i == 4:
            s.fn = lambda t: t * 3
        elif i == 6:
            s.fn = torch.neg
        elif i == 7:
            s.fn.__defaults__ = (None,)
        found.append(step(torch.ones(1)).item())
    assert found == [2.0, 1.5, 1.5, 1.5, 4.0, 1.5, 0.0, 1.5, 1.5]


def test_a_copy_of_what_stays_is_not_the_thing_itself(deferred):
    """An object that was there and is put elsewhere is the same object afterwards."""
    s = kept()
    first, second = Box(torch.zeros(3), "a"), Box(torch.ones(3), "b")
    s.box, s.pair = first, second

    @torch.compile
    def step(x):
        s.box, s.pair = s.pair, s.box
        s.fn = functools.partial(Box.scaled, s.box)
        return s.box.value + x

    for i in range(6):
        found = step(torch.ones(3))
        assert s.box is (first, second)[(i + 1) % 2] and s.fn.args[0] is s.box
        assert found.tolist() == [1.0 + (i + 1) % 2] * 3
