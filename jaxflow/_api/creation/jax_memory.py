"""Memory of jax's arrays, which others may read and nobody may write to."""

from __future__ import annotations

import jax
import numpy as np

from jaxflow._core.device import CPU
from jaxflow._core.shared import SHARED, HostValue


def is_jaxs(array: np.ndarray) -> bool:
    """Whether a NumPy array that may not be written to lies in the memory of a jax array."""
    if array.flags.writeable:
        return False
    address = array.__array_interface__["data"][0]
    for storage in SHARED.storages():
        value = storage.value
        if value.__class__ is HostValue:
            data = value.memory.data
            if _lies_in(address, data.__array_interface__["data"][0], data.nbytes):
                return False  # what was a jax array's is a tensor's
    for whole in jax.live_arrays(CPU.type):
        try:
            parts = [shard.data for shard in whole.addressable_shards] if whole.is_ready() else ()
            if any(_lies_in(address, part.unsafe_buffer_pointer(), part.nbytes) for part in parts):
                return True
        except jax.errors.JaxRuntimeError:  # what failed has no memory
            continue
    return False


def _lies_in(address: int, start: int, nbytes: int) -> bool:
    return start <= address < start + nbytes
