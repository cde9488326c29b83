"""Overlapping pieces of a signal, and their sum.

With ``parts`` steps to a frame, frame ``t`` consists of the chunks ``t .. t + parts - 1`` of a step's length.
The table of chunks by part and frame is the signal's chunks once for each part, sheared: reading the rows one
element longer than they are moves each by one against the last. So neither direction gathers or scatters.
"""

from __future__ import annotations

from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np

from jaxflow._core.geometry import Ints, strides_like
from jaxflow._plans.op import Operand, op

from ._support import is_complex


def _resized(x, axis: int, length: int):
    if x.shape[axis] >= length:
        return x[(slice(None),) * axis + (slice(0, length),)]
    pads = [(0, 0)] * x.ndim
    pads[axis] = (0, length - x.shape[axis])
    return jnp.pad(x, pads)


def _framed(operands: Sequence[Operand], shape: Ints, *, size, step) -> Ints:
    """In the order of the strides of PyTorch's frames, which are a view."""
    batch, along = operands[0].stride
    return strides_like(shape, (shape, (batch, step * along, along)))


@op(variants="", saves="none", grad_name="UnfoldBackward0", layout=_framed)
def _frames(input, /, size, step):
    """``(batch, length)`` as ``(batch, frames, size)``: each frame ``step`` after the one before."""
    batch, length = input.shape
    count, parts = 1 + (length - size) // step, -(-size // step)
    chunks = count + parts - 1
    x = _resized(input, 1, chunks * step).reshape(batch, 1, chunks, step)
    x = jnp.broadcast_to(x, (batch, parts, chunks, step)).reshape(batch, parts * chunks, step)
    x = _resized(x, 1, parts * (chunks + 1)).reshape(batch, parts, chunks + 1, step)[:, :, :count]
    return jnp.swapaxes(x, 1, 2).reshape(batch, count, parts * step)[:, :, :size]


@op(promote="default", broadcast=False, variants="", grad_name="MulBackward0", layout="like")
def _windowed(frames, window, /):
    """Frames times a window; the window's gradient, a sum over all of them, is added up in double precision.

    What there is to add has both signs and cancels. The product itself is that of single precision, and no
    array of doubles is made: the conversions become part of the operations around them.
    """
    wide = np.complex128 if is_complex(frames) else np.float64
    return (frames.astype(wide) * window.astype(wide)).astype(frames.dtype)


@op(variants="", saves="none", grad_name="UnfoldBackwardBackward0")
def _overlap_add(frames, /, step):
    """``(batch, frames, size)``, each ``step`` after the one before, added up: ``(batch, length)``."""
    batch, count, size = frames.shape
    parts = -(-size // step)
    chunks = count + parts - 1
    x = _resized(frames, 2, parts * step).reshape(batch, count, parts, step)
    x = _resized(jnp.swapaxes(x, 1, 2), 2, chunks + 1).reshape(batch, parts * (chunks + 1), step)
    x = x[:, : parts * chunks].reshape(batch, parts, chunks, step).sum(1)
    return x.reshape(batch, chunks * step)[:, : (count - 1) * step + size]
