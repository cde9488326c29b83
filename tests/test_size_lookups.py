"""Symbolic sizes in hash tables: what jax has cached changes neither a guard nor a result."""

import collections
import dataclasses
import functools

import jax
import numpy as np
import pytest

import jaxflow as torch
from jaxflow._core.aval import aval_of
from jaxflow._plans.op import OPS
from jaxflow._shapes import shape_families
from jaxflow._shapes.symbolic_dims import ShapeEnv, hint_of

SHAPED = jax.core.ShapedArray


@pytest.fixture(autouse=True)
def _no_families_of_other_bodies():
    """What was made of a body that a test has given to an operation serves no later test."""
    yield
    shape_families.forget()


def replaced(monkeypatch, body):
    """Give relu another body, and no plans that were made of its own one."""
    monkeypatch.setattr(OPS["relu"], "fn", body)
    monkeypatch.setattr(OPS["relu"], "plans", {})
    monkeypatch.setattr(OPS["relu"], "older_plans", {})
    shape_families.forget()


@dataclasses.dataclass(frozen=True)
class Key:
    """As the parameters of jax's primitives that are classes."""

    shape: tuple


@functools.partial(jax.jit, static_argnums=1)
def _of_number(x, number):
    return x + 1


LOOKUPS = {
    # jax's table of all avals compares entries by seven bits of their hashes: one lookup of six meets one.
    "aval": lambda n: SHAPED((n, 3), np.float64).shape[0],
    "number": lambda n: _of_number.trace(1.0, n) and n,
    "parameter": lambda n: jax.make_jaxpr(lambda x: jax.lax.broadcast(x, (n, 3)))(1.0).out_avals[0].shape[0],
}


@pytest.mark.parametrize("name", LOOKUPS)
def test_a_lookup_decides_nothing_whatever_the_table_holds(name):
    look = LOOKUPS[name]
    numbers = range(2, 402)
    held = [SHAPED((n, 3), np.float64) if name == "aval" else look(n) for n in numbers]
    for hint in numbers:
        env = ShapeEnv()
        with env:
            n = env.symbol(hint)
            m = n + 1
            assert look(n) is n
            assert look(m) is m
        assert not env.guards, held[0]


def test_sizes_of_two_families_are_never_equal():
    one, other = ShapeEnv(), ShapeEnv()
    with one, other:
        a, b = one.symbol(5), other.symbol(5)
        assert a.source == b.source
        assert a != b
        assert a not in (b, [b])
        with pytest.raises(RuntimeError, match="outside of its trace"):
            _ = a < b


DECISIONS = {
    "equal": lambda n: n == 8,
    "in a list": lambda n: n in [3, 8],
    "of tuples": lambda n: (n, 3) == (8, 3),
    "of classes": lambda n: Key((n, 3)) == Key((8, 3)),
    "index": lambda n: (3, 8).index(n) == 1,
    "count": lambda n: [n, n, 3].count(8) == 2,
    "after a lookup": lambda n: bool(aval_of((n,), torch.float64, torch.device("cpu"))) and n == 8,
}


@pytest.mark.parametrize("name", DECISIONS)
def test_a_decision_is_written_down(name):
    decide = DECISIONS[name]
    env = ShapeEnv()
    with env:
        assert decide(env.symbol(8))
    assert env.holds(env.guards)(8)
    assert not env.holds(env.guards)(9)
    other = ShapeEnv()
    with other:
        try:
            assert not decide(other.symbol(9))
        except ValueError:
            assert name == "index"
    assert other.holds(other.guards)(9)
    assert not other.holds(other.guards)(8)


TABLES = {
    "hash": lambda n: hash(n) + 1,
    "set": lambda n: 3 in {n},
    "looked for": lambda n: n in {3, 8},
    "key": lambda n: {n: 1},
    "looked up": lambda n: {8: 1}.get(n, 2) + 1,
    "frozen": lambda n: frozenset((1, n)),
    "in a tuple": lambda n: {(n, 3)},
    "different ones": lambda n: len({n, n + 1}),
    "counted": lambda n: collections.Counter([n]),
    "cached": functools.lru_cache(lambda n: n),
    "of a class": lambda n: {Key((n,))},
    "without doubles": lambda n: dict.fromkeys([n]),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_body_has_no_size_in_its_tables(name):
    """Whatever is not found in them, no guard would say so."""
    env = ShapeEnv()
    with env:
        n = env.symbol(8)
        with pytest.raises(TypeError, match="hash of a size that is symbolic"):
            TABLES[name](n)
    assert not env.guards
    TABLES[name](8)


@pytest.mark.parametrize("name", TABLES)
def test_a_table_of_a_body_leads_to_concrete_traces(name, monkeypatch):
    found = []

    def body(x):
        TABLES[name](x.shape[0])
        found.append(type(x.shape[0]))
        return x[: 2 if x.shape[0] in {5, 8, 11} else 1]

    replaced(monkeypatch, body)
    for rows in (5, 6, 7, 8, 9, 10, 11):
        assert torch.relu(torch.ones(rows, 3)).shape == (2 if rows in {5, 8, 11} else 1, 3)
    assert set(found) == {int}


def test_a_size_is_a_number_to_everybody():
    elsewhere = {"__name__": "elsewhere"}
    exec("def ask(n): return isinstance(n, int), isinstance(n, (list, tuple)), n.__class__", elsewhere)
    own = {"__name__": "jaxflow._ops.elsewhere"}
    exec("def ask(n): return isinstance(n, int), isinstance(n, (list, tuple)), n.__class__", own)
    env = ShapeEnv()
    with env:
        n = env.symbol(7)
        assert hint_of(n) == 7
        assert elsewhere["ask"](n) == own["ask"](n) == own["ask"](7) == (True, False, int)


def test_a_family_that_serves_no_earlier_plan_is_held_against_a_trace(monkeypatch):
    """The body has two paths, and on one of them it sees that its size is symbolic."""

    def body(x):
        n = x.shape[0]
        return x[: 2 if n <= 9 or type(n) is int else 1]

    replaced(monkeypatch, body)
    for rows, columns in [(5, 6), (7, 9), (8, 3), (10, 4), (11, 5), (12, 7)]:
        kind = aval_of((rows, columns), torch.float64, torch.device("cpu"))
        plan = shape_families.build(OPS["relu"], (kind,), ())
        assert plan.out_avals[0].shape == (2, columns)
        assert (plan.member is not None) == (rows == 8)


def test_a_family_beside_the_earlier_plans_is_made(monkeypatch):
    """Its guards exclude all that was traced before, and it gives what tracing gives."""
    runs = []

    def body(x):
        runs.append(x.shape)
        return x[:2] if x.shape[0] > 9 else x[:1]

    replaced(monkeypatch, body)
    for rows, columns in [(5, 6), (7, 9), (10, 4), (11, 5), (12, 7)]:
        kind = aval_of((rows, columns), torch.float64, torch.device("cpu"))
        plan = shape_families.build(OPS["relu"], (kind,), ())
        assert plan.out_avals[0].shape == (2 if rows > 9 else 1, columns)
    assert len(runs) == 4  # two for themselves, with symbols, and the trace that was compared


def test_shapes_that_happen_to_be_alive_narrow_no_family(monkeypatch):
    """With these alive, one family in six was made for the 8 of the third shape alone."""
    alive = [SHAPED((8, n), np.float64) for n in range(2, 3000)]

    def body(x):
        n = x.shape[0]
        return x[: n // 2 if type(n) is int else 1]

    for _ in range(60):
        replaced(monkeypatch, body)
        for rows, columns in [(5, 6), (7, 9), (8, 3)]:
            kind = aval_of((rows, columns), torch.float64, torch.device("cpu"))
            plan = shape_families.build(OPS["relu"], (kind,), ())
        assert plan.out_avals[0].shape == (4, 3), alive[0]
