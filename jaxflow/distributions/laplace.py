"""The Laplace distribution."""

from __future__ import annotations

import math

from jaxflow import _functions as fn
from jaxflow._core.size import Size
from jaxflow._core.tensor import Tensor
from jaxflow._core.typeinfo import finfo
from jaxflow.types import _Number

from . import constraints
from .distribution import Distribution
from .utils import broadcast_all

__all__ = ["Laplace"]


class Laplace(Distribution):
    """The Laplace distribution: density ``exp(-|x - loc| / scale) / (2 * scale)``.

    Args:
        loc: means; a tensor or a number.
        scale: positive; broadcast with ``loc``.
        validate_args: whether parameters and values are checked.

    Example:
        >>> torch.distributions.Laplace(0.0, 1.0).variance
        tensor(2.)
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, loc: Tensor | float, scale: Tensor | float, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        numbers = isinstance(loc, _Number) and isinstance(scale, _Number)
        super().__init__(Size() if numbers else self.loc.size(), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return self._expanded(Laplace, batch_shape, _instance)

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        return 2 * self.scale.square()

    @property
    def stddev(self) -> Tensor:
        return math.sqrt(2) * self.scale

    def rsample(self, sample_shape=()) -> Tensor:
        shape, limits = self._extended_shape(sample_shape), finfo(self.loc.dtype)
        u = self.loc.new(shape).uniform_(limits.eps - 1, 1)
        return self.loc - self.scale * u.sign() * fn.log1p(-u.abs().clamp(min=limits.tiny))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return -fn.log(2 * self.scale) - (value - self.loc).abs() / self.scale

    def cdf(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        away = value - self.loc
        return 0.5 - 0.5 * away.sign() * fn.expm1(-away.abs() / self.scale)

    def icdf(self, value: Tensor) -> Tensor:
        away = value - 0.5
        return self.loc - self.scale * away.sign() * fn.log1p(-2 * away.abs())

    def entropy(self) -> Tensor:
        return 1 + fn.log(2 * self.scale)
