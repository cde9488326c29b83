"""What a gradient scaler computes: gradients without the scale, whether all are finite, and the next scale.

Micikevicius et al., 2018, "Mixed Precision Training", section 3.2: the scale grows after a number of steps
without an overflow, and shrinks after one.
"""

from __future__ import annotations

import jax.numpy as jnp

from jaxflow._plans.op import Scalar, op


@op(variants="", name="_unscaled", differentiable=False, layout="preserve")
def unscaled(grad, inv_scale, /):
    """``grad * inv_scale``, computed in float32 at least and rounded to the gradient's dtype."""
    wide = jnp.float64 if grad.dtype == jnp.float64 else jnp.float32
    return (grad.astype(wide) * inv_scale.reshape(()).astype(wide)).astype(grad.dtype)


@op(variants="", name="_with_non_finite", differentiable=False)
def with_non_finite(found_inf, /, *grads):
    """1 where an element of ``grads`` is infinite or no number, else ``found_inf``."""
    finite = jnp.asarray(True)
    for grad in grads:
        finite = finite & jnp.isfinite(grad).all()
    return jnp.where(finite, found_inf, jnp.ones_like(found_inf))


@op(variants="", name="_next_scale", differentiable=False)
def next_scale(scale, growth_tracker, found_inf, /, growth_factor: Scalar, backoff_factor: Scalar,
               growth_interval):
    """The scale after a step: smaller after an overflow, larger when it is time and it stays finite."""
    grown = scale * growth_factor.astype(scale.dtype)
    due = growth_tracker.reshape(scale.shape) + 1 == growth_interval
    kept = jnp.where(due & jnp.isfinite(grown), grown, scale)
    return jnp.where(found_inf.reshape(scale.shape) != 0, scale * backoff_factor.astype(scale.dtype), kept)


@op(variants="", name="_next_growth_tracker", differentiable=False)
def next_growth_tracker(growth_tracker, found_inf, /, growth_interval):
    """How many steps in a row had no overflow, since the scale changed."""
    longer = growth_tracker + 1
    start = (found_inf.reshape(longer.shape) != 0) | (longer == growth_interval)
    return jnp.where(start, jnp.zeros_like(longer), longer)
