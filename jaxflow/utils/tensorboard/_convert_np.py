"""From tensors and numbers to arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from jaxflow._api.tensor.core import host
from jaxflow._core import dtype as dtypes
from jaxflow._core.tensor import Tensor


def make_np(x: Any) -> np.ndarray:
    """An array of the elements of an array, a tensor or a number, to be read only.

    Args:
        x: what it is made of; a number becomes an array of shape ``(1,)``, and bfloat16 becomes float16.

    Returns:
        The array.

    Raises:
        NotImplementedError: for another object, or a tensor without elements on the device ``meta``.
    """
    if isinstance(x, np.ndarray):
        return x
    if np.isscalar(x):
        return np.array([x])
    if not isinstance(x, Tensor):
        raise NotImplementedError(f"Got {type(x)}, but numpy array or torch tensor are expected.")
    if x.device.type == "meta":
        raise NotImplementedError("Got a tensor on the device 'meta', which has no elements to write down.")
    return host(x.detach().to(dtypes.float16) if x.dtype is dtypes.bfloat16 else x.detach())
