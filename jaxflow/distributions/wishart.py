"""The Wishart distribution of matrices."""

from __future__ import annotations

import math
import warnings
from typing import Any

from jaxflow import _functions as fn
from jaxflow import linalg
from jaxflow._core.size import Size
from jaxflow._core.tensor import Tensor
from jaxflow._core.typeinfo import finfo
from jaxflow.types import _Number

from . import constraints
from .chi2 import Chi2
from .exp_family import ExponentialFamily
from .multivariate_normal import _precision_to_scale_tril, one_of_matrices
from .utils import lazy_property

__all__ = ["Wishart"]


_log_2 = math.log(2)


def _mvdigamma(x: Tensor, p: int) -> Tensor:
    """The derivative of the logarithm of the multivariate gamma function."""
    steps = fn.arange(p, dtype=x.dtype, device=x.device)
    return fn.digamma(x.unsqueeze(-1) - steps / 2).sum(-1)


def _clamp_above_eps(x: Tensor) -> Tensor:
    return x.clamp(min=finfo(x.dtype).eps)


class Wishart(ExponentialFamily):
    """The distribution of ``sum x_i @ x_i.T`` of ``df`` normal vectors ``x_i`` with a given covariance.

    The density is ``det(X)^((df - p - 1) / 2) * exp(-tr(V^-1 X) / 2) / (2^(df p / 2) * det(V)^(df / 2) *
    Gamma_p(df / 2))``, for ``p x p`` matrices; ``df`` need not be whole. Samples are made by Bartlett's
    decomposition (Sawyer, "Wishart distributions and inverse-Wishart sampling", 2007).

    Args:
        df: degrees of freedom, more than ``p - 1``; a tensor or a number.
        covariance_matrix: ``V``, positive definite, of shape ``(*, p, p)``.
        precision_matrix: its inverse, instead.
        scale_tril: its lower Cholesky factor, instead.
        validate_args: whether parameters and values are checked.

    Raises:
        AssertionError: unless exactly one of the three matrices is given.
        ValueError: for too few degrees of freedom.

    Example:
        >>> torch.distributions.Wishart(torch.tensor([3.0]), torch.eye(2)).mean
        tensor([[[3., 0.],
                 [0., 3.]]])
    """

    support = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0

    @property
    def arg_constraints(self) -> dict[str, Any]:
        return {"covariance_matrix": constraints.positive_definite,
                "precision_matrix": constraints.positive_definite,
                "scale_tril": constraints.lower_cholesky,
                "df": constraints.greater_than(self.event_shape[-1] - 1)}

    def __init__(self, df: Tensor | float, covariance_matrix: Tensor | None = None,
                 precision_matrix: Tensor | None = None, scale_tril: Tensor | None = None,
                 validate_args: bool | None = None) -> None:
        try:
            name, matrix = one_of_matrices(covariance_matrix=covariance_matrix,
                                           precision_matrix=precision_matrix, scale_tril=scale_tril)
        except ValueError as error:
            raise AssertionError(str(error)) from None
        if matrix.dim() < 2:
            raise ValueError(
                "scale_tril must be at least two-dimensional, with optional leading batch dimensions")
        if isinstance(df, _Number):
            batch = Size(matrix.shape[:-2])
            self.df = fn.tensor(df, dtype=matrix.dtype, device=matrix.device)
        else:
            batch = fn.broadcast_shapes(matrix.shape[:-2], df.shape)
            self.df = df.expand(batch)
        event = matrix.shape[-2:]
        if (self.df <= event[-1] - 1).any():
            raise ValueError(f"Value of df={df} expected to be greater than ndim - 1 = {event[-1] - 1}.")
        setattr(self, name, matrix.expand(batch + (-1, -1)))
        self._batch_shape, self._event_shape = batch, event  # the constraint of df reads them
        super().__init__(batch, event, validate_args=validate_args)
        if self.df.lt(event[-1]).any():
            warnings.warn("Low df values detected. Singular samples are highly likely to occur for "
                          "ndim - 1 < df < ndim.", stacklevel=2)
        if name == "scale_tril":
            self._unbroadcasted_scale_tril = matrix
        elif name == "covariance_matrix":
            self._unbroadcasted_scale_tril = linalg.cholesky(matrix)
        else:
            self._unbroadcasted_scale_tril = _precision_to_scale_tril(matrix)
        self._dist_chi2 = Chi2(self._degrees())

    def _degrees(self) -> Tensor:
        """Those of the squares on the diagonal of Bartlett's factor."""
        steps = fn.arange(self._event_shape[-1], dtype=self.df.dtype, device=self.df.device)
        return (self.df.unsqueeze(-1) - steps).expand(self._batch_shape + (-1,))

    def expand(self, batch_shape, _instance=None):
        new = self._get_checked_instance(Wishart, _instance)
        batch_shape = Size(batch_shape)
        new._batch_shape, new._event_shape = batch_shape, self._event_shape
        new = self._expanded(Wishart, batch_shape, new, also=("_unbroadcasted_scale_tril",))
        new._dist_chi2 = Chi2(new._degrees(), validate_args=False)
        return new

    def _whole(self, matrix: Tensor) -> Tensor:
        return matrix.expand(self._batch_shape + self._event_shape)

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The lower Cholesky factor of the covariance."""
        return self._whole(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance of the vectors."""
        return self._whole(self._unbroadcasted_scale_tril @ self._unbroadcasted_scale_tril.mT)

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance."""
        return self._whole(fn.cholesky_inverse(self._unbroadcasted_scale_tril))

    @property
    def mean(self) -> Tensor:
        return self.df.view(self._batch_shape + (1, 1)) * self.covariance_matrix

    @property
    def mode(self) -> Tensor:
        factor = self.df - self._event_shape[-1] - 1
        factor = fn.where(factor <= 0, math.nan, factor)
        return factor.view(self._batch_shape + (1, 1)) * self.covariance_matrix

    @property
    def variance(self) -> Tensor:
        V = self.covariance_matrix
        diagonal = V.diagonal(dim1=-2, dim2=-1)
        products = diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2)
        return self.df.view(self._batch_shape + (1, 1)) * (V.square() + products)

    def _bartlett_sampling(self, sample_shape=()) -> Tensor:
        p = self._event_shape[-1]
        roots = _clamp_above_eps(self._dist_chi2.rsample(sample_shape).sqrt())
        factor = roots.diag_embed(dim1=-2, dim2=-1)
        rows, columns = fn.tril_indices(p, p, offset=-1)
        normal = fn.randn(sample_shape + self._batch_shape + (p * (p - 1) // 2,), dtype=factor.dtype,
                          device=factor.device)
        factor = factor.clone()
        factor[..., rows, columns] = normal
        chol = self._unbroadcasted_scale_tril @ factor
        return chol @ chol.mT

    def rsample(self, sample_shape=(), max_try_correction: int | None = None) -> Tensor:
        """Draw; samples that are singular are drawn again.

        Args:
            sample_shape: the shape of independent draws.
            max_try_correction: how often at most; 3 by default, 10 where there are few degrees of freedom.

        Returns:
            A tensor of shape ``sample_shape + batch_shape + (p, p)``.
        """
        if max_try_correction is None:
            max_try_correction = 3 if self._batch_shape or self._event_shape[-1] < 2 else 10
        sample_shape = Size(sample_shape)
        sample = self._bartlett_sampling(sample_shape)
        singular = ~self.support.check(sample)
        if singular.any():
            warnings.warn("Singular sample detected.", stacklevel=2)
            for _ in range(max_try_correction):
                again = self._bartlett_sampling(sample_shape)
                sample = fn.where(singular[..., None, None], again, sample)
                singular = ~self.support.check(sample)
                if not singular.any():
                    break
        return sample

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        nu, p = self.df, self._event_shape[-1]
        factor = self._unbroadcasted_scale_tril
        logdet = fn.log(factor.diagonal(dim1=-2, dim2=-1)).sum(-1)
        inner = fn.cholesky_solve(value, factor).diagonal(dim1=-2, dim2=-1).sum(-1)
        return (-nu * (p * _log_2 / 2 + logdet) - fn.mvlgamma(nu / 2, p=p)
                + (nu - p - 1) / 2 * linalg.slogdet(value).logabsdet - inner / 2)

    def entropy(self) -> Tensor:
        nu, p = self.df, self._event_shape[-1]
        logdet = fn.log(self._unbroadcasted_scale_tril.diagonal(dim1=-2, dim2=-1)).sum(-1)
        return ((p + 1) * (p * _log_2 / 2 + logdet) + fn.mvlgamma(nu / 2, p=p)
                - (nu - p - 1) / 2 * _mvdigamma(nu / 2, p=p) + nu * p / 2)

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return -self.precision_matrix / 2, (self.df - self._event_shape[-1] - 1) / 2

    def _log_normalizer(self, x: Tensor, y: Tensor) -> Tensor:
        p = self._event_shape[-1]
        half = y + (p + 1) / 2
        return half * (-linalg.slogdet(-2 * x).logabsdet + _log_2 * p) + fn.mvlgamma(half, p=p)
