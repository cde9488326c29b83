"""Mixtures of distributions of one family."""

from __future__ import annotations

from typing import Any

from jaxflow import _functions as fn
from jaxflow._core.size import Size
from jaxflow._core.tensor import Tensor
from jaxflow.autograd.grad_mode import no_grad

from . import constraints
from .categorical import Categorical
from .distribution import Distribution

__all__ = ["MixtureSameFamily"]


class MixtureSameFamily(Distribution):
    """A mixture: an index is drawn, and a value of the component of that index.

    Args:
        mixture_distribution: a `Categorical` of the weights, of shape ``(*, K)``.
        component_distribution: a distribution whose last batch dimension has the extent ``K``.
        validate_args: whether parameters and values are checked.

    Raises:
        ValueError: for other distributions, and where shapes do not fit.

    Example:
        >>> D = torch.distributions
        >>> weights = D.Categorical(torch.ones(2))
        >>> D.MixtureSameFamily(weights, D.Normal(torch.tensor([-1.0, 3.0]), 1.0)).mean
        tensor(1.)
    """

    arg_constraints: dict[str, Any] = {}
    has_rsample = False

    def __init__(self, mixture_distribution: Categorical, component_distribution: Distribution,
                 validate_args: bool | None = None) -> None:
        self._mixture_distribution = mixture_distribution
        self._component_distribution = component_distribution
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(" The Mixture distribution needs to be an  instance of "
                             "torch.distributions.Categorical")
        if not isinstance(component_distribution, Distribution):
            raise ValueError("The Component distribution needs to be an instance of "
                             "torch.distributions.Distribution")
        weights, batch = mixture_distribution._batch_shape, component_distribution._batch_shape
        for a, b in zip(reversed(weights), reversed(batch[:-1]), strict=False):
            if a != 1 and b not in (1, a):
                raise ValueError(f"`mixture_distribution.batch_shape` ({weights}) is not compatible with "
                                 f"`component_distribution.batch_shape`({batch[:-1]})")
        count = mixture_distribution.logits.shape[-1]
        if batch[-1] != count:
            raise ValueError(f"`mixture_distribution component` ({count}) does not equal "
                             f"`component_distribution.batch_shape[-1]` ({batch[-1]})")
        self._num_component = count
        event = component_distribution._event_shape
        self._event_ndims = len(event)
        super().__init__(batch_shape=batch[:-1], event_shape=event, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._get_checked_instance(MixtureSameFamily, _instance)
        batch_shape = Size(batch_shape)
        new._mixture_distribution = self._mixture_distribution.expand(batch_shape)
        new._component_distribution = self._component_distribution.expand(
            batch_shape + (self._num_component,))
        new._num_component = self._num_component
        new._event_ndims = self._event_ndims
        event = self._component_distribution._event_shape
        super(MixtureSameFamily, new).__init__(batch_shape, event, validate_args=False)
        new._validate_args = self._validate_args
        return new

    @constraints.dependent_property
    def support(self):
        return constraints.MixtureSameFamilyConstraint(self._component_distribution.support)

    @property
    def mixture_distribution(self) -> Categorical:
        """The distribution of the index."""
        return self._mixture_distribution

    @property
    def component_distribution(self) -> Distribution:
        """The distributions of the values."""
        return self._component_distribution

    def _weights(self) -> Tensor:
        return self._pad_mixture_dimensions(self._mixture_distribution.probs)

    def _over_components(self, numbers: Tensor) -> Tensor:
        return numbers.sum(-1 - self._event_ndims)

    @property
    def mean(self) -> Tensor:
        return self._over_components(self._weights() * self._component_distribution.mean)

    @property
    def variance(self) -> Tensor:
        # The mean of the variances, and the variance of the means.
        weights, components = self._weights(), self._component_distribution
        away = components.mean - self._pad(self.mean)
        return self._over_components(weights * components.variance) + self._over_components(
            weights * away.square())

    def cdf(self, x: Tensor) -> Tensor:
        found = self._component_distribution.cdf(self._pad(x))
        return (found * self._mixture_distribution.probs).sum(-1)

    def log_prob(self, x: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(x)
        densities = self._component_distribution.log_prob(self._pad(x))
        weights = fn.log_softmax(self._mixture_distribution.logits, -1)
        return fn.logsumexp(densities + weights, -1)

    def sample(self, sample_shape=()) -> Tensor:
        with no_grad():
            index = self._mixture_distribution.sample(sample_shape)
            values = self._component_distribution.sample(sample_shape)
            dim = index.dim()  # where the components are
            index = index.reshape(index.shape + (1,) * (self._event_ndims + 1))
            index = index.expand(values.shape[:dim] + (1,) + values.shape[dim + 1:])
            return values.gather(dim, index).squeeze(dim)

    def _pad(self, x: Tensor) -> Tensor:
        return x.unsqueeze(-1 - self._event_ndims)

    def _pad_mixture_dimensions(self, x: Tensor) -> Tensor:
        more = len(self._batch_shape) - len(self._mixture_distribution._batch_shape)
        shape = x.shape
        return x.reshape(shape[:-1] + (1,) * more + shape[-1:] + (1,) * self._event_ndims)

    def __repr__(self) -> str:
        return (f"{type(self).__name__}(\n  {self._mixture_distribution},\n"
                f"  {self._component_distribution})")
