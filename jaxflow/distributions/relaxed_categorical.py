"""One-hot vectors that are relaxed to vectors which add up to 1."""

from __future__ import annotations

import math
from typing import Any

from jaxflow import _functions as fn
from jaxflow._core.size import Size
from jaxflow._core.tensor import Tensor

from . import constraints
from .categorical import Categorical
from .distribution import Distribution
from .transformed_distribution import TransformedDistribution
from .transforms import ExpTransform
from .utils import broadcast_all, clamp_probs

__all__ = ["ExpRelaxedCategorical", "RelaxedOneHotCategorical"]


class ExpRelaxedCategorical(Distribution):
    """The logarithms of `RelaxedOneHotCategorical`'s numbers.

    ``s - logsumexp(s)``, where ``s = (logits + g) / temperature`` and ``g`` are Gumbel numbers. From
    Maddison, Mnih and Teh, "The concrete distribution", 2017.

    Args:
        temperature: positive; the smaller, the nearer to one-hot vectors.
        probs: weights, not negative, of shape ``(*, K)``.
        logits: logarithms of weights, instead.
        validate_args: whether parameters and values are checked.

    Raises:
        ValueError: unless exactly one of ``probs`` and ``logits`` is given.

    Example:
        >>> from jaxflow.distributions.relaxed_categorical import ExpRelaxedCategorical
        >>> ExpRelaxedCategorical(torch.tensor(0.5), torch.ones(3)).sample().shape
        torch.Size([3])
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.real_vector
    has_rsample = True

    def __init__(self, temperature: Tensor, probs: Tensor | None = None, logits: Tensor | None = None,
                 validate_args: bool | None = None) -> None:
        self._categorical = Categorical(probs, logits)
        self.temperature = temperature
        super().__init__(self._categorical.batch_shape, self._categorical.param_shape[-1:],
                         validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._expanded(ExpRelaxedCategorical, batch_shape, _instance, also=("temperature",))
        new._categorical = self._categorical.expand(batch_shape)
        return new

    def _new(self, *args: Any, **kwargs: Any) -> Tensor:
        return self._categorical._new(*args, **kwargs)

    @property
    def param_shape(self) -> Size:
        """The shape of the parameter."""
        return self._categorical.param_shape

    @property
    def logits(self) -> Tensor:
        """Logarithms of the probabilities."""
        return self._categorical.logits

    @property
    def probs(self) -> Tensor:
        """Probabilities."""
        return self._categorical.probs

    def rsample(self, sample_shape=()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        u = clamp_probs(fn.rand(shape, dtype=self.logits.dtype, device=self.logits.device))
        return fn.log_softmax((self.logits - fn.log(-fn.log(u))) / self.temperature, -1)

    def log_prob(self, value: Tensor) -> Tensor:
        count = self._categorical._num_events
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        constant = math.lgamma(count) + (count - 1) * fn.log(self.temperature)
        return fn.log_softmax(logits - value * self.temperature, -1).sum(-1) + constant


class RelaxedOneHotCategorical(TransformedDistribution):
    """Vectors that add up to 1 and come near one-hot ones at low temperatures, and have gradients.

    ``softmax((logits + g) / temperature)``, where ``g`` are Gumbel numbers. From Maddison, Mnih and Teh,
    "The concrete distribution", 2017, and Jang, Gu and Poole, "Categorical reparameterization with
    Gumbel-softmax", 2017.

    Args:
        temperature: positive; the smaller, the nearer to one-hot vectors.
        probs: weights, not negative, of shape ``(*, K)``.
        logits: logarithms of weights, instead.
        validate_args: whether parameters and values are checked.

    Raises:
        ValueError: unless exactly one of ``probs`` and ``logits`` is given.

    Example:
        >>> D = torch.distributions
        >>> D.RelaxedOneHotCategorical(torch.tensor(0.5), torch.ones(3)).rsample().shape
        torch.Size([3])
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.simplex
    has_rsample = True
    base_dist: ExpRelaxedCategorical

    def __init__(self, temperature: Tensor, probs: Tensor | None = None, logits: Tensor | None = None,
                 validate_args: bool | None = None) -> None:
        base = ExpRelaxedCategorical(temperature, probs, logits, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._get_checked_instance(RelaxedOneHotCategorical, _instance)
        return super().expand(batch_shape, _instance=new)

    @property
    def temperature(self) -> Tensor:
        """The temperature."""
        return self.base_dist.temperature

    @property
    def logits(self) -> Tensor:
        """Logarithms of the probabilities."""
        return self.base_dist.logits

    @property
    def probs(self) -> Tensor:
        """Probabilities."""
        return self.base_dist.probs
