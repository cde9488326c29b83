"""The larger and the smaller of two numbers, or nan: what reductions combine elements by everywhere."""

from __future__ import annotations

import jax.numpy as jnp


def larger(a, b):
    """The larger of two floating numbers, nan if one is."""
    return jnp.where((a >= b) | jnp.isnan(a), a, b)


def smaller(a, b):
    """The smaller of two floating numbers, nan if one is."""
    return jnp.where((a <= b) | jnp.isnan(a), a, b)
