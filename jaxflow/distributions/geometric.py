"""The geometric distribution."""

from __future__ import annotations

from typing import Any

from jaxflow import _functions as fn
from jaxflow._core.tensor import Tensor
from jaxflow._core.typeinfo import finfo
from jaxflow.autograd.grad_mode import no_grad
from jaxflow.nn import functional as F

from . import constraints
from ._checking import fulfilled
from ._probs_or_logits import ProbsOrLogits
from .utils import broadcast_all

__all__ = ["Geometric"]


class Geometric(ProbsOrLogits):
    """How many trials fail before the first success: probability ``(1 - p)^k * p``.

    Args:
        probs: chances of success, in ``(0, 1]``; a tensor or a number.
        logits: the logarithms of their odds, instead.
        validate_args: whether parameters and values are checked.

    Raises:
        ValueError: unless exactly one of the two is given.

    Example:
        >>> torch.distributions.Geometric(0.25).mean
        tensor(3.)
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.nonnegative_integer

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        super().__init__(self._take(probs, logits), validate_args=validate_args)
        if self._validate_args and probs is not None:
            value = self.probs  # the constraint lets 0 pass
            if not fulfilled(constraints.positive, value):
                raise ValueError(
                    f"Expected parameter probs ({type(value).__name__} of shape {tuple(value.shape)}) of "
                    f"distribution {self!r} to be positive but found invalid values:\n{value[value <= 0]}")

    def expand(self, batch_shape, _instance=None):
        return self._expanded(Geometric, batch_shape, _instance, also=("_given",))

    @property
    def mean(self) -> Tensor:
        return 1 / self.probs - 1

    @property
    def mode(self) -> Tensor:
        return fn.zeros_like(self.probs)

    @property
    def variance(self) -> Tensor:
        return (1 / self.probs - 1) / self.probs

    def sample(self, sample_shape=()) -> Tensor:
        shape, tiny = self._extended_shape(sample_shape), finfo(self.probs.dtype).tiny
        with no_grad():
            u = self.probs.new(shape).uniform_(tiny, 1)
            return (fn.log(u) / fn.log1p(-self.probs)).floor()

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        value, probs = broadcast_all(value, self.probs)
        failing = fn.where((probs == 1) & (value == 0), 0, probs)  # 0 * log(0) is 0 here
        return value * fn.log1p(-failing) + fn.log(self.probs)

    def entropy(self) -> Tensor:
        return F.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none") / self.probs
