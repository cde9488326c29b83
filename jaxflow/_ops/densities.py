"""Log densities that training loops call at every step: each is one operation, which is recorded once."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np

from jaxflow._plans.op import op


@op(name="_normal_log_prob", promote="int_to_float", variants="", saves="steps")
def normal_log_prob(value, loc, scale, /):
    """``-((x - loc) / scale)^2 / 2 - log(scale) - log(2 pi) / 2``."""
    away = value - loc
    return -(away * away) / (2 * scale * scale) - jnp.log(scale) - 0.5 * math.log(2 * math.pi)


@op(name="_bernoulli_log_prob", promote="int_to_float", variants="", saves="steps")
def bernoulli_log_prob(logits, value, /):
    """``value * logits - log(1 + exp(logits))``, without overflow."""
    # max(x, 0) as a sum, whose slope at 0 is a half: that of log(1 + exp(x)), since that of |x| is 0 there.
    size = jnp.abs(logits)
    return value * logits - (0.5 * logits + 0.5 * size) - jnp.log1p(jnp.exp(-size))


def _power(concentration, x):
    """``(a - 1) log(x)``, 0 for an ``a`` of 1 and an ``x`` of 0."""
    return jnp.where((concentration == 1) & (x == 0), 0, (concentration - 1) * jnp.log(x))


@op(name="_gamma_log_prob", promote="int_to_float", variants="", saves="steps")
def gamma_log_prob(value, concentration, rate, /):
    """``a log(r) + (a - 1) log(x) - r x - log Gamma(a)``, where 0 times an infinite logarithm is 0."""
    return (concentration * jnp.log(rate) + _power(concentration, value) - rate * value
            - jax.lax.lgamma(concentration))


@op(name="_beta_log_prob", promote="int_to_float", broadcast=False, variants="", saves="steps")
def beta_log_prob(value, concentrations, /):
    """``(a - 1) log(x) + (b - 1) log(1 - x) - log B(a, b)``, of ``a`` and ``b`` in the last dimension."""
    gammas = jax.lax.lgamma(concentrations)
    a, b = concentrations[..., 0], concentrations[..., 1]
    beta = gammas[..., 0] + gammas[..., 1] - jax.lax.lgamma(a + b)
    return _power(a, value) + _power(b, 1 - value) - beta


@op(name="_categorical_log_prob", variants="", grad_name="GatherBackward0", saves=("logits", "value"))
def categorical_log_prob(logits, value, /):
    """The logits of the indices ``value``, which are in range: the last dimension of ``logits`` is theirs."""
    shape = jnp.broadcast_shapes(value.shape, logits.shape[:-1])
    index = jnp.broadcast_to(value, shape).astype(np.int64)
    logits = jnp.broadcast_to(logits, (*shape, logits.shape[-1]))
    return jnp.take_along_axis(logits, index[..., None], -1, mode="clip")[..., 0]
