"""How beta and Dirichlet numbers follow their parameters: implicit reparametrization.

The number that lies at one level of its distribution function moves with a parameter by
``-(dF / da) / (dF / dx)`` (Figurnov, Mohamed and Mnih, "Implicit reparameterization gradients", 2018). ``F``,
the regularized incomplete beta function, is a power times a continued fraction (NIST Digital Library of
Mathematical Functions, 8.17.22), whose derivative is carried along while it is computed. All in float64.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from jaxflow._plans.op import op

from ._support import as_dtype

_MOST = 5000  # terms; the square root of the larger parameter is about what it takes
_TINY = 1e-300
_NEAR = 1e-14  # some roundings: the last changes are not always exactly 0


def _fraction(a, b, x, da, db):
    """The continued fraction of the incomplete beta function at ``x``, and its slope along ``(da, db)``.

    By Lentz's method as modified by Thompson and Barnett ("Coulomb and Bessel functions of complex
    arguments and order", 1986). It converges quickly for ``x < (a + 1) / (a + b + 2)``.
    """
    def kept(v):
        return jnp.where(jnp.abs(v) < _TINY, _TINY, v)

    def terms(m, a, b, c, d, h):
        """Two more terms of the fraction ``h``, with the ratios of numerators and of denominators."""
        for term in (m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
                     -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))):
            d = 1 / kept(1 + term * d)
            c = kept(1 + term / c)
            h = h * c * d
        return c, d, h

    def start(a, b):
        d = 1 / kept(1 - (a + b) * x / (a + 1))
        return jnp.ones_like(x), d, d

    def step(state):
        m, values, slopes, _ = state
        old, moved = values[2], slopes[2]
        along = (a, b, *values), (da, db, *slopes)
        values, slopes = jax.jvp(lambda a, b, *rest: terms(m, a, b, *rest), *along)
        change = jnp.abs(values[2] - old) + jnp.abs(slopes[2] - moved)
        far = change > _NEAR * (jnp.abs(old) + jnp.abs(moved))
        return m + 1, values, slopes, jnp.any(far)

    def more(state):
        return (state[0] < _MOST) & state[3]

    first = jax.jvp(start, (a, b), (da, db))
    _, values, slopes, _ = jax.lax.while_loop(more, step, (jnp.float64(1), *first, jnp.bool_(True)))
    return values[2], slopes[2]


def beta_slope(x, a, b):
    """``-(dF / da) / (dF / dx) / (1 - x)`` of beta numbers ``x`` of ``a`` and ``b``, in float64."""
    swapped = x > (a + 1) / (a + b + 2)
    one, two, at = jnp.where(swapped, b, a), jnp.where(swapped, a, b), jnp.where(swapped, 1 - x, x)
    # The derivative by `a` is that by the first parameter, or by the second where they are swapped.
    first = jnp.where(swapped, 0.0, 1.0)
    fraction, moved = _fraction(one, two, at, first, 1 - first)
    # F / F' = x (1 - x) h / one, and (log F)' by a is what stands in brackets.
    logs = jnp.log(x) - jax.scipy.special.digamma(a) + jax.scipy.special.digamma(a + b)
    slope = logs - first / a + moved / fraction
    return jnp.where(swapped, 1.0, -1.0) * x * fraction / one * slope


@op(name="_dirichlet_grad", broadcast=True, variants="function", differentiable=False)
def dirichlet_grad(x, alpha, total, /):
    """How Dirichlet numbers follow their own parameters, over ``1 - x``; ``total`` is the sum of all."""
    wide = [v.astype(np.float64) for v in (x, alpha, total)]
    return as_dtype(beta_slope(wide[0], wide[1], wide[2] - wide[1]), x.dtype)


@jax.custom_jvp
def _slopes(x, alpha):
    wide, parameters = x.astype(np.float64), alpha.astype(np.float64)
    others = parameters.sum(-1, keepdims=True) - parameters
    return beta_slope(wide, parameters, others).astype(x.dtype)


@_slopes.defjvp
def _slopes_jvp(primals, tangents):
    raise NotImplementedError("the derivative for '_dirichlet_grad' is not implemented.")


@jax.custom_jvp
def _follow(alpha, sample):
    return sample


@_follow.defjvp
def _follow_jvp(primals, tangents):
    # Where one number takes more of the whole, the others keep their proportions.
    alpha, sample = primals
    own = _slopes(sample, alpha) * tangents[0]
    return sample, own - sample * own.sum(-1, keepdims=True) + tangents[1]


@op(name="_dirichlet_traced", variants="", grad_name="_DirichletBackward", saves="both")
def dirichlet_traced(alpha, sample, /):
    """Rows drawn by `dirichlet`, with their derivative by the parameters."""
    return _follow(alpha, sample)
