"""Norms and scaling of many tensors at once: one operation however many parameters a model has."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np

from jaxflow._plans.op import op

from ._support import is_complex, wide
from ._xla import largest, smallest
from .reduce import refuse_norm_of


@op(variants="", differentiable=False)
def _total_norm(*tensors, norm_type):
    """The norm of the norms of all tensors, 0-d, in the widest of their dtypes."""
    norms = [_norm(t, norm_type) for t in tensors]
    dtypes = {n.dtype for n in norms}
    if len(dtypes) == 1:
        (dtype,) = dtypes
    else:  # two kinds of half precision have only float32 in common
        dtype = np.float64 if np.dtype(np.float64) in dtypes else np.float32
    return _norm(jnp.stack([n.astype(dtype) for n in norms]), norm_type)


def _norm(x, p):
    refuse_norm_of(x)
    dtype = x.real.dtype
    size = wide(jnp.abs(x) if is_complex(x) else x)
    if p == 2:
        result = jnp.sqrt(jnp.sum(size * size))
    elif p == 0:
        result = jnp.sum((size != 0).astype(size.dtype))
    elif math.isinf(p):
        size = jnp.abs(size)
        if not x.size:
            return jnp.zeros((), dtype)
        result = largest(size) if p > 0 else smallest(size)
    else:
        result = jnp.sum(jnp.abs(size) ** p) ** np.asarray(1.0 / p, size.dtype)
    return result.astype(dtype)


@op(variants="", differentiable=False)
def _all_scaled(*tensors):
    """Every tensor but the first times the first, a number; each in its own dtype."""
    factor, *tensors = tensors
    return tuple(_scaled(t, factor) for t in tensors)


@jax.jit
def _scaled(x, factor):
    # Half precision is multiplied in float32 and rounded once, as PyTorch's kernels do.
    product = wide(x)
    return (product * factor.astype(product.dtype)).astype(x.dtype)
