"""Memory of a tensor given to NumPy: from then on its storage is host-shared.

See NOTE [Host-shared storages]. What is given out is a copy, which is the storage's memory from then on,
unless the tensor and all that belongs to it are gone when the call returns: NOTE [Asked of a temporary].
An array that only one Value refers to may lie in memory that others have as well: XLA reads NumPy's arrays
where they lie, and a result of the interpreter may be what it was given. No reference shows that, and whoever
wrote there would write to other tensors. Of what executables return it is known: NOTE [Memory of a result].
"""

from __future__ import annotations

import weakref
from sys import getrefcount

import jax
import numpy as np

from jaxflow._core.commit import Overtaken, at_epochs, commit_results, rows_called
from jaxflow._core.device import CPU
from jaxflow._core.shared import HostValue, Memory, convert
from jaxflow._core.tensor import Tensor
from jaxflow._core.value import SMALL, FixedStorage, Value
from jaxflow._dispatch.dispatch import plan_of
from jaxflow._exec import result_buffers
from jaxflow._views.chain import root_of

from .storage_bytes import shown_nbytes


class _Probe:
    """An object whose method returns how many references to the object it sees."""

    __slots__ = ()

    def references(self) -> int:
        """Of a temporary one less than of an object that a variable refers to."""
        return getrefcount(self)


def _of_temporary() -> int:
    kept = _Probe()
    found = _Probe().references()
    return found if found < kept.references() else 0


#: What `sys.getrefcount` says in a method that is called on a temporary; 0 where the interpreter does not
#: count what variables refer to, so that nothing is taken for one.
TEMPORARY = _of_temporary()


def copied_alone(t: Tensor) -> np.ndarray | None:
    """The elements of a temporary, where nobody else can reach its memory; else None.

    NOTE [Asked of a temporary]
        ``(x * w).sum().numpy()`` ends with an array and no tensor: no program can distinguish shared memory
        from a copy there, and a copy costs a fifth. So the caller, a method that is called on ``t``, takes a
        copy where it sees `TEMPORARY` references to ``t``. Others may have its storage (views, ``detach()``),
        and nodes the cell of its version: this is seen by the numbers of references to those. Where the
        references to its Value and to the array show that nobody needs these either, large memory is not even
        copied.
    """
    storage = t._storage
    held, cell = storage.value, storage.version
    if held.__class__ is not Value or held.aval.device is not CPU:
        return None
    view = t._view
    if view is not None and not (view.constant and view.plan is root_of(t._aval, t._stride)):
        return None  # not all of a storage, as ``detach()`` gives it
    elements = held.settled()
    of_view = view is not None and view.version is cell
    if isinstance(elements, jax.core.Tracer) or getrefcount(storage) > _HELD or (
            getrefcount(cell) > _HELD + of_view):
        return None
    if weakref.getweakrefcount(t) or weakref.getweakrefcount(storage):
        return None
    if elements.nbytes >= result_buffers.LARGE and not held.shared and (
            getrefcount(held) <= _HELD and getrefcount(elements) <= _HELD):
        if elements.__class__ is np.ndarray:
            own = elements if elements.flags.owndata and elements.flags.c_contiguous else None
        else:
            own = result_buffers.exclusive(elements)
        if own is not None:
            own.flags.writeable = True
            return own.view()
    return np.array(elements, order="C").view()  # PyTorch's array does not own its memory either


# Who refers to a storage, its cell, its Value and the array there: whose they are, the name, and the argument
# of ``getrefcount``.
_HELD = 3


def lend(t: Tensor, fixed: bool = False) -> np.ndarray | None:
    """An array that is one memory with ``t``; None for what has no memory of the host's.

    ``t`` shows its memory neither conjugated nor negated. If ``fixed``, its storage is never resized again.
    """
    plan, storage = plan_of(t), t._storage
    aval = plan.aval
    fixing = [(setattr, storage, "__class__", FixedStorage)] if fixed else []
    while True:
        epoch, held = storage.epoch, storage.value
        if held.__class__ is HostValue:
            memory = held.memory
            array = memory.shown(aval.shape, aval.dtype.np, plan.offset, plan.stride)
            try:
                # Who is about to make the storage an ordinary one finds it at another epoch.
                commit_results(at_epochs((storage,), (epoch,)), rows_called([
                    memory.lending(array), (setattr, storage, "epoch", epoch + 1), *fixing]))
            except Overtaken:
                continue
            return array
        if held.__class__ is not Value or held.aval.device is not CPU:
            return None
        held.shared = True  # before it is read: from now on nobody gives its memory away
        elements = held.settled()
        root, whole = plan.root, held.aval
        if elements.__class__ is np.ndarray and root.stride is None and elements.dtype.isbuiltin == 1:
            live = np.array(elements, order="C").view()  # no result of the interpreter may be this very array
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
        if convert(storage, HostValue(whole, live, memory), epoch, [memory.lending(array), *fixing]):
            return array
