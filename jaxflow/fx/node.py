"""`Node`: one step of a graph, an input, a call, an attribute or the output."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from ._arguments import map_aggregate as map_aggregate
from ._names import module_and_name as _module_and_name
from ._names import qualified_name as _get_qualified_name
from ._types import type_repr as _type_repr

__all__ = ["Node", "has_side_effect", "map_aggregate", "map_arg"]

#: What a node calls: a function, or the name of a method, module or attribute.
Target = Callable[..., Any] | str
#: What may stand among a node's arguments.
Argument = Any
BaseArgumentTypes = Any

_OPS = frozenset(("placeholder", "call_method", "call_module", "call_function", "get_attr", "output", "root"))
_F = TypeVar("_F", bound=Callable)

#: Functions that do something besides returning a result: programs add theirs by `has_side_effect`.
_side_effectful_functions: set[Callable] = set()
#: The same of jaxflow, by name: a call is kept though nothing uses its result.
_SIDE_EFFECTS = frozenset((
    "torch._assert", "torch._assert_async", "torch._C._set_grad_enabled", "_operator.setitem",
    "torch.fx._symbolic_trace._assert_is_none", "torch.amp.autocast_mode._enter_autocast",
    "torch.amp.autocast_mode._exit_autocast"))


def has_side_effect(fn: _F) -> _F:
    """Keep calls of ``fn`` in graphs, whether or not their results are used.

    Args:
        fn: the function; the result is ``fn`` itself, so this is a decorator, too.

    Example:
        >>> @torch.fx.node.has_side_effect
        ... def note(x):
        ...     return x
    """
    _side_effectful_functions.add(fn)
    return fn


def map_arg(a: Any, fn: Callable[[Node], Any]) -> Any:
    """``a`` with each node in it replaced by what ``fn`` makes of it.

    Args:
        a: a node, or nested tuples, lists, dicts and slices with nodes in them.
        fn: called with each node.

    Returns:
        The same containers, lists and dicts among them as ones that cannot be changed.

    Raises:
        AssertionError: if ``fn`` cannot be called.

    Example:
        >>> graph = torch.fx.Graph()
        >>> x = graph.placeholder("x")
        >>> torch.fx.node.map_arg((x, [x, 1]), lambda node: node.name)
        ('x', ['x', 1])
    """
    if not callable(fn):
        raise AssertionError("torch.fx.map_arg(a, fn): fn must be a callable")
    return map_aggregate(a, lambda x: fn(x) if isinstance(x, Node) else x)


class Node:
    """One step of a graph.

    Args:
        graph: the graph it belongs to; `Graph.create_node` makes nodes and puts them in place.
        name: the variable of its result in generated code.
        op: ``placeholder``, ``get_attr``, ``call_function``, ``call_method``, ``call_module`` or ``output``.
        target: the function, or the name of the method, module, attribute or argument.
        args, kwargs: what it is called with; nodes in them stand for their results.
        return_type: the annotation of its result.

    Raises:
        AssertionError: for an ``op`` that there is none of.
        ValueError: when ``target`` does not suit ``op``.

    Example:
        >>> graph = torch.fx.Graph()
        >>> x = graph.placeholder("x")
        >>> y = graph.call_function(torch.relu, (x,))
        >>> y.name, y.args, list(x.users)
        ('relu', (x,), [relu])
    """

    def __init__(self, graph: Any, name: str, op: str, target: Target, args: tuple, kwargs: dict,
                 return_type: Any | None = None) -> None:
        if op not in _OPS:
            raise AssertionError(f"op {op!r} is none of {', '.join(sorted(_OPS))}")
        if op == "call_function":
            if not callable(target):
                raise ValueError(f"Node [graph = {graph}, name = {name!r}] target {target} has type "
                                 f"{_type_repr(type(target))} but a Callable is expected")
        elif not isinstance(target, str):
            raise ValueError(f"Node [graph = {graph}, name = {name!r}] target {target} has type "
                             f"{_type_repr(type(target))} but a str is expected")
        self.graph, self.name, self.op, self.target = graph, name, op, target
        self.type = return_type
        self.meta: dict[str, Any] = {}
        self.users: dict[Node, None] = {}
        self._input_nodes: dict[Node, None] = {}
        self._erased = False
        self._repr_fn: Callable[[Node], str] | None = None
        self._prev = self._next = self
        self._position = 0
        self._args: tuple = ()
        self._kwargs: dict = {}
        self._set_arguments(map_arg(args, _itself), map_arg(kwargs, _itself))

    # ------------------------------------------------------------------------------------ neighbours

    @property
    def next(self) -> Node:
        """The node after it; after the last one the graph's root."""
        return self._next

    @property
    def prev(self) -> Node:
        """The node before it; before the first one the graph's root."""
        return self._prev

    def prepend(self, x: Node) -> None:
        """Move node ``x`` to just before this one.

        Raises:
            AssertionError: if it belongs to another graph.
        """
        if x.graph is not self.graph:
            raise AssertionError("Attempting to move a Node into a different Graph")
        if x is self:
            return
        x._unlink()
        before = self._prev
        before._next, x._prev, x._next, self._prev = x, before, self, x
        self.graph._moved()

    def append(self, x: Node) -> None:
        """Move node ``x`` to just after this one.

        Raises:
            AssertionError: if it belongs to another graph.
        """
        if x is not self._next:
            self._next.prepend(x)

    def _unlink(self) -> None:
        self._prev._next, self._next._prev = self._next, self._prev  # who iterates goes on from its own

    def __lt__(self, other: Node) -> bool:
        return self.graph._position_of(self) < self.graph._position_of(other)

    def __gt__(self, other: Node) -> bool:
        return other < self

    def __le__(self, other: Node) -> bool:
        return self is other or self < other

    def __ge__(self, other: Node) -> bool:
        return self is other or other < self

    # ------------------------------------------------------------------------------------- arguments

    @property
    def args(self) -> tuple:
        """The positional arguments; assigning others brings the users of nodes up to date."""
        return self._args

    @args.setter
    def args(self, args: tuple) -> None:
        self._set_arguments(map_arg(args, _itself), self._kwargs)

    @property
    def kwargs(self) -> dict[str, Any]:
        """The keyword arguments; assigning others brings the users of nodes up to date."""
        return self._kwargs

    @kwargs.setter
    def kwargs(self, kwargs: dict[str, Any]) -> None:
        self._set_arguments(self._args, map_arg(kwargs, _itself))

    @property
    def all_input_nodes(self) -> list[Node]:
        """The nodes among its arguments, each once."""
        return list(self._input_nodes)

    def _set_arguments(self, args: tuple, kwargs: dict) -> None:
        found: dict[Node, None] = {}
        map_arg((args, kwargs), found.setdefault)
        for node in self._input_nodes:
            node.users.pop(self, None)
        self._args, self._kwargs, self._input_nodes = args, kwargs, found
        for node in found:
            node.users.setdefault(self)

    def update_arg(self, idx: int, arg: Any) -> None:
        """Replace the positional argument number ``idx``."""
        args = list(self._args)
        args[idx] = arg
        self.args = tuple(args)

    def insert_arg(self, idx: int, arg: Any) -> None:
        """Put ``arg`` before the positional argument number ``idx``.

        Raises:
            AssertionError: for a place that there is none of.
        """
        if not 0 <= idx <= len(self._args):
            raise AssertionError(f"insert_args index must be between 0 and len(self.args), got {idx}")
        self.args = (*self._args[:idx], arg, *self._args[idx:])

    def update_kwarg(self, key: str, arg: Any) -> None:
        """Set the keyword argument ``key``."""
        self.kwargs = {**self._kwargs, key: arg}

    def replace_input_with(self, old_input: Node, new_input: Node) -> None:
        """Put ``new_input`` for ``old_input`` among the arguments."""

        def swap(node: Node) -> Any:
            return new_input if node is old_input else node

        self._tell_of(old_input, new_input)
        self._set_arguments(map_arg(self._args, swap), map_arg(self._kwargs, swap))

    def _tell_of(self, old: Node, new: Node) -> None:
        """Call what the owning module has registered for replaced nodes."""
        module = getattr(self.graph, "owning_module", None)
        for hook in getattr(module, "_replace_hooks", ()):
            hook(old=old, new=new.name, user=self)

    def replace_all_uses_with(self, replace_with: Node, delete_user_cb: Callable[[Node], bool] | None = None,
                              *, propagate_meta: bool = False) -> list[Node]:
        """Put another node for this one in all that uses it.

        Args:
            replace_with: the node to use instead.
            delete_user_cb: says of a user whether it is meant; all are by default.
            propagate_meta: whether ``replace_with``, which has to have none, gets this node's ``meta``.

        Returns:
            The nodes that used this one before.

        Raises:
            AssertionError: if both nodes have a ``meta`` and it is to be passed on.
        """
        if propagate_meta:
            if replace_with.meta:
                raise AssertionError("replace_all_uses_with(propagate_meta=True): replace_with must have "
                                     "no meta")
            replace_with.meta.update(self.meta)
        users = list(self.users)
        chosen = [user for user in users if delete_user_cb is None or delete_user_cb(user)]
        for user in chosen:
            user.replace_input_with(self, replace_with)
        return chosen

    # -------------------------------------------------------------------------------- what it says

    @property
    def stack_trace(self) -> str | None:
        """The lines of the program that made it, where they were recorded."""
        return self.meta.get("stack_trace", None)

    @stack_trace.setter
    def stack_trace(self, trace: str | None) -> None:
        self.meta["stack_trace"] = trace

    def __repr__(self) -> str:
        return self.name if self._repr_fn is None else self._repr_fn(self)

    def _pretty_print_target(self, target: Any) -> str:
        if isinstance(target, str):
            return target
        if not hasattr(target, "__name__"):
            return repr(target)
        if getattr(builtins, target.__name__, None) is target:
            return f"builtins.{target.__name__}"
        return _module_and_name(target)

    def format_node(self, placeholder_names: list[str] | None = None,
                    maybe_return_typename: list[str] | None = None, *,
                    include_tensor_metadata: bool = False) -> str | None:
        """The line that stands for it in a printed graph.

        Args:
            placeholder_names: a list that collects the graph's inputs, unless it is empty; a placeholder is
                no line then.
            maybe_return_typename: a list whose one item becomes the annotation of the result.
            include_tensor_metadata: whether shape and dtype, where ``meta["tensor_meta"]`` has them, are
                printed.

        Returns:
            The line; None for a placeholder that was put into the list.

        Example:
            >>> graph = torch.fx.Graph()
            >>> graph.call_function(torch.relu, (graph.placeholder("x"),)).format_node()
            '%relu : [num_users=0] = call_function[target=torch.relu](args = (%x,), kwargs = {})'
        """
        typed = "" if self.type is None else f"{_type_repr(self.type)} "
        meta = self.meta.get("tensor_meta") if include_tensor_metadata else None
        if meta is not None and hasattr(meta, "shape"):
            typed = f"{meta.dtype}{list(meta.shape)} {typed}"
        head = f"%{self.name} : {typed}[num_users={len(self.users)}] = {self.op}[target="
        if self.op == "placeholder":
            if placeholder_names:
                arg = self.target
                annotated = f"{arg} : {_type_repr(self.type)}" if self.type is not None else arg
                placeholder_names.append(annotated + (f" = {self._args[0]}" if self._args else ""))
                return None
            default = f"(default={self._args[0]})" if self._args else ""
            return f"{head}{self.target}]{default}"
        if self.op == "output":
            if self.type is not None and maybe_return_typename:
                maybe_return_typename[0] = f" -> {_type_repr(self.type)}"
            return f"return {self._args[0]}"
        if self.op == "get_attr":
            return f"{head}{self._pretty_print_target(self.target)}]"
        return (f"{head}{self._pretty_print_target(self.target)}](args = {_format_arg(self._args)}, "
                f"kwargs = {_format_arg(self._kwargs)})")

    # ------------------------------------------------------------------------------ what it does

    def is_impure(self, impure_random: bool = True) -> bool:
        """Whether it does something besides computing its result, so that it stays though nothing uses it.

        Inputs, the output, functions with side effects and modules that say ``_is_impure`` do.
        """
        if self.op in ("placeholder", "output"):
            return True
        if self.op == "call_function":
            return self.target in _side_effectful_functions or _named(self.target) in _SIDE_EFFECTS
        if self.op == "call_module":
            module = getattr(self.graph, "owning_module", None)
            if module is None:
                raise AssertionError("is_impure() of a call of a module: the graph belongs to no module")
            called = module.get_submodule(self.target)
            return getattr(called, "_is_impure", False)
        return False

    def _rename(self, candidate: str) -> None:
        if candidate != self.name:
            self.name = self.graph._graph_namespace.create_name(candidate, self)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__.copy()

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)


def _itself(node: Node) -> Node:
    return node


def _named(target: Any) -> str:
    return _get_qualified_name(target) if hasattr(target, "__name__") else ""


def _format_arg(arg: Any, max_list_len: float = float("inf")) -> str:
    """An argument as a printed graph shows it: nodes with a %."""
    if hasattr(arg, "_custom_fx_repr_fn"):
        return arg._custom_fx_repr_fn()
    if isinstance(arg, dict):
        items: Iterable[str] = (f"{k}: {_format_arg(v)}" for k, v in arg.items())
        return f"{{{', '.join(items)}}}"
    if isinstance(arg, (list, tuple)):
        shown = [_format_arg(a) for i, a in enumerate(arg) if i < max_list_len]
        if len(arg) > max_list_len:
            shown.append(f"...[total_len={len(arg)}]")
        text = ", ".join(shown)
        if isinstance(arg, list):
            return f"[{text}]"
        return f"({text},)" if len(arg) == 1 else f"({text})"
    return f"%{arg}" if isinstance(arg, Node) else str(arg)


def _find_module_of_method(orig_method: Callable[..., Any]) -> str:
    """The module in which a function of jaxflow is found by its name."""
    return _get_qualified_name(orig_method).rpartition(".")[0]


