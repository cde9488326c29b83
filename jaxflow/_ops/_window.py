"""Sliding windows: what convolutions, pools and ``unfold`` share."""

from __future__ import annotations

import functools
import itertools

import jax
import jax.numpy as jnp
import numpy as np


def taps(kernel):
    """Every offset inside a window, in row-major order."""
    return itertools.product(*map(range, kernel))


def shifted(x, tap, dilation, stride, out, at=None):
    """What one position of the window sees at every output: a strided slice of the spatial dimensions.

    ``x`` is padded already; ``out`` holds the output sizes. Spatial dimensions begin at ``at`` (default: they
    are the last ones).
    """
    at = x.ndim - len(tap) if at is None else at
    start, stop, step = [0] * x.ndim, list(x.shape), [1] * x.ndim
    for axis, (k, d, n, s) in enumerate(zip(tap, dilation, out, stride), at):
        start[axis], stop[axis], step[axis] = k * d, k * d + (n - 1) * s + 1, s
    return jax.lax.slice(x, start, stop, step)


# More slices than this, and one windowed sum compiles sooner.
_MOST_SLICES = 16


def window_sums(x, axis, kernel, stride, padding, out):
    """Sums of ``out`` windows along one dimension, zeros around it.

    Each element is added to the sums of its own windows only. A product with a matrix of zeros and ones is
    not that: zero times an infinity or nan is nan, and would spoil every window.
    """
    beyond = max(0, (out - 1) * stride + kernel - x.shape[axis] - padding)
    if kernel <= _MOST_SLICES:
        x = pad_at(x, [(padding, beyond)], 0, axis)
        seen = (shifted(x, (k,), (1,), (stride,), (out,), axis) for k in range(kernel))
        return functools.reduce(jnp.add, seen)
    one = [1] * x.ndim
    sizes, steps, pads = list(one), list(one), [(0, 0)] * x.ndim
    sizes[axis], steps[axis], pads[axis] = kernel, stride, (padding, beyond)
    zero = np.zeros((), x.dtype)
    sums = jax.lax.reduce_window(x, zero, jax.lax.add, sizes, steps, pads)
    return jax.lax.slice_in_dim(sums, 0, out, axis=axis)


def weighted_sums(x, axis, positions, weights, counted=None):
    """At each place along a dimension the sum of the elements at ``positions`` times ``weights``.

    Args:
        positions: ``(new, taps)``.
        weights: ``(new, taps)``.
        counted: ``(new, taps)``, which of these are part of the sum; those that are not may be infinite or
            nan and leave no trace, unlike what has the weight 0.
    """
    shape = (1,) * axis + (len(positions),) + (1,) * (x.ndim - axis - 1)
    total = None
    for k in range(positions.shape[1]):
        part = jnp.take(x, jnp.asarray(positions[:, k]), axis=axis, mode="clip")
        if counted is not None and not (isinstance(counted, np.ndarray) and counted[:, k].all()):
            part = jnp.where(jnp.asarray(counted[:, k]).reshape(shape), part, 0)
        part = part * jnp.asarray(weights[:, k]).reshape(shape).astype(x.dtype)
        total = part if total is None else total + part
    return total


def pad_last(x, pairs, value):
    """``x`` with ``(before, after)`` elements around its last dimensions; negative pairs crop."""
    return pad_at(x, pairs, value, x.ndim - len(pairs))


def pad_at(x, pairs, value, at):
    """``x`` with ``(before, after)`` elements around its dimensions from ``at`` on; negative pairs crop."""
    if not any(map(any, pairs)):
        return x
    config = [(0, 0, 0)] * x.ndim
    config[at : at + len(pairs)] = [(a, b, 0) for a, b in pairs]
    return jax.lax.pad(x, jnp.asarray(value, x.dtype), config)


def channels_last(x):
    """``(N, C, ...)`` as ``(N, ..., C)``; see NOTE [Channels last inside] in `conv`."""
    return jnp.moveaxis(x, 1, -1)


def channels_first(x):
    """``(N, ..., C)`` as ``(N, C, ...)``."""
    return jnp.moveaxis(x, -1, 1)
