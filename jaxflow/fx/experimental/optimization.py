"""`fuse`: batch norms in eval mode taken into the convolutions before them, in a traced module."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

from jaxflow.fx._symbolic_trace import symbolic_trace
from jaxflow.fx.graph import Graph
from jaxflow.fx.graph_module import GraphModule
from jaxflow.fx.interpreter import Transformer
from jaxflow.fx.node import Node
from jaxflow.nn.modules.batchnorm import BatchNorm1d, BatchNorm2d, BatchNorm3d
from jaxflow.nn.modules.conv import Conv1d, Conv2d, Conv3d
from jaxflow.nn.modules.dropout import Dropout
from jaxflow.nn.modules.linear import Linear
from jaxflow.nn.modules.module import Module
from jaxflow.nn.utils.fusion import fuse_conv_bn_eval, fuse_linear_bn_eval

__all__ = ["extract_subgraph", "fuse", "matches_module_pattern", "remove_dropout", "replace_node_module"]

_PATTERNS = (((Conv1d, BatchNorm1d), fuse_conv_bn_eval), ((Conv2d, BatchNorm2d), fuse_conv_bn_eval),
             ((Conv3d, BatchNorm3d), fuse_conv_bn_eval), ((Linear, BatchNorm1d), fuse_linear_bn_eval))


def _parent_name(target: str) -> tuple[str, str]:
    """The path of the module that has the one at ``target``, and the latter's name there."""
    where, _, name = target.rpartition(".")
    return where, name


def matches_module_pattern(pattern: Iterable[type], node: Node, modules: dict[str, Any]) -> bool:
    """Whether a node and the one that it is called with call modules of these two types.

    Args:
        pattern: the types, that of the module called first before the other.
        node: the second call.
        modules: modules by path.
    """
    if not node.args:
        return False
    calls = (node.args[0], node)
    return all(isinstance(call, Node) and call.op == "call_module" and isinstance(call.target, str)
               and type(modules.get(call.target)) is kind for kind, call in zip(pattern, calls, strict=True))


def replace_node_module(node: Node, modules: dict[str, Any], new_module: Module) -> None:
    """Put another module at the path that a node calls.

    Args:
        node: the call.
        modules: modules by path, brought up to date.
        new_module: the module.
    """
    where, name = _parent_name(node.target)
    modules[node.target] = new_module
    setattr(modules[where], name, new_module)


def fuse(model: Module, inplace: bool = False, no_trace: bool = False) -> Module:
    """The model with batch norms taken into the convolutions and linear layers before them.

    Args:
        model: a model in eval mode.
        inplace: whether the model itself is changed, not a copy.
        no_trace: whether the model has a graph already.

    Returns:
        A module with a graph.

    Raises:
        ValueError: when it is to have a graph and has none.

    Example:
        >>> model = nn.Sequential(nn.Conv2d(1, 2, 1), nn.BatchNorm2d(2)).eval()
        >>> from jaxflow.fx.experimental.optimization import fuse
        >>> [node.target for node in fuse(model).graph.nodes]
        ['input', '0', 'output']
    """
    if not inplace:
        model = copy.deepcopy(model)
    if no_trace and not isinstance(model, GraphModule):
        raise ValueError("fuse(no_trace=True) takes a module with a graph")
    traced = model if no_trace else symbolic_trace(model)
    modules = dict(traced.named_modules())
    graph = copy.deepcopy(traced.graph)
    for pattern, fused_of in _PATTERNS:
        for node in graph.nodes:
            if not matches_module_pattern(pattern, node, modules):
                continue
            first = node.args[0]
            norm = modules[node.target]
            if len(first.users) > 1 or not norm.track_running_stats:
                continue
            replace_node_module(first, modules, fused_of(modules[first.target], norm))
            node.replace_all_uses_with(first)
            graph.erase_node(node)
    return GraphModule(traced, graph)


def remove_dropout(model: Module) -> Module:
    """The model, traced, without its layers of dropout.

    Args:
        model: the model.

    Example:
        >>> from jaxflow.fx.experimental.optimization import remove_dropout
        >>> model = remove_dropout(nn.Sequential(nn.Dropout(), nn.ReLU()))
        >>> [node.target for node in model.graph.nodes]
        ['input', '1', 'output']
    """
    return _WithoutDropout(symbolic_trace(model)).transform()


class _WithoutDropout(Transformer):
    def call_module(self, target: str, args: tuple, kwargs: dict[str, Any]) -> Any:
        if isinstance(self.submodules[target], Dropout):
            if len(args) != 1:
                raise AssertionError("a layer of dropout takes one argument")
            return args[0]
        return super().call_module(target, args, kwargs)


def extract_subgraph(orig_module: Module, nodes: list[Node], inputs: list[Node],
                     outputs: list[Node]) -> GraphModule:
    """Some nodes of a graph as a module of their own.

    Args:
        orig_module: the module with what they call.
        nodes: the nodes, in order.
        inputs: the nodes that become its inputs.
        outputs: the nodes that it returns.
    """
    graph = Graph()
    made: dict[Node, Node] = {node: graph.placeholder(node.name) for node in inputs}
    for node in nodes:
        made[node] = graph.node_copy(node, lambda n: made[n])
    graph.output([made[node] for node in outputs])
    graph.lint()
    return GraphModule(orig_module, graph)


def optimize_for_inference(*args: Any, **kwargs: Any) -> GraphModule:
    """Raises NotImplementedError: it changes layouts for oneDNN; `fuse`, `remove_dropout` and
    ``torch.compile`` do the rest.
    """
    raise NotImplementedError("torch.fx.experimental.optimization.optimize_for_inference is not supported: "
                              "XLA chooses layouts. Use fuse(), remove_dropout() and torch.compile()")
