"""The negative binomial distribution."""

from __future__ import annotations

from typing import Any

from jaxflow import _functions as fn
from jaxflow._core.tensor import Tensor
from jaxflow.autograd.grad_mode import no_grad
from jaxflow.nn import functional as F

from . import constraints
from ._probs_or_logits import ProbsOrLogits, the_one_of
from .gamma import Gamma
from .utils import broadcast_all, lazy_property

__all__ = ["NegativeBinomial"]


class NegativeBinomial(ProbsOrLogits):
    """How many trials succeed until ``total_count`` have failed.

    The probability is ``Gamma(n + k) / (k! * Gamma(n)) * (1 - p)^n * p^k``.

    Args:
        total_count: ``n``, not negative, need not be whole; a tensor or a number.
        probs: ``p``, chances of success, in ``[0, 1)``; broadcast with ``total_count``.
        logits: the logarithms of their odds, instead.
        validate_args: whether parameters and values are checked.

    Raises:
        ValueError: unless exactly one of the two is given.

    Example:
        >>> torch.distributions.NegativeBinomial(3.0, torch.tensor([0.0])).sample()
        tensor([0.])
    """

    arg_constraints = {"total_count": constraints.greater_than_eq(0),
                       "probs": constraints.half_open_interval(0.0, 1.0), "logits": constraints.real}
    support = constraints.nonnegative_integer

    def __init__(self, total_count: Tensor | float, probs: Any = None, logits: Any = None,
                 validate_args: bool | None = None) -> None:
        self._given, given = the_one_of(probs, logits)
        self.total_count, param = broadcast_all(total_count, given)
        self.total_count = self.total_count.type_as(param)
        setattr(self, self._given, param)
        super().__init__(param.size(), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return self._expanded(NegativeBinomial, batch_shape, _instance, also=("_given",))

    @property
    def mean(self) -> Tensor:
        return self.total_count * fn.exp(self.logits)

    @property
    def mode(self) -> Tensor:
        return ((self.total_count - 1) * fn.exp(self.logits)).floor().clamp(min=0)

    @property
    def variance(self) -> Tensor:
        return self.mean / fn.sigmoid(-self.logits)

    @lazy_property
    def _gamma(self) -> Gamma:
        """The rates, of which Poisson numbers are negative binomial ones."""
        return Gamma(concentration=self.total_count, rate=fn.exp(-self.logits), validate_args=False)

    def sample(self, sample_shape=()) -> Tensor:
        with no_grad():
            return fn.poisson(self._gamma.sample(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        n = self.total_count
        outcome = n * F.logsigmoid(-self.logits) + value * F.logsigmoid(self.logits)
        ways = fn.lgamma(n + value) - fn.lgamma(1 + value) - fn.lgamma(n)
        return outcome + ways.masked_fill(n + value == 0, 0)
