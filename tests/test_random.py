"""Random operations: distributions by their distribution functions, ranges, generators, every executor."""

import inspect
import itertools
import math

import numpy as np
import pytest

import jaxflow as torch

F = torch.nn.functional
N = 20_000


def _normal(mean, std):
    return lambda x: 0.5 * math.erfc((mean - x) / (std * math.sqrt(2)))


def _poisson(rate):
    return [math.exp(k * math.log(rate) - rate - math.lgamma(k + 1)) for k in range(int(3 * rate) + 20)]


def _binomial(n, p):
    return [math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]


def _channels(dropout, *shape):
    """How many of a channel's two elements a dropout with 0.3 of whole channels leaves."""

    def draw(t):
        left = dropout(torch.ones(len(t) // 4, 4, 2, *shape), 0.3).reshape(len(t), 2) * 0.7
        return left.sum(1).round()

    return draw


def _alpha(dropout, *shape):
    """Which zeros a dropout with 0.3 that goes with SELU sends to SELU's floor, mapped as it maps them."""
    floor = -1.7580993408473766
    scale = 1 / math.sqrt(0.7 * (1 + 0.3 * floor**2))

    def draw(t):
        dropped = dropout(torch.zeros(len(t) // 4, 4, *shape), 0.3, True).reshape(len(t), -1)
        return (dropped / (scale * floor) + 0.3).mean(1)

    return draw


#: Each random function: a call that draws a number for each of ``t``, zeros, and its distribution function or
#: the chances of 0, 1, 2 and so on. Those that take a generator get it in ``g``.
DRAWS = {
    "rand": (lambda t, **g: torch.rand(len(t), **g), lambda x: x),
    "rand_like": (lambda t, **g: torch.rand_like(t.double(), **g), lambda x: x),
    "randn": (lambda t, **g: torch.randn(len(t), **g), _normal(0, 1)),
    "randn_like": (lambda t, **g: torch.randn_like(t.double(), **g), _normal(0, 1)),
    "uniform_": (lambda t, **g: t.uniform_(-3, 5, **g), lambda x: (x + 3) / 8),
    "uniform_ of halves": (lambda t, **g: t.half().uniform_(**g), lambda x: x),
    "normal_": (lambda t, **g: t.normal_(2, 3, **g), _normal(2, 3)),
    "normal": (lambda t, **g: torch.normal(t + 2, 3.0, **g), _normal(2, 3)),
    "normal, one mean": (lambda t, **g: torch.normal(2.0, t + 3, **g), _normal(2, 3)),
    "normal, one of both": (lambda t, **g: torch.normal(2.0, 3.0, (len(t),), **g), _normal(2, 3)),
    "normal, tensors": (lambda t, **g: torch.normal(t + 2, t + 3, **g), _normal(2, 3)),
    "exponential_": (lambda t, **g: t.exponential_(2.5, **g), lambda x: 1 - math.exp(-2.5 * x)),
    "cauchy_": (lambda t, **g: t.cauchy_(2, 3, **g), lambda x: 0.5 + math.atan((x - 2) / 3) / math.pi),
    "log_normal_": (
        lambda t, **g: t.log_normal_(0.5, 0.25, **g), lambda x: _normal(0.5, 0.25)(math.log(x))),
    "rrelu": (lambda t, **g: torch.rrelu(t - 1, 0.2, 0.6, True, **g), lambda x: (x + 0.6) / 0.4),
    "rrelu_": (lambda t, **g: torch.rrelu_(t - 1, 0.2, 0.6, True, **g), lambda x: (x + 0.6) / 0.4),
    "nn.functional.rrelu": (lambda t: F.rrelu(t - 1, 0.2, 0.6, True), lambda x: (x + 0.6) / 0.4),
    "bernoulli": (lambda t, **g: torch.bernoulli(t + 0.3, **g), [0.7, 0.3]),
    "bernoulli of doubles": (lambda t, **g: torch.bernoulli(t.double() + 0.3, **g), [0.7, 0.3]),
    "bernoulli, one chance": (lambda t, **g: torch.bernoulli(t, 0.3, **g), [0.7, 0.3]),
    "bernoulli_": (lambda t, **g: t.bool().bernoulli_(0.2, **g), [0.8, 0.2]),
    "bernoulli_ of a tensor": (lambda t, **g: t.long().bernoulli_(t + 0.2, **g), [0.8, 0.2]),
    "geometric_": (lambda t, **g: t.geometric_(0.3, **g), [0, *(0.3 * 0.7**k for k in range(40))]),
    "geometric_ of int8": (
        lambda t, **g: t.to(torch.int8).geometric_(0.9, **g), [0, *(0.9 * 0.1**k for k in range(9))]),
    "small poisson": (lambda t, **g: torch.poisson(t + 2.5, **g), _poisson(2.5)),
    "large poisson": (lambda t, **g: torch.poisson(t.double() + 40, **g), _poisson(40)),
    "poisson": (
        lambda t, **g: torch.poisson(torch.stack([t + 3, t + 11], 1), **g)[:, 1], _poisson(11)),
    "binomial": (lambda t, **g: torch.binomial(t + 10, t + 0.3, **g), _binomial(10, 0.3)),
    "large binomial": (
        lambda t, **g: torch.binomial(t + 100, torch.tensor(0.6), **g), _binomial(100, 0.6)),
    "randint": (lambda t, **g: torch.randint(2, 9, (len(t),), **g), [0, 0, *[1 / 7] * 7]),
    "randint_like": (lambda t, **g: torch.randint_like(t, 2, 9, **g), [0, 0, *[1 / 7] * 7]),
    "random_": (lambda t, **g: t.to(torch.uint8).random_(**g), [1 / 256] * 256),
    "random_ of a range": (lambda t, **g: t.random_(2, 9, **g), [0, 0, *[1 / 7] * 7]),
    "multinomial": (
        lambda t, **g: torch.multinomial(torch.tensor([1.0, 0, 3]), len(t), True, **g), [0.25, 0, 0.75]),
    "multinomial of rows": (
        lambda t, **g: torch.multinomial(torch.tensor([[1.0, 1], [4, 1]]), len(t), True, **g)[1], [0.8, 0.2]),
    "multinomial, one at a time": (
        lambda t, **g: torch.multinomial(torch.tensor([1.0, 3]).expand(len(t), 2), 1, True, **g)[:, 0],
        [0.25, 0.75]),
    "multinomial without replacement": (
        lambda t, **g: torch.multinomial(torch.tensor([2.0, 1, 1]).expand(len(t), 3), 2, **g)[:, 1],
        [1 / 3, 1 / 3, 1 / 3]),
    "randperm": (
        lambda t, **g: torch.stack([torch.randperm(4, **g) for _ in range(len(t) // 100)])[:, 0], [0.25] * 4),
    "gumbel_softmax": (
        lambda t: F.gumbel_softmax(torch.tensor([1.0, 3]).log().expand(len(t), 2), hard=True)[:, 1],
        [0.25, 0.75]),
    "nn.functional.dropout": (lambda t: (F.dropout(t + 1, 0.3) * 0.7).round(), [0.3, 0.7]),
    "dropout": (lambda t: (torch.dropout(t + 1, 0.3, True) * 0.7).round(), [0.3, 0.7]),
    "dropout_": (lambda t: (torch.dropout_(t + 1, 0.3, True) * 0.7).round(), [0.3, 0.7]),
    "native_dropout": (lambda t: torch.native_dropout(t + 1, 0.3, True)[1], [0.3, 0.7]),
    "feature_dropout": (_channels(lambda x, p: torch.feature_dropout(x, p, True)), [0.3, 0, 0.7]),
    "dropout1d": (_channels(F.dropout1d), [0.3, 0, 0.7]),
    "dropout2d": (_channels(F.dropout2d, 1), [0.3, 0, 0.7]),
    "dropout3d": (_channels(F.dropout3d, 1, 1), [0.3, 0, 0.7]),
    "alpha_dropout": (_alpha(torch.alpha_dropout), [0.7, 0.3]),
    "nn.functional.alpha_dropout": (_alpha(F.alpha_dropout), [0.7, 0.3]),
    "feature_alpha_dropout": (_alpha(torch.feature_alpha_dropout, 2), [0.7, 0.3]),
    "nn.functional.feature_alpha_dropout": (_alpha(F.feature_alpha_dropout, 2, 1), [0.7, 0.3]),
}


def _takes_generator(name):
    return bool(DRAWS[name][0].__code__.co_flags & inspect.CO_VARKEYWORDS)


def test_distributions():
    for name, (draw, distribution) in DRAWS.items():
        drawn = draw(torch.zeros(N)).double().numpy()
        (_continuous if callable(distribution) else _discrete)(name, drawn, distribution)


def _continuous(name, drawn, distribution):
    expected = np.vectorize(distribution)(np.sort(drawn))
    below, above = np.arange(N) / N, np.arange(1, N + 1) / N
    # Kolmogorov's distance; the bound is exceeded once in a thousand.
    assert max(np.abs(expected - below).max(), np.abs(expected - above).max()) < 1.95 / math.sqrt(N), name
    first, second = (np.argsort(np.argsort(half)) for half in np.split(drawn, 2))
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.035, name


def _discrete(name, drawn, chances):
    chances, whole = np.array(chances), np.round(drawn)
    np.testing.assert_allclose(drawn, whole, atol=1e-4, err_msg=name)
    counts = np.bincount(whole.astype(int), minlength=len(chances))
    assert len(counts) == len(chances) and not counts[chances == 0].any(), name
    expected = chances * drawn.size
    likely = expected > 5
    # Chi square, by Wilson and Hilferty's approximation of its quantile of one in a thousand.
    free = max(likely.sum() - 1, 1)
    limit = free * (1 - 2 / (9 * free) + 3.1 * math.sqrt(2 / (9 * free))) ** 3
    assert (((counts - expected) ** 2)[likely] / expected[likely]).sum() < limit, name


def test_bounds_are_kept():
    for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
        for low, high in ((0, 1), (1, 2), (-1, 0), (3, 3)):
            drawn = torch.empty(N, dtype=dtype).uniform_(low, high)
            assert drawn.min() >= low and (drawn.max() < high or low == high), (dtype, low)
        assert torch.empty(N, dtype=dtype).exponential_().min() > 0, dtype
    z = torch.empty(N, dtype=torch.complex64).uniform_(1, 2)
    assert 1 <= torch.view_as_real(z).min() and torch.view_as_real(z).max() < 2
    mean = torch.view_as_real(torch.empty(N, dtype=torch.complex64).normal_(2, 3)).mean(0)
    assert abs(mean - 2).max() < 0.1
    wide = torch.empty(N, dtype=torch.int64).random_(-(2**63), None)
    assert wide.min() < -(2**62) and wide.max() > 2**62
    assert torch.empty(N, dtype=torch.int64).random_().min() >= 0
    assert torch.empty(N).random_().max() > 2**23


#: One row of each function; the others draw by the same operations.
ONCE = tuple(name for name in DRAWS if name.isidentifier())


def _drawn(names, generator):
    return [DRAWS[name][0](torch.zeros(400), **({"generator": generator} if generator else {}))
            for name in names]


def _seeded(seed, draw, names, *, own=False):
    """What two calls draw of these, from the default generator or from one of our ``own``."""
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed) if own else None
    return list(zip(*([t.double().tolist() for t in draw(names, generator)] for _ in range(2))))


def test_a_seed_says_what_is_drawn_in_every_executor():
    few = [ONCE[n : n + 6] for n in range(0, len(ONCE), 6)]  # XLA needs much memory for many at once
    for names, own in zip(few, itertools.cycle((False, True))):
        names = tuple(filter(_takes_generator, names)) if own else names
        if not names:
            continue
        compiled = torch.compile(_drawn)
        found = [_seeded(7, _drawn, names)]
        for mode in ("deferred", "eager"):
            with torch.execution(mode):
                found.append(_seeded(7, _drawn, names, own=own))
        found += [_seeded(7, compiled, names, own=own) for _ in range(2)]
        other = _seeded(8, compiled, names, own=own)
        for name, exact, *others, differs in zip(names, *found, other, strict=True):
            for same in others:
                np.testing.assert_allclose(exact, same, 1e-5, 1e-6, err_msg=name)  # a mean may cancel
            assert len({*map(tuple, (*exact, *differs))}) == 4, name


def test_what_is_drawn_from_has_a_gradient_of_zeros(executor):
    for draw, node in (
        (torch.bernoulli, "BernoulliBackward0"), (torch.poisson, "PoissonBackward0"),
        (torch.normal, "NormalBackward1"), (lambda p: torch.normal(1.0, p), "NormalBackward2"),
        (lambda p: torch.normal(p, p), "NormalBackward3"),
        (lambda p: (p * 2).cauchy_(), "CauchyBackward0"), (lambda p: (p * 2).random_(4), "RandomBackward1"),
    ):
        p = torch.full((3,), 0.5, requires_grad=True)
        drawn = draw(p)
        assert drawn.grad_fn.name() == node
        drawn.sum().backward()
        assert p.grad.tolist() == [0, 0, 0], node


def test_what_cannot_be_drawn_is_refused(executor):
    weights = torch.tensor([1.0, -1.0, 2.0])
    for error, words, call in (
        (RuntimeError, "element < 0", lambda: torch.multinomial(weights, 1).item()),
        (RuntimeError, "element < 0", lambda: torch.multinomial(weights * math.nan, 1).item()),
        (RuntimeError, "entry < 0", lambda: torch.multinomial(weights, 1, True).item()),
        (RuntimeError, "infinity or NaN", lambda: torch.multinomial(weights.abs() / 0, 1, True).item()),
        (RuntimeError, "sum of prob", lambda: torch.multinomial(weights * 0, 1).item()),
        (RuntimeError, "Expected p_in", lambda: torch.bernoulli(weights).tolist()),
        (RuntimeError, "Expected p_in", lambda: torch.zeros(3).bernoulli_(weights).tolist()),
        (RuntimeError, "non-negative", lambda: torch.poisson(weights + 0).tolist()),
        (RuntimeError, "all elements of std", lambda: torch.normal(weights, weights).tolist()),
        (RuntimeError, "bounds for unsigned char", lambda: torch.randint(0, 300, (3,), dtype=torch.uint8)),
        (RuntimeError, "out of bounds for c10::Half", lambda: weights.half().uniform_(0, 1e6)),
        (NotImplementedError, "log_normal_cpu", lambda: weights.long().log_normal_()),
        (TypeError, "Generator", lambda: torch.rand(3, generator=5)),
        (ValueError, "Overflow when unpacking", lambda: torch.manual_seed(2**64)),
        (TypeError, "ByteTensor", lambda: torch.Generator().set_state(weights)),
    ):
        with pytest.raises(error, match=words):
            call()


def test_weights_need_no_memory_for_each_pair():
    weights = torch.rand(1 << 16)
    drawn = torch.multinomial(weights, 1 << 16, True)  # as noise for each pair: 16 GB
    assert 0 <= drawn.min() and drawn.max() < 1 << 16


def test_out_takes_the_size_without_a_warning(recwarn):
    weights, out = torch.ones(3), torch.empty(2, 5)
    for draw in (
        lambda t: torch.bernoulli(weights, out=t), lambda t: torch.normal(1.0, 2.0, (3,), out=t),
        lambda t: torch.rand(3, out=t), lambda t: torch.randint(5, (3,), out=t),
    ):
        t = torch.empty(2, 5)
        assert draw(t) is t and t.shape == (3,)
    for words, call in (
        ("dtype Double does not match", lambda: torch.rand(3, out=out, dtype=torch.float64)),
        ("expects Long tensor out", lambda: torch.multinomial(weights, 2, out=out)),
    ):
        with pytest.raises(RuntimeError, match=words):
            call()
    assert not recwarn.list


@pytest.mark.parametrize("fill", ["normal_", "uniform_", "exponential_", "bernoulli_", "random_"])
def test_tensors_without_numbers_are_filled(fill):
    before = torch.get_rng_state()
    t = torch.empty(3, 3, device="meta")
    assert getattr(t, fill)() is t and t._version == 1
    assert getattr(t, fill)(generator=torch.Generator().manual_seed(1)) is t and t._version == 2
    with torch.device("meta"):
        assert torch.nn.Linear(3, 3).weight.is_meta
    assert torch.equal(torch.get_rng_state(), before)
