"""Operations on memory that others may write to: NOTE [Host-shared storages]."""

from __future__ import annotations

import numpy as np

from jaxflow._core import dtype as dtypes
from jaxflow._core.aval import aval_of
from jaxflow._core.device import CPU
from jaxflow._core.geometry import contiguous_strides, is_non_overlapping_and_dense
from jaxflow._core.shared import HostValue, Memory, note
from jaxflow._core.tensor import Tensor, ViewInfo, make, make_view
from jaxflow._core.value import FixedStorage

from .chain import ViewPlan, root_of


def shown_of(base: HostValue, plan: ViewPlan) -> HostValue | None:
    """What a view of a host-shared storage shows, in the same memory; None where no strides say that."""
    about = plan.first or plan  # siblings differ in where they start alone
    g = about.geometry
    if g.conj or g.neg or g.root_conj or g.root_neg:
        return None
    aval, memory = plan.aval, base.memory
    return HostValue(aval, memory.shown(aval.shape, aval.dtype.np, plan.offset, plan.stride), memory)


def tensor_of(array: np.ndarray, dtype: dtypes.dtype, watched: bool = True) -> Tensor:
    """A tensor that is one memory with ``array``, whose strides lead from element to element.

    Not ``watched``, its storage stays host-shared whoever refers to the array: see `Memory.at`.
    """
    shape, size, about = array.shape, array.itemsize, array.flags
    in_a_row = about.c_contiguous and about.writeable and array.size and dtype.np.isbuiltin == 1
    if in_a_row and 1 not in shape:  # else what a stride says of that is its own affair
        return _base_of(Memory.of(array, watched), shape, dtype, None)
    stride = tuple([s // size for s in array.strides])
    span = 0 if 0 in shape else 1 + sum([(n - 1) * s for n, s in zip(shape, stride)])
    memory = Memory.of(array, watched) if in_a_row else Memory.at(
        array.__array_interface__["data"][0], span * size, array, watched=watched)
    if 0 in shape or is_non_overlapping_and_dense(shape, stride):
        t = _base_of(memory, shape, dtype, stride)
        if stride != contiguous_strides(shape):
            t._stride = stride
        return t
    # There are elements in between, or the same ones several times: all there is in a row, seen by strides.
    whole = _base_of(memory, (span,), dtype, (1,))
    plan = root_of(whole._aval, None).child("as_strided", (shape, stride, 0))
    info = ViewInfo(plan, None, None, whole._storage.version)
    return make_view(whole._storage, plan.aval, plan.stride, info)


def _base_of(memory: Memory, shape: tuple, dtype: dtypes.dtype, stride: tuple) -> Tensor:
    aval = aval_of(shape, dtype, CPU)
    t = make(HostValue(aval, memory.shown(shape, dtype.np, 0, stride), memory))
    note(t._storage, memory)
    t._storage.__class__ = FixedStorage
    return t
