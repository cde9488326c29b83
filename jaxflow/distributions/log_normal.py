"""The log-normal distribution."""

from __future__ import annotations

from jaxflow import _functions as fn
from jaxflow._core.tensor import Tensor

from . import constraints
from .normal import Normal
from .transformed_distribution import TransformedDistribution
from .transforms import ExpTransform

__all__ = ["LogNormal"]


class LogNormal(TransformedDistribution):
    """The distribution of ``exp(x)``, where ``x`` has a normal distribution.

    Args:
        loc: means of ``x``; a tensor or a number.
        scale: standard deviations of ``x``, positive; broadcast with ``loc``.
        validate_args: whether parameters and values are checked.

    Example:
        >>> torch.distributions.LogNormal(0.0, 1.0).cdf(torch.ones(()))
        tensor(0.5000)
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.positive
    has_rsample = True
    base_dist: Normal

    def __init__(self, loc: Tensor | float, scale: Tensor | float, validate_args: bool | None = None) -> None:
        base = Normal(loc, scale, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return super().expand(batch_shape, _instance=self._get_checked_instance(LogNormal, _instance))

    @property
    def loc(self) -> Tensor:
        """Means of the logarithm."""
        return self.base_dist.loc

    @property
    def scale(self) -> Tensor:
        """Standard deviations of the logarithm."""
        return self.base_dist.scale

    @property
    def mean(self) -> Tensor:
        return fn.exp(self.loc + self.scale.square() / 2)

    @property
    def mode(self) -> Tensor:
        return fn.exp(self.loc - self.scale.square())

    @property
    def variance(self) -> Tensor:
        square = self.scale.square()
        return fn.expm1(square) * fn.exp(2 * self.loc + square)

    def entropy(self) -> Tensor:
        return self.base_dist.entropy() + self.loc
