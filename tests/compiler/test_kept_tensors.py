"""Tensors that a compiled call keeps in attributes and lists, and what it is given besides tensors."""

import dataclasses
import enum
import gc
import types
import weakref
from types import SimpleNamespace

import pytest
from running import check_same, numbers

import jaxflow as torch
from jaxflow import nn

PROGRAMS = []


def program(hits):
    """A function of a compiler that returns what it computed; ``hits`` calls need no Python."""

    def add(fn):
        PROGRAMS.append(pytest.param(fn, hits, id=fn.__name__))
        return fn

    return add


def inputs(count, *shape):
    return [torch.randn(*shape) for _ in range(count)]


@program(5)
def the_old_state_is_returned(compiler):
    held = types.SimpleNamespace(state=torch.zeros(2))

    @compiler
    def f(x):
        old, held.state = held.state, held.state * 0.5 + x
        return old, old * 2

    return [f(x) for x in inputs(6, 2)], held.state


@program(6)
def the_old_state_is_returned_unread(compiler):
    held = types.SimpleNamespace(state=torch.zeros(2))

    @compiler
    def f(x):
        old, held.state = held.state, x * 0.5
        return [old]

    return [f(x) for x in inputs(7, 2)], held.state


@program(6)
def a_view_of_memory_that_stays(compiler):
    held = types.SimpleNamespace(ring=torch.zeros(3, 2), row=None, at=0)
    held.row = held.ring[2]
    seen = []

    @compiler
    def f(x):
        found = held.row * 0.5 + x
        held.row.add_(x)
        held.row = held.ring[1]
        held.row.mul_(0.5)
        return found + held.ring.sum(0)

    for i, x in enumerate(inputs(12, 2)):
        if i == 6:  # another row, other memory, another layout
            held.row = held.ring[0]
        elif i == 8:
            held.row = torch.ones(2)
        elif i == 10:
            held.ring = torch.ones(3, 2)
        seen.append((f(x), held.row, held.ring.clone()))
    assert held.row._base is held.ring
    return seen


@program(5)
def states_in_a_list(compiler):
    states = [torch.zeros(2), torch.ones(2)]

    @compiler
    def f(x):
        states[0] = states[0] * 0.9 + x
        states[1] = states[1] + 1
        return states[0] / states[1]

    return [f(x) for x in inputs(6, 2)], states


@program(6)
def places_that_share_memory(compiler):
    held = types.SimpleNamespace(state=torch.zeros(2), latest=None, pair=(torch.zeros(2), torch.ones(2)))

    @compiler
    def f(x):
        found = held.state * 0.5 + held.pair[0] + x
        held.state, held.latest = found.detach(), [found.detach(), 1.0]
        held.pair = found.detach(), held.pair[0]
        held.state.mul_(0.5)  # which all three show
        return found

    found = [f(x) for x in inputs(8, 2)]
    return found, held.state, held.latest, held.pair


@program(10)
def places_that_share_memory_no_more(compiler):
    held = types.SimpleNamespace(a=torch.zeros(2), b=torch.ones(2))

    @compiler
    def f(x):
        old = held.a + held.b
        held.a.mul_(2)
        held.a = held.b = None
        held.a, held.b = x.detach(), x.detach()
        return old

    found = []
    for i, x in enumerate(inputs(14, 2)):
        if i in (7, 8):
            held.b = held.b.clone()
        if i == 10:
            held.b = held.a
        found.append(f(x.clone()))
    return found, held.a, held.b


@program(5)
def a_hidden_state_and_a_loss_without_history(compiler):
    cell, held = nn.RNNCell(2, 2), types.SimpleNamespace(h=torch.zeros(3, 2), loss=None)

    @compiler
    def f(x):
        h = cell(x, held.h)
        loss = h.pow(2).sum()
        cell.zero_grad()
        loss.backward()
        held.h, held.loss = h.detach(), loss.detach()
        return loss

    return [(f(x), held.h, held.loss) for x in inputs(7, 3, 2)], *cell.parameters()


@program(5)
def attributes_with_history(compiler):
    """The tensors of two networks that play against each other, all of them attributes."""
    g, d = nn.Linear(2, 3), nn.Linear(3, 1)
    to_g, to_d = (torch.optim.SGD(m.parameters(), 0.1) for m in (g, d))
    at = types.SimpleNamespace(fake=None, real=None, loss_d=None, loss_g=None)

    @compiler
    def step(real, z):
        at.real, at.fake = real, g(z)
        to_d.zero_grad()
        at.loss_d = d(at.fake.detach()).mean() - d(at.real).mean()
        at.loss_d.backward()
        to_d.step()
        to_g.zero_grad()
        at.loss_g = -d(at.fake).mean()
        at.loss_g.backward()
        to_g.step()

    out = []
    for real in inputs(7, 4, 3):
        step(real, torch.randn(4, 2))
        out += [at.loss_d, at.loss_g, at.fake, at.real is real]
    return [*out, *g.parameters(), *d.parameters()]


@program(0)
def a_history_that_goes_on_over_calls(compiler):
    """Nothing is saved in it, so that each backward goes through all calls before."""
    weight = torch.ones(2, requires_grad=True)
    held = types.SimpleNamespace(h=weight + 0)

    @compiler
    def f(x):
        held.h = held.h + weight + x
        held.h.sum().backward()
        return weight.grad.clone()

    return [f(x) for x in inputs(7, 2)]


@program(4)
def what_was_given_before_is_read(compiler):
    held = types.SimpleNamespace(x=torch.zeros(2))

    @compiler
    def f(x):
        y, held.x = held.x + x, x
        return y

    a, b = torch.ones(2), torch.full((2,), 2.0)
    return [f(x) for x in (a, a, b, b, a, a, b)]


@program(3)
def a_gradient_penalty(compiler):
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
    opt = torch.optim.SGD(model.parameters(), 0.1)

    @compiler
    def step(x):
        x = x.clone().requires_grad_()
        y = model(x).sum()
        (slope,) = torch.autograd.grad(y, x, create_graph=True)
        loss = y + (slope.norm(dim=1) - 1).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        return loss

    return [step(x) for x in inputs(5, 4, 3)], *model.parameters()


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.factor = 3
        return x * x * x

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.factor * ctx.saved_tensors[0].pow(2)


@program(4)
def a_function_of_the_users(compiler):
    weight = torch.ones(2, requires_grad=True)

    @compiler
    def step(x):
        weight.grad = None
        loss = Cube.apply(weight * x).sum()
        loss.backward()
        return loss, weight.grad

    return [step(x) for x in inputs(6, 2)]


@program(3)
def compiled_functions_inside(compiler):
    layer, twice = compiler(nn.Linear(2, 2)), compiler(lambda x: x * 2)
    run = compiler(lambda x: twice(layer(x)).sum())
    with torch.no_grad():
        out = [run(x) for x in inputs(3, 3, 2)]
        layer.weight.mul_(2)
        return [*out, run(torch.ones(3, 2)), twice(torch.ones(2))]


class Kind(enum.Enum):
    SUM = 1
    MEAN = 2


@dataclasses.dataclass
class Batch:
    x: torch.Tensor
    kind: Kind
    scale: float = 2.0

    def reduced(self):
        return (self.x.sum() if self.kind is Kind.SUM else self.x.mean()) * self.scale


@program(5)
def a_dataclass_and_an_enumeration(compiler):
    f = compiler(lambda batch: Batch(batch.x + batch.reduced(), batch.kind))
    out = []
    for i, x in enumerate(inputs(10, 3)):
        batch = Batch(x, Kind.MEAN if i % 3 == 2 else Kind.SUM, 3.0 if i == 7 else 2.0)
        if i == 8:
            batch.reduced = lambda: 10.0  # no field, so that the object itself is looked at
        out.append(f(batch))
    return [(b.x, b.kind is Kind.MEAN) for b in out]


@program(4)
def a_rate_that_is_a_tensor(compiler):
    weight, rate = torch.ones(2, requires_grad=True), torch.tensor(0.1)
    opt = torch.optim.SGD([weight], lr=rate)

    @compiler
    def step(x):
        opt.zero_grad()
        (weight * x).sum().backward()
        opt.step()

    for x in inputs(6, 2):
        step(x)
        rate.mul_(0.5)
    return [weight]


@program(5)
def two_states_that_change_places(compiler):
    held = SimpleNamespace(a=torch.zeros(2), b=torch.ones(2))

    @compiler
    def f(x):
        y = held.a * 0.5 - held.b + x
        held.a, held.b = held.b, held.a
        return y

    return [f(x) for x in inputs(6, 2)], held.a, held.b


@program(5)
def states_that_move_on_unread(compiler):
    held = SimpleNamespace(a=torch.zeros(2), b=torch.ones(2), c=torch.ones(2))

    @compiler
    def f(x):
        held.c, held.b, held.a = held.b, held.a, x * 2
        return x + 1

    out = []
    for x in inputs(6, 2):
        out += [f(x), held.a, held.b.clone(), held.c + 0]
    return out


@program(5)
def one_new_tensor_at_two_places(compiler):
    held = SimpleNamespace(a=torch.zeros(2), b=torch.ones(2))

    @compiler
    def f(x):
        y = x - held.a + held.b * 0.5
        held.a.mul_(3)
        y = y + held.b
        held.a = held.b = y
        return y * 2

    out = []
    for i, x in enumerate(inputs(7, 2)):
        out.append(f(x))
        assert held.a is held.b
        if i == 3:
            held.b = held.b.clone()  # no longer the same one
    held.a.mul_(2)
    return out, held.a, held.b


@program(5)
def a_place_that_gets_the_tensor_of_another(compiler):
    held = SimpleNamespace(best=torch.zeros(2), now=torch.ones(2), weight=torch.full((2,), 3.0))

    @compiler
    def f(x):
        y = held.best + x
        held.best = held.now
        held.now = held.weight
        return y

    out = [f(x) for x in inputs(8, 2)]
    assert held.best is held.now is held.weight
    return out


@program(5)
def a_window_over_the_latest(compiler):
    latest = [torch.zeros(2), torch.ones(2), torch.full((2,), 2.0)]

    @compiler
    def f(x):
        latest.append(x * 2)
        latest.pop(0)
        return latest[0] + latest[-1]

    return [f(x) for x in inputs(6, 2)], latest


@program(5)
def what_is_swapped_is_written_too(compiler):
    held = SimpleNamespace(a=torch.zeros(2), b=torch.ones(2))

    @compiler
    def f(x):
        held.a.add_(x)
        held.a, held.b = held.b, held.a
        held.a.mul_(0.5)

    kept = held.a
    for x in inputs(6, 2):
        f(x)
    return held.a, held.b, kept, torch.tensor(float(kept is held.a))


@program(6)
def views_that_change_places(compiler):
    held = SimpleNamespace(a=torch.arange(6.0).reshape(2, 3), b=torch.ones(3, 2).t(), c=torch.ones(4, 3)[1:3])
    held.a = held.a.t().contiguous().t()

    @compiler
    def f(x):
        y = held.a * 0.5 - held.b + x
        held.c.add_(held.b)
        held.a, held.b = held.b, held.a
        return y, held.c

    out = []
    for i, x in enumerate(inputs(7, 2, 3)):
        if i == 4:
            held.a, held.b = held.b, held.a
        out.append(f(x))
    return [y for y, _ in out], held.a, held.b, held.c


@program(4)
def a_view_of_other_memory_takes_the_place(compiler):
    held = SimpleNamespace(state=torch.zeros(4)[:2])

    @compiler
    def f(x):
        old, held.state = held.state, (held.state + x).repeat(2)[:2]
        return old * 2

    out = [f(x) for x in inputs(3, 2)]
    held.state = torch.ones(6)[:2]  # the same view of a larger one
    return out, [f(x) for x in inputs(3, 2)], held.state


@program(4)
def what_a_view_shows_is_written_through_another(compiler):
    held = SimpleNamespace(a=torch.arange(6.0).reshape(2, 3), b=torch.ones(2, 3))
    part = held.a[0]

    @compiler
    def f(x):
        y = held.a * x
        held.a, held.b = held.b, held.a
        return y

    out = []
    for x in inputs(6, 2, 3):
        out.append(f(x))
        part.add_(1)
    return out, part, held.a, held.b


@program(5)
def attributes_of_a_result(compiler):
    @compiler
    def f(x, n):
        y = x * 2
        y.note, y.count = "twice", n + 1
        return y, y[0]

    out = [f(x, 4) for x in inputs(6, 2)]
    assert {y.note for y, _ in out} == {"twice"} and not hasattr(out[-1][1], "note")
    out[0][0].note = "other"
    assert out[1][0].note == "twice"
    return [torch.tensor(y.count) for y, _ in out], [y for y, _ in out]


@program(5)
def a_container_with_what_stays_elsewhere(compiler):
    held = SimpleNamespace(weight=torch.ones(2), state=torch.zeros(2), hidden=None)
    held.hidden = (held.state, [held.weight, {"k": held.state}])

    @compiler
    def f(x):
        y = held.hidden[1][1]["k"] + held.hidden[1][0] * x
        held.state = y * 0.5
        held.hidden = (held.state, [held.weight, {"k": held.state}])
        return y

    out = []
    for i, x in enumerate(inputs(7, 2)):
        if i == 4:
            held.hidden = (held.state, [held.weight, {"k": held.state.clone()}])
        out.append(f(x))
        assert held.hidden[0] is held.state is held.hidden[1][1]["k"] and held.hidden[1][0] is held.weight
    return out, held.state


@program(5)
def a_state_in_a_variable_of_the_enclosing_function(compiler):
    def made():
        h, pair, first = torch.zeros(2), (torch.zeros(2), 0.5), True

        def step(x):
            nonlocal h, pair, first
            y = h * 0.5 + x if first else h - x
            pair = h, 0.5
            h, first = y, False
            return y + pair[0]

        return step, lambda: (h, *pair)

    step, state = made()
    f = compiler(step)
    out = [f(x) for x in inputs(7, 2)]
    h, last, number = state()
    assert number == 0.5
    return out, h, last


class Key:
    """Compared in Python, where somebody may get in between."""

    def __hash__(self):
        return 1

    def __eq__(self, other):
        return self is other


@program(0)
def a_state_under_a_key_of_the_users(compiler):
    key = Key()
    states = {key: torch.zeros(2)}

    @compiler
    def f(x):
        states[key] = states[key] * 0.5 + x
        return states[key] * 2

    return [f(x) for x in inputs(5, 2)], states[key]


STATE = OTHER = None


@program(3)
def a_state_in_a_global(compiler):
    global STATE, OTHER
    STATE, OTHER = torch.zeros(2), torch.ones(2)

    @compiler
    def f(x):
        global STATE, OTHER
        STATE, OTHER = OTHER, (STATE + x).detach()
        return shown() * 2

    def shown():
        return STATE - OTHER

    out = []
    for i, x in enumerate(inputs(6, 2)):
        if i == 3:
            STATE = torch.full((2,), 5.0)
        out.append(f(x))
    return out, STATE, OTHER


LOG = []


class Logging:
    def __init__(self):
        self.losses, self.pairs = [], []

    def step(self, x, n):
        y = x * 2
        self.losses.append(y.sum())
        self.pairs.extend([(y, n), (y + 1, 0.5)])
        LOG.append({"y": y})
        return y


@program(6)
def lists_that_are_only_appended_to(compiler):
    LOG.clear()
    kept, counts = Logging(), [torch.zeros(2)]
    step = compiler(kept.step)
    for i, x in enumerate(inputs(8, 2)):
        if i == 4:
            kept.losses.clear()
            LOG.append(None)
        if i == 5:
            kept.losses = [torch.zeros(1)]
        counts.append(step(x, 0.25))
    assert [n for _, n in kept.pairs] == [0.25, 0.5] * 8 and LOG[4] is None and len(LOG) == 9
    return kept.losses, [y for y, _ in kept.pairs], counts, [x["y"] for x in LOG if x]


@program(0)
def lists_that_are_looked_into_too(compiler):
    kept = []

    @compiler
    def f(x):
        kept.append(x)
        return sum(kept) * len(kept)

    return [f(x) for x in inputs(6, 2)]


@pytest.mark.parametrize(("make", "hits"), PROGRAMS)
def test_what_is_kept_is_the_same(make, hits, executor):
    torch.manual_seed(0)
    expected = numbers(make(lambda f: f))
    functions = []
    torch.manual_seed(0)
    found = numbers(make(lambda f: functions.append(torch.compile(f)) or functions[-1]))
    check_same(found, expected)
    report = functions[-1].explain()
    assert report["hits"] == hits, report


def test_what_a_list_lets_go_of_is_gone(deferred):
    kept = Logging()
    kept.losses.append(torch.ones(2))
    kept.pairs.append((torch.ones(2), {"a": torch.ones(3)}))
    there = [weakref.ref(t) for t in (kept.losses[0], kept.pairs[0][0], kept.pairs[0][1]["a"])]
    step = torch.compile(kept.step)
    for x in inputs(4, 2):
        step(x, 0.5)
    there += map(weakref.ref, kept.losses)
    kept.losses.clear()
    kept.pairs.clear()
    gc.collect()
    assert not any(t() is not None for t in there)
    step(torch.ones(2), 0.5)
    assert step.explain()["hits"] == 4 and len(kept.losses) == 1


def test_a_leaf_of_a_call_that_is_gone_says_so(deferred):
    weight = torch.ones(2, requires_grad=True)

    @torch.compile
    def f(x):
        inner = x.clone().requires_grad_()
        loss = (inner * weight).sum()
        loss.backward()
        return loss

    for _ in range(4):
        loss = f(torch.ones(2))
    leaves = [edge[0].variable for edge in loss.grad_fn.next_functions[0][0].next_functions]
    assert leaves[1] is weight and leaves[0].shape == (2,) and leaves[0].requires_grad
    with pytest.raises(RuntimeError, match="made inside a call of a compiled function"):
        leaves[0].tolist()
    with pytest.raises(RuntimeError, match="made inside a call of a compiled function"):
        (leaves[0] + 1).tolist()
    assert f.explain()["hits"] == 2
