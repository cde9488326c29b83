"""Modules made of graphs, of which there are none."""

from __future__ import annotations

from typing import Any, NoReturn

from jaxflow.nn import Module

from ._classes import GraphModule as GraphModule
from ._classes import refuse as _refuse

_USER_PRESERVED_ATTRIBUTES_KEY = "_user_preserved_attributes"


class _CodeOnlyModule(Module):
    """What a graph module is unpickled through in PyTorch; making one raises NotImplementedError."""

    def __init__(self, body: dict[str, Any]) -> NoReturn:
        _refuse("graph_module._CodeOnlyModule")


def _copy_attr(from_module: Module, to_module: Module, target: str) -> NoReturn:
    """Raises NotImplementedError: it fills modules made of graphs."""
    _refuse("graph_module._copy_attr()")
