"""Distributions: how samples are spread, their gradients, and what is not compared with PyTorch."""

import math
import pickle
import subprocess
import sys

import numpy as np
import pytest

import jaxflow as torch

D = torch.distributions


def t(*numbers):
    return torch.tensor(numbers if len(numbers) > 1 else numbers[0], dtype=torch.float64)


#: Largest distance of an empirical distribution function from the true one, as a multiple of 1 / sqrt(n): it
#: is exceeded with a probability of 2 exp(-2 c^2), here 1e-5. The seeds are fixed.
FAR, COUNT = 2.47, 4000

CONTINUOUS = {
    "Beta": lambda: D.Beta(t(0.7), t(2.5)),
    "Cauchy": lambda: D.Cauchy(t(0.5), t(2.0)),
    "Chi2": lambda: D.Chi2(t(3.0)),
    "ContinuousBernoulli": lambda: D.ContinuousBernoulli(t(0.8)),
    "Exponential": lambda: D.Exponential(t(2.0)),
    "FisherSnedecor": lambda: D.FisherSnedecor(t(3.0), t(6.0)),
    "Gamma": lambda: D.Gamma(t(0.6), t(2.0)),
    "GeneralizedPareto": lambda: D.GeneralizedPareto(t(1.0), t(2.0), t(0.3)),
    "GeneralizedPareto of no concentration": lambda: D.GeneralizedPareto(t(1.0), t(2.0), t(0.0)),
    "Gumbel": lambda: D.Gumbel(t(0.5), t(2.0)),
    "HalfCauchy": lambda: D.HalfCauchy(t(2.0)),
    "HalfNormal": lambda: D.HalfNormal(t(2.0)),
    "InverseGamma": lambda: D.InverseGamma(t(3.0), t(2.0)),
    "Kumaraswamy": lambda: D.Kumaraswamy(t(1.5), t(2.5)),
    "Laplace": lambda: D.Laplace(t(0.5), t(2.0)),
    "LogNormal": lambda: D.LogNormal(t(0.5), t(0.7)),
    "MixtureSameFamily": lambda: D.MixtureSameFamily(
        D.Categorical(t(0.3, 0.7)), D.Normal(t(-2.0, 1.0), t(1.0, 0.5))),
    "Normal": lambda: D.Normal(t(0.5), t(2.0)),
    "Pareto": lambda: D.Pareto(t(1.5), t(3.0)),
    "RelaxedBernoulli": lambda: D.RelaxedBernoulli(t(0.8), t(0.3)),
    "StudentT": lambda: D.StudentT(t(4.0), t(0.5), t(2.0)),
    "Uniform": lambda: D.Uniform(t(-1.0), t(2.0)),
    "VonMises": lambda: D.VonMises(t(1.0), t(2.0)),
    "VonMises, wide": lambda: D.VonMises(t(-2.0), t(0.01)),
    "VonMises, narrow": lambda: D.VonMises(t(3.0), t(500.0)),
    "Weibull": lambda: D.Weibull(t(2.0), t(1.5)),
}


def level(d, x):
    """The distribution function at sorted numbers, by `cdf` or by adding up densities on a fine grid."""
    try:
        return d.cdf(x).numpy()
    except NotImplementedError:
        low, high = (-math.pi, math.pi) if isinstance(d, D.VonMises) else (x[0].item(), x[-1].item())
        grid = np.unique(np.concatenate([np.linspace(low, high, 20001), x.numpy()]))
        density = np.exp(d.log_prob(torch.tensor(grid)).numpy())
        density[~np.isfinite(density)] = 0
        areas = np.concatenate([[0], np.cumsum((density[1:] + density[:-1]) / 2 * np.diff(grid))])
        return np.interp(x.numpy(), grid, areas / areas[-1])


@pytest.mark.parametrize("name", CONTINUOUS)
def test_samples_are_spread_as_the_distribution_function_says(name):
    d = CONTINUOUS[name]()
    x = d.sample((COUNT,)).sort().values
    assert x.dtype is torch.float64 and x.shape == (COUNT,)
    found, steps = level(d, x), np.arange(COUNT + 1) / COUNT
    away = max(np.max(np.abs(found - steps[1:])), np.max(np.abs(found - steps[:-1])))
    assert away < FAR / math.sqrt(COUNT)


DISCRETE = {
    "Bernoulli": lambda: D.Bernoulli(t(0.3)),
    "Binomial": lambda: D.Binomial(6, t(0.3)),
    "Categorical": lambda: D.Categorical(t(0.2, 0.0, 0.5, 0.3)),
    "Geometric": lambda: D.Geometric(t(0.3)),
    "NegativeBinomial": lambda: D.NegativeBinomial(t(2.5), t(0.4)),
    "Poisson": lambda: D.Poisson(t(2.5)),
}


@pytest.mark.parametrize("name", DISCRETE)
def test_counts_come_as_often_as_their_probabilities_say(name):
    d = DISCRETE[name]()
    x = d.sample((COUNT,))
    values = d.enumerate_support() if d.has_enumerate_support else torch.arange(80, dtype=torch.float64)
    expected = np.exp(d.log_prob(values).numpy())
    found = np.array([(x == v).double().mean().item() for v in values])
    assert abs(found.sum() - 1) < 1e-9 and abs(expected.sum() - 1) < 1e-9
    assert np.all(np.abs(found - expected) <= 5 * np.sqrt(expected * (1 - expected) / COUNT))


VECTORS = {
    "Dirichlet": lambda: D.Dirichlet(t(0.6, 2.0, 3.0)),
    "Independent": lambda: D.Independent(D.Normal(t(0.5, -1.0), t(1.0, 2.0)), 1),
    "LowRankMultivariateNormal": lambda: D.LowRankMultivariateNormal(
        t(0.5, -1.0), t([[1.0], [0.5]]), t(0.3, 0.7)),
    "Multinomial": lambda: D.Multinomial(5, t(0.2, 0.5, 0.3)),
    "MultivariateNormal": lambda: D.MultivariateNormal(t(0.5, -1.0), t([[2.0, 0.6], [0.6, 1.0]])),
    "OneHotCategorical": lambda: D.OneHotCategorical(t(0.2, 0.5, 0.3)),
    "MixtureSameFamily": lambda: D.MixtureSameFamily(D.Categorical(t(0.3, 0.7)), D.Independent(
        D.Normal(t([[0.0, 1.0], [2.0, -1.0]]), 1.0), 1)),
    "Wishart": lambda: D.Wishart(t(5.0), t([[2.0, 0.6], [0.6, 1.0]])),
}


@pytest.mark.parametrize("name", VECTORS)
def test_vectors_have_their_means_and_variances(name):
    d = VECTORS[name]()
    x = d.sample((COUNT,)).numpy()
    assert x.shape == (COUNT, *d.event_shape)
    mean, variance = d.mean.numpy(), d.variance.numpy()
    assert np.all(np.abs(x.mean(0) - mean) < 5 * np.sqrt(variance / COUNT))
    fourth = ((x - mean) ** 4).mean(0)
    assert np.all(np.abs(x.var(0) - variance) < 5 * np.sqrt(np.maximum(fourth - variance**2, 1e-3) / COUNT))


@pytest.mark.parametrize("name", ["MultivariateNormal", "LowRankMultivariateNormal"])
def test_normal_vectors_have_their_covariance(name):
    d = VECTORS[name]()
    x = d.sample((COUNT,)).numpy()
    np.testing.assert_allclose(np.cov(x.T), d.covariance_matrix.numpy(), atol=0.25)
    np.testing.assert_allclose(d.covariance_matrix @ d.precision_matrix, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(d.scale_tril @ d.scale_tril.mT, d.covariance_matrix, atol=1e-12)


def test_correlations_are_spread_by_their_density():
    """The correlation of two numbers is ``2 b - 1``, where b has the beta distribution of (c, c)."""
    for c in (0.5, 1.0, 3.0):
        x = D.LKJCholesky(2, t(c)).sample((COUNT,))
        assert D.constraints.corr_cholesky.check(x).all()
        r = x[:, 1, 0]
        assert abs(r.mean().item()) < 5 * r.std().item() / math.sqrt(COUNT)
        assert abs(r.var().item() - 1 / (2 * c + 1)) < 0.05
    x = D.LKJCholesky(4, t([0.5, 2.0])).sample((50,))
    assert x.shape == (50, 2, 4, 4) and D.constraints.corr_cholesky.check(x).all()


def test_relaxed_numbers_come_near_those_they_relax():
    p = t(0.2, 0.5, 0.3)
    x = D.RelaxedOneHotCategorical(t(0.01), p).rsample((COUNT,))
    nearest = torch.nn.functional.one_hot(x.argmax(-1), 3).double().mean(0)
    assert (nearest - p).abs().max().item() < 5 * 0.5 / math.sqrt(COUNT)
    assert x.max(-1).values.mean().item() > 0.95
    torch.testing.assert_close(x.sum(-1), torch.ones(COUNT, dtype=torch.float64))


def test_one_seed_draws_the_same(executor):
    for name in ("Gamma", "VonMises", "Pareto", "MixtureSameFamily"):
        drawn = []
        for _ in range(2):
            torch.manual_seed(3)
            drawn.append(CONTINUOUS[name]().sample((5,)))
        assert torch.equal(*drawn)


# ----- gradients of samples --------------------------------------------------------------------------------

#: A distribution of one parameter, a function, and the derivative of the function's mean by the parameter.
MEANS = {
    "Gamma": (lambda a: D.Gamma(a, 2.0), lambda x: x * x, lambda a: (2 * a + 1) / 4),
    "Gamma, small": (lambda a: D.Gamma(a / 10, 1.0), lambda x: x, lambda a: 0.1 + 0 * a),
    "Chi2": (D.Chi2, lambda x: x, lambda a: 1 + 0 * a),
    "Beta": (lambda a: D.Beta(a, 2.0), lambda x: x, lambda a: 2 / (a + 2) ** 2),
    "Beta, other": (lambda a: D.Beta(2.0, a), lambda x: x, lambda a: -2 / (a + 2) ** 2),
    "Dirichlet": (lambda a: D.Dirichlet(torch.stack([a, a / a, 2 * a / a], -1)), lambda x: x[..., 1],
                  lambda a: -1 / (a + 3) ** 2),
    "StudentT": (lambda a: D.StudentT(a + 6), lambda x: x * x, lambda a: -2 / (a + 4) ** 2),
    "InverseGamma": (lambda a: D.InverseGamma(a + 4, 2.0), lambda x: x, lambda a: -2 / (a + 3) ** 2),
    "Normal": (lambda a: D.Normal(a, a), lambda x: x * x, lambda a: 4 * a),
    "Weibull": (lambda a: D.Weibull(a, 2.0), lambda x: x * x, lambda a: 2 * a),
    "Kumaraswamy": (lambda a: D.Kumaraswamy(t(1.0), a), lambda x: x, lambda a: -1 / (1 + a) ** 2),
}


@pytest.mark.parametrize("name", MEANS)
def test_gradients_of_samples_have_the_derivative_of_the_mean(name):
    make, function, slope = MEANS[name]
    for at in (0.7, 2.5):
        a = torch.full((COUNT,), at, dtype=torch.float64, requires_grad=True)
        d = make(a)
        assert d.has_rsample
        (found,) = torch.autograd.grad(function(d.rsample()).sum(), a)
        spread = 5 * found.std().item() / math.sqrt(COUNT)
        assert abs(found.mean().item() - slope(at)) < max(spread, 1e-12)


def test_slopes_of_beta_numbers_are_those_of_the_distribution_function():
    """By differences of the function for b = 1, which is x^a: -(dF / da) / (dF / dx) is -x log(x) / a."""
    x, a = t(0.001, 0.2, 0.6, 0.999), t(0.3, 1.0, 20.0, 700.0)
    found = torch._dirichlet_grad(x, a, a + 1)
    np.testing.assert_allclose(found, -x * x.log() / a / (1 - x), rtol=1e-10)
    # By the other parameter at a = 1, where 1 - F is (1 - x)^b: the number moves the other way.
    found = torch._dirichlet_grad(1 - x, a, a + 1)
    np.testing.assert_allclose(found, -(1 - x) * torch.log1p(-x) / a / x, rtol=1e-10)
    assert torch._dirichlet_grad(x.float(), a.float(), a.float() + 1).dtype is torch.float32


def test_straight_through_samples_pass_gradients_to_the_probabilities():
    logits = torch.zeros(3, requires_grad=True)
    sample = D.OneHotCategoricalStraightThrough(logits=logits).rsample()
    assert sample.max().item() == 1
    assert torch.autograd.grad(sample[0], logits)[0].tolist() == pytest.approx([2 / 9, -1 / 9, -1 / 9])


# ----- densities -------------------------------------------------------------------------------------------


#: Those without a distribution function, as in PyTorch.
NO_FUNCTION = {"Beta", "FisherSnedecor", "RelaxedBernoulli", "StudentT"}


@pytest.mark.parametrize("name", [n for n in CONTINUOUS if n not in NO_FUNCTION and "VonMises" not in n])
def test_densities_are_slopes_of_distribution_functions(name):
    d = CONTINUOUS[name]()
    x = d.sample((20,))
    slope = (d.cdf(x * (1 + 1e-6)) - d.cdf(x * (1 - 1e-6))) / (2e-6 * x)
    np.testing.assert_allclose(d.log_prob(x).exp(), slope, rtol=1e-4, atol=1e-7)
    if name not in ("Gamma", "Chi2", "InverseGamma", "MixtureSameFamily"):
        np.testing.assert_allclose(d.icdf(d.cdf(x)), x, rtol=1e-6)


def test_edges_of_densities_are_no_nan():
    assert D.Gamma(1.0, 2.0).log_prob(t(0.0)).item() == pytest.approx(math.log(2))
    assert D.Beta(1.0, 2.0).log_prob(t(0.0)).item() == pytest.approx(math.log(2))
    assert D.Geometric(t(1.0)).log_prob(t(0.0)).item() == 0
    assert abs(D.Categorical(t(0.0, 1.0)).entropy().item()) < 1e-12
    assert abs(D.Multinomial(2, t(0.0, 1.0)).log_prob(t(0.0, 2.0)).item()) < 1e-12
    logits = torch.tensor([-200.0, 0.0, 200.0], requires_grad=True)
    density = D.Bernoulli(logits=logits).log_prob(torch.tensor([0.0, 1.0, 1.0]))
    assert density.tolist() == pytest.approx([0, -math.log(2), 0])
    assert torch.autograd.grad(density.sum(), logits)[0].tolist() == pytest.approx([0, 0.5, 0])


def test_densities_under_vmap_and_jit():
    import jax

    x, loc = torch.arange(3.0), torch.tensor([0.0, 1.0, 5.0])

    def density(x, loc):
        return D.Normal(loc, 2.0, validate_args=False).log_prob(x)

    expected = D.Normal(loc, 2.0).log_prob(x)
    assert torch.equal(torch.func.vmap(density)(x, loc), expected)

    # Values that are traced are not checked.
    traced = jax.jit(lambda x, loc: D.Normal(loc, 2.0).log_prob(x))
    np.testing.assert_allclose(traced(x, loc), expected, rtol=1e-6)


# ----- objects ---------------------------------------------------------------------------------------------


def test_they_can_be_pickled():
    for d in (D.Normal(t(0.0), t(1.0)), D.LogNormal(0.0, 1.0), D.Categorical(torch.ones(3)),
              D.MultivariateNormal(torch.zeros(2), torch.eye(2)), D.ExpTransform().inv,
              D.ComposeTransform([D.TanhTransform(cache_size=1)]), D.constraints.simplex):
        assert repr(pickle.loads(pickle.dumps(d))) == repr(d)


def test_values_still_to_be_computed_are_checked(executor):
    x = torch.ones(3) * 2
    with pytest.raises(ValueError, match="to satisfy the constraint GreaterThan"):
        D.Normal(x, x - 2)
    assert D.Normal(x, x).scale.tolist() == [2, 2, 2]


def test_a_constraint_of_a_user_is_held_by_its_own_check():
    class Even(type(D.constraints.real)):
        def check(self, value):
            return torch.remainder(value, 2) == 0

    class Twos(D.Normal):
        support = Even()

    assert Twos(0.0, 1.0).log_prob(torch.tensor(2.0)).item() < 0
    with pytest.raises(ValueError, match=r"within the support \(Even\(\)\)"):
        Twos(0.0, 1.0).log_prob(torch.tensor(1.0))


def test_a_subclass_with_a_parameter_of_its_own_can_expand():
    class Wide(D.Normal):
        arg_constraints = {"width": D.constraints.positive}

        def __init__(self, width):
            self.width = width
            super().__init__(torch.zeros_like(width), width)

        def expand(self, batch_shape, _instance=None):
            new = self._get_checked_instance(Wide, _instance)
            new.width = self.width.expand(batch_shape)
            return super().expand(batch_shape, _instance=new)

    wide = Wide(torch.ones(2)).expand((3, 2))
    assert wide.loc.shape == wide.width.shape == (3, 2) and wide.sample().shape == (3, 2)


def test_an_inverse_is_that_of_the_cache():
    transform = D.TanhTransform(cache_size=1)
    x = torch.tensor([20.0])
    y = transform(x)
    assert transform.inv(y) is x and torch.isinf(D.TanhTransform().inv(y)).all()


def test_it_is_loaded_when_it_is_first_used():
    program = ("import sys, jaxflow\n"
               "assert not any(m.startswith('jaxflow.distributions') for m in sys.modules)\n"
               "jaxflow.distributions.Normal; assert 'jaxflow.distributions.kl' in sys.modules")
    subprocess.run([sys.executable, "-c", program], check=True)


def test_programs_find_pytorchs_names_of_modules():
    program = ("import pickle, torch\n"
               "from torch.distributions.normal import Normal\n"
               "from torch.distributions import constraints, kl, studentT, transforms\n"
               "assert Normal.__module__ == 'torch.distributions.normal'\n"
               "made = transforms.ComposeTransform([transforms.ExpTransform()])\n"
               "for x in (Normal(0.0, 1.0), made):\n"
               "    text = pickle.dumps(x)\n"
               "    assert b'torch.distributions.' in text and b'jaxflow.distributions' not in text, text\n"
               "    assert repr(pickle.loads(text)) == repr(x)\n")
    subprocess.run([sys.executable, "-m", "jaxflow", "-c", program], check=True)
