"""Whether a graph is well formed."""

from __future__ import annotations

from typing import Any

from .node import Node, map_arg


def missing(module: Any, path: str) -> tuple[str, str] | None:
    """The first attribute on the way that is not there, and where that is; None if all are."""
    found, passed = module, []
    for part in path.split("."):
        if not hasattr(found, part):
            return part, ".".join(passed)
        passed.append(part)
        found = getattr(found, part)
    return None


def lint(graph: Any) -> None:
    """Raise RuntimeError for the first thing that is wrong."""
    names: set[str] = set()
    seen: set[Node] = set()

    for node in graph.nodes:

        def check(arg: Node, user: Node = node) -> None:
            if arg.graph is not graph:
                raise RuntimeError(
                    f"Argument '{arg}' of Node '{user}' does not belong to this Graph, but was used as an "
                    f"argument! "
                    f"Give node_copy() an ``arg_transform`` that names the nodes of this graph\n{graph}")
            if arg not in seen:
                raise RuntimeError(f"Argument '{arg}' of Node '{user}' was used before it has been "
                                   f"defined! A node "
                                   f"stands after those that it uses\n{graph}")

        if node.graph is not graph:
            raise RuntimeError(f"Node '{node}' does not belong to this Graph!")
        map_arg((node.args, node.kwargs), check)
        if node.name in names:
            raise RuntimeError(f"Node redefined name {node.name}!")
        names.add(node.name)
        seen.add(node)
        if graph.owning_module is not None and node.op in ("get_attr", "call_module"):
            _check_reference(graph.owning_module, node)


def _check_reference(module: Any, node: Node) -> None:
    absent = missing(module, node.target)
    if absent is not None:
        name, where = absent
        raise RuntimeError(f"Node {node} target {node.target} references nonexistent attribute {name} of "
                           f"{where}")
    if node.op == "call_module" and not hasattr(module.get_submodule(node.target), "forward"):
        raise RuntimeError(f"Node {node} target {node.target} is no module")
