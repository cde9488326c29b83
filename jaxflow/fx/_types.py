"""How annotations are written: in printed graphs, and in generated code."""

from __future__ import annotations

import re
import types
import typing
from typing import Any

from ._names import PACKAGE, is_from_torch, qualified_name

_SHORT = {"float": "f", "bfloat": "bf", "int": "i", "uint": "u", "complex": "c", "bool": "b8"}


def shorthand(meta: Any) -> str:
    """Dtype and shape of a tensor: ``f32[2, 3]``."""
    name = str(meta.dtype).removeprefix("torch.")
    letters = name.rstrip("0123456789")
    short = _SHORT.get(letters)
    dtype = name if short is None else short + name.removeprefix(letters)
    return f"{dtype}{list(meta.shape)}"


def type_repr(obj: Any) -> str:
    """A type as printed graphs show it: ``int``, ``torch.Tensor``, ``typing.List[int]``."""
    if isinstance(obj, type) and typing.get_origin(obj) is None:
        if obj.__module__ == "builtins":
            return obj.__qualname__
        return qualified_name(obj) if is_from_torch(obj) else f"{obj.__module__}.{obj.__qualname__}"
    if obj is ...:
        return "..."
    if isinstance(obj, types.FunctionType):
        return obj.__name__
    return re.sub(rf"\b{PACKAGE}\.(_core\.tensor\.)?", "torch.", repr(obj))
