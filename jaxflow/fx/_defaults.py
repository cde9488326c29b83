"""Arguments of recorded calls as PyTorch's functions pass them on.

Its functions that are written in Python pass to ``__torch_function__`` what has no default by position, and
all else by name, defaults included: ``relu(x, inplace = False)``. Those in C++ pass what they were given.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from ._names import find, qualified_name, written_in_python

#: Functions that only call a method of their argument.
BY_METHOD = frozenset(("torch.nn.functional.sigmoid", "torch.nn.functional.tanh"))
#: Arguments that are not passed on where they are None.
_PASSED_IF_GIVEN = {"torch.nn.functional.l1_loss": ("weight",)}


def as_pytorch_passes(fn: Callable, args: tuple,
                      kwargs: dict[str, Any]) -> tuple[Callable, tuple, dict[str, Any]]:
    """The function that PyTorch passes on, with its positional and keyword arguments.

    Raises:
        TypeError: when the function does not take the arguments.
    """
    name = qualified_name(fn)
    if not written_in_python(name):
        return fn, args, kwargs
    positional: list[Any] = []
    by_name: dict[str, Any] = {}
    bound = inspect.signature(fn).bind(*args, **kwargs)
    for parameter in inspect.signature(fn).parameters.values():
        given = bound.arguments.get(parameter.name, parameter.default)
        if parameter.kind is parameter.VAR_POSITIONAL:
            positional.extend(bound.arguments.get(parameter.name, ()))
        elif parameter.kind is parameter.VAR_KEYWORD:
            by_name.update(bound.arguments.get(parameter.name, {}))
        elif parameter.default is parameter.empty and parameter.kind is not parameter.KEYWORD_ONLY:
            positional.append(given)
        else:
            by_name[parameter.name] = given
    for dropped in _PASSED_IF_GIVEN.get(name, ()):
        if by_name[dropped] is None:
            del by_name[dropped]
    if by_name.get("return_indices") is True:
        fn = find(f"{name}_with_indices") or fn
    return fn, tuple(positional), by_name
