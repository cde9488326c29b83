"""The divergence of Kullback and Leibler: a table of formulas for pairs of distributions.

The formulas follow from ``KL(p || q) = -H(p) - E_p[log q(x)]``; Gil, Alajaji and Linder, "Renyi divergence
measures for commonly used univariate continuous distributions", 2013, list many of them.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

from jaxflow import _functions as fn
from jaxflow import autograd, linalg
from jaxflow._core.tensor import Tensor

from .bernoulli import Bernoulli
from .beta import Beta
from .binomial import Binomial
from .categorical import Categorical
from .cauchy import Cauchy
from .continuous_bernoulli import ContinuousBernoulli
from .dirichlet import Dirichlet
from .distribution import Distribution
from .exp_family import ExponentialFamily
from .exponential import Exponential
from .gamma import Gamma
from .geometric import Geometric
from .gumbel import Gumbel
from .half_normal import HalfNormal
from .independent import Independent
from .laplace import Laplace
from .lowrank_multivariate_normal import (
    LowRankMultivariateNormal,
    _batch_lowrank_logdet,
    _batch_lowrank_mahalanobis,
)
from .multivariate_normal import MultivariateNormal, _batch_mahalanobis
from .normal import Normal
from .one_hot_categorical import OneHotCategorical
from .pareto import Pareto
from .poisson import Poisson
from .transformed_distribution import TransformedDistribution
from .uniform import Uniform
from .utils import _sum_rightmost
from .utils import euler_constant as _euler_gamma

__all__ = ["register_kl", "kl_divergence"]

#: The formulas, by the two classes.
_KL_REGISTRY: dict[tuple[type, type], Callable] = {}
#: What was found for pairs of classes, their subclasses among them.
_KL_MEMOIZE: dict[tuple[type, type], Callable] = {}


def register_kl(type_p: type, type_q: type) -> Callable:
    """A decorator that sets the formula for the divergence of two classes of distributions.

    It serves their subclasses as well; where several are registered, the nearest to both classes.

    Args:
        type_p: the class of the first distribution.
        type_q: the class of the second distribution.

    Returns:
        A decorator of functions of two distributions, which returns the function.

    Raises:
        TypeError: for what is no class. Those that are no distributions are taken: libraries have their own.

    Example:
        >>> D = torch.distributions
        >>> class Point(D.Normal):
        ...     pass
        >>> @D.register_kl(Point, Point)
        ... def kl(p, q):
        ...     return torch.zeros(())
        >>> D.kl_divergence(Point(0.0, 1.0), Point(1.0, 1.0))
        tensor(0.)
    """
    if not (isinstance(type_p, type) and isinstance(type_q, type)):
        raise TypeError("issubclass() arg 1 must be a class")

    def register(function: Callable) -> Callable:
        _KL_REGISTRY[type_p, type_q] = function
        _KL_MEMOIZE.clear()
        return function

    return register


def _dispatch_kl(type_p: type, type_q: type) -> Callable:
    """The formula for two classes: the nearest first class, then the nearest second one.

    Where the order by the second class gives another one, neither is nearer, and a warning says so.
    """
    order_p, order_q = ({kind: k for k, kind in enumerate(kind.__mro__)} for kind in (type_p, type_q))
    found = [(p, q) for p, q in _KL_REGISTRY if p in order_p and q in order_q]
    if not found:
        return NotImplemented  # type: ignore[return-value]
    by_p = min(found, key=lambda pair: (order_p[pair[0]], order_q[pair[1]]))
    by_q = min(found, key=lambda pair: (order_q[pair[1]], order_p[pair[0]]))
    if _KL_REGISTRY[by_p] is not _KL_REGISTRY[by_q]:
        warnings.warn(
            f"Ambiguous kl_divergence({type_p.__name__}, {type_q.__name__}). Please "
            f"register_kl({by_p[0].__name__}, {by_q[1].__name__})", RuntimeWarning, stacklevel=3)
    return _KL_REGISTRY[by_p]


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """The divergence ``KL(p || q)``: the mean of ``log p(x) - log q(x)`` where ``x`` is drawn from ``p``.

    Args:
        p: a distribution.
        q: another one, whose batch broadcasts with that of ``p``.

    Returns:
        A tensor of the shape of the broadcast batch.

    Raises:
        NotImplementedError: where there is no formula for the two classes: see `register_kl`.

    Example:
        >>> D = torch.distributions
        >>> D.kl_divergence(D.Normal(0.0, 1.0), D.Normal(2.0, 1.0))
        tensor(2.)
    """
    pair = type(p), type(q)
    function = _KL_MEMOIZE.get(pair)
    if function is None:
        function = _KL_MEMOIZE[pair] = _dispatch_kl(*pair)
    if function is NotImplemented:
        raise NotImplementedError(f"No KL(p || q) is implemented for p type {p.__class__.__name__} and q "
                                  f"type {q.__class__.__name__}")
    return function(p, q)


def _infinite_like(tensor: Tensor) -> Tensor:
    return fn.full_like(tensor, math.inf)


def _x_log_x(tensor: Tensor) -> Tensor:
    return fn.xlogy(tensor, tensor)


def _batch_trace_XXT(bmat: Tensor) -> Tensor:
    """The trace of ``X @ X.T``: the sum of the squares of all elements."""
    return bmat.square().flatten(-2).sum(-1)


# ----- of one family ---------------------------------------------------------------------------------


@register_kl(Bernoulli, Bernoulli)
def _kl_bernoulli_bernoulli(p, q):
    # p log(p / q) + (1 - p) log((1 - p) / (1 - q)), by logits: logs of probabilities are -softplus(-+logits)
    softplus = fn.logaddexp
    zero = fn.zeros((), dtype=p.logits.dtype, device=p.logits.device)
    success = p.probs * (softplus(-q.logits, zero) - softplus(-p.logits, zero))
    failure = (1 - p.probs) * (softplus(q.logits, zero) - softplus(p.logits, zero))
    return (fn.where(p.probs == 0, 0, fn.where(q.probs == 0, math.inf, success))
            + fn.where(p.probs == 1, 0, fn.where(q.probs == 1, math.inf, failure)))


@register_kl(Beta, Beta)
def _kl_beta_beta(p, q):
    a1, b1, a2, b2 = p.concentration1, p.concentration0, q.concentration1, q.concentration0
    total1, total2 = a1 + b1, a2 + b2
    constants = (fn.lgamma(a2) + fn.lgamma(b2) + fn.lgamma(total1)
                 - fn.lgamma(a1) - fn.lgamma(b1) - fn.lgamma(total2))
    return (constants + (a1 - a2) * fn.digamma(a1) + (b1 - b2) * fn.digamma(b1)
            + (total2 - total1) * fn.digamma(total1))


@register_kl(Binomial, Binomial)
def _kl_binomial_binomial(p, q):
    if (p.total_count < q.total_count).any():
        raise NotImplementedError(
            "KL between Binomials where q.total_count > p.total_count is not implemented")
    trial = p.probs * (p.logits - q.logits) + fn.log1p(-p.probs) - fn.log1p(-q.probs)
    return fn.where(p.total_count > q.total_count, math.inf, p.total_count * trial)


@register_kl(Categorical, Categorical)
def _kl_categorical_categorical(p, q):
    terms = p.probs * (p.logits - q.logits)
    terms = fn.where((q.probs == 0).expand_as(terms), math.inf, terms)
    return fn.where((p.probs == 0).expand_as(terms), 0, terms).sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _kl_onehotcategorical_onehotcategorical(p, q):
    return _kl_categorical_categorical(p._categorical, q._categorical)


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _kl_continuous_bernoulli_continuous_bernoulli(p, q):
    certain = p.mean * (p.logits - q.logits)
    constants = p._cont_bern_log_norm() + fn.log1p(-p.probs) - q._cont_bern_log_norm() - fn.log1p(-q.probs)
    return certain + constants


@register_kl(Dirichlet, Dirichlet)
def _kl_dirichlet_dirichlet(p, q):
    a, b = p.concentration, q.concentration
    total = a.sum(-1)
    constants = fn.lgamma(total) - fn.lgamma(b.sum(-1)) + (fn.lgamma(b) - fn.lgamma(a)).sum(-1)
    means = fn.digamma(a) - fn.digamma(total).unsqueeze(-1)
    return constants + ((a - b) * means).sum(-1)


@register_kl(Exponential, Exponential)
def _kl_exponential_exponential(p, q):
    ratio = q.rate / p.rate
    return ratio - 1 - fn.log(ratio)


@register_kl(ExponentialFamily, ExponentialFamily)
def _kl_expfamily_expfamily(p, q):
    # The divergence of Bregman of the log normalizer: F(q) - F(p) - <q - p, F'(p)>
    if type(p) is not type(q):
        raise NotImplementedError("The cross KL-divergence between different exponential families cannot "
                                  "be computed using Bregman divergences")
    of_p = [n.detach().requires_grad_() for n in p._natural_params]
    of_q = q._natural_params
    normalizer = p._log_normalizer(*of_p)
    slopes = autograd.grad(normalizer.sum(), of_p, create_graph=True)
    result = q._log_normalizer(*of_q) - normalizer
    for a, b, slope in zip(of_p, of_q, slopes, strict=True):
        result = result - _sum_rightmost((b - a) * slope, len(q.event_shape))
    return result


@register_kl(Gamma, Gamma)
def _kl_gamma_gamma(p, q):
    a, b = p.concentration, q.concentration
    return (b * fn.log(p.rate / q.rate) + fn.lgamma(b) - fn.lgamma(a) + (a - b) * fn.digamma(a)
            + (q.rate - p.rate) * (a / p.rate))


@register_kl(Gumbel, Gumbel)
def _kl_gumbel_gumbel(p, q):
    ratio, away = p.scale / q.scale, (p.loc - q.loc) / q.scale
    return (ratio - 1) * _euler_gamma + away - fn.log(ratio) + fn.exp(fn.lgamma(1 + ratio) - away) - 1


@register_kl(Geometric, Geometric)
def _kl_geometric_geometric(p, q):
    return -p.entropy() - fn.log1p(-q.probs) / p.probs - q.logits


@register_kl(HalfNormal, HalfNormal)
def _kl_halfnormal_halfnormal(p, q):
    return _kl_normal_normal(p.base_dist, q.base_dist)


@register_kl(Laplace, Laplace)
def _kl_laplace_laplace(p, q):
    ratio, away = p.scale / q.scale, (p.loc - q.loc).abs()
    return -fn.log(ratio) + away / q.scale + ratio * fn.exp(-away / p.scale) - 1


@register_kl(Normal, Normal)
def _kl_normal_normal(p, q):
    ratio = (p.scale / q.scale).square()
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).square() - 1 - fn.log(ratio))


@register_kl(Cauchy, Cauchy)
def _kl_cauchy_cauchy(p, q):
    # Chyzak and Nielsen, "A closed-form formula for the Kullback-Leibler divergence between Cauchy
    # distributions", 2019
    square = (p.scale + q.scale).square() + (p.loc - q.loc).square()
    return fn.log(square) - fn.log(4 * p.scale * q.scale)


@register_kl(Pareto, Pareto)
def _kl_pareto_pareto(p, q):
    ratio = q.alpha / p.alpha
    result = q.alpha * fn.log(p.scale / q.scale) - fn.log(ratio) + ratio - 1
    return fn.where(p.support.lower_bound < q.support.lower_bound, math.inf, result)


@register_kl(Poisson, Poisson)
def _kl_poisson_poisson(p, q):
    return p.rate * (fn.log(p.rate) - fn.log(q.rate)) - (p.rate - q.rate)


@register_kl(Uniform, Uniform)
def _kl_uniform_uniform(p, q):
    result = fn.log((q.high - q.low) / (p.high - p.low))
    return fn.where((q.low > p.low) | (q.high < p.high), math.inf, result)


@register_kl(TransformedDistribution, TransformedDistribution)
def _kl_transformed_transformed(p, q):
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(Independent, Independent)
def _kl_independent_independent(p, q):
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    return _sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


# ----- of normal vectors -------------------------------------------------------------------------------
# 2 KL = log det(Q) - log det(P) + tr(Q^-1 P) + (x - y)^T Q^-1 (x - y) - D, for means x and y and
# covariances P and Q.


def _same_event(p: Any, q: Any, words: str) -> int:
    """The length of both's vectors. ValueError."""
    if p.event_shape != q.event_shape:
        raise ValueError(f"KL-divergence between two {words} with                          different event "
                         "shapes cannot be computed")
    return p.event_shape[0]


def _log_det(tril: Tensor) -> Tensor:
    return 2 * fn.log(tril.diagonal(dim1=-2, dim2=-1)).sum(-1)


def _trace_of_ratio(tril: Tensor, factor: Tensor) -> Tensor:
    """``tr((L L^T)^-1 A A^T)``, for a lower triangular ``L`` and any ``A``."""
    batch = fn.broadcast_shapes(tril.shape[:-2], factor.shape[:-2])
    whole = factor.expand(batch + factor.shape[-2:])
    return _batch_trace_XXT(linalg.solve_triangular(
        tril.expand(batch + tril.shape[-2:]), whole, upper=False))


def _trace_of_lowrank_ratio(q: LowRankMultivariateNormal, factor: Tensor) -> Tensor:
    """``tr((W W^T + D)^-1 A A^T)``, by Woodbury's identity."""
    D = q._unbroadcasted_cov_diag.unsqueeze(-1)
    inner = (q._unbroadcasted_cov_factor / D).mT @ factor
    return _batch_trace_XXT(factor / fn.sqrt(D)) - _trace_of_ratio(q._capacitance_tril, inner)


def _lowrank_log_det(d: LowRankMultivariateNormal) -> Tensor:
    return _batch_lowrank_logdet(d._unbroadcasted_cov_factor, d._unbroadcasted_cov_diag, d._capacitance_tril)


def _lowrank_distance(q: LowRankMultivariateNormal, away: Tensor) -> Tensor:
    return _batch_lowrank_mahalanobis(q._unbroadcasted_cov_factor, q._unbroadcasted_cov_diag, away,
                                      q._capacitance_tril)


@register_kl(MultivariateNormal, MultivariateNormal)
def _kl_multivariatenormal_multivariatenormal(p, q):
    n = _same_event(p, q, "Multivariate Normals")
    P, Q = p._unbroadcasted_scale_tril, q._unbroadcasted_scale_tril
    return 0.5 * (_log_det(Q) - _log_det(P) + _trace_of_ratio(Q, P)
                  + _batch_mahalanobis(Q, q.loc - p.loc) - n)


@register_kl(MultivariateNormal, LowRankMultivariateNormal)
def _kl_multivariatenormal_lowrankmultivariatenormal(p, q):
    n = _same_event(p, q, "(Low Rank) Multivariate Normals")
    P = p._unbroadcasted_scale_tril
    return 0.5 * (_lowrank_log_det(q) - _log_det(P) + _trace_of_lowrank_ratio(q, P)
                  + _lowrank_distance(q, q.loc - p.loc) - n)


@register_kl(LowRankMultivariateNormal, MultivariateNormal)
def _kl_lowrankmultivariatenormal_multivariatenormal(p, q):
    n = _same_event(p, q, "(Low Rank) Multivariate Normals")
    Q = q._unbroadcasted_scale_tril
    own = fn.sqrt(p._unbroadcasted_cov_diag).diag_embed()
    trace = _trace_of_ratio(Q, p._unbroadcasted_cov_factor) + _trace_of_ratio(Q, own)
    return 0.5 * (_log_det(Q) - _lowrank_log_det(p) + trace + _batch_mahalanobis(Q, q.loc - p.loc) - n)


@register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)
def _kl_lowrankmultivariatenormal_lowrankmultivariatenormal(p, q):
    n = _same_event(p, q, "Low Rank Multivariate Normals")
    own = fn.sqrt(p._unbroadcasted_cov_diag).diag_embed()
    trace = _trace_of_lowrank_ratio(q, p._unbroadcasted_cov_factor) + _trace_of_lowrank_ratio(q, own)
    return 0.5 * (_lowrank_log_det(q) - _lowrank_log_det(p) + trace + _lowrank_distance(q, q.loc - p.loc) - n)


# ----- of two families ---------------------------------------------------------------------------------
# -H(p) - E_p[log q(x)], where q has a density wherever p has one.


@register_kl(Bernoulli, Poisson)
def _kl_bernoulli_poisson(p, q):
    return -p.entropy() - (p.probs * fn.log(q.rate) - q.rate)


class _Moments:
    """Those of a Pareto distribution where they are finite; elsewhere numbers that nobody uses."""

    def __init__(self, p: Pareto) -> None:
        less = p.alpha - 1
        self.entropy = p.entropy
        self.mean = p.alpha * p.scale / less
        self.variance = p.alpha * (p.scale / less).square() / (p.alpha - 2)


def _of_normal(p: Any, q: Normal) -> Tensor:
    """That of a normal ``q``, by the mean and variance of ``p``."""
    square = p.variance + (p.mean - q.loc).square()
    return -p.entropy() + 0.5 * math.log(2 * math.pi) + fn.log(q.scale) + 0.5 * square / q.scale.square()


for _type in (Beta, ContinuousBernoulli, Exponential, Gamma, Gumbel, Laplace, Uniform):
    register_kl(_type, Normal)(_of_normal)


@register_kl(Pareto, Normal)
def _kl_pareto_normal(p, q):
    return fn.where(p.alpha <= 2, math.inf, _of_normal(_Moments(p), q))


def _of_exponential(p: Any, q: Exponential) -> Tensor:
    return -p.entropy() - fn.log(q.rate) + q.rate * p.mean


for _type in (Beta, ContinuousBernoulli, Gamma):
    register_kl(_type, Exponential)(_of_exponential)


@register_kl(Pareto, Exponential)
def _kl_pareto_exponential(p, q):
    return fn.where(p.alpha <= 1, math.inf, _of_exponential(_Moments(p), q))


@register_kl(Uniform, Exponential)
def _kl_uniform_exponetial(p, q):  # PyTorch's spelling
    return fn.where(p.low < q.support.lower_bound, math.inf, _of_exponential(p, q))


def _of_gamma(p: Any, q: Gamma, log_mean: Tensor) -> Tensor:
    """That of a gamma ``q``, by the mean of ``p`` and of its logarithm."""
    log_constant = fn.xlogy(q.concentration, q.rate) - fn.lgamma(q.concentration)
    return -p.entropy() - log_constant - (q.concentration - 1) * log_mean + q.rate * p.mean


@register_kl(Beta, Gamma)
def _kl_beta_gamma(p, q):
    total = p.concentration1 + p.concentration0
    return _of_gamma(p, q, fn.digamma(p.concentration1) - fn.digamma(total))


@register_kl(Exponential, Gamma)
def _kl_exponential_gamma(p, q):
    return _of_gamma(p, q, -fn.log(p.rate) - _euler_gamma)


@register_kl(Pareto, Gamma)
def _kl_pareto_gamma(p, q):
    result = _of_gamma(_Moments(p), q, fn.log(p.scale) + p.alpha.reciprocal())
    return fn.where(p.alpha <= 1, math.inf, result)


def _mean_log(low: Tensor, high: Tensor) -> Tensor:
    """The mean of ``log(x)`` between two numbers."""
    return (_x_log_x(high) - _x_log_x(low)) / (high - low) - 1


@register_kl(Uniform, Gamma)
def _kl_uniform_gamma(p, q):
    result = _of_gamma(p, q, _mean_log(p.low, p.high))
    return fn.where(p.low < q.support.lower_bound, math.inf, result)


@register_kl(Uniform, Beta)
def _kl_uniform_beta(p, q):
    a, b = q.concentration1, q.concentration0
    beta = fn.lgamma(a) + fn.lgamma(b) - fn.lgamma(a + b)
    result = (-p.entropy() + beta - (a - 1) * _mean_log(p.low, p.high)
              - (b - 1) * _mean_log(1 - p.high, 1 - p.low))
    outside = (p.high > q.support.upper_bound) | (p.low < q.support.lower_bound)
    return fn.where(outside, math.inf, result)


def _in_uniform(p: Any, q: Uniform) -> Tensor:
    """That of a uniform ``q``, which must reach around ``p``'s support."""
    result = -p.entropy() + fn.log(q.high - q.low)
    outside = (q.high < p.support.upper_bound) | (q.low > p.support.lower_bound)
    return fn.where(outside, math.inf, result)


register_kl(Beta, Uniform)(_in_uniform)
register_kl(ContinuousBernoulli, Uniform)(_in_uniform)


@register_kl(Beta, ContinuousBernoulli)
def _of_continuous_bernoulli(p: Any, q: ContinuousBernoulli) -> Tensor:
    """That of a continuous Bernoulli ``q``, by the mean of ``p``."""
    return -p.entropy() - p.mean * q.logits - fn.log1p(-q.probs) - q._cont_bern_log_norm()


@register_kl(Uniform, ContinuousBernoulli)
def _kl_uniform_continuous_bernoulli(p, q):
    result = _of_continuous_bernoulli(p, q)
    outside = (p.high > q.support.upper_bound) | (p.low < q.support.lower_bound)
    return fn.where(outside, math.inf, result)


@register_kl(Uniform, Pareto)
def _kl_uniform_pareto(p, q):
    log_constant = fn.log(q.alpha) + q.alpha * fn.log(q.scale)
    result = -p.entropy() - log_constant + (q.alpha + 1) * _mean_log(p.low, p.high)
    return fn.where(p.low < q.support.lower_bound, math.inf, result)


def _of_gumbel(p: Any, q: Gumbel, mean_exp: Tensor) -> Tensor:
    """That of a Gumbel ``q``, by the mean of ``p`` and of ``exp(-(x - q.loc) / q.scale)``."""
    return -p.entropy() + fn.log(q.scale) + (p.mean - q.loc) / q.scale + mean_exp


@register_kl(Exponential, Gumbel)
def _kl_exponential_gumbel(p, q):
    rate = p.rate * q.scale
    return _of_gumbel(p, q, fn.exp(q.loc / q.scale) * rate / (rate + 1))


@register_kl(Gamma, Gumbel)
def _kl_gamma_gumbel(p, q):
    ratio = 1 + (p.rate * q.scale).reciprocal()
    return _of_gumbel(p, q, fn.exp(q.loc / q.scale) * ratio ** -p.concentration)


@register_kl(Normal, Gumbel)
def _kl_normal_gumbel(p, q):
    away, ratio = (p.loc - q.loc) / q.scale, (p.scale / q.scale).square()
    return _of_gumbel(p, q, fn.exp(-away + 0.5 * ratio))


@register_kl(Uniform, Gumbel)
def _kl_uniform_gumbel(p, q):
    low, high = fn.exp((q.loc - p.low) / q.scale), fn.exp((q.loc - p.high) / q.scale)
    return _of_gumbel(p, q, (low - high) * q.scale / (p.high - p.low))


@register_kl(Normal, Laplace)
def _kl_normal_laplace(p, q):
    # E|x - q.loc| of a folded normal distribution
    away = p.loc - q.loc
    z = away / p.scale
    mean = p.scale * math.sqrt(2 / math.pi) * fn.exp(-0.5 * z.square()) + away * fn.erf(z / math.sqrt(2))
    return -p.entropy() + fn.log(2 * q.scale) + mean / q.scale


# ----- infinite: q has no density where p has one ------------------------------------------------------


def _infinite(type_p: type, parameter: str, *types_q: type) -> None:
    """Register that for a class; one of its parameters gives the shape."""

    def infinity(p, q):
        return _infinite_like(getattr(p, parameter))

    for type_q in types_q:
        register_kl(type_p, type_q)(infinity)


_NOT_EVERYWHERE = (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform)

_infinite(Beta, "concentration1", Pareto)
_infinite(ContinuousBernoulli, "probs", Pareto)
_infinite(Exponential, "rate", Beta, ContinuousBernoulli, Pareto, Uniform)
_infinite(Gamma, "concentration", Beta, ContinuousBernoulli, Pareto, Uniform)
_infinite(Gumbel, "loc", *_NOT_EVERYWHERE)
_infinite(Laplace, "loc", *_NOT_EVERYWHERE)
_infinite(Normal, "loc", *_NOT_EVERYWHERE)
_infinite(Pareto, "scale", Beta, ContinuousBernoulli, Uniform)
_infinite(Poisson, "rate", Bernoulli, Binomial)
