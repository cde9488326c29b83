"""What `jaxflow._random` draws against what PyTorch draws: bits of the numbers, and of the state behind
them."""

import warnings

import numpy as np
import pytest
import torch

from jaxflow._core import dtype as dtypes
from jaxflow._random import (
    categories,
    counts,
    gamma,
    integers,
    inversion,
    normal,
    permutation,
    twister,
    uniform,
)
from jaxflow._random.cursor import Cursor
from jaxflow._random.place import bytes_of, place_of, start_of

SEEDS = (0, 1, 42, 2**31 + 5, 2**63 - 1)
SIZES = (0, 1, 2, 15, 16, 17, 31, 33, 100, 1000, 16385)
FLOATS = ("float32", "float64", "bfloat16", "float16")
PARTS = ("complex64", "complex128")
INTEGERS = ("int64", "int32", "int16", "int8", "uint8")


def empty(n, dtype):
    return torch.empty(n, dtype=getattr(torch, dtype))


#: For each draw: dtypes, PyTorch's call, ours.
DRAWS = {
    "rand": (FLOATS + PARTS, lambda g, n, d: torch.rand(n, dtype=getattr(torch, d), generator=g),
             uniform.uniform),
    "uniform_(-.3, .7)": (FLOATS, lambda g, n, d: empty(n, d).uniform_(-.3, .7, generator=g),
                          lambda c, n, d: uniform.uniform(c, n, d, -.3, .7)),
    "uniform_(5, 1000)": (FLOATS, lambda g, n, d: empty(n, d).uniform_(5, 1e3, generator=g),
                          lambda c, n, d: uniform.uniform(c, n, d, 5, 1e3)),
    "randn": (FLOATS + PARTS, lambda g, n, d: torch.randn(n, dtype=getattr(torch, d), generator=g),
              normal.normal),
    "normal_(.1, .02)": (FLOATS + PARTS, lambda g, n, d: empty(n, d).normal_(.1, .02, generator=g),
                         lambda c, n, d: normal.normal(c, n, d, .1, .02)),
    "normal_, apart": (FLOATS, lambda g, n, d: empty(2 * n, d)[::2].normal_(.1, .02, generator=g),
                       lambda c, n, d: normal.normal(c, n, d, .1, .02, dense=n < 2)),
    "random_(0, 100)": (FLOATS + INTEGERS, lambda g, n, d: empty(n, d).random_(0, 100, generator=g),
                        lambda c, n, d: integers.integers(c, n, d, 0, 100)),
    "random_ of less than 2 ** 28": (
        ("int64", "int32", "float64"), lambda g, n, d: empty(n, d).random_(-5, 2**28 - 6, generator=g),
        lambda c, n, d: integers.integers(c, n, d, -5, 2**28 - 6)),
    "random_ of more": (
        ("int64", "int32", "float64", "float32"), lambda g, n, d: empty(n, d).random_(-5, 2**28, generator=g),
        lambda c, n, d: integers.integers(c, n, d, -5, 2**28)),
    "random_ of most": (("int64",), lambda g, n, d: empty(n, d).random_(-2**62, 2**62 + 12345, generator=g),
                        lambda c, n, d: integers.integers(c, n, d, -2**62, 2**62 + 12345)),
    "random_(0, 40000), rounded": (("float16", "bfloat16"),
                                   lambda g, n, d: empty(n, d).random_(-40000, 40000, generator=g),
                                   lambda c, n, d: integers.integers(c, n, d, -40000, 40000)),
    "random_()": ((*FLOATS, *INTEGERS, "bool"), lambda g, n, d: empty(n, d).random_(generator=g),
                  integers.any_integers),
    "randperm": (("int64", "int32", "float32"),
                 lambda g, n, d: torch.randperm(n, dtype=getattr(torch, d), generator=g),
                 permutation.permutation),
    "bernoulli_(.3)": ((*FLOATS, "bool", "int64"), lambda g, n, d: empty(n, d).bernoulli_(.3, generator=g),
                       lambda c, n, d: inversion.coins(c, n, .3).astype(d)),
    "exponential_(1.5)": (FLOATS, lambda g, n, d: empty(n, d).exponential_(1.5, generator=g),
                          lambda c, n, d: inversion.exponential(c, n, d, 1.5)),
    "geometric_(.1)": ((*FLOATS, "int64"), lambda g, n, d: empty(n, d).geometric_(.1, generator=g),
                       lambda c, n, d: inversion.geometric(c, n, d, .1)),
    "cauchy_(.5, 2)": (FLOATS, lambda g, n, d: empty(n, d).cauchy_(.5, 2, generator=g),
                       lambda c, n, d: inversion.cauchy(c, n, d, .5, 2)),
    "log_normal_(.5, .3)": (FLOATS, lambda g, n, d: empty(n, d).log_normal_(.5, .3, generator=g),
                            lambda c, n, d: inversion.log_normal(c, n, d, .5, .3)),
}


def bits(x):
    if isinstance(x, torch.Tensor):
        x = x.detach().contiguous()
        x = x.view(torch.int16).numpy() if x.dtype is torch.bfloat16 else x.numpy()
    return np.frombuffer(np.ascontiguousarray(x).tobytes(), np.uint8)


def np_dtype(name):
    return getattr(dtypes, name).np


@pytest.mark.parametrize(("name", "dtype"), [(name, d) for name, row in DRAWS.items() for d in row[0]])
def test_draws(name, dtype):
    """Calls of many sizes, one after another, then the whole state."""
    _, theirs, ours = DRAWS[name]
    for seed in SEEDS:
        generator, place = torch.Generator().manual_seed(seed), start_of(seed)
        for n in SIZES:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                expected = theirs(generator, n, dtype)
            cursor = Cursor(place)
            assert np.array_equal(bits(expected), bits(ours(cursor, n, np_dtype(dtype)))), (seed, n)
            place = cursor.place()
        assert np.array_equal(generator.get_state().numpy(), bytes_of(place, seed))


def test_words_of_a_compiled_program(monkeypatch):
    plain, compiled = Cursor(start_of(11)), Cursor(start_of(11))
    expected = plain.words(900_000)
    monkeypatch.setattr(twister._budget, "spent", 1 << 40)
    for begin, end in ((0, 100_001), (100_001, 900_000)):
        assert np.array_equal(compiled.words(end - begin), expected[begin:end])
    assert np.array_equal(bytes_of(compiled.place(), 11), bytes_of(plain.place(), 11))


@pytest.mark.parametrize("p", [0.0, 0.2, 0.5, 1.0])
def test_many_bools(p):
    generator = torch.Generator().manual_seed(2)
    expected = torch.empty(200_000, dtype=torch.bool).bernoulli_(p, generator=generator)
    assert np.array_equal(expected.numpy(), inversion.coins(Cursor(start_of(2)), 200_000, p))


@pytest.mark.parametrize(("mean", "std"), [(0.0, 1.0), (0.25, 0.02)])
def test_many_normal_numbers(mean, std, monkeypatch):
    """Those that a compiled program makes, and those that NumPy does."""
    expected = torch.empty(300_000).normal_(mean, std, generator=torch.Generator().manual_seed(5))
    programs = [normal.pairs(size, normal._pairs) is not None for size in normal.SIZES]
    for paid in (0, 1 << 40):
        monkeypatch.setattr(normal._budget, "spent", paid)
        found = normal.normal(Cursor(start_of(5)), 300_000, np.dtype(np.float32), mean, std)
        assert np.array_equal(bits(expected), bits(found)), (paid, programs)


RNG = np.random.default_rng(0)
ALPHAS = np.concatenate([RNG.uniform(0.01, 1, 40), RNG.uniform(1, 30, 40), [0.0, 1.0, 0.5, 1e-4]])
RATES = np.concatenate([RNG.uniform(0, 10, 60), RNG.uniform(10, 500, 60), [0.0, 10.0, 1e6]])
TRIALS, CHANCES = np.floor(RNG.uniform(0, 200, 150)), RNG.uniform(0, 1, 150)
CHANCES[:3] = 0, 1, 0.5

#: The same for what is drawn by tensors: dtypes, tensors, PyTorch's call, ours.
BY_TENSORS = {
    "poisson": (FLOATS[:2], (RATES,), lambda g, r: torch.poisson(r, generator=g), counts.poisson),
    "_standard_gamma": (FLOATS[:2], (ALPHAS,), lambda g, a: torch._standard_gamma(a, generator=g),
    gamma.gamma), "binomial": (FLOATS[:2], (TRIALS, CHANCES), lambda g, n, p: torch.binomial(n, p,
    generator=g), counts.binomial), "bernoulli": (FLOATS, (CHANCES,), lambda g, p: torch.bernoulli(p,
    generator=g),
                  lambda c, p: (inversion.thresholds(c, p.size, p.dtype) < p).astype(p.dtype)),
    "multinomial with replacement": (FLOATS, (CHANCES[3:].reshape(3, 49),),
                                     lambda g, p: torch.multinomial(p, 90, True, generator=g),
                                     lambda c, p: categories.with_replacement(c, p, 90)),
}


@pytest.mark.parametrize(("name", "dtype"), [(name, d) for name, row in BY_TENSORS.items() for d in row[0]])
def test_draws_by_tensors(name, dtype):
    _, arrays, theirs, ours = BY_TENSORS[name]
    given = [torch.tensor(a).to(getattr(torch, dtype)) for a in arrays]
    same = [bits(t).view(np_dtype(dtype)).reshape(t.shape) for t in given]
    for seed in SEEDS:
        generator, cursor = torch.Generator().manual_seed(seed), Cursor(start_of(seed))
        for _ in range(3):
            assert np.array_equal(bits(theirs(generator, *given)), bits(ours(cursor, *same))), seed
        assert np.array_equal(generator.get_state().numpy(), bytes_of(cursor.place(), seed))


def test_dirichlet_draws_the_same_numbers():
    """Their sum is taken in another order, so the last digit may differ."""
    given = torch.tensor(ALPHAS[:80].reshape(8, 10))
    for dtype in (torch.float32, torch.float64):
        a = given.to(dtype)
        generator, cursor = torch.Generator().manual_seed(3), Cursor(start_of(3))
        expected = torch._sample_dirichlet(a, generator=generator).numpy()
        rtol = 4 * np.finfo(expected.dtype).eps
        np.testing.assert_allclose(gamma.dirichlet(cursor, a.numpy()), expected, rtol=rtol)
        assert np.array_equal(generator.get_state().numpy(), bytes_of(cursor.place(), 3))


@pytest.mark.parametrize("words", [0, 1, 5, 623, 624, 625, 1247, 1248, 3000])
def test_states_go_both_ways(words):
    """PyTorch goes on from our bytes, and we from its."""
    generator, cursor = torch.Generator().manual_seed(9), Cursor(start_of(9))
    torch.empty(words, dtype=torch.int32).random_(generator=generator)
    cursor.words(words)
    torch.empty(3).normal_(generator=generator)
    normal.normal(cursor, 3, np.dtype(np.float32))  # one number waits
    state = generator.get_state()
    assert np.array_equal(state.numpy(), bytes_of(cursor.place(), 9))
    seed, place = place_of(state.numpy())
    theirs = torch.Generator()
    theirs.set_state(torch.from_numpy(bytes_of(place, seed)))
    ours = Cursor(place)
    for n in (1, 20, 1000):
        assert np.array_equal(bits(torch.randn(n, generator=theirs)), bits(normal.normal(ours, n,
        np.dtype(np.float32))))
    assert np.array_equal(theirs.get_state().numpy(), bytes_of(ours.place(), seed))


def test_what_is_no_state_is_refused_in_the_same_words():
    good = torch.Generator().manual_seed(1).get_state()
    broken = good.clone()
    broken[12:16] = 0  # the mark of a state that was seeded
    for data in (good[:100], good[:16], broken, good.float()):
        errors = []
        for read in (torch.Generator().set_state, lambda t: place_of(t.numpy())):
            with pytest.raises((RuntimeError, TypeError)) as caught:
                read(data)
            errors.append((caught.type, str(caught.value)))
        assert errors[0] == errors[1]
