"""`split_module`: a graph as several, each a module, and one that calls them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from jaxflow.fx._attributes import _get_attr
from jaxflow.fx.graph import Graph
from jaxflow.fx.graph_module import GraphModule
from jaxflow.fx.node import Node, map_arg
from jaxflow.fx.proxy import Proxy
from jaxflow.nn.modules.module import Module

__all__ = ["Partition", "split_module"]


@dataclasses.dataclass
class Partition:
    """One of the parts: what goes in and out, by names of nodes, and which parts come before and after it."""

    name: str
    submod_name: str = ""
    node_names: list[str] = dataclasses.field(default_factory=list)
    inputs: dict[str, None] = dataclasses.field(default_factory=dict)
    outputs: dict[str, None] = dataclasses.field(default_factory=dict)
    dependencies: dict[str, None] = dataclasses.field(default_factory=dict)
    dependents: dict[str, None] = dataclasses.field(default_factory=dict)
    graph: Graph = dataclasses.field(default_factory=Graph)
    environment: dict[Node, Node] = dataclasses.field(default_factory=dict)
    targets: dict[str, Any] = dataclasses.field(default_factory=dict)


def split_module(
    m: GraphModule, root_m: Module, split_callback: Callable[[Node], int],
    qualname_map: dict[str, str] | None = None,
    keep_original_order: bool | None = False, keep_original_node_name: bool | None = False,
    keep_original_input_name: bool = True, *, partition_affix: str | None = None, tuple_return: bool = False,
) -> GraphModule:
    """A module that calls the parts of another one, ``submod_0``, ``submod_1`` and so on.

    Args:
        m: the module, with a graph.
        root_m: kept for its name: attributes are those of ``m``.
        split_callback: the number of a node's part.
        qualname_map: a dict that gets, for each path of a module in the parts, the path in ``m``.
        keep_original_order: whether parts stand in the order of their first nodes, not sorted by what they
            need.
        keep_original_node_name: whether nodes of the parts keep their names.
        keep_original_input_name: whether inputs of the parts are named after the nodes, not ``arg_0``.
        partition_affix: what stands between ``submod`` and the number.
        tuple_return: whether a part with one result returns it in a tuple.

    Raises:
        RuntimeError: when parts need each other in a circle.

    Example:
        >>> from jaxflow.fx.passes.split_module import split_module
        >>> traced = torch.fx.symbolic_trace(lambda x: torch.relu(x) + 1)
        >>> parts = split_module(traced, None, lambda node: 0 if node.name == "relu" else 1)
        >>> print(parts.code.strip())
        def forward(self, x):
            submod_0 = self.submod_0(x);  x = None
            submod_1 = self.submod_1(submod_0);  submod_0 = None
            return submod_1
    """
    parts, owner = _assign(m, split_callback, partition_affix)
    order = _sorted(parts, bool(keep_original_order))
    nodes = {node.name: node for node in m.graph.nodes}
    for part in parts.values():
        for i, name in enumerate(part.inputs):
            node = nodes[name]
            made = part.graph.placeholder(name if keep_original_input_name else f"arg_{i}",
                                          type_expr=node.type)
            made.meta = dict(node.meta)
            part.environment[node] = made
    for node in m.graph.nodes:
        if node in owner:
            _copy(m, node, parts[owner[node]], bool(keep_original_node_name), qualname_map)
    return _stitched(m, parts, order, nodes, tuple_return, bool(keep_original_order))


def _assign(m: GraphModule, split_callback: Callable[[Node], int],
            affix: str | None) -> tuple[dict[str, Partition], dict[Node, str]]:
    """The parts, and for each node the name of its part."""
    parts: dict[str, Partition] = {}
    owner: dict[Node, str] = {}
    for node in m.graph.nodes:
        if node.op not in ("placeholder", "get_attr", "output"):
            name = str(split_callback(node))
            if name not in parts:
                parts[name] = Partition(name, "_".join(filter(None, ("submod", affix, name))))
            parts[name].node_names.append(node.name)
            owner[node] = name
    for node in m.graph.nodes:
        if node.op in ("placeholder", "get_attr"):
            continue
        user = owner.get(node)
        for used in node.all_input_nodes:
            maker = owner.get(used)
            if maker == user:
                continue
            if maker is not None:
                parts[maker].outputs.setdefault(used.name)
                if user is not None:
                    parts[maker].dependents.setdefault(user)
            if user is not None:
                parts[user].inputs.setdefault(used.name)
                if maker is not None:
                    parts[user].dependencies.setdefault(maker)
    return parts, owner


def _sorted(parts: dict[str, Partition], as_written: bool) -> list[str]:
    """The parts, each after those that it needs; as written, the one whose nodes come first, first."""
    places = {name: i for i, name in enumerate(parts)}
    waiting = {name: set(part.dependencies) for name, part in parts.items()}
    order: list[str] = []
    ready = [name for name, needed in waiting.items() if not needed]
    while ready:
        name = ready.pop(ready.index(min(ready, key=places.__getitem__)) if as_written else -1)
        order.append(name)
        for after in parts[name].dependents:
            waiting[after].discard(name)
            if not waiting[after]:
                ready.append(after)
    if len(order) != len(parts):
        raise RuntimeError("cycle exists between partitions!")
    return order


def _copy(m: GraphModule, node: Node, part: Partition, keep_name: bool,
          qualname_map: dict[str, str] | None) -> None:
    def inner(used: Node) -> Node:
        if used not in part.environment:  # an attribute that only this part reads
            raise RuntimeError(f"{node.name} uses {used.name}, which is no input of its part")
        return part.environment[used]

    target = node.target
    if node.op == "call_module":
        target = node.target.replace(".", "_")
        part.targets[target] = _get_attr(m, node.target)
        if qualname_map is not None:
            qualname_map[f"{part.submod_name}.{target}"] = node.target
    made = part.graph.create_node(node.op, target, map_arg(node.args, inner), map_arg(node.kwargs, inner),
                                  node.name if keep_name else None, node.type)
    made.meta = dict(node.meta)
    part.environment[node] = made


def _stitched(m: GraphModule, parts: dict[str, Partition], order: list[str], nodes: dict[str, Node],
              tuple_return: bool, as_written: bool) -> GraphModule:
    graph, made = Graph(), {}
    attributes: dict[str, Any] = {}

    def bring(node: Node) -> None:
        if node.name in made or node.op not in ("placeholder", "get_attr"):
            return
        if node.op == "placeholder":
            made[node.name] = graph.placeholder(node.target, node.type, node.args[0] if node.args else ...)
        else:
            made[node.name] = graph.get_attr(node.target)
            attributes[node.target] = _get_attr(m, node.target)
        made[node.name].meta = dict(node.meta)

    for node in m.graph.nodes:
        if node.op == "placeholder" or not as_written:
            bring(node)
    for name in order:
        part = parts[name]
        for used in part.inputs:
            bring(nodes[used])
        results = tuple(part.environment[nodes[out]] for out in part.outputs)
        several = len(results) != 1 or tuple_return
        part.graph.output(results if several else results[0])
        attributes[part.submod_name] = GraphModule(part.targets, part.graph)
        call = graph.call_module(part.submod_name, tuple(made[i] for i in part.inputs))
        if several:
            proxy = Proxy(call)
            for i, out in enumerate(part.outputs):
                made[out] = proxy[i].node
        else:
            made[next(iter(part.outputs))] = call
    output = m.graph.output_node()
    for node in output.all_input_nodes:
        bring(node)
    graph.output(map_arg(output.args[0], lambda n: made[n.name]), output.type).meta = dict(output.meta)
    return GraphModule(attributes, graph)
