"""`symbolic_trace`: a module or function as a `GraphModule`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jaxflow.nn.modules.module import Module

from ._patching import _wrapped_fns_to_patch as _wrapped_fns_to_patch
from ._patching import wrap as wrap
from ._placeholders import PH as PH
from ._placeholders import PHBase as PHBase
from ._placeholders import PHWithMeta as PHWithMeta
from ._placeholders import _assert_is_none as _assert_is_none
from ._tracer import ProxyableClassMeta as ProxyableClassMeta
from ._tracer import Tracer as Tracer
from ._tracer import is_fx_tracing as is_fx_tracing
from .graph_module import GraphModule

is_fx_symbolic_tracing = is_fx_tracing


def symbolic_trace(root: Module | Callable[..., Any],
                   concrete_args: dict[str, Any] | None = None) -> GraphModule:
    """What a module or a function does with its inputs, as a module with the graph and its code.

    Args:
        root: the module or function; it runs once, with proxies for its inputs.
        concrete_args: values of parameters that are no inputs, by name; in nested ones `PH` stands for an
            input.

    Returns:
        A `GraphModule` with the submodules, parameters and buffers that the graph names: the same objects.

    Raises:
        TraceError: where the program needs a value, in an ``if`` or a loop.

    Example:
        >>> traced = torch.fx.symbolic_trace(lambda x, y: torch.relu(x) + y)
        >>> print(traced.code.strip())
        def forward(self, x, y):
            relu = torch.relu(x);  x = None
            add = relu + y;  relu = y = None
            return add
        >>> traced(torch.tensor([-1.0, 2.0]), 1).tolist()
        [1.0, 3.0]
    """
    tracer = Tracer()
    graph = tracer.trace(root, concrete_args)
    name = root._get_name() if isinstance(root, Module) else root.__name__
    return GraphModule(tracer.root, graph, name)
