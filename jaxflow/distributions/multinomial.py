"""The multinomial distribution."""

from __future__ import annotations

import math
from typing import Any

from jaxflow import _functions as fn
from jaxflow._core.size import Size
from jaxflow._core.tensor import Tensor

from . import constraints
from .binomial import Binomial
from .categorical import Categorical
from .distribution import Distribution
from .utils import broadcast_all

__all__ = ["Multinomial"]


class Multinomial(Distribution):
    """How often each of ``K`` indices is drawn in ``total_count`` draws.

    The probability is ``n! / prod(k_i!) * prod(p_i^k_i)``.

    Args:
        total_count: ``n``, a number that all distributions of the batch share.
        probs: weights, not negative, of shape ``(*, K)``; they are divided by their sums.
        logits: logarithms of weights, instead.
        validate_args: whether parameters and values are checked.

    Raises:
        NotImplementedError: for a ``total_count`` that is a tensor.
        ValueError: unless exactly one of ``probs`` and ``logits`` is given.

    Example:
        >>> torch.distributions.Multinomial(4, torch.tensor([1.0, 1.0])).mean
        tensor([2., 2.])
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    total_count: int

    def __init__(self, total_count: int = 1, probs: Tensor | None = None, logits: Tensor | None = None,
                 validate_args: bool | None = None) -> None:
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        self._categorical = Categorical(probs=probs, logits=logits)
        self._binomial = Binomial(total_count=total_count, probs=self.probs)
        super().__init__(self._categorical.batch_shape, self._categorical.param_shape[-1:],
                         validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._expanded(Multinomial, batch_shape, _instance, also=("total_count",))
        new._categorical = self._categorical.expand(batch_shape)
        new._binomial = self._binomial.expand(Size(batch_shape) + self._event_shape)
        return new

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self):
        return constraints.multinomial(self.total_count)

    def _new(self, *args: Any, **kwargs: Any) -> Tensor:
        return self._categorical._new(*args, **kwargs)

    @property
    def logits(self) -> Tensor:
        """Logarithms of the probabilities."""
        return self._categorical.logits

    @property
    def probs(self) -> Tensor:
        """Probabilities."""
        return self._categorical.probs

    @property
    def param_shape(self) -> Size:
        """The shape of the parameter."""
        return self._categorical.param_shape

    @property
    def mean(self) -> Tensor:
        return self.probs * self.total_count

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape=()) -> Tensor:
        sample_shape = Size(sample_shape)
        drawn = self._categorical.sample(Size((self.total_count,)) + sample_shape).movedim(0, -1)
        counts = drawn.new_zeros(self._extended_shape(sample_shape))
        return counts.scatter_add(-1, drawn, fn.ones_like(drawn)).type_as(self.probs)

    def entropy(self) -> Tensor:
        n = fn.tensor(self.total_count, dtype=self.probs.dtype, device=self.probs.device)
        counts = self._binomial.enumerate_support(expand=False)[1:]
        chances = fn.exp(self._binomial.log_prob(counts))
        repeated = (chances * fn.lgamma(counts + 1)).sum([0, -1])
        return n * self._categorical.entropy() - fn.lgamma(n + 1) + repeated

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        logits = fn.where((value == 0) & (logits == -math.inf), 0, logits)  # 0 * -inf is 0 here
        ways = fn.lgamma(value.sum(-1) + 1) - fn.lgamma(value + 1).sum(-1)
        return ways + (logits * value).sum(-1)
