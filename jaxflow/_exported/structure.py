"""Containers of tensors as plain data: what a program takes and returns, without the tensors.

A structure is ``"tensor"``, ``["is", value]`` for what is no tensor, or ``[kind, items, ...]`` for a
container. Archives hold structures, so they are made of lists, strings and numbers alone.
"""

from __future__ import annotations

import collections
from collections.abc import Iterator
from typing import Any

from jaxflow import return_types
from jaxflow._core.dtype import dtype
from jaxflow._core.size import Size
from jaxflow._core.tensor import Tensor

_VALUES = (type(None), bool, int, float, complex, str, dtype)
_KEYS = (str, int, float, bool)


def flatten(x: Any, where: str) -> tuple[list[Tensor], Any]:
    """The tensors in ``x``, in order, and its structure.

    Raises:
        TypeError: for what is neither a tensor, a container nor a plain value, with where it was found.
    """
    tensors: list[Tensor] = []
    return tensors, _structure(x, tensors, where)


def _structure(x: Any, tensors: list[Tensor], where: str) -> Any:
    if isinstance(x, Tensor):
        tensors.append(x)
        return "tensor"
    kind = x.__class__
    if kind in _VALUES:
        return ["is", x]
    if kind in (dict, collections.OrderedDict) and all(key.__class__ in _KEYS for key in x):
        return [kind.__name__, [_structure(item, tensors, f"{where}[{key!r}]") for key, item in x.items()],
                list(x)]
    if isinstance(x, (list, tuple)):
        items = [_structure(item, tensors, f"{where}[{i}]") for i, item in enumerate(x)]
        if kind in (list, tuple, Size):
            return [kind.__name__, items]
        if getattr(return_types, kind.__name__, None) is kind:
            return ["return_type", items, kind.__name__]
        if hasattr(x, "_fields"):
            return ["namedtuple", items, kind.__name__, list(x._fields)]
    raise TypeError(
        f"{where} is a {kind.__module__}.{kind.__qualname__}: the program of a module takes and returns "
        "tensors, plain values, and tuples, lists and dicts of them"
    )


def rebuilt(structure: Any, tensors: Iterator) -> Any:
    """What had this structure, with the next of ``tensors`` in each place of one."""
    if structure == "tensor":
        return next(tensors)
    kind, items, *rest = structure
    if kind == "is":
        return items
    items = [rebuilt(item, tensors) for item in items]
    if kind == "list":
        return items
    if kind in ("dict", "OrderedDict"):
        pairs = zip(rest[0], items, strict=True)
        return dict(pairs) if kind == "dict" else collections.OrderedDict(pairs)
    if kind == "namedtuple":
        return collections.namedtuple(rest[0], rest[1])(*items)
    if kind == "return_type":
        return getattr(return_types, rest[0])(*items)
    return tuple(items) if kind == "tuple" else Size(items)


def shown(structure: Any) -> str:
    """A structure as an error says it: ``(tensor, [tensor, 3])``."""
    if structure == "tensor":
        return "tensor"
    kind, items, *rest = structure
    if kind == "is":
        return repr(items)
    parts = [shown(item) for item in items]
    if kind in ("dict", "OrderedDict"):
        return "{" + ", ".join(f"{key!r}: {part}" for key, part in zip(rest[0], parts, strict=True)) + "}"
    text = ", ".join(parts)
    return f"[{text}]" if kind == "list" else f"({text}{',' if len(parts) == 1 else ''})"
