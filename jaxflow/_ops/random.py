"""Random draws. Each op takes the key that its Generator's seed and offset make."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np

from jaxflow._core.dtype import INTEGER
from jaxflow._plans.op import Scalar, op

from ._support import as_dtype, wide


def _float_kind(dtype):
    """What a float draw is made in: float32 for halves, else the dtype itself."""
    return np.dtype(np.float32) if dtype.itemsize < 4 else dtype.np


@op(name="_uniform", variants="", differentiable=False, random=True)
def uniform(*, size, dtype, device, low: Scalar = 0.0, high: Scalar = 1.0, key):
    """Numbers from [low, high), evenly spread; of complex ones both parts are."""
    if dtype.is_complex:
        real = dtype.to_real()
        parts = _stretched(jax.random.uniform(key, (2, *size), real.np), low, high, real)
        return jax.lax.complex(parts[0], parts[1])
    return _stretched(jax.random.uniform(key, size, _float_kind(dtype)), low, high, dtype)


def _stretched(drawn, low, high, dtype):
    """A draw from [0, 1) stretched to [low, high), without what rounding would make ``high``."""
    if isinstance(low, float) and isinstance(high, float) and (low, high) == (0.0, 1.0):
        if drawn.dtype == dtype.np:
            return drawn
    else:
        low, high = jnp.asarray(low, drawn.dtype), jnp.asarray(high, drawn.dtype)
        drawn = drawn * (high - low) + low
    low, high = (as_dtype(jnp.asarray(bound), dtype) for bound in (low, high))
    return jnp.minimum(as_dtype(drawn, dtype), jnp.nextafter(high, low))  # which is ``low`` if they are equal


@op(name="_normal", variants="", differentiable=False, random=True)
def normal(*, size, dtype, device, mean: Scalar = 0.0, std: Scalar = 1.0, key):
    """Normal numbers; both parts of complex ones have the mean, and half of the variance."""
    if dtype.is_complex:
        drawn = jax.random.normal(key, size, dtype.np)
    else:
        drawn = jax.random.normal(key, size, _float_kind(dtype))
    if not (isinstance(mean, float) and isinstance(std, float)):
        centre = jnp.asarray(mean).astype(drawn.real.dtype)
        centre = jax.lax.complex(centre, centre) if dtype.is_complex else centre
        drawn = drawn * jnp.asarray(std).astype(drawn.dtype) + centre
    return as_dtype(drawn, dtype)


@op(name="_cauchy", variants="", differentiable=False, random=True)
def cauchy(*, size, dtype, device, median: Scalar, sigma: Scalar, key):
    """Cauchy numbers around ``median``, of scale ``sigma``: the tangent of an angle evenly spread."""
    kind = _float_kind(dtype)
    angle = np.pi * (jax.random.uniform(key, size, kind) - 0.5)
    return as_dtype(jnp.asarray(median, kind) + jnp.asarray(sigma, kind) * jnp.tan(angle), dtype)


@op(name="_log_normal", variants="", differentiable=False, random=True)
def log_normal(*, size, dtype, device, mean: Scalar, std: Scalar, key):
    """Numbers whose logarithms are normal, of that mean and deviation."""
    kind = _float_kind(dtype)
    drawn = jax.random.normal(key, size, kind)
    return as_dtype(jnp.exp(drawn * jnp.asarray(std, kind) + jnp.asarray(mean, kind)), dtype)


@op(name="_geometric", variants="", differentiable=False, random=True)
def geometric(*, size, dtype, device, p: Scalar, key):
    """How many trials of chance ``p`` it takes to the first success, by inversion; 1 at least."""
    drawn = 1 - jax.random.uniform(key, size, np.float64)  # from (0, 1]
    count = jnp.maximum(jnp.ceil(jnp.log(drawn) / jnp.log1p(-jnp.asarray(p, np.float64))), 1)
    if dtype.category == INTEGER:
        count = count.astype(np.int64)  # so that a small type keeps the lower bits of what it cannot hold
    return as_dtype(count, dtype)


@op(name="_normal_of", broadcast=True, layout="contiguous", variants="", differentiable=False, random=True)
def normal_of(mean, std, /, *, dtype, key):
    """Normal numbers whose mean and deviation are tensors that broadcast together."""
    kind = _float_kind(dtype)
    shape = jnp.broadcast_shapes(mean.shape, std.shape)
    drawn = jax.random.normal(key, shape, kind) * as_dtype(std, kind) + as_dtype(mean, kind)
    return as_dtype(drawn, dtype)


@op(name="_randint", variants="", differentiable=False, random=True)
def randint(*, size, dtype, device, low: Scalar, high: Scalar, endless=False, key):
    """Integers from low to high - 1, or to the largest int64 if ``endless``."""
    low = low.astype(np.int64)
    high = jnp.asarray(1 << 63, np.uint64) if endless else high.astype(np.int64)
    drawn = jax.random.randint(key, size, low, high, np.int64)
    return as_dtype(drawn, dtype)


@op(name="_randperm", variants="", differentiable=False, random=True)
def randperm(*, n, dtype, device, key):
    """The numbers 0 to n - 1 in random order."""
    return as_dtype(jax.random.permutation(key, n), dtype)


@op(name="_bernoulli", variants="", differentiable=False, random=True)
def bernoulli(p, /, *, dtype, key):
    """1 with probability ``p`` (element by element), else 0."""
    kind = np.float64 if p.dtype == np.float64 else np.float32
    return as_dtype(jax.random.uniform(key, p.shape, kind) < p.astype(kind), dtype)


@op(name="_coins", variants="", differentiable=False, random=True)
def coins(*, size, dtype, device, p: Scalar, key):
    """1 with probability ``p``, else 0."""
    return as_dtype(jax.random.uniform(key, size, np.float32) < jnp.asarray(p, np.float32), dtype)


@op(name="_exponential", variants="", differentiable=False, random=True)
def exponential(*, size, dtype, device, lambd: Scalar = 1.0, key):
    """Exponential numbers of rate ``lambd``, all positive."""
    drawn = jax.random.exponential(key, size, _float_kind(dtype))
    # A draw of 0 stands for all below the next one: here is their middle.
    drawn = jnp.maximum(drawn, jnp.finfo(drawn.dtype).eps / 2)
    return as_dtype(drawn / jnp.asarray(lambd, drawn.dtype), dtype)


@op(name="_multinomial", variants="", differentiable=False, random=True)
def multinomial(input, /, *, num_samples, replacement, key):
    """Indices drawn with probability proportional to the (last dimension of the) input.

    One is the largest of ``log p`` and Gumbel noise, several without replacement are the largest (Vieira
    2014). Several with replacement are found by inversion: where evenly spread numbers fall among the
    running sums.
    """
    if replacement and num_samples > 1:
        sums = jnp.cumsum(input.astype(np.float64), -1)
        at = jax.random.uniform(key, (*input.shape[:-1], num_samples), np.float64) * sums[..., -1:]
        find = functools.partial(jnp.searchsorted, side="right")
        return (jax.vmap(find) if input.ndim > 1 else find)(sums, at).astype(np.int64)
    logits = jnp.log(wide(input))
    noisy = logits + jax.random.gumbel(key, logits.shape, logits.dtype)
    if num_samples == 1:  # the first of the largest, as top_k has it, without a sort
        return jnp.argmax(noisy, -1, keepdims=True).astype(np.int64)
    return jax.lax.top_k(noisy, num_samples)[1].astype(np.int64)


@op(name="_drawn", variants="", grad_name=lambda numbers, node: node, saves="none")
def drawn(input, values, /, node: str):
    """``values``: what was drawn into ``input``, or from it, so that its history ends there.

    The gradient of ``input`` is 0; the result's ``grad_fn`` is called ``node``.
    """
    return values
