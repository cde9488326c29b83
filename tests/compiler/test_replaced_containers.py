"""Containers that each call of a compiled function replaces: hidden states, lists made anew, nested ones."""

from types import SimpleNamespace

import numpy as np
import pytest
from running import check_same, numbers

import jaxflow as torch
from jaxflow import nn


def hidden(compiler):
    """The state of a recurrent network, made anew in each call, and reset once."""
    torch.manual_seed(0)
    kept = SimpleNamespace(cell=nn.LSTMCell(3, 4), hidden=None)

    @compiler
    def step(x):
        h, c = kept.cell(x, kept.hidden)
        kept.hidden = h.detach(), c.detach()
        return kept.hidden[0] * 2

    def between(i):
        if i == 4:
            kept.hidden = None

    return step, between, lambda: list(kept.hidden)


def made_anew(compiler):
    kept = SimpleNamespace(items=[torch.zeros(2), torch.ones(2)], table={"a": torch.ones(2), "s": 0.5})

    @compiler
    def step(x):
        kept.items = [t * 0.5 + x.sum() for t in kept.items]
        kept.table = {**kept.table, "s": 0.25}
        return kept.items[0] + kept.table["a"]

    def between(i):
        if i == 4:
            kept.items[0] = torch.full((2,), 5.0)
            kept.table["a"] = kept.table["a"] + 1

    return step, between, lambda: [*kept.items, *kept.table.values(), list(kept.table)]


def nested(compiler):
    kept = SimpleNamespace(states=[(torch.zeros(3), 1), (torch.ones(3), 2)])

    @compiler
    def step(x):
        kept.states = [(s + x.sum(), k) for s, k in kept.states]
        return kept.states[1][0] * 2

    def between(i):
        if i == 4:
            kept.states = [(torch.full((3,), 2.0), 1), (torch.full((3,), 3.0), 2)]

    return step, between, lambda: [s for s, _ in kept.states]


def held_outside(compiler):
    """What somebody keeps of an old container stays as it was."""
    kept = SimpleNamespace(hidden=(torch.zeros(2), torch.zeros(2)))
    old = []

    @compiler
    def step(x):
        kept.hidden = kept.hidden[1], kept.hidden[0] + x.sum()
        return kept.hidden[1] * 1

    return step, lambda i: old.append(kept.hidden), lambda: [t for pair in old for t in pair]


def changed_first(compiler):
    """A list and a dict that are changed, and then replaced: both are seen by who holds the old ones."""
    kept = SimpleNamespace(items=[torch.zeros(2)], table={"a": torch.ones(2), "b": 0.5})
    old = []

    @compiler
    def step(x):
        kept.items.append(x.sum(0)[:2])
        kept.items = [*kept.items[-1:], kept.items[0] * 0.5]
        kept.table["a"] = kept.table["a"] * 0.5 + x.sum()
        kept.table = {k: (v if k == "b" else v * 2) for k, v in kept.table.items()}
        return kept.items[0] + kept.table["a"]

    def between(i):
        old.append((kept.items, kept.table))
        if i == 4:
            kept.table = {"a": torch.full((2,), 3.0), "b": 0.25}

    def shown():
        return [list(map(list, (items, table.values()))) for items, table in old]

    return step, between, shown


def cleared_first(compiler):
    """A list that is cleared, and then replaced at two places."""
    kept = SimpleNamespace(items=[torch.zeros(2)], table={"list": None})
    kept.table["list"] = kept.items
    old = []

    @compiler
    def step(x):
        kept.items.clear()
        kept.items = kept.table["list"] = [x.sum(0)]
        return x * 1

    def shown():
        assert kept.items is kept.table["list"]
        return [list(items) for items in old]

    return step, lambda i: old.append(kept.items), shown


def in_two_that_are_replaced(compiler):
    """A list that stands in a dict and elsewhere, both of which are replaced."""
    kept = SimpleNamespace(items=[torch.zeros(3)], table={"list": None, "n": 0.5})
    kept.table["list"] = kept.items

    @compiler
    def step(x):
        y = kept.items[0] + (1.0 if kept.items is kept.table["list"] else 2.0)
        kept.table = {**kept.table, "n": 0.25}
        kept.items = kept.table["list"] = [x.sum(0)]
        return y

    def between(i):
        if i == 4:  # the same tensor, in another list
            kept.items = list(kept.items)

    return step, between, lambda: [kept.items, kept.table["list"]]


WAYS = [(in_two_that_are_replaced, 3), (hidden, 4), (made_anew, 4), (nested, 5), (held_outside, 5),
        (changed_first, 3), (cleared_first, 4)]


@pytest.mark.parametrize(("make", "hits"), WAYS)
def test_containers_that_each_call_replaces(make, hits, deferred):
    def found(compiler):
        step, between, state = make(compiler)
        shown = []
        for i in range(6):
            between(i)
            shown.append((step(torch.full((1, 3), float(i))), *state()))
        return shown

    functions = []
    got = numbers(found(lambda f: functions.append(torch.compile(f)) or functions[-1]))
    check_same(got, numbers(found(lambda f: f)))
    report = functions[0].explain()
    assert report["hits"] == hits, report


def test_a_container_of_another_kind_while_numpy_shares_other_memory():
    array = np.zeros(2)
    shared = torch.from_numpy(array)

    def found(compiler):
        kept = SimpleNamespace(items=[torch.ones(3)])

        @compiler
        def step(x):
            y = x + kept.items[-1]
            kept.items = [y.detach(), y * 2]
            return y

        shown = []
        for i in range(6):
            if i == 4:
                kept.items = (torch.zeros(3),)
            shown.append((step(torch.ones(3)), *kept.items))
        return shown

    check_same(numbers(found(torch.compile)), numbers(found(lambda f: f)))
    array += 1
    assert shared.tolist() == [1, 1]
