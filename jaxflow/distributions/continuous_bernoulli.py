"""The continuous Bernoulli distribution."""

from __future__ import annotations

import math
from typing import Any

from jaxflow import _functions as fn
from jaxflow._core.tensor import Tensor
from jaxflow.autograd.grad_mode import no_grad
from jaxflow.nn import functional as F

from . import constraints
from ._checking import fulfilled
from ._probs_or_logits import ProbsOrLogits
from .exp_family import ExponentialFamily
from .utils import broadcast_all, clamp_probs, lazy_property, logits_to_probs

__all__ = ["ContinuousBernoulli"]


class ContinuousBernoulli(ProbsOrLogits, ExponentialFamily):
    """Numbers of ``[0, 1]`` with the density ``C(p) * p^x * (1 - p)^(1 - x)``.

    ``C(p) = 2 * atanh(1 - 2 * p) / (1 - 2 * p)`` (Loaiza-Ganem and Cunningham, "The continuous Bernoulli:
    fixing a pervasive error in variational autoencoders", 2019). Near ``p = 0.5``, where it is 0 / 0, its
    Taylor series stands in its place.

    Args:
        probs: ``p``, in ``(0, 1)``; a tensor or a number.
        logits: the logarithms of ``p / (1 - p)``, instead.
        lims: between these two the Taylor series is taken.
        validate_args: whether parameters and values are checked.

    Raises:
        ValueError: unless exactly one of ``probs`` and ``logits`` is given.

    Example:
        >>> torch.distributions.ContinuousBernoulli(0.5).mean
        tensor(0.5000)
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, probs: Any = None, logits: Any = None, lims: tuple[float, float] = (0.499, 0.501),
                 validate_args: bool | None = None) -> None:
        shape = self._take(probs, logits)
        if logits is None:
            if validate_args is not None and not fulfilled(self.arg_constraints["probs"], self.probs):
                raise ValueError("The parameter probs has invalid values")
            self.probs = clamp_probs(self.probs)
        self._lims = lims
        super().__init__(shape, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return self._expanded(ContinuousBernoulli, batch_shape, _instance, also=("_given", "_lims"))

    def _outside_unstable_region(self) -> Tensor:
        return (self.probs <= self._lims[0]) | (self.probs > self._lims[1])

    def _cut_probs(self) -> Tensor:
        """``probs``, but a limit where the formulas are unstable."""
        return fn.where(self._outside_unstable_region(), self.probs, self._lims[0])

    def _stable(self, closed: Tensor, series: Any) -> Tensor:
        return fn.where(self._outside_unstable_region(), closed, series)

    def _cont_bern_log_norm(self) -> Tensor:
        """``log(C(p))``."""
        p = self._cut_probs()
        closed = fn.log((fn.log1p(-p) - fn.log(p)).abs()) - fn.log((1 - 2 * p).abs())
        x = (self.probs - 0.5).square()
        return self._stable(closed, math.log(2.0) + (4.0 / 3.0 + 104.0 / 45.0 * x) * x)

    @property
    def mean(self) -> Tensor:
        p = self._cut_probs()
        closed = p / (2 * p - 1) + 1 / (fn.log1p(-p) - fn.log(p))
        x = self.probs - 0.5
        return self._stable(closed, 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * x.square()) * x)

    @property
    def stddev(self) -> Tensor:
        return fn.sqrt(self.variance)

    @property
    def variance(self) -> Tensor:
        p = self._cut_probs()
        closed = p * (p - 1) / (1 - 2 * p).square() + 1 / (fn.log1p(-p) - fn.log(p)).square()
        x = (self.probs - 0.5).square()
        return self._stable(closed, 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * x) * x)

    @lazy_property
    def probs(self) -> Tensor:
        """Probabilities."""
        return clamp_probs(logits_to_probs(self.logits, is_binary=True))

    def sample(self, sample_shape=()) -> Tensor:
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape=()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        return self.icdf(fn.rand(shape, dtype=self.probs.dtype, device=self.probs.device))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        entropy = F.binary_cross_entropy_with_logits(logits, value, reduction="none")
        return self._cont_bern_log_norm() - entropy

    def cdf(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        p = self._cut_probs()
        closed = (fn.pow(p, value) * fn.pow(1 - p, 1 - value) + p - 1) / (2 * p - 1)
        inside = self._stable(closed, value)
        return fn.where(value <= 0, fn.zeros_like(value),
                        fn.where(value >= 1, fn.ones_like(value), inside))

    def icdf(self, value: Tensor) -> Tensor:
        p = self._cut_probs()
        closed = (fn.log1p(-p + value * (2 * p - 1)) - fn.log1p(-p)) / (fn.log(p) - fn.log1p(-p))
        return self._stable(closed, value)

    def entropy(self) -> Tensor:
        failure, success = fn.log1p(-self.probs), fn.log(self.probs)
        return self.mean * (failure - success) - self._cont_bern_log_norm() - failure

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.logits,)

    def _log_normalizer(self, x: Tensor) -> Tensor:
        low, high = self._lims[0] - 0.5, self._lims[1] - 0.5
        outside = (x <= low) | (x > high)
        cut = fn.where(outside, x, low)
        closed = fn.log(fn.expm1(cut).abs()) - fn.log(cut.abs())
        return fn.where(outside, closed, 0.5 * x + x.square() / 24.0 - x.pow(4) / 2880.0)
