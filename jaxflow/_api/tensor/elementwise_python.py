"""Python functions applied element by element on the host: slow, for setting tensors up."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from jaxflow._api.creation.host_arrays import put
from jaxflow._core.tensor import Tensor
from jaxflow._publish.composite import composite
from jaxflow._views.history import refreshed

from .core import host


def _apply(name: str, target: Tensor, others: tuple[Tensor, ...], fn: Callable) -> Tensor:
    if target._aval.device.type != "cpu":
        raise TypeError(f"{name} is only implemented on CPU tensors")
    if refreshed(target)._requires_grad:
        raise RuntimeError(
            f"Can't call {name}() on Variable that requires grad. Use var.detach().{name}() instead."
        )
    shape = target._aval.shape
    arrays = [np.broadcast_to(host(t), shape).reshape(-1).tolist() for t in (target, *others)]
    found = np.array([fn(*numbers) for numbers in zip(*arrays)], target._aval.dtype.np)
    return target.copy_(put(found.reshape(shape), target._aval.device))


@composite("method")
def apply_(self: Tensor, callable: Callable) -> Tensor:
    """Replace each element by what a Python function makes of it; not where the tensor requires grad."""
    return _apply("apply_", self, (), callable)


@composite("method")
def map_(self: Tensor, other: Tensor, callable: Callable) -> Tensor:
    """Replace each element by what a Python function makes of it and of that of ``other``, broadcast."""
    return _apply("map_", self, (other,), callable)


@composite("method")
def map2_(self: Tensor, x: Tensor, y: Tensor, callable: Callable) -> Tensor:
    """Replace each element by what a Python function makes of it and of those of ``x`` and ``y``."""
    return _apply("map2_", self, (x, y), callable)
