"""Containers and objects that a compiled call keeps: at several places, changing places, and copies."""

import copy
import dataclasses
import enum
from types import SimpleNamespace

import pytest
from running import check_same, numbers

import jaxflow as torch
from jaxflow import nn


def test_a_list_at_two_places_stays_one_list(executor):
    kept = SimpleNamespace(items=[torch.zeros(2)])

    @torch.compile
    def step(x):
        kept.items = [t + x for t in kept.items]
        return kept.items

    for _ in range(4):
        found = step(torch.ones(2))
        assert found is kept.items
        found.append(torch.ones(2))
        kept.items.pop()
    assert kept.items[0].tolist() == [4.0, 4.0]
    assert step.explain()["hits"] == 3


@dataclasses.dataclass
class Record:
    value: object
    scale: float


def of_a_list(kept, x):
    kept.a = kept.table["a"] = [kept.a[0] * 0.5 + x]
    return kept.a[0] * 2


def of_a_tuple(kept, x):
    kept.a = kept.b = (kept.a[0] + x, 0.5)
    return kept.a, kept.a


def of_a_record(kept, x):
    kept.a = Record(kept.a.value + x, 0.5)
    kept.b = {"record": kept.a}
    return kept.a.value


def of_empty_ones(kept, x):
    kept.a.clear()
    return [[], kept.a, []], x + 1


TWICE = {
    "list": (of_a_list, [torch.zeros(2)], 6),
    "tuple": (of_a_tuple, (torch.zeros(2), 0.5), 6),
    "record": (of_a_record, Record(torch.zeros(2), 0.5), 0),  # one place is in another container
    "empty": (of_empty_ones, [], 6),
}


@pytest.mark.parametrize("name", TWICE)
def test_containers_at_two_places(name, executor):
    """They are one object after each call, and another one than before it."""
    step, start, hits = TWICE[name]

    def called(compiler):
        kept = SimpleNamespace(a=copy.deepcopy(start), b=None, table={})
        kept.table["a"] = kept.a
        f, found, results = compiler(lambda x: step(kept, x)), [], []
        for k in range(12):
            before = kept.a
            if k == 7:
                kept.b = (torch.ones(2), 0.5)  # the places part, and come together again
            result = f(torch.full((2,), float(k)))
            results.append(result)
            parts = result if isinstance(result, (tuple, list)) else []
            held = vars(kept.a) if isinstance(kept.a, Record) else kept.a
            found.append([
                [*held.values()] if isinstance(held, dict) else list(held), kept.a is before,
                kept.table["a"] is kept.a, kept.b is kept.a,
                isinstance(kept.b, dict) and kept.b["record"] is kept.a, [y is kept.a for y in parts],
                any(result is earlier for earlier in results[:-1]), len({id(y) for y in parts}),
            ])
        return numbers(found), f

    expected, _ = called(lambda f: f)
    found, f = called(torch.compile)
    check_same(found, expected)
    assert f.explain()["hits"] >= hits, str(f.explain())


class Phase(enum.Enum):
    FIRST, SECOND = 1, 2


class Holding:
    def __init__(self, value):
        self.value = value


def objects(kept, x):
    kept.a, kept.b = kept.b, kept.a
    kept.a.value += 1
    return x * kept.a.value


def networks(kept, x):
    kept.net, kept.other = kept.other, kept.net
    with torch.no_grad():
        kept.net.weight.mul_(0.5)
        return kept.net(x) + kept.other.weight.sum()


def phases(kept, x):
    kept.phase = Phase.SECOND if kept.phase is Phase.FIRST else Phase.FIRST
    return x * kept.phase.value


def chosen(kept, x):
    kept.best = kept.a if kept.best is None else None if kept.best is kept.b else kept.b
    return x * (kept.best.value if kept.best is not None else 0.5)


@pytest.mark.parametrize("step", [objects, networks, phases, chosen])
def test_objects_that_change_places(step, executor):
    def called(compiler):
        torch.manual_seed(0)
        nets = nn.Linear(2, 2).double(), nn.Linear(2, 2).double()
        kept = SimpleNamespace(a=Holding(1.0), b=Holding(2.0), net=nets[0], other=nets[1], phase=Phase.FIRST,
                               best=None)
        f, found = compiler(lambda x: step(kept, x)), []
        for k in range(16):
            if k == 9:
                kept.a.value = 5.0
            result = f(torch.full((2,), float(k), dtype=torch.float64))
            found.append([result, kept.a.value, kept.b.value, kept.net is nets[0], kept.other is nets[0],
                          kept.phase.name, kept.best is kept.a, kept.best is kept.b])
        return numbers(found), f

    expected, _ = called(lambda f: f)
    found, f = called(torch.compile)
    check_same(found, expected)
    assert f.explain()["hits"] >= 8, str(f.explain())


class Copies:
    def __init__(self):
        self.a, self.b, self.c = torch.zeros(2), torch.ones(2), torch.full((2,), 2.0)


def copied_then_written(kept, x):
    kept.b = kept.a.clone()
    kept.a.add_(x)
    return x * 2, kept.c.clone()


def copied_alone(kept, x):
    kept.a, kept.b = kept.b.detach().clone(), kept.a
    return x + 1, x.clone()


@pytest.mark.parametrize("step", [copied_then_written, copied_alone])
def test_copies_of_what_is_not_read_otherwise(step, executor):
    def called(compiler):
        kept = Copies()
        f, found = compiler(lambda x: step(kept, x)), []
        for k in range(8):
            x = torch.full((2,), float(k))
            results = f(x)
            found += numbers([results, kept.a, kept.b, kept.c])
            for t in (*results, kept.a, kept.c, x):
                t.add_(0.5)  # a copy shares nothing with it
            found += numbers([results, kept.a, kept.b, kept.c, x])
        return found, f

    expected, _ = called(lambda f: f)
    found, f = called(torch.compile)
    check_same(found, expected)
    assert f.explain()["hits"] == 7, str(f.explain())
