"""The Cauchy distribution."""

from __future__ import annotations

import math

from jaxflow import _functions as fn
from jaxflow._core.size import Size
from jaxflow._core.tensor import Tensor
from jaxflow.types import _Number

from . import constraints
from .distribution import Distribution
from .utils import broadcast_all

__all__ = ["Cauchy"]


class Cauchy(Distribution):
    """The Cauchy distribution: density ``1 / (pi * scale * (1 + ((x - loc) / scale)^2))``.

    Args:
        loc: the median; a tensor or a number.
        scale: half the width at half the height, positive; broadcast with ``loc``.
        validate_args: whether parameters and values are checked.

    Example:
        >>> torch.distributions.Cauchy(0.0, 1.0).cdf(torch.tensor(0.0))
        tensor(0.5000)
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, loc: Tensor | float, scale: Tensor | float, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        numbers = isinstance(loc, _Number) and isinstance(scale, _Number)
        super().__init__(Size() if numbers else self.loc.size(), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return self._expanded(Cauchy, batch_shape, _instance)

    def _filled(self, number: float) -> Tensor:
        return fn.full(self._extended_shape(), number, dtype=self.loc.dtype, device=self.loc.device)

    @property
    def mean(self) -> Tensor:
        return self._filled(math.nan)

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        return self._filled(math.inf)

    def rsample(self, sample_shape=()) -> Tensor:
        return self.loc + self.loc.new(self._extended_shape(sample_shape)).cauchy_() * self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        square = ((value - self.loc) / self.scale) ** 2
        return -math.log(math.pi) - fn.log(self.scale) - fn.log1p(square)

    def cdf(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return fn.atan((value - self.loc) / self.scale) / math.pi + 0.5

    def icdf(self, value: Tensor) -> Tensor:
        return fn.tan(math.pi * (value - 0.5)) * self.scale + self.loc

    def entropy(self) -> Tensor:
        return math.log(4 * math.pi) + fn.log(self.scale)
