"""Complex roots and powers at the edges, as C has them: the signs of zeros choose sides, zero has powers."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from ._support import is_complex, with_partials


@with_partials(lambda out, x: 0.5 / out)
def _complex_root(x):
    root = jnp.sqrt(x)
    # Below the branch cut are also the numbers whose imaginary part is minus zero, which XLA overlooks.
    return jax.lax.complex(root.real, jnp.copysign(root.imag, x.imag))


def square_root(x):
    """The square root, of a complex number the one on the same side of the real axis."""
    return _complex_root(x) if is_complex(x) else jnp.sqrt(x)


def inverse_root(x):
    """One over the square root."""
    return 1 / _complex_root(x) if is_complex(x) else jax.lax.rsqrt(x)


def complex_power(base, exponent):
    """``exp(exponent * log(base))`` part by part, so that infinite logarithms tell the powers of zero."""
    size, angle = jnp.log(jnp.hypot(base.real, base.imag)), jnp.arctan2(base.imag, base.real)
    real = exponent.real * size - exponent.imag * angle
    turn = exponent.real * angle + exponent.imag * size
    # As C multiplies: a product with an infinity is infinite, whatever angle a base that is infinite has,
    # and of a number with an infinite part the other one counts for nothing.
    lost = jnp.isinf(size) & jnp.isnan(real) & jnp.isnan(turn)
    whole, part = jnp.isinf(exponent.real), jnp.isinf(exponent.imag)
    real = jnp.where(lost, jnp.where(part & ~whole, 0.0, exponent.real) * size, real)
    turn = jnp.where(lost, jnp.where(whole & ~part, 0.0, exponent.imag) * size, turn)
    length = jnp.exp(real)
    # An exponential that vanishes has no direction, one that is infinite an unknown one.
    nowhere = ~jnp.isfinite(turn)
    vanishes, grows = nowhere & (real == -jnp.inf), nowhere & (real == jnp.inf)
    zero = jnp.copysign(0.0, jnp.where(jnp.isnan(turn), -1.0, turn))
    return jax.lax.complex(
        jnp.where(vanishes, 0.0, jnp.where(grows, jnp.inf, length * jnp.cos(turn))),
        jnp.where(vanishes, zero, jnp.where(turn == 0, turn, length * jnp.sin(turn))),
    )
