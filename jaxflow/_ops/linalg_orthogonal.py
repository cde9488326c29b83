"""Matrices with orthonormal columns: the QR decomposition, and products of Householder reflections."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp

from jaxflow._core.dtype import FLOATING
from jaxflow._plans.op import EXACT, Out, Undefined, castable, op

from ._matrices import adjoint, check_matrix, imaginary, product
from ._support import category, is_complex, refuse, scalar_name


def _refuse_half(kernel, x):
    """Refuse what LAPACK has no routine for."""
    refuse(kernel, x, 0, 1)
    if x.dtype.itemsize == 2:
        refuse(kernel, x, FLOATING)


@functools.partial(jax.custom_jvp, nondiff_argnums=(1,))
def _qr(a, mode):
    q, r = jax.lax.linalg.qr(a, full_matrices=mode == "complete")
    return (jnp.zeros((0,), a.dtype), r) if mode == "r" else (q, r)


@_qr.defjvp
def _qr_jvp(mode, primals, tangents):
    (a,), (da,) = primals, tangents
    rows, columns = a.shape[-2:]
    if mode == "r":
        raise RuntimeError(
            "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use "
            "linalg.qr(A, mode='reduced') if you are going to differentiate through linalg.qr."
        )
    if mode == "complete" and rows > columns:
        raise RuntimeError(
            "The QR decomposition is not differentiable when mode='complete' and nrows > ncols."
        )
    q, r = _qr(a, mode)
    if a.size == 0:
        return (q, r), (jnp.zeros_like(q), jnp.zeros_like(r))
    # What is left of the diagonal block decides Q, and with it the columns to the right.
    dq, dr = _thin_qr_change(q, r[..., :rows], da[..., :rows])
    if rows < columns:
        right = product(adjoint(dq), q, r[..., rows:]) + product(adjoint(q), da[..., rows:])
        dr = jnp.concatenate([dr, right], -1)
    return (q, r), (dq, dr)


def _thin_qr_change(q, r, da):
    """The change of Q and of a square R.

    From S. Walter and L. Lehmann, "Algorithmic differentiation of linear algebra functions with application
    in optimum experimental design" (2010), section 3.1.
    """
    change = jax.lax.linalg.triangular_solve(r, da)
    inner = product(adjoint(q), change)
    below = jnp.tril(inner, -1)
    turn = below - adjoint(below)
    if is_complex(q):  # the diagonal of R stays real
        turn = turn + jnp.eye(r.shape[-1], dtype=q.dtype) * imaginary(inner)
    return product(q, turn - inner) + change, product(inner - turn, r)


@op(namespace="linalg", variants="function out", method_name="linalg_qr", grad_name="LinalgQrBackward0",
    returns=("Q", "R"), saves="result", residual_outputs=(0, 1), columns=(0, 1),
    out=EXACT)
def qr(A, /, mode="reduced"):
    """``A = Q R`` with orthonormal columns in Q and an upper triangular R; batches of matrices.

    ``mode`` is "reduced", "complete" (a square Q) or "r" (Q is empty).

    Raises:
        RuntimeError: for fewer than two dimensions, for integers, and for another mode.
    """
    check_matrix("linalg.qr", A)
    if category(A) < FLOATING:
        raise RuntimeError(
            f"linalg.qr: Expected a floating point or complex tensor as input. Got {scalar_name(A)}"
        )
    _refuse_half("geqrf_cpu", A)
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(
            f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or "
            "'complete'"
        )
    return _qr(A, mode)


@op(differentiable=False, returns=("a", "tau"), columns=(0,), out=Out(rows=True))
def geqrf(input, /):
    """The QR decomposition as LAPACK stores it: R above the diagonal, the reflections' vectors below.

    Shapes: ``(..., m, n)`` to ``(..., m, n)`` and ``(..., k)``, the factors of the reflections, with ``k``
    the smaller of ``m`` and ``n``. It has no derivative; `jaxflow.linalg.qr` has.

    Raises:
        RuntimeError: for fewer than two dimensions.
    """
    if input.ndim < 2:
        raise RuntimeError("torch.geqrf: input must have at least 2 dimensions.")
    _refuse_half("geqrf_cpu", input)
    if input.size == 0:
        return input, jnp.zeros((*input.shape[:-2], min(input.shape[-2:])), input.dtype)
    packed, tau = jnp.linalg.qr(input, mode="raw")
    return jnp.swapaxes(packed, -1, -2), tau


# ---------------------------------------------------------------------------- Householder reflections


def _compact(a, tau):
    """``V`` and ``T`` for which the product of the reflections ``I - tau v v^H`` is ``I - V T V^H``.

    ``T`` is ``(I + D S)^-1 D``, with ``D`` the diagonal of ``tau`` and ``S`` the part of ``V^H V`` above the
    diagonal (R. Schreiber and C. Van Loan, "A storage-efficient WY representation for products of
    Householder transformations", 1989; this form needs no factor to be nonzero). The vectors stand below
    the diagonal of ``a``, which is one.
    """
    count = tau.shape[-1]
    v = jnp.tril(a[..., :count], -1) + jnp.eye(a.shape[-2], count, dtype=a.dtype)
    d = jnp.eye(count, dtype=a.dtype) * tau[..., None, :]
    above = jnp.triu(product(adjoint(v), v), 1)
    t = jax.lax.linalg.triangular_solve(
        jnp.broadcast_to(tau[..., :, None] * above, d.shape), d, left_side=True, unit_diagonal=True)
    return v, t


# PyTorch's formula leaves the gradients of reflections undefined where there are none.
_OF_NOTHING = Undefined(lambda kinds: () if kinds[0].numel and kinds[1].numel else (0, 1))


@op(aliases=("linalg.householder_product",), grad_name="LinalgHouseholderProductBackward0", saves="both",
    columns=(0,), out=castable("torch.linalg.householder_product", rows=True,
                               composed="linalg_householder_product"),
    underived=_OF_NOTHING)
def orgqr(input, tau, /):
    """The first ``n`` columns of the product of the reflections that `geqrf` packed.

    Shapes: ``(..., m, n)`` and ``(..., k)`` to ``(..., m, n)``, with ``k <= n <= m``.

    Raises:
        RuntimeError: for shapes that do not fit, and two dtypes.
    """
    name = "torch.linalg.householder_product"
    if input.ndim < 2:
        raise RuntimeError(f"{name}: input must have at least 2 dimensions.")
    rows, columns = input.shape[-2:]
    if rows < columns:
        raise RuntimeError(f"{name}: input.shape[-2] must be greater than or equal to input.shape[-1]")
    if columns < tau.shape[-1]:
        raise RuntimeError(f"{name}: input.shape[-1] must be greater than or equal to tau.shape[-1]")
    _check_factors(name, input, tau)
    if input.dtype != tau.dtype:
        raise RuntimeError(
            f"{name}: tau dtype {scalar_name(tau)} does not match input dtype {scalar_name(input)}"
        )
    _refuse_half("orgqr_cpu", input)
    if input.size == 0:
        return input
    v, t = _compact(input, tau)
    return jnp.eye(rows, columns, dtype=input.dtype) - product(v, product(t, adjoint(v[..., :columns, :])))


def _check_factors(name, input, tau):
    if input.ndim - tau.ndim != 1:
        raise RuntimeError(
            f"{name}: Expected tau to have one dimension less than input, but got tau.ndim equal to "
            f"{tau.ndim} and input.ndim is equal to {input.ndim}"
        )
    if tau.shape[:-1] != input.shape[:-2]:
        raise RuntimeError(
            f"{name}: Expected batch dimensions of tau to be equal to input.shape[:-2], but got "
            f"{list(tau.shape[:-1])}"
        )


@op(saves=("input", "tau", "other", "result"), columns=(0,), underived=_OF_NOTHING,
    out=Out("torch.ormqr: Expected input and result to have the same dtype, but input has dtype{result} and "
            "result has dtype {out}", rows=True))
def ormqr(input, tau, other, /, left: bool = True, transpose: bool = False):
    """The product of all reflections that `geqrf` packed, a square matrix, times ``other``.

    Args:
        input: ``(..., m, k)``.
        tau: ``(..., k)``.
        other: ``(..., m, n)``, or ``(..., n, m)`` to be multiplied from the right.
        left: whether the reflections are the left factor.
        transpose: whether their product is turned, and conjugated.

    Raises:
        RuntimeError: for shapes that do not fit, and different dtypes.
    """
    _check_ormqr(input, tau, other, left)
    _refuse_half("ormqr_cpu", input)
    if other.size == 0:
        return other
    v, t = _compact(input, tau)
    if transpose:
        t = adjoint(t)
    if left:
        return other - product(v, product(t, product(adjoint(v), other)))
    return other - product(other, v, t, adjoint(v))


def _check_ormqr(input, tau, other, left):
    name = "torch.ormqr"
    for what, x in (("input", input), ("other", other)):
        if x.ndim < 2:
            raise RuntimeError(f"{name}: {what} must have at least 2 dimensions.")
    side = -2 if left else -1
    if other.shape[side] != input.shape[-2]:
        raise RuntimeError(f"{name}: other.shape[{side}] must be equal to input.shape[-2]")
    if tau.shape[-1] != min(other.shape[side], input.shape[-1]):
        raise RuntimeError(
            f"{name}: tau.shape[-1] must be equal to min(other.shape[{side}], input.shape[-1])"
        )
    _check_factors(name, input, tau)
    if input.ndim != other.ndim:
        raise RuntimeError(
            f"{name}: Expected other to have the same number of dimensions as input, but got other.ndim "
            f"equal to {other.ndim} and input.ndim is equal to {input.ndim}"
        )
    if other.shape[:-2] != input.shape[:-2]:
        raise RuntimeError(
            f"{name}: Expected batch dimensions of other to be equal to input.shape[:-2], but got "
            f"{list(other.shape[:-2])}"
        )
    for what, x in (("tau", tau), ("other", other)):
        if x.dtype != input.dtype:
            raise RuntimeError(
                f"{name}: Expected input and {what} to have the same dtype, but input has dtype"
                f"{scalar_name(input)} and {what} has dtype {scalar_name(x)}"
            )
