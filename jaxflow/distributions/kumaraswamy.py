"""The Kumaraswamy distribution."""

from __future__ import annotations

import math

from jaxflow import _functions as fn
from jaxflow._core.tensor import Tensor

from . import constraints
from .transformed_distribution import TransformedDistribution
from .transforms import AffineTransform, PowerTransform
from .uniform import Uniform
from .utils import broadcast_all, euler_constant

__all__ = ["Kumaraswamy"]


def _moments(a: Tensor, b: Tensor, n: int) -> Tensor:
    """The ``n``-th moment: ``b * B(1 + n / a, b)``."""
    first = 1 + n / a
    return b * fn.exp(fn.lgamma(first) + fn.lgamma(b) - fn.lgamma(first + b))


class Kumaraswamy(TransformedDistribution):
    """The Kumaraswamy distribution: distribution function ``1 - (1 - x^a)^b`` on ``(0, 1)``.

    Args:
        concentration1: ``a``, positive; a tensor or a number.
        concentration0: ``b``, positive; broadcast with ``concentration1``.
        validate_args: whether parameters and values are checked.

    Example:
        >>> one = torch.tensor([1.0])
        >>> torch.distributions.Kumaraswamy(one, one).cdf(torch.tensor([0.25]))
        tensor([0.2500])
    """

    arg_constraints = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support = constraints.unit_interval
    has_rsample = True

    def __init__(self, concentration1: Tensor | float, concentration0: Tensor | float,
                 validate_args: bool | None = None) -> None:
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        base = Uniform(fn.full_like(self.concentration0, 0), fn.full_like(self.concentration0, 1),
                       validate_args=validate_args)
        # x = (1 - u^(1 / b))^(1 / a)
        parts = [PowerTransform(self.concentration0.reciprocal()), AffineTransform(loc=1.0, scale=-1.0),
                 PowerTransform(self.concentration1.reciprocal())]
        super().__init__(base, parts, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._get_checked_instance(Kumaraswamy, _instance)
        new.concentration1 = self.concentration1.expand(batch_shape)
        new.concentration0 = self.concentration0.expand(batch_shape)
        return super().expand(batch_shape, _instance=new)

    @property
    def mean(self) -> Tensor:
        return _moments(self.concentration1, self.concentration0, 1)

    @property
    def mode(self) -> Tensor:
        # ((a - 1) / (a * b - 1))^(1 / a), where both are at least 1
        a, b = self.concentration1, self.concentration0
        mode = ((a - 1) / (a * b - 1)) ** a.reciprocal()
        return fn.where((a < 1) | (b < 1), math.nan, mode)

    @property
    def variance(self) -> Tensor:
        return _moments(self.concentration1, self.concentration0, 2) - self.mean.square()

    def entropy(self) -> Tensor:
        a, b = self.concentration1, self.concentration0
        harmonic = fn.digamma(b + 1) + euler_constant
        return 1 - b.reciprocal() + (1 - a.reciprocal()) * harmonic - fn.log(a) - fn.log(b)
