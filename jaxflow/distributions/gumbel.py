"""The Gumbel distribution."""

from __future__ import annotations

import math

from jaxflow import _functions as fn
from jaxflow._core.tensor import Tensor
from jaxflow._core.typeinfo import finfo
from jaxflow.types import _Number

from . import constraints
from .transformed_distribution import TransformedDistribution
from .transforms import AffineTransform, ExpTransform
from .uniform import Uniform
from .utils import broadcast_all, euler_constant

__all__ = ["Gumbel"]


class Gumbel(TransformedDistribution):
    """The Gumbel distribution: distribution function ``exp(-exp(-(x - loc) / scale))``.

    Args:
        loc: the mode; a tensor or a number.
        scale: positive; broadcast with ``loc``.
        validate_args: whether parameters and values are checked.

    Example:
        >>> torch.distributions.Gumbel(2.0, 1.0).mode
        tensor(2.)
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real

    def __init__(self, loc: Tensor | float, scale: Tensor | float, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        limits = finfo(self.loc.dtype)
        if isinstance(loc, _Number) and isinstance(scale, _Number):
            base = Uniform(limits.tiny, 1 - limits.eps, validate_args=validate_args)
        else:
            base = Uniform(fn.full_like(self.loc, limits.tiny), fn.full_like(self.loc, 1 - limits.eps),
                           validate_args=validate_args)
        # x = loc - scale * log(-log(u))
        parts = [ExpTransform().inv, AffineTransform(loc=0, scale=-fn.ones_like(self.scale)),
                 ExpTransform().inv, AffineTransform(loc=loc, scale=-self.scale)]
        super().__init__(base, parts, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._get_checked_instance(Gumbel, _instance)
        new.loc, new.scale = self.loc.expand(batch_shape), self.scale.expand(batch_shape)
        return super().expand(batch_shape, _instance=new)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        y = (self.loc - value) / self.scale
        return y - fn.exp(y) - fn.log(self.scale)

    @property
    def mean(self) -> Tensor:
        return self.loc + self.scale * euler_constant

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def stddev(self) -> Tensor:
        return (math.pi / math.sqrt(6)) * self.scale

    @property
    def variance(self) -> Tensor:
        return self.stddev.square()

    def entropy(self) -> Tensor:
        return fn.log(self.scale) + (1 + euler_constant)
