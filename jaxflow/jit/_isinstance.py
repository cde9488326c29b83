"""``torch.jit.isinstance``: whether a value, with all that it contains, is of an annotated type."""

from __future__ import annotations

import builtins
import types
import typing
import warnings
from typing import Any

_CONTAINERS = (list, dict, tuple)


def isinstance(obj: Any, target_type: Any) -> bool:
    """Whether ``obj`` is of a type, where containers say what they contain.

    Args:
        obj: any value.
        target_type: a class, ``List[int]``, ``Dict[str, int]``, ``Tuple[int, str]``, ``Optional`` or a union
            of these, or a tuple of such types.

    Returns:
        True or False; an empty list or dict is of every type of list or dict.

    Raises:
        RuntimeError: for a container without the type of what it contains.

    Example:
        >>> from typing import Dict, List
        >>> torch.jit.isinstance([1, 2], List[int]), torch.jit.isinstance({"a": 1}, Dict[str, str])
        (True, False)
    """
    if builtins.isinstance(target_type, tuple):
        return any(isinstance(obj, one) for one in target_type)
    origin, parts = typing.get_origin(target_type), typing.get_args(target_type)
    if target_type in _CONTAINERS or (origin in _CONTAINERS and not parts):
        name = getattr(target_type, "_name", None) or getattr(target_type, "__name__", str(target_type))
        raise RuntimeError(f"Attempted to use {name} without a contained type. Please add a contained type, "
                           f"e.g. {name}[int]")
    if origin in (typing.Union, types.UnionType):
        return any(obj is None if one is type(None) else isinstance(obj, one) for one in parts)
    if origin not in _CONTAINERS:
        return builtins.isinstance(obj, origin or target_type)
    if not builtins.isinstance(obj, origin):
        return False
    if origin is tuple:
        return len(obj) == len(parts) and all(map(isinstance, obj, parts))
    if not obj:
        warnings.warn("The inner type of an empty container cannot be seen: an empty list or dict is taken "
                      f"for {target_type}", stacklevel=2)
    if origin is list:
        return all(isinstance(item, parts[0]) for item in obj)
    return all(isinstance(key, parts[0]) and isinstance(item, parts[1]) for key, item in obj.items())
