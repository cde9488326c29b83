"""Random operations: distributions by their distribution functions, ranges, generators, every executor."""

import math

import numpy as np
import pytest

import jaxflow as torch

N = 20_000


def _distance(drawn, distribution):
    """The largest distance between the drawn and the true distribution function (Kolmogorov)."""
    drawn = np.sort(np.asarray(drawn, np.float64).reshape(-1))
    expected = np.vectorize(distribution)(drawn)
    below, above = np.arange(N) / N, np.arange(1, N + 1) / N
    return max(np.abs(expected - below).max(), np.abs(expected - above).max())


def _normal(mean, std):
    return lambda x: 0.5 * math.erfc((mean - x) / (std * math.sqrt(2)))


CONTINUOUS = {
    "rand": (lambda t: torch.rand(N), lambda x: x),
    "uniform_": (lambda t: t.uniform_(-3, 5), lambda x: (x + 3) / 8),
    "uniform_ of halves": (lambda t: t.half().uniform_(), lambda x: x),
    "normal_": (lambda t: t.normal_(2, 3), _normal(2, 3)),
    "normal": (lambda t: torch.normal(torch.full((N,), 2.0), 3.0), _normal(2, 3)),
    "exponential_": (lambda t: t.exponential_(2.5), lambda x: 1 - math.exp(-2.5 * x)),
    "cauchy_": (lambda t: t.cauchy_(2, 3), lambda x: 0.5 + math.atan((x - 2) / 3) / math.pi),
    "log_normal_": (lambda t: t.log_normal_(0.5, 0.25), lambda x: _normal(0.5, 0.25)(math.log(x))),
}


def test_continuous_distributions():
    for name, (draw, distribution) in CONTINUOUS.items():
        drawn = draw(torch.empty(N)).double().numpy()
        assert _distance(drawn, distribution) < 1.95 / math.sqrt(N), name  # exceeded once in a thousand
        half = N // 2
        joint = np.corrcoef(np.argsort(np.argsort(drawn[:half])), np.argsort(np.argsort(drawn[half:])))
        assert abs(joint[0, 1]) < 0.035, name


def _poisson(rate):
    return [math.exp(k * math.log(rate) - rate - math.lgamma(k + 1)) for k in range(int(3 * rate) + 20)]


def _binomial(n, p):
    return [math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]


DISCRETE = {
    "bernoulli": (lambda t: torch.bernoulli(t + 0.3), [0.7, 0.3]),
    "bernoulli of doubles": (lambda t: torch.bernoulli(t.double() + 0.3), [0.7, 0.3]),
    "bernoulli_": (lambda t: t.bool().bernoulli_(0.2), [0.8, 0.2]),
    "geometric_": (lambda t: t.geometric_(0.3), [0, *(0.3 * 0.7**k for k in range(40))]),
    "geometric_ of int8": (
        lambda t: t.to(torch.int8).geometric_(0.9), [0, *(0.9 * 0.1**k for k in range(9))]),
    "poisson, small": (lambda t: torch.poisson(t + 2.5), _poisson(2.5)),
    "poisson, large": (lambda t: torch.poisson(t.double() + 40), _poisson(40)),
    "poisson, both": (lambda t: torch.poisson(torch.stack([t + 3, t + 11], 1))[:, 1], _poisson(11)),
    "binomial": (lambda t: torch.binomial(t + 10, t + 0.3), _binomial(10, 0.3)),
    "binomial, many": (lambda t: torch.binomial(t + 100, torch.tensor(0.6)), _binomial(100, 0.6)),
    "randint": (lambda t: torch.randint(2, 9, (N,)), [0, 0, *[1 / 7] * 7]),
    "random_": (lambda t: t.to(torch.uint8).random_(), [1 / 256] * 256),
    "multinomial": (lambda t: torch.multinomial(torch.tensor([1.0, 0, 3]), N, True), [0.25, 0, 0.75]),
    "multinomial of rows": (
        lambda t: torch.multinomial(torch.tensor([[1.0, 1], [4, 1]]), N, True)[1], [0.8, 0.2]),
    "one at a time": (
        lambda t: torch.multinomial(torch.tensor([1.0, 3]).expand(N, 2), 1, True)[:, 0], [0.25, 0.75]),
    "without replacement": (
        lambda t: torch.multinomial(torch.tensor([2.0, 1, 1]).expand(N, 3), 2)[:, 1], [1 / 3, 1 / 3, 1 / 3]),
    "randperm": (lambda t: torch.stack([torch.randperm(4) for _ in range(N // 100)])[:, 0], [0.25] * 4),
}


def test_discrete_distributions():
    for name, (draw, chances) in DISCRETE.items():
        drawn = draw(torch.zeros(N)).long().numpy()
        chances = np.array(chances)
        counts = np.bincount(drawn, minlength=len(chances))
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


DRAWS = [
    lambda g: torch.rand(3, generator=g), lambda g: torch.randn(3, generator=g),
    lambda g: torch.rand_like(torch.ones(2, 2), generator=g),
    lambda g: torch.randint(0, 1000, (3,), generator=g), lambda g: torch.randperm(50, generator=g),
    lambda g: torch.normal(torch.ones(3), torch.ones(3), generator=g),
    lambda g: torch.bernoulli(torch.full((40,), 0.5), generator=g),
    lambda g: torch.multinomial(torch.ones(20), 10, generator=g),
    lambda g: torch.multinomial(torch.ones(20), 10, True, generator=g),
    lambda g: torch.poisson(torch.full((9,), 5.0), generator=g),
    lambda g: torch.poisson(torch.full((9,), 50.0), generator=g),
    lambda g: torch.binomial(torch.full((9,), 50.0), torch.full((9,), 0.5), generator=g),
    *(lambda g, fill=fill: fill(torch.zeros(9), g) for fill in (
        lambda t, g: t.uniform_(generator=g), lambda t, g: t.normal_(generator=g),
        lambda t, g: t.cauchy_(generator=g), lambda t, g: t.exponential_(generator=g),
        lambda t, g: t.log_normal_(generator=g), lambda t, g: t.geometric_(0.2, generator=g),
        lambda t, g: t.random_(generator=g), lambda t, g: t.bernoulli_(generator=g),
    )),
]


def _all(generator):
    return [draw(generator).double().tolist() for draw in DRAWS]


def test_a_seed_says_what_is_drawn_in_every_executor():
    found = []
    for mode in ("deferred", "eager"):
        with torch.execution(mode):
            found.append(_all(torch.Generator().manual_seed(7)))
            torch.manual_seed(7)
            found.append(_all(None))
    exact, *others = found
    for other in others:
        for a, b in zip(exact, other, strict=True):
            np.testing.assert_allclose(a, b, 1e-5)
    assert all(a != b for a, b in zip(exact, _all(torch.Generator().manual_seed(8)), strict=True))


def test_compiled_draws_differ_from_call_to_call_and_follow_the_seed():
    def draws():
        return [draw(None) for draw in DRAWS[5:11]]

    compiled = torch.compile(draws)
    torch.manual_seed(3)
    first, second = ([t.tolist() for t in compiled()] for _ in range(2))
    torch.manual_seed(3)
    again = [t.tolist() for t in compiled()]
    torch.manual_seed(3)
    plain = [t.tolist() for t in draws()]
    for a, b, c, d in zip(first, second, again, plain, strict=True):
        assert a == c != b
        np.testing.assert_allclose(a, d, 1e-5)


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
