"""`replace_pattern`: puts one graph in the place of another wherever that is found."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

from jaxflow.nn.modules.module import Module

from ._attributes import _assign_attr, _get_attr, _has_attr
from ._symbolic_trace import symbolic_trace
from .graph import Graph
from .graph_module import GraphModule
from .node import Node
from .passes.utils.matcher_utils import InternalMatch, SubgraphMatcher

__all__ = ["Match", "ReplacedPatterns", "replace_pattern", "replace_pattern_with_filters"]


class Match(NamedTuple):
    """A place that was replaced: the node that the pattern returned there, and all its nodes by the
    pattern's.
    """

    anchor: Node
    nodes_map: dict[Node, Node]


@dataclasses.dataclass
class ReplacedPatterns:
    """A `Match`, with the nodes that came in its place."""

    anchor: Node
    nodes_map: dict[Node, Node]
    replacements: list[Node]


def replace_pattern(gm: GraphModule, pattern: Callable | GraphModule,
                    replacement: Callable | GraphModule) -> list[Match]:
    """Put what ``replacement`` does in the place of what ``pattern`` does, wherever that is found.

    Args:
        gm: the module, whose graph is changed and compiled anew.
        pattern: a function, or a module with a graph; it is traced. Its inputs match anything.
        replacement: another one with as many inputs.

    Returns:
        The places that were replaced, of which no two overlap.

    Example:
        >>> traced = torch.fx.symbolic_trace(lambda x, w: torch.relu(x + w) * 2)
        >>> matches = torch.fx.replace_pattern(traced, lambda a, b: torch.relu(a + b),
        ...                                    lambda a, b: torch.sigmoid(a) - b)
        >>> len(matches)
        1
        >>> print(traced.code.strip())
        def forward(self, x, w):
            sigmoid = torch.sigmoid(x);  x = None
            sub = sigmoid - w;  sigmoid = w = None
            mul = sub * 2;  sub = None
            return mul
    """
    return [Match(m.anchor, m.nodes_map) for m in _replace(gm, pattern, replacement, None, None, False, "")]


def replace_pattern_with_filters(
    gm: GraphModule, pattern: Callable | Graph | GraphModule,
    replacement: Callable | Graph | GraphModule | None = None,
    match_filters: list[Callable[[InternalMatch, Graph, Graph], bool]] | None = None,
    ignore_literals: bool = False,
    replacement_callback: Callable[[InternalMatch, Graph, Graph], Graph] | None = None,
    node_name_match: str = "",
) -> list[ReplacedPatterns]:
    """`replace_pattern` at those places that all filters accept.

    Args:
        gm: the module, whose graph is changed and compiled anew.
        pattern: what to find.
        replacement: what to put there.
        match_filters: called with the match, the graph and the pattern's graph.
        ignore_literals: whether arguments that are no nodes may differ.
        replacement_callback: makes the graph to put there, for each match, from the same arguments.
        node_name_match: a part of a name that a matched node has to have.

    Returns:
        The places, with the nodes that were put there.
    """
    return _replace(gm, pattern, replacement, match_filters, replacement_callback, ignore_literals,
                    node_name_match)


def _graph_of(x: Any) -> Graph:
    if isinstance(x, GraphModule):
        return x.graph
    return x if isinstance(x, Graph) else symbolic_trace(x).graph


def _replace(gm: GraphModule, pattern: Any, replacement: Any, filters: list | None, callback: Callable | None,
             ignore_literals: bool, node_name_match: str) -> list[ReplacedPatterns]:
    graph, wanted = gm.graph, _graph_of(pattern)
    matcher = SubgraphMatcher(wanted, match_output=False, match_placeholder=False,
                              remove_overlapping_matches=True,
                              ignore_literals=ignore_literals)
    matches = [m for m in matcher.match(graph, node_name_match)
               if all(f(m, graph, wanted) for f in filters or ())]
    common = None
    if replacement is not None:
        common = _graph_of(replacement)
    elif callback is None:
        raise AssertionError("Must provide either a replacement GraphModule or a replacement callback")
    if common is not None and common.owning_module is not None and not isinstance(replacement, Module):
        _refuse_other_constants(gm, common)
    done: list[ReplacedPatterns] = []
    changed: dict[Node, Node] = {}
    for match in matches:
        put = common if callback is None else callback(match, graph, wanted)
        done.append(_replace_one(graph, wanted, put, match, changed))
    if isinstance(replacement, Module):
        _take_attributes(gm, replacement)
    elif common is not None and common.owning_module is not None:
        _take_constants(gm, common)
    graph.lint()
    gm.recompile()
    return done


def _replace_one(graph: Graph, wanted: Graph, put: Graph, match: InternalMatch,
                 changed: dict[Node, Node]) -> ReplacedPatterns:
    inputs = [n for n in put.nodes if n.op == "placeholder"]
    given = [match.nodes_map[n] for n in wanted.nodes if n.op == "placeholder" and n in match.nodes_map]
    if len(given) != len(inputs):
        raise AssertionError(f"the pattern has {len(given)} inputs and the replacement {len(inputs)}")
    val_map = {}
    for inner, outer in zip(inputs, given, strict=True):
        outer = changed.get(outer, outer) if isinstance(outer, Node) else outer
        if not isinstance(outer, Node):
            raise NotImplementedError(f"replace_pattern: the input {inner} of the pattern matched "
                                      f"{outer!r}, which is no node; write the value into the pattern and "
                                      "the replacement")
        val_map[inner] = outer
    users = {user for node in match.returning_nodes for user in node.users}
    first = next((n for n in graph.nodes if n in users), None)
    with graph.inserting_before(first) if first is not None else graph.inserting_before(graph._root):
        known = set(val_map)
        result = graph.graph_copy(put, val_map)
    made = [node for inner, node in val_map.items() if inner not in known]
    results = (result,) if isinstance(result, Node) else tuple(result)
    if len(results) != len(match.returning_nodes):
        raise AssertionError(f"the pattern returns {len(match.returning_nodes)} values and the replacement "
                             f"{len(results)}")
    for old, new in zip(match.returning_nodes, results, strict=True):
        old.replace_all_uses_with(new)
        changed[old] = new
    for node in reversed(wanted.nodes):
        if node.op not in ("placeholder", "output"):
            graph.erase_node(match.nodes_map[node])
    anchor = match.anchors[0]
    return ReplacedPatterns(anchor, match.nodes_map, made)


def _take_constants(gm: GraphModule, put: Graph) -> None:
    """Give the module the tensors that a function which was put in has among its lines."""
    for node in put.nodes:
        if node.op == "get_attr":
            _assign_attr(_get_attr(put.owning_module, node.target), gm, node.target)


def _refuse_other_constants(gm: GraphModule, put: Graph) -> None:
    """Raise for a tensor of the replacement whose name another one of the module has."""
    for node in put.nodes:
        if node.op == "get_attr" and _has_attr(gm, node.target):
            if _get_attr(gm, node.target) is not _get_attr(put.owning_module, node.target):
                raise NotImplementedError(f"replace_pattern: both the module and the replacement have a "
                                          f"{node.target}; make it an attribute of a replacement that is a "
                                          "module, under a name of its own")


def _take_attributes(gm: GraphModule, replacement: Module) -> None:
    """Give the module the attributes of the replacement that nodes name, and take away modules nobody
    calls.
    """
    for node in gm.graph.nodes:
        if node.op in ("call_module", "get_attr") and not _has_attr(gm, node.target):
            if not _has_attr(replacement, node.target):
                raise RuntimeError(f"the replacement has a {node.op} of {node.target}, which neither the "
                                   "module nor the replacement has")
            _assign_attr(_get_attr(replacement, node.target), gm, node.target)
    gm.delete_all_unused_submodules()
