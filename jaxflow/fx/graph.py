"""`Graph`: nodes in order, the function that they make, and how to change it."""

from __future__ import annotations

import contextlib
import copy
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from ._codegen import CodeGen as CodeGen
from ._codegen import PythonCode as PythonCode
from ._codegen import _PyTreeCodeGen as _PyTreeCodeGen
from ._codegen import _PyTreeInfo as _PyTreeInfo
from ._codegen import inplace_methods as inplace_methods
from ._codegen import magic_methods as magic_methods
from ._codegen import reflectable_magic_methods as reflectable_magic_methods
from ._lint import lint, missing
from ._names import Namespace as _Namespace
from ._names import qualified_name
from ._names import snake_case as _snake_case
from .node import Node, map_arg

__all__ = ["CodeGen", "Graph", "PythonCode"]

_UNREFERENCED = ("Attempted to insert a {op} Node with no underlying reference in the owning GraphModule: "
                 "it has no "
                 "{target}, which add_submodule(), register_parameter() or register_buffer() gives it")


class _node_list:  # noqa: N801 - PyTorch's name
    """The nodes of a graph, in order or in reverse."""

    def __init__(self, graph: Graph, direction: str = "_next") -> None:
        self.graph, self.direction = graph, direction

    def __len__(self) -> int:
        return self.graph._len

    def __iter__(self) -> Iterator[Node]:
        root = self.graph._root
        node = getattr(root, self.direction)
        while node is not root:
            if not node._erased:
                yield node
            node = getattr(node, self.direction)

    def __reversed__(self) -> _node_list:
        return _node_list(self.graph, "_next" if self.direction == "_prev" else "_prev")


class _InsertPoint:
    """Where nodes are inserted; the place before is taken again at the end of the block."""

    def __init__(self, graph: Graph, insert: Callable[[Node], None]) -> None:
        self.graph = graph
        self.before, graph._insert = graph._insert, insert

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        self.graph._insert = self.before


class Graph:
    """A function as a list of nodes: inputs, calls, attributes and the output.

    Args:
        owning_module: the `GraphModule` whose modules and attributes the nodes name.
        tracer_cls: the class of the tracer that made it.
        tracer_extras: what that tracer wants to be kept.

    Example:
        >>> graph = torch.fx.Graph()
        >>> x = graph.placeholder("x")
        >>> y = graph.call_function(torch.add, (x, 1))
        >>> z = graph.output(y)
        >>> print(graph)
        graph():
            %x : [num_users=1] = placeholder[target=x]
            %add : [num_users=1] = call_function[target=torch.add](args = (%x, 1), kwargs = {})
            return add
    """

    def __init__(self, owning_module: Any | None = None, tracer_cls: type | None = None,
                 tracer_extras: dict[str, Any] | None = None) -> None:
        self._len = 0
        self._ordered = False
        self._graph_namespace = _Namespace()
        self._root = Node(self, "", "root", "", (), {})
        self._insert: Callable[[Node], None] = self._root.prepend
        self._owning_module = owning_module
        self._tracer_cls, self._tracer_extras = tracer_cls, tracer_extras
        self._codegen = CodeGen()
        self._co_fields: dict[str, Any] = {}

    @property
    def owning_module(self) -> Any | None:
        """The module whose graph it is."""
        return self._owning_module

    @owning_module.setter
    def owning_module(self, module: Any | None) -> None:
        self._owning_module = module

    # -------------------------------------------------------------------------------------- nodes

    @property
    def nodes(self) -> _node_list:
        """The nodes in order; erasing the one at hand while iterating is allowed."""
        return _node_list(self)

    def output_node(self) -> Node:
        """The last node, which is the output.

        Raises:
            AssertionError: if it is another node.
        """
        node = next(iter(reversed(self.nodes)), None)
        if node is None or node.op != "output":
            raise AssertionError(f"Expected output node, got op={None if node is None else node.op}")
        return node

    def find_nodes(self, *, op: str, target: Any | None = None, sort: bool = True) -> list[Node]:
        """The nodes with that op and, for calls, that target, in order.

        Args:
            op: the kind of node.
            target: what it calls or names; any by default.
            sort: kept for its name: the result is always in order.

        Raises:
            AssertionError: for calls of functions without a target.
        """
        if op == "call_function" and target is None:
            raise AssertionError("find_nodes: target is required for op='call_function'")
        return [n for n in self.nodes if n.op == op and (target is None or n.target == target)]

    def _position_of(self, node: Node) -> int:
        if not self._ordered:
            for i, each in enumerate(self.nodes):
                each._position = i
            self._ordered = True
        return node._position

    def _moved(self) -> None:
        self._ordered = False

    def create_node(self, op: str, target: Any, args: tuple | None = None,
                    kwargs: dict[str, Any] | None = None,
                    name: str | None = None, type_expr: Any | None = None) -> Node:
        """Make a node and insert it.

        Args:
            op: ``placeholder``, ``get_attr``, ``call_function``, ``call_method``, ``call_module`` or
                ``output``.
            target: the function, or the name of the method, module, attribute or argument.
            args, kwargs: what it is called with.
            name: its name; by default one after the target.
            type_expr: the annotation of its result.

        Raises:
            AssertionError: for arguments of other types.
            ValueError: when the target does not suit the op.
        """
        args = () if args is None else args
        kwargs = {} if kwargs is None else kwargs
        if not isinstance(args, tuple):
            raise AssertionError(f"args must be a tuple, got {type(args)}")
        if not isinstance(kwargs, dict):
            raise AssertionError(f"kwargs must be a dict, got {type(kwargs)}")
        candidate = name if name is not None else self._target_to_str(target)
        node = Node(self, self._graph_namespace.create_name(candidate, None), op, target, args, kwargs,
                    type_expr)
        self._graph_namespace.associate(node.name, node)
        for hook in getattr(self._owning_module, "_create_node_hooks", ()):
            hook(node)
        self._insert(node)
        self._len += 1
        return node

    def _target_to_str(self, target: Any) -> str:
        if isinstance(target, str):
            name = target
        elif hasattr(target, "__name__"):
            name = target.__name__
            where = getattr(target, "__module__", None)
            if isinstance(where, str) and where.partition(".")[0] in ("jaxflow", "torch"):
                name = qualified_name(target).rpartition(".")[2] if not hasattr(target, "namespace") else name
        else:
            name = type(target).__name__
        if name.startswith("__") and name.endswith("__"):
            name = name[2:-2]
        return _snake_case(name)

    def placeholder(self, name: str, type_expr: Any | None = None, default_value: Any = ...) -> Node:
        """Make an input of that name, with a default value if one is given.

        Example:
            >>> torch.fx.Graph().placeholder("x", default_value=2).args
            (2,)
        """
        args = () if default_value is ... else (default_value,)
        return self.create_node("placeholder", name, args, type_expr=type_expr)

    def get_attr(self, qualified_name: str, type_expr: Any | None = None) -> Node:
        """Make a node for the attribute at that path of the owning module, with a warning if there is
        none.
        """
        if self._owning_module is not None and missing(self._owning_module, qualified_name) is not None:
            _warn(_UNREFERENCED.format(op="get_attr", target=qualified_name))
        return self.create_node("get_attr", qualified_name, type_expr=type_expr)

    def call_module(self, module_name: str, args: tuple | None = None, kwargs: dict[str, Any] | None = None,
                    type_expr: Any | None = None) -> Node:
        """Make a call of the module at that path of the owning module, with a warning if there is none."""
        if self._owning_module is not None and self._owning_module.get_submodule(module_name) is None:
            _warn(_UNREFERENCED.format(op="call_module", target=module_name))
        return self.create_node("call_module", module_name, args, kwargs, type_expr=type_expr)

    def call_method(self, method_name: str, args: tuple | None = None, kwargs: dict[str, Any] | None = None,
                    type_expr: Any | None = None) -> Node:
        """Make a call of that method of the first of ``args``."""
        return self.create_node("call_method", method_name, args, kwargs, type_expr=type_expr)

    def call_function(self, the_function: Callable[..., Any], args: tuple | None = None,
                      kwargs: dict[str, Any] | None = None, type_expr: Any | None = None,
                      name: str | None = None) -> Node:
        """Make a call of that function."""
        return self.create_node("call_function", the_function, args, kwargs, name=name, type_expr=type_expr)

    def output(self, result: Any, type_expr: Any | None = None) -> Node:
        """Make the node that returns ``result``."""
        return self.create_node("output", "output", (result,), type_expr=type_expr)

    # ------------------------------------------------------------------------------------- changes

    def erase_node(self, to_erase: Node) -> None:
        """Take a node out whose result nothing uses.

        Raises:
            RuntimeError: if something does, or the node belongs to another graph.
        """
        if to_erase.users:
            raise RuntimeError(f"Tried to erase Node {to_erase} but it still had {len(to_erase.users)} "
                               f"users in the graph: {to_erase.users}!")
        if to_erase.graph is not self:
            raise RuntimeError(f"Attempting to remove {to_erase} from wrong graph!")
        if to_erase._erased:
            _warn(f"erase_node({to_erase}) on an already erased node")
            return
        for hook in getattr(self._owning_module, "_erase_node_hooks", ()):
            hook(to_erase)
        to_erase._unlink()
        to_erase._erased = True
        self._len -= 1
        to_erase._set_arguments((), {})
        self._moved()

    def inserting_before(self, n: Node | None = None) -> _InsertPoint:
        """Insert nodes before ``n``, or at the beginning, from now on, or within the block of a with
        statement.

        Raises:
            AssertionError: if the node belongs to another graph.
        """
        if n is None:
            return self.inserting_after(self._root)
        if n.graph is not self:
            raise AssertionError("Node to insert before is not in graph.")
        return _InsertPoint(self, n.prepend)

    def inserting_after(self, n: Node | None = None) -> _InsertPoint:
        """Insert nodes after ``n``, or at the end, from now on, or within the block of a with statement.

        Raises:
            AssertionError: if the node belongs to another graph.
        """
        if n is None:
            return self.inserting_before(self._root)
        if n.graph is not self:
            raise AssertionError("Node to insert after is not in graph.")
        return _InsertPoint(self, n.append)

    def eliminate_dead_code(self, is_impure_node: Callable[[Node], bool] | None = None) -> bool:
        """Take out nodes whose results nothing uses, unless they do something besides.

        Args:
            is_impure_node: says whether a node does; by default `Node.is_impure`.

        Returns:
            Whether there were any.
        """
        self.lint()
        changed = False
        for node in reversed(self.nodes):
            impure = node.is_impure() if is_impure_node is None else is_impure_node(node)
            if not impure and not node.users:
                self.erase_node(node)
                changed = True
        return changed

    def node_copy(self, node: Node, arg_transform: Callable[[Node], Any] = lambda x: x) -> Node:
        """Insert a copy of a node, which may be another graph's.

        Args:
            node: the node.
            arg_transform: gives for each node among its arguments the one to put there.
        """
        args, kwargs = map_arg(node.args, arg_transform), map_arg(node.kwargs, arg_transform)
        made = self.create_node(node.op, node.target, args, kwargs, node.name, node.type)
        made.meta = copy.copy(node.meta)
        return made

    def graph_copy(self, g: Graph, val_map: dict[Node, Node], return_output_node: bool = False) -> Any:
        """Insert copies of the nodes of another graph.

        Args:
            g: the other graph.
            val_map: nodes of ``g`` and what stands for them here; the copies are added.
            return_output_node: whether its output node is returned, too.

        Returns:
            What ``g`` returns, in nodes of this graph; None if it has no output.
        """
        for node in g.nodes:
            if node in val_map:
                continue
            if node.op == "output":
                result = map_arg(node.args[0], lambda n: val_map[n])
                return (result, node) if return_output_node else result
            val_map[node] = self.node_copy(node, lambda n: val_map[n])
        return None

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Graph:
        made = Graph(tracer_cls=self._tracer_cls)
        if memo is not None:
            memo[id(self)] = made
        found = made.graph_copy(self, {}, return_output_node=True)
        made._codegen = copy.deepcopy(self._codegen)
        made._tracer_extras, made._co_fields = self._tracer_extras, self._co_fields
        if found is not None:
            result, old = found
            made.output(result, type_expr=old.type).meta = copy.copy(old.meta)
        return made

    def lint(self) -> None:
        """Look whether the graph is well formed: names, order, and what the nodes refer to.

        Raises:
            RuntimeError: saying of which node something is wrong.
        """
        lint(self)

    # --------------------------------------------------------------------------------------- code

    def python_code(self, root_module: str, *, verbose: bool = False, include_stride: bool = False,
                    include_device: bool = False, colored: bool = False, expanded_def: bool = False,
                    record_func: bool = False) -> PythonCode:
        """The Python code of the graph, and what the names in it mean.

        Args:
            root_module: the variable that holds the module, ``"self"`` in a method.
            verbose: whether comments say which lines of the program nodes came from.
            include_stride, include_device, colored, record_func: not supported.
            expanded_def: whether the parameters stand on lines of their own.

        Raises:
            NotImplementedError: for an option that is not supported.
        """
        for name, on in (("include_stride", include_stride), ("include_device", include_device),
                         ("colored", colored), ("record_func", record_func)):
            if on:
                raise NotImplementedError(f"Graph.python_code({name}=True) is not supported: leave it out")
        return self._codegen._gen_python_code(self.nodes, root_module, _Namespace(), verbose=verbose,
                                              expanded_def=expanded_def)

    def __str__(self) -> str:
        return "\n    ".join(["graph():", *(line for n in self.nodes
                                            if (line := n.format_node()) is not None)])

    def print_tabular(self) -> None:
        """Print the nodes as a table, by the package ``tabulate``.

        Raises:
            ImportError: when it is not installed.
        """
        try:
            from tabulate import tabulate
        except ImportError:
            print("`print_tabular` needs the package `tabulate`: run `pip install tabulate`.",
                  file=sys.stdout)
            raise
        rows = [[n.op, n.name, n.target, n.args, n.kwargs] for n in self.nodes]
        print(tabulate(rows, headers=["opcode", "name", "target", "args", "kwargs"]), file=sys.stdout)

    def set_codegen(self, codegen: CodeGen) -> None:
        """Write code by ``codegen`` from now on."""
        self._codegen = codegen

    def process_inputs(self, *args: Any) -> Any:
        """Arguments of the function as the placeholders take them."""
        return self._codegen.process_inputs(*args)

    def process_outputs(self, out: Any) -> Any:
        """What the function returns for the output."""
        return self._codegen.process_outputs(out)

    def on_generate_code(self, make_transformer: Callable) -> contextlib.AbstractContextManager[None]:
        """Register what changes the lines of the body; it is taken away at the end of the block.

        Args:
            make_transformer: gets what was registered before, or None, and returns a function from the list
                of lines to another.
        """
        codegen, before = self._codegen, self._codegen._body_transformer
        codegen._body_transformer = make_transformer(before)

        @contextlib.contextmanager
        def block() -> Iterator[None]:
            try:
                yield
            finally:
                codegen._body_transformer = before

        return block()

    def _clear_nodes(self) -> None:
        for node in reversed(self.nodes):
            node.users.clear()
            self.erase_node(node)


def _warn(message: str) -> None:
    warnings.warn(message, stacklevel=3)
