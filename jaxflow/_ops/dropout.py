"""What dropout and the randomised ReLU multiply by."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from jaxflow._core.dtype import BOOL, COMPLEX, INTEGER
from jaxflow._dispatch.op import Scalar, op

from ._support import category, refuse, scalar_name


@op(variants="", differentiable=False, random=True)
def _dropout_noise(input, /, keep: Scalar, scale: Scalar, features, *, key):
    """``scale`` with probability ``keep`` and 0 otherwise, in the dtype of ``input``.

    One number an element, or with ``features`` one for each of the first two dimensions.
    """
    refuse("bernoulli_scalar_cpu_", input, COMPLEX)
    if category(input) in (BOOL, INTEGER):
        raise RuntimeError(
            f"result type Float can't be cast to the desired output type {scalar_name(input)}"
        )
    shape = input.shape
    if features:
        shape = shape[:2] + (1,) * (len(shape) - 2)
    kept = jax.random.bernoulli(key, keep, shape)
    return jnp.where(kept, scale, 0).astype(input.dtype)


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
