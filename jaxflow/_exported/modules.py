"""A tree of modules without its classes: names, tensors, and attributes that are plain values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jaxflow.nn import Module

_PLAIN = (type(None), bool, int, float, str)


def tree_to_data(root: Module) -> list[dict]:
    """What an archive keeps of a module: a row for it and for each module in it, by dotted names."""
    return [
        {
            "path": path,
            "name": getattr(module, "original_name", None) or type(module).__name__,
            "training": module.training,
            "parameters": dict(module._parameters),
            "buffers": dict(module._buffers),
            "not_persistent": sorted(module._non_persistent_buffers_set),
            "children": [[name, None if child is None else _join(path, name)]
                         for name, child in module._modules.items()],
            "attributes": {name: x for of in (getattr(module, "_twin", module), module)
                           for name, x in of.__dict__.items()
                           if not name.startswith("_") and name != "training" and _is_plain(x)},
        }
        for path, module in root.named_modules(remove_duplicate=False)
    ]


def tree_from_data(rows: list[dict], make: Callable[[str], Module]) -> Module:
    """The tree of a file; ``make(name)`` makes an empty module in the place of one of the class ``name``."""
    made: dict[str, Module] = {}
    for row in rows:
        module = made[row["path"]] = make(row["name"])
        module.__dict__.update(row["attributes"])
        module.training = row["training"]
        module._parameters.update(row["parameters"])
        module._buffers.update(row["buffers"])
        module._non_persistent_buffers_set.update(row["not_persistent"])
    for row in rows:
        module = made[row["path"]]
        for name, path in row["children"]:
            module._modules[name] = None if path is None else made[path]
    return made[""]


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _is_plain(x: Any) -> bool:
    kind = x.__class__
    if kind in (list, tuple):
        return all(map(_is_plain, x))
    if kind is dict:
        return all(key.__class__ is str and _is_plain(item) for key, item in x.items())
    return kind in _PLAIN
