"""Quotients of complex numbers, as PyTorch divides: by the larger part of the divisor first."""

from __future__ import annotations

import jax
import jax.numpy as jnp


def complex_quotient(a, b):
    """``a / b`` after R. L. Smith (1962), which overflows only where the quotient does.

    XLA has another way for complex numbers, in which infinite parts follow annex G of C: that makes numbers
    where PyTorch has nan.
    """
    c, d = b.real, b.imag
    first = jnp.abs(c) >= jnp.abs(d)
    large, small = jnp.where(first, c, d), jnp.where(first, d, c)
    ratio = small / large
    scale = 1 / (large + small * ratio)
    u, w = jnp.where(first, a.real, a.imag), jnp.where(first, a.imag, a.real)
    real = (u + w * ratio) * scale
    imag = jnp.where(first, w - u * ratio, u * ratio - w) * scale
    # By zero each part is divided for itself, and zero has no sign then.
    nothing = (c == 0) & (d == 0)
    return jax.lax.complex(jnp.where(nothing, a.real / jnp.abs(c), real),
                           jnp.where(nothing, a.imag / jnp.abs(d), imag))
