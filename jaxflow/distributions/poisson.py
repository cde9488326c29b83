"""The Poisson distribution."""

from __future__ import annotations

from jaxflow import _functions as fn
from jaxflow._core.size import Size
from jaxflow._core.tensor import Tensor
from jaxflow.autograd.grad_mode import no_grad
from jaxflow.types import _Number

from . import constraints
from .exp_family import ExponentialFamily
from .utils import broadcast_all

__all__ = ["Poisson"]


class Poisson(ExponentialFamily):
    """Numbers of events at a mean rate: probability ``rate^k * exp(-rate) / k!``.

    Args:
        rate: not negative; a tensor or a number.
        validate_args: whether parameters and values are checked.

    Example:
        >>> torch.distributions.Poisson(torch.tensor([0.0])).sample()
        tensor([0.])
    """

    arg_constraints = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer

    def __init__(self, rate: Tensor | float, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        shape = Size() if isinstance(rate, _Number) else self.rate.size()
        super().__init__(shape, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return self._expanded(Poisson, batch_shape, _instance)

    @property
    def mean(self) -> Tensor:
        return self.rate

    @property
    def mode(self) -> Tensor:
        return self.rate.floor()

    @property
    def variance(self) -> Tensor:
        return self.rate

    def sample(self, sample_shape=()) -> Tensor:
        with no_grad():
            return fn.poisson(self.rate.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        rate, value = broadcast_all(self.rate, value)
        return fn.xlogy(value, rate) - rate - fn.lgamma(value + 1)

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (fn.log(self.rate),)

    def _log_normalizer(self, x: Tensor) -> Tensor:
        return fn.exp(x)
