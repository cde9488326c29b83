"""The uniform distribution."""

from __future__ import annotations

import math
from typing import Any

from jaxflow import _functions as fn
from jaxflow._core.size import Size
from jaxflow._core.tensor import Tensor
from jaxflow.types import _Number

from . import constraints
from .distribution import Distribution
from .utils import broadcast_all

__all__ = ["Uniform"]


class Uniform(Distribution):
    """Numbers of ``[low, high)``, all of the density ``1 / (high - low)``.

    Args:
        low: the lower bound; a tensor or a number.
        high: the upper bound, above ``low``; broadcast with it.
        validate_args: whether parameters and values are checked.

    Example:
        >>> torch.distributions.Uniform(0.0, 4.0).mean
        tensor(2.)
    """

    has_rsample = True

    @property
    def arg_constraints(self) -> dict[str, Any]:
        return {"low": constraints.less_than(self.high), "high": constraints.greater_than(self.low)}

    def __init__(self, low: Tensor | float, high: Tensor | float, validate_args: bool | None = None) -> None:
        self.low, self.high = broadcast_all(low, high)
        numbers = isinstance(low, _Number) and isinstance(high, _Number)
        super().__init__(Size() if numbers else self.low.size(), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return self._expanded(Uniform, batch_shape, _instance)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self):
        return constraints.interval(self.low, self.high)

    @property
    def mean(self) -> Tensor:
        return (self.high + self.low) / 2

    @property
    def mode(self) -> Tensor:
        return math.nan * self.high

    @property
    def stddev(self) -> Tensor:
        return (self.high - self.low) / 12 ** 0.5

    @property
    def variance(self) -> Tensor:
        return (self.high - self.low).square() / 12

    def rsample(self, sample_shape=()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        share = fn.rand(shape, dtype=self.low.dtype, device=self.low.device)
        return self.low + share * (self.high - self.low)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        inside = ((self.low <= value) & (self.high > value)).type_as(self.low)
        return fn.log(inside) - fn.log(self.high - self.low)

    def cdf(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return ((value - self.low) / (self.high - self.low)).clamp(min=0, max=1)

    def icdf(self, value: Tensor) -> Tensor:
        return value * (self.high - self.low) + self.low

    def entropy(self) -> Tensor:
        return fn.log(self.high - self.low)
