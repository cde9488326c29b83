"""`GraphModule`: a module whose ``forward`` is generated from a graph."""

from __future__ import annotations

import contextlib
import copy
import os
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from jaxflow.nn.modules.module import Module

from ._attributes import _assign_attr as _assign_attr
from ._attributes import _copy_attr as _copy_attr
from ._attributes import _del_attr as _del_attr
from ._attributes import _get_attr as _get_attr
from ._attributes import _has_attr as _has_attr
from ._folder import write_package
from ._source import function_from, function_of_saved, import_block
from ._tracer import Tracer
from .graph import Graph, PythonCode, _PyTreeCodeGen

__all__ = ["GraphModule", "reduce_graph_module"]

_USER_PRESERVED_ATTRIBUTES_KEY = "_user_preserved_attributes"
_HOOKS = ("_replace_hooks", "_create_node_hooks", "_erase_node_hooks", "_deepcopy_hooks")


class _CodeOnlyModule(Module):
    """Has the attributes of a module that was saved, and no code.

    Args:
        body: the attributes.
    """

    def __init__(self, body: dict[str, Any]) -> None:
        super().__init__()
        self.__dict__ = body


class GraphModule(Module):
    """A module whose ``forward`` is the code of a graph.

    Args:
        root: a module with the submodules, parameters and buffers that the graph names, or a dict of them by
            path. They become the new module's own, the same objects.
        graph: the graph.
        class_name: the name of the class of the module, which is a class of its own.

    Raises:
        RuntimeError: when ``root`` has not all that the graph names, or is neither a module nor a dict.

    Example:
        >>> graph = torch.fx.Graph()
        >>> x = graph.placeholder("x")
        >>> y = graph.output(graph.call_module("act", (x,)))
        >>> module = torch.fx.GraphModule({"act": nn.ReLU()}, graph)
        >>> module(torch.tensor([-1.0, 1.0])).tolist()
        [0.0, 1.0]
        >>> print(module.code.strip())
        def forward(self, x):
            act = self.act(x);  x = None
            return act
    """

    _graph: Graph

    def __new__(cls, *args: Any, **kwargs: Any) -> GraphModule:
        # A class of its own, which holds the code; that of a subclass, not of such a class.
        base = next(c for c in cls.__mro__ if "_is_graphs_own" not in c.__dict__)
        made = type("GraphModuleImpl", (base,), {
            "__module__": base.__module__, "__qualname__": "GraphModule.__new__.<locals>.GraphModuleImpl",
            "_is_graphs_own": True})
        return super().__new__(made)

    def __init__(self, root: Module | dict[str, Any], graph: Graph, class_name: str = "GraphModule") -> None:
        super().__init__()
        self.__class__.__name__ = class_name
        if isinstance(root, Module):
            if hasattr(root, "training"):
                self.training = root.training
            kept = getattr(root, "meta", {}).get(_USER_PRESERVED_ATTRIBUTES_KEY) if isinstance(
                getattr(root, "meta", None), dict) else None
            if kept is not None:
                self.__dict__.update(kept)
            for node in graph.nodes:
                if node.op in ("get_attr", "call_module"):
                    _copy_attr(root, self, node.target)
        elif isinstance(root, dict):
            paths = []
            for node in graph.nodes:
                if node.op in ("get_attr", "call_module"):
                    if node.target not in root:
                        raise RuntimeError(f"Node {node} referenced target {node.target} but that target "
                                           "was not provided in ``root``!")
                    paths.append(node.target)
            for path in sorted(paths, key=lambda p: p.count(".")):
                _assign_attr(root[path], self, path)
        else:
            raise RuntimeError(f"Unsupported type {root} passed for root!")
        tracer = graph._tracer_cls
        self._tracer_cls = None if tracer is None or "<locals>" in tracer.__qualname__ else tracer
        self._tracer_extras = graph._tracer_extras or {}
        self.meta: dict[str, Any] = {}
        if isinstance(root, Module) and isinstance(getattr(root, "meta", None), dict):
            self.meta.update(root.meta)
        for name in _HOOKS:
            setattr(self, name, [])
        self.graph = graph

    # --------------------------------------------------------------------------------- its graph

    @property
    def graph(self) -> Graph:
        """The graph; call `recompile` after changing it, or assign one."""
        return self._graph

    @graph.setter
    def graph(self, g: Graph) -> None:
        if not isinstance(g, Graph):
            raise AssertionError(f"Expected a Graph instance, but got {type(g)}")
        self._graph = g
        g.owning_module = self
        self.recompile()

    @property
    def code(self) -> str:
        """The Python code of ``forward``."""
        if "_code" not in self.__dict__:
            raise RuntimeError("there is no code yet: assign a graph, or call recompile()")
        return self._code

    def recompile(self) -> PythonCode:
        """Generate the code anew from the graph.

        Returns:
            The code, with what the names in it mean.
        """
        codegen = self._graph._codegen
        if isinstance(codegen, _PyTreeCodeGen):
            self._in_spec, self._out_spec = codegen.pytree_info.in_spec, codegen.pytree_info.out_spec
        made = self._graph.python_code("self")
        forward = function_from(made.src, made.globals, self._graph._co_fields, codegen._func_name)
        self._code, self._lineno_map, self._prologue_start = made.src, made._lineno_map, made._prologue_start
        type(self).forward = forward
        return made

    def print_readable(self, print_output: bool = True, include_stride: bool = False,
                       include_device: bool = False, colored: bool = False, *, fast_sympy_print: bool = False,
                       expanded_def: bool = False, additional_meta: list[str] | None = None) -> str:
        """The code of this module and of those within it that have graphs, as classes.

        Args:
            print_output: whether it is printed.
            include_stride, include_device, colored, additional_meta: not supported.
            fast_sympy_print: kept for its name: there are no symbols.
            expanded_def: whether the parameters stand on lines of their own.

        Returns:
            The text.
        """
        if additional_meta:
            raise NotImplementedError("print_readable(additional_meta=...) is not supported: leave it out")
        text = self._readable(self._get_name(), expanded_def, include_stride=include_stride,
                              include_device=include_device, colored=colored)
        if print_output:
            print(text, file=sys.stdout)
        return text

    def _readable(self, name: str, expanded: bool, **options: bool) -> str:
        code = self._graph.python_code("self", verbose=True, expanded_def=expanded, **options).src
        lines = [f"class {name}(torch.nn.Module):", textwrap.indent(code.strip("\n").rstrip(), "    ")]
        inner = [child._readable(path, expanded, **options) for path, child in self.named_children()
                 if isinstance(child, GraphModule)]
        text = "\n".join(lines) + "\n"
        return "\n".join([text, *(textwrap.indent(t, "    ") for t in inner)])

    def __str__(self) -> str:
        return "\n".join([super().__repr__(), self._code,
                          "# To see more debug info, please use `graph_module.print_readable()`"])

    # ------------------------------------------------------------------------------- its modules

    def add_submodule(self, target: str, m: Module) -> bool:
        """Put a module at a path, with empty modules on the way.

        Args:
            target: the path.
            m: the module.

        Returns:
            Whether it could be: nothing on the way is something else than a module.
        """
        *way, name = target.split(".")
        found: Module = self
        for part in way:
            if not hasattr(found, part):
                setattr(found, part, Module())
            found = getattr(found, part)
            if not isinstance(found, Module):
                return False
        found.add_module(name, m)
        return True

    def delete_submodule(self, target: str) -> bool:
        """Take away the module at a path.

        Returns:
            Whether there was one.
        """
        where, _, name = target.rpartition(".")
        found = _get_attr(self, where) if where and _has_attr(self, where) else None if where else self
        if not isinstance(found, Module) or not isinstance(getattr(found, name, None), Module):
            return False
        delattr(found, name)
        return True

    def delete_all_unused_submodules(self) -> None:
        """Take away the modules that no node calls and that have none that one calls, nor an attribute that
        is read.
        """
        used: set[str] = set()
        for node in self._graph.nodes:
            if node.op in ("call_module", "get_attr"):
                parts = node.target.split(".")
                used.update(".".join(parts[: i + 1]) for i in range(len(parts)))
                called = _get_attr(self, node.target)
                if node.op == "call_module" and isinstance(called, Module):
                    used.update(f"{node.target}.{name}" for name, _ in called.named_modules() if name)
        for name in [name for name, _ in self.named_modules() if name and name not in used]:
            self.delete_submodule(name)

    # ----------------------------------------------------------------------------------- copies

    def __reduce__(self) -> tuple:
        body = self.__dict__.copy()
        block = import_block(self.recompile().globals)
        del body["_graph"]
        body.pop("_compiled_call_impl", None)
        return reduce_graph_module, (body, block)

    def __deepcopy__(self, memo: dict[int, Any]) -> GraphModule:
        made = type(self).__new__(type(self))
        memo[id(self)] = made
        held = _CodeOnlyModule({k: v for k, v in self.__dict__.items() if k not in ("_graph", "_tracer_cls")})
        held.__dict__.pop("_compiled_call_impl", None)
        made.__dict__.update(copy.deepcopy(held.__dict__, memo))
        made._tracer_cls = self._tracer_cls
        type(made).__name__ = "GraphModule"
        made.graph = copy.deepcopy(self._graph)
        for hook in self.__dict__.get("_deepcopy_hooks", ()):
            hook(made)
        return made

    def __copy__(self) -> GraphModule:
        made = GraphModule(self, self._graph)
        self._graph.owning_module = self
        made.meta = getattr(self, "meta", {})
        return made

    def to_folder(self, folder: str | os.PathLike, module_name: str = "FxModule") -> None:
        """Write the code as a package that can be imported, beside the parameters and submodules.

        Args:
            folder: where, made if it is not there.
            module_name: the name of the class.
        """
        write_package(self, import_block(self.recompile().globals), Path(folder), module_name)

    # ------------------------------------------------------------------------------------ hooks

    @contextlib.contextmanager
    def _set_replace_hook(self, f: Callable) -> Iterator[None]:
        self._register_replace_node_hook(f)
        try:
            yield
        finally:
            self._unregister_replace_node_hook(f)

    def _register_replace_node_hook(self, f: Callable) -> None:
        self._replace_hooks.append(f)

    def _unregister_replace_node_hook(self, f: Callable) -> None:
        self._replace_hooks.remove(f)

    def _register_create_node_hook(self, f: Callable) -> None:
        self._create_node_hooks.append(f)

    def _unregister_create_node_hook(self, f: Callable) -> None:
        self._create_node_hooks.remove(f)

    def _register_erase_node_hook(self, f: Callable) -> None:
        self._erase_node_hooks.append(f)

    def _unregister_erase_node_hook(self, f: Callable) -> None:
        self._erase_node_hooks.remove(f)

    def _register_deepcopy_hook(self, f: Callable) -> None:
        self._deepcopy_hooks.append(f)

    def _unregister_deepcopy_hook(self, f: Callable) -> None:
        self._deepcopy_hooks.remove(f)


class _Whole(Tracer):
    """Keeps all modules whole: the code that is traced calls them by their paths."""

    def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
        return True


def reduce_graph_module(body: dict[str, Any], import_block: str) -> Module:
    """A `GraphModule` from what was pickled of one: its code is traced again.

    Args:
        body: the module's attributes, but for the graph.
        import_block: the lines that its code needs before it.
    """
    source = body.get("_code") or body["code"]
    forward = function_of_saved(f"{import_block}\n{source}")
    return _deserialize_graph_module(forward, body)


def _deserialize_graph_module(forward: Callable, body: dict[str, Any],
                              graph_module_cls: type | None = None) -> Module:
    body = dict(body)
    tracer_cls, name = body.get("_tracer_cls"), body.pop("_graphmodule_cls_name", "GraphModule")
    held = type("CodeOnlyModule", (_CodeOnlyModule,), {"forward": forward})(body)
    return _rebuilt(held, tracer_cls or Tracer, name, graph_module_cls or GraphModule)


def _rebuilt(held: _CodeOnlyModule, base: type, name: str, cls: type) -> Module:
    tracer = type("KeepModules", (base,), {"is_leaf_module": _Whole.is_leaf_module})()
    graph = tracer.trace(held)
    graph._tracer_cls = held.__dict__.get("_tracer_cls")
    made = cls(held, graph, class_name=name)
    for key, value in held.__dict__.items():
        if key not in made.__dict__:
            made.__dict__[key] = value
    return made
