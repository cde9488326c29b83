"""The categorical distribution, of vectors with a single 1."""

from __future__ import annotations

from typing import Any

from jaxflow import _functions as fn
from jaxflow._core.size import Size
from jaxflow._core.tensor import Tensor
from jaxflow.nn import functional as F

from . import constraints
from .categorical import Categorical
from .distribution import Distribution

__all__ = ["OneHotCategorical", "OneHotCategoricalStraightThrough"]


class OneHotCategorical(Distribution):
    """A vector with a 1 at an index that has its probability, and zeros elsewhere.

    Args:
        probs: weights, not negative, of shape ``(*, K)``; they are divided by their sums.
        logits: logarithms of weights, instead.
        validate_args: whether parameters and values are checked.

    Raises:
        ValueError: unless exactly one of the two is given, with at least one dimension.

    Example:
        >>> torch.distributions.OneHotCategorical(torch.tensor([0.0, 2.0])).sample()
        tensor([0., 1.])
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.one_hot
    has_enumerate_support = True

    def __init__(self, probs: Tensor | None = None, logits: Tensor | None = None,
                 validate_args: bool | None = None) -> None:
        self._categorical = Categorical(probs, logits)
        super().__init__(self._categorical.batch_shape, self._categorical.param_shape[-1:],
                         validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._expanded(OneHotCategorical, batch_shape, _instance)
        new._categorical = self._categorical.expand(batch_shape)
        return new

    def _new(self, *args: Any, **kwargs: Any) -> Tensor:
        return self._categorical._new(*args, **kwargs)

    @property
    def _param(self) -> Tensor:
        return self._categorical._param

    @property
    def probs(self) -> Tensor:
        """Probabilities."""
        return self._categorical.probs

    @property
    def logits(self) -> Tensor:
        """Logarithms of the probabilities."""
        return self._categorical.logits

    @property
    def mean(self) -> Tensor:
        return self._categorical.probs

    @property
    def mode(self) -> Tensor:
        probs = self._categorical.probs
        return F.one_hot(probs.argmax(-1), probs.shape[-1]).to(probs)

    @property
    def variance(self) -> Tensor:
        return self._categorical.probs * (1 - self._categorical.probs)

    @property
    def param_shape(self) -> Size:
        """The shape of the parameter."""
        return self._categorical.param_shape

    def sample(self, sample_shape=()) -> Tensor:
        index = self._categorical.sample(Size(sample_shape))
        return F.one_hot(index, self._categorical._num_events).to(self._categorical.probs)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return self._categorical.log_prob(value.argmax(-1))

    def entropy(self) -> Tensor:
        return self._categorical.entropy()

    def enumerate_support(self, expand: bool = True) -> Tensor:
        n = self._event_shape[0]
        values = fn.eye(n, dtype=self._param.dtype, device=self._param.device)
        values = values.view((n,) + (1,) * len(self._batch_shape) + (n,))
        return values.expand((n,) + self._batch_shape + (n,)) if expand else values


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """`OneHotCategorical` whose samples pass gradients to the probabilities as if they were those.

    From Bengio, Leonard and Courville, "Estimating or propagating gradients through stochastic neurons",
    2013.

    Args:
        probs: weights, not negative, of shape ``(*, K)``; they are divided by their sums.
        logits: logarithms of weights, instead.
        validate_args: whether parameters and values are checked.

    Example:
        >>> torch.distributions.OneHotCategoricalStraightThrough(torch.tensor([0.0, 2.0])).rsample()
        tensor([0., 1.])
    """

    has_rsample = True

    def rsample(self, sample_shape=()) -> Tensor:
        sample, probs = self.sample(sample_shape), self._categorical.probs
        return sample + (probs - probs.detach())
