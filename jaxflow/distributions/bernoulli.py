"""The Bernoulli distribution."""

from __future__ import annotations

from typing import Any

from jaxflow import _functions as fn
from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.dispatch import apply
from jaxflow._plans.op import OPS
from jaxflow.autograd.grad_mode import no_grad
from jaxflow.nn import functional as F

from . import constraints
from ._probs_or_logits import ProbsOrLogits
from .exp_family import ExponentialFamily

__all__ = ["Bernoulli"]


class Bernoulli(ProbsOrLogits, ExponentialFamily):
    """1 with the probability ``probs``, else 0.

    Args:
        probs: probabilities; a tensor or a number.
        logits: the logarithms of their odds, instead.
        validate_args: whether parameters and values are checked.

    Raises:
        ValueError: unless exactly one of the two is given.

    Example:
        >>> torch.distributions.Bernoulli(torch.tensor([0.0, 1.0])).sample()
        tensor([0., 1.])
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.boolean
    has_enumerate_support = True
    _mean_carrier_measure = 0

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        super().__init__(self._take(probs, logits), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return self._expanded(Bernoulli, batch_shape, _instance, also=("_given",))

    @property
    def mean(self) -> Tensor:
        return self.probs

    @property
    def mode(self) -> Tensor:
        mode = (self.probs >= 0.5).to(self.probs)
        return fn.where(self.probs == 0.5, float("nan"), mode)

    @property
    def variance(self) -> Tensor:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape=()) -> Tensor:
        with no_grad():
            return fn.bernoulli(self.probs.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return apply(OPS["_bernoulli_log_prob"], (self.logits, value))

    def entropy(self) -> Tensor:
        return F.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")

    def enumerate_support(self, expand: bool = True) -> Tensor:
        values = fn.arange(2, dtype=self._param.dtype, device=self._param.device)
        return self._enumerated(values, expand)

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (fn.logit(self.probs),)

    def _log_normalizer(self, x: Tensor) -> Tensor:
        return fn.log1p(fn.exp(x))
