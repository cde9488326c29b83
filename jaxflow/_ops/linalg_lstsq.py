"""Least squares."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from jaxflow._plans.op import Undefined, op

from ._matrices import adjoint, product, singular, spread

# Where the singular values are cut off is a number that depends on shapes and static arguments alone.


def _inverse_values(S, rcond):
    kept = S > rcond * jnp.max(S, axis=-1, keepdims=True, initial=0)
    dropped = jnp.where(jnp.isnan(S), S, jnp.zeros_like(S))
    return jnp.where(kept, 1 / jnp.where(kept, S, jnp.ones_like(S)), dropped), kept


@jax.custom_jvp
def _pseudo_inverse(A, rcond):
    U, S, Vh = singular(A)
    inverse, _ = _inverse_values(S, rcond)
    return product(adjoint(Vh) * inverse[..., None, :].astype(A.dtype), adjoint(U))


@_pseudo_inverse.defjvp
def _pseudo_inverse_rule(primals, tangents):
    """G. Golub and V. Pereyra, The differentiation of pseudo-inverses, 1973.

    The rank is taken to be constant.
    """
    A, rcond = primals
    dA = tangents[0]
    P = _pseudo_inverse(A, rcond)
    dAh = adjoint(dA)
    left = product(P, product(adjoint(P), dAh - product(product(dAh, A), P)))
    right = product(dAh - product(P, product(A, dAh)), product(adjoint(P), P))
    return P, left + right - product(P, product(dA, P))


@jax.custom_jvp
def _solution(A, B, rcond):
    U, S, Vh = singular(A)
    inverse, kept = _inverse_values(S, rcond)
    X = product(adjoint(Vh), inverse[..., None].astype(A.dtype) * product(adjoint(U), B))
    return X, S, kept


@_solution.defjvp
def _solution_rule(primals, tangents):
    """The same for ``X = P B``; the singular values have no gradient."""
    A, B, rcond = primals
    dA, dB, _ = tangents
    X, S, kept = _solution(*primals)
    P = _pseudo_inverse(A, rcond)
    dAh = adjoint(dA)
    left = product(P, product(adjoint(P), product(dAh, B - product(A, X))))
    turned = product(adjoint(P), X)
    right = product(dAh, turned) - product(P, product(A, product(dAh, turned)))
    moved = product(P, dB - product(dA, X)) + left + right
    return (X, S, kept), (moved, jnp.zeros_like(S), np.zeros(kept.shape, jax.dtypes.float0))


@op(name="_linalg_lstsq", variants="", grad_name="LinalgLstsqBackward0", saves=("A", "B", "result"),
    returns=("solution", "residuals", "rank", "singular_values"),
    differentiable=(True, True, False, False),
    underived=Undefined(results=lambda avals: () if avals[1].numel else (1,)))
def linalg_lstsq(A, B, /, rcond, residuals):
    """Solutions of least norm, sums of squared residuals, ranks, singular values.

    Without ``residuals`` the sums are empty. Singular values up to ``rcond`` times the largest count as zero.
    """
    A, B = spread(A, B)
    real = A.real.dtype
    if not (A.size and B.size):
        shape = (*A.shape[:-2], A.shape[-1], B.shape[-1])
        ranks = jnp.zeros(A.shape[:-2], np.int64)
        X = jnp.zeros(shape, A.dtype)
        S = jnp.zeros((*A.shape[:-2], min(A.shape[-2:])), real)
    else:
        X, S, kept = _solution(A, B, jnp.asarray(rcond, real))
        ranks = jnp.sum(kept, axis=-1, dtype=np.int64)
    if not residuals:
        return X, jnp.zeros((0,), real), ranks, S
    off = B - product(A, X)
    return X, jnp.sum(off.real * off.real + off.imag * off.imag, axis=-2), ranks, S
