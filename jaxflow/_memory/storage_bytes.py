"""The bytes of a whole storage, in the order that the strides of its tensors speak of."""

from __future__ import annotations

import numpy as np

from jaxflow._core.geometry import contiguous_strides
from jaxflow._core.shared import HostValue
from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.dispatch import plan_of
from jaxflow._views.chain import ViewPlan


def _span(root: ViewPlan) -> int:
    """How many elements the storage of these views spans, as its base shows it."""
    g = root.geometry
    return 0 if 0 in g.root_size else 1 + sum([(n - 1) * s for n, s in zip(g.root_size, g.root_stride)])


def shown_nbytes(root: ViewPlan) -> int:
    """How many bytes the base of a storage shows of it."""
    return _span(root) * root.aval.dtype.itemsize


def storage_nbytes(tensor: Tensor) -> int:
    """The size in bytes of a tensor's whole storage."""
    held = tensor._storage.value
    return held.memory.data.nbytes if held.__class__ is HostValue else shown_nbytes(plan_of(tensor).root)


def physical_bytes(tensor: Tensor) -> np.ndarray:
    """The bytes of a tensor's whole storage, which nobody writes to."""
    held = tensor._storage.value
    if held.__class__ is HostValue:
        return held.memory.data.copy()
    return in_order(held.host(), plan_of(tensor).root)


def in_order(array: np.ndarray, root: ViewPlan) -> np.ndarray:
    """The bytes of a storage whose base shows ``array``, in the order of its strides."""
    if not array.size:
        return np.empty(0, np.uint8)
    g = root.geometry
    shape, stride = tuple(g.root_size), tuple(g.root_stride)
    if stride != contiguous_strides(shape):
        flat = np.zeros(_span(root), array.dtype)
        strides = [s * array.itemsize for s in stride]
        np.lib.stride_tricks.as_strided(flat, shape, strides)[...] = array
        array = flat
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)
