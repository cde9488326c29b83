"""Angles of the von Mises distribution."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from jaxflow._plans.op import op

from ._support import as_dtype


def _wrapped_cauchy(concentration):
    """The parameter ``r`` of what angles are proposed from, for a concentration in float64."""
    square = concentration * concentration
    tau = 1 + jnp.sqrt(1 + 4 * square)
    rho = (tau - jnp.sqrt(2 * tau)) / (2 * concentration)
    r = (1 + rho * rho) / (2 * rho)
    # Below, r is 1 / k + k to double precision.
    return jnp.where(concentration < 1e-5, 1 / concentration + concentration, r)


@op(name="_von_mises", broadcast=True, variants="", differentiable=False, random=True)
def von_mises(loc, concentration, /, *, key):
    """Angles of ``[-pi, pi)`` around ``loc``, by Best and Fisher's rejection from wrapped Cauchy angles.

    Algorithm VM of Best and Fisher, "Efficient simulation of the von Mises distribution", 1979.
    """
    k = concentration.astype(np.float64)
    r = _wrapped_cauchy(k)

    def more(state):
        return ~jnp.all(state[2])

    def propose(state):
        key, angle, done = state
        key, now = jax.random.split(key)
        first, second, third = jax.random.uniform(now, (3, *k.shape), dtype=np.float64)
        z = jnp.cos(np.pi * first)
        f = (1 + r * z) / (r + z)
        c = k * (r - f)
        # nan is taken as it comes: it would be proposed for ever
        taken = (c * (2 - c) - second > 0) | (jnp.log(c / second) + 1 - c >= 0) | jnp.isnan(c)
        proposed = jnp.where(third < 0.5, -1.0, 1.0) * jnp.arccos(jnp.clip(f, -1, 1))
        return key, jnp.where(taken & ~done, proposed, angle), done | taken

    start = key, jnp.zeros(k.shape, np.float64), jnp.zeros(k.shape, bool)
    _, angle, _ = jax.lax.while_loop(more, propose, start)
    turned = (angle + np.pi + loc.astype(np.float64)) % (2 * np.pi) - np.pi
    return as_dtype(turned, loc.dtype)
