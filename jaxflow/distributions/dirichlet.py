"""The Dirichlet distribution."""

from __future__ import annotations

from jaxflow import _functions as fn
from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.dispatch import apply
from jaxflow._plans.op import OPS
from jaxflow.nn import functional as F

from . import constraints
from .exp_family import ExponentialFamily

__all__ = ["Dirichlet"]


class Dirichlet(ExponentialFamily):
    """The Dirichlet distribution of vectors that add up to 1.

    The density is the product of ``x_i^(a_i - 1)``, times ``Gamma(sum a) / prod Gamma(a_i)``.

    Args:
        concentration: ``a``, positive, of shape ``(*, K)``.
        validate_args: whether parameters and values are checked.

    Raises:
        ValueError: for a concentration without dimensions.

    Example:
        >>> torch.distributions.Dirichlet(torch.tensor([1.0, 3.0])).mean
        tensor([0.2500, 0.7500])
    """

    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, concentration: Tensor, validate_args: bool | None = None) -> None:
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        shape = concentration.shape
        super().__init__(shape[:-1], shape[-1:], validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return self._expanded(Dirichlet, batch_shape, _instance)

    def rsample(self, sample_shape=()) -> Tensor:
        concentration = self.concentration.expand(self._extended_shape(sample_shape))
        sample = fn._sample_dirichlet(concentration.detach())
        if not concentration.requires_grad:
            return sample
        return apply(OPS["_dirichlet_traced"], (concentration, sample))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        a = self.concentration
        return fn.xlogy(a - 1, value).sum(-1) + fn.lgamma(a.sum(-1)) - fn.lgamma(a).sum(-1)

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def mode(self) -> Tensor:
        above = (self.concentration - 1).clamp(min=0)
        mode = above / above.sum(-1, True)
        at_corners = (self.concentration < 1).all(-1, True)
        corner = F.one_hot(mode.argmax(-1), mode.shape[-1]).to(mode)
        return fn.where(at_corners, corner, mode)

    @property
    def variance(self) -> Tensor:
        total = self.concentration.sum(-1, True)
        return self.concentration * (total - self.concentration) / (total.square() * (total + 1))

    def entropy(self) -> Tensor:
        a, k = self.concentration, self.concentration.size(-1)
        total = a.sum(-1)
        return (fn.lgamma(a).sum(-1) - fn.lgamma(total) - (k - total) * fn.digamma(total)
                - ((a - 1) * fn.digamma(a)).sum(-1))

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.concentration,)

    def _log_normalizer(self, x: Tensor) -> Tensor:
        return fn.lgamma(x).sum(-1) - fn.lgamma(x.sum(-1))
