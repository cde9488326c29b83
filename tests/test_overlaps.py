"""NOTE [Updates that read what they replace]: writes of a tensor's own numbers to other places of it."""

import jax
import numpy as np
import pytest

import jaxflow as torch
from jaxflow._core import cache_pressure
from jaxflow._exec import executable

pytestmark = pytest.mark.usefixtures("deferred", "compiled")
N = torch.arange(1, 13)


def a_row_of_it(x):
    y = x.tanh()
    z = y.view(-1).clone()
    z[1:4] = y.view(-1)[:3]
    return y, z


def rows_shifted_down(x):
    y = x * 2
    z = y.clone()
    z.view(4, 3)[1:] = y.view(4, 3)[:-1]
    return y, z


def itself(x):
    x = (x * 2).view(-1)
    x[1:12].copy_(x[:11].clone())
    return x, x.view(3, 4)


def what_was_computed_from_it(x):
    y = x.sin()
    z = y.reshape(-1).clone()
    z[1:9] = y.reshape(-1)[:8] * 2 + 1
    return z.view(3, 4), y


def through_two_views(x):
    y = x.exp().view(2, 6)
    z = y.clone()
    z.view(-1)[2:10].view(2, 4)[:] = y.view(-1)[1:9].view(2, 4)
    return y, z.view(12)


CASES = [a_row_of_it, rows_shifted_down, itself, what_was_computed_from_it, through_two_views]


def numbers_of(fn, dtype, compile=False):
    given = (N.reshape(3, 4) / 8).to(dtype)
    out = (torch.compile(fn) if compile else fn)(given)
    return [t.tolist() for t in (out if isinstance(out, tuple) else (out,))]


def expected(fn, dtype):
    with torch.execution("eager"):
        return numbers_of(fn, dtype)


@pytest.mark.parametrize("compile", [False, True])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.complex64])
@pytest.mark.parametrize("fn", CASES, ids=lambda fn: fn.__name__)
def test_what_is_written_is_what_was_there_before(fn, dtype, compile):
    for got, wanted in zip(numbers_of(fn, dtype, compile), expected(fn, dtype), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=2e-2 if dtype is torch.bfloat16 else 1e-5)


@pytest.mark.parametrize("dtype", [torch.int64, torch.uint8, torch.bool])
def test_whole_numbers_too(dtype):
    def shift(x):
        y = (x % 3).to(dtype)
        z = y.view(-1).clone()
        z[1:9] = y.view(-1)[:8]
        return y, z

    assert numbers_of(shift, torch.int64, True) == expected(shift, torch.int64)


@pytest.mark.skipif(jax.__version_info__[:2] == (0, 11), reason="none of the cases is wrong with jax 0.11.2")
def test_without_the_note_xla_reads_what_it_has_just_written(monkeypatch):
    """If this fails, XLA is mended (openxla/xla#49176), and the module can go."""
    monkeypatch.setattr(executable, "overlapping", lambda steps: set())
    cache_pressure.forget()
    try:
        pairs = [(numbers_of(fn, torch.float64, True), expected(fn, torch.float64)) for fn in CASES]
    finally:
        cache_pressure.forget()  # other tests meet the same programs, and are to compile them anew
    # Which of them are wrong changes from version to version.
    assert not all(np.allclose(got, wanted) for one in pairs for got, wanted in zip(*one, strict=True))


def test_only_what_may_overlap_is_computed_beforehand(monkeypatch):
    found, overlapping = [], executable.overlapping

    def noted(steps):
        found.append(overlapping(steps))
        return found[-1]

    monkeypatch.setattr(executable, "overlapping", noted)
    zeros, ones = torch.zeros(3, 4), torch.ones(3, 5)

    def f(x, y):
        x, y = x * 2, y * 3
        x[1:, :2] = y[1:, 3:]
        y[:, 1:3] = y[:, :2] + 1
        return x, y

    numbers_of(lambda _: f(zeros, ones), torch.float32, True)
    assert sum(map(len, found)) == 1
