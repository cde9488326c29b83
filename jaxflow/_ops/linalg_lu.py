"""LU factors, and what is found by them: determinants, inverses, solutions."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from jaxflow._plans.op import EXACT, Undefined, op

from ._matrices import (
    check_equation,
    check_inexact,
    check_kernel,
    check_matrix,
    check_same_dtype,
    check_square,
    factors,
    first_zero,
    identity_like,
    is_zero,
    lu,
    product,
    solve_by,
    solve_factored,
    solve_turned_by,
    spread,
    trace,
    with_batch,
)
from ._support import is_complex

# ------------------------------------------------------------------------------------- determinants


def _parity(pivots, dtype):
    """1 for an even number of exchanged rows, else -1."""
    odd = jnp.sum(pivots != jnp.arange(pivots.shape[-1], dtype=pivots.dtype), axis=-1) % 2
    return jnp.where(odd == 1, jnp.asarray(-1, dtype), jnp.asarray(1, dtype))


def _diagonal(LU):
    return jnp.diagonal(LU, axis1=-2, axis2=-1)


@jax.custom_jvp
def _det(A, LU, pivots, order):
    return jnp.prod(_diagonal(LU), axis=-1) * _parity(pivots, LU.dtype)


def _det_rule(primals, tangents):
    """The derivative is the trace of the adjugate times ``dA``: of ``det(A) A^-1`` where A is regular.

    Where a pivot is zero it is replaced by a tiny one. The adjugate is continuous, so it is right to
    rounding, where ``0 * inf`` is nan.
    """
    A, LU, pivots, order = primals
    out = _det(*primals)
    if is_zero(tangents[0]):
        return out, jnp.zeros_like(out)
    d = _diagonal(LU)
    tiny = jnp.finfo(LU.dtype).eps * jnp.maximum(jnp.max(jnp.abs(d), axis=-1, keepdims=True, initial=0), 1)
    lifted = jnp.where(d == 0, tiny.astype(LU.dtype), d)
    regular = LU + (lifted - d)[..., None] * jnp.eye(d.shape[-1], dtype=LU.dtype)
    near = jnp.where(jnp.any(d == 0, -1), jnp.prod(lifted, -1) * _parity(pivots, LU.dtype), out)
    return out, near * trace(solve_by(A, regular, order, tangents[0]))


_det.defjvp(_det_rule, symbolic_zeros=True)


@op(name="_linalg_det", variants="", grad_name="LinalgDetBackward0", saves=("A", "result"),
    differentiable=(True, False, False, False), residual_outputs=(0, 1, 2, 3))
def linalg_det(A, /):
    """Determinants of square matrices, and how they were found: LU, exchanged rows, their order."""
    name = "linalg.det"
    check_square(name, A)
    check_inexact(name, A)
    check_kernel("lu_cpu", A)
    LU, pivots, order = factors(A)
    return _det(A, LU, pivots, order), LU, pivots, order


@jax.custom_jvp
def _slogdet(A, LU, pivots, order):
    d = _diagonal(LU)
    size = jnp.abs(d)
    sign = jnp.sign(d) if not is_complex(d) else jnp.where(size == 0, d, d / size.astype(d.dtype))
    sign = jnp.where(jnp.isnan(size), 0, sign)  # of nan PyTorch's sign is 0
    return jnp.prod(sign, axis=-1) * _parity(pivots, LU.dtype), jnp.sum(jnp.log(size), axis=-1)


def _slogdet_rule(primals, tangents):
    A, LU, _, order = primals
    sign, logabs = _slogdet(*primals)
    if is_zero(tangents[0]):
        return (sign, logabs), (jnp.zeros_like(sign), jnp.zeros_like(logabs))
    moved = trace(solve_by(A, LU, order, tangents[0]))
    if not is_complex(sign):
        return (sign, logabs), (jnp.zeros_like(sign), moved)
    turned = jax.lax.complex(jnp.zeros_like(moved.imag), moved.imag)
    return (sign, logabs), (sign * turned, moved.real)


_slogdet.defjvp(_slogdet_rule, symbolic_zeros=True)


@op(name="_linalg_slogdet", variants="", grad_name="LinalgSlogdetBackward0", saves=("A", "result"),
    differentiable=(True, True, False, False, False), residual_outputs=(0, 2, 3, 4),
    # A real sign is constant: its own gradient counts for nothing in PyTorch's formula.
    underived=Undefined(results=lambda avals: () if avals[0].dtype.is_complex else (0,)))
def linalg_slogdet(A, /, name):
    """Sign and logarithm of the absolute value of determinants; LU, exchanged rows, their order.

    The sign of a complex determinant is its quotient by its absolute value. That of a singular matrix is
    0, its logarithm ``-inf``.
    """
    check_square(name, A)
    check_inexact(name, A, half=False)
    LU, pivots, order = factors(A)
    return *_slogdet(A, LU, pivots, order), LU, pivots, order


# ------------------------------------------------------------------------------ inverses and solutions


@jax.custom_jvp
def _inverse(A, LU, order):
    return solve_factored(LU, order, identity_like(LU))


def _inverse_rule(primals, tangents):
    X = _inverse(*primals)
    if is_zero(tangents[0]):
        return X, jnp.zeros_like(X)
    return X, -product(X, product(tangents[0], X))


_inverse.defjvp(_inverse_rule, symbolic_zeros=True)


@op(name="_linalg_inv_ex", variants="", grad_name="LinalgInvExBackward0", saves="result",
    residual_outputs=(0,), columns=(0,), differentiable=(True, False))
def linalg_inv_ex(A, /):
    """Inverses, and for each matrix the number of its first zero pivot (0 if it is regular)."""
    name = "linalg.inv"
    check_square(name, A)
    check_inexact(name, A, half=False)
    LU, _, order = factors(A)
    return _inverse(A, LU, order), first_zero(LU)


def _is_vector(A, B) -> bool:
    """Whether ``B`` holds one vector for each matrix in ``A`` rather than matrices."""
    return B.ndim == 1 or (A.ndim - 1 == B.ndim and B.shape == A.shape[:-1])


def from_the_left(left: bool, **_: bool) -> tuple[int, ...]:
    """Which results of a solver lie column by column: the solution, unless its rows were solved for."""
    return (0,) if left else ()


@op(name="_linalg_solve_ex", variants="", grad_name="LinalgSolveExBackward0", saves=("A", "result"),
    differentiable=(True, False, False, False), residual_outputs=(0, 1, 2), columns=from_the_left)
def linalg_solve_ex(A, B, /, left: bool = True):
    """``X`` with ``A X = B``, or ``X A = B``; LU, the order of the rows, the first zero pivots.

    ``B`` holds matrices, or vectors, if it is one or has the shape of ``A`` without the last dimension.
    """
    name = "linalg.solve"
    check_inexact(name, A)
    check_square(name, A)
    check_same_dtype(name, A, B)
    vector = _is_vector(A, B)
    B = B[..., None] if vector else B
    check_matrix(name, B, "B")
    check_equation(name, A, B, left)
    check_kernel("lu_cpu", A)
    LU, _, order = factors(A)
    info = first_zero(LU)
    B = B if left else jnp.swapaxes(B, -1, -2)
    A, B = spread(A, B)
    batch = A.shape[:-2]
    found = (solve_by if left else solve_turned_by)(
        A, with_batch(LU, batch), jnp.broadcast_to(order, A.shape[:-1]), B)
    X = found if left else jnp.swapaxes(found, -1, -2)
    return (X[..., 0] if vector else X), LU, order, info


# ------------------------------------------------------------------------------------------- factors


def _check_factorable(name: str, A, pivot: bool) -> None:
    if A.ndim < 2:
        raise RuntimeError(
            f"{name}: Expected tensor with 2 or more dimensions. Got size: {list(A.shape)} instead"
        )
    if not pivot:
        raise RuntimeError("linalg.lu_factor: LU without pivoting is not implemented on the CPU")
    check_kernel("lu_cpu", A)


@op(name="_linalg_lu_factor_ex", variants="", grad_name="LinalgLuFactorExBackward0", saves="result",
    returns=("LU", "pivots", "info", "order"),
    differentiable=(True, False, False, False), residual_outputs=(0, 3), columns=(0,))
def linalg_lu_factor_ex(A, /, pivot=True):
    """L (below the diagonal) and U in one matrix, the exchanged rows from 1, first zero pivots, order."""
    _check_factorable("torch.lu_factor", A, pivot)
    LU, pivots, order = lu(A)
    return LU, pivots + 1, first_zero(LU), order


def _apart(LU):
    """L and U of a matrix that holds both."""
    m, n = LU.shape[-2:]
    k = min(m, n)
    L = jnp.tril(LU[..., :k], -1) + jnp.eye(m, k, dtype=LU.dtype)
    return L, jnp.triu(LU[..., :k, :])


def _permutation(order, dtype):
    """``P`` with ``A = P L U`` where ``A[order] = L U``."""
    rows = jnp.arange(order.shape[-1], dtype=order.dtype)
    return (rows[:, None] == order[..., None, :]).astype(dtype)


@op(name="_linalg_lu", variants="", grad_name="LinalgLuBackward0", saves="result", returns=("P", "L", "U"),
    differentiable=(False, True, True))
def linalg_lu(A, /, pivot=True):
    """``A = P L U``: a permutation, a unit lower and an upper triangular matrix; ``A`` of any shape."""
    _check_factorable("linalg.lu", A, pivot)
    LU, _, order = lu(A)
    return _permutation(order, A.dtype), *_apart(LU)


@op(name="_lu_unpack", variants="", grad_name="LuUnpackBackward0", saves="none",
    differentiable=(False, True, True))
def lu_unpack(LU_data, LU_pivots, /, unpack_data=True, unpack_pivots=True):
    """P, L and U of what `lu_factor` returned; those not requested are empty."""
    if LU_data.ndim < 2:
        raise RuntimeError(
            "torch.lu_unpack: Expected tensor with 2 or more dimensions. Got size: "
            f"{list(LU_data.shape)} instead"
        )
    if unpack_pivots and LU_pivots.dtype != np.int32:
        raise RuntimeError(
            "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype.\n"
            "Note: this function is intended to be used with the output produced by torch.linalg.lu_factor"
        )
    nothing = jnp.zeros((0,), LU_data.dtype)
    L, U = _apart(LU_data) if unpack_data else (nothing, nothing)
    P = _permutation(_order(LU_pivots, LU_data), LU_data.dtype) if unpack_pivots else nothing
    return P, L, U


def _order(pivots, LU):
    """The order of the rows that exchanging them (from 1) makes."""
    rows = LU.shape[-2]
    if not pivots.size:
        return jnp.broadcast_to(jnp.arange(rows, dtype=np.int32), LU.shape[:-1])
    return jax.lax.linalg.lu_pivots_to_permutation(pivots - 1, rows)


@op(name="linalg_lu_solve", namespace="", variants="", grad_name="LinalgLuSolveBackward0",
    saves=("LU", "pivots", "result"), columns=from_the_left, out=EXACT)
def linalg_lu_solve(LU, pivots, B, /, left: bool = True, adjoint: bool = False):
    """``X`` with ``A X = B`` (``X A = B`` for ``left=False``), given LU factors of ``A``.

    With ``adjoint`` the conjugate transpose of ``A`` takes its place. Batches broadcast.
    """
    name = "linalg.lu_solve"
    check_inexact(f"torch.{name}", LU)
    check_same_dtype(name, LU, B, "LU")
    if pivots.dtype != np.int32:
        raise RuntimeError(f"{name}: pivots should be a Tensor of scalar type torch.int32")
    check_square(f"torch.{name}", LU)
    check_matrix(name, B, "B")
    check_equation(name, LU, B, left)
    if LU.shape[-1] != pivots.shape[-1]:
        raise RuntimeError(
            f"{name}: Number of pivots per batch should be same as the dimension of the matrix"
        )
    if LU.shape[:-1] != pivots.shape:
        raise RuntimeError(
            f"{name}: Expected LU.shape[:-1] and pivots.shape to be the same, but got pivots with shape "
            f"{list(pivots.shape)} instead"
        )
    check_kernel("lu_solve_cpu", LU)
    order = _order(pivots, LU)
    LU, B = spread(LU, B)
    order = jnp.broadcast_to(order, LU.shape[:-1])
    return solve_factored(LU, order, B, left=left, adjoint=adjoint)
