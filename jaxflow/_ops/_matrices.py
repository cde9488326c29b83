"""What operations on (batches of) matrices share: refusals, broadcasting, products, solving by factors.

NOTE [Factors are kept]
    A factorization costs more than anything its gradient does with it. So the operations that solve
    factorize an operand that jax does not differentiate, and `solve_by` carries the derivative: to jax it
    is the solution of a linear system, whose derivative and transpose are systems of the same kind, solved
    with the same factors. The ops return the factors (``keeps``), so backward begins with them, and so does
    the backward of that. A rule of its own for `solve_by` would not do: jax forgets it in the transpose,
    and the factors are all that is left to differentiate.
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np

from jaxflow._core.dtype import FLOATING
from jaxflow._core.jax_compat import SymbolicZero

from ._support import category, scalar_name
from .matmul import HIGHEST

# ----------------------------------------------------------------------------------------- refusals


def check_matrix(name: str, A, letter: str = "A") -> None:
    """Refuse what has fewer than two dimensions."""
    if A.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor {letter} must have at least 2 dimensions.")


def check_square(name: str, A, prefix: str | None = None) -> None:
    """Refuse what is not a (batch of) square matrices; ``prefix`` begins the second message."""
    check_matrix(name, A)
    rows, columns = A.shape[-2:]
    if rows != columns:
        start = f"{name}: " if prefix is None else prefix
        raise RuntimeError(
            f"{start}A must be batches of square matrices, but they are {rows} by {columns} matrices"
        )


def check_inexact(name: str, A, half: bool = True) -> None:
    """Refuse integers and bools, and half precision unless ``half``."""
    if category(A) < FLOATING:
        raise RuntimeError(
            f"{name}: Expected a floating point or complex tensor as input. Got {scalar_name(A)}"
        )
    if not half and A.dtype.itemsize == 2:
        raise RuntimeError(f"{name}: Low precision dtypes not supported. Got {scalar_name(A)}")


def check_kernel(kernel: str, A) -> None:
    """Refuse the dtypes that LAPACK has not, in the words of PyTorch's kernel ``kernel``."""
    if category(A) < FLOATING or A.dtype.itemsize == 2:
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{scalar_name(A)}'")


def check_same_dtype(name: str, A, B, letter: str = "A") -> None:
    """Refuse two operands of different dtypes."""
    if A.dtype != B.dtype:
        raise RuntimeError(
            f"{name}: Expected {letter} and B to have the same dtype, but found {letter} of type "
            f"{scalar_name(A)} and B of type {scalar_name(B)} instead"
        )


def check_equation(name: str, A, B, left: bool) -> None:
    """Refuse sizes that do not go together in ``A X = B`` or ``X A = B``."""
    if A.shape[-2] != B.shape[-2 if left else -1]:
        sizes = " and ".join(f"{x.shape[-2]}x{x.shape[-1]}" for x in (A, B))
        raise RuntimeError(
            f"{name}: Incompatible shapes of A and B for the equation {'AX = B' if left else 'XA = B'} "
            f"({sizes})"
        )


def not_nan(kind: type[Exception], words: str, part=None):
    """The guard of an op that raises this error where its first operand holds nan.

    ``part`` says by the static arguments which triangle counts, "tril" or "triu".
    """
    return _between(kind, words, lambda dtype: math.inf, part)


def finite(kind: type[Exception], words: str):
    """The guard of an op that raises this error where its first operand is not finite."""
    return _between(kind, words, lambda dtype: float(jnp.finfo(dtype).max))


def _between(kind, words, largest, part=None):
    def guard(watch, dynamic, static):
        aval = getattr(dynamic[0], "_aval", None)
        if aval is not None and aval.numel and aval.dtype.category >= FLOATING:
            bound = largest(aval.dtype.np)
            watch.within(dynamic[:1], ((-bound, bound),), lambda value, number: kind(words),
                         part=part and part(*static))

    return guard


# --------------------------------------------------------------------------------- singular values


@jax.custom_jvp
def _finite(a, fine):
    """Matrices, zeros in place of those that are not ``fine``; their derivative is nan, not zero."""
    return jnp.where(fine, a, 0)


@_finite.defjvp
def _finite_jvp(primals, tangents):
    fine = primals[1]
    return _finite(*primals), tangents[0] * jnp.where(fine, 1, np.nan).astype(tangents[0].dtype)


def singular(a, full: bool = False, vectors: bool = True):
    """``(U, S, Vh)`` of matrices that have elements, or ``S`` alone.

    The library is given finite numbers only: with an infinity it may never come back. As in PyTorch the
    singular values are nan where one lies, and the vectors some orthonormal ones.
    """
    fine = jnp.isfinite(a).all((-2, -1), keepdims=True)
    found = jax.lax.linalg.svd(_finite(a, fine), full_matrices=full, compute_uv=vectors)
    if not vectors:
        return jnp.where(fine[..., 0], found, np.nan)
    (u, s, vh), unknown = found, jnp.isnan(a).any((-2, -1), keepdims=True)
    u, vh = (jnp.where(unknown, np.nan, x) for x in (u, vh))
    return u, jnp.where(fine[..., 0], s, np.nan), vh


# ------------------------------------------------------------------------------------------ algebra


def product(a, *others):
    """Products of two or more matrices, from the left to the right, at full precision."""
    for b in others:
        a = jnp.matmul(a, b, precision=HIGHEST)
    return a


def adjoint(A):
    """The conjugate transposes."""
    return jnp.conj(jnp.swapaxes(A, -1, -2))


def diagonal(A):
    """The main diagonals."""
    return jnp.diagonal(A, axis1=-2, axis2=-1)


def imaginary(x):
    """Complex numbers without their real parts."""
    return jax.lax.complex(jnp.zeros_like(x.imag), x.imag)


def trace(A):
    """The sums of the diagonals."""
    return jnp.sum(jnp.diagonal(A, axis1=-2, axis2=-1), axis=-1)


def identity_like(A):
    """Identity matrices of the size, the number and the dtype of the square ``A``."""
    return jnp.broadcast_to(jnp.eye(A.shape[-1], dtype=A.dtype), A.shape)


def with_batch(A, batch: tuple[int, ...]):
    """``A`` spread over these leading dimensions."""
    return jnp.broadcast_to(A, (*batch, *A.shape[-2:]))


def spread(A, B):
    """Both, spread over the leading dimensions that they broadcast to."""
    batch = np.broadcast_shapes(A.shape[:-2], B.shape[:-2])
    return with_batch(A, batch), with_batch(B, batch)


def triangular(A, B, *, upper: bool, left: bool = True, unit: bool = False, adjoint: bool = False):
    """The solution of a triangular system, with no look at the other triangle; batches alike."""
    if not B.size:
        return jnp.zeros_like(B)
    return jax.lax.linalg.triangular_solve(
        A, B, left_side=left, lower=not upper, unit_diagonal=unit, transpose_a=adjoint, conjugate_a=adjoint,
    )


def is_zero(tangent) -> bool:
    """Whether a rule was given no tangent for an operand."""
    return isinstance(tangent, SymbolicZero)


# ---------------------------------------------------------------------------------------- LU factors


def factors(A):
    """LU, the transpositions of rows (from 0) and the permutation they make, of which jax derives nothing."""
    return lu(jax.lax.stop_gradient(A))


def lu(A):
    """The same, to be differentiated."""
    if not A.size:
        short = min(A.shape[-2:])
        pivots = jnp.broadcast_to(jnp.arange(short, dtype=np.int32), (*A.shape[:-2], short))
        rows = jnp.arange(A.shape[-2], dtype=np.int32)
        return A, pivots, jnp.broadcast_to(rows, A.shape[:-1])
    return jax.lax.linalg.lu(A)


def first_zero(U):
    """What LAPACK calls ``info``: the number, from 1, of the first zero on the diagonal; 0 for none."""
    zero = jnp.diagonal(U, axis1=-2, axis2=-1) == 0
    if not zero.shape[-1]:
        return jnp.zeros(zero.shape[:-1], np.int32)
    return jnp.where(jnp.any(zero, -1), jnp.argmax(zero, -1) + 1, 0).astype(np.int32)


def rows_of(B, order):
    """The rows of ``B`` in this order."""
    return jnp.take_along_axis(B, order[..., None], axis=-2)


def solve_factored(LU, order, B, *, left: bool = True, adjoint: bool = False):
    """``X`` of ``A X = B`` or ``X A = B``, with the adjoint of ``A`` for ``adjoint``; ``A[order] = L U``."""
    if not left:
        B = jnp.conj(jnp.swapaxes(B, -1, -2))
        X = solve_factored(LU, order, B, adjoint=not adjoint)
        return jnp.conj(jnp.swapaxes(X, -1, -2))
    if not adjoint:
        half = triangular(LU, rows_of(B, order), upper=False, unit=True)
        return triangular(LU, half, upper=True)
    half = triangular(LU, B, upper=True, adjoint=True)
    half = triangular(LU, half, upper=False, unit=True, adjoint=True)
    return rows_of(half, jnp.argsort(order, axis=-1))


def solve_by(A, LU, order, B):
    """``A^-1 B``, given the factors of ``A``; the derivative is that in ``A`` and ``B``."""

    def solve(_, b):
        return solve_factored(LU, order, b)

    def solve_transposed(_, b):
        return jnp.conj(solve_factored(LU, order, jnp.conj(b), adjoint=True))

    if not B.size:
        return jnp.zeros_like(B)
    return jax.lax.custom_linear_solve(lambda x: product(A, x), B, solve, solve_transposed)


def solve_turned_by(A, LU, order, B):
    """``A^-T B``, given the factors of ``A``: the same for its transpose."""

    def solve(_, b):
        return jnp.conj(solve_factored(LU, order, jnp.conj(b), adjoint=True))

    def solve_transposed(_, b):
        return solve_factored(LU, order, b)

    if not B.size:
        return jnp.zeros_like(B)
    turned = jnp.swapaxes(A, -1, -2)
    return jax.lax.custom_linear_solve(lambda x: product(turned, x), B, solve, solve_transposed)
