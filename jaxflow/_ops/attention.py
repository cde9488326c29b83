"""Scaled dot-product attention."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np

from jaxflow._dispatch.op import op


@op(name="_scaled_dot_product_attention", variants="", differentiable=True,
    grad_name="ScaledDotProductFlashAttentionForCpuBackward0")
def attention(query, key_, value, mask=None, noise=None, /, *, is_causal, scale, enable_gqa):
    """``softmax(query @ key.T * scale + mask) @ value``, the scores in at least float32.

    query ``(..., L, E)``, key ``(..., S, E)``, value ``(..., S, Ev)``; a bool mask says what takes part, a
    float mask is added; ``noise`` multiplies the weights (dropout). Rows with nothing to attend to are
    zero, as in PyTorch.
    """
    if enable_gqa:
        key_, value = _repeat_heads(query, key_), _repeat_heads(query, value)
    dtype = query.dtype
    wide = np.float32 if dtype.itemsize < 4 else dtype
    factor = 1.0 / math.sqrt(query.shape[-1]) if scale is None else scale
    keys = jnp.swapaxes(key_, -1, -2)
    if dtype == wide:
        scores = jnp.matmul(query * jnp.asarray(factor, dtype), keys)
    else:
        # Half precision is rounded once, at the end: an exponential would make more of it.
        scores = jnp.matmul(query, keys, preferred_element_type=wide) * jnp.asarray(factor, wide)
    keep = None
    if is_causal:
        rows, cols = query.shape[-2], key_.shape[-2]
        keep = jnp.tril(jnp.ones((rows, cols), bool))
    if mask is not None:
        if mask.dtype == np.bool_:
            keep = mask if keep is None else keep & mask
        else:
            scores = scores + mask.astype(wide)
    if keep is not None:
        scores = jnp.where(keep, scores, -jnp.inf)
    top = jnp.max(scores, -1, keepdims=True, initial=-jnp.inf)  # there may be no keys
    top = jax.lax.stop_gradient(jnp.where(jnp.isfinite(top), top, 0))
    weights = jnp.exp(scores - top)
    total = jnp.sum(weights, -1, keepdims=True)
    weights = weights / jnp.where(total == 0, 1, total)
    if noise is not None:
        weights = weights * noise.astype(wide)
    return jnp.matmul(weights, value.astype(wide)).astype(dtype)


def _repeat_heads(query, x):
    groups = query.shape[-3] // x.shape[-3]
    if x.shape[-3] * groups != query.shape[-3]:
        raise RuntimeError(
            "Number of heads in key and value must divide the number of heads in query"
        )
    return jnp.repeat(x, groups, -3)
