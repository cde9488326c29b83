"""Singular values and what is made of them: the decomposition, pseudoinverses and ranks.

Singular vectors are unique only up to a factor of size one for each pair. The derivative of the
decomposition is that of M. Giles, "An extended collection of matrix derivative results for forward and
reverse mode automatic differentiation" (2008), section 3.2: right for whatever does not depend on the
factors, infinite where singular values are equal.
"""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np

from jaxflow._core.dtype import FLOATING
from jaxflow._core.linalg_error import _LinAlgError
from jaxflow._plans.op import EXACT, op

from ._matrices import adjoint, check_matrix, check_square, diagonal, imaginary, not_nan, product, singular
from ._support import category, is_complex, scalar_name
from .linalg_eigen import GUARD as EIGEN_GUARD
from .linalg_eigen import _eigh

GUARD = not_nan(
    _LinAlgError,
    "linalg.svd: The algorithm failed to converge because the input matrix contained non-finite values.",
)


def _check(A, driver):
    check_matrix("linalg.svd", A)
    if category(A) < FLOATING:
        raise RuntimeError(
            f"linalg.svd: Expected a floating point or complex tensor as input. Got {scalar_name(A)}"
        )
    if A.dtype.itemsize == 2:
        raise NotImplementedError(f"\"linalg_svd_cpu\" not implemented for '{scalar_name(A)}'")
    if driver is not None:
        raise RuntimeError(
            "torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with "
            "cuSOLVER backend."
        )


@functools.partial(jax.custom_jvp, nondiff_argnums=(1,))
def _svd(a, full):
    """``(U, S, Vh)``."""
    if a.size == 0:
        rows, columns = a.shape[-2:]
        count = min(rows, columns)
        u, vh = ((rows, rows if full else count), (columns if full else count, columns))
        eyes = (jnp.broadcast_to(jnp.eye(*s, dtype=a.dtype), (*a.shape[:-2], *s)) for s in (u, vh))
        return next(eyes), jnp.zeros((*a.shape[:-2], count), a.real.dtype), next(eyes)
    return singular(a, full)


@_svd.defjvp
def _svd_jvp(full, primals, tangents):
    u, s, vh = _svd(*primals, full)
    da, count = tangents[0], s.shape[-1]
    # The vectors beyond the singular values may be any basis of the rest: nothing depends on them.
    u1, vh1 = u[..., :count], vh[..., :count, :]
    v1, dtype = adjoint(vh1), da.dtype
    inner = product(adjoint(u1), da, v1)
    eye = jnp.eye(count, dtype=s.dtype)
    squares = (s[..., None, :] - s[..., :, None]) * (s[..., None, :] + s[..., :, None])
    gaps = (1 / (squares + eye) - eye).astype(dtype)
    right, left = inner * s[..., None, :].astype(dtype), s[..., :, None].astype(dtype) * inner
    du = product(u1, gaps * (right + adjoint(right)))
    dv = product(v1, gaps * (left + adjoint(left)))
    scale = s[..., None, :].astype(dtype)
    if is_complex(da):
        # What turns both vectors of a pair together is left out; what turns one against the other is not.
        du = du + u1 * imaginary(diagonal(inner))[..., None, :] / scale
    if u.shape[-2] > count:
        outside = product(da, v1)
        du = du + (outside - product(u1, product(adjoint(u1), outside))) / scale
    if vh.shape[-1] > count:
        outside = product(adjoint(da), u1)
        dv = dv + (outside - product(v1, product(vh1, outside))) / scale
    du = jnp.pad(du, [(0, 0)] * (du.ndim - 1) + [(0, u.shape[-1] - count)])
    dvh = jnp.pad(adjoint(dv), [(0, 0)] * (dv.ndim - 2) + [(0, vh.shape[-2] - count), (0, 0)])
    ds = diagonal(inner).real * jnp.where(jnp.isnan(s), np.nan, 1).astype(s.dtype)
    return (u, s, vh), (du, ds, dvh)


@op(namespace="linalg", variants="function out", method_name="linalg_svd", grad_name="LinalgSvdBackward0",
    returns=("U", "S", "Vh"), saves="result", residual_outputs=(0, 1, 2),
    columns=(0, 2), out=EXACT, guard=GUARD)
def svd(A, /, full_matrices: bool = True, *, driver=None):
    """``A = U diag(S) Vh`` with orthonormal U and V, and S real and falling.

    Shapes: ``(..., m, n)`` to ``(..., m, m)``, ``(..., k)`` and ``(..., n, n)`` with ``k`` the smaller of
    ``m`` and ``n``; without ``full_matrices`` to ``(..., m, k)``, ``(..., k)`` and ``(..., k, n)``. No
    gradient reaches the vectors beyond the first ``k``, which may be any basis.

    Args:
        A: matrices ``(..., m, n)``, float32, float64 or complex.
        full_matrices: whether U and Vh are square.
        driver: None only; it names a routine of a CUDA library.

    Returns:
        ``(U, S, Vh)``, new tensors: U and Vh of the dtype of ``A``, S of its real dtype. The vectors of one
        singular value may be multiplied by any number of absolute value 1.

    Raises:
        RuntimeError: for fewer than two dimensions, for integers, and for a ``driver``, which names a CUDA
            library's.
        LinAlgError: for matrices with nan. Where they are infinite the singular values are nan.
        NotImplementedError: for half precision.

    Example:
        >>> A = torch.tensor([[3.0, 1.0, 1.0], [1.0, 3.0, 2.0]])
        >>> U, S, Vh = torch.linalg.svd(A, full_matrices=False)
        >>> U.shape, S.shape, Vh.shape
        (torch.Size([2, 2]), torch.Size([2]), torch.Size([2, 3]))
        >>> torch.allclose(U @ torch.diag(S) @ Vh, A, atol=1e-4)
        True
    """
    _check(A, driver)
    return _svd(A, bool(full_matrices))


@op(namespace="linalg", variants="function out", grad_name="LinalgSvdBackward0", saves="result",
    out=EXACT, guard=GUARD)
def svdvals(A, /, *, driver=None):
    """The singular values of matrices, largest first; real.

    Raises:
        RuntimeError: for fewer than two dimensions, for integers, and for a ``driver``, which names a
            CUDA library's.
        LinAlgError: for matrices with nan. Where they are infinite the singular values are nan.
    """
    _check(A, driver)
    return _svdvals(A)


def _svdvals(A):
    if A.size == 0:
        return jnp.zeros((*A.shape[:-2], min(A.shape[-2:])), A.real.dtype)
    return singular(A, vectors=False)


# --------------------------------------------------------------------------- pseudoinverse and rank


def _bound(largest, atol, rtol, dtype):
    """Below which singular values count as zero; ``largest`` has a last dimension of one."""
    atol, rtol = (jnp.asarray(t).astype(dtype)[..., None] for t in (atol, rtol))
    return jnp.maximum(atol, rtol * largest)


@functools.partial(jax.custom_jvp, nondiff_argnums=(3,))
def _pseudoinverse(a, atol, rtol, hermitian):
    if hermitian:
        values, left = _eigh(a, True)
        right = left
    else:
        left, values, vh = _svd(a, False)
        right = adjoint(vh)
    sizes = jnp.abs(values)
    large = sizes > _bound(jnp.max(sizes, -1, keepdims=True), atol, rtol, sizes.dtype)
    large |= jnp.isnan(sizes)  # those of an infinite matrix, which has no inverse of zeros
    inverse = jnp.where(large, 1 / jnp.where(large, values, 1), 0)
    return product(right * inverse[..., None, :].astype(a.dtype), adjoint(left))


@_pseudoinverse.defjvp
def _pseudoinverse_jvp(hermitian, primals, tangents):
    a, da = primals[0], tangents[0]
    p = _pseudoinverse(*primals, hermitian)
    ph, dah = adjoint(p), adjoint(da)
    # Golub and Pereyra, "The differentiation of pseudo-inverses and nonlinear least squares problems
    # whose variables separate" (1973), equation 4.12; for a rank that does not change.
    across = product(dah - product(p, product(a, dah)), product(ph, p))
    along = product(product(p, ph), dah - product(product(dah, a), p))
    return p, across + along - product(p, da, p)


def _guard(watch, dynamic, static):
    (EIGEN_GUARD if static[0] else GUARD)(watch, dynamic, static)


@op(variants="", grad_name="LinalgPinvBackward0", saves=("A", "result"), guard=_guard)
def _pinv(A, atol, rtol, /, *, hermitian):
    """The pseudoinverse ``(..., n, m)`` of matrices ``(..., m, n)``: the inverse of what is not zero in them.

    Singular values count as zero up to the larger of ``atol`` and ``rtol`` times the largest one; both may
    be numbers or tensors of the batch's shape.
    """
    if hermitian:
        check_square("linalg.eigh", A)
    if A.size == 0:
        return jnp.swapaxes(A, -1, -2)
    return _pseudoinverse(A, atol, rtol, hermitian)


@op(variants="", differentiable=False, guard=_guard)
def _matrix_rank(A, atol, rtol, /, *, hermitian):
    """How many singular values are above the larger of ``atol`` and ``rtol`` times the largest one; int64."""
    if hermitian:
        check_square("linalg.eigh", A)
    if A.size == 0:
        return jnp.zeros(A.shape[:-2], np.int64)
    sizes = jnp.abs(_eigh(A, True)[0]) if hermitian else _svdvals(A)
    bound = _bound(jnp.max(sizes, -1, keepdims=True), atol, rtol, sizes.dtype)
    return jnp.sum(sizes > bound, -1, dtype=np.int64)
