"""The name PyTorch's messages give the type of an object."""

from __future__ import annotations

from typing import Any

from jaxflow._core.tensor import Tensor
from jaxflow._publish.composite import composite


@composite("function")
def typename(obj: Any, /) -> str:
    """``"torch.FloatTensor"`` for tensors, else the qualified name of the type."""
    if isinstance(obj, Tensor):
        place = obj._aval.device.type
        return f"torch.{'' if place == 'cpu' else place + '.'}{obj._aval.dtype.scalar_name}Tensor"
    named = obj if hasattr(obj, "__qualname__") else type(obj)
    module = getattr(named, "__module__", None)
    plain = module in (None, "", "builtins", "__builtin__")
    return named.__qualname__ if plain else f"{module}.{named.__qualname__}"
