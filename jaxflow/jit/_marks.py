"""What programs write for TorchScript's compiler: decorators and annotations, which change nothing here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple
from typing import Final as Final


class Attribute(NamedTuple):
    """A value with its type, for scripted code. Attributes of modules are their values."""

    value: Any
    type: Any


def is_scripting() -> bool:
    """False: scripted functions run as Python, so they take the branch that Python takes."""
    return False


def annotate(the_type: Any, the_value: Any) -> Any:
    """``the_value``."""
    return the_value


def ignore(drop: Any = False, **kwargs: Any) -> Any:
    """A decorator, with or without arguments, that leaves its function as it is.

    Raises:
        RuntimeError: for an argument that is neither a bool nor a function.
    """
    if callable(drop):
        return drop
    if not isinstance(drop, bool):
        raise RuntimeError(f"Argument to @torch.jit.ignore must be a bool or a function but got {drop}")
    return unused


def unused(fn: Callable) -> Callable:
    """``fn`` itself."""
    return fn


def export(fn: Callable) -> Callable:
    """``fn`` itself, a method that an archive has a program of once it was traced (`trace_module`)."""
    return fn


script_method = script_if_tracing = _script_if_tracing = unused


def _overload_method(func: Callable) -> Callable:
    """``func`` itself."""
    return func


_overload = _overload_method


def interface(obj: type) -> type:
    """``obj`` itself. RuntimeError for what is no class."""
    if not isinstance(obj, type):
        raise RuntimeError("interface must be applied to a class")
    return obj
