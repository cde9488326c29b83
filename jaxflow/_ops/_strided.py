"""Strided layouts of flat memory: read from it and written to it with as little work as the strides allow.

NOTE [Layouts that nest]
    Where the elements of all faster dimensions lie between two neighbours of a slower one, memory is cut into
    blocks of the slower stride, each block into blocks of the next, and the first element of the last ones
    is what the layout shows: slices and reshapes, for any size. A dimension of stride 0 only repeats what is
    there. Layouts whose windows overlap need a table with the position of each element, which is made
    when they are read or written, never when the view is made: a file of a kilobyte can describe a view of
    any size.
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np

from jaxflow._core import geometry


def positions(size, stride, offset) -> np.ndarray:
    """Where in memory each element lies."""
    at = np.asarray(offset)
    for extent, step in zip(size, stride, strict=True):
        at = at[..., None] + np.arange(extent) * step
    return at.reshape(size)


def read(flat, size, stride, offset):
    """What a layout shows of flat memory."""
    if math.prod(size) == 0:
        return jnp.zeros(size, flat.dtype)
    kept, nested = _kept(size, stride)
    if nested:
        order = sorted(kept, key=lambda d: -stride[d])
        shown = jax.lax.slice_in_dim(flat, offset, flat.shape[0])
        for d in order:
            shown = _blocks(shown, size[d], stride[d])
        shown = jax.lax.index_in_dim(shown, 0, -1, keepdims=False)
        shown = jnp.transpose(shown, [order.index(d) for d in kept])
    else:
        shown = flat[positions([size[d] for d in kept], [stride[d] for d in kept], offset)]
    return jax.lax.broadcast_in_dim(shown, tuple(size), tuple(kept))


def write(flat, new, size, stride, offset):
    """Flat memory with what a layout shows replaced; of elements that are one in memory the last counts."""
    if math.prod(size) == 0:
        return flat
    kept, nested = _kept(size, stride)
    for d in range(len(size) - 1, -1, -1):
        if d not in kept:
            new = jax.lax.index_in_dim(new, size[d] - 1, d, keepdims=False)
    if not nested:
        return flat.at[positions([size[d] for d in kept], [stride[d] for d in kept], offset)].set(new)
    order = sorted(kept, key=lambda d: -stride[d])
    new = jnp.transpose(new, [kept.index(d) for d in order])
    before = jax.lax.slice_in_dim(flat, 0, offset)
    rest = jax.lax.slice_in_dim(flat, offset, flat.shape[0])
    rest = _replaced(rest, [(size[d], stride[d]) for d in order], new)
    return jax.lax.concatenate([before, rest], 0)


def shared(x, room: int, size, stride, offset):
    """Flat memory of ``room`` elements with what a layout shows, which may show one element many times.

    All that show an element have an equal share of its gradient, as in PyTorch.
    """
    repeated = tuple(d for d in range(len(size)) if size[d] > 1 and stride[d] == 0)
    sizes, strides = ([v for d, v in enumerate(values) if d not in repeated] for values in (size, stride))

    @jax.custom_jvp
    def put(x):
        return write(jnp.zeros(room, x.dtype), x, size, stride, offset)

    @put.defjvp
    def tangent(primals, tangents):
        mean = tangents[0].mean(repeated)
        zeros = jnp.zeros(room, mean.dtype)
        if _kept(sizes, strides)[1]:
            return put(*primals), write(zeros, mean, sizes, strides, offset)
        at = positions(sizes, strides, offset)
        count = np.bincount(at.ravel())[at]
        return put(*primals), zeros.at[at].add(mean / count.astype(mean.dtype))

    return put(x)


def whole(array, stride):
    """The flat memory that an array of this dense layout is all of."""
    order = sorted(range(array.ndim), key=lambda d: -stride[d])
    return jnp.transpose(array, order).reshape(-1)


def unflattened(flat, size, stride):
    """The array of this dense layout whose memory is all of ``flat``."""
    order = sorted(range(len(size)), key=lambda d: -stride[d])
    inverse = [order.index(d) for d in range(len(size))]
    return jnp.transpose(flat.reshape([size[d] for d in order]), inverse)


def is_whole(size, stride, offset, room) -> bool:
    """Whether a layout shows all elements of memory with this room, each once."""
    return offset == 0 and math.prod(size) == room and geometry.is_non_overlapping_and_dense(size, stride)


def _kept(size, stride) -> tuple[list[int], bool]:
    """The dimensions along which memory changes, and whether they nest: NOTE [Layouts that nest]."""
    kept = [d for d in range(len(size)) if size[d] > 1 and stride[d] > 0]
    span = 1
    for d in sorted(kept, key=lambda d: stride[d]):
        if stride[d] < span:
            return kept, False
        span += (size[d] - 1) * stride[d]
    return kept, True


def _blocks(x, count: int, step: int):
    """The last axis as ``count`` blocks of ``step`` elements, made up with zeros where it ends too early."""
    length = x.shape[-1]
    if length < count * step:
        zero = jnp.zeros((), x.dtype)
        x = jax.lax.pad(x, zero, [*((0, 0, 0),) * (x.ndim - 1), (0, count * step - length, 0)])
    else:
        x = jax.lax.slice_in_dim(x, 0, count * step, axis=-1)
    return x.reshape(*x.shape[:-1], count, step)


def _replaced(x, dims: list[tuple[int, int]], new):
    """``x`` with what the layout ``dims``, slowest first, shows of its last axis replaced by ``new``."""
    length = x.shape[-1]
    if not dims:
        rest = jax.lax.slice_in_dim(x, 1, length, axis=-1)
        return jax.lax.concatenate([new[..., None], rest], x.ndim - 1)
    count, step = dims[0]
    blocks = _replaced(_blocks(x, count, step), dims[1:], new)
    blocks = blocks.reshape(*x.shape[:-1], count * step)
    if length <= count * step:
        return jax.lax.slice_in_dim(blocks, 0, length, axis=-1)
    rest = jax.lax.slice_in_dim(x, count * step, length, axis=-1)
    return jax.lax.concatenate([blocks, rest], x.ndim - 1)
