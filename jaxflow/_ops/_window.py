"""Sliding windows: what convolutions, pools and ``unfold`` share."""

from __future__ import annotations

import itertools

import jax
import jax.numpy as jnp
from jax.experimental.xla_metadata import set_xla_metadata

from jaxflow._core.cast import cast


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


def _same(x):
    return x.reshape(-1).reshape(x.shape)  # jax forwards a plain argument past the call


def materialized(x):
    """``x``, as an array that XLA does not compute again inside the operations that read it.

    An optimization barrier is gone before the CPU's compiler fuses operations; a call that may not be inlined
    is not.
    """
    with set_xla_metadata(inlineable="false"):
        return jax.jit(_same)(x)


def not_before(x, other):
    """``x``, which XLA must take for another value, that it cannot know before ``other`` is there.

    An ``optimization_barrier`` alone is gone on the CPU before XLA looks for what is computed twice. A
    predicate behind one stays unknown, and so does which of the two it selects. The gradient is ``x``'s.
    """
    if not other.size:
        return x
    never = jax.lax.optimization_barrier(jnp.zeros((), bool))
    return jnp.where(never, jax.lax.stop_gradient(cast(other.reshape(-1)[0], x.dtype)), x)


def on_cpu() -> bool:
    """Whether to use what was measured on the CPU; elsewhere XLA has kernels for everything."""
    return jax.default_backend() == "cpu"
