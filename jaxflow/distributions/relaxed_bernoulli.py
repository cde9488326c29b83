"""Bernoulli numbers that are relaxed to the numbers between 0 and 1."""

from __future__ import annotations

from typing import Any

from jaxflow import _functions as fn
from jaxflow._core.tensor import Tensor

from . import constraints
from ._probs_or_logits import ProbsOrLogits
from .transformed_distribution import TransformedDistribution
from .transforms import SigmoidTransform
from .utils import broadcast_all, clamp_probs

__all__ = ["LogitRelaxedBernoulli", "RelaxedBernoulli"]


class LogitRelaxedBernoulli(ProbsOrLogits):
    """The logits of `RelaxedBernoulli`: ``(logits + log(u) - log(1 - u)) / temperature``, ``u`` uniform.

    From Maddison, Mnih and Teh, "The concrete distribution", 2017, and Jang, Gu and Poole, "Categorical
    reparameterization with Gumbel-softmax", 2017.

    Args:
        temperature: positive; the smaller, the nearer to Bernoulli numbers.
        probs: probabilities; a tensor or a number.
        logits: the logarithms of their odds, instead.
        validate_args: whether parameters and values are checked.

    Raises:
        ValueError: unless exactly one of ``probs`` and ``logits`` is given.

    Example:
        >>> from jaxflow.distributions.relaxed_bernoulli import LogitRelaxedBernoulli
        >>> LogitRelaxedBernoulli(torch.tensor(0.5), probs=torch.tensor([0.1, 0.9])).sample().shape
        torch.Size([2])
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.real

    def __init__(self, temperature: Tensor, probs: Any = None, logits: Any = None,
                 validate_args: bool | None = None) -> None:
        self.temperature = temperature
        super().__init__(self._take(probs, logits), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return self._expanded(LogitRelaxedBernoulli, batch_shape, _instance, also=("_given", "temperature"))

    def rsample(self, sample_shape=()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        probs = clamp_probs(self.probs.expand(shape))
        u = clamp_probs(fn.rand(shape, dtype=probs.dtype, device=probs.device))
        return (fn.log(u) - fn.log1p(-u) + fn.log(probs) - fn.log1p(-probs)) / self.temperature

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        away = logits - value * self.temperature
        return fn.log(self.temperature) + away - 2 * fn.log1p(fn.exp(away))


class RelaxedBernoulli(TransformedDistribution):
    """Numbers between 0 and 1 that come near Bernoulli numbers at low temperatures, and have gradients.

    From Maddison, Mnih and Teh, "The concrete distribution", 2017.

    Args:
        temperature: positive; the smaller, the nearer to 0 and 1.
        probs: probabilities; a tensor or a number.
        logits: the logarithms of their odds, instead.
        validate_args: whether parameters and values are checked.

    Raises:
        ValueError: unless exactly one of ``probs`` and ``logits`` is given.

    Example:
        >>> D = torch.distributions
        >>> D.RelaxedBernoulli(torch.tensor(0.5), torch.tensor([0.1, 0.9])).rsample().shape
        torch.Size([2])
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True
    base_dist: LogitRelaxedBernoulli

    def __init__(self, temperature: Tensor, probs: Any = None, logits: Any = None,
                 validate_args: bool | None = None) -> None:
        base = LogitRelaxedBernoulli(temperature, probs, logits)
        super().__init__(base, SigmoidTransform(), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return super().expand(batch_shape, _instance=self._get_checked_instance(RelaxedBernoulli, _instance))

    @property
    def temperature(self) -> Tensor:
        """The temperature."""
        return self.base_dist.temperature

    @property
    def logits(self) -> Tensor:
        """The logarithms of the odds."""
        return self.base_dist.logits

    @property
    def probs(self) -> Tensor:
        """Probabilities."""
        return self.base_dist.probs
