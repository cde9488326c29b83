"""Sliding windows: what convolutions, pools and ``unfold`` share."""

from __future__ import annotations

import itertools

import jax
import jax.numpy as jnp


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
