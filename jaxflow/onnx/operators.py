"""Functions that exporters replace, and that programs call in their place."""

from __future__ import annotations

from jaxflow._core.tensor import Tensor
from jaxflow._functions import _shape_as_tensor


def shape_as_tensor(x: Tensor) -> Tensor:
    """The sizes of a tensor, as a tensor of int64."""
    return _shape_as_tensor(x)


def reshape_from_tensor_shape(x: Tensor, shape: Tensor) -> Tensor:
    """``x`` in the shape that a tensor holds."""
    return x.reshape(shape.tolist())
