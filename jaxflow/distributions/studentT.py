"""Student's t distribution."""

from __future__ import annotations

import math

from jaxflow import _functions as fn
from jaxflow._core.tensor import Tensor

from . import constraints
from .chi2 import Chi2
from .distribution import Distribution
from .utils import _standard_normal, broadcast_all

__all__ = ["StudentT"]


class StudentT(Distribution):
    """Student's t distribution: a normal number divided by the root of ``Chi2(df) / df``, scaled and moved.

    Args:
        df: degrees of freedom, positive; a tensor or a number.
        loc: the median; broadcast with ``df``.
        scale: positive; likewise.
        validate_args: whether parameters and values are checked.

    Example:
        >>> torch.distributions.StudentT(4.0).variance
        tensor(2.)
    """

    arg_constraints = {"df": constraints.positive, "loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, df: Tensor | float, loc: Tensor | float = 0.0, scale: Tensor | float = 1.0,
                 validate_args: bool | None = None) -> None:
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        self._chi2 = Chi2(self.df)
        super().__init__(self.df.size(), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._expanded(StudentT, batch_shape, _instance)
        new._chi2 = self._chi2.expand(batch_shape)
        return new

    @property
    def mean(self) -> Tensor:
        return fn.where(self.df <= 1, math.nan, self.loc)

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        finite = self.scale.square() * self.df / (self.df - 2)
        return fn.where(self.df > 2, finite, fn.where(self.df > 1, math.inf, math.nan))

    def rsample(self, sample_shape=()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        x = _standard_normal(shape, dtype=self.df.dtype, device=self.df.device)
        return self.loc + self.scale * x * fn.rsqrt(self._chi2.rsample(sample_shape) / self.df)

    def _log_normalizing(self) -> Tensor:
        """``log(B(1 / 2, df / 2))``."""
        return fn.lgamma(0.5 * self.df) + 0.5 * math.log(math.pi) - fn.lgamma(0.5 * (self.df + 1))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        y = (value - self.loc) / self.scale
        constant = fn.log(self.scale) + 0.5 * fn.log(self.df) + self._log_normalizing()
        return -0.5 * (self.df + 1) * fn.log1p(y * y / self.df) - constant

    def entropy(self) -> Tensor:
        half, more = 0.5 * self.df, 0.5 * (self.df + 1)
        return (fn.log(self.scale) + more * (fn.digamma(more) - fn.digamma(half)) + 0.5 * fn.log(self.df)
                + self._log_normalizing())
