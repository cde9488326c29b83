"""Cholesky factors of correlation matrices."""

from __future__ import annotations

import math

from jaxflow import _functions as fn
from jaxflow._core.size import Size
from jaxflow._core.tensor import Tensor
from jaxflow._core.typeinfo import finfo
from jaxflow.autograd.grad_mode import no_grad

from . import constraints
from .beta import Beta
from .distribution import Distribution
from .utils import broadcast_all

__all__ = ["LKJCholesky"]


class LKJCholesky(Distribution):
    """Cholesky factors ``L`` of correlation matrices, whose density is that of ``det(L @ L.T)^(c - 1)``.

    Drawn by the extended onion method of Lewandowski, Kurowicka and Joe, "Generating random correlation
    matrices based on vines and extended onion method", 2009. With a concentration ``c`` of 1 all
    correlation matrices are equally likely.

    Args:
        dim: how many rows and columns, at least 2.
        concentration: ``c``, positive; a tensor or a number.
        validate_args: whether parameters and values are checked.

    Raises:
        ValueError: for fewer than 2 rows.

    Example:
        >>> torch.distributions.LKJCholesky(3, 0.5).sample((4,)).shape
        torch.Size([4, 3, 3])
    """

    arg_constraints = {"concentration": constraints.positive}
    support = constraints.corr_cholesky

    def __init__(self, dim: int, concentration: Tensor | float = 1.0,
                 validate_args: bool | None = None) -> None:
        if dim < 2:
            raise ValueError(f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}.")
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        # Row i + 2 is a point of a ball, the square of whose radius has a beta distribution.
        below = fn.arange(dim - 1, dtype=self.concentration.dtype, device=self.concentration.device)
        below = fn.cat([below.new_zeros((1,)), below])
        marginal = self.concentration + 0.5 * (dim - 2)
        self._beta = Beta(below + 0.5, marginal.unsqueeze(-1) - 0.5 * below)
        super().__init__(self.concentration.size(), Size((dim, dim)), validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._expanded(LKJCholesky, batch_shape, _instance, also=("dim",))
        new._beta = self._beta.expand(Size(batch_shape) + (self.dim,))
        return new

    def sample(self, sample_shape=()) -> Tensor:
        with no_grad():
            square = self._beta.sample(sample_shape).unsqueeze(-1)
            directions = fn.randn(self._extended_shape(sample_shape), dtype=square.dtype,
                                  device=square.device).tril(-1)
            directions = directions / directions.norm(dim=-1, keepdim=True)
            # The first row has no elements below the diagonal, so no direction.
            first = fn.arange(self.dim, device=square.device).unsqueeze(-1) == 0
            below = fn.sqrt(square) * directions.masked_fill(first, 0.0)
            left = (1 - below.square().sum(-1)).clamp(min=finfo(below.dtype).tiny)
            return below + fn.sqrt(left).diag_embed()

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        more = self.dim - 1
        order = fn.arange(2, self.dim + 1, device=self.concentration.device)
        order = 2 * (self.concentration - 1).unsqueeze(-1) + self.dim - order
        unnormalized = (order * fn.log(value.diagonal(dim1=-1, dim2=-2)[..., 1:])).sum(-1)
        alpha = self.concentration + 0.5 * more
        constant = (0.5 * more * math.log(math.pi) + fn.mvlgamma(alpha - 0.5, more)
                    - fn.lgamma(alpha) * more)
        return unnormalized - constant
