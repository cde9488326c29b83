"""Cholesky factors, and triangular systems, which are what is solved with them."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np

from jaxflow._plans.op import complex_gradients, op

from ._matrices import (
    adjoint,
    check_equation,
    check_inexact,
    check_kernel,
    check_matrix,
    check_square,
    first_zero,
    identity_like,
    product,
    spread,
    triangular,
)
from ._support import as_dtype, scalar_name

# ---------------------------------------------------------------------------------------- factorizing


@functools.partial(jax.custom_jvp, nondiff_argnums=(1,))
def _factor(A, upper):
    """``L`` with ``A = L L^H``, from the lower (or upper) triangle of ``A``; nan where there is none."""
    return jax.lax.linalg.cholesky(adjoint(A) if upper else A, symmetrize_input=False)


@_factor.defjvp
def _factor_rule(upper, primals, tangents):
    """``dL = L Phi(L^-1 dA L^-H)``, where ``Phi`` keeps the lower triangle and half the diagonal.

    (I. Murray, Differentiation of the Cholesky decomposition, 2016.) As PyTorch has it, both triangles of
    ``dA`` have equal shares, whichever of ``A`` is read, and a diagonal counts with what it has of imaginary
    parts.
    """
    (A,), (dA,) = primals, tangents
    L = _factor(A, upper)
    half = triangular(L, dA, upper=False)
    inside = adjoint(triangular(L, adjoint(half), upper=False))
    diagonal = jnp.eye(L.shape[-1], dtype=L.dtype)
    return L, product(L, jnp.tril(inside + adjoint(inside), -1) + inside * diagonal) / 2


def _broken(L):
    """Whether the diagonal of a factor has nan: where LAPACK failed, and where nan of the matrix reached."""
    return jnp.any(jnp.isnan(jnp.diagonal(L, axis1=-2, axis2=-1)), -1)


def _first_indefinite(A, failed):
    """The order of the smallest leading minor that is not positive, from 1; 0 where not ``failed``.

    Found by bisection, for a matrix has no Cholesky factor from that order on: the leading minors are
    padded with ones on the diagonal, and factorized. Where nothing failed no step is taken.
    """
    n = A.shape[-1]
    eye = jnp.eye(n, dtype=A.dtype)
    rows = jnp.arange(n)

    def fails(order):
        inside = rows < order[..., None]
        leading = jnp.where(inside[..., :, None] & inside[..., None, :], A, eye)
        return _broken(jax.lax.linalg.cholesky(leading, symmetrize_input=False))

    def step(bounds):
        low, high = bounds
        middle = (low + high) // 2
        found = fails(middle)
        return jnp.where(found | (low == high), low, middle + 1), jnp.where(found, middle, high)

    most = jnp.where(failed, n, 0)
    _, order = jax.lax.while_loop(lambda b: jnp.any(b[0] < b[1]), step, (jnp.minimum(most, 1), most))
    return order.astype(np.int32)


def _cholesky(A, upper):
    """The factor (its adjoint for ``upper``, read from that triangle), and the orders that failed."""
    if not A.size:
        return A, jnp.zeros(A.shape[:-2], np.int32)
    L = _factor(A, upper)
    failed = _broken(jax.lax.stop_gradient(L))
    info = _first_indefinite(jax.lax.stop_gradient(adjoint(A) if upper else A), failed)
    return (adjoint(L) if upper else L), info


@op(name="_linalg_cholesky_ex", variants="", grad_name="LinalgCholeskyExBackward0", saves="result",
    differentiable=(True, False), residual_outputs=(0,), columns=(0,))
def linalg_cholesky_ex(A, /, upper=False):
    """``L`` with ``A = L L^H`` (``upper``: ``U`` with ``A = U^H U``), and what is not positive-definite.

    Of that (int32, one for each matrix) 0 says nothing, and another number the order of the first leading
    minor that is not positive; the factor is nan then.
    """
    name = "linalg.cholesky"
    check_square(name, A)
    check_inexact(name, A)
    check_kernel("cholesky_cpu", A)
    return _cholesky(A, upper)


@op(name="_cholesky", variants="", grad_name="CholeskyBackward0", saves="result",
    differentiable=(True, False), residual_outputs=(0,), columns=(0,))
def cholesky(A, /, upper=False):
    """The same for ``torch.cholesky``."""
    check_square("cholesky", A)
    check_kernel("cholesky_cpu", A)
    return _cholesky(A, upper)


# -------------------------------------------------------------------------------- solving by a factor


def _check_pair(solver: str, b, A) -> None:
    """What PyTorch's older solvers check of a right-hand side and a square matrix."""
    if A.dtype != b.dtype:
        raise RuntimeError(
            f"Expected b and A to have the same dtype, but found b of type {scalar_name(b)} and A of type "
            f"{scalar_name(A)} instead."
        )
    rows, columns = A.shape[-2:]
    if rows != columns:
        raise RuntimeError(
            f"A must be batches of square matrices, but they are {rows} by {columns} matrices"
        )
    if columns != b.shape[-2]:
        raise RuntimeError(
            f"Incompatible matrix sizes for {solver}: each A matrix is {columns} by {columns} but each b "
            f"matrix is {b.shape[-2]} by {b.shape[-1]}"
        )


def _solve(factor, b, upper):
    """``K^-1 b`` of ``K = L L^H`` or ``U^H U``.

    As in PyTorch the gradient is that of the product, so all of the factor has one, the triangle that is
    not read too.
    """
    if not b.size:
        return jnp.zeros_like(b)

    def whole(x):
        first, second = (factor, adjoint(factor)) if upper else (adjoint(factor), factor)
        return product(second, product(first, x))

    def solve(_, b):
        half = triangular(factor, b, upper=upper, adjoint=upper)
        return triangular(factor, half, upper=upper, adjoint=not upper)

    def solve_transposed(_, b):
        return jnp.conj(solve(_, jnp.conj(b)))

    return jax.lax.custom_linear_solve(whole, b, solve, solve_transposed)


@op(name="_cholesky_solve", variants="", grad_name="CholeskySolveBackward0",
    saves=("input", "input2", "result"), columns=(0,))
def cholesky_solve(input, input2, /, upper=False):
    """``X`` with ``A X = input``, where ``input2`` is a Cholesky factor of ``A``; batches broadcast."""
    for letter, x in (("b", input), ("u", input2)):
        if x.ndim < 2:
            raise RuntimeError(
                f"{letter} should have at least 2 dimensions, but has {x.ndim} dimensions instead"
            )
    _check_pair("cholesky_solve", input, input2)
    check_kernel("cholesky_solve_cpu", input2)
    return _solve(*spread(input2, input), upper)


@op(name="_cholesky_inverse", variants="", grad_name="CholeskyInverseBackward0", saves=("input", "result"),
    differentiable=(True, False), columns=(0,))
def cholesky_inverse(input, /, upper=False):
    """The inverse of the matrix whose Cholesky factor ``input`` is, and the factor's first zero."""
    name = "cholesky_inverse"
    check_square(name, input)
    check_kernel("cholesky_inverse_out_cpu", input)
    return _solve(input, identity_like(input), upper), first_zero(jax.lax.stop_gradient(input))


# --------------------------------------------------------------------------------- triangular systems


@op(name="_linalg_solve_triangular", variants="", saves=("A", "result"),
    grad_name="LinalgSolveTriangularBackward0", columns=(0,), underived=complex_gradients(1))
def solve_triangular(A, B, /, *, upper, left=True, unitriangular=False):
    """``X`` with ``A X = B`` (``X A = B`` for ``left=False``) for a triangular ``A``; batches broadcast.

    The other triangle of ``A`` is not read, nor is the diagonal where it is ``unitriangular``. A zero on
    the diagonal makes infinities and nans, no error.
    """
    name = "linalg.solve_triangular"
    check_square(name, A)
    check_matrix(name, B, "B")
    check_equation(name, A, B, left)
    check_kernel("triangular_solve_cpu", A)
    B = as_dtype(B, A.dtype)  # which PyTorch copies it into
    return triangular(*spread(A, B), upper=upper, left=left, unit=unitriangular)


@op(name="_triangular_solve", variants="", grad_name="TriangularSolveBackward0",
    saves=("input", "A", "result"), columns=(0, 1))
def triangular_solve(input, A, /, upper=True, transpose=False, unitriangular=False):
    """The solution of a triangular system, or of that of the transpose, and a copy of ``A``."""
    name = "torch.triangular_solve"
    for letter, x in (("b", input), ("A", A)):
        if x.ndim < 2:
            raise RuntimeError(
                f"{name}: Expected {letter} to have at least 2 dimensions, but it has {x.ndim} dimensions "
                "instead"
            )
    _check_pair("triangular_solve", input, A)
    check_kernel("triangular_solve_cpu", A)
    A, b = spread(A, input)
    if not transpose:
        return triangular(A, b, upper=upper, unit=unitriangular), A
    return jnp.conj(triangular(A, jnp.conj(b), upper=upper, unit=unitriangular, adjoint=True)), A
