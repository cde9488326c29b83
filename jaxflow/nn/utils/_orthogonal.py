"""Matrices kept orthogonal: by the exponential, Cayley's map, or Householder's reflections."""

from __future__ import annotations

import enum

from jaxflow import _functions as functions
from jaxflow import linalg
from jaxflow._core.tensor import Tensor
from jaxflow._core.typeinfo import finfo
from jaxflow.autograd.grad_mode import no_grad
from jaxflow.nn.modules.module import Module

from .parametrize import register_parametrization


class _OrthMaps(enum.Enum):
    matrix_exp = enum.auto()
    cayley = enum.auto()
    householder = enum.auto()


def _is_orthogonal(Q: Tensor) -> bool:
    """Whether the columns are orthonormal, to ten times the rounding of their length."""
    n, k = Q.shape[-2:]
    unit = functions.eye(k, dtype=Q.dtype, device=Q.device)
    return bool(functions.allclose(Q.mH @ Q, unit, atol=10 * n * finfo(Q.dtype).eps))


def _make_orthogonal(A: Tensor) -> Tensor:
    """The Q of the decomposition QR whose R has a positive diagonal."""
    reflections, tau = functions.geqrf(A)
    signs = reflections.diagonal(dim1=-2, dim2=-1).sgn()
    return linalg.householder_product(reflections, tau) * signs.unsqueeze(-2)


class _Orthogonal(Module):
    """A matrix with orthonormal columns, or rows where those are fewer, made of any matrix of its shape."""

    base: Tensor | None

    def __init__(self, weight: Tensor, orthogonal_map: _OrthMaps, *, use_trivialization: bool = True) -> None:
        super().__init__()
        if weight.is_complex() and orthogonal_map is _OrthMaps.householder:
            # Real reflections and a diagonal of signs have too few numbers for unitary matrices.
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.shape = weight.shape
        self.orthogonal_map = orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, X: Tensor) -> Tensor:
        wide = X.shape[-2] < X.shape[-1]
        X = X.mT if wide else X
        Q = self._reflected(X) if self.orthogonal_map is _OrthMaps.householder else self._rotated(X)
        if hasattr(self, "base"):
            Q = self.base @ Q
        return Q.mT if wide else Q

    def _rotated(self, X: Tensor) -> Tensor:
        """The first columns of the map of a skew-Hermitian matrix, whose lower half is that of ``X``."""
        n, k = X.shape[-2:]
        lower = X.tril()
        if n != k:
            lower = functions.cat((lower, lower.new_zeros(*X.shape[:-1], n - k)), -1)
        A = lower - lower.mH
        if self.orthogonal_map is _OrthMaps.matrix_exp:
            return functions.matrix_exp(A)[..., :k]
        unit = functions.eye(n, dtype=A.dtype, device=A.device)
        return linalg.solve(unit - A / 2, unit + A / 2)[..., :k]

    def _reflected(self, X: Tensor) -> Tensor:
        """The product of the reflections below the diagonal of ``X``, its columns times that diagonal."""
        A = X.tril(-1)
        tau = 2 / (1 + A.square().sum(-2))
        # As integers the signs have no gradient.
        return linalg.householder_product(A, tau) * X.diagonal(dim1=-2, dim2=-1).int().unsqueeze(-2)

    @no_grad()
    def right_inverse(self, Q: Tensor) -> Tensor:
        """A matrix that `forward` makes ``Q`` of, or the nearest orthogonal one by QR."""
        if Q.shape != self.shape:
            raise ValueError(f"Expected a matrix or batch of matrices of shape {self.shape}. "
                             f"Got a tensor of shape {Q.shape}.")
        n, k = Q.shape[-2:]
        wide = n < k
        tall = Q.mT if wide else Q
        if hasattr(self, "base"):
            self.base = self._completed(tall)
            # `forward` takes this for the unit matrix, of which the base is multiplied by the columns.
            start = functions.zeros_like(Q)
            start.diagonal(dim1=-2, dim2=-1).fill_(-1)
            return start
        if self.orthogonal_map is not _OrthMaps.householder:
            raise NotImplementedError("It is not possible to assign to the matrix exponential or the Cayley "
                                      "parametrizations when use_trivialization=False.")
        A, tau = functions.geqrf(tall)
        diagonal = A.diagonal(dim1=-2, dim2=-1)
        # A reflection that LAPACK leaves out, with tau 0, is one here, and turns its column around.
        diagonal.copy_(functions.where(tau == 0, -diagonal.sign(), diagonal.sign()))
        return A.mT if wide else A

    @staticmethod
    def _completed(tall: Tensor) -> Tensor:
        """A square matrix with orthonormal columns, whose first ones are those of ``tall``."""
        n, k = tall.shape[-2:]
        if n == k:
            return tall.clone() if _is_orthogonal(tall) else _make_orthogonal(tall)
        more = functions.randn(*tall.shape[:-1], n - k, dtype=tall.dtype, device=tall.device)
        return _make_orthogonal(functions.cat((tall, more), -1))


def orthogonal(module: Module, name: str = "weight", orthogonal_map: str | None = None, *,
               use_trivialization: bool = True) -> Module:
    """Keep a matrix of ``module``, which is returned, orthogonal, or unitary where it is complex.

    Its columns are orthonormal, or its rows where those are fewer; more dimensions are a batch of
    matrices. It starts as what it is, made orthogonal by QR, and is ``B @ map(X)`` with a fixed matrix B
    (Lezcano-Casado, "Trivializations for Gradient-Based Optimization on Manifolds", 2019). The map is
    ``exp(A)`` or Cayley's ``(I + A / 2) (I - A / 2)^-1`` of the skew-Hermitian
    ``A = tril(X) - tril(X)^H``, or the product of the Householder reflections below the diagonal of X.

    Args:
        module: whose tensor it is.
        name: the tensor's.
        orthogonal_map: ``"matrix_exp"``, ``"cayley"`` or ``"householder"``; default the first for square and
            for complex matrices, else the last.
        use_trivialization: whether there is a matrix B. Without it only ``"householder"`` takes the matrix's
            value over.

    Raises:
        ValueError: for a name that the module does not have, fewer than two dimensions, another map, and
            ``"householder"`` of complex matrices.

    Example:
        >>> linear = nn.utils.parametrizations.orthogonal(nn.Linear(3, 5))
        >>> Q = linear.weight
        >>> torch.allclose(Q.T @ Q, torch.eye(3), atol=1e-5)
        True
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if weight.ndim < 2:
        raise ValueError("Expected a matrix or batch of matrices. "
                         f"Got a tensor of {weight.ndim} dimensions.")
    if orthogonal_map is None:
        square = weight.shape[-2] == weight.shape[-1]
        orthogonal_map = "matrix_exp" if square or weight.is_complex() else "householder"
    if orthogonal_map not in _OrthMaps.__members__:
        raise ValueError('orthogonal_map has to be one of "matrix_exp", "cayley", "householder". '
                         f"Got: {orthogonal_map}")
    made = _Orthogonal(weight, _OrthMaps[orthogonal_map], use_trivialization=use_trivialization)
    return register_parametrization(module, name, made, unsafe=True)
