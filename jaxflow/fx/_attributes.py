"""Attributes of modules by their path."""

from __future__ import annotations

from typing import Any

from jaxflow._core.tensor import Tensor
from jaxflow.nn.modules.module import Module
from jaxflow.nn.parameter import Parameter


def _get_attr(model: Any, attr_name: str) -> Any:
    """The attribute at a path."""
    found = model
    for part in attr_name.split("."):
        found = getattr(found, part)
    return found


def _has_attr(model: Any, attr_name: str) -> bool:
    """Whether there is an attribute at a path."""
    found = model
    for part in attr_name.split("."):
        if not hasattr(found, part):
            return False
        found = getattr(found, part)
    return True


def _del_attr(model: Any, attr_name: str) -> None:
    """Delete the attribute at a path."""
    where, _, name = attr_name.rpartition(".")
    delattr(_get_attr(model, where) if where else model, name)


def _assign_attr(from_obj: Any, to_module: Module, target: str) -> None:
    """Set the attribute at a path, with modules on the way; a tensor becomes a buffer."""
    *way, name = target.split(".")
    for part in way:
        inner = getattr(to_module, part, None)
        if inner is None:
            inner = Module()
            setattr(to_module, part, inner)
        to_module = inner
    if isinstance(from_obj, Tensor) and not isinstance(from_obj, Parameter):
        to_module.register_buffer(name, from_obj)
    else:
        setattr(to_module, name, from_obj)


def _copy_attr(from_module: Module, to_module: Module, target: str) -> None:
    """Set the attribute at a path to another module's; one that is a module already stays as it is."""
    way, _, name = target.rpartition(".")
    found = _get_attr(from_module, way) if way else from_module
    held = _get_attr(to_module, way) if way and _has_attr(to_module, way) else None if way else to_module
    value = getattr(found, name)
    if held is not None and isinstance(held.__dict__.get("_modules", {}).get(name), Module):
        return
    _assign_attr(value, to_module, target)
