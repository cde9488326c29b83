"""Random draws. Each op takes the key that its Generator's seed and offset make."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from jaxflow._dispatch.op import Scalar, op

from ._support import as_dtype, wide


def _float_kind(dtype):
    """What a float draw is made in: float32 for halves, else the dtype itself."""
    return np.dtype(np.float32) if dtype.itemsize < 4 else dtype.np


@op(name="_uniform", variants="", differentiable=False, random=True)
def uniform(*, size, dtype, device, low: Scalar = 0.0, high: Scalar = 1.0, key):
    """Numbers from [low, high), evenly spread."""
    kind = _float_kind(dtype)
    drawn = jax.random.uniform(key, size, kind)
    return as_dtype(low_high(drawn, low, high), dtype)


def low_high(drawn, low, high):
    """A draw from [0, 1) stretched to [low, high)."""
    if isinstance(low, float) and isinstance(high, float) and low == 0.0 and high == 1.0:
        return drawn
    low, high = jnp.asarray(low, drawn.dtype), jnp.asarray(high, drawn.dtype)
    return drawn * (high - low) + low


@op(name="_normal", variants="", differentiable=False, random=True)
def normal(*, size, dtype, device, mean: Scalar = 0.0, std: Scalar = 1.0, key):
    """Normal numbers; complex ones have their variance shared by both parts."""
    if dtype.is_complex:
        drawn = jax.random.normal(key, size, dtype.np)
    else:
        drawn = jax.random.normal(key, size, _float_kind(dtype))
    if not (isinstance(mean, float) and isinstance(std, float)):
        drawn = drawn * jnp.asarray(std).astype(drawn.dtype) + jnp.asarray(mean).astype(drawn.dtype)
    return as_dtype(drawn, dtype)


@op(name="_normal_of", variants="", differentiable=False, random=True)
def normal_of(mean, std, /, *, dtype, key):
    """Normal numbers whose mean and deviation are tensors that broadcast together."""
    kind = _float_kind(dtype)
    shape = jnp.broadcast_shapes(mean.shape, std.shape)
    drawn = jax.random.normal(key, shape, kind) * as_dtype(std, kind) + as_dtype(mean, kind)
    return as_dtype(drawn, dtype)


@op(name="_randint", variants="", differentiable=False, random=True)
def randint(*, size, dtype, device, low: Scalar, high: Scalar, key):
    """Integers from low to high - 1."""
    drawn = jax.random.randint(key, size, low.astype(np.int64), high.astype(np.int64), np.int64)
    return as_dtype(drawn, dtype)


@op(name="_randperm", variants="", differentiable=False, random=True)
def randperm(*, n, dtype, device, key):
    """The numbers 0 to n - 1 in random order."""
    return as_dtype(jax.random.permutation(key, n), dtype)


@op(name="_bernoulli", variants="", differentiable=False, random=True)
def bernoulli(p, /, *, dtype, key):
    """1 with probability ``p`` (element by element), else 0."""
    return as_dtype(jax.random.uniform(key, p.shape, np.float32) < wide(p).astype(np.float32), dtype)


@op(name="_exponential", variants="", differentiable=False, random=True)
def exponential(*, size, dtype, device, lambd: Scalar = 1.0, key):
    """Exponential numbers of rate ``lambd``."""
    drawn = jax.random.exponential(key, size, _float_kind(dtype))
    return as_dtype(drawn / jnp.asarray(lambd, drawn.dtype), dtype)


@op(name="_multinomial", variants="", differentiable=False, random=True)
def multinomial(input, /, *, num_samples, replacement, key):
    """Indices drawn with probability proportional to the (last dimension of the) input.

    Without replacement by the Gumbel top-k trick (Vieira 2014): the largest of ``log p + Gumbel`` noise.
    """
    logits = jnp.log(wide(input))
    if replacement:
        shape = (*input.shape[:-1], num_samples)
        return jax.random.categorical(key, logits[..., None, :], -1, shape=shape).astype(np.int64)
    noisy = logits + jax.random.gumbel(key, logits.shape, logits.dtype)
    if num_samples == 1:  # the first of the largest, as top_k has it, without a sort
        return jnp.argmax(noisy, -1, keepdims=True).astype(np.int64)
    return jax.lax.top_k(noisy, num_samples)[1].astype(np.int64)


def _fill_name(numbers, kind: str) -> str:
    return {"randint": "Random"}.get(kind, kind.capitalize()) + "Backward0"


@op(name="_drawn", variants="", grad_name=_fill_name, saves="none")
def drawn(input, values, /, kind: str):
    """``values``: what a random fill of ``input`` writes, so that its old history ends there."""
    return values
