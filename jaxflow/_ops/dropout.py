"""What dropout and the randomised ReLU multiply by."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from jaxflow._core.dtype import BOOL, COMPLEX, INTEGER
from jaxflow._dispatch.op import Scalar, op

from ._support import as_dtype, refuse


@op(variants="", differentiable=False, random=True)
def _dropout_noise(*, size, dtype, device, keep: Scalar, scale: Scalar, key):
    """``scale`` with probability ``keep`` and 0 otherwise, element by element."""
    return as_dtype(jnp.where(jax.random.bernoulli(key, keep, size), scale, 0), dtype)


@op(variants="", differentiable=False, random=True)
def _rrelu_slope(input, /, lower: Scalar, upper: Scalar, *, key):
    """A slope between ``lower`` and ``upper`` for each element, in the dtype of ``input``."""
    refuse("rrelu_out_cpu", input, BOOL, INTEGER, COMPLEX)
    drawn = jax.random.uniform(key, input.shape, jnp.float64)
    return (lower + (upper - lower) * drawn).astype(input.dtype)


@op(promote="default", variants="", grad_name="RreluWithNoiseBackward0")
def _rrelu(input, slope, /):
    """``input`` where positive, else ``input * slope``."""
    return jnp.where(input > 0, input, input * slope)
