"""Gamma and Dirichlet numbers, and how a gamma number follows its shape parameter."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from jaxflow._plans.op import op

from ._support import as_dtype


@op(name="_gamma", variants="", differentiable=False, random=True)
def gamma(alpha, /, *, key):
    """Gamma numbers of the given shape parameters and scale 1, in their dtype; none is 0."""
    return as_dtype(_positive(_in_double(jax.random.gamma, key, alpha), alpha.dtype), alpha.dtype)


@op(name="_dirichlet", variants="", differentiable=False, random=True)
def dirichlet(alpha, /, *, key):
    """Gamma numbers divided by their sums along the last dimension; none is 0, and none 1."""
    # By logarithms: of small parameters all numbers of a row may be 0.
    logs = _in_double(jax.random.loggamma, key, alpha)
    if alpha.ndim:
        logs = logs - jax.scipy.special.logsumexp(logs, axis=-1, keepdims=True)
    else:
        logs = jnp.zeros_like(logs)
    below_one = 1 - float(jnp.finfo(alpha.dtype).eps) / 2
    return as_dtype(_positive(jnp.minimum(jnp.exp(logs), below_one), alpha.dtype), alpha.dtype)


def _in_double(draw, key, alpha):
    return draw(key, alpha.astype(np.float64), dtype=np.float64)


def _positive(x, dtype):
    tiny = float(jnp.finfo(dtype).tiny)
    return jnp.where(x > tiny, x, tiny)  # also in place of nan, as in PyTorch


@op(name="_standard_gamma_grad", broadcast=True, variants="function", differentiable=False)
def standard_gamma_grad(input, output, /):
    """How gamma numbers ``output``, drawn with the shape parameters ``input``, follow these."""
    return jax.lax.random_gamma_grad(input, output)


@jax.custom_jvp
def _slope(alpha, sample):
    return jax.lax.random_gamma_grad(alpha, sample)


@_slope.defjvp
def _slope_jvp(primals, tangents):
    raise NotImplementedError("the derivative for '_standard_gamma_grad' is not implemented.")


@jax.custom_jvp
def _follow(alpha, sample):
    return sample


@_follow.defjvp
def _follow_jvp(primals, tangents):
    # The number that lies at the same level of the distribution function moves with the parameter.
    return primals[1], _slope(*primals) * tangents[0] + tangents[1]


@op(name="_gamma_traced", variants="", grad_name="StandardGammaBackward0", saves="both")
def gamma_traced(alpha, sample, /):
    """Numbers drawn by `gamma`, with their derivative by the parameters."""
    return _follow(alpha, sample)
