"""The gamma distribution."""

from __future__ import annotations

from jaxflow import _functions as fn
from jaxflow import special
from jaxflow._core.size import Size
from jaxflow._core.tensor import Tensor
from jaxflow._core.typeinfo import finfo
from jaxflow._dispatch.dispatch import apply
from jaxflow._plans.op import OPS
from jaxflow.types import _Number

from . import constraints
from .exp_family import ExponentialFamily
from .utils import broadcast_all

__all__ = ["Gamma"]


def _standard_gamma(concentration: Tensor) -> Tensor:
    return fn._standard_gamma(concentration)


class Gamma(ExponentialFamily):
    """The gamma distribution: density ``r^a * x^(a - 1) * exp(-r * x) / Gamma(a)``.

    Args:
        concentration: ``a``, positive; a tensor or a number.
        rate: ``r``, positive; broadcast with ``concentration``.
        validate_args: whether parameters and values are checked.

    Example:
        >>> torch.distributions.Gamma(3.0, 2.0).mean
        tensor(1.5000)
    """

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, concentration: Tensor | float, rate: Tensor | float,
                 validate_args: bool | None = None) -> None:
        self.concentration, self.rate = broadcast_all(concentration, rate)
        numbers = isinstance(concentration, _Number) and isinstance(rate, _Number)
        super().__init__(Size() if numbers else self.concentration.size(), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return self._expanded(Gamma, batch_shape, _instance)

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.rate

    @property
    def mode(self) -> Tensor:
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self) -> Tensor:
        return self.concentration / self.rate.square()

    def rsample(self, sample_shape=()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        value = _standard_gamma(self.concentration.expand(shape)) / self.rate.expand(shape)
        value.detach().clamp_(min=finfo(value.dtype).tiny)  # the gradient is that of the number above
        return value

    def log_prob(self, value: Tensor) -> Tensor:
        value = fn.as_tensor(value, dtype=self.rate.dtype, device=self.rate.device)
        if self._validate_args:
            self._validate_sample(value)
        return apply(OPS["_gamma_log_prob"], (value, self.concentration, self.rate))

    def entropy(self) -> Tensor:
        a = self.concentration
        return a - fn.log(self.rate) + fn.lgamma(a) + (1 - a) * fn.digamma(a)

    def cdf(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return special.gammainc(self.concentration, self.rate * value)

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return self.concentration - 1, -self.rate

    def _log_normalizer(self, x: Tensor, y: Tensor) -> Tensor:
        return fn.lgamma(x + 1) + (x + 1) * fn.log(-y.reciprocal())
