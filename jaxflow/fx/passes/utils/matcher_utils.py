"""`SubgraphMatcher`: where a graph has another one, the pattern, within it."""

from __future__ import annotations

import copy
import dataclasses
import inspect
from collections.abc import Iterator
from typing import Any

from jaxflow.fx.graph import Graph
from jaxflow.fx.node import Node
from jaxflow.utils import _pytree

__all__ = ["InternalMatch", "SubgraphMatcher"]


@dataclasses.dataclass
class InternalMatch:
    """One place where the pattern was found: its nodes, by those of the pattern, from the pattern's
    ``anchors``.
    """

    anchors: list[Node]
    nodes_map: dict[Node, Node] = dataclasses.field(default_factory=dict)
    placeholder_nodes: list[Node] = dataclasses.field(default_factory=list)
    returning_nodes: list[Node] = dataclasses.field(default_factory=list)
    name_node_map: dict[str, Node] = dataclasses.field(default_factory=dict)

    def __copy__(self) -> InternalMatch:
        return InternalMatch(list(self.anchors), dict(self.nodes_map), list(self.placeholder_nodes),
                             list(self.returning_nodes), dict(self.name_node_map))


class SubgraphMatcher:
    """Finds a pattern in graphs, by walking from what the pattern returns towards its inputs.

    Args:
        pattern: the graph to find; its placeholders match anything.
        match_output: whether the output node has to match, too.
        match_placeholder: whether placeholders match placeholders alone.
        remove_overlapping_matches: whether of matches that share nodes only the first one counts.
        ignore_literals: whether arguments that are no nodes may differ.

    Raises:
        ValueError: for a pattern without nodes.

    Example:
        >>> from jaxflow.fx.passes.utils.matcher_utils import SubgraphMatcher
        >>> pattern = torch.fx.symbolic_trace(lambda a: torch.relu(a)).graph
        >>> graph = torch.fx.symbolic_trace(lambda x: torch.relu(torch.relu(x))).graph
        >>> [match.returning_nodes for match in SubgraphMatcher(pattern).match(graph)]
        [[relu], [relu_1]]
    """

    def __init__(self, pattern: Graph, match_output: bool = False, match_placeholder: bool = False,
                 remove_overlapping_matches: bool = True, ignore_literals: bool = False) -> None:
        self.pattern = pattern
        self.match_output, self.match_placeholder = match_output, match_placeholder
        self.remove_overlapping_matches, self.ignore_literals = remove_overlapping_matches, ignore_literals
        if len(pattern.nodes) == 0:
            raise ValueError("SubgraphMatcher cannot be initialized with an empty pattern")
        for node in pattern.nodes:
            if node.op != "output" and not node.users and node.op != "placeholder":
                raise AssertionError("SubgraphMatcher cannot be used with a pattern with dead code: "
                                     f"nothing uses {node}")
        self.pattern_placeholder_nodes = [n for n in pattern.nodes if n.op == "placeholder"]
        output = pattern.output_node()
        self.pattern_returning_nodes = output.all_input_nodes
        if match_output:
            self.pattern_anchors = [output]
        else:
            self.pattern_anchors = [n for n in output.all_input_nodes if len(n.users) == 1]

    def match(self, graph: Graph, node_name_match: str = "") -> list[InternalMatch]:
        """The places where the pattern is.

        Args:
            graph: the graph to look in.
            node_name_match: a part of a name that one of the matched nodes has to have; any by default.
        """
        found: list[InternalMatch] = []
        for match in self._from_anchors(graph):
            if node_name_match and not any(node_name_match in n.name for n in match.nodes_map.values()):
                continue
            match.placeholder_nodes = [match.nodes_map[p] for p in self.pattern_placeholder_nodes
                                       if p in match.nodes_map]
            match.returning_nodes = [match.nodes_map[p] for p in self.pattern_returning_nodes]
            if self._is_contained(match.nodes_map):
                found.append(match)
        return self._without_overlap(found) if self.remove_overlapping_matches else found

    def _from_anchors(self, graph: Graph) -> Iterator[InternalMatch]:
        anchors = self.pattern_anchors
        if not anchors:
            return
        candidates = [[n for n in graph.nodes if self._is_node(anchor, n)] for anchor in anchors]

        def extend(i: int, match: InternalMatch) -> Iterator[InternalMatch]:
            if i == len(anchors):
                yield match
                return
            for node in candidates[i]:
                tried = copy.copy(match)
                if self._match_nodes(anchors[i], node, tried):
                    yield from extend(i + 1, tried)

        yield from extend(0, InternalMatch(anchors=list(anchors)))

    def _is_node(self, pattern: Node, node: Node) -> bool:
        """Whether op and target agree; a placeholder of the pattern agrees with anything."""
        if not self.match_placeholder and pattern.op == "placeholder":
            return True
        if pattern.op != node.op:
            return False
        if pattern.op in ("placeholder", "output"):
            return True
        if pattern.op in ("get_attr", "call_module"):
            return self._same_attribute(pattern, node)
        return pattern.target == node.target

    @staticmethod
    def _same_attribute(pattern: Node, node: Node) -> bool:
        try:
            values = [_attribute(n) for n in (pattern, node)]
        except AttributeError:
            return pattern.target == node.target
        return type(values[0]) is type(values[1])

    def _match_nodes(self, pattern: Node, node: Node, match: InternalMatch) -> bool:
        if pattern in match.nodes_map:
            return match.nodes_map[pattern] is node
        if node in match.nodes_map.values() and pattern.op != "placeholder":
            return False
        if not self._is_node(pattern, node):
            return False
        saved = copy.copy(match)
        match.nodes_map[pattern] = node
        if pattern.op == "placeholder" or self._match_arguments(pattern, node, match):
            return True
        match.nodes_map = saved.nodes_map
        match.name_node_map = saved.name_node_map
        return False

    def _match_arguments(self, pattern: Node, node: Node, match: InternalMatch) -> bool:
        if pattern.op == "get_attr":
            return True
        names = _parameters(pattern)
        mine, other = _by_name(pattern, names), _by_name(node, names)
        if mine is None or other is None:
            mine, other = (pattern.args, dict(pattern.kwargs)), (node.args, dict(node.kwargs))
        leaves, spec = _pytree.tree_flatten(_plain(mine))
        others, other_spec = _pytree.tree_flatten(_plain(other))
        return spec == other_spec and all(
            self._match_leaf(a, b, match) for a, b in zip(leaves, others, strict=True))

    def _match_leaf(self, a: Any, b: Any, match: InternalMatch) -> bool:
        if isinstance(a, Node):
            if isinstance(b, Node):
                return self._match_nodes(a, b, match)
            if a.op == "placeholder" and not self.match_placeholder:  # a number for an input
                if a in match.nodes_map:
                    return match.nodes_map[a] == b
                match.nodes_map[a] = b
                return True
            return False
        if isinstance(b, Node):
            return False
        return self.ignore_literals or (type(a) is type(b) and a == b)

    def _is_contained(self, nodes_map: dict[Node, Node]) -> bool:
        """Whether nothing else uses what the match computes on the way."""
        matched = set(map(id, nodes_map.values()))
        for pattern, node in nodes_map.items():
            inner = pattern.op != "placeholder" and pattern not in self.pattern_returning_nodes
            if inner and isinstance(node, Node) and node.op != "get_attr" and (
                    any(id(user) not in matched for user in node.users)):
                return False
        return True

    def _without_overlap(self, matches: list[InternalMatch]) -> list[InternalMatch]:
        taken: set[Node] = set()
        kept = []
        for match in matches:
            nodes = {n for p, n in match.nodes_map.items() if p.op not in ("placeholder", "output")}
            if not nodes & taken:
                taken |= nodes
                kept.append(match)
        return kept


def _attribute(node: Node) -> Any:
    found = node.graph.owning_module
    if found is None:
        raise AttributeError(node.target)
    for part in node.target.split("."):
        found = getattr(found, part)
    return found


def _parameters(node: Node) -> list[str] | None:
    """The names of the parameters of what a node calls, where they are known."""
    if node.op != "call_function":
        return None
    try:
        parameters = inspect.signature(node.target).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD, p.POSITIONAL_ONLY) for p in parameters):
        return None
    return [p.name for p in parameters]


def _by_name(node: Node, names: list[str] | None) -> dict[str, Any] | None:
    """All arguments by name."""
    if names is None or len(node.args) > len(names):
        return None
    given = dict(zip(names, node.args))
    return None if set(given) & set(node.kwargs) else dict(sorted({**given, **node.kwargs}.items()))


def _plain(tree: Any) -> Any:
    """Lists and dicts that can be changed, so that those that cannot have the same structure."""
    if isinstance(tree, tuple):
        items = [_plain(x) for x in tree]
        return type(tree)(*items) if hasattr(tree, "_fields") else tuple(items)
    if isinstance(tree, list):
        return [_plain(x) for x in tree]
    if isinstance(tree, dict):
        return {k: _plain(v) for k, v in tree.items()}
    if isinstance(tree, slice):
        return ("slice", _plain(tree.start), _plain(tree.stop), _plain(tree.step))
    return tree
