"""The direction of a quasi-Newton step from the last changes of point and gradient (L-BFGS)."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from jaxflow._plans.op import op


@op(variants="", saves="none", differentiable=False)
def _lbfgs_direction(*tensors):
    """Minus the gradient times the approximate inverse Hessian, and the coefficients of the first loop.

    ``tensors`` are the flat gradient, the scale of the Hessian, and by thirds the changes of the gradient,
    those of the point, and the inverses of their products, the oldest first. A change whose inverse is zero
    counts for nothing. Nocedal, "Updating quasi-Newton matrices with limited storage", 1980.
    """
    gradient, scale, *memory = tensors
    count = len(memory) // 3
    changes, steps, inverses = (jnp.stack(memory[i * count : (i + 1) * count]) for i in range(3))

    def back(q, row):
        change, step, inverse = row
        share = jnp.vdot(step, q) * inverse
        return q - share * change, share

    def forth(r, row):
        change, step, inverse, share = row
        return r + (share - jnp.vdot(change, r) * inverse) * step, None

    rows = (changes, steps, inverses)
    q, shares = jax.lax.scan(back, -gradient, rows, reverse=True)
    r, _ = jax.lax.scan(forth, q * scale.astype(q.dtype), (*rows, shares))
    return r, shares
