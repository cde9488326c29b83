"""Memory of bools that is written to as numbers of another type.

NOTE [Bools as bytes]
    An array of bools holds 0 and 1, in XLA and in NumPy. PyTorch's memory of a bool tensor holds whatever
    was written there: ``mask.view(torch.uint8).add_(1)`` leaves bytes of 2, which the view shows, and the
    bools read as True. So the storage of bools that is written to through a view of another type becomes a
    host-shared one for good, whose memory holds any byte: NOTE [Host-shared storages].
"""

from __future__ import annotations

import jax
import numpy as np

from jaxflow._core.device import CPU
from jaxflow._core.dtype import bool as bool_
from jaxflow._core.shared import HostValue, Memory, convert
from jaxflow._core.tensor import Tensor
from jaxflow._core.value import Value

from .storage_bytes import physical_bytes


class _Bytes(Memory):
    """The memory of bools some of whose bytes may be neither 0 nor 1."""

    __slots__ = ()

    def reachable(self) -> bool:
        """Always: an array of bools could not hold them, whoever else reaches them."""
        return True


def needs_bytes(t: Tensor) -> bool:
    """Whether a write to a view may leave bytes in an ordinary storage of bools that are neither 0 nor 1."""
    storage, shown = t._storage, t._view.plan
    return (shown.root.aval.dtype is bool_ and shown.aval.dtype is not bool_
            and storage.value.__class__ is not HostValue and storage.value.aval.device.type != "meta")


def hold_bytes(t: Tensor) -> None:
    """Make the storage of ``t``, of which `needs_bytes` is true, a host-shared one; no tensor changes.

    NotImplementedError where there is no memory on the host: on another device, and while jax traces.
    """
    storage, plan = t._storage, t._view.plan.root
    epoch, held = storage.epoch, storage.value
    if held.__class__ is HostValue:
        return
    on_host = held.__class__ is Value and held.aval.device is CPU
    if not on_host or isinstance(held.settled(), jax.core.Tracer):
        raise NotImplementedError(
            f"memory of bools is written to as {t._aval.dtype}: an array of bools holds 0 and 1 only, on "
            "accelerators and inside jax.jit, vmap and their like. Write to a copy (clone()) of the view, or "
            "make the memory as numbers and view those as bools")
    aval = plan.aval
    held.shared = True  # before it is read: from now on nobody gives its memory away
    found = physical_bytes(t)
    memory = _Bytes.new(found.nbytes, storage)
    memory.data[...] = found
    live = memory.shown(aval.shape, np.dtype(np.bool_), 0, plan.stride)
    convert(storage, HostValue(aval, live, memory), epoch)
