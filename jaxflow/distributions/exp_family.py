"""Distributions whose density is ``exp(<t(x), p> - F(p) + k(x))`` with natural parameters ``p``."""

from __future__ import annotations

from jaxflow import autograd
from jaxflow._core.tensor import Tensor

from .distribution import Distribution

__all__ = ["ExponentialFamily"]


class ExponentialFamily(Distribution):
    """A distribution of an exponential family, whose entropy follows from its log normalizer.

    With natural parameters ``p``, log normalizer ``F`` and carrier measure ``k``, the entropy is
    ``F(p) - <p, F'(p)> - E[k(x)]`` (Nielsen and Nock, "Entropies and cross-entropies of exponential
    families", 2010).

    Args:
        batch_shape: the shape that the parameters broadcast to.
        event_shape: the shape of one draw.
        validate_args: whether parameters and values are checked.

    Example:
        >>> issubclass(torch.distributions.Gamma, torch.distributions.ExponentialFamily)
        True
    """

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        """The natural parameters."""
        raise NotImplementedError

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        """The logarithm of the normalizing constant, as a function of the natural parameters."""
        raise NotImplementedError

    @property
    def _mean_carrier_measure(self) -> float | Tensor:
        """The mean of the carrier measure."""
        raise NotImplementedError

    def entropy(self) -> Tensor:
        """The entropy from the log normalizer and its derivative; gradients do not reach the parameters."""
        carrier = self._mean_carrier_measure
        natural = [p.detach().requires_grad_() for p in self._natural_params]
        normalizer = self._log_normalizer(*natural)
        slopes = autograd.grad(normalizer.sum(), natural, create_graph=True)
        result = normalizer - carrier
        for p, slope in zip(natural, slopes, strict=True):
            result = result - (p * slope).reshape(self._batch_shape + (-1,)).sum(-1)
        return result
