"""The multivariate normal distribution with a covariance of low rank and a diagonal."""

from __future__ import annotations

import math

from jaxflow import _functions as fn
from jaxflow import linalg
from jaxflow._core.tensor import Tensor

from . import constraints
from .distribution import Distribution
from .multivariate_normal import _batch_mahalanobis, _batch_mv
from .utils import _standard_normal, lazy_property

__all__ = ["LowRankMultivariateNormal"]


def _batch_capacitance_tril(W: Tensor, D: Tensor) -> Tensor:
    """The Cholesky factor of ``I + W^T D^-1 W``, for factors ``(*, n, m)`` and diagonals ``(*, n)``."""
    m = W.size(-1)
    inner = W.mT @ (W / D.unsqueeze(-1))
    return linalg.cholesky(inner + fn.eye(m, dtype=W.dtype, device=W.device))


def _batch_lowrank_logdet(W: Tensor, D: Tensor, capacitance_tril: Tensor) -> Tensor:
    """``log det(W W^T + D)``, by the matrix determinant lemma."""
    return 2 * fn.log(capacitance_tril.diagonal(dim1=-2, dim2=-1)).sum(-1) + fn.log(D).sum(-1)


def _batch_lowrank_mahalanobis(W: Tensor, D: Tensor, x: Tensor, capacitance_tril: Tensor) -> Tensor:
    """``x^T (W W^T + D)^-1 x``, by the identity of Woodbury."""
    inner = _batch_mv((W / D.unsqueeze(-1)).mT, x)
    return (x.square() / D).sum(-1) - _batch_mahalanobis(capacitance_tril, inner)


class LowRankMultivariateNormal(Distribution):
    """The normal distribution of vectors with the covariance ``W @ W.T + diag(d)``.

    All is computed with matrices of the size of ``W.T @ W``, by Woodbury's identity and the matrix
    determinant lemma.

    Args:
        loc: means, of shape ``(*, D)``.
        cov_factor: ``W``, of shape ``(*, D, R)``, where ``R`` is small.
        cov_diag: ``d``, positive, of shape ``(*, D)``.
        validate_args: whether parameters and values are checked.

    Raises:
        ValueError: for shapes that do not fit.

    Example:
        >>> D = torch.distributions
        >>> D.LowRankMultivariateNormal(torch.zeros(2), torch.ones(2, 1), torch.ones(2)).covariance_matrix
        tensor([[2., 1.],
                [1., 2.]])
    """

    arg_constraints = {"loc": constraints.real_vector,
                       "cov_factor": constraints.independent(constraints.real, 2),
                       "cov_diag": constraints.independent(constraints.positive, 1)}
    support = constraints.real_vector
    has_rsample = True

    def __init__(self, loc: Tensor, cov_factor: Tensor, cov_diag: Tensor,
                 validate_args: bool | None = None) -> None:
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        event = loc.shape[-1:]
        if cov_factor.dim() < 2:
            raise ValueError(
                "cov_factor must be at least two-dimensional, with optional leading batch dimensions")
        if cov_factor.shape[-2:-1] != event:
            raise ValueError(f"cov_factor must be a batch of matrices with shape {event[0]} x m")
        if cov_diag.shape[-1:] != event:
            raise ValueError(f"cov_diag must be a batch of vectors with shape {event}")
        try:
            batch = fn.broadcast_shapes(loc.shape[:-1], cov_factor.shape[:-2], cov_diag.shape[:-1])
        except RuntimeError as error:
            raise ValueError(f"Incompatible batch shapes: loc {loc.shape}, cov_factor {cov_factor.shape}, "
                             f"cov_diag {cov_diag.shape}") from error
        self.loc = loc.expand(batch + event)
        self.cov_factor = cov_factor.expand(batch + cov_factor.shape[-2:])
        self.cov_diag = cov_diag.expand(batch + event)
        super().__init__(batch, event, validate_args=validate_args)
        self._unbroadcasted_cov_factor = cov_factor
        self._unbroadcasted_cov_diag = cov_diag
        self._capacitance_tril = _batch_capacitance_tril(cov_factor, cov_diag)

    def expand(self, batch_shape, _instance=None):
        return self._expanded(LowRankMultivariateNormal, batch_shape, _instance, also=(
            "_unbroadcasted_cov_factor", "_unbroadcasted_cov_diag", "_capacitance_tril"))

    def _whole(self, matrix: Tensor) -> Tensor:
        return matrix.expand(self._batch_shape + self._event_shape + self._event_shape)

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @lazy_property
    def variance(self) -> Tensor:  # type: ignore[override]
        """The diagonal of the covariance."""
        found = self._unbroadcasted_cov_factor.square().sum(-1) + self._unbroadcasted_cov_diag
        return found.expand(self._batch_shape + self._event_shape)

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The lower Cholesky factor of the covariance."""
        # With S = diag(sqrt(d)): S (I + S^-1 W W^T S^-1) S
        roots = fn.sqrt(self._unbroadcasted_cov_diag).unsqueeze(-1)
        scaled = self._unbroadcasted_cov_factor / roots
        n = self._event_shape[0]
        inner = scaled @ scaled.mT + fn.eye(n, dtype=scaled.dtype, device=scaled.device)
        return self._whole(roots * linalg.cholesky(inner))

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance."""
        factor = self._unbroadcasted_cov_factor
        return self._whole(factor @ factor.mT + self._unbroadcasted_cov_diag.diag_embed())

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance."""
        # D^-1 - D^-1 W (I + W^T D^-1 W)^-1 W^T D^-1
        scaled = (self._unbroadcasted_cov_factor / self._unbroadcasted_cov_diag.unsqueeze(-1)).mT
        solved = linalg.solve_triangular(self._capacitance_tril, scaled, upper=False)
        return self._whole(self._unbroadcasted_cov_diag.reciprocal().diag_embed() - solved.mT @ solved)

    def rsample(self, sample_shape=()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        options = {"dtype": self.loc.dtype, "device": self.loc.device}
        inner = _standard_normal(shape[:-1] + self.cov_factor.shape[-1:], **options)
        own = _standard_normal(shape, **options)
        return (self.loc + _batch_mv(self._unbroadcasted_cov_factor, inner)
                + fn.sqrt(self._unbroadcasted_cov_diag) * own)

    def _log_det(self) -> Tensor:
        return _batch_lowrank_logdet(self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag,
                                     self._capacitance_tril)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        distance = _batch_lowrank_mahalanobis(self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag,
                                              value - self.loc, self._capacitance_tril)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + self._log_det() + distance)

    def entropy(self) -> Tensor:
        found = 0.5 * (self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + self._log_det())
        return found if not self._batch_shape else found.expand(self._batch_shape)
