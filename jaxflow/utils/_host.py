"""Between tensors and NumPy arrays on the host, without an operation in between."""

from __future__ import annotations

import numpy as np

from jaxflow._core.aval import aval_of
from jaxflow._core.device import CPU
from jaxflow._core.dtype import dtype as DType
from jaxflow._core.dtype import from_numpy_dtype
from jaxflow._core.tensor import Tensor, make
from jaxflow._core.value import Value, host_array


def from_host(array: np.ndarray, dtype: DType | None = None) -> Tensor:
    """A CPU tensor of ``array``'s values; the array must not be written to afterwards."""
    aval = aval_of(array.shape, dtype or from_numpy_dtype(array.dtype), CPU)
    return make(Value(aval, host_array(array)))
