"""Slots, deques and Counters that a compiled function reads and changes, and bases found by their views."""

import collections
import dataclasses
from types import SimpleNamespace

import pytest

import jaxflow as torch
from jaxflow import nn


class Slotted:
    """Two slots, one with a private name."""

    __slots__ = ("__rate", "value")

    def __init__(self):
        self.value, self.__rate = torch.ones(2), 0.5

    def rate(self):
        """The number in the private one."""
        return self.__rate

    def up(self):
        """Change it."""
        self.__rate += 0.5


class WithDict(Slotted):
    """Has attributes besides."""


@pytest.mark.parametrize("cls", [Slotted, WithDict])
def test_slots_are_guarded_and_stored(executor, cls):
    kept = cls()

    @torch.compile
    def f(x):
        kept.value = kept.value * 0.5 + x
        kept.up()
        return kept.value * kept.rate()

    found = []
    for i in range(6):
        if i == 4:
            kept.value = torch.zeros(2)
        found.append(f(torch.ones(2))[0].item())
    assert found == [1.5, 2.625, 3.75, 4.84375, 3.0, 5.25]
    assert kept.rate() == 3.5 and f.explain()["hits"] >= 2


def test_a_slot_of_a_module_is_guarded(executor):
    class Scaled(nn.Module):
        __slots__ = ("factor",)

        def forward(self, x):
            return x * self.factor

    module = Scaled()
    object.__setattr__(module, "factor", 2.0)
    f = torch.compile(module.forward)
    found = [f(torch.ones(1)).item() for _ in range(3)]
    object.__setattr__(module, "factor", 3.0)
    assert [*found, f(torch.ones(1)).item()] == [2.0, 2.0, 2.0, 3.0] and f.explain()["hits"] == 2


def test_a_slot_without_a_value(executor):
    class Late:
        __slots__ = ("value",)

    kept = Late()

    @torch.compile
    def f(x):
        return x + 1 if not hasattr(kept, "value") else x + kept.value

    found = [f(torch.ones(1)).item() for _ in range(3)]
    kept.value = torch.full((1,), 4.0)
    found += [f(torch.ones(1)).item() for _ in range(3)]
    del kept.value
    assert [*found, f(torch.ones(1)).item()] == [2.0, 2.0, 2.0, 5.0, 5.0, 5.0, 2.0]
    assert f.explain()["hits"] >= 4


def test_a_dataclass_with_slots(executor):
    @dataclasses.dataclass(slots=True)
    class Mean:
        value: object
        rate: float = 0.5

    mean = Mean(torch.zeros(2))

    @torch.compile
    def f(x):
        mean.value = (mean.value + x * mean.rate).detach()
        mean.rate = 0.75 - mean.rate
        return mean.value * 1.0

    assert [f(torch.ones(2))[0].item() for _ in range(6)] == [0.5, 0.75, 1.25, 1.5, 2.0, 2.25]
    assert f.explain()["hits"] == 4


def test_a_window_that_is_a_deque(executor):
    latest = collections.deque(maxlen=3)

    @torch.compile
    def f(x):
        latest.append(x * 2)
        return sum(latest)

    found = [f(torch.full((2,), float(i)))[0].item() for i in range(9)]
    assert found == [0.0, 2.0, 6.0, 12.0, 18.0, 24.0, 30.0, 36.0, 42.0]
    assert latest.maxlen == 3 and f.explain()["hits"] == 5
    latest.clear()
    assert f(torch.ones(2))[0].item() == 2.0
    latest.rotate()
    assert [f(torch.ones(2))[0].item() for _ in range(3)] == [4.0, 6.0, 6.0]


def test_a_deque_in_other_orders(executor):
    """`appendleft`, `rotate`, `pop` and the like, and the same contents held by somebody."""
    kept = SimpleNamespace(queue=collections.deque([torch.zeros(1), torch.ones(1)]))

    @torch.compile
    def f(x):
        kept.queue.rotate()
        kept.queue.appendleft(x * 2)
        return kept.queue.pop() * 1.0

    queue, held, found = kept.queue, [], []
    for i in range(6):
        held.append(list(queue))
        found.append(f(torch.full((1,), float(i))).item())
    assert kept.queue is queue and found == [0.0, 0.0, 2.0, 4.0, 6.0, 8.0]
    assert [t.item() for t in held[0]] == [0.0, 1.0] and f.explain()["hits"] >= 3


@pytest.mark.parametrize("number", [False, True])
def test_a_log_that_is_a_deque(executor, number):
    """Nobody looks into it: each call appends, whatever was there."""
    log = collections.deque(maxlen=3)

    @torch.compile
    def f(x):
        total = (x * 2).sum()
        log.append(total.item() if number else total)
        return x + 1

    for i in range(9):
        f(torch.full((2,), float(i)))
    assert [float(x) for x in log] == [24.0, 28.0, 32.0] and f.explain()["hits"] >= 7


def test_a_log_to_which_what_is_there_is_appended_again(executor):
    """It cannot be told how often; then what stands there is guarded."""
    log = collections.deque([0, 1, 2], maxlen=3)

    @torch.compile
    def f(x):
        log.append(1)
        log.append(2)
        return x + 1

    for _ in range(4):
        f(torch.ones(1))
    assert list(log) == [2, 1, 2]
    log.extend([5, 6, 7])
    f(torch.ones(1))
    assert list(log) == [7, 1, 2]


def test_a_counter_is_followed_like_a_dict(executor):
    seen = collections.Counter(a=1)

    @torch.compile
    def f(x):
        seen["a"] += 1
        return x * seen["a"] + seen["b"]

    assert [f(torch.ones(1)).item() for _ in range(6)] == [2.0, 3.0, 4.0, 5.0, 6.0, 7.0]
    assert seen == {"a": 7} and f.explain()["hits"] >= 3


@pytest.mark.parametrize("kind", ["argument", "attribute"])
def test_a_view_of_a_view_whose_base_nobody_names(executor, kind):
    kept = SimpleNamespace(row=torch.zeros(2, 3)[1])

    @torch.compile
    def f(x, row):
        return x * 2, (kept.row if row is None else row)[:2]

    for i in range(4):
        base = torch.full((2, 3), float(i))
        if kind == "attribute":
            base = kept.row._base
            base.fill_(i)
        _, part = f(torch.ones(1), base[1] if kind == "argument" else None)
        assert part._base is base
        base.add_(1)
        assert part.tolist() == [i + 1.0, i + 1.0]
    assert f.explain()["hits"] == 3
    if kind == "argument":
        _, part = f(torch.ones(1), torch.ones(2, 3).detach()[1])
        assert part.tolist() == [1.0, 1.0] and part._base is not None
