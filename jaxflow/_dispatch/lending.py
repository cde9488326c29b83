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
from jaxflow._core.value import SMALL, Value

from .door import plan_of
from .storage_bytes import shown_nbytes


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
                    [(setattr, memory, "lent", memory.lend(array)), (setattr, storage, "epoch", epoch + 1)]))
            except Overtaken:
                continue
            return array
        if held.__class__ is not Value or held.aval.device is not CPU:
            return None
        held.shared = True  # before it is read: from now on nobody gives its memory away
        elements = held.settled()
        root, whole = plan.root, held.aval
        if elements.__class__ is np.ndarray and root.stride is None and elements.dtype.isbuiltin == 1:
            live = np.array(elements, order="C")
            memory = Memory(live, storage)
        elif isinstance(elements, jax.core.Tracer):
            return None
        else:
            memory = Memory.new(whole.nbytes if root.stride is None else shown_nbytes(root), storage)
            live = memory.shown(whole.shape, whole.dtype.np, 0, root.stride)
            live[...] = np.asarray(elements)
        if live.nbytes <= SMALL:
            memory.before = held
        array = memory.shown(aval.shape, aval.dtype.np, plan.offset, plan.stride)
        memory.lent = memory.lend(array)
        if convert(storage, HostValue(whole, live, memory), epoch):
            return array
