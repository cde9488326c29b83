"""Symbolic tracing of modules into graphs of Python code, which there is none of: marks are accepted.

A compiled function shows its program by ``jax.make_jaxpr`` or `jaxflow.compiler.explain`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from . import graph as graph
from . import graph_module as graph_module
from . import node as node
from . import proxy as proxy
from ._classes import Graph as Graph
from ._classes import GraphModule as GraphModule
from ._classes import Interpreter as Interpreter
from ._classes import Node as Node
from ._classes import Proxy as Proxy
from ._classes import Tracer as Tracer
from ._classes import Transformer as Transformer


def wrap(fn_or_name: str | Callable) -> str | Callable:
    """``fn_or_name`` itself: it would be kept whole by a tracer.

    Raises:
        RuntimeError: for what is neither a function nor a name.
    """
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise RuntimeError("Unsupported type for global function! Must be either a callable or string name")
    return fn_or_name


def symbolic_trace(root: Any, concrete_args: dict | None = None) -> NoReturn:
    """Raises NotImplementedError: there is no tracer."""
    raise NotImplementedError(
        "torch.fx.symbolic_trace() is not supported: programs are recorded as they run. jax.make_jaxpr of a "
        "function made of jaxflow operations shows its program."
    )
