"""Layers as functions of arrays; what was tried on the CPU and did not pay is not here.

The input's gradient of a convolution as a forward one with the flipped kernel: as quick as jax's own.
"""

import functools

import jax
import jax.numpy as jnp
from jax.experimental.xla_metadata import set_xla_metadata


def linear(x, p, name):
    """``x @ weight.T + bias``, leading dimensions flattened: XLA's CPU back end fuses 2-D products better."""
    y = x.reshape(-1, x.shape[-1]) @ p[name + ".weight"].T
    if name + ".bias" in p:
        y = y + p[name + ".bias"]
    return y.reshape(*x.shape[:-1], y.shape[-1])


def layer_norm(x, p, name, eps=1e-5):
    mean = x.mean(-1, keepdims=True)
    variance = jnp.square(x - mean).mean(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(variance + eps) * p[name + ".weight"] + p[name + ".bias"]


def cross_entropy(logits, targets):
    logits, targets = logits.reshape(-1, logits.shape[-1]), targets.reshape(-1, 1)
    logits = logits.astype(jnp.float32)
    picked = jnp.take_along_axis(logits, targets, axis=-1)[:, 0]
    return (jax.nn.logsumexp(logits, axis=-1) - picked).mean()


# ----- pictures, NHWC -----------------------------------------------------------------------------


def convolve(x, kernel, stride, padding):
    return jax.lax.conv_general_dilated(
        x, kernel, (stride, stride), [(padding, padding)] * 2, dimension_numbers=("NHWC", "HWIO", "NHWC")
    )


def materialized(x):
    """A call that may not be inlined, in which XLA's CPU back end fuses nothing."""
    with set_xla_metadata(inlineable="false"):
        return jax.jit(_same)(x)


def _same(x):
    return x


@functools.partial(jax.custom_vjp, nondiff_argnums=(2, 3))
def convolution(x, kernel, stride=1, padding=1):
    """`kernel` as HWIO. Its gradient reads the finished input, not what made it, computed again."""
    return convolve(x, kernel, stride, padding)


def _convolution_forward(x, kernel, stride, padding):
    return convolve(x, kernel, stride, padding), (x, kernel)


def _convolution_backward(stride, padding, kept, g):
    x, kernel = kept
    done = materialized(x)
    of_kernel = jax.vjp(lambda kernel: convolve(done, kernel, stride, padding), kernel)[1](g)[0]
    return jax.vjp(lambda x: convolve(x, kernel, stride, padding), x)[1](g)[0], of_kernel


convolution.defvjp(_convolution_forward, _convolution_backward)


@jax.custom_vjp
def max_pool(x):
    """2 x 2, as the maximum of the four strided slices; the gradient goes to the first that has it."""
    top = jnp.maximum(x[:, ::2, ::2], x[:, ::2, 1::2])
    return jnp.maximum(top, jnp.maximum(x[:, 1::2, ::2], x[:, 1::2, 1::2]))


def _max_pool_forward(x):
    y = max_pool(x)
    return y, (x, y)


def _max_pool_backward(kept, g):
    (x, y), parts = kept, []
    left = jnp.ones(y.shape, bool)
    for row in (0, 1):
        for column in (0, 1):
            hit = (x[:, row::2, column::2] == y) & left
            left = left & ~hit
            parts.append(jnp.where(hit, g, 0))
    batch, height, width, channels = y.shape
    rows = [jnp.stack(pair, 3).reshape(batch, height, 2 * width, channels) for pair in (parts[:2], parts[2:])]
    return (jnp.stack(rows, 2).reshape(x.shape),)


max_pool.defvjp(_max_pool_forward, _max_pool_backward)


@jax.custom_vjp
def normalised(x, weight, bias, eps):
    """Batch norm over all but the last dimension; also the batch's mean and variance."""
    return _normalised_forward(x, weight, bias, eps)[0]


def _normalised_forward(x, weight, bias, eps):
    axes = tuple(range(x.ndim - 1))
    mean = x.mean(axes)
    variance = jnp.square(x - mean).mean(axes)
    scale = jax.lax.rsqrt(variance + eps)
    y = (x - mean) * (scale * weight) + bias
    return (y, mean, variance), (x, mean, scale, weight)


def _normalised_backward(kept, gs):
    """Ioffe and Szegedy (2015), section 3; the statistics themselves are given no gradient."""
    x, mean, scale, weight = kept
    g, axes = gs[0], tuple(range(x.ndim - 1))
    count = x.size // x.shape[-1]
    standard = (x - mean) * scale
    of_bias = g.sum(axes)
    of_weight = (g * standard).sum(axes)
    of_x = (scale * weight) * (g - of_bias / count - standard * (of_weight / count))
    return of_x, of_weight, of_bias, None


normalised.defvjp(_normalised_forward, _normalised_backward)


def batch_norm(x, p, buffers, new, name, train, momentum=0.1, eps=1e-5):
    """PyTorch's: statistics of the batch in training, running ones otherwise; updates go into `new`."""
    weight, bias = p[name + ".weight"], p[name + ".bias"]
    mean, variance = buffers[name]
    if not train:
        return (x - mean) * (jax.lax.rsqrt(variance + eps) * weight) + bias
    y, batch_mean, batch_variance = normalised(x, weight, bias, eps)
    count = x.size // x.shape[-1]
    unbiased = batch_variance * (count / (count - 1))
    new[name] = (
        (1 - momentum) * mean + momentum * batch_mean,
        (1 - momentum) * variance + momentum * unbiased,
    )
    return y
