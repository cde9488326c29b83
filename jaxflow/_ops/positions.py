"""Strided layouts by position: where the elements of a view lie in the memory of its root."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
import numpy as np

from jaxflow._core import dtype as dtypes
from jaxflow._core import geometry

from . import _strided

if TYPE_CHECKING:
    from .views import Geometry, Step


def by_position(g: Geometry, step: Step) -> tuple[Callable, Callable]:
    """Read and write a strided view on its root's array, by where the elements lie in memory."""
    here, shown = (step.size, step.stride, step.offset), marks(g, step)
    root_here = (g.root_size, g.root_stride, g.root_offset)
    room = math.prod(g.root_size) if g.room is None else g.room

    # The bytes at the end that make no element of the view's dtype are none of its memory.
    used = capacity(g) * g.dtype.itemsize // g.root_dtype.itemsize

    def in_a_row(root):
        root = _marked(root, g.root_conj, g.root_neg)
        if _strided.is_whole(*root_here, room):
            return _strided.whole(root, g.root_stride)
        return _strided.write(jnp.zeros(room, root.dtype), root, *root_here)

    def to_memory(root):
        flat = in_a_row(root)
        return _memory_as(flat if used == room else flat[:used], g.dtype)

    def from_memory(memory, before):
        flat = _memory_as(memory, g.root_dtype)
        if used != room:
            flat = jnp.concatenate([flat, in_a_row(before)[used:]])
        if _strided.is_whole(*root_here, room):
            root = _strided.unflattened(flat, g.root_size, g.root_stride)
        else:
            root = _strided.read(flat, *root_here)
        return _marked(root, g.root_conj, g.root_neg)

    def read(root):
        return _marked(_strided.read(to_memory(root), *here), *shown)

    def write(root, new):
        return from_memory(_strided.write(to_memory(root), _marked(new, *shown), *here), root)

    return read, write


def directly(g: Geometry, step: Step) -> tuple[Callable, Callable]:
    """Read and write a strided view on its root's array, in one piece where it is one."""
    size, start, count = step.size, step.offset - g.root_offset, math.prod(step.size)
    plain = g.dtype is g.root_dtype and not (any(marks(g, step)) or g.root_conj or g.root_neg)
    if not (plain and g.room is None and step.stride == geometry.contiguous_strides(size)
            and g.root_stride == geometry.contiguous_strides(g.root_size)):
        return by_position(g, step)

    def read(root):
        return jax.lax.slice_in_dim(root.reshape(-1), start, start + count).reshape(size)

    def write(root, new):
        if not count:
            return root
        flat = jax.lax.dynamic_update_slice_in_dim(root.reshape(-1), new.reshape(-1), start, 0)
        return flat.reshape(root.shape)

    return read, write


def marks(g: Geometry, step: Step) -> tuple[bool, bool]:
    """Whether what a step shows is conjugated, and whether it is negated."""
    return g.conj if step.conj is None else step.conj, g.neg if step.neg is None else step.neg


def _marked(x, conj: bool, neg: bool):
    """Memory as it is shown; or what is shown as it lies in memory, for both are their own inverses."""
    x = jnp.conj(x) if conj else x
    return -x if neg else x


def capacity(g: Geometry) -> int:
    """How many elements of the view's dtype the root's memory has room for."""
    room = math.prod(g.root_size) if g.room is None else g.room
    return room * g.root_dtype.itemsize // g.dtype.itemsize


def _memory_as(flat, dtype: dtypes.dtype):
    """One-dimensional memory read as another dtype; differentiable between complex and real."""
    if flat.dtype == dtype.np:
        return flat
    if jnp.iscomplexobj(flat) and dtype.is_floating_point:
        return _memory_as(jnp.stack([flat.real, flat.imag], -1).reshape(-1), dtype)
    if dtype.is_complex and jnp.issubdtype(flat.dtype, np.floating):
        flat = _memory_as(flat, dtype.to_real())
        return jax.lax.complex(flat[::2], flat[1::2])
    count, several = flat.nbytes // dtype.itemsize, dtype.itemsize // flat.dtype.itemsize
    return bitcast(flat.reshape(count, several) if several > 1 else flat, dtype.np).reshape(count)


def repeats_itself(size: tuple[int, ...], stride: tuple[int, ...]) -> bool:
    """Whether two indices of this layout are (or, for a large and odd one, may be) one element."""
    if 0 in size:
        return False
    reach = 0
    for step, extent in sorted((s, n) for n, s in zip(size, stride, strict=True) if n > 1):
        if step == 0:
            return True
        if step <= reach:
            break
        reach += step * (extent - 1)
    else:
        return False
    if math.prod(size) > 1 << 20:
        return True
    at = _strided.positions(size, stride, 0)
    return np.unique(at).size < at.size


def bitcast(x, to):
    """``lax.bitcast_convert_type`` with bool and complex, which it does not take, as integers and pairs."""
    if x.dtype == np.bool_:
        x = x.astype(np.uint8)
    if jnp.issubdtype(x.dtype, np.complexfloating):
        x = jnp.stack([x.real, x.imag], -1)
        if jnp.issubdtype(to, np.complexfloating):
            x = _same_bits(x, np.dtype(f"float{np.dtype(to).itemsize * 4}"))
            return jax.lax.complex(x[..., 0], x[..., 1])
        if np.dtype(to).itemsize == 2 * x.dtype.itemsize:
            return _same_bits(x, to)
    if jnp.issubdtype(to, np.complexfloating):
        part = np.dtype(f"float{np.dtype(to).itemsize * 4}")
        if x.dtype.itemsize < part.itemsize:  # the items of both parts lie in one row
            x = x.reshape(*x.shape[:-1], 2, x.shape[-1] // 2)
        x = _same_bits(x, part)
        return jax.lax.complex(x[..., 0], x[..., 1])
    if to == np.bool_:
        return _same_bits(x, np.uint8) != 0
    return _same_bits(x, to)


def _same_bits(x, to):
    out = jax.lax.bitcast_convert_type(x, to)
    # Two of these in a row, of different item sizes, XLA would merge to one, and then refuse its shape.
    return jax.lax.optimization_barrier(out) if out.dtype.itemsize != x.dtype.itemsize else out
