"""Between tensors and NumPy arrays on the host, without an operation in between."""

from __future__ import annotations

import jax
import numpy as np

from jaxflow._core.aval import aval_of
from jaxflow._core.device import CPU, resolve
from jaxflow._core.dtype import dtype as DType
from jaxflow._core.dtype import from_numpy_dtype
from jaxflow._core.tensor import Tensor, make
from jaxflow._core.value import Value
from jaxflow._dispatch.door import value_of


def from_host(array: np.ndarray, dtype: DType | None = None) -> Tensor:
    """A CPU tensor of ``array``'s values; the array must not be written to afterwards."""
    aval = aval_of(array.shape, dtype or from_numpy_dtype(array.dtype), CPU)
    return make(Value(aval, jax.device_put(array, resolve(CPU)[1])))


def known_on_host(t: Tensor) -> np.ndarray | None:
    """The values of a CPU tensor, to be read only; None if a program still owes them."""
    if t._aval.device is not CPU:
        return None
    value = value_of(t)
    if value.place is not None or isinstance(value.array, jax.core.Tracer):
        return None
    return np.asarray(value.array)
