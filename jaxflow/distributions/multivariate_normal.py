"""The multivariate normal distribution."""

from __future__ import annotations

import math

from jaxflow import _functions as fn
from jaxflow import linalg
from jaxflow._core.tensor import Tensor

from . import constraints
from .distribution import Distribution
from .utils import _standard_normal, lazy_property

__all__ = ["MultivariateNormal"]


def _batch_mv(bmat: Tensor, bvec: Tensor) -> Tensor:
    """Matrices times vectors, ``(*, n, m)`` and ``(*, m)``; the batches broadcast."""
    return fn.matmul(bmat, bvec.unsqueeze(-1)).squeeze(-1)


def _batch_mahalanobis(bL: Tensor, bx: Tensor) -> Tensor:
    """``|L^-1 x|^2``: the square of the distance of ``x`` from 0, by covariances ``L @ L.T``."""
    factors, batch, n = bL.shape[:-2], bx.shape[:-1], bx.size(-1)
    lead = len(batch) - len(factors)
    if lead > 0 and batch[lead:] == factors:  # the vectors of one factor are solved for together
        columns = bx.reshape((-1,) + factors + (n,)).movedim(0, -1)
        solved = linalg.solve_triangular(bL, columns, upper=False)
        return solved.square().sum(-2).movedim(-1, 0).reshape(batch)
    return linalg.solve_triangular(bL, bx.unsqueeze(-1), upper=False).squeeze(-1).square().sum(-1)


def _precision_to_scale_tril(P: Tensor) -> Tensor:
    """The lower Cholesky factor of ``P^-1``, from that of ``P`` with rows and columns in reverse order."""
    reversed_ = linalg.cholesky(P.flip(-2, -1))
    upper = reversed_.flip(-2, -1).mT
    identity = fn.eye(P.shape[-1], dtype=P.dtype, device=P.device)
    return linalg.solve_triangular(upper, identity, upper=False)


def one_of_matrices(**matrices: Tensor | None) -> tuple[str, Tensor]:
    """The name and value of the one matrix that was given. ValueError unless it is exactly one."""
    given = [(name, value) for name, value in matrices.items() if value is not None]
    if len(given) != 1:
        raise ValueError(
            "Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
    return given[0]


class MultivariateNormal(Distribution):
    """The normal distribution of vectors with a mean and a covariance matrix.

    The density is ``exp(-(x - loc)^T C^-1 (x - loc) / 2) / sqrt((2 * pi)^D * det(C))``.

    Args:
        loc: means, of shape ``(*, D)``.
        covariance_matrix: ``C``, positive definite, of shape ``(*, D, D)``.
        precision_matrix: its inverse, instead.
        scale_tril: its lower Cholesky factor, instead, which is what all is computed with.
        validate_args: whether parameters and values are checked.

    Raises:
        ValueError: unless exactly one of the three matrices is given.

    Example:
        >>> torch.distributions.MultivariateNormal(torch.zeros(2), torch.eye(2)).variance
        tensor([1., 1.])
    """

    arg_constraints = {"loc": constraints.real_vector, "covariance_matrix": constraints.positive_definite,
                       "precision_matrix": constraints.positive_definite,
                       "scale_tril": constraints.lower_cholesky}
    support = constraints.real_vector
    has_rsample = True

    def __init__(self, loc: Tensor, covariance_matrix: Tensor | None = None,
                 precision_matrix: Tensor | None = None, scale_tril: Tensor | None = None,
                 validate_args: bool | None = None) -> None:
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        name, matrix = one_of_matrices(covariance_matrix=covariance_matrix, scale_tril=scale_tril,
                                       precision_matrix=precision_matrix)
        if matrix.dim() < 2:
            words = "scale_tril matrix" if name == "scale_tril" else name
            raise ValueError(
                f"{words} must be at least two-dimensional, with optional leading batch dimensions")
        batch = fn.broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        setattr(self, name, matrix.expand(batch + (-1, -1)))
        self.loc = loc.expand(batch + (-1,))
        super().__init__(batch, self.loc.shape[-1:], validate_args=validate_args)
        if name == "scale_tril":
            self._unbroadcasted_scale_tril = matrix
        elif name == "covariance_matrix":
            self._unbroadcasted_scale_tril = linalg.cholesky(matrix)
        else:
            self._unbroadcasted_scale_tril = _precision_to_scale_tril(matrix)

    def expand(self, batch_shape, _instance=None):
        return self._expanded(MultivariateNormal, batch_shape, _instance, also=("_unbroadcasted_scale_tril",))

    def _whole(self, matrix: Tensor) -> Tensor:
        return matrix.expand(self._batch_shape + self._event_shape + self._event_shape)

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The lower Cholesky factor of the covariance."""
        return self._whole(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance."""
        return self._whole(self._unbroadcasted_scale_tril @ self._unbroadcasted_scale_tril.mT)

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance."""
        return self._whole(fn.cholesky_inverse(self._unbroadcasted_scale_tril))

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        found = self._unbroadcasted_scale_tril.square().sum(-1)
        return found.expand(self._batch_shape + self._event_shape)

    def rsample(self, sample_shape=()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        normal = _standard_normal(shape, dtype=self.loc.dtype, device=self.loc.device)
        return self.loc + _batch_mv(self._unbroadcasted_scale_tril, normal)

    def _half_log_det(self) -> Tensor:
        return fn.log(self._unbroadcasted_scale_tril.diagonal(dim1=-2, dim2=-1)).sum(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        distance = _batch_mahalanobis(self._unbroadcasted_scale_tril, value - self.loc)
        constant = self._event_shape[0] * math.log(2 * math.pi)
        return -0.5 * (constant + distance) - self._half_log_det()

    def entropy(self) -> Tensor:
        found = 0.5 * self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + self._half_log_det()
        return found if not self._batch_shape else found.expand(self._batch_shape)
