"""Modules without the work of filling their parameters."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any

from jaxflow.nn.modules.module import Module


def skip_init(module_cls: Callable[..., Module], *args: Any, **kwargs: Any) -> Module:
    """A module whose parameters are yet to be filled; what they hold means nothing.

    Initial values are recorded and only computed when somebody reads them, so this is no faster
    than making the module and loading its ``state_dict``.

    Raises:
        RuntimeError: when ``module_cls`` is no module or takes no ``device``.
    """
    if not (isinstance(module_cls, type) and issubclass(module_cls, Module)):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    return module_cls(*args, **kwargs)
