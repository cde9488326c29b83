"""Keeping the rows of a table short."""

from __future__ import annotations

import jax.numpy as jnp

from jaxflow._plans.op import Scalar, op

from ._xla import largest


@op(variants="", differentiable=False)
def _embedding_renorm(weight, indices, /, max_norm: Scalar, norm_type):
    """``weight`` with the rows at ``indices`` scaled down to at most ``max_norm``."""
    looked_up = jnp.zeros(weight.shape[0], bool).at[indices.reshape(-1)].set(True)
    size = jnp.abs(weight)
    if norm_type == 2.0:
        norms = jnp.sqrt(jnp.sum(size * size, axis=1))
    elif norm_type == float("inf"):
        norms = largest(size, 1)
    else:
        norms = jnp.sum(size**norm_type, axis=1) ** (1.0 / norm_type)
    limit = jnp.asarray(max_norm).astype(norms.dtype)
    factor = jnp.where(looked_up & (norms > limit), limit / (norms + 1e-7), 1)
    return weight * factor[:, None].astype(weight.dtype)
