"""The order of elements along an axis, as stable index arrays: what every sorting op is made of.

NOTE [Sorting by packed keys]
    XLA on the CPU sorts pairs of arrays with a comparator several times slower than it sorts one array
    of integers. So an element of up to 32 bits is turned into an integer that sorts alike (nan last, 0 and
    -0 equal) and packed with its position into one int64: sorting these is stable without asking for it.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from ._support import is_bool, is_float


def _sortable(x):
    """``x`` of at most 32 bits as int32 (or narrower) keys in the same order."""
    if not is_float(x):
        return x.astype(np.int64)
    x = x.astype(np.float32)
    x = jnp.where(jnp.isnan(x), jnp.float32(jnp.nan), x + 0.0)
    bits = jax.lax.bitcast_convert_type(x, np.int32)
    return (bits ^ ((bits >> 31) & np.int32(0x7FFFFFFF))).astype(np.int64)


def argsort(x, axis: int, descending: bool = False):
    """The indices that sort ``x`` along ``axis``, stable; nan counts as largest; int64."""
    position = jax.lax.broadcasted_iota(np.int64, x.shape, axis)
    if x.dtype.itemsize <= 4:
        key = _sortable(x)
        # The complement turns the order round and leaves positions ascending: still stable.
        key = ~key if descending else key
        packed = jax.lax.sort((key << 32) | position, dimension=axis, is_stable=False)
        return packed & 0xFFFFFFFF
    if descending:
        # Reversed twice, so that ties keep their order.
        turned = (jnp.flip(x, axis), jnp.flip(position, axis))
        order = jax.lax.sort(turned, dimension=axis, num_keys=1, is_stable=True)[1]
        return jnp.flip(order, axis)
    return jax.lax.sort((x, position), dimension=axis, num_keys=1, is_stable=True)[1]


def orderable(x):
    """Bools as integers, which ``argmax`` and ``sort`` take."""
    return x.astype(np.uint8) if is_bool(x) else x
