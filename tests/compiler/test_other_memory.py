"""Tensors that a compiled call gives other memory by ``.data =``, and writes through ``.data`` and others."""

import copy
from types import SimpleNamespace

import pytest
from running import numbers

import jaxflow as torch
from jaxflow import nn
from jaxflow._core.symbolic_numbers import NumberTape
from jaxflow.compiler._rows import shorten


def networks():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)).double()  # or rounding would be seen
    kept, other = torch.zeros(2, dtype=torch.float64), torch.ones(2, dtype=torch.float64)
    return SimpleNamespace(net=net, mean=copy.deepcopy(net), kept=kept, other=other)


def descent(s, x):
    s.net.zero_grad()
    loss = s.net(x).pow(2).mean()
    loss.backward()
    for p in s.net.parameters():
        p.data = p.data - 0.1 * p.grad
    return loss.detach()


def averaging(s, x):
    for p, q in zip(s.mean.parameters(), s.net.parameters()):
        p.data = p.data * 0.75 + q.data * 0.25
    return s.mean(x).detach()


def exchange(s, x):
    for p, q in zip(s.mean.parameters(), s.net.parameters()):
        p.data, q.data = q.data, p.data
    return s.mean(x).detach() - s.net(x).detach()


def written_first(s, x):
    s.kept.mul_(0.5)
    s.kept.data = s.kept + x.sum()
    s.kept.add_(1.0)
    return s.kept * 1.0


def unread(s, x):
    s.kept.data = x.sum(0)[:2] * 2
    return s.kept + 1.0


def two_of_one(s, x):
    s.kept.data = s.other.data = s.other * 0.5 + x.sum()
    s.kept.add_(1.0)
    return s.other * 1.0


def another_shape(s, x):
    s.kept.data = torch.cat([s.kept[:1], x[0]]) if len(s.kept) < 4 else s.kept[1:3] * 0.5
    return s.kept * 1.0


def set_to_new(s, x):
    with torch.no_grad():
        s.kept.set_(s.kept * 0.5 + x.sum())
    return s.kept * 1.0


def set_and_written(s, x):
    s.kept.mul_(0.5)
    s.kept.set_((s.other * x.sum()).detach())
    s.kept.add_(1.0)
    s.kept.add_(s.other)
    return s.kept * 1.0


CASES = [descent, averaging, exchange, written_first, unread, two_of_one, another_shape, set_to_new,
         set_and_written]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_other_memory_at_each_call(executor, case):
    inputs = [torch.full((5, 3), 0.25 * (i + 1), dtype=torch.float64) for i in range(6)]

    def run(compiled):
        s = networks()
        held = s.kept, [p.data for p in s.net.parameters()]
        step = torch.compile(lambda x: case(s, x)) if compiled else (lambda x: case(s, x))
        found = [numbers(step(x)) for x in inputs]
        found += [numbers(t.detach()) for t in (*s.net.parameters(), *s.mean.parameters(), s.kept, s.other)]
        found += [(t.requires_grad, t.is_leaf, t.stride(), t._version)
                  for t in (*s.net.parameters(), *s.mean.parameters(), s.kept, s.other)]
        assert s.kept is held[0]
        return found, step.explain() if compiled else None

    expected, _ = run(False)
    found, said = run(True)
    for a, b in zip(found, expected, strict=True):
        assert a == (b if isinstance(b, tuple) else pytest.approx(b))
    assert said["hits"] >= 2 and not said["python"]


def test_what_others_hold_of_the_old_memory_stays(executor):
    w = torch.ones(2)

    @torch.compile
    def f(x):
        w.data = w * 0.5 + x
        return w * 1.0

    held = []
    for _ in range(5):
        held.append(w.detach())
        f(torch.ones(2))
    assert [t[0].item() for t in held] == [1.0, 1.5, 1.75, 1.875, 1.9375]
    assert w.tolist() == [1.96875] * 2


def test_other_memory_given_between_the_calls(executor):
    w = torch.ones(2)

    @torch.compile
    def f(x):
        w.data = w * 0.5 + x
        return w * 1.0

    found = []
    for i in range(6):
        if i == 3:
            w.data = torch.zeros(2)
        found.append(f(torch.ones(2))[0].item())
    assert found == [1.5, 1.75, 1.875, 1.0, 1.5, 1.75]
    assert f.explain()["hits"] == 5


def test_a_leaf_stays_in_the_graph_that_was_there(executor):
    w = torch.ones(2, requires_grad=True)

    @torch.compile
    def f(x):
        w.data = w.data * 0.5
        return (w * x).sum()

    for factor in (0.5, 0.25, 0.125):
        w.grad = None
        loss = f(torch.full((2,), 2.0))
        loss.backward()
        assert loss.item() == 4 * factor and w.grad.tolist() == [2.0, 2.0]


@pytest.mark.parametrize("kind", ["captured", "argument of captured", "argument"])
def test_writes_through_data_are_counted_apart(executor, kind):
    """`.data` shows the same memory, and has a version of its own."""
    base = torch.ones(3)
    alias = base.data

    @torch.compile
    def f(x, y):
        (alias if y is None else y).mul_(2).add_(x)
        return (alias if y is None else y) * 1.0 if kind != "argument of captured" else base * 1.0

    found, versions = [], []
    for _ in range(4):
        given = None if kind == "captured" else base.data
        found.append(f(torch.ones(3), given)[0].item())
        versions.append((base._version, (alias if given is None else given)._version))
    assert found == [3.0, 7.0, 15.0, 31.0]
    assert versions == ([(0, 2), (0, 4), (0, 6), (0, 8)] if kind == "captured" else [(0, 2)] * 4)
    assert f.explain()["hits"] == 3 and not f.explain()["python"]
    if kind != "captured":
        f(torch.ones(3), base[:])  # whose writes are the base's
        assert base._version == 2 and base.tolist() == [63.0] * 3


def test_a_view_of_a_tensor_that_is_replaced_and_not_read(executor):
    kept = SimpleNamespace(h=torch.zeros(2, 3))

    @torch.compile
    def f(x):
        old, kept.h = kept.h, x * 2
        return old[0]

    found = []
    for i in range(4):
        old = kept.h
        row = f(torch.full((2, 3), float(i)))
        old.add_(1)
        found.append(row[0].item())
    assert found == [1.0, 1.0, 3.0, 5.0] and f.explain()["hits"] == 3


def test_to_say_what_changed_asks_for_no_number():
    """What needs the value of a number that the program computes could not be repeated."""
    tape = NumberTape(0)
    tape.on_need = lambda: pytest.fail("somebody asked for the number")
    assert shorten({"seen": [tape.read(0, 1.5)]}) == "{'seen': [1.5]}"


def test_a_graph_that_saved_what_was_there_before(executor):
    """Its backward finds the memory that a tensor has by then, which the call gave it afterwards."""
    x, p = torch.arange(4.0), torch.arange(4.0).requires_grad_()
    w = torch.ones(4, requires_grad=True)

    def f(y):
        loss = (p * p * y).sum() + (x * w * y).sum()
        p.data, x.data = p.data * 2 + y, x * 2 + y
        return loss

    step = torch.compile(f)
    for i in range(4):
        w.grad = p.grad = None
        before = p.detach().clone()
        step(torch.full((4,), float(i + 1))).backward()
        assert p.detach().tolist() == (before * 2 + i + 1).tolist() == x.tolist()
        assert p.grad.tolist() == (2 * (i + 1) * p.detach()).tolist()
        assert w.grad.tolist() == ((i + 1) * x).tolist()


def test_a_graph_from_before_the_call(executor):
    x, p = torch.arange(4.0), torch.arange(4.0).requires_grad_()
    w = torch.ones(4, requires_grad=True)

    @torch.compile
    def move(y):
        x.data, p.data = x * 2 + y, p.data * 2 + y

    for i in range(5):
        w.grad = p.grad = None
        loss = (x * w).sum() + (p * p).sum()
        move(torch.full((4,), float(i)))
        loss.backward()
        assert w.grad.tolist() == x.tolist() and p.grad.tolist() == (2 * p.detach()).tolist()
    assert move.explain()["hits"] >= 3
