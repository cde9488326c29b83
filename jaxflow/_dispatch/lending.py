"""Memory of a tensor given to NumPy: from then on its storage is host-shared.

See NOTE [Host-shared storages]. What is given out is always a copy, which is the storage's memory from then
on. An array that only one Value refers to may lie in memory that others have as well: XLA reads NumPy's
arrays where they lie, and a result of the interpreter may be what it was given. No reference shows that, and
whoever wrote there would write to other tensors.
"""

from __future__ import annotations

import jax
import numpy as np

from jaxflow._core.commit import Overtaken, at_epochs, commit_results, rows_called
from jaxflow._core.device import CPU
from jaxflow._core.shared import HostValue, Memory, convert
from jaxflow._core.tensor import Tensor
from jaxflow._core.value import SMALL, Storage, Value

from .door import plan_of
from .storage_bytes import shown_nbytes
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
        _share(storage, plan.root)


def _share(storage: Storage, root: ViewPlan) -> None:
    """Make a storage host-shared, if nobody writes to it meanwhile; its Value is there."""
    epoch, held = storage.epoch, storage.value
    if held.__class__ is not Value or held.producer is not None:
        return
    aval = held.aval
    memory = Memory.new(shown_nbytes(root), storage)
    live = memory.shown(aval.shape, aval.dtype.np, 0, root.stride)
    live[...] = np.asarray(held.array)
    if aval.nbytes <= SMALL:
        memory.before = held
    convert(storage, HostValue(aval, live, memory), epoch)
