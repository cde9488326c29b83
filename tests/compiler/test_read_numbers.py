"""Numbers of tensors that a compiled call reads: it stores and returns them, and branches by them."""

import collections
import dataclasses
import json
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from running import numbers

import jaxflow as torch
from jaxflow import nn

CASES = []


def case(name, hits, start=None):
    """A step of ``kept`` and a tensor, called ten times; ``hits`` of them run no Python."""
    def add(step):
        CASES.append(pytest.param(step, start or {}, hits, id=name))
        return step
    return add


@case("returned", 8)
def _(kept, x):
    return x.sum().item(), [x.max().item(), {"least": x.min().item() + 1}]


@case("kept in a total", 7, {"total": 0.0, "count": 0})
def _(kept, x):
    kept.total += x.sum().item()
    kept.count += 1
    return kept.total / kept.count


@case("appended", 8, {"losses": []})
def _(kept, x):
    kept.losses.append(x.mean().item())
    return x * 2


@case("a branch", 7)
def _(kept, x):
    return x * 2 if x.sum().item() > 9.0 else x - 1


@case("a condition", 7)
def _(kept, x):
    y = x.sum()
    if y > 9.0:
        return x * 2
    return x if (y < 0).any() else x - 1


@case("of an integer and a bool", 8)
def _(kept, x):
    return x.argmax().item(), (x > 0).all().item(), torch.arange(3).sum().item() // 2


@case("of an argument", 8)
def _(kept, x):
    return x[0].item(), x + 1


@case("the best so far", 5, {"best": -1.0})
def _(kept, x):
    value = (x * 3).sum().item()
    kept.best = max(kept.best, value)
    return kept.best


@case("of random numbers", 8)
def _(kept, x):
    y = torch.rand(2)
    return y, y.sum().item()


@pytest.mark.parametrize(("step", "start", "hits"), CASES)
@pytest.mark.parametrize("mode", ["deferred", "compiled"])
def test_what_follows_from_them_is_what_python_says(step, start, hits, mode, request):
    request.getfixturevalue(mode)

    def outcome(compiler):
        torch.manual_seed(0)
        kept = type("Kept", (), {})()
        for name, value in start.items():
            setattr(kept, name, value.copy() if isinstance(value, list) else value)
        run = compiler(lambda x: step(kept, x))
        found = [run(torch.tensor([1.0, 2.0]) * i) for i in (1, 2, 1, 1, 3, 4, 5, 2, 6, 7)]
        return numbers([found, vars(kept)]), torch.get_rng_state().tolist(), run

    expected, state, _ = outcome(lambda f: f)
    found, found_state, run = outcome(torch.compile)
    check_same_types(found, expected)
    assert found_state == state
    assert run.explain()["hits"] >= hits, str(run.explain())


def check_same_types(a, b):
    assert type(a) is type(b)
    if isinstance(a, dict):
        assert a.keys() == b.keys()
        a, b = list(a.values()), list(b.values())
    if isinstance(a, (list, tuple)):
        for x, y in zip(a, b, strict=True):
            check_same_types(x, y)
    elif isinstance(a, (float, np.ndarray)):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-9)
    else:
        assert a == b


def trained(compiler, ask, bad=()):
    """What each step of a training says, and what is left, where the step looks at its loss."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 8), nn.Dropout(0.25), nn.Linear(8, 4)).double()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
    kept = {"total": 0.0, "last": 0.0}

    @compiler
    def step(x, y):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y + 1)  # whether y is right is not known before it runs
        if ask(loss):
            return None
        loss.backward()
        optimizer.step()
        schedule.step()
        kept["total"] += loss.item()
        kept["last"] = loss.item()
        return loss.item()

    found = []
    for i in range(12):
        x = torch.randn(5, 3, dtype=torch.float64) * (0.0 if i in bad else 1.0) / (0.0 if i == 7 else 1.0)
        try:
            found.append(step(x, torch.tensor([0, 1, 2, 1, 9 if i in bad else 0])))
        except IndexError as error:
            found.append(str(error))
    state = [*model.parameters(), *(p.grad for p in model.parameters())]
    state += [s for p in model.parameters() for s in optimizer.state[p].values()]
    versions = [p._version for p in model.parameters()]
    rate = optimizer.param_groups[0]["lr"]
    return numbers([found, kept["total"], kept["last"], state]), versions, rate, step


ASKED = {
    "not at all": (lambda loss: False, 9),
    "whether it is finite": (lambda loss: not torch.isfinite(loss), 8),
    "how large it is": (lambda loss: loss.item() > 1.4, 4),
}


Point = collections.namedtuple("Point", "a b")


@dataclasses.dataclass(slots=True)
class Slots:
    value: float = 0.0


@dataclasses.dataclass(frozen=True)
class Frozen:
    value: float = 0.0


class Listed(list):
    pass


KEEPING = {
    "the key of a dict": lambda kept, x: kept.table.update({x: 1}),
    "in the key of a dict": lambda kept, x: kept.table.update({(x, "b"): x}),
    "in a set": lambda kept, x: kept.seen.add(x),
    "in a frozen set": lambda kept, x: setattr(kept, "found", frozenset((x, 1.5))),
    "in a named tuple": lambda kept, x: setattr(kept, "found", Point(x, [x])),
    "in a list of these": lambda kept, x: kept.items.append(Point(x, {"k": [x]})),
    "in a slot": lambda kept, x: setattr(kept.slots, "value", x),
    "in a slot of something new": lambda kept, x: setattr(kept, "found", Slots(x)),
    "in a frozen record": lambda kept, x: setattr(kept, "found", Frozen(x)),
    "in a list of another class": lambda kept, x: setattr(kept, "found", Listed([x])),
    "in a deque": lambda kept, x: kept.queue.append([x]),
    "in a variable of a function": lambda kept, x: kept.items.append(lambda: x),
    "in a default": lambda kept, x: kept.items.append(lambda y=x: y),
    "in an error": lambda kept, x: kept.items.append(ValueError(x)),
    "returned": lambda kept, x: (x, [Point(x, (x,))]),
}


def plain(x):
    """Numbers as JSON writes them, which takes none but Python's own."""
    if callable(x):
        return plain(x())
    if isinstance(x, (dict, set, frozenset)):
        return sorted(map(plain, x.items() if isinstance(x, dict) else x))
    if isinstance(x, (list, tuple, collections.deque)):
        return str(type(x)) + str([*map(plain, x)])
    if isinstance(x, BaseException):
        return plain(x.args)
    if isinstance(x, (Slots, Frozen)):
        return plain([x.value])
    return str(x.tolist()) if isinstance(x, torch.Tensor) else json.dumps(x)


@pytest.mark.parametrize("of", ["a tensor", "an argument", "a total"])
@pytest.mark.parametrize("way", KEEPING)
def test_wherever_they_are_kept_they_are_plain_numbers(way, of, deferred):
    def called(compiler):
        kept = SimpleNamespace(table={}, seen=set(), items=[], queue=collections.deque(), slots=Slots(),
                               found=None, total=0.0)

        @compiler
        def f(x, number):
            kept.total += number
            found = {"a tensor": lambda: x.sum().item(), "an argument": lambda: number}.get(
                of, lambda: kept.total)()
            return x * 2, KEEPING[way](kept, found)

        shown = []
        for k in range(7):
            result = f(torch.full((2,), float(k)), k * 0.5)
            shown.append([plain(result), *map(plain, vars(kept).values())])
        return shown

    expected = called(lambda f: f)
    assert called(torch.compile) == expected


def test_functions_and_objects_of_a_call_are_made_at_each(deferred):
    made = []

    @torch.compile
    def f(x):
        own = []
        made.append(own.append)
        made.append(lambda: own)
        return x + 1

    for k in range(6):
        f(torch.ones(2))
        made[-2](k)
    assert [g() for g in made[1::2]] == [[k] for k in range(6)]


def test_what_runs_to_give_a_number_is_no_part_of_the_function(deferred):
    """The first call computes the number beside what it records; what that calls is not the user's."""
    layer = nn.Linear(3, 3)
    step = torch.compile(lambda x: x * 2 if torch.isfinite(
        torch.stack([layer(x).norm(), x.norm()]).norm()) else x)
    for k in range(6):
        step(torch.full((2, 3), float(k)))
    about = step.explain()
    assert about["hits"] == 4 and not about["python"], about


def test_what_they_decide_in_turn_is_left_to_python():
    step = torch.compile(lambda x: x * 2 if x.sum().item() > 1.5 else x - 1)
    found = [step(torch.full((2,), float(i % 2))).tolist() for i in range(80)]
    assert found == [[-1.0, -1.0], [2.0, 2.0]] * 40
    said = step.explain()
    assert said["python"][0].startswith("a number of a tensor is needed at")
    assert said["specialisations"] <= 1 and len(said["misses"]) < 8
    assert said["misses"][0] == ["what Python decided by a number of a tensor changed"]


def test_a_whole_graph_goes_on_trying():
    step = torch.compile(lambda x: x * 2 if x.sum().item() > 1.5 else x - 1, fullgraph=True)
    found = [step(torch.full((2,), float(i % 2))).tolist() for i in range(80)]
    assert found == [[-1.0, -1.0], [2.0, 2.0]] * 40
    assert step.explain()["specialisations"] == 2


@pytest.mark.parametrize("fullgraph", [False, True])
def test_large_memory_is_not_there_twice_for_a_number(fullgraph, deferred, monkeypatch):
    monkeypatch.setattr("jaxflow.compiler._builder._MOST_KEPT", 64)

    def losses(compiler):
        weight = torch.zeros(32, requires_grad=True)
        optimizer = torch.optim.SGD([weight], lr=0.25)

        @compiler
        def step(x):
            optimizer.zero_grad()
            loss = (weight - x).pow(2).sum()
            loss.backward()
            optimizer.step()
            return loss.item()

        return [step(torch.ones(32)) for _ in range(6)], step

    expected, _ = losses(lambda f: f)
    found, step = losses(lambda f: torch.compile(f, fullgraph=fullgraph))
    assert found == expected
    assert step.explain()["hits"] == (4 if fullgraph else 0)
    assert fullgraph or step.explain()["python"][0].startswith("a number of a tensor is needed at")


def test_many_numbers_end_a_recording(deferred):
    """Each is computed beside it, which takes what comes before it once more."""
    def total(count):
        def f(x):
            found = 0.0
            for _ in range(count):
                x = x + 1
                found += x.sum().item() + x.sum().item() * 0
            return found

        return f

    for count in (4, 5, 12):
        step = torch.compile(total(count))
        for k in range(5):
            assert step(torch.full((2,), float(k))) == total(count)(torch.full((2,), float(k)))
        assert step.explain()["hits"] == (3 if count == 4 else 0), count


def test_a_whole_graph_needs_no_number_in_python():
    step = torch.compile(lambda x: x * round(x.sum().item()), fullgraph=True)
    with pytest.raises(torch.compiler.Unsupported, match="a number of a tensor is needed at .*to go on"):
        step(torch.ones(2))


@pytest.mark.parametrize(
    "asked, bad",
    [*((asked, ()) for asked in ASKED), ("whether it is finite", (6, 9)), ("how large it is", (6, 9))],
)
@pytest.mark.parametrize("mode", ["deferred", "compiled"])
def test_a_training_step_may_look_at_its_loss(asked, bad, mode, request):
    request.getfixturevalue(mode)
    ask, hits = ASKED[asked]
    expected, versions, rate, _ = trained(lambda f: f, ask, bad)
    found, found_versions, found_rate, step = trained(torch.compile, ask, bad)
    check_same_types(found, expected)
    assert (found_versions, found_rate) == (versions, rate)
    assert step.explain()["hits"] >= hits - 2 * len(bad), str(step.explain())


def test_a_capture_that_was_not_watched_to_its_end_is_not_repeated(deferred, monkeypatch):
    """As after an interrupt while a number was computed beside it."""
    from jaxflow.compiler._python_tracer import Watcher

    stop = Watcher.stop
    monkeypatch.setattr(Watcher, "stop", lambda self: (sys.setprofile(None), stop(self)))
    step = torch.compile(lambda x: x + 1)
    assert [step(torch.zeros(1)).item() for _ in range(5)] == [1.0] * 5
    assert step.explain()["hits"] == 0
    assert "something else watched the thread's calls" in step.explain()["python"]
