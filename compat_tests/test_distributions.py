"""Distributions: densities, moments, their gradients, shapes, what is printed and what is refused."""

import itertools
import warnings

import numpy as np
import pytest
import torch

import jaxflow
from compat_tests.both import check_both
from compat_tests.distribution_rows import ROWS, SECOND
from compat_tests.ops.arguments import to_torch

pytestmark = pytest.mark.filterwarnings("ignore:Singular sample detected", "ignore:Low df values detected")


@pytest.fixture(autouse=True)
def arguments_are_checked():
    """PyTorch's compiler switches that off for the whole process when it is first used."""
    for T in (torch, jaxflow):
        T.distributions.Distribution.set_default_validate_args(True)


def maker(T, leaves):
    """Of tensors that require grad, which it appends to ``leaves``."""
    def make(numbers):
        leaves.append(T.tensor(numbers, dtype=T.float64, requires_grad=True))
        return leaves[-1]
    return make


def plain(text):
    """Without the library's name, and white space as single blanks."""
    return " ".join(text.replace("jaxflow.", "").replace("torch.", "").split())


def tried(call):
    """What a call gives, or its error, as class and text."""
    try:
        return call()
    except Exception as error:
        return type(error).__name__, plain(str(error))


def with_gradients(T, call, leaves):
    """What a call gives, with its gradients; zeros where there are none."""
    def run():
        found = call()
        if not found.requires_grad:
            return found
        along = T.arange(1, found.numel() + 1, dtype=found.dtype).reshape(found.shape)
        return [found, *(T.zeros_like(leaf) if g is None else g for leaf, g in zip(
            leaves, T.autograd.grad(found, leaves, along, allow_unused=True), strict=True))]
    return tried(run)


def sampled(make):
    """Values of a distribution and chances, as arrays."""
    torch.manual_seed(0)
    d = make(torch.distributions, maker(torch, []))
    chances = torch.rand((2, *d.batch_shape, *d.event_shape), dtype=torch.float64)
    return d.sample((3,)).numpy(), chances.numpy()


@pytest.mark.parametrize("name", ROWS)
def test_a_distribution(name):
    make = ROWS[name]
    value, chance = sampled(make)

    def program(T):
        leaves = []
        d = make(T.distributions, maker(T, leaves))
        x, u = T.tensor(value), T.tensor(chance)
        outcome = {name: with_gradients(T, lambda name=name: getattr(d, name), leaves)
                for name in ("mean", "mode", "variance", "stddev")}
        for what, call in {
            "entropy": d.entropy, "perplexity": d.perplexity, "log_prob": lambda: d.log_prob(x),
            "one value": lambda: d.log_prob(x[0]), "cdf": lambda: d.cdf(x), "icdf": lambda: d.icdf(u),
        }.items():
            outcome[what] = with_gradients(T, call, leaves)
        if x.is_floating_point():
            place = x.clone().requires_grad_()
            outcome["slope"] = with_gradients(T, lambda: d.log_prob(place), [place])
        for number in (-1.0, 0.5, 7.0):
            same = T.full(x.shape[1:], number, dtype=T.float64)
            outcome[number] = tried(lambda same=same: d.log_prob(same))
        for expand in (True, False):
            outcome["all", expand] = tried(lambda expand=expand: d.enumerate_support(expand))
        return outcome

    check_both(program)


@pytest.mark.parametrize("name", ROWS)
def test_its_shapes_and_what_it_prints(name):
    make = ROWS[name]
    value, _ = sampled(make)

    def outcome(T, d):
        text = {what: tried(lambda what=what: plain(repr(getattr(d, what)))) for what in (
            "arg_constraints", "support", "batch_shape", "event_shape", "has_rsample",
            "has_enumerate_support")}
        x = d.sample()
        return [plain(repr(d)), text, tuple(x.shape), str(x.dtype).rpartition(".")[2],
                tuple(d.sample((2, 1)).shape), tried(lambda: tuple(d.rsample((2,)).shape)),
                tried(lambda: d.rsample((2,)).requires_grad), d.log_prob(x).shape == d.batch_shape]

    def program(T):
        d = make(T.distributions, maker(T, []))
        wide = d.expand((2, *d.batch_shape))
        x = T.tensor(value)
        words = [[str(part) for part in outcome(T, of)] for of in (d, wide)]
        return words, wide.log_prob(x[0]), tried(lambda: wide.mean)

    check_both(program)


def test_the_rows_are_of_all_distributions():
    D = torch.distributions
    classes = {name for name in D.__all__ if isinstance(getattr(D, name), type)
               and issubclass(getattr(D, name), D.Distribution)}
    others = {"Distribution", "ExponentialFamily", "Kumaraswamy", "VonMises"}
    assert {name.partition("[")[0] for name in ROWS} == classes - others


def test_von_mises():
    """PyTorch's Bessel functions are good to some seven digits."""
    def outcome(T, place):
        leaves = []
        d = T.distributions.VonMises(*map(maker(T, leaves), ([-0.5, 0.3, 1.2], [0.01, 1.0, 30.0])))
        x = T.tensor(place, dtype=T.float64)
        return [found for call in (lambda: d.log_prob(x), lambda: d.mean, lambda: d.mode, lambda: d.variance)
                for found in with_gradients(T, call, leaves)]

    numbers = [0.1, -3.0, 2.0]
    for found, expected in zip(outcome(jaxflow, numbers), outcome(torch, numbers), strict=True):
        torch.testing.assert_close(to_torch(found), expected, rtol=1e-5, atol=1e-6)


def test_kumaraswamy():
    """Its mode is that of the formula here, and nan in PyTorch."""
    def program(T):
        leaves = []
        d = T.distributions.Kumaraswamy(*map(maker(T, leaves), ([0.7, 1.6, 3.2], [1.3, 0.4, 2.5])))
        x = T.tensor([0.2, 0.5, 0.9], dtype=T.float64)
        return [repr(d), *(with_gradients(T, call, leaves) for call in (
            lambda: d.log_prob(x), lambda: d.mean, lambda: d.variance, d.entropy, lambda: d.cdf(x),
            lambda: d.icdf(x), d.expand((2, 3)).entropy))]

    check_both(program)


def test_generalized_pareto():
    """In float32: PyTorch refuses others in most methods."""
    def program(T):
        parameters = [T.tensor(p, requires_grad=True) for p in (
            [-0.5, 0.3, 1.2], [0.7, 1.6, 3.2], [-0.4, 0.0, 0.3])]
        d = T.distributions.GeneralizedPareto(*parameters)
        x = T.tensor([0.1, 0.5, 2.0])
        return [repr(d), plain(repr(d.support)), *(
            with_gradients(T, call, parameters) for call in (
                lambda: d.log_prob(x), lambda: d.cdf(x), lambda: d.log_cdf(x), lambda: d.mean,
                lambda: d.log_survival_function(x), lambda: d.variance, d.entropy, lambda: d.mode,
                lambda: d.icdf(T.tensor([0.1, 0.5, 0.9])), lambda: d.log_prob(T.tensor(-3.0)))),
            tried(lambda: d.log_prob(T.tensor(-3.0)))]

    check_both(program)


# ----- what is refused -------------------------------------------------------------------------------------

REFUSED = {
    "scale": lambda T, D: D.Normal(T.tensor([0.0, 1.0]), T.tensor([-1.0, 1.0])),
    "nan": lambda T, D: D.Normal(0.0, 1.0).log_prob(T.tensor(float("nan"))),
    "number": lambda T, D: D.Normal(0.0, 1.0).log_prob(3.0),
    "batch": lambda T, D: D.Normal(T.zeros(3), 1.0).log_prob(T.zeros(2)),
    "no event": lambda T, D: D.MultivariateNormal(T.zeros(3), T.eye(3)).log_prob(T.zeros(())),
    "event": lambda T, D: D.MultivariateNormal(T.zeros(3), T.eye(3)).log_prob(T.zeros(2)),
    "both": lambda T, D: D.Bernoulli(T.tensor(0.5), T.tensor(0.5)),
    "none": lambda T, D: D.Bernoulli(),
    "categories": lambda T, D: D.Categorical(T.tensor(1.0)),
    "category": lambda T, D: D.Categorical(T.ones(3)).log_prob(T.tensor(3)),
    "negative weight": lambda T, D: D.Categorical(T.tensor([-0.5, 1.5])),
    "logits": lambda T, D: D.Categorical(logits=T.tensor([float("nan"), 0.0])),
    "counts": lambda T, D: D.Multinomial(T.tensor([3, 2]), T.ones(3)),
    "counted": lambda T, D: D.Binomial(T.tensor([3.0, 2.0]), T.tensor([0.1, 0.2])).enumerate_support(),
    "counted entropy": lambda T, D: D.Binomial(T.tensor([3.0, 2.0]), T.tensor([0.1, 0.2])).entropy(),
    "never": lambda T, D: D.Geometric(T.tensor([0.0, 0.1])),
    "bounds": lambda T, D: D.Uniform(1.0, 0.0),
    "bounds of tensors": lambda T, D: D.Uniform(T.ones(2), T.zeros(2)),
    "concentration": lambda T, D: D.Dirichlet(T.tensor(1.0)),
    "no matrix": lambda T, D: D.MultivariateNormal(T.zeros(2)),
    "matrix": lambda T, D: D.MultivariateNormal(T.zeros(2), -T.eye(2)),
    "matrix dims": lambda T, D: D.MultivariateNormal(T.zeros(2), scale_tril=T.zeros(2)),
    "loc": lambda T, D: D.MultivariateNormal(T.tensor(0.0), T.eye(2)),
    "factor": lambda T, D: D.LowRankMultivariateNormal(T.zeros(2), T.zeros(3, 1), T.ones(2)),
    "diagonal": lambda T, D: D.LowRankMultivariateNormal(T.zeros(2), T.zeros(2, 1), T.ones(3)),
    "one row": lambda T, D: D.LKJCholesky(1),
    "freedom": lambda T, D: D.Wishart(1.0, T.eye(3)),
    "no scatter": lambda T, D: D.Wishart(3.0),
    "dimensions": lambda T, D: D.Independent(D.Normal(0.0, 1.0), 1),
    "mixture": lambda T, D: D.MixtureSameFamily(D.Normal(0.0, 1.0), D.Normal(0.0, 1.0)),
    "component": lambda T, D: D.MixtureSameFamily(D.Categorical(T.ones(2)), 3),
    "components": lambda T, D: D.MixtureSameFamily(D.Categorical(T.ones(2)), D.Normal(T.zeros(3), 1.0)),
    "mixtures": lambda T, D: D.MixtureSameFamily(D.Categorical(T.ones(3, 2)), D.Normal(T.zeros(2, 2), 1.0)),
    "transform": lambda T, D: D.TransformedDistribution(D.Normal(0.0, 1.0), 3),
    "transforms": lambda T, D: D.TransformedDistribution(D.Normal(0.0, 1.0), [3]),
    "vector": lambda T, D: D.TransformedDistribution(D.Normal(0.0, 1.0), [D.StickBreakingTransform()]),
    "default": lambda T, D: D.Distribution.set_default_validate_args(3),
    "divergence": lambda T, D: D.kl_divergence(D.Cauchy(0.0, 1.0), D.Gamma(1.0, 1.0)),
    "class": lambda T, D: D.register_kl(3, 4),
    "reparametrized": lambda T, D: D.Bernoulli(0.5).rsample(),
    "abstract": lambda T, D: D.Distribution().mean,
    "word": lambda T, D: D.Normal("a", 1.0),
    "subclass": lambda T, D: type("S", (D.Normal,), {"__init__": lambda self: None})().expand((2,)),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    def outcome(T):
        found = tried(lambda: REFUSED[name](T, T.distributions))
        assert isinstance(found, tuple), found
        return found

    assert outcome(jaxflow) == outcome(torch)


def test_nothing_is_checked_where_that_is_switched_off():
    def program(T):
        D = T.distributions
        made = D.Normal(T.zeros(2), T.tensor([1.0, -1.0]), validate_args=False)
        D.Distribution.set_default_validate_args(False)
        try:
            also = D.Gamma(T.tensor(2.0), 1.0).log_prob(T.tensor(-1.0))
        finally:
            D.Distribution.set_default_validate_args(True)
        return made.log_prob(T.zeros(2)), also, made.expand((2, 2))._validate_args

    check_both(program)


# ----- divergences -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", SECOND)
def test_divergences(first):
    """Of one distribution from every other, with the gradients."""
    def program(T):
        outcome = {}
        for second in SECOND:
            leaves = []
            p, q = (rows(T.distributions, maker(T, leaves)) for rows in (ROWS[first], SECOND[second]))
            outcome[second] = with_gradients(T, lambda p=p, q=q: T.distributions.kl_divergence(p, q), leaves)
        return outcome

    check_both(program)


def test_the_same_pairs_are_registered():
    def pairs(T):
        return {(p.__name__, q.__name__) for p, q in T.distributions.kl._KL_REGISTRY}

    assert pairs(jaxflow) == pairs(torch)


def test_the_nearest_formula_is_found_and_ambiguity_warned_of():
    def outcome(T):
        D = T.distributions

        class A(D.Normal):
            pass

        class B(A):
            pass

        before = dict(D.kl._KL_REGISTRY)
        try:
            D.register_kl(A, D.Normal)(lambda p, q: "first")
            D.register_kl(D.Normal, B)(lambda p, q: "second")
            made = {"Normal": D.Normal(0.0, 1.0), "A": A(0.0, 1.0), "B": B(0.0, 1.0)}
            found = {}
            for p, q in itertools.product(made, repeat=2):
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always")
                    result = D.kl_divergence(made[p], made[q])
                found[p, q] = result if isinstance(result, str) else result.item(), [
                    (w.category.__name__, str(w.message)) for w in caught]
            return found
        finally:
            D.kl._KL_REGISTRY.clear()
            D.kl._KL_REGISTRY.update(before)
            D.kl._KL_MEMOIZE.clear()

    assert outcome(jaxflow) == outcome(torch)


# ----- gradients of samples --------------------------------------------------------------------------------


def test_slopes_of_gamma_and_dirichlet_numbers():
    """PyTorch's are approximations, good to about a thousandth where numbers are not rare."""
    x, a, b = np.array([0.1, 0.5, 0.9, 0.3]), np.array([0.5, 3.0, 2.0, 1.0]), np.array([1.0, 2.0, 0.7, 4.0])
    for T in (torch, jaxflow):
        found = T._dirichlet_grad(*map(T.tensor, (x, a, a + b)))
        slope = T._standard_gamma_grad(*map(T.tensor, (a, 2 * x + a)))
        if T is torch:
            expected = found, slope
    torch.testing.assert_close(to_torch(found), expected[0], rtol=5e-3, atol=0)
    torch.testing.assert_close(to_torch(slope), expected[1], rtol=5e-3, atol=0)
