"""Parameters that are given as probabilities or as logits; the other of the two follows when it is used."""

from __future__ import annotations

from typing import Any

from jaxflow._core.size import Size
from jaxflow._core.tensor import Tensor
from jaxflow.types import _Number

from .distribution import Distribution
from .utils import broadcast_all, lazy_property, logits_to_probs, probs_to_logits


def the_one_of(probs: Any, logits: Any) -> tuple[str, Any]:
    """The name and value of the one that was given. ValueError unless it is exactly one."""
    if (probs is None) == (logits is None):
        raise ValueError("Either `probs` or `logits` must be specified, but not both.")
    return ("logits", logits) if probs is None else ("probs", probs)


class ProbsOrLogits(Distribution):
    """A distribution with ``probs`` and ``logits``, of which ``_given`` names the one it was made of."""

    #: Whether each element is a probability of its own; otherwise those along the last dimension add up to 1.
    _binary = True
    _given: str

    def _take(self, probs: Any, logits: Any) -> Size:
        """Keep the one that was given, as a tensor; its batch shape."""
        self._given, given = the_one_of(probs, logits)
        (param,) = broadcast_all(given)
        setattr(self, self._given, param)
        return Size() if isinstance(given, _Number) else param.size()

    @lazy_property
    def logits(self) -> Tensor:
        """Logarithms of odds, or of probabilities."""
        return probs_to_logits(self.probs, is_binary=self._binary)

    @lazy_property
    def probs(self) -> Tensor:
        """Probabilities."""
        return logits_to_probs(self.logits, is_binary=self._binary)

    @property
    def _param(self) -> Tensor:
        return self.__dict__[self._given]

    @property
    def param_shape(self) -> Size:
        """The shape of the parameter."""
        return self._param.size()

    def _new(self, *args: Any, **kwargs: Any) -> Tensor:
        return self._param.new(*args, **kwargs)
