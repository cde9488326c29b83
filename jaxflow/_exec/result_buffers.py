"""Large arrays that executables made: memory that nobody else has, as long as nobody refers to them.

NOTE [Memory of a result]
    A result of an executable lies in memory of its own: XLA copies arguments and constants that are results,
    and results that are equal. A view that NumPy has of it refers to it, so its count of references shows it.
    What shows in none is a second jax array of the same buffer, which ``jax.device_put`` makes: those are
    among the arrays that are alive. An array that jax made of NumPy's memory is none of these results.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Iterable, Sequence
from contextlib import suppress

import jax
import numpy as np

from jaxflow._core import flags
from jaxflow._core.shared import window

#: From so many bytes on, noting that an executable made an array costs less than the copy it may save.
LARGE = 1 << 20

_results: weakref.WeakValueDictionary[int, jax.Array] = weakref.WeakValueDictionary()


def large(results: Sequence) -> tuple[int, ...]:
    """Which of these (shapes and dtypes) an executable is to `register`."""
    return tuple(i for i, x in enumerate(results) if np.dtype(x.dtype).isbuiltin == 1
                 and math.prod(x.shape) * x.dtype.itemsize >= LARGE)


def register(arrays: Sequence, numbers: Iterable[int]) -> None:
    """Note that an executable returned ``arrays``; ``numbers`` are those of the large ones."""
    for i in numbers:
        _results[id(arrays[i])] = arrays[i]


def exclusive(array: jax.Array) -> np.ndarray | None:
    """The memory of an array that only the caller refers to, to be written to from now on; else None."""
    if _results.get(id(array)) is not array or flags.ASYNC:  # a program may be reading it
        return None
    address, shape, dtype = array.unsafe_buffer_pointer(), array.shape, array.dtype
    for other in jax.live_arrays():
        if other is not array and other.nbytes == array.nbytes and _lies_at(other, address):
            return None
    # Also where programs run at the call, one whose large input is still copied goes on beside Python. It
    # may be computing this array or reading it, and what it computes is among the arrays that are alive.
    for other in jax.live_arrays():
        with suppress(RuntimeError):  # it failed, which who reads it hears, or is gone meanwhile
            other.block_until_ready()
    return window(address, array.nbytes, array).view(dtype).reshape(shape)


def _lies_at(array: jax.Array, address: int) -> bool:
    try:
        return array.unsafe_buffer_pointer() == address
    except (RuntimeError, ValueError):  # it lies on several devices, or is gone meanwhile
        return True
