"""Distributions to compare, each by a function of ``torch.distributions`` and of a maker of tensors.

The maker turns nested lists of numbers into float64 tensors that require grad.
"""

POSITIVE, OTHERS, REALS, CHANCES = [0.7, 1.6, 3.2], [1.3, 0.4, 2.5], [-0.5, 0.3, 1.2], [0.2, 0.5, 0.9]
SHARES = [[0.2, 0.5, 0.3], [0.1, 0.1, 0.8]]
COVARIANCE = [[2.0, 0.3, 0.1], [0.3, 1.5, 0.2], [0.1, 0.2, 1.1]]
FACTOR = [[1.2, 0.0, 0.0], [0.3, 0.9, 0.0], [-0.2, 0.1, 0.7]]
LOW_RANK = [[1.0], [0.5], [-0.2]]


def _transformed(D, t):
    return D.TransformedDistribution(
        D.Normal(t(REALS), t(POSITIVE)), [D.AffineTransform(t(POSITIVE), -2.0), D.SigmoidTransform()])


def _reshaped(D, t):
    return D.TransformedDistribution(
        D.Normal(t(SHARES), 1.0), [D.ReshapeTransform((3,), (3, 1)), D.TanhTransform()])


def _mixture_of_vectors(D, t):
    vectors = D.Independent(D.Normal(t([[SHARES[0]] * 3, [SHARES[1]] * 3]), t(POSITIVE)), 1)
    return D.MixtureSameFamily(D.Categorical(t(SHARES)), vectors)


#: Rows of one distribution: the name in brackets says what is special.
ROWS = {
    "Bernoulli": lambda D, t: D.Bernoulli(t(CHANCES)),
    "Bernoulli[logits]": lambda D, t: D.Bernoulli(logits=t(REALS)),
    "Bernoulli[number]": lambda D, t: D.Bernoulli(0.3),
    "Beta": lambda D, t: D.Beta(t(POSITIVE), t(OTHERS)),
    "Beta[number]": lambda D, t: D.Beta(1.5, 2.5),
    "Binomial": lambda D, t: D.Binomial(5, t(CHANCES)),
    "Binomial[logits]": lambda D, t: D.Binomial(t([3.0, 4.0, 5.0]), logits=t(REALS)),
    "Categorical": lambda D, t: D.Categorical(t(SHARES)),
    "Categorical[logits]": lambda D, t: D.Categorical(logits=t(REALS)),
    "Cauchy": lambda D, t: D.Cauchy(t(REALS), t(POSITIVE)),
    "Cauchy[number]": lambda D, t: D.Cauchy(0.0, 1.0),
    "Chi2": lambda D, t: D.Chi2(t(POSITIVE)),
    "ContinuousBernoulli": lambda D, t: D.ContinuousBernoulli(t(CHANCES)),
    "ContinuousBernoulli[logits]": lambda D, t: D.ContinuousBernoulli(logits=t(REALS)),
    "Dirichlet": lambda D, t: D.Dirichlet(t([[1.2, 3.0, 1.8], [0.6, 0.6, 4.8]])),
    "Dirichlet[corner]": lambda D, t: D.Dirichlet(t([0.3, 0.2, 0.9])),
    "Exponential": lambda D, t: D.Exponential(t(POSITIVE)),
    "Exponential[number]": lambda D, t: D.Exponential(2.0),
    "FisherSnedecor": lambda D, t: D.FisherSnedecor(t([1.4, 3.2, 6.4]), t([1.5, 3.0, 7.0])),
    "Gamma": lambda D, t: D.Gamma(t(POSITIVE), t(OTHERS)),
    "Gamma[broadcast]": lambda D, t: D.Gamma(t([[0.5], [2.0]]), t(OTHERS)),
    "GeneralizedPareto[number]": lambda D, t: D.GeneralizedPareto(0.0, 1.0, 0.25),
    "Geometric": lambda D, t: D.Geometric(t(CHANCES)),
    "Geometric[logits]": lambda D, t: D.Geometric(logits=t(REALS)),
    "Gumbel": lambda D, t: D.Gumbel(t(REALS), t(POSITIVE)),
    "Gumbel[number]": lambda D, t: D.Gumbel(0.0, 1.0),
    "HalfCauchy": lambda D, t: D.HalfCauchy(t(POSITIVE)),
    "HalfNormal": lambda D, t: D.HalfNormal(t(POSITIVE)),
    "HalfNormal[number]": lambda D, t: D.HalfNormal(1.0),
    "Independent": lambda D, t: D.Independent(D.Normal(t(SHARES), t(POSITIVE)), 1),
    "Independent[2]": lambda D, t: D.Independent(D.Gamma(t(SHARES), 1.0), 2),
    "InverseGamma": lambda D, t: D.InverseGamma(t(POSITIVE), t(OTHERS)),
    "LKJCholesky": lambda D, t: D.LKJCholesky(3, t(POSITIVE)),
    "LKJCholesky[2]": lambda D, t: D.LKJCholesky(2, t(0.5)),
    "Laplace": lambda D, t: D.Laplace(t(REALS), t(POSITIVE)),
    "LogNormal": lambda D, t: D.LogNormal(t(REALS), t(POSITIVE)),
    "LogisticNormal": lambda D, t: D.LogisticNormal(t(REALS), t(POSITIVE)),
    "LogisticNormal[batch]": lambda D, t: D.LogisticNormal(t(SHARES), t(SHARES)),
    "LowRankMultivariateNormal": lambda D, t: D.LowRankMultivariateNormal(t(REALS), t(LOW_RANK), t(POSITIVE)),
    "LowRankMultivariateNormal[batch]": lambda D, t: D.LowRankMultivariateNormal(
        t(SHARES), t([LOW_RANK]), t(POSITIVE)),
    "MixtureSameFamily": lambda D, t: D.MixtureSameFamily(
        D.Categorical(t(POSITIVE)), D.Normal(t(REALS), t(OTHERS))),
    "MixtureSameFamily[vectors]": _mixture_of_vectors,
    "Multinomial": lambda D, t: D.Multinomial(4, t(SHARES)),
    "Multinomial[logits]": lambda D, t: D.Multinomial(3, logits=t(REALS)),
    "MultivariateNormal": lambda D, t: D.MultivariateNormal(t(REALS), t(COVARIANCE)),
    "MultivariateNormal[tril]": lambda D, t: D.MultivariateNormal(t(SHARES), scale_tril=t(FACTOR)),
    "MultivariateNormal[precision]": lambda D, t: D.MultivariateNormal(
        t(REALS), precision_matrix=t([COVARIANCE, COVARIANCE])),
    "NegativeBinomial": lambda D, t: D.NegativeBinomial(t([2.0, 3.5, 1.0]), t([0.2, 0.5, 0.7])),
    "NegativeBinomial[logits]": lambda D, t: D.NegativeBinomial(3, logits=t(REALS)),
    "Normal": lambda D, t: D.Normal(t(REALS), t(POSITIVE)),
    "Normal[broadcast]": lambda D, t: D.Normal(t(SHARES), t(POSITIVE)),
    "Normal[number]": lambda D, t: D.Normal(0.0, 2.0),
    "OneHotCategorical": lambda D, t: D.OneHotCategorical(t(SHARES)),
    "OneHotCategorical[logits]": lambda D, t: D.OneHotCategorical(logits=t(REALS)),
    "OneHotCategoricalStraightThrough": lambda D, t: D.OneHotCategoricalStraightThrough(t(SHARES)),
    "Pareto": lambda D, t: D.Pareto(t(POSITIVE), t([0.9, 1.5, 3.0])),
    "Poisson": lambda D, t: D.Poisson(t(POSITIVE)),
    "Poisson[number]": lambda D, t: D.Poisson(2.0),
    "RelaxedBernoulli": lambda D, t: D.RelaxedBernoulli(t(0.7), t(CHANCES)),
    "RelaxedBernoulli[logits]": lambda D, t: D.RelaxedBernoulli(t(0.7), logits=t(REALS)),
    "RelaxedOneHotCategorical": lambda D, t: D.RelaxedOneHotCategorical(t(0.7), t(SHARES)),
    "RelaxedOneHotCategorical[logits]": lambda D, t: D.RelaxedOneHotCategorical(t(0.7), logits=t(REALS)),
    "StudentT": lambda D, t: D.StudentT(t([0.8, 1.5, 3.0]), t(REALS), t(POSITIVE)),
    "TransformedDistribution": _transformed,
    "TransformedDistribution[shape]": _reshaped,
    "TransformedDistribution[larger]": lambda D, t: D.TransformedDistribution(
        D.Uniform(t(0.0), t(1.0)), D.AffineTransform(t(REALS), t(SHARES))),
    "Uniform": lambda D, t: D.Uniform(t(REALS), t([2.0, 3.0, 4.0])),
    "Uniform[number]": lambda D, t: D.Uniform(0.0, 2.0),
    "Weibull": lambda D, t: D.Weibull(t(POSITIVE), t(OTHERS)),
    "Wishart": lambda D, t: D.Wishart(t([4.0, 5.0]), t(COVARIANCE)),
    "Wishart[tril]": lambda D, t: D.Wishart(t(3.5), scale_tril=t(FACTOR)),
    "Wishart[precision]": lambda D, t: D.Wishart(6.0, precision_matrix=t([COVARIANCE, COVARIANCE])),
}

#: Second distributions of divergences: of other parameters than those of the row with the same name.
SECOND = {
    "Bernoulli": lambda D, t: D.Bernoulli(t([0.5, 0.1, 1.0])),
    "Beta": lambda D, t: D.Beta(t(OTHERS), t(POSITIVE)),
    "Binomial": lambda D, t: D.Binomial(5, t([0.5, 0.1, 0.3])),
    "Categorical": lambda D, t: D.Categorical(t([0.3, 0.0, 0.7])),
    "Cauchy": lambda D, t: D.Cauchy(t([0.1, 0.2, 0.3]), t(OTHERS)),
    "Chi2": lambda D, t: D.Chi2(t(OTHERS)),
    "ContinuousBernoulli": lambda D, t: D.ContinuousBernoulli(t([0.5, 0.1, 0.7])),
    "Dirichlet": lambda D, t: D.Dirichlet(t(POSITIVE)),
    "Exponential": lambda D, t: D.Exponential(t(OTHERS)),
    "Gamma": lambda D, t: D.Gamma(t(OTHERS), t(POSITIVE)),
    "Geometric": lambda D, t: D.Geometric(t([0.3, 0.4, 0.5])),
    "Gumbel": lambda D, t: D.Gumbel(t([0.1, 0.2, 0.3]), t(OTHERS)),
    "HalfNormal": lambda D, t: D.HalfNormal(t(OTHERS)),
    "Independent": lambda D, t: D.Independent(D.Normal(t(REALS), t(OTHERS)), 1),
    "Laplace": lambda D, t: D.Laplace(t([0.1, 0.2, 0.3]), t(OTHERS)),
    "LogNormal": lambda D, t: D.LogNormal(t([0.1, 0.2, 0.3]), t(OTHERS)),
    "LowRankMultivariateNormal": lambda D, t: D.LowRankMultivariateNormal(
        t([0.1, 0.2, 0.3]), t([[1.0, 0.0], [0.5, 0.3], [-0.2, 0.1]]), t(OTHERS)),
    "MultivariateNormal": lambda D, t: D.MultivariateNormal(
        t([0.1, 0.2, 0.3]), scale_tril=t([FACTOR, FACTOR])),
    "Normal": lambda D, t: D.Normal(t([0.1, 0.2, 0.3]), t(OTHERS)),
    "OneHotCategorical": lambda D, t: D.OneHotCategorical(t(POSITIVE)),
    "Pareto": lambda D, t: D.Pareto(t([0.05, 1.7, 1.0]), t(POSITIVE)),
    "Poisson": lambda D, t: D.Poisson(t(OTHERS)),
    "Uniform": lambda D, t: D.Uniform(t([0.1, -0.8, -0.5]), t([1.5, 5.0, 4.0])),
    "Wishart": lambda D, t: D.Wishart(t([5.0, 6.0]), scale_tril=t(FACTOR)),
}
