"""Distributions of the values of transforms."""

from __future__ import annotations

from typing import Any

from jaxflow._core.size import Size
from jaxflow._core.tensor import Tensor
from jaxflow.autograd.grad_mode import no_grad

from . import constraints
from .distribution import Distribution
from .independent import Independent
from .transforms import ComposeTransform, Transform
from .utils import _sum_rightmost

__all__ = ["TransformedDistribution"]


class TransformedDistribution(Distribution):
    """The distribution of ``y = t_n(...t_1(x))``, where ``x`` has a given distribution.

    With the density ``p`` of ``x``: ``log p(x) - log |dy / dx|``.

    Args:
        base_distribution: the distribution of ``x``.
        transforms: a transform, or a list of them, the first of which is applied first.
        validate_args: whether parameters and values are checked.

    Raises:
        ValueError: for what is no transform, and for draws of too few dimensions.

    Example:
        >>> D = torch.distributions
        >>> D.TransformedDistribution(D.Uniform(0.0, 1.0), D.ExpTransform()).cdf(torch.ones(()))
        tensor(0.)
    """

    arg_constraints: dict[str, Any] = {}

    def __init__(self, base_distribution: Distribution, transforms: Transform | list[Transform],
                 validate_args: bool | None = None) -> None:
        if isinstance(transforms, Transform):
            self.transforms = [transforms]
        elif isinstance(transforms, list):
            if not all(isinstance(t, Transform) for t in transforms):
                raise ValueError("transforms must be a Transform or a list of Transforms")
            self.transforms = transforms
        else:
            raise ValueError(f"transforms must be a Transform or list, but was {transforms}")
        base, whole = base_distribution, ComposeTransform(self.transforms)
        shape = base._batch_shape + base._event_shape
        if len(shape) < whole.domain.event_dim:
            raise ValueError("base_distribution needs to have shape with size at least "
                             f"{whole.domain.event_dim}, but got {shape}.")
        after = whole.forward_shape(shape)
        # The parameters of transforms may make the batch larger, and their events take dimensions of it.
        before = whole.inverse_shape(after)
        if shape != before:
            base = base.expand(before[:len(before) - len(base._event_shape)])
        more = whole.domain.event_dim - len(base._event_shape)
        if more > 0:
            base = Independent(base, more)
        self.base_dist = base
        events = whole.codomain.event_dim + max(len(base._event_shape) - whole.domain.event_dim, 0)
        cut = len(after) - events
        super().__init__(Size(after[:cut]), Size(after[cut:]), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._get_checked_instance(TransformedDistribution, _instance)
        batch_shape = Size(batch_shape)
        shape = batch_shape + self._event_shape
        for t in reversed(self.transforms):
            shape = t.inverse_shape(shape)
        new.base_dist = self.base_dist.expand(shape[:len(shape) - len(self.base_dist._event_shape)])
        new.transforms = self.transforms
        super(TransformedDistribution, new).__init__(batch_shape, self._event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    @constraints.dependent_property(is_discrete=False)
    def support(self):
        if not self.transforms:
            return self.base_dist.support
        found = self.transforms[-1].codomain
        more = len(self._event_shape) - found.event_dim
        return constraints.independent(found, more) if more > 0 else found

    @property
    def has_rsample(self) -> bool:
        return self.base_dist.has_rsample

    def _forward(self, x: Tensor) -> Tensor:
        for t in self.transforms:
            x = t(x)
        return x

    def sample(self, sample_shape=()) -> Tensor:
        with no_grad():
            return self._forward(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape=()) -> Tensor:
        return self._forward(self.base_dist.rsample(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        events, y, change = len(self._event_shape), value, 0.0
        for t in reversed(self.transforms):
            x = t.inv(y)
            events += t.domain.event_dim - t.codomain.event_dim
            term = t.log_abs_det_jacobian(x, y)
            change = change - _sum_rightmost(term, events - t.domain.event_dim)
            y = x
        return change + _sum_rightmost(self.base_dist.log_prob(y), events - len(self.base_dist._event_shape))

    def _monotonize_cdf(self, value: Tensor) -> Tensor:
        """``value`` where the transforms increase, ``1 - value`` where they decrease."""
        sign = 1
        for t in self.transforms:
            sign = sign * t.sign
        if isinstance(sign, int) and sign == 1:
            return value
        return sign * (value - 0.5) + 0.5

    def cdf(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        for t in reversed(self.transforms):
            value = t.inv(value)
        return self._monotonize_cdf(self.base_dist.cdf(value))

    def icdf(self, value: Tensor) -> Tensor:
        return self._forward(self.base_dist.icdf(self._monotonize_cdf(value)))
