"""Invertible maps, and by which factor they change volumes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from jaxflow import _functions as fn
from jaxflow import linalg
from jaxflow._core.size import Size
from jaxflow._core.tensor import Tensor
from jaxflow._core.typeinfo import finfo
from jaxflow.nn import functional as F
from jaxflow.types import _Number

from . import constraints
from ._transforms_base import (
    CatTransform,
    ComposeTransform,
    IndependentTransform,
    StackTransform,
    Transform,
    _InverseTransform,
)
from .distribution import Distribution
from .utils import broadcast_all, lazy_property, tril_matrix_to_vec, vec_to_tril_matrix

__all__ = [
    "AbsTransform", "AffineTransform", "CatTransform", "ComposeTransform", "CorrCholeskyTransform",
    "CumulativeDistributionTransform", "ExpTransform", "IndependentTransform", "LowerCholeskyTransform",
    "PositiveDefiniteTransform", "PowerTransform", "ReshapeTransform", "SigmoidTransform",
    "SoftplusTransform", "TanhTransform", "SoftmaxTransform", "StackTransform", "StickBreakingTransform",
    "Transform", "identity_transform",
]

for _made in (CatTransform, ComposeTransform, IndependentTransform, StackTransform, Transform,
              _InverseTransform):
    _made.__module__ = __name__  # where PyTorch has them, and where pickles look for them

identity_transform = ComposeTransform([])


class _Alike(Transform):
    """A transform without parameters: all objects of the class are equal."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self))

    __hash__ = None  # type: ignore[assignment]


# ----- elementwise -------------------------------------------------------------------------------


class ExpTransform(_Alike):
    """``y = exp(x)``.

    Args:
        cache_size: 0 or 1.

    Example:
        >>> torch.distributions.ExpTransform()(torch.zeros(2))
        tensor([1., 1.])
    """

    domain = constraints.real
    codomain = constraints.positive
    bijective = True
    sign = +1

    def _call(self, x: Tensor) -> Tensor:
        return fn.exp(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return fn.log(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return x


class PowerTransform(Transform):
    """``y = x^exponent`` of positive numbers.

    Args:
        exponent: a tensor or a number, not 0.
        cache_size: 0 or 1.

    Example:
        >>> torch.distributions.PowerTransform(2.0)(torch.tensor([3.0]))
        tensor([9.])
    """

    domain = constraints.positive
    codomain = constraints.positive
    bijective = True

    def __init__(self, exponent: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        (self.exponent,) = broadcast_all(exponent)

    def with_cache(self, cache_size: int = 1) -> Transform:
        if self._cache_size == cache_size:
            return self
        return PowerTransform(self.exponent, cache_size=cache_size)

    @lazy_property
    def sign(self) -> Any:
        """The sign of the exponent."""
        return self.exponent.sign()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PowerTransform) and _equal(self.exponent, other.exponent)

    __hash__ = None  # type: ignore[assignment]

    def _call(self, x: Tensor) -> Tensor:
        return fn.pow(x, self.exponent)

    def _inverse(self, y: Tensor) -> Tensor:
        return fn.pow(y, 1 / self.exponent)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return fn.log((self.exponent * y / x).abs())

    def forward_shape(self, shape: Sequence[int]) -> Size:
        return fn.broadcast_shapes(shape, self.exponent.shape)

    def inverse_shape(self, shape: Sequence[int]) -> Size:
        return self.forward_shape(shape)


def _equal(a: Any, b: Any) -> bool:
    """Whether two parameters broadcast to the same numbers."""
    found = a == b
    return bool(found.all()) if isinstance(found, Tensor) else bool(found)


def _clipped_sigmoid(x: Tensor) -> Tensor:
    """The sigmoid, strictly between 0 and 1."""
    limits = finfo(x.dtype)
    return fn.sigmoid(x).clamp(min=limits.tiny, max=1.0 - limits.eps)


class SigmoidTransform(_Alike):
    """``y = 1 / (1 + exp(-x))``.

    Args:
        cache_size: 0 or 1.

    Example:
        >>> torch.distributions.SigmoidTransform()(torch.zeros(2))
        tensor([0.5000, 0.5000])
    """

    domain = constraints.real
    codomain = constraints.unit_interval
    bijective = True
    sign = +1

    def _call(self, x: Tensor) -> Tensor:
        return _clipped_sigmoid(x)

    def _inverse(self, y: Tensor) -> Tensor:
        limits = finfo(y.dtype)
        y = y.clamp(min=limits.tiny, max=1.0 - limits.eps)
        return fn.log(y) - fn.log1p(-y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -F.softplus(-x) - F.softplus(x)


class SoftplusTransform(_Alike):
    """``y = log(1 + exp(x))``.

    Args:
        cache_size: 0 or 1.

    Example:
        >>> bool((torch.distributions.SoftplusTransform()(torch.zeros(2)) > 0).all())
        True
    """

    domain = constraints.real
    codomain = constraints.positive
    bijective = True
    sign = +1

    def _call(self, x: Tensor) -> Tensor:
        return F.softplus(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return fn.log(-fn.expm1(-y)) + y

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -F.softplus(-x)


class TanhTransform(_Alike):
    """``y = tanh(x)``.

    Args:
        cache_size: 0 or 1; with 1 the inverse of a result is exact, also near -1 and 1.

    Example:
        >>> torch.distributions.TanhTransform()(torch.zeros(2))
        tensor([0., 0.])
    """

    domain = constraints.real
    codomain = constraints.interval(-1.0, 1.0)
    bijective = True
    sign = +1

    def _call(self, x: Tensor) -> Tensor:
        return fn.tanh(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return fn.atanh(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        # log(1 - tanh(x)^2) by exp(-2 x), which does not round to 0 where tanh(x) is near 1
        return 2.0 * (math.log(2.0) - x - F.softplus(-2.0 * x))


class AbsTransform(_Alike):
    """``y = |x|``, which has no unique inverse: that of ``y`` is ``y``.

    Args:
        cache_size: 0 or 1.

    Example:
        >>> torch.distributions.AbsTransform()(torch.tensor([-2.0]))
        tensor([2.])
    """

    domain = constraints.real
    codomain = constraints.positive

    def _call(self, x: Tensor) -> Tensor:
        return x.abs()

    def _inverse(self, y: Tensor) -> Tensor:
        return y


class AffineTransform(Transform):
    """``y = loc + scale * x``.

    Args:
        loc: a tensor or a number.
        scale: a tensor or a number, not 0.
        event_dim: how many of the last dimensions are one event.
        cache_size: 0 or 1.

    Example:
        >>> torch.distributions.AffineTransform(1.0, 2.0)(torch.tensor([3.0]))
        tensor([7.])
    """

    bijective = True

    def __init__(self, loc: Tensor | float, scale: Tensor | float, event_dim: int = 0,
                 cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.loc = loc
        self.scale = scale
        self._event_dim = event_dim

    @property
    def event_dim(self) -> int:
        return self._event_dim

    @constraints.dependent_property(is_discrete=False)
    def domain(self):
        if self.event_dim:
            return constraints.independent(constraints.real, self.event_dim)
        return constraints.real

    @constraints.dependent_property(is_discrete=False)
    def codomain(self):
        return self.domain

    def with_cache(self, cache_size: int = 1) -> Transform:
        if self._cache_size == cache_size:
            return self
        return AffineTransform(self.loc, self.scale, self.event_dim, cache_size=cache_size)

    def __eq__(self, other: object) -> bool:
        return (isinstance(other, AffineTransform) and _equal(self.loc, other.loc)
                and _equal(self.scale, other.scale))

    __hash__ = None  # type: ignore[assignment]

    @property
    def sign(self) -> Any:
        if isinstance(self.scale, _Number):
            return (self.scale > 0) - (self.scale < 0)
        return self.scale.sign()

    def _call(self, x: Tensor) -> Tensor:
        return self.loc + self.scale * x

    def _inverse(self, y: Tensor) -> Tensor:
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        shape = x.shape
        if isinstance(self.scale, _Number):
            change = fn.full_like(x, math.log(abs(self.scale)))
        else:
            change = fn.log(fn.abs(self.scale))
        if self.event_dim:
            change = change.view(change.size()[:-self.event_dim] + (-1,)).sum(-1)
            shape = shape[:-self.event_dim]
        return change.expand(shape)

    def forward_shape(self, shape: Sequence[int]) -> Size:
        shapes = [getattr(parameter, "shape", ()) for parameter in (self.loc, self.scale)]
        return fn.broadcast_shapes(shape, *shapes)

    def inverse_shape(self, shape: Sequence[int]) -> Size:
        return self.forward_shape(shape)


class CumulativeDistributionTransform(Transform):
    """``y = distribution.cdf(x)``: uniform numbers from those of a distribution.

    Args:
        distribution: one that has ``cdf``, and for the inverse ``icdf``.
        cache_size: 0 or 1.

    Example:
        >>> D = torch.distributions
        >>> D.CumulativeDistributionTransform(D.Normal(0.0, 1.0))(torch.zeros(2))
        tensor([0.5000, 0.5000])
    """

    bijective = True
    codomain = constraints.unit_interval
    sign = +1

    def __init__(self, distribution: Distribution, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.distribution = distribution

    @property
    def domain(self) -> Any:
        """The support of the distribution."""
        return self.distribution.support

    def _call(self, x: Tensor) -> Tensor:
        return self.distribution.cdf(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return self.distribution.log_prob(x)

    def with_cache(self, cache_size: int = 1) -> Transform:
        if self._cache_size == cache_size:
            return self
        return CumulativeDistributionTransform(self.distribution, cache_size=cache_size)


# ----- of vectors and matrices -------------------------------------------------------------------


class ReshapeTransform(Transform):
    """Events of one shape as events of another with as many elements.

    Args:
        in_shape: the shape of an event before.
        out_shape: the shape of an event after.
        cache_size: 0 or 1.

    Raises:
        ValueError: for shapes of different numbers of elements.

    Example:
        >>> torch.distributions.ReshapeTransform((4,), (2, 2))(torch.zeros(3, 4)).shape
        torch.Size([3, 2, 2])
    """

    bijective = True

    def __init__(self, in_shape: Sequence[int], out_shape: Sequence[int], cache_size: int = 0) -> None:
        self.in_shape = Size(in_shape)
        self.out_shape = Size(out_shape)
        if self.in_shape.numel() != self.out_shape.numel():
            raise ValueError("in_shape, out_shape have different numbers of elements")
        super().__init__(cache_size=cache_size)

    @constraints.dependent_property
    def domain(self):
        return constraints.independent(constraints.real, len(self.in_shape))

    @constraints.dependent_property
    def codomain(self):
        return constraints.independent(constraints.real, len(self.out_shape))

    def with_cache(self, cache_size: int = 1) -> Transform:
        if self._cache_size == cache_size:
            return self
        return ReshapeTransform(self.in_shape, self.out_shape, cache_size=cache_size)

    def _call(self, x: Tensor) -> Tensor:
        return x.reshape(x.shape[:x.dim() - len(self.in_shape)] + self.out_shape)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.reshape(y.shape[:y.dim() - len(self.out_shape)] + self.in_shape)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return x.new_zeros(x.shape[:x.dim() - len(self.in_shape)])

    def forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return _other_event(shape, self.in_shape, self.out_shape)

    def inverse_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return _other_event(shape, self.out_shape, self.in_shape)


def _other_event(shape: Sequence[int], old: Size, new: Size) -> Sequence[int]:
    """``shape`` with the event ``new`` in place of ``old``."""
    if len(shape) < len(old):
        raise ValueError("Too few dimensions on input")
    cut = len(shape) - len(old)
    if shape[cut:] != old:
        raise ValueError(f"Shape mismatch: expected {shape[cut:]} but got {old}")
    return shape[:cut] + new


class _VectorTransform(_Alike):
    """Of vectors to vectors that are longer by ``_longer``."""

    domain = constraints.real_vector
    codomain = constraints.simplex
    _longer = 0

    def forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        if len(shape) < 1:
            raise ValueError("Too few dimensions on input")
        return (*shape[:-1], shape[-1] + self._longer) if self._longer else shape

    def inverse_shape(self, shape: Sequence[int]) -> Sequence[int]:
        if len(shape) < 1:
            raise ValueError("Too few dimensions on input")
        return (*shape[:-1], shape[-1] - self._longer) if self._longer else shape


class SoftmaxTransform(_VectorTransform):
    """``y = softmax(x)``, whose inverse is the logarithm; it is not one to one, and has no volume change.

    Args:
        cache_size: 0 or 1.

    Example:
        >>> torch.distributions.SoftmaxTransform()(torch.zeros(2))
        tensor([0.5000, 0.5000])
    """

    def _call(self, x: Tensor) -> Tensor:
        weights = fn.exp(x - x.max(-1, True)[0])
        return weights / weights.sum(-1, True)

    def _inverse(self, y: Tensor) -> Tensor:
        return fn.log(y)


class StickBreakingTransform(_VectorTransform):
    """Vectors to vectors that are longer by 1, positive and add up to 1.

    Of what is left of a stick of length 1, ``sigmoid(x_i - log(K - i))`` is broken off, where ``K`` is the
    length of ``x`` and ``i`` starts at 0: a vector of zeros gives equal parts.

    Args:
        cache_size: 0 or 1.

    Example:
        >>> torch.distributions.StickBreakingTransform()(torch.zeros(1))
        tensor([0.5000, 0.5000])
    """

    bijective = True
    _longer = 1

    def _offset(self, x: Tensor) -> Tensor:
        """The logarithms of how many parts come later."""
        count = x.shape[-1]
        return fn.log(fn.arange(count, 0, -1, dtype=x.dtype, device=x.device))

    def _call(self, x: Tensor) -> Tensor:
        broken = _clipped_sigmoid(x - self._offset(x))
        left = fn.cumprod(1 - broken, -1)
        return F.pad(broken, [0, 1], value=1) * F.pad(left, [1, 0], value=1)

    def _inverse(self, y: Tensor) -> Tensor:
        broken = y[..., :-1]
        left = (1 - fn.cumsum(broken, -1)).clamp(min=finfo(y.dtype).tiny)
        return fn.log(broken) - fn.log(left) + self._offset(broken)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        x = x - self._offset(x)
        return (-x + F.logsigmoid(x) + fn.log(y[..., :-1])).sum(-1)


class LowerCholeskyTransform(_Alike):
    """Square matrices to lower triangular ones with a positive diagonal: its logarithm is that of ``x``.

    Args:
        cache_size: 0 or 1.

    Example:
        >>> torch.distributions.LowerCholeskyTransform()(torch.zeros(2, 2))
        tensor([[1., 0.],
                [0., 1.]])
    """

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky

    def _call(self, x: Tensor) -> Tensor:
        return x.tril(-1) + fn.exp(x.diagonal(dim1=-2, dim2=-1)).diag_embed()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.tril(-1) + fn.log(y.diagonal(dim1=-2, dim2=-1)).diag_embed()


class PositiveDefiniteTransform(_Alike):
    """Square matrices to positive definite ones, ``L @ L.T`` with the ``L`` of `LowerCholeskyTransform`.

    Args:
        cache_size: 0 or 1.

    Example:
        >>> torch.distributions.PositiveDefiniteTransform()(torch.zeros(2, 2))
        tensor([[1., 0.],
                [0., 1.]])
    """

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.positive_definite

    def _call(self, x: Tensor) -> Tensor:
        lower = LowerCholeskyTransform()(x)
        return lower @ lower.mT

    def _inverse(self, y: Tensor) -> Tensor:
        return LowerCholeskyTransform().inv(linalg.cholesky(y))


class CorrCholeskyTransform(Transform):
    """Vectors of ``D * (D - 1) / 2`` numbers to the Cholesky factors of ``D x D`` correlation matrices.

    With ``z = tanh(x)`` below the diagonal, the element ``z_ij`` is multiplied by the root of
    ``prod (1 - z_ik^2)`` over ``k < j``, and the diagonal is what makes the rows of length 1 (Lewandowski,
    Kurowicka and Joe, "Generating random correlation matrices based on vines and extended onion method",
    2009; as in Stan's reference manual).

    Args:
        cache_size: 0 or 1.

    Example:
        >>> torch.distributions.CorrCholeskyTransform()(torch.zeros(1))
        tensor([[1., 0.],
                [0., 1.]])
    """

    domain = constraints.real_vector
    codomain = constraints.corr_cholesky
    bijective = True

    def _call(self, x: Tensor) -> Tensor:
        eps = finfo(x.dtype).eps
        z = vec_to_tril_matrix(fn.tanh(x).clamp(min=-1 + eps, max=1 - eps), diag=-1)
        roots = fn.cumprod(fn.sqrt(1 - z * z), -1)
        z = z + fn.eye(z.shape[-1], dtype=z.dtype, device=z.device)
        return z * F.pad(roots[..., :-1], [1, 0], value=1)

    def _inverse(self, y: Tensor) -> Tensor:
        left = F.pad((1 - fn.cumsum(y * y, -1))[..., :-1], [1, 0], value=1)
        below = tril_matrix_to_vec(y, diag=-1)
        t = below / fn.sqrt(tril_matrix_to_vec(left, diag=-1))
        return (fn.log1p(t) - fn.log1p(-t)) / 2  # atanh

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor, intermediates: Any = None) -> Tensor:
        # 1 - sum_k y_ik^2 up to each column but the last of the triangle
        left = 1 - fn.cumsum(y * y, -1)
        roots = 0.5 * fn.log(tril_matrix_to_vec(left, diag=-2)).sum(-1)
        slopes = (F.softplus(2 * x) - x - math.log(2.0)).sum(-1)
        return roots - 2 * slopes

    def forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        if len(shape) < 1:
            raise ValueError("Too few dimensions on input")
        count = shape[-1]
        size = round((0.25 + 2 * count) ** 0.5 + 0.5)
        if size * (size - 1) // 2 != count:
            raise ValueError("Input is not a flattened lower-diagonal number")
        return (*shape[:-1], size, size)

    def inverse_shape(self, shape: Sequence[int]) -> Sequence[int]:
        if len(shape) < 2:
            raise ValueError("Too few dimensions on input")
        if shape[-2] != shape[-1]:
            raise ValueError("Input is not square")
        return (*shape[:-2], shape[-1] * (shape[-1] - 1) // 2)
