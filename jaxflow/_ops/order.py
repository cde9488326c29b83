"""The order of elements along an axis, as stable index arrays: what every sorting op is made of.

NOTE [Sorting by packed keys]
    XLA on the CPU sorts pairs of arrays with a comparator several times slower than it sorts one array of
    integers. So an element of up to 32 bits is turned into an integer that sorts alike (nan last, 0 and
    -0 equal) and packed with its position into one int64: sorting these is stable without asking for it.
    Wider elements are sorted twice that way, by their lower half and then, in that order, by their upper one.
    The integers are made of the bits alone: XLA takes ``x + 0`` for ``x``, also where it would turn -0 into
    0, and its comparisons of numbers take the smallest ones for 0.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from ._support import is_bool, is_float
from ._xla import on_cpu


def _sortable(x):
    """``x`` as int32 or int64 keys in the same order; nan last, 0 and -0 equal."""
    wide = x.dtype.itemsize > 4
    key = np.dtype(np.int64 if wide else np.int32)
    lowest = jnp.iinfo(key).min
    if not is_float(x):
        if x.dtype in (np.uint32, np.uint64):
            return jax.lax.bitcast_convert_type(x, key) ^ lowest
        return x.astype(key)
    kind = np.dtype(np.float64 if wide else np.float32)
    infinity = np.array(np.inf, kind).view(key)
    bits = jax.lax.bitcast_convert_type(x.astype(kind), key)
    size = bits & jnp.iinfo(key).max
    bits = jnp.where(size == 0, 0, jnp.where(size > infinity, infinity + 1, bits))
    return _turned(bits)


def _turned(bits):
    """The bits of floating numbers as integers in the same order, or such integers as bits."""
    return bits ^ ((bits >> (bits.dtype.itemsize * 8 - 1)) & jnp.iinfo(bits.dtype).max)


def _order(key, axis):
    """The stable order of int64 keys of which only 32 bits are used."""
    position = jax.lax.broadcasted_iota(np.int64, key.shape, axis)
    packed = jax.lax.sort((key << 32) | position, dimension=axis, is_stable=False)
    return packed & 0xFFFFFFFF


def argsort(x, axis: int, descending: bool = False):
    """The indices that sort ``x`` along ``axis``, stable; nan counts as largest; int64."""
    if x.dtype.itemsize <= 4 or on_cpu():
        key = _sortable(x)
        # The complement turns the order round and leaves positions ascending: still stable.
        key = ~key if descending else key
        if key.dtype == np.int32:
            return _order(key.astype(np.int64), axis)
        first = _order((key & 0xFFFFFFFF) - (1 << 31), axis)
        second = _order(jnp.take_along_axis(key >> 32, first, axis), axis)
        return jnp.take_along_axis(first, second, axis)
    position = jax.lax.broadcasted_iota(np.int64, x.shape, axis)
    if descending:
        # Reversed twice, so that ties keep their order.
        turned = (jnp.flip(x, axis), jnp.flip(position, axis))
        order = jax.lax.sort(turned, dimension=axis, num_keys=1, is_stable=True)[1]
        return jnp.flip(order, axis)
    return jax.lax.sort((x, position), dimension=axis, num_keys=1, is_stable=True)[1]


def first_few(x, axis: int, k: int, largest: bool):
    """The first ``k`` of `argsort`, from the largest element or from the smallest."""
    if not on_cpu() or x.dtype.itemsize > 4 or k == 0 or k > x.shape[axis] // 8:
        return jax.lax.slice_in_dim(argsort(x, axis, largest), 0, k, axis=axis)
    # XLA's kernel for the CPU supports float32 alone. It compares bits, so any 32 of them will do, and takes
    # the earlier of two equal ones. Beyond some part of the elements a whole sort is quicker.
    key = _sortable(x)
    bits = _turned(key if largest else ~key)
    floats = jnp.moveaxis(jax.lax.bitcast_convert_type(bits, np.float32), axis, -1)
    return jnp.moveaxis(jax.lax.top_k(floats, k)[1].astype(np.int64), -1, axis)


def orderable(x):
    """Bools as integers, which ``argmax`` and ``sort`` take."""
    return x.astype(np.uint8) if is_bool(x) else x
