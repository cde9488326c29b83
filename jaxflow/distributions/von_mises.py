"""The von Mises distribution of angles."""

from __future__ import annotations

import math
from typing import Any

from jaxflow import _functions as fn
from jaxflow import special
from jaxflow._api.random.drawing import drawn
from jaxflow._core.size import Size
from jaxflow._core.tensor import Tensor

from . import constraints
from .distribution import Distribution
from .utils import broadcast_all, lazy_property

__all__ = ["VonMises"]


class VonMises(Distribution):
    """The von Mises distribution of angles: density ``exp(k * cos(x - loc)) / (2 * pi * I_0(k))``.

    Samples are angles of ``[-pi, pi)``, drawn as Best and Fisher say, "Efficient simulation of the von Mises
    distribution", 1979. They have no gradients.

    Args:
        loc: the mean angle, in radians; a tensor or a number.
        concentration: ``k``, positive; broadcast with ``loc``.
        validate_args: whether parameters and values are checked.

    Example:
        >>> torch.distributions.VonMises(torch.tensor([0.0]), torch.tensor([2.0])).sample().shape
        torch.Size([1])
    """

    arg_constraints = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real
    has_rsample = False

    def __init__(self, loc: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.shape, Size(), validate_args)

    def expand(self, batch_shape, _instance=None):
        return self._expanded(VonMises, batch_shape, _instance)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        k = self.concentration
        # i0e is I_0(k) * exp(-k)
        return k * (fn.cos(value - self.loc) - 1) - math.log(2 * math.pi) - fn.log(special.i0e(k))

    def sample(self, sample_shape=()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        loc, k = self.loc.detach().expand(shape), self.concentration.detach().expand(shape)
        return drawn("_von_mises", (loc, k), (), None, loc.device)

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @lazy_property
    def variance(self) -> Tensor:  # type: ignore[override]
        """The circular variance, ``1 - I_1(k) / I_0(k)``."""
        return 1 - special.i1e(self.concentration) / special.i0e(self.concentration)
