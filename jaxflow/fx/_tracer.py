"""`Tracer`: runs a module or a function with proxies for its inputs, and returns the graph of what it did."""

from __future__ import annotations

import inspect
import math
import threading
import warnings
import weakref
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

from jaxflow._core.inner import module_of
from jaxflow._core.modes import Changed
from jaxflow._core.tensor import Tensor
from jaxflow._functions import _assert
from jaxflow.nn.modules.container import Sequential
from jaxflow.nn.modules.module import Module
from jaxflow.nn.parameter import Parameter
from jaxflow.utils import _pytree

from . import _patching as patching
from ._placeholders import PHBase, PHWithMeta, _assert_is_none, has_variable_parameters, with_plain_parameters
from .graph import Graph, _PyTreeCodeGen, _PyTreeInfo
from .proxy import ParameterProxy, Proxy, Scope, ScopeContextManager, TracerBase, base_types


class _Tracing(threading.local):
    """How many tracers of this thread run, one within the other."""

    depth = 0
    #: What the outermost one took over: calls of modules, and reading of their attributes.
    originals: tuple[Callable, Callable] | None = None


_tracing = _Tracing()
#: Classes whose objects may stand in graphs, as attributes of the module.
_proxyable_classes: weakref.WeakSet = weakref.WeakSet()


def is_fx_tracing() -> bool:
    """Whether a tracer runs in this thread.

    Example:
        >>> torch.fx._symbolic_trace.is_fx_tracing()
        False
    """
    return _tracing.depth > 0


class ProxyableClassMeta(type):
    """A metaclass of classes that are made within traced functions: with a proxy, making one is a node.

    Example:
        >>> class Pair(metaclass=torch.fx.ProxyableClassMeta):
        ...     def __init__(self, a, b):
        ...         self.a, self.b = a, b
        >>> graph = torch.fx.symbolic_trace(lambda x: Pair(x, 1).a).graph
        >>> [node.op for node in graph.nodes]
        ['placeholder', 'call_function', 'call_function', 'output']
    """

    def __init__(cls, name: str, bases: tuple, attrs: dict[str, Any]) -> None:
        _proxyable_classes.add(cls)
        super().__init__(name, bases, attrs)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if is_fx_tracing():
            for leaf in _pytree.tree_leaves((args, kwargs)):
                if isinstance(leaf, Proxy):
                    return leaf.tracer.create_proxy("call_function", cls, args, kwargs)
        return super().__call__(*args, **kwargs)


class Tracer(TracerBase):
    """Records what a module or a function does with its inputs as a graph.

    Subclasses say by `is_leaf_module` which modules remain one call, and change what becomes of calls of
    modules (`call_module`), arguments (`create_arg`) and attributes (`getattr`).

    Args:
        autowrap_modules: modules whose functions are recorded as calls, like those given to `wrap`.
        autowrap_functions: functions that are recorded so.
        param_shapes_constant: whether shapes of parameters are numbers of the graph, not nodes.

    Example:
        >>> class Whole(torch.fx.Tracer):
        ...     def is_leaf_module(self, m, module_qualified_name):
        ...         return True
        >>> graph = Whole().trace(nn.Sequential(nn.Sequential(nn.ReLU())))
        >>> [(node.op, node.target) for node in graph.nodes]
        [('placeholder', 'input'), ('call_module', '0'), ('output', 'output')]
    """

    def __init__(self, autowrap_modules: tuple[ModuleType, ...] = (math,),
                 autowrap_functions: tuple[Callable, ...] = (), param_shapes_constant: bool = False) -> None:
        super().__init__()
        self._autowrap_function_ids = patching.functions_in(autowrap_modules)
        self._autowrap_function_ids.update(map(id, autowrap_functions))
        self._autowrap_functions = tuple(autowrap_functions)  # so that the ids stay theirs
        self._autowrap_search = list(autowrap_modules)
        self.param_shapes_constant = param_shapes_constant
        self.submodule_paths: dict[Module, str] | None = None
        self.root_module_name = ""
        self.scope = Scope("", None)
        self.module_stack: dict[str, tuple[str, Any]] = {}
        self.num_calls: dict[str, int] = {}
        self.node_name_to_scope: dict[str, tuple[str, Any]] = {}
        self.tensor_attrs: dict[Any, str] = {}
        self._qualname_counter: dict[str, int] = {}

    # ---------------------------------------------------------------------------------- overridden

    def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
        """Whether a module remains one call: by default those of ``torch.nn``, but for ``Sequential``.

        Args:
            m: the module.
            module_qualified_name: its path from the root.
        """
        return module_of(type(m)).startswith("jaxflow.nn.") and not isinstance(m, Sequential)

    def path_of_module(self, mod: Module) -> str:
        """The path of a module from the root.

        Raises:
            NameError: if it is no submodule of the root.
        """
        if self.submodule_paths is not None:
            path = self.submodule_paths.get(mod)
        else:
            path = next((name for name, each in self.root.named_modules() if each is mod), None)
        if path is None:
            raise NameError("module is not installed as a submodule")
        return path

    def call_module(self, m: Module, forward: Callable[..., Any], args: tuple, kwargs: dict[str, Any]) -> Any:
        """What a call of a module becomes: a node for a leaf, else what happens inside.

        Args:
            m: the module.
            forward: calls it.
            args, kwargs: its arguments.
        """
        path = self.path_of_module(m)
        with ScopeContextManager(self.scope, Scope(path, type(m))):
            calls = self.num_calls.get(path, 0)
            self.num_calls[path] = calls + 1
            key = f"{path}@{calls}" if calls else path
            self.module_stack[key] = (path, type(m))
            try:
                if self.is_leaf_module(m, path):
                    return self.create_proxy("call_module", path, args, kwargs)
                return forward(*args, **kwargs)
            finally:
                self.module_stack.pop(key, None)

    def getattr(self, attr: str, attr_val: Any, parameter_proxy_cache: dict[str, Proxy]) -> Any:
        """What reading a parameter, buffer or submodule of a module gives: a proxy for a parameter.

        Args:
            attr: the attribute's name.
            attr_val: its value.
            parameter_proxy_cache: proxies that were made, by path.
        """
        if isinstance(attr_val, Parameter):
            found = self._proxy_of(attr_val, self.root.named_parameters(), parameter_proxy_cache)
        elif self.proxy_buffer_attributes and isinstance(attr_val, Tensor):
            found = self._proxy_of(attr_val, self.root.named_buffers(), parameter_proxy_cache)
        else:
            found = None
        return attr_val if found is None else found

    def _proxy_of(self, value: Any, named: Any, cache: dict[str, Proxy]) -> Any:
        path = next((name for name, each in named if each is value), None)
        if path is None:
            return None
        if path not in cache:
            options: dict[str, Any] = {}
            if self.param_shapes_constant:
                options["proxy_factory_fn"] = lambda node: ParameterProxy(self, node, path, value)
            cache[path] = self.create_proxy("get_attr", path, (), {}, **options)
        return cache[path]

    def get_fresh_qualname(self, prefix: str) -> str:
        """A name that begins so, and that the root has no attribute of."""
        i = self._qualname_counter.get(prefix, 0)
        while hasattr(self.root, f"{prefix}{i}"):
            i += 1
        self._qualname_counter[prefix] = i
        return f"{prefix}{i}"

    def create_arg(self, a: Any) -> Any:
        """An argument as it stands in a node; parameters, tensors and modules become nodes for attributes.

        Raises:
            NameError: for a parameter that is none of the root's.
            NotImplementedError: for an object that cannot stand in a graph.
        """
        path = None
        if isinstance(a, Parameter):
            path = next((name for name, each in self.root.named_parameters() if each is a), None)
            if path is None:
                raise NameError("parameter is not a member of this module")
        elif isinstance(a, Tensor):
            path = next((name for name, each in self.root.named_buffers() if each is a), None)
            if path is None:
                path = self.tensor_attrs.get(a)
            if path is None:
                path = self._constant("_tensor_constant", a)
                self.tensor_attrs[a] = path
        elif isinstance(a, Module):
            path = next((name for name, each in self.root.named_modules() if each is a), None)
        elif type(a) in _proxyable_classes:
            path = self._constant(f"_{type(a).__name__}_constant_", a)
        if path is not None:
            return self.create_node("get_attr", path, (), {})
        return super().create_arg(a)

    def _constant(self, prefix: str, value: Any) -> str:
        path = self.get_fresh_qualname(prefix)
        setattr(self.root, path, value)
        return path

    # --------------------------------------------------------------------------------- the inputs

    def create_args_for_root(self, root_fn: Callable[..., Any], is_module: bool,
                             concrete_args: dict[str, Any] | tuple | None = None
                             ) -> tuple[Callable, list[Any]]:
        """The function to run, and what to run it with: a proxy for each input.

        Args:
            root_fn: the function.
            is_module: whether its first parameter is the module.
            concrete_args: values of parameters, by name or one for each; `PH` stands for an input.

        Raises:
            RuntimeError: when the numbers do not fit, or there is no ``self``.
        """
        analysed = inspect.unwrap(root_fn)
        code = analysed.__code__
        total = code.co_argcount + code.co_kwonlyargcount
        names = list(code.co_varnames)
        args: list[Any] = []
        first = 0
        if is_module:
            if total == 0:
                raise RuntimeError("``self`` argument cannot be part of *args expansion!")
            first = 1
            args.append(self.root)
        signature = inspect.signature(analysed)
        own = names[first:total]
        if isinstance(concrete_args, tuple):
            if len(own) != len(concrete_args):
                raise RuntimeError(f"Tracing expected {len(own)} arguments but got {len(concrete_args)} "
                                   "concrete arguments")
            concrete_args = dict(zip(own, concrete_args, strict=True))
        args.extend(self._placeholder(name, concrete_args, signature, analysed) for name in own)
        if has_variable_parameters(analysed):
            rest = iter(names[total:])
            if code.co_flags & inspect.CO_VARARGS:
                args.append(self._placeholder(f"*{next(rest)}", concrete_args, signature, analysed))
            if code.co_flags & inspect.CO_VARKEYWORDS:
                args.append(self._placeholder(f"**{next(rest)}", concrete_args, signature, analysed))
            root_fn = with_plain_parameters(analysed, len(args))
        flat, spec = _pytree.tree_flatten(tuple(args))
        if all(child.is_leaf() for child in spec.children()):
            return root_fn, args
        codegen = _PyTreeCodeGen(_PyTreeInfo([*("self",)[:first], *own], spec, None))
        self.graph._codegen = codegen

        def flat_fn(*leaves):  # without annotations, which would be the graph's
            result, out_spec = _pytree.tree_flatten(root_fn(*_pytree.tree_unflatten(list(leaves), spec)))
            codegen.pytree_info = codegen.pytree_info._replace(out_spec=out_spec)
            return result

        return flat_fn, flat

    def _placeholder(self, name: str, concrete: dict[str, Any] | None, signature: inspect.Signature,
                     fn: Callable) -> Any:
        parameter = signature.parameters.get(name.lstrip("*"))
        default: tuple = ()
        if not name.startswith("*") and parameter is not None and parameter.default is not parameter.empty:
            default = (parameter.default,)
        if concrete is None or name not in concrete:
            return self.create_proxy("placeholder", name, default, {}, type_expr=_annotations(fn).get(name))
        count = 0

        def replaced(value: Any) -> Any:
            nonlocal count
            count += 1
            made = self.create_proxy("placeholder", f"{name}_{count}", default, {})
            if isinstance(value, PHBase):
                if isinstance(value, PHWithMeta):
                    value.transfer_to(made.node.meta)
                return made
            message = f"{name} has been specialized to have value {value} but got another value"
            if value is None:
                self.create_proxy("call_function", _assert_is_none, (made, message), {})
            elif isinstance(value, base_types) and not isinstance(value, Tensor):
                self.create_proxy("call_function", _assert, (made == value, message), {})
            else:
                warnings.warn(f"Was not able to add assertion to guarantee correct input {name} to "
                              "specialized function. It is up to the user to make sure that your inputs "
                              "match the inputs you specialized the function with.", stacklevel=2)
            return value

        return _pytree.tree_map(replaced, concrete[name])

    # ---------------------------------------------------------------------------------- the trace

    def trace(self, root: Module | Callable[..., Any], concrete_args: dict[str, Any] | None = None) -> Graph:
        """The graph of what ``root`` does with its inputs.

        Args:
            root: a module or a function.
            concrete_args: values of parameters that are no inputs; nested ones with `PH` where they are.

        Raises:
            TraceError: where the program needs a value.
        """
        with patching.LOCK:
            originals = _tracing.originals or (Module.__call__, Module.__getattr__)
            return Changed(_tracing, depth=_tracing.depth + 1, originals=originals).run(
                patching.Patches().run, self._trace, root, concrete_args)

    def _trace(self, patches: patching.Patches, root: Any, concrete_args: Any) -> Graph:
        is_module = isinstance(root, Module)
        if is_module:
            if not hasattr(type(root), self.traced_func_name):
                raise AssertionError(f"traced_func_name={self.traced_func_name} doesn't exist in "
                                     f"{type(root).__name__}")
            self.root = root
            fn = getattr(type(root), self.traced_func_name)
            self.root_module_name = root._get_name()
            self.submodule_paths = {module: name for name, module in root.named_modules()}
        else:
            self.root, fn = Module(), root
        self.graph = Graph(tracer_cls=type(self))
        self.tensor_attrs = dict(_plain_tensors(self.root, ""))
        if not isinstance(fn, FunctionType):
            raise AssertionError(f"Expected FunctionType, got {type(fn)}")
        space = fn.__globals__
        run, args = self.create_args_for_root(fn, is_module, concrete_args)
        self._patch(patches, space)
        result = run(*args)
        self.create_node("output", "output", (self.create_arg(result),), {},
                         type_expr=_annotations(run).get("return"))
        self.submodule_paths = None
        return self.graph

    def _patch(self, patches: patching.Patches, space: dict[str, Any]) -> None:
        """Take over calls of modules, reading of their attributes, and functions that are wrapped."""
        me, cache = threading.get_ident(), {}  # type: ignore[var-annotated]
        call, read = _tracing.originals  # type: ignore[misc]  # of the outermost tracer

        def traced_call(mod: Module, *args: Any, **kwargs: Any) -> Any:
            if threading.get_ident() != me:
                return call(mod, *args, **kwargs)
            lines = getattr(getattr(mod, "forward", mod), "__globals__", {})
            patching.patch_functions_of(patches, lines, self._autowrap_function_ids)
            return self.call_module(mod, lambda *a, **k: call(mod, *a, **k), args, kwargs)

        def traced_read(mod: Module, attr: str) -> Any:
            value = read(mod, attr)
            return self.getattr(attr, value, cache) if threading.get_ident() == me else value

        patches.attribute(Module, "__getattr__", traced_read)
        patches.attribute(Module, "__call__", traced_call)
        patching.patch_wrapped(patches)
        patching.patch_functions_of(patches, space, self._autowrap_function_ids)
        for module in self._autowrap_search:
            patching.patch_functions_of(patches, vars(module), self._autowrap_function_ids)

    def __deepcopy__(self, memo: dict[int, Any]) -> Tracer:
        made = type(self).__new__(type(self))
        made.__dict__.update(self.__dict__)
        for name in ("num_calls", "node_name_to_scope", "tensor_attrs", "_qualname_counter", "module_stack"):
            setattr(made, name, dict(getattr(self, name)))
        return made


def _annotations(fn: Callable) -> dict[str, Any]:
    """Its annotations; those of the library's own layers are tensors, or nothing that graphs show."""
    if fn.__module__ is None or not module_of(fn).startswith("jaxflow.nn."):
        return fn.__annotations__
    return {name: Tensor for name, hint in fn.__annotations__.items() if hint in ("Tensor", Tensor)}


def _plain_tensors(module: Module, prefix: str) -> Any:
    """Tensors among the attributes of modules that are no parameters or buffers, with their paths."""
    for name, value in module.__dict__.items():
        if isinstance(value, Tensor):
            yield value, f"{prefix}{name}"
    for name, child in module.named_children():
        yield from _plain_tensors(child, f"{prefix}{name}.")
