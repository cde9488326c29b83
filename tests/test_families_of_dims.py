"""Operators whose dimensions and sizes change in one process: each call gives what it gives alone.

From the third call of an operator on, its plans may be members of a family (NOTE [Families of plans]), in
which the numbers that changed are symbols: the extents, and dimensions among the static arguments too.
"""

import itertools
import random

import numpy as np
import pytest

import jaxflow as torch
from jaxflow._core import budget, flags
from jaxflow._core.state import state
from jaxflow._exec.numpy import immediate
from jaxflow._shapes import plan_cache, shape_families

SHAPES = [(4, 4, 4, 1), (1, 4, 4), (4, 1, 4), (4, 4, 1), (4, 5, 1), (6, 5, 1), (2, 3, 5), (3, 3, 3),
          (1, 1, 7)]
ONE = {
    "squeeze": lambda x, d: x.squeeze(d),
    "unsqueeze": lambda x, d: x.unsqueeze(d),
    "sum": lambda x, d: x.sum(d),
    "mean": lambda x, d: x.mean(d, keepdim=True),
    "prod": lambda x, d: x.prod(d),
    "amax": lambda x, d: x.amax(d),
    "max": lambda x, d: torch.stack([part.double() for part in x.max(d)]),
    "argmin": lambda x, d: x.argmin(d),
    "any": lambda x, d: (x > 5).any(d),
    "var": lambda x, d: x.var(d, correction=0),
    "norm": lambda x, d: torch.linalg.vector_norm(x, 2, d),
    "logsumexp": lambda x, d: x.logsumexp(d),
    "softmax": lambda x, d: x.softmax(d),
    "cumsum": lambda x, d: x.cumsum(d),
    "cummax": lambda x, d: x.cummax(d)[1],
    "sort": lambda x, d: x.sort(d, descending=True)[0],
    "topk": lambda x, d: x.topk(1, d)[0],
    "median": lambda x, d: x.median(d)[0],
    "flip": lambda x, d: x.flip(d),
    "roll": lambda x, d: x.roll(1, d),
    "cat": lambda x, d: torch.cat([x, x + 1], d),
    "stack": lambda x, d: torch.stack([x, x + 1], d),
    "select": lambda x, d: x.select(d, -1),
    "narrow": lambda x, d: x.narrow(d, 0, 1),
    "index_select": lambda x, d: x.index_select(d, torch.tensor([0, 0])),
    "gather": lambda x, d: x.gather(d, torch.zeros_like(x, dtype=torch.int64)),
    "scatter": lambda x, d: x.scatter(d, torch.zeros_like(x, dtype=torch.int64), 2.0),
    "index_add": lambda x, d: x.index_add(d, torch.tensor([0]), x.narrow(d, 0, 1)),
    "repeat_interleave": lambda x, d: x.repeat_interleave(2, d),
    "chunk": lambda x, d: x.chunk(2, d)[0],
    "unbind": lambda x, d: x.unbind(d)[0],
    "unfold": lambda x, d: x.unfold(d, 1, 1),
    "diff": lambda x, d: x.diff(dim=d),
    "unflatten": lambda x, d: x.unflatten(d, (1, -1)),
    "select_scatter": lambda x, d: x.select_scatter(x.select(d, 0) * 2, d, -1),
    "renorm": lambda x, d: x.renorm(2, d, 1.0),
    "fft": lambda x, d: torch.fft.fft(x, dim=d).abs(),
    "squeeze, written": lambda x, d: _written(x, lambda y: y.squeeze(d)),
    "select, written": lambda x, d: _written(x, lambda y: y.select(d, 0)),
}
TWO = {
    "squeeze": lambda x, a, b: x.squeeze((a, b)),
    "sum": lambda x, a, b: x.sum((a, b)),
    "amin": lambda x, a, b: x.amin((b, a), keepdim=True),
    "std": lambda x, a, b: x.std((a, b), correction=0),
    "transpose": lambda x, a, b: x.transpose(a, b),
    "movedim": lambda x, a, b: x.movedim(a, b),
    "flip": lambda x, a, b: x.flip(a, b),
    "roll": lambda x, a, b: x.roll((1, 2), (a, b)),
    "rot90": lambda x, a, b: torch.rot90(x, 1, (a, b)),
    "diagonal": lambda x, a, b: x.diagonal(0, a, b),
    "diag_embed": lambda x, a, b: torch.diag_embed(x, 0, a, b),
    "flatten": lambda x, a, b: x.flatten(*sorted((a % x.dim(), b % x.dim()))),
    "fftn": lambda x, a, b: torch.fft.fftn(x, dim=(a, b)).abs(),
    "logsumexp": lambda x, a, b: x.logsumexp((a, b)),
    "matrix norm": lambda x, a, b: torch.linalg.matrix_norm(x, "fro", (a, b)),
    "transpose, written": lambda x, a, b: _written(x, lambda y: y.transpose(a, b)),
    "squeeze, written": lambda x, a, b: _written(x, lambda y: y.squeeze((a, b))),
}
CALLS = {**{f"{name}, one": (f, 1) for name, f in ONE.items()},
         **{f"{name}, two": (f, 2) for name, f in TWO.items()}}
COMPILED = ("squeeze, one", "sum, one", "squeeze, two", "transpose, two", "roll, one",
            "squeeze, written, two")


def _written(x, view):
    y = x.clone()
    view(y).mul_(3)
    return y


def dims_of(count, shape):
    """The dimensions to name, from either end."""
    n = len(shape)
    if count == 1:
        return [(d,) for d in range(-n, n)]
    return [(a, b) for a, b in itertools.permutations(range(-n, n), 2) if a % n != b % n]


def forget():
    """As in a new process."""
    torch.flush()
    for _ in range(2):
        budget.rotate()
    shape_families.forget()
    plan_cache.forget()


def outcome(call, shape, dims):
    """The numbers of a result, or the kind of its error."""
    x = torch.arange(float(np.prod(shape)), dtype=torch.float64).reshape(shape) * 0.37 % 9
    try:
        found = call(x, *dims)
    except Exception as error:  # noqa: BLE001 - whatever the operator refuses
        return type(error).__name__
    total = found.sum() + 1
    numbers = found.numpy()
    assert numbers.shape == tuple(found.shape)
    np.testing.assert_allclose(total.item(), numbers.sum() + 1)
    return numbers


def alone(monkeypatch, call, jobs):
    """What each call gives where no family is ever made."""
    forget()
    with monkeypatch.context() as patch:
        patch.setattr(shape_families, "_EVIDENCE", 1 << 30)
        return {job: outcome(call, *job) for job in dict.fromkeys(jobs)}


def sequences(count, rng, length):
    """Shapes A, B, C and A again, with a dimension or several of them each; some are met often."""
    jobs = []
    for _ in range(length):
        for shape in (found := rng.sample(SHAPES, 3)) + found[:1]:
            dims = dims_of(count, shape)
            jobs += [(shape, d) for d in rng.sample(dims, min(3, len(dims)))]
    return jobs


def check(name, monkeypatch, seed, length):
    call, count = CALLS[name]
    jobs = sequences(count, random.Random(f"{name} {seed}"), length)
    expected = alone(monkeypatch, call, jobs)
    forget()
    for job in jobs:
        found, want = outcome(call, *job), expected[job]
        assert type(found) is type(want), (job, found, want)
        if isinstance(want, str):
            assert found == want, job
        else:
            assert (found.shape, found.dtype) == (want.shape, want.dtype), job
            np.testing.assert_allclose(found, want, rtol=1e-12, atol=1e-12, err_msg=str(job))


@pytest.mark.parametrize("name", CALLS)
def test_every_order_of_shapes_and_dimensions_gives_the_same(name, deferred, monkeypatch):
    check(name, monkeypatch, 0, 4)


@pytest.mark.parametrize("name", COMPILED)
def test_it_does_so_through_xla(name, deferred, monkeypatch):
    monkeypatch.setattr(flags, "INTERPRET", False)
    check(name, monkeypatch, 1, 1)


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_squeezing_each_dimension_in_any_order(order, deferred):
    rows = [(0, (1, 4, 4)), (1, (4, 1, 4)), (2, (4, 4, 1))]
    forget()
    for d, shape in [rows[i] for i in (*order, *order)]:
        x = torch.ones(shape).squeeze(d)
        assert ((x - torch.zeros(4, 4)) ** 2).sum().item() == 16
        assert x.numpy().shape == (4, 4)


@pytest.mark.parametrize("dims, shape", [
    ((0, 1, 2, 3, -1, 2, 3), (4, 4, 4, 1)),
    (((0, 1), (1, 2), (2, 3), (3, 4), (2, -1), (2, 4)), (4, 4, 4, 1, 1)),
    (((0, 1), (1, 0), (2, 0), (2, 1), (2, -1)), (4, 5, 1)),
])
def test_squeezing_nothing_at_first(dims, shape, deferred):
    """A family of the calls that change nothing served those that do."""
    forget()
    for d in dims:
        places = [d] if isinstance(d, int) else d
        if len({p % len(shape) for p in places}) < len(places):
            continue
        want = [n for i, n in enumerate(shape) if n != 1 or i not in [p % len(shape) for p in places]]
        found = torch.ones(shape).squeeze(d)
        assert list(found.shape) == want
        assert (found + 1).numpy().shape == tuple(want)


def test_the_results_of_a_call_to_the_host_grow_too(deferred, monkeypatch):
    """The shapes that a callback is to give stand among its parameters, as avals."""
    forget()
    monkeypatch.setattr(state, "streak", immediate.STREAK)
    for n in (3, 4, 5, 6, 7):
        A = torch.eye(n, dtype=torch.float64) * 2 + 1
        LD, pivots = torch.linalg.ldl_factor(A)
        b = torch.ones(n, 1, dtype=torch.float64)
        np.testing.assert_allclose(torch.linalg.ldl_solve(LD, pivots, b), np.full((n, 1), 1 / (n + 2)))
