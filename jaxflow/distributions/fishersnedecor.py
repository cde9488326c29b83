"""The F distribution."""

from __future__ import annotations

import math

from jaxflow import _functions as fn
from jaxflow._core.size import Size
from jaxflow._core.tensor import Tensor
from jaxflow._core.typeinfo import finfo
from jaxflow.types import _Number

from . import constraints
from .distribution import Distribution
from .gamma import Gamma
from .utils import broadcast_all

__all__ = ["FisherSnedecor"]


class FisherSnedecor(Distribution):
    """The F distribution of Fisher and Snedecor: the ratio of ``Chi2(df1) / df1`` to ``Chi2(df2) / df2``.

    Args:
        df1: degrees of freedom of the numerator, positive; a tensor or a number.
        df2: those of the denominator; broadcast with ``df1``.
        validate_args: whether parameters and values are checked.

    Example:
        >>> torch.distributions.FisherSnedecor(1.0, 4.0).mean
        tensor(2.)
    """

    arg_constraints = {"df1": constraints.positive, "df2": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, df1: Tensor | float, df2: Tensor | float, validate_args: bool | None = None) -> None:
        self.df1, self.df2 = broadcast_all(df1, df2)
        self._gamma1 = Gamma(self.df1 * 0.5, self.df1)
        self._gamma2 = Gamma(self.df2 * 0.5, self.df2)
        numbers = isinstance(df1, _Number) and isinstance(df2, _Number)
        super().__init__(Size() if numbers else self.df1.size(), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._expanded(FisherSnedecor, batch_shape, _instance)
        new._gamma1, new._gamma2 = self._gamma1.expand(batch_shape), self._gamma2.expand(batch_shape)
        return new

    @property
    def mean(self) -> Tensor:
        df2 = fn.where(self.df2 <= 2, math.nan, self.df2)
        return df2 / (df2 - 2)

    @property
    def mode(self) -> Tensor:
        mode = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        return fn.where(self.df1 <= 2, math.nan, mode)

    @property
    def variance(self) -> Tensor:
        df1, df2 = self.df1, fn.where(self.df2 <= 4, math.nan, self.df2)
        return 2 * df2.square() * (df1 + df2 - 2) / (df1 * (df2 - 2).square() * (df2 - 4))

    def rsample(self, sample_shape=()) -> Tensor:
        # Gamma numbers of the rates df1 and df2 are chi-squared ones divided by twice their degrees.
        shape = Size(sample_shape)
        above, below = self._gamma1.rsample(shape), self._gamma2.rsample(shape)
        tiny = finfo(below.dtype).tiny
        return (above / below.clamp(min=tiny)).clamp(min=tiny)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        half1, half2, ratio = self.df1 * 0.5, self.df2 * 0.5, self.df1 / self.df2
        beta = fn.lgamma(half1) + fn.lgamma(half2) - fn.lgamma(half1 + half2)
        return (half1 * fn.log(ratio) + (half1 - 1) * fn.log(value)
                - (half1 + half2) * fn.log1p(ratio * value) - beta)
