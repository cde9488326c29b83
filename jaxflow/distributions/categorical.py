"""The categorical distribution."""

from __future__ import annotations

import math

from jaxflow import _functions as fn
from jaxflow._core import dtype as dtypes
from jaxflow._core.size import Size
from jaxflow._core.tensor import Tensor
from jaxflow._core.typeinfo import finfo
from jaxflow._dispatch.dispatch import apply
from jaxflow._plans.op import OPS
from jaxflow.autograd.grad_mode import no_grad

from . import constraints
from ._probs_or_logits import ProbsOrLogits, the_one_of

__all__ = ["Categorical"]


class Categorical(ProbsOrLogits):
    """An index from 0 to ``K - 1``, each with its probability.

    Args:
        probs: weights, not negative, of shape ``(*, K)``; they are divided by their sums.
        logits: logarithms of weights, instead.
        validate_args: whether parameters and values are checked.

    Raises:
        ValueError: unless exactly one of the two is given, with at least one dimension.

    Example:
        >>> torch.distributions.Categorical(torch.tensor([0.0, 2.0])).sample((3,))
        tensor([1, 1, 1])
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_enumerate_support = True
    _binary = False

    def __init__(self, probs: Tensor | None = None, logits: Tensor | None = None,
                 validate_args: bool | None = None) -> None:
        self._given, given = the_one_of(probs, logits)
        if given.dim() < 1:
            raise ValueError(f"`{self._given}` parameter must be at least one-dimensional.")
        if logits is None:
            self.probs = given / given.sum(-1, keepdim=True)
        else:
            self.logits = given - given.logsumexp(dim=-1, keepdim=True)
        self._num_events = given.size()[-1]
        super().__init__(given.size()[:-1], validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return self._expanded(Categorical, batch_shape, _instance, also=("_given", "_num_events"))

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self):
        return constraints.integer_interval(0, self._num_events - 1)

    def _nan(self) -> Tensor:
        return fn.full(self._extended_shape(), math.nan, dtype=self.probs.dtype, device=self.probs.device)

    @property
    def mean(self) -> Tensor:
        return self._nan()

    @property
    def mode(self) -> Tensor:
        return self.probs.argmax(dim=-1)

    @property
    def variance(self) -> Tensor:
        return self._nan()

    def sample(self, sample_shape=()) -> Tensor:
        sample_shape = Size(sample_shape)
        rows = self.probs.reshape(-1, self._num_events)
        with no_grad():
            found = fn.multinomial(rows.detach(), sample_shape.numel(), True)
        return found.T.reshape(self._extended_shape(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
            return apply(OPS["_categorical_log_prob"], (self.logits, value))
        value = value.long()
        logits = self.logits
        if value.shape != logits.shape[:-1]:
            shape = fn.broadcast_shapes(value.shape, logits.shape[:-1])
            value, logits = value.expand(shape), logits.expand(shape + logits.shape[-1:])
        return logits.gather(-1, value.unsqueeze(-1)).squeeze(-1)

    def entropy(self) -> Tensor:
        # Logits of -inf are of probability 0, and 0 * -inf is nan.
        logits = self.logits.clamp(min=finfo(self.logits.dtype).min)
        return -(logits * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        values = fn.arange(self._num_events, dtype=dtypes.int64, device=self._param.device)
        return self._enumerated(values, expand)
