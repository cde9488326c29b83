"""Roots and inverses, of complex numbers with the signs that C gives them: those of zeros choose sides."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from ._quotients import complex_quotient
from ._support import divide, is_complex, with_partials


@with_partials(lambda out, x: divide(jnp.full_like(out, 0.5), out))
def _complex_root(x):
    root = jnp.sqrt(x)
    real, imag = x.real, x.imag
    # Beside an infinite part nan counts for nothing, but for the sign.
    up, right, left = jnp.isinf(imag), real == jnp.inf, real == -jnp.inf
    infinite = up | right
    lost = jnp.isnan(imag)
    # Below the branch cut are also the numbers whose imaginary part is minus zero, which XLA overlooks.
    below = jnp.where(up, imag, jnp.where(lost & left, jnp.inf, root.imag))
    return jax.lax.complex(
        jnp.where(infinite, jnp.inf, jnp.where(lost & left, jnp.nan, root.real)),
        jnp.where(lost & right, jnp.nan, jnp.copysign(below, imag)))


def square_root(x):
    """The square root, of a complex number the one on the same side of the real axis."""
    return _complex_root(x) if is_complex(x) else jnp.sqrt(x)


@with_partials(lambda out, x: divide(-0.5 * out, x))
def _inverse_complex_root(x):
    return complex_quotient(jnp.ones_like(x), _complex_root(x))


_INVERSE = with_partials(lambda out, x: -(out * out))(lambda x: complex_quotient(jnp.ones_like(x), x))


def inverse(x):
    """One over each element."""
    return _INVERSE(x) if is_complex(x) else 1 / x


# By the result, whose cube has another sign at minus zero than the quotient has.
_INVERSE_ROOT = with_partials(lambda out, x: -0.5 * (out * out * out))(jax.lax.rsqrt)


def inverse_root(x):
    """One over the square root."""
    return _inverse_complex_root(x) if is_complex(x) else _INVERSE_ROOT(x)
