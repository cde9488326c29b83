"""Between tensors and NumPy arrays on the host, without an operation in between."""

from __future__ import annotations

import jax
import numpy as np

from jaxflow._core.aval import aval_of
from jaxflow._core.device import CPU
from jaxflow._core.dtype import dtype as DType
from jaxflow._core.dtype import from_numpy_dtype
from jaxflow._core.geometry import contiguous_strides
from jaxflow._core.tensor import Tensor, make
from jaxflow._core.value import Value, host_array
from jaxflow._dispatch.views import is_marked


def from_host(array: np.ndarray, dtype: DType | None = None) -> Tensor:
    """A CPU tensor of ``array``'s values; the array must not be written to afterwards."""
    aval = aval_of(array.shape, dtype or from_numpy_dtype(array.dtype), CPU)
    return make(Value(aval, host_array(array)))


def known_on_host(t: Tensor) -> np.ndarray | None:
    """The values of a CPU tensor, to be read only; None where reading them takes an operation."""
    if t._aval.device is not CPU:
        return None
    value = t._storage.value
    if value.producer is not None or isinstance(value.array, jax.core.Tracer):
        return None
    base = np.asarray(value.settled())
    if t._view is None:
        return base
    shown = t._view.plan.geometry
    if shown.dtype is not value.aval.dtype or is_marked(t) or (
        tuple(shown.root_stride) != contiguous_strides(value.aval.shape)
    ):
        return None
    if 0 in shown.size:
        return np.empty(shown.size, base.dtype)
    item = base.itemsize
    flat = np.ascontiguousarray(base).reshape(-1).view(np.uint8)
    return np.ndarray(
        shown.size, base.dtype, flat, shown.offset * item, [s * item for s in shown.stride]
    )
