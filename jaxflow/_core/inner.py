"""Which modules are the library's own: all of them, and the packages beneath its public functions."""

from __future__ import annotations

from typing import Any

PACKAGES = ("jaxflow._random.", "jaxflow._core.", "jaxflow._plans.", "jaxflow._ops.", "jaxflow._transforms.",
            "jaxflow._shapes.", "jaxflow._exec.", "jaxflow._views.", "jaxflow._dispatch.", "jaxflow._memory.",
            "jaxflow._writes.", "jaxflow._publish.")

#: Classes and functions whose ``__module__`` is PyTorch's by now (see `jaxflow.as_torch`): what it was.
FORMER: dict[Any, str] = {}


def module_of(x: Any) -> str:
    """The name of the module in which a class or function was made, whatever it is called by now."""
    if FORMER and type(x).__hash__ is not None:  # a class is no key where its metaclass compares it
        return FORMER.get(x) or x.__module__
    return x.__module__


def name_of_module(space: dict) -> str:
    """The name under which a module was imported, by its namespace; its ``__name__`` may be PyTorch's."""
    spec = space.get("__spec__")
    return space.get("__name__", "") if spec is None else spec.name
