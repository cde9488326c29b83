"""The exponential of matrices."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np

from jaxflow._plans.op import op

from ._matrices import check_inexact, check_square, product
from ._support import in_wide

#: Coefficients of the Taylor polynomial of degree 20: a row for each power of ``A ** 5``, by powers of ``A``.
_COEFFICIENTS = np.array([1 / math.factorial(k) for k in range(20)]).reshape(4, 5)
_LAST = 1 / math.factorial(20)

#: 1-norms up to which that polynomial is right to rounding (A. Al-Mohy and N. Higham, Computing the action
#: of the matrix exponential, 2011, table 3.1), by the size of a real number.
_REACH = {4: 3.6, 8: 1.4}

#: How often a result may be squared: beyond norms of ten billion it is nan.
_SQUARINGS = 32


def _taylor(A):
    """The polynomial, by seven products (M. Paterson and L. Stockmeyer, 1973)."""
    eye = jnp.broadcast_to(jnp.eye(A.shape[-1], dtype=A.dtype), A.shape)
    second = product(A, A)
    third, fourth = product(second, A), product(second, second)
    fifth = product(fourth, A)
    parts = jnp.tensordot(
        jnp.asarray(_COEFFICIENTS, A.dtype), jnp.stack((eye, A, second, third, fourth)), 1)
    total = parts[3] + fifth * jnp.asarray(_LAST, A.dtype)
    for part in (parts[2], parts[1], parts[0]):
        total = part + product(fifth, total)
    return total


@op(aliases=("linalg.matrix_exp",), variants="function method", grad_name="LinalgMatrixExpBackward0",
    saves="input")
def matrix_exp(input, /):
    """``exp(A)`` of square matrices, by a polynomial of ``A / 2**s`` that is squared ``s`` times.

    Real or complex; half precision is computed in float32. Matrices of a 1-norm beyond ten billion have
    nan for a result.
    """
    name = "linalg.matrix_exp"
    check_square(name, input)
    check_inexact(name, input)
    return _matrix_exp(input)


@in_wide
def _matrix_exp(A):
    if not A.size:
        return A
    size = A.dtype.itemsize // (2 if jnp.issubdtype(A.dtype, np.complexfloating) else 1)
    norm = jnp.max(jnp.sum(jnp.abs(jax.lax.stop_gradient(A)), axis=-2), axis=-1)
    halvings = jnp.ceil(jnp.log2(jnp.maximum(norm / np.asarray(_REACH[size], norm.dtype), 1)))
    within = halvings <= _SQUARINGS
    halvings = jnp.where(within, halvings, 0)
    scale = jnp.where(within, jnp.exp2(-halvings), jnp.asarray(np.nan, norm.dtype))
    start = _taylor(A * scale[..., None, None].astype(A.dtype))

    # A loop of a known length has a gradient; turns that nobody needs cost nothing.
    most = jnp.max(halvings)

    def turn(i, total):
        def square(total):
            return jnp.where((i < halvings)[..., None, None], product(total, total), total)

        return jax.lax.cond(i < most, square, lambda total: total, total)

    return jax.lax.fori_loop(0, _SQUARINGS, turn, start)
