"""Memory of a tensor given to NumPy: from then on its storage is host-shared.

See NOTE [Host-shared storages]. A large array that nobody else refers to is given out as it is. Of a small
one, one that others refer to, and one whose strides are in another order, a copy is, which is the storage's
memory from then on.
"""

from __future__ import annotations

from sys import getrefcount

import jax
import numpy as np

from jaxflow._core.commit import Overtaken, at_epochs, commit_results, rows_called
from jaxflow._core.device import CPU
from jaxflow._core.shared import HostValue, Memory, convert
from jaxflow._core.tensor import Tensor
from jaxflow._core.value import SMALL, Storage, Value

from .door import plan_of
from .views import ViewPlan


def lend(t: Tensor) -> np.ndarray | None:
    """An array that is one memory with ``t``; None for what has no memory of the host's.

    ``t`` shows its memory neither conjugated nor negated.
    """
    plan, storage = plan_of(t), t._storage
    aval = plan.aval
    while True:
        epoch, held = storage.epoch, storage.value
        if held.__class__ is HostValue:
            memory = held.memory
            array = memory.shown(aval.shape, aval.dtype.np, plan.offset, plan.stride)
            try:
                # Who is about to make the storage an ordinary one finds it at another epoch.
                commit_results(at_epochs((storage,), (epoch,)), rows_called(
                    [memory.lend_row(array), (setattr, storage, "epoch", epoch + 1)]))
            except Overtaken:
                continue
            return array
        if held.__class__ is not Value or held.aval.device is not CPU:
            return None
        if isinstance(held.settled(), jax.core.Tracer):
            return None
        del held  # or it would count as one who refers to it
        _share(storage, plan.root)


def _share(storage: Storage, root: ViewPlan) -> None:
    """Make a storage host-shared, if nobody writes to it meanwhile; its Value is there."""
    epoch, held = storage.epoch, storage.value
    if held.__class__ is not Value or held.producer is not None:
        return
    aval = held.aval
    memory = None
    if aval.nbytes > _WORTH and root.stride is None and not held.shared and getrefcount(held) <= _OURS:
        array = held.array
        alone = isinstance(array, jax.Array) and getrefcount(array) <= _OURS
        if alone and len(array.sharding.device_set) == 1 and _nobody_reads():
            memory = Memory.within(array)
    if memory is None:
        memory = Memory.new(_span(root) * aval.dtype.itemsize)
        live = memory.shown(aval.shape, aval.dtype.np, 0, root.stride)
        live[...] = np.asarray(held.array)
    else:
        live = memory.shown(aval.shape, aval.dtype.np, 0, None)
    if aval.nbytes <= SMALL:
        memory.before = held
    memory.belongs_to(storage)
    convert(storage, HostValue(aval, live, memory), epoch)


# Fewer bytes are copied in less time than it takes to find out that nobody reads them.
_WORTH = 1 << 20

# What refers to a Value there: the storage, the name, and the argument of the question; an array likewise.
_OURS = 3


def _nobody_reads() -> bool:
    """Wait for the programs that XLA still runs, one of which may read what is about to be written to.

    Who has launched one can only see its results, or those of a program that needs them; they are waited
    for. False if one of them failed.
    """
    try:
        jax.block_until_ready(jax.live_arrays(CPU.type))
    except jax.errors.JaxRuntimeError:
        return False
    return True


def _span(root: ViewPlan) -> int:
    """How many elements a storage has, those between the ones that its base shows included."""
    shape = root.aval.shape
    if 0 in shape:
        return 0
    return root.aval.numel if root.stride is None else 1 + sum(
        [(n - 1) * s for n, s in zip(shape, root.stride)])
