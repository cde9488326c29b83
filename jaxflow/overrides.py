"""What takes over public functions: ``__torch_function__`` of classes and modes, and how to find it.

Subclasses of Tensor have a ``__torch_function__`` that keeps their class in results. A class of its own with
one is recognised by operations (``add``, ``cat``) from the first call on; by functions made of others
(``mean``, ``reshape``) once a subclass was made, a mode was entered or a first such call was made.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

from jaxflow._core.tensor import Tensor
from jaxflow._publish import overrides as _overriding
from jaxflow._publish.overrides import TorchFunctionMode as TorchFunctionMode
from jaxflow._publish.overrides import handle as _handle
from jaxflow._publish.overrides import name_of as _name_of
from jaxflow._publish.overrides import unwrapped as get_default_nowrap_functions

__all__ = [
    "TorchFunctionMode", "get_default_nowrap_functions", "get_overridable_functions",
    "handle_torch_function", "has_torch_function", "is_tensor_like", "is_tensor_method_or_property",
    "resolve_name", "wrap_torch_function",
]


def has_torch_function(relevant_args: Iterable[Any]) -> bool:
    """Whether one of the arguments, or a mode that was entered, overrides functions."""
    return _overriding.in_mode() or bool(_overriding.found_in(relevant_args))


def has_torch_function_unary(x: Any) -> bool:
    """`has_torch_function` of one argument."""
    return has_torch_function((x,))


def has_torch_function_variadic(*args: Any) -> bool:
    """`has_torch_function` of several arguments."""
    return has_torch_function(args)


def handle_torch_function(public_api: Callable, relevant_args: Iterable[Any], *args: Any,
                          **kwargs: Any) -> Any:
    """What the mode, or the argument, that overrides ``public_api`` makes of a call with these arguments.

    Raises:
        TypeError: when none of them handles the call.
    """
    found = _overriding.found_in(relevant_args)
    result = _handle(public_api, found, args, kwargs)
    if result is NotImplemented:
        name = f"{public_api.__module__}.{public_api.__name__}"
        raise TypeError(
            f"no implementation found for '{name}' on types that implement __torch_function__: "
            f"{[type(f) for f in found]}"
        )
    return result


def wrap_torch_function(dispatcher: Callable) -> Callable[[Callable], Callable]:
    """Let arguments override the function below; ``dispatcher``, called as it is, names those that may."""

    def decorate(fn: Callable) -> Callable:
        @functools.wraps(fn)
        def call(*args: Any, **kwargs: Any) -> Any:
            relevant = dispatcher(*args, **kwargs)
            if has_torch_function(relevant):
                return handle_torch_function(call, relevant, *args, **kwargs)
            return fn(*args, **kwargs)

        return call

    return decorate


def is_tensor_like(inp: Any) -> bool:
    """Whether it is a tensor, or of a class that overrides functions."""
    return type(inp) is Tensor or hasattr(inp, "__torch_function__")


def is_tensor_method_or_property(func: Callable) -> bool:
    """Whether it is a method of Tensor, or the accessor of one of its attributes."""
    return func in _overriding.methods() or getattr(func, "__name__", "") in ("__get__", "__set__")


def resolve_name(f: Callable) -> str | None:
    """The full name of a public function or method, ``torch.add``; None for any other."""
    _overriding.install_overrides()
    return _name_of(f) if f in _overriding.known() else None


def get_overridable_functions() -> dict[Any, list[Callable]]:
    """The functions that may be overridden, by the namespace (or class) they belong to."""
    _overriding.install_overrides()
    return _overriding.by_place()
