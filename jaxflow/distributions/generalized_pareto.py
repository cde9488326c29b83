"""The generalized Pareto distribution."""

from __future__ import annotations

import math
from numbers import Number
from typing import Any

from jaxflow import _functions as fn
from jaxflow._core.size import Size
from jaxflow._core.tensor import Tensor

from . import constraints
from .distribution import Distribution
from .utils import broadcast_all

__all__ = ["GeneralizedPareto"]


class GeneralizedPareto(Distribution):
    """The generalized Pareto distribution: survival ``(1 + c * z)^(-1 / c)`` with ``z = (x - loc) / scale``.

    For a concentration ``c`` of 0 the survival function is ``exp(-z)`` (Pickands, "Statistical inference
    using extreme order statistics", 1975).

    Args:
        loc: the smallest value; a tensor or a number.
        scale: positive; broadcast with ``loc``.
        concentration: ``c``; likewise. Where it is negative there is a largest value.
        validate_args: whether parameters and values are checked.

    Example:
        >>> torch.distributions.GeneralizedPareto(0.0, 1.0, 0.0).mean
        tensor(1.)
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive,
                       "concentration": constraints.real}
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        numbers = all(isinstance(x, Number) for x in (loc, scale, concentration))
        super().__init__(Size() if numbers else self.loc.size(), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return self._expanded(GeneralizedPareto, batch_shape, _instance)

    def _z(self, x: Tensor) -> Tensor:
        return (x - self.loc) / self.scale

    def _near_zero(self) -> tuple[Tensor, Tensor]:
        """Where the concentration is 0, and the concentration with 1 in those places."""
        zero = fn.isclose(self.concentration, fn.zeros_like(self.concentration))
        return zero, fn.where(zero, fn.ones_like(self.concentration), self.concentration)

    def rsample(self, sample_shape=()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        return self.icdf(fn.rand(shape, dtype=self.loc.dtype, device=self.loc.device))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        z, (zero, c) = self._z(value), self._near_zero()
        power = 1 / c + 1
        away = fn.where(power == 0, 0, power * fn.log1p(c * z))
        return -fn.log(self.scale) - fn.where(zero, z, away)

    def log_survival_function(self, value: Tensor) -> Tensor:
        """The logarithm of the probability of more than ``value``."""
        if self._validate_args:
            self._validate_sample(value)
        z, (zero, c) = self._z(value), self._near_zero()
        return fn.where(zero, -z, -fn.log1p(c * z) / c)

    def log_cdf(self, value: Tensor) -> Tensor:
        """The logarithm of `cdf`."""
        return fn.log1p(-fn.exp(self.log_survival_function(value)))

    def cdf(self, value: Tensor) -> Tensor:
        return fn.exp(self.log_cdf(value))

    def icdf(self, value: Tensor) -> Tensor:
        zero, c = self._near_zero()
        logs = fn.log1p(-value)
        return self.loc + self.scale * fn.where(zero, -logs, fn.expm1(-c * logs) / c)

    @property
    def mean(self) -> Tensor:
        c = self.concentration
        finite = self.loc + self.scale / (1 - fn.where(c < 1, c, 0.5))
        return fn.where(c < 1, finite, math.nan)

    @property
    def variance(self) -> Tensor:
        c = self.concentration
        safe = fn.where(c < 0.5, c, 0.25)
        finite = self.scale.square() / ((1 - safe).square() * (1 - 2 * safe))
        return fn.where(c < 0.5, finite, math.nan)

    def entropy(self) -> Tensor:
        return fn.log(self.scale) + self.concentration + 1

    @property
    def mode(self) -> Tensor:
        return self.loc

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self):
        highest = fn.where(self.concentration < 0, self.loc - self.scale / self.concentration, math.inf)
        return constraints.interval(self.loc, highest)
