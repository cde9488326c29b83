"""Sliding windows: what convolutions, pools and ``unfold`` share."""

from __future__ import annotations

import itertools

import jax
import jax.numpy as jnp


def taps(kernel):
    """Every offset inside a window, in row-major order."""
    return itertools.product(*map(range, kernel))


def shifted(x, tap, dilation, stride, out):
    """What one position of the window sees at every output: a strided slice of the last dimensions.

    ``x`` is padded already; ``out`` holds the output sizes.
    """
    lead = x.ndim - len(tap)
    start = [0] * lead + [k * d for k, d in zip(tap, dilation)]
    stop = list(x.shape[:lead]) + [
        k * d + (n - 1) * s + 1 for k, d, n, s in zip(tap, dilation, out, stride)
    ]
    return jax.lax.slice(x, start, stop, [1] * lead + list(stride))


def pad_last(x, pairs, value):
    """``x`` with ``(before, after)`` elements around its last dimensions; negative pairs crop."""
    if not any(map(any, pairs)):
        return x
    config = [(0, 0, 0)] * (x.ndim - len(pairs)) + [(a, b, 0) for a, b in pairs]
    return jax.lax.pad(x, jnp.asarray(value, x.dtype), config)


def on_cpu() -> bool:
    """Whether to use what was measured on the CPU; elsewhere XLA has kernels for everything."""
    return jax.default_backend() == "cpu"
