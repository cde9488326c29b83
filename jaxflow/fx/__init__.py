"""Symbolic tracing: what a module does as a graph of Python code that programs read and change.

`symbolic_trace` runs a module with proxies in place of its inputs, and gives a `GraphModule`.
"""

from __future__ import annotations

import importlib

from . import graph as graph
from . import graph_module as graph_module
from . import immutable_collections as immutable_collections
from . import interpreter as interpreter
from . import node as node
from . import proxy as proxy
from . import subgraph_rewriter as subgraph_rewriter
from . import traceback as traceback
from ._patching import wrap as wrap
from ._symbolic_trace import PH as PH
from ._symbolic_trace import ProxyableClassMeta as ProxyableClassMeta
from ._symbolic_trace import Tracer as Tracer
from ._symbolic_trace import symbolic_trace as symbolic_trace
from .graph import CodeGen as CodeGen
from .graph import Graph as Graph
from .graph_module import GraphModule as GraphModule
from .interpreter import Interpreter as Interpreter
from .interpreter import Transformer as Transformer
from .node import Node as Node
from .node import has_side_effect as has_side_effect
from .node import map_arg as map_arg
from .proxy import Proxy as Proxy
from .subgraph_rewriter import replace_pattern as replace_pattern

_LATE = frozenset(("experimental", "passes"))


def __getattr__(name: str) -> object:
    """The folders that are loaded when they are first used."""
    if name in _LATE:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
