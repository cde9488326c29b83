"""The tracer's classes, of which no objects can be made: programs derive from them and test for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from jaxflow.nn import Module

#: What a node of a graph calls.
Target = Callable[..., Any] | str
_INSTEAD = ("programs are recorded as they run, and there are no graphs of Python code. Register forward "
            "hooks for the activations of layers; jax.make_jaxpr of a function made of jaxflow operations "
            "shows its program.")


def refuse(name: str) -> NoReturn:
    """Raise NotImplementedError for a name of ``torch.fx``."""
    raise NotImplementedError(f"torch.fx.{name} is not supported: {_INSTEAD}")


class Tracer:
    """Records a module's code as a graph in PyTorch; making one raises NotImplementedError."""

    def __init__(self, *args: Any, **kwargs: Any) -> NoReturn:
        refuse("Tracer")


class Graph:
    """A graph of Python code in PyTorch; making one raises NotImplementedError."""

    def __init__(self, *args: Any, **kwargs: Any) -> NoReturn:
        refuse("Graph")


class GraphModule(Module):
    """A module made of a graph in PyTorch; making one raises NotImplementedError."""

    def __init__(self, *args: Any, **kwargs: Any) -> NoReturn:
        refuse("GraphModule")


class Node:
    """A call in a graph in PyTorch; making one raises NotImplementedError."""

    def __init__(self, *args: Any, **kwargs: Any) -> NoReturn:
        refuse("Node")


class Proxy:
    """What stands for a tensor while a tracer records, in PyTorch; making one raises NotImplementedError."""

    def __init__(self, *args: Any, **kwargs: Any) -> NoReturn:
        refuse("Proxy")


class Interpreter:
    """Runs a graph node by node in PyTorch; making one raises NotImplementedError."""

    def __init__(self, *args: Any, **kwargs: Any) -> NoReturn:
        refuse("Interpreter")


class Transformer(Interpreter):
    """An interpreter whose result is a graph in PyTorch; making one raises NotImplementedError."""
