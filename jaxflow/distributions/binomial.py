"""The binomial distribution."""

from __future__ import annotations

from typing import Any

from jaxflow import _functions as fn
from jaxflow._core.tensor import Tensor
from jaxflow.autograd.grad_mode import no_grad

from . import constraints
from ._probs_or_logits import ProbsOrLogits, the_one_of
from .utils import broadcast_all

__all__ = ["Binomial"]


def _clamp_by_zero(x: Tensor) -> Tensor:
    """``max(x, 0)``, whose slope at 0 is a half: that of all smooth functions which come near it."""
    return (x + x.abs()) / 2


class Binomial(ProbsOrLogits):
    """How many of ``total_count`` trials succeed.

    The probability is ``n! / (k! * (n - k)!) * p^k * (1 - p)^(n - k)``.

    Args:
        total_count: ``n``, whole numbers that are not negative; a tensor or a number.
        probs: ``p``, chances of success; broadcast with ``total_count``.
        logits: the logarithms of their odds, instead.
        validate_args: whether parameters and values are checked.

    Raises:
        ValueError: unless exactly one of the two is given.

    Example:
        >>> torch.distributions.Binomial(4, torch.tensor([0.0, 0.5, 1.0])).mean
        tensor([0., 2., 4.])
    """

    arg_constraints = {"total_count": constraints.nonnegative_integer, "probs": constraints.unit_interval,
                       "logits": constraints.real}
    has_enumerate_support = True

    def __init__(self, total_count: Tensor | int = 1, probs: Any = None, logits: Any = None,
                 validate_args: bool | None = None) -> None:
        self._given, given = the_one_of(probs, logits)
        self.total_count, param = broadcast_all(total_count, given)
        self.total_count = self.total_count.type_as(param)
        setattr(self, self._given, param)
        super().__init__(param.size(), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return self._expanded(Binomial, batch_shape, _instance, also=("_given",))

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self):
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> Tensor:
        return self.total_count * self.probs

    @property
    def mode(self) -> Tensor:
        return fn.minimum(((self.total_count + 1) * self.probs).floor(), self.total_count)

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape=()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return fn.binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        n = self.total_count
        ways = fn.lgamma(n + 1) - fn.lgamma(value + 1) - fn.lgamma(n - value + 1)
        # log(1 + exp(logits)), without overflow
        softplus = _clamp_by_zero(self.logits) + fn.log1p(fn.exp(-self.logits.abs()))
        return ways + value * self.logits - n * softplus

    def _count(self, method: str) -> int:
        """The number of trials, which must be the same in the batch."""
        most = int(self.total_count.max())
        if self.total_count.min() != most:
            raise NotImplementedError(f"Inhomogeneous total count not supported by `{method}`.")
        return most

    def entropy(self) -> Tensor:
        self._count("entropy")
        logs = self.log_prob(self.enumerate_support(False))
        return -(fn.exp(logs) * logs).sum(0)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        count = self._count("enumerate_support")
        values = fn.arange(1 + count, dtype=self._param.dtype, device=self._param.device)
        return self._enumerated(values, expand)
