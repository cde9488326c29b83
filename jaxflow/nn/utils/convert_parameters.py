"""All parameters of a model as one vector, and back."""

from __future__ import annotations

from collections.abc import Iterable

from jaxflow import _functions as functions
from jaxflow._core.tensor import Tensor


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """The elements of all parameters, one after the other, as a vector with gradients.

    Raises:
        TypeError: when they are on different devices.
    """
    device = None
    parts = []
    for parameter in parameters:
        device = _same_device(parameter, device)
        parts.append(parameter.view(-1))
    return functions.cat(parts)


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Let each parameter show its part of a vector, in order, sharing its memory.

    Raises:
        TypeError: when ``vec`` is no tensor, or the parameters are on different devices.
    """
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {functions.typename(vec)}")
    device = None
    start = 0
    for parameter in parameters:
        device = _same_device(parameter, device)
        end = start + parameter.numel()
        parameter.data = vec[start:end].view_as(parameter).data
        start = end


def _same_device(parameter: Tensor, device: object) -> object:
    if device is not None and parameter.device != device:
        raise TypeError(
            "Found two parameters on different devices, this is currently not supported."
        )
    return parameter.device
