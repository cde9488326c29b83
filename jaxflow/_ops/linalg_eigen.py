"""Eigenvalues and eigenvectors of batches of matrices.

Eigenvectors are unique only up to a factor of size one (a sign, where they are real), those of equal
eigenvalues only as a space. Derivatives are those of the factor that does not turn: first order
perturbation theory, as in M. Giles, "An extended collection of matrix derivative results for forward and
reverse mode automatic differentiation" (2008), section 3.1. They are right for whatever does not depend on
the factor, and infinite where eigenvalues are equal.
"""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np

from jaxflow._core.dtype import FLOATING
from jaxflow._core.linalg_error import _LinAlgError
from jaxflow._plans.op import EXACT, Out, op

from ._matrices import adjoint, check_square, diagonal, finite, not_nan, product
from ._support import category, is_complex, refuse, scalar_name


def _inverse_gaps(values):
    """``1 / (values[j] - values[i])`` off the diagonal, 0 on it."""
    eye = jnp.eye(values.shape[-1], dtype=values.dtype)
    return 1 / (values[..., None, :] - values[..., :, None] + eye) - eye


# --------------------------------------------------------------------------------- general matrices


def _check_general(name, A):
    check_square(name, A)
    if category(A) < FLOATING:
        raise RuntimeError(f"Unknown Complex ScalarType for {scalar_name(A)}")
    if A.dtype.itemsize == 2:
        raise NotImplementedError(f"\"linalg_eig_out_cpu\" not implemented for '{scalar_name(A)}'")


def _complex_dtype(x):
    return x.dtype if is_complex(x) else np.result_type(x.dtype, np.complex64)


_GENERAL_GUARD = finite(RuntimeError, "torch.linalg.eig: input tensor should not contain infs or NaNs.")


@jax.custom_jvp
def _eig(a):
    if a.size == 0:
        kind = _complex_dtype(a)
        return jnp.zeros(a.shape[:-1], kind), jnp.zeros(a.shape, kind)
    return tuple(jax.lax.linalg.eig(a, compute_left_eigenvectors=False))


def _inside(vectors, change):
    """A change of the matrices as their eigenvectors see it."""
    with jax.default_matmul_precision("highest"):
        return jnp.linalg.solve(vectors, change.astype(vectors.dtype) @ vectors)


@_eig.defjvp
def _eig_jvp(primals, tangents):
    values, vectors = _eig(*primals)
    change = _inside(vectors, tangents[0])
    turned = product(vectors, _inverse_gaps(values) * change)
    # Vectors keep their length of one.
    along = jnp.sum((jnp.conj(vectors) * turned).real, -2, keepdims=True)
    return (values, vectors), (diagonal(change), turned - vectors * along.astype(vectors.dtype))


@op(namespace="linalg", variants="function out", method_name="linalg_eig", grad_name="LinalgEigBackward0",
    returns=("eigenvalues", "eigenvectors"), saves="result", residual_outputs=(0, 1),
    columns=(1,), out=Out(rows=True),
    guard=_GENERAL_GUARD)
def eig(A, /):
    """Eigenvalues and eigenvectors of square matrices; complex, in no particular order.

    On a GPU whose library has no such algorithm jax runs it on the host.

    Shapes: ``(..., n, n)`` to ``(..., n)`` and ``(..., n, n)``, one vector of length one a column.

    Raises:
        RuntimeError: for matrices that are not square, and for integers.
    """
    _check_general("linalg.eig", A)
    return _eig(A)


@jax.custom_jvp
def _eigvals(a):
    if a.size == 0:
        return jnp.zeros(a.shape[:-1], _complex_dtype(a))
    return jax.lax.linalg.eig(a, compute_left_eigenvectors=False, compute_right_eigenvectors=False)[0]


@_eigvals.defjvp
def _eigvals_jvp(primals, tangents):
    values, vectors = _eig(*primals)
    change = _inside(vectors, tangents[0])
    return values, diagonal(change)


@op(namespace="linalg", variants="function out", grad_name="LinalgEigBackward0", saves="result")
def eigvals(A, /):
    """The eigenvalues ``(..., n)`` of square matrices; complex, in no particular order.

    On a GPU whose library has no such algorithm jax runs it on the host.

    Raises:
        RuntimeError: for matrices that are not square, and for integers.
    """
    _check_general("linalg.eigvals", A)
    return _eigvals(A)


# ------------------------------------------------------------------------------- Hermitian matrices


GUARD = not_nan(
    _LinAlgError,
    "linalg.eigh: The algorithm failed to converge because the input matrix is ill-conditioned or has too "
    "many repeated eigenvalues (error code: 1).",
    lambda uplo, *_: "triu" if uplo in ("U", "u") else "tril",
)


def _check_hermitian(A, UPLO):
    check_square("linalg.eigh", A)
    if UPLO.upper() not in ("L", "U"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    refuse("linalg_eigh_cpu", A, 0, 1)
    if A.dtype.itemsize == 2:
        refuse("linalg_eigh_cpu", A, FLOATING)


@functools.partial(jax.custom_jvp, nondiff_argnums=(1,))
def _eigh(a, lower):
    if a.size == 0:
        return jnp.zeros(a.shape[:-1], a.real.dtype), a
    vectors, values = jax.lax.linalg.eigh(a, lower=lower, symmetrize_input=False)
    return values, vectors


@_eigh.defjvp
def _eigh_jvp(lower, primals, tangents):
    # PyTorch's convention: the derivative is that by both triangles, which stay each other's conjugates.
    values, vectors = _eigh(*primals, lower)
    change = product(adjoint(vectors), (tangents[0] + adjoint(tangents[0])) / 2, vectors)
    gaps = _inverse_gaps(values).astype(vectors.dtype)
    return (values, vectors), (diagonal(change).real, product(vectors, gaps * change))


@op(namespace="linalg", variants="function out", method_name="linalg_eigh", grad_name="LinalgEighBackward0",
    returns=("eigenvalues", "eigenvectors"), saves="result", residual_outputs=(0, 1),
    columns=(1,), out=EXACT, guard=GUARD)
def eigh(A, /, UPLO="L"):
    """Eigenvalues, rising, and orthonormal eigenvectors of Hermitian matrices; one triangle is read.

    Shapes: ``(..., n, n)`` to ``(..., n)``, real, and ``(..., n, n)``, one vector a column.

    ``A = Q diag(L) Q*`` with the vectors Q and the values L

    Args:
        A: floating point or complex, ``(..., n, n)``.
        UPLO: which triangle, "L" (lower) or "U".

    Returns:
        ``(eigenvalues, eigenvectors)``, new tensors: the values of the real dtype of ``A``, the vectors of
        its own. A vector may be multiplied by any number of absolute value 1.

    Raises:
        RuntimeError: for matrices that are not square, and for another ``UPLO``.
        LinAlgError: for matrices with nan in that triangle.
        NotImplementedError: for integers and half precision.

    Example:
        >>> A = torch.tensor([[2.0, 1.0], [1.0, 2.0]])
        >>> values, vectors = torch.linalg.eigh(A)
        >>> values.round()
        tensor([1., 3.])
        >>> torch.allclose(A @ vectors, vectors * values, atol=1e-4)
        True
    """
    _check_hermitian(A, UPLO)
    return _eigh(A, UPLO.upper() == "L")


@op(namespace="linalg", variants="function out", grad_name="LinalgEighBackward0", saves="result",
    out=EXACT, guard=GUARD)
def eigvalsh(A, /, UPLO="L"):
    """The eigenvalues ``(..., n)`` of Hermitian matrices, rising; real. One triangle is read: see `eigh`."""
    _check_hermitian(A, UPLO)
    return _eigh(A, UPLO.upper() == "L")[0]
