"""The logistic-normal distribution."""

from __future__ import annotations

from jaxflow._core.tensor import Tensor

from . import constraints
from .independent import Independent
from .normal import Normal
from .transformed_distribution import TransformedDistribution
from .transforms import StickBreakingTransform

__all__ = ["LogisticNormal"]


class LogisticNormal(TransformedDistribution):
    """The distribution of vectors that add up to 1, made of normal numbers by `StickBreakingTransform`.

    Args:
        loc: means of the normal numbers, of shape ``(*, K - 1)``; a tensor or a number.
        scale: their standard deviations, positive; broadcast with ``loc``.
        validate_args: whether parameters and values are checked.

    Example:
        >>> torch.distributions.LogisticNormal(torch.zeros(3), torch.ones(3)).sample().shape
        torch.Size([4])
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.simplex
    has_rsample = True
    base_dist: Independent[Normal]

    def __init__(self, loc: Tensor | float, scale: Tensor | float, validate_args: bool | None = None) -> None:
        base = Normal(loc, scale, validate_args=validate_args)
        if not base.batch_shape:
            base = base.expand([1])
        super().__init__(base, StickBreakingTransform(), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return super().expand(batch_shape, _instance=self._get_checked_instance(LogisticNormal, _instance))

    @property
    def loc(self) -> Tensor:
        """Means of the normal numbers."""
        return self.base_dist.base_dist.loc

    @property
    def scale(self) -> Tensor:
        """Standard deviations of the normal numbers."""
        return self.base_dist.base_dist.scale
