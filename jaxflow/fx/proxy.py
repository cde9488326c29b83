"""`Proxy`: stands for a value while a function is traced, and makes a node of everything done with it."""

from __future__ import annotations

import collections
import copy
import dataclasses
import dis
import enum
import inspect
import operator
import traceback as _tracebacks
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from jaxflow._core.device import device
from jaxflow._core.dtype import dtype
from jaxflow._core.layout import layout, memory_format
from jaxflow._core.tensor import Tensor
from jaxflow._functions import _assert
from jaxflow._publish.overrides import install_overrides, methods, override_function
from jaxflow.utils import _pytree

from . import traceback as _noting
from ._defaults import BY_METHOD, as_pytorch_passes
from ._names import qualified_name
from .graph import Graph, magic_methods, reflectable_magic_methods
from .node import Node, map_aggregate

__all__ = ["Attribute", "GraphAppendingTracer", "ParameterProxy", "Proxy", "Scope", "ScopeContextManager",
           "TraceError", "TracerBase"]

#: What may stand in a graph as it is.
base_types = (str, int, float, bool, complex, type(None), dtype, device, layout, memory_format, Tensor, range,
              type(...))


class TraceError(ValueError):
    """A traced function needed a value, which there is none of while tracing."""


class Scope:
    """The path and the type of the module that is being traced."""

    def __init__(self, module_path: str, module_type: Any) -> None:
        self.module_path, self.module_type = module_path, module_type


class ScopeContextManager:
    """A block in which ``scope`` is what ``current_scope`` says; afterwards it is as before."""

    def __init__(self, scope: Scope, current_scope: Scope) -> None:
        self._scope = scope
        self._before = copy.copy(scope)
        scope.module_path, scope.module_type = current_scope.module_path, current_scope.module_type

    def __enter__(self) -> Scope:
        return self._scope

    def __exit__(self, *error: object) -> None:
        self._scope.module_path = self._before.module_path
        self._scope.module_type = self._before.module_type


class TracerBase:
    """Makes nodes and proxies: what `Tracer` and `GraphAppendingTracer` have in common."""

    graph: Graph
    #: Whether nodes get the lines of the program that made them.
    record_stack_traces = False
    #: Kept for its name: what a traced function changes is recorded as it is called.
    check_mutable_operations = False
    #: Whether ``assert`` of a proxy is recorded, which is not supported.
    trace_asserts = False
    proxy_buffer_attributes = False
    #: The name of the method that is traced.
    traced_func_name = "forward"
    scope: Scope
    module_stack: dict[str, Any]
    node_name_to_scope: dict[str, tuple[str, Any]]

    def create_node(self, kind: str, target: Any, args: tuple, kwargs: dict[str, Any],
                    name: str | None = None,
                    type_expr: Any | None = None) -> Node:
        """Insert a node into the graph, with what is noted of where it comes from."""
        node = self.graph.create_node(kind, target, args, kwargs, name, type_expr)
        scope = self.scope
        self.node_name_to_scope[node.name] = (scope.module_path, scope.module_type)
        if _noting.has_preserved_node_meta():
            node.meta.update(_noting.get_current_meta())
        elif self.module_stack:
            node.meta["nn_module_stack"] = collections.OrderedDict(self.module_stack)
        return node

    def proxy(self, node: Node) -> Proxy:
        """What stands for the result of a node; subclasses return proxies of their own."""
        return Proxy(node, self)

    def create_proxy(self, kind: str, target: Any, args: tuple, kwargs: dict[str, Any],
                     name: str | None = None, type_expr: Any | None = None,
                     proxy_factory_fn: Callable[[Node], Proxy] | None = None) -> Any:
        """Insert a node whose arguments may be proxies, and return what stands for its result.

        Args:
            kind, target: those of `Graph.create_node`.
            args, kwargs: arguments, with proxies for results.
            name: the node's name.
            type_expr: the annotation of the result.
            proxy_factory_fn: makes the proxy; by default `proxy`.
        """
        args_, kwargs_ = self.create_arg(args), self.create_arg(kwargs)
        if not isinstance(args_, tuple) or not isinstance(kwargs_, dict):
            raise AssertionError("create_arg() of a tuple and of a dict has to return such ones")
        node = self.create_node(kind, target, args_, kwargs_, name, type_expr)
        if self.record_stack_traces and not node.stack_trace:
            frames = [f for f in _traced_frames() if not _is_of_tracing(f.filename)]
            if frames:
                node.stack_trace = "".join(_tracebacks.format_list(frames))
        return self.proxy(node) if proxy_factory_fn is None else proxy_factory_fn(node)

    def create_arg(self, a: Any) -> Any:
        """An argument as it stands in a node: nodes for proxies, in the same containers.

        Raises:
            NotImplementedError: for an object that cannot stand in a graph.
            RuntimeError: for a dict with a proxy among its keys.
        """
        if isinstance(a, Proxy):
            return a.node
        if hasattr(a, "__fx_create_arg__"):
            return a.__fx_create_arg__(self)
        if isinstance(a, tuple):
            items = [self.create_arg(x) for x in a]
            return type(a)(*items) if hasattr(a, "_fields") else tuple(items)
        if isinstance(a, list):
            return [self.create_arg(x) for x in a]
        if isinstance(a, dict):
            return {self._create_key(k): self.create_arg(v) for k, v in a.items()}
        if isinstance(a, slice):
            return slice(self.create_arg(a.start), self.create_arg(a.stop), self.create_arg(a.step))
        if isinstance(a, base_types) or isinstance(a, enum.Enum) or inspect.isfunction(a):
            return a
        if _is_callable_of_library(a):
            return a
        if dataclasses.is_dataclass(a):
            fields = {f.name: self.create_arg(getattr(a, f.name)) for f in dataclasses.fields(a)}
            return self.create_node("call_function", type(a), (), fields)
        raise NotImplementedError(f"argument of type: {type(a)}")

    def _create_key(self, key: Any) -> Any:
        made = self.create_arg(key)

        def refuse(x: Any) -> None:
            if isinstance(x, Node):
                raise RuntimeError("Keys for dictionaries used as an argument cannot contain a Node. "
                                   f"Got key: {made}")

        map_aggregate(made, refuse)
        return made

    def to_bool(self, obj: Proxy) -> bool:
        """What ``bool(proxy)`` does: it refuses, since which way a program goes would hang on a value.

        Raises:
            TraceError: always.
        """
        if self.trace_asserts:
            raise NotImplementedError("Tracer.trace_asserts is not supported: call torch._assert(condition, "
                                      "message), which is recorded")
        raise TraceError("symbolically traced variables cannot be used as inputs to control flow")

    def iter(self, obj: Proxy) -> Iterator:
        """What iterating over a proxy does: ``a, b = proxy`` takes two items, anything else is refused.

        Raises:
            TraceError: where the number of items is not known.
        """
        frame = inspect.currentframe()
        while frame is not None and frame.f_code in (TracerBase.iter.__code__, Proxy.__iter__.__code__):
            frame = frame.f_back
        if frame is not None:
            found = next((i for i in dis.get_instructions(frame.f_code) if i.offset == frame.f_lasti), None)
            if found is not None and found.opname.startswith("UNPACK_SEQUENCE"):
                return iter([obj[i] for i in range(found.arg or 0)])
        raise TraceError(
            "Proxy object cannot be iterated, in a loop or as *args or **kwargs: how many items there are "
            "is not known while tracing. Wrap the function that iterates by torch.fx.wrap, or keep the "
            "module that does whole")

    def keys(self, obj: Proxy) -> Any:
        """What ``proxy.keys()`` gives: the call of a method."""
        return Attribute(obj, "keys")()


def _traced_frames() -> list:
    """The frames of what is traced: those that the tracer called."""
    frames = list(_tracebacks.extract_stack())
    first = max((i for i, f in enumerate(frames) if f.name == "_trace" and _is_of_tracing(f.filename)),
                default=-1)
    return frames[first + 1:]


def _is_of_tracing(filename: str) -> bool:
    return filename.startswith(__file__.rpartition("proxy.py")[0])


def _is_callable_of_library(a: Any) -> bool:
    """Whether it is a class or an operator of the library, which code can name."""
    return (isinstance(a, type) and a.__module__.partition(".")[0] in ("jaxflow", "torch")) or hasattr(
        a, "overloadpacket") or isinstance(a, type) and a.__module__ == "builtins"


class GraphAppendingTracer(TracerBase):
    """A tracer without a module, whose proxies append nodes to a graph that there is.

    Args:
        graph: the graph.

    Example:
        >>> graph = torch.fx.Graph()
        >>> tracer = torch.fx.proxy.GraphAppendingTracer(graph)
        >>> x = torch.fx.Proxy(graph.placeholder("x"), tracer)
        >>> torch.relu(x + 1).node.args
        (add,)
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.scope = Scope("", None)
        self.module_stack: dict[str, Any] = {}
        self.node_name_to_scope: dict[str, tuple[str, Any]] = {}


#: Comparisons that are methods of another name in PyTorch.
_COMPARISONS = {"__eq__": "eq", "__ne__": "ne"}


class Proxy:
    """Stands for the result of a node: what is done with it becomes nodes of the graph.

    Args:
        node: the node.
        tracer: makes the further nodes; by default a `GraphAppendingTracer` of the node's graph.

    Example:
        >>> graph = torch.fx.Graph()
        >>> x = torch.fx.Proxy(graph.placeholder("x"))
        >>> graph.output((torch.relu(x) * x.size(0)).node)
        output
        >>> [node.name for node in graph.nodes]
        ['x', 'relu', 'size', 'mul', 'output']
    """

    def __init__(self, node: Node, tracer: TracerBase | None = None) -> None:
        install_overrides()
        self.tracer = GraphAppendingTracer(node.graph) if tracer is None else tracer
        self.node = node

    def __repr__(self) -> str:
        return f"Proxy({self.node.name})"

    def __getattr__(self, k: str) -> Attribute:
        if k in ("tracer", "node"):  # of one that is not made yet
            raise AttributeError(k)
        return Attribute(self, k)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ = state

    def __deepcopy__(self, memo: dict[int, Any]) -> Proxy:
        made = type(self).__new__(type(self))
        memo[id(self)] = made
        made.__dict__.update({k: v if k == "tracer" else copy.deepcopy(v, memo)
                              for k, v in self.__dict__.items()})
        return made

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.tracer.create_proxy("call_method", "__call__", (self, *args), kwargs)

    def __iter__(self) -> Iterator[Proxy]:
        return self.tracer.iter(self)

    def __abs__(self) -> Any:
        return self.tracer.create_proxy("call_function", operator.abs, (self,), {})

    def __bool__(self) -> bool:
        return self.tracer.to_bool(self)

    def keys(self) -> Any:
        """The call of the method ``keys``, recorded."""
        return self.tracer.keys(self)

    def __len__(self) -> NoReturn:
        raise RuntimeError("'len' is not supported in symbolic tracing by default: torch.fx.wrap('len') at "
                           "the top of the module records such calls")

    @classmethod
    def __torch_function__(cls, orig_method: Callable, types: Any, args: tuple = (),
                           kwargs: dict[str, Any] | None = None) -> Any:
        kwargs = kwargs or {}
        tracers: dict[TracerBase, None] = {}

        def find(x: Any) -> None:
            if isinstance(x, Proxy):
                tracers.setdefault(x.tracer)

        _each_leaf((args, kwargs), find)
        if len(tracers) != 1:
            raise RuntimeError(f"Found multiple different tracers {list(tracers)} while trying to trace "
                               f"operations {orig_method}")
        tracer = next(iter(tracers))
        of_tensor = bool(args) and not isinstance(args[0], Proxy)
        if orig_method in methods() and (of_tensor or not _is_also_a_function(orig_method)):
            name = orig_method.__name__
            return tracer.create_proxy("call_method", _COMPARISONS.get(name, name), args, kwargs)
        if getattr(orig_method, "__name__", "") == "__get__":
            name = getattr(orig_method.__self__, "__name__", None) or orig_method.__self__.fget.__name__
            return tracer.create_proxy("call_function", getattr, (args[0], name), {})
        if qualified_name(orig_method) in BY_METHOD and args:
            return tracer.create_proxy("call_method", orig_method.__name__, args, kwargs)
        orig_method, args, kwargs = as_pytorch_passes(orig_method, args, kwargs)
        return tracer.create_proxy("call_function", orig_method, args, kwargs,
                                   name=tracer.graph._target_to_str(orig_method))


def _is_also_a_function(method: Callable) -> bool:
    """Whether it is a function and a method in one; methods of a proxy are recorded without being called."""
    return not qualified_name(method).startswith("torch.Tensor.")


def _each_leaf(tree: Any, fn: Callable[[Any], Any]) -> None:
    """Call ``fn`` with each leaf, slices looked into."""
    for leaf in _pytree.tree_leaves(tree):
        for x in (leaf.start, leaf.stop, leaf.step) if isinstance(leaf, slice) else (leaf,):
            fn(x)


class Attribute(Proxy):
    """An attribute of what a proxy stands for: a node when its value is used, the call of a method when
    called.
    """

    def __init__(self, root: Proxy, attr: str) -> None:
        self.root, self.attr = root, attr
        self.tracer = root.tracer
        self._node: Node | None = None

    @property
    def node(self) -> Node:  # type: ignore[override]
        """The node that reads the attribute, made when it is first needed."""
        if self._node is None:
            self._node = self.tracer.create_proxy("call_function", getattr, (self.root, self.attr), {}).node
        return self._node

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.tracer.create_proxy("call_method", self.attr, (self.root, *args), kwargs)


class ParameterProxy(Proxy):
    """Stands for a parameter whose shape is a constant of the graph: see ``Tracer.param_shapes_constant``."""

    def __init__(self, tracer: TracerBase, node: Node, name: str, param: Tensor) -> None:
        super().__init__(node, tracer)
        if not isinstance(param, Tensor):
            raise AssertionError(f"Expected a parameter, got {type(param)}")
        self.param, self.name = param, name

    def __repr__(self) -> str:
        return f"ParameterProxy({self.name})"

    @property
    def shape(self) -> Any:
        """The parameter's shape."""
        return self.param.shape

    @property
    def ndim(self) -> int:
        """The number of its dimensions."""
        return self.param.ndim

    def size(self, *args: Any) -> Any:
        """Its shape, or the size of one dimension."""
        return self.param.size(*args)

    def dim(self) -> int:
        """The number of its dimensions."""
        return self.param.dim()

    def numel(self) -> int:
        """The number of its elements."""
        return self.param.numel()

    def nelement(self) -> int:
        """The number of its elements."""
        return self.param.nelement()


def _binary(name: str) -> Callable:
    target = getattr(operator, name, None)

    def call(*args: Any, **kwargs: Any) -> Any:
        if target is None:
            raise TypeError(f"operator has no function {name!r}")
        return args[0].tracer.create_proxy("call_function", target, args, kwargs)

    return call


def _reflected(name: str) -> Callable:
    target = getattr(operator, name, None)

    def call(self: Proxy, rhs: Any) -> Any:
        if target is None:
            raise TypeError(f"operator has no function {name!r}")
        return self.tracer.create_proxy("call_function", target, (rhs, self), {})

    return call


def _give_operators() -> None:
    for table, make, prefix in ((magic_methods, _binary, ""), (reflectable_magic_methods, _reflected, "r")):
        for name in table:
            method = make(name)
            method.__name__ = f"__{prefix}{name.strip('_')}__"
            method.__qualname__ = f"Proxy.{method.__name__}"
            setattr(Proxy, method.__name__, method)


_give_operators()
override_function(_assert, _assert)  # a proxy is recorded; others of a hidden name take over nothing
Proxy.__hash__ = object.__hash__  # type: ignore[method-assign]  # comparing makes a node, and a proxy is a key
