"""`Interpreter` runs a graph node by node; `Transformer` makes another graph of it on the way."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from jaxflow.nn.modules.module import Module

from . import traceback as _noting
from ._tracer import Tracer
from .graph import Graph
from .graph_module import GraphModule
from .node import Node, map_aggregate, map_arg
from .proxy import Proxy

__all__ = ["Interpreter", "Transformer"]


class Interpreter:
    """Runs a graph node by node; subclasses change what nodes do.

    There is a method for each op (`placeholder`, `get_attr`, `call_function`, `call_method`, `call_module`,
    `output`), which gets target, args and kwargs with values for nodes; `run_node` gets the node.

    Args:
        module: the module with the graph.
        garbage_collect_values: whether results are let go after their last use.
        graph: another graph to run with the module's attributes.

    Example:
        >>> class Times(torch.fx.Interpreter):
        ...     def call_function(self, target, args, kwargs):
        ...         return super().call_function(torch.mul if target is torch.add else target, args, kwargs)
        >>> traced = torch.fx.symbolic_trace(lambda x: torch.add(x, 3))
        >>> Times(traced).run(torch.tensor([5])).tolist()
        [15]
    """

    def __init__(self, module: Module, garbage_collect_values: bool = True,
                 graph: Graph | None = None) -> None:
        self.module = module
        self.submodules = dict(module.named_modules())
        self.graph = module.graph if graph is None else graph
        self.env: dict[Node, Any] = {}
        self.name = "Interpreter"
        self.garbage_collect_values = garbage_collect_values
        self.extra_traceback = True
        self.args_iter: Iterator[Any] = iter(())
        self.user_to_last_uses: dict[Node, list[Node]] = {}
        if garbage_collect_values:
            seen: set[Node] = set()
            for node in reversed(self.graph.nodes):
                for used in node.all_input_nodes:
                    if used not in seen:
                        seen.add(used)
                        self.user_to_last_uses.setdefault(node, []).append(used)

    def run(self, *args: Any, initial_env: dict[Node, Any] | None = None,
            enable_io_processing: bool = True) -> Any:
        """What the graph returns for these arguments.

        Args:
            args: the arguments, in order.
            initial_env: results of nodes that are known and not computed.
            enable_io_processing: whether nested arguments are taken apart and the result put together.

        Raises:
            RuntimeError: when a placeholder has no argument and no default value.
        """
        self.env = {} if initial_env is None else dict(initial_env)
        if enable_io_processing:
            args = self.graph.process_inputs(*args)
        self.args_iter = iter(args)
        for node in self.graph.nodes:
            if node in self.env:
                continue
            try:
                self.env[node] = self.run_node(node)
            except Exception as error:
                if self.extra_traceback:
                    error.add_note(f"While executing {node.format_node()}"
                                   + (f"\nfrom\n{node.stack_trace}" if node.stack_trace else ""))
                raise
            if self.garbage_collect_values:
                for used in self.user_to_last_uses.get(node, ()):
                    self.env.pop(used, None)
            if node.op == "output":
                result = self.env[node]
                return self.graph.process_outputs(result) if enable_io_processing else result
        return None

    def boxed_run(self, args_list: list[Any]) -> Any:
        """`run` with arguments in a list, which is emptied so that they can be let go."""
        args = tuple(args_list)
        args_list.clear()
        return self.run(*args)

    @contextlib.contextmanager
    def _set_current_node(self, node: Node) -> Iterator[None]:
        with _noting.set_current_meta(node, f"Interpreter_{type(self).__name__}"):
            yield

    def run_node(self, n: Node) -> Any:
        """The result of a node: that of the method for its op."""
        with self._set_current_node(n):
            args, kwargs = self.fetch_args_kwargs_from_env(n)
            return getattr(self, n.op)(n.target, args, kwargs)

    def placeholder(self, target: str, args: tuple, kwargs: dict[str, Any]) -> Any:
        """The next argument; all that are left for one with a star.

        Raises:
            RuntimeError: when there is none, and no default value.
        """
        if target.startswith("*"):
            return list(self.args_iter)
        try:
            return next(self.args_iter)
        except StopIteration:
            if args:
                return args[0]
            raise RuntimeError(f"Expected positional argument for parameter {target}, but one was not passed "
                               "in!") from None

    def get_attr(self, target: str, args: tuple, kwargs: dict[str, Any]) -> Any:
        """The attribute at a path of the module."""
        return self.fetch_attr(target)

    def call_function(self, target: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        """What the function returns."""
        return target(*args, **kwargs)

    def call_method(self, target: str, args: tuple, kwargs: dict[str, Any]) -> Any:
        """What the method of the first argument returns."""
        first, *rest = args
        return getattr(first, target)(*rest, **kwargs)

    def call_module(self, target: str, args: tuple, kwargs: dict[str, Any]) -> Any:
        """What the module at a path returns."""
        return self.fetch_attr(target)(*args, **kwargs)

    def output(self, target: str, args: tuple, kwargs: dict[str, Any]) -> Any:
        """What the graph returns."""
        return args[0]

    def fetch_attr(self, target: str) -> Any:
        """The attribute at a path of the module.

        Raises:
            RuntimeError: if there is none.
        """
        found: Any = self.module
        parts = target.split(".")
        for i, part in enumerate(parts):
            if not hasattr(found, part):
                raise RuntimeError(f"Node referenced nonexistent target {'.'.join(parts[: i + 1])}")
            found = getattr(found, part)
        return found

    def fetch_args_kwargs_from_env(self, n: Node) -> tuple[tuple, dict[str, Any]]:
        """Arguments of a node, with results for nodes."""
        return self.map_nodes_to_values(n.args, n), self.map_nodes_to_values(n.kwargs, n)

    def map_nodes_to_values(self, args: Any, n: Node) -> Any:
        """Nested containers with results for nodes.

        Raises:
            RuntimeError: for a node that was not run yet.
        """

        def value(node: Node) -> Any:
            if node not in self.env:
                raise RuntimeError(f"Node {n} referenced nonexistent value {node}! Run Graph.lint() to "
                                   "diagnose such issues")
            return self.env[node]

        return map_arg(args, value)


class Transformer(Interpreter):
    """An interpreter whose values are proxies: what its methods return becomes another graph.

    Args:
        module: the module with the graph.

    Example:
        >>> class Sigmoids(torch.fx.Transformer):
        ...     def call_function(self, target, args, kwargs):
        ...         target = torch.sigmoid if target is torch.relu else target
        ...         return super().call_function(target, args, kwargs)
        >>> traced = torch.fx.symbolic_trace(lambda x: torch.relu(x))
        >>> [node.name for node in Sigmoids(traced).transform().graph.nodes]
        ['x', 'sigmoid', 'output']
    """

    def __init__(self, module: GraphModule) -> None:
        super().__init__(module)
        self.new_graph = Graph()
        self.new_graph.set_codegen(module.graph._codegen)
        self.tracer = _OfTransformer(self.new_graph)
        self.tracer.root = module

    def placeholder(self, target: str, args: tuple, kwargs: dict[str, Any]) -> Any:
        """A proxy for an input of the new graph."""
        default = args[0] if args else ...
        return Proxy(self.new_graph.placeholder(target, default_value=default), self.tracer)

    def get_attr(self, target: str, args: tuple, kwargs: dict[str, Any]) -> Any:
        """A proxy for an attribute."""
        return self.tracer.create_proxy("get_attr", target, args, kwargs)

    def call_module(self, target: str, args: tuple, kwargs: dict[str, Any]) -> Any:
        """A proxy for the call of a module."""
        if not isinstance(target, str):
            raise AssertionError(f"Expected the path of a module, got {type(target)}")
        return self.tracer.call_module(self.fetch_attr(target), self.fetch_attr(target).forward, args, kwargs)

    def call_function(self, target: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        """A proxy for the call of a function."""
        return self.tracer.create_proxy("call_function", target, args, kwargs)

    def transform(self) -> GraphModule:
        """The new graph as a module, with the attributes of the old one."""
        with _noting.preserve_node_meta():
            result = super().run(enable_io_processing=False)
        if result is not None:
            old = self.graph.output_node()
            nodes = map_aggregate(result, lambda x: x.node if isinstance(x, Proxy) else x)
            made = self.new_graph.output(nodes, type_expr=old.type)
            made.meta.update(old.meta)
        return GraphModule(self.module, self.new_graph)


class _OfTransformer(Tracer):
    """Appends to the new graph, and keeps modules whole."""

    def __init__(self, graph: Graph) -> None:
        super().__init__()
        self.graph = graph
        self.tensor_attrs = {}

    def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
        return True
