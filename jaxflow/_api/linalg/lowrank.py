"""Singular values of matrices of low rank, from random projections.

N. Halko, P. Martinsson and J. Tropp, "Finding structure with randomness: probabilistic algorithms for
constructing approximate matrix decompositions" (2011), algorithms 4.4 and 5.1.
"""

from __future__ import annotations

from jaxflow._core import dtype as dtypes
from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.dispatch import apply
from jaxflow._plans.op import OPS
from jaxflow._publish.composite import composite


def _adjoint(x: Tensor) -> Tensor:
    return x.mT.conj() if x.is_complex() else x.mT


def _basis_of(x: Tensor) -> Tensor:
    return apply(OPS["qr"], (x,), ("reduced",))[0]


def _approximate_basis(A: Tensor, q: int, niter: int, M: Tensor | None) -> Tensor:
    """Orthonormal columns that span nearly what ``q`` columns of ``A - M`` can."""

    def times(x: Tensor) -> Tensor:
        return A @ x if M is None else A @ x - M @ x

    def turned_times(x: Tensor) -> Tensor:
        product = _adjoint(A) @ x
        return product if M is None else product - _adjoint(M) @ x

    Q = _basis_of(times(A.detach().new_empty((A.shape[-1], q)).normal_()))
    for _ in range(niter):
        Q = _basis_of(times(_basis_of(turned_times(Q))))
    return Q


@composite("function")
def svd_lowrank(A: Tensor, q: int | None = 6, niter: int | None = 2,
                M: Tensor | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """``(U, S, V)`` with ``A - M`` nearly ``U diag(S) V^H``, of rank ``q``; the projections are random.

    Shapes: ``(..., m, n)`` to ``(..., m, q)``, ``(..., q)`` and ``(..., n, q)``.

    Args:
        A: floating point or complex.
        q: a little more than the rank that is looked for.
        niter: how often to multiply by the matrix again, which makes small singular values smaller still.
        M: what is subtracted from ``A``, broadcast; the difference is never made.
    """
    q, niter = 6 if q is None else q, 2 if niter is None else niter
    M = None if M is None else M.broadcast_to(A.shape)
    wide = A.shape[-2] < A.shape[-1]
    if wide:
        A, M = _adjoint(A), None if M is None else _adjoint(M)
    Q = _approximate_basis(A, q, niter, M)
    B = _adjoint(Q) @ A
    if M is not None:
        B = B - _adjoint(Q) @ M
    U, S, Vh = apply(OPS["svd"], (B,), (False, None))
    U, V = Q @ U, _adjoint(Vh)
    return (V, S, U) if wide else (U, S, V)


@composite("function")
def pca_lowrank(A: Tensor, q: int | None = None, center: bool = True,
                niter: int = 2) -> tuple[Tensor, Tensor, Tensor]:
    """The principal components of the rows of ``A``: `svd_lowrank` of the columns less their means.

    Args:
        A: ``(..., m, n)``, floating point or complex.
        q: how many components; by default 6, or as many as there are.
        center: subtract the means; False where the columns have none.
        niter: see `svd_lowrank`.

    Raises:
        ValueError: for a ``q`` below 0 or above what there are, and a negative ``niter``.
    """
    most = min(A.shape[-2:])
    if q is None:
        q = min(6, most)
    elif not 0 <= q <= most:
        raise ValueError(
            f"q(={q}) must be non-negative integer and not greater than min(m, n)={most}"
        )
    if not niter >= 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    if A.dtype.category < dtypes.FLOATING:
        A = A.to(dtypes.float32)
    return svd_lowrank(A, q, niter, A.mean(-2, keepdim=True) if center else None)
