"""Python code of a graph: `CodeGen` writes a function that does what the nodes say, one line a node."""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import re
import types
import typing
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from jaxflow.utils import _pytree

from . import _pytree as _by_structure  # noqa: F401 - generated code calls it
from ._names import CUSTOM, Namespace, custom_globals, identifier, is_from_torch, leads_to, qualified_name
from ._types import shorthand, type_repr
from .node import Node, map_arg

#: Functions of ``operator`` that are written as an expression.
magic_methods = dict(
    eq="{} == {}", ne="{} != {}", lt="{} < {}", gt="{} > {}", le="{} <= {}", ge="{} >= {}", pos="+{}",
    neg="-{}", invert="~{}", add="{} + {}", sub="{} - {}", mul="{} * {}", floordiv="{} // {}",
    truediv="{} / {}", div="{} / {}", mod="{} % {}", pow="{} ** {}", lshift="{} << {}", rshift="{} >> {}",
    and_="{} & {}", or_="{} | {}", xor="{} ^ {}", getitem="{}[{}]", matmul="{} @ {}")
#: Those with a reflected form.
reflectable_magic_methods = {
    name: magic_methods[name] for name in
    "add sub mul floordiv truediv div mod pow lshift rshift and_ or_ xor getitem matmul".split()}
#: Functions of ``operator`` that are written as a statement.
inplace_methods = dict(
    iadd="{} += {}", iand="{} &= {}", ifloordiv="{} //= {}", ilshift="{} <<= {}", imod="{} %= {}",
    imul="{} *= {}", imatmul="{} @= {}", ior="{} |= {}", ipow="{} **= {}", irshift="{} >>= {}",
    isub="{} -= {}", itruediv="{} /= {}", ixor="{} ^= {}", setitem="{}[{}] = {}")


@dataclasses.dataclass
class PythonCode:
    """Generated code: its text, the objects its names mean, and which line belongs to which node."""

    src: str
    globals: dict[str, Any]
    _lineno_map: dict[int, int | None] | None = None
    _prologue_start: int = 0


class _PyTreeInfo(NamedTuple):
    """The arguments of the traced function, and the structure of what it takes and returns."""

    orig_args: list[str]
    in_spec: Any
    out_spec: Any


def format_target(base: str, target: str) -> str:
    """The attribute ``target``, which may be a path, of ``base``."""
    for part in target.split("."):
        base = f"{base}.{part}" if part.isidentifier() else f'getattr({base}, "{part}")'
    return base


class CodeGen:
    """Writes the function of a graph; subclasses change how it begins, how it ends, or what goes in and out.

    Example:
        >>> graph = torch.fx.Graph()
        >>> _ = graph.output(graph.placeholder("x"))
        >>> print(graph.python_code("self").src.strip())
        def forward(self, x):
            return x
    """

    _body_transformer: Callable[[list[str]], list[str]] | None = None
    _func_name = "forward"

    def gen_fn_def(self, free_vars: list[str], maybe_return_annotation: str, *,
                   expanded_def: bool = False) -> str:
        """The line that begins the function, with the parameters ``free_vars``."""
        if not free_vars or free_vars[0] != "self":
            free_vars.insert(0, "self")
        if expanded_def:
            parameters = "".join(f"\n    {name}," for name in free_vars)
            return f"def {self._func_name}({parameters}\n){maybe_return_annotation}:"
        return f"def {self._func_name}({', '.join(free_vars)}){maybe_return_annotation}:"

    def generate_output(self, output_args: Any, *, descs: Any = None,
                        repr_fn: Callable[[Any], str] | None = None) -> str:
        """The line that returns ``output_args``, in which nodes stand for their variables."""
        return f"return {(repr_fn or repr)(output_args)}"

    def process_inputs(self, *args: Any) -> Any:
        """The arguments of the function as the graph's placeholders take them."""
        return args

    def process_outputs(self, outputs: Any) -> Any:
        """What the function returns for the graph's output."""
        return outputs

    def additional_globals(self) -> list[tuple[str, Any]]:
        """Names that the lines of a subclass use, and what they mean."""
        return []

    def _gen_python_code(self, nodes: Iterable[Node], root_module: str, namespace: Namespace, *,
                         verbose: bool = False, expanded_def: bool = False, **kwargs: Any) -> PythonCode:
        return _Writer(self, list(nodes), root_module, namespace, verbose).write(expanded_def)


class _PyTreeCodeGen(CodeGen):
    """Takes nested containers apart before the graph's lines, and puts the result together after them."""

    def __init__(self, pytree_info: _PyTreeInfo) -> None:
        self.pytree_info = pytree_info

    def process_inputs(self, *inputs: Any) -> Any:
        return _pytree.tree_leaves(inputs)

    def process_outputs(self, out: Any) -> Any:
        if self.pytree_info.out_spec is None:
            return out
        if not isinstance(out, (list, tuple)):
            out = [out]
        return _pytree.tree_unflatten(out, self.pytree_info.out_spec)

    def gen_fn_def(self, free_vars: list[str], maybe_return_annotation: str, *,
                   expanded_def: bool = False) -> str:
        arguments = self.pytree_info.orig_args
        if arguments[:1] == ["self"]:
            free_vars.insert(0, "self")
        first = super().gen_fn_def(list(arguments), maybe_return_annotation, expanded_def=expanded_def)
        if not free_vars:
            return first
        names = [variable.partition(":")[0].partition("=")[0].strip() for variable in free_vars]
        return (f"{first}\n    {', '.join(names)}, = fx_pytree.tree_flatten_spec([{', '.join(arguments)}], "
                "self._in_spec)")

    def generate_output(self, output_args: Any, *, descs: Any = None,
                        repr_fn: Callable[[Any], str] | None = None) -> str:
        if self.pytree_info.out_spec is None:
            return super().generate_output(output_args, repr_fn=repr_fn)
        return f"return pytree.tree_unflatten({(repr_fn or repr)(output_args)}, self._out_spec)"


class _Writer:
    """Writes the code of one graph."""

    def __init__(self, codegen: CodeGen, nodes: list[Node], root: str, namespace: Namespace,
                 verbose: bool) -> None:
        self.codegen, self.nodes, self.root = codegen, nodes, root
        self.namespace, self.verbose = namespace, verbose
        self.globals: dict[str, Any] = {}
        self.wrapped: dict[str, None] = {}
        self.parameters: list[str] = []
        self.returns = ""
        self.trace: str | None = None
        for name, obj in custom_globals().items():
            self.add_global(name, obj)
        for name, obj in codegen.additional_globals():
            self.add_global(name, obj)

    # --------------------------------------------------------------------------------------- names

    def add_global(self, hint: str, obj: Any) -> str:
        """The name that means ``obj`` in the code: PyTorch's for jaxflow's, else one like the hint."""
        if is_from_torch(obj) and hint not in CUSTOM:
            try:
                name = qualified_name(obj)
            except RuntimeError:
                name = ""
            if name.startswith("torch.ops.") or (name and leads_to(name, obj)):
                return name
        name = identifier(hint)
        known = self.globals.get(name)
        if name in self.globals and (known is obj or known == obj):
            return name
        name = self.namespace.create_name(name, obj if _is_key(obj) else None)
        self.globals[name] = obj
        return name

    def annotation(self, hint: Any) -> str:
        """A type as it is written in the code."""
        arguments = typing.get_args(hint)
        if isinstance(hint, types.UnionType):
            return "|".join(self.annotation(a) for a in arguments)
        origin = typing.get_origin(hint)
        if origin is None or (origin is hint):
            return self.add_global(type_repr(hint), hint)
        if isinstance(hint, types.GenericAlias):
            head = self.annotation(origin)
        else:
            name = "Union" if origin is typing.Union else getattr(hint, "_name", None)
            alias = getattr(typing, name or "", None)
            if not arguments or alias is None:
                return self.add_global(f"{origin.__module__}.{origin.__qualname__}", origin)
            head = self.add_global(f"typing.{name}", alias)
        return f"{head}[{','.join(self.annotation(a) for a in arguments)}]"

    def typed(self, node: Node) -> str:
        meta = node.meta.get("tensor_meta") if self.verbose else None
        if hasattr(meta, "shape") and hasattr(meta, "dtype"):
            return f': "{shorthand(meta)}"'
        return "" if node.type is None else f" : {self.annotation(node.type)}"

    def variable(self, node: Node) -> str:
        return self.namespace.create_name(node.name, node)

    # -------------------------------------------------------------------------------------- values

    def text(self, arg: Any) -> str:
        """An argument as it is written in the code."""
        if isinstance(arg, Node):
            return self.variable(arg)
        if isinstance(arg, tuple):
            items = [self.text(a) for a in arg]
            inside = f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"
            if not hasattr(arg, "_fields"):
                return inside
            return self.add_global(type_repr(type(arg)), type(arg)) + inside
        if isinstance(arg, list):
            return f"[{', '.join(self.text(a) for a in arg)}]"
        if isinstance(arg, dict):
            return f"{{{', '.join(f'{k!r}: {self.text(v)}' for k, v in arg.items())}}}"
        if isinstance(arg, slice):
            return f"slice({self.text(arg.start)}, {self.text(arg.stop)}, {self.text(arg.step)})"
        if isinstance(arg, enum.Enum):
            return f"{self.add_global(type_repr(type(arg)), type(arg))}.{arg.name}"
        called = isinstance(arg, (type, types.FunctionType, types.BuiltinFunctionType))
        if called or hasattr(arg, "overloadpacket"):
            return self.add_global(qualified_name(arg), arg)
        return repr(arg)

    def arguments(self, args: Iterable[Any], kwargs: dict[str, Any]) -> str:
        return ", ".join([*map(self.text, args), *(f"{k} = {self.text(v)}" for k, v in kwargs.items())])

    # --------------------------------------------------------------------------------------- lines

    def write(self, expanded: bool) -> PythonCode:
        with _shown_as(self.nodes, self.variable):
            dead = self._last_uses()
            lines: list[str] = []
            numbers: list[int | None] = []
            for i, node in enumerate(self.nodes):
                if self.verbose and node.op not in ("placeholder", "output"):
                    self._add_trace(node, lines, numbers)
                line = self._line(node)
                if line is None:
                    continue
                computes = node.op not in ("placeholder", "output")
                lines.append(line + self._deleted(node, dead) if computes else line)
                numbers.append(i)
            if not lines:
                lines, numbers = ["pass"], [None]
            body = [f"{line}\n" for line in lines]
            if self.codegen._body_transformer is not None:
                body = self.codegen._body_transformer(body)
            wraps = "\n".join(f'torch.fx._symbolic_trace.wrap("{name}")' for name in self.wrapped)
            begin = self.codegen.gen_fn_def(self.parameters, self.returns, expanded_def=expanded)
        code = "\n".join(f"    {line}" for line in "".join(body).split("\n"))
        head = f"\n{wraps}\n\n{begin}\n"
        first = head.count("\n") + 1
        return PythonCode(head + code, self.globals, dict(enumerate(numbers, first)), wraps.count("\n") + 3)

    def _last_uses(self) -> dict[Node, list[Node]]:
        """By node those whose results it uses last."""
        last: dict[Node, Node] = {}
        found: dict[Node, list[Node]] = {}
        for node in reversed(self.nodes):

            def note(used: Node, user: Node = node) -> None:
                if used not in last:
                    last[used] = user
                    found.setdefault(user, []).append(used)

            map_arg((node.args, node.kwargs), note)
        return found

    def _deleted(self, node: Node, dead: dict[Node, list[Node]]) -> str:
        gone = list(dead.get(node, ()))
        if not node.users:
            gone.append(node)
        return f";  {' = '.join([*map(self.variable, gone), 'None'])}" if gone else ""

    def _add_trace(self, node: Node, lines: list[str], numbers: list[int | None]) -> None:
        trace = node.stack_trace or ""
        if trace == self.trace:
            return
        self.trace = trace
        if trace:
            lines.append(f"# {_last_line_of(trace)}")
        else:
            lines.append("# No stacktrace found for following nodes")
        numbers.append(None)

    def _line(self, node: Node) -> str | None:
        name, typed = self.variable(node), self.typed(node) if node.op != "output" else ""
        if node.op == "placeholder":
            default = f" = {self.text(node.args[0])}" if node.args else ""
            self.parameters.append(f"{node.target}{typed}{default}")
            plain = node.target.replace("*", "")
            return None if plain == name else f"{name} = {plain}"
        if node.op == "output":
            if node.type is not None:
                self.returns = f" -> {self.annotation(node.type)}"
            return self.codegen.generate_output(node.args[0], repr_fn=self.text) if _takes_repr(
                self.codegen) else self.codegen.generate_output(node.args[0])
        if node.op == "get_attr":
            return f"{name}{typed} = {format_target(self.root, node.target)}"
        if node.op == "call_module":
            called = format_target(self.root, node.target)
            return f"{name}{typed} = {called}({self.arguments(node.args, node.kwargs)})"
        if node.op == "call_method":
            called = format_target(self.text(node.args[0]), node.target)
            return f"{name}{typed} = {called}({self.arguments(node.args[1:], node.kwargs)})"
        if node.op == "call_function":
            return self._call(node, name, typed)
        raise NotImplementedError(f"node {node.name} has the op {node.op!r}, for which there is no code")

    def _call(self, node: Node, name: str, typed: str) -> str:
        target = node.target
        own = getattr(target, "__name__", "")
        if getattr(target, "__module__", None) == "_operator" and not node.kwargs:
            texts = [self.text(a) for a in node.args]
            if own in magic_methods and len(texts) == magic_methods[own].count("{}"):
                return f"{name}{typed} = {magic_methods[own].format(*texts)}"
            if own in inplace_methods and len(texts) == inplace_methods[own].count("{}"):
                return f"{inplace_methods[own].format(*texts)};  {name}{typed} = {texts[0]}"
        if target is getattr and len(node.args) == 2 and isinstance(node.args[1], str) and (
                node.args[1].isidentifier()):
            return f"{name}{typed} = {format_target(self.text(node.args[0]), node.args[1])}"
        known = self.add_global(_hint(target), target)
        if node.meta.get("is_wrapped", False):
            self.wrapped.setdefault(known)
        return f"{name}{typed} = {known}({self.arguments(node.args, node.kwargs)})"


def _last_line_of(trace: str) -> str:
    """The innermost line of a printed stack: ``File: model.py:12 in forward, code: x = self.act(x)``."""
    found = re.findall(r'File "(.+)", line (\d+), in (.+)(?:\n\s+(?!File)(.+))?', trace)
    if not found:
        return trace.strip().replace("\n", " ")
    path, number, name, code = found[-1]
    return f"File: {path}:{number} in {name}, code: {code}"


def _is_key(obj: Any) -> bool:
    try:
        hash(obj)
    except TypeError:
        return False
    return not isinstance(obj, str)


def _hint(target: Any) -> str:
    try:
        return qualified_name(target)
    except RuntimeError:
        return type(target).__name__


def _takes_repr(codegen: CodeGen) -> bool:
    """Whether its `generate_output`, which a program may have written, says how nodes are shown."""
    method = type(codegen).generate_output
    code = getattr(method, "__code__", None)
    return code is not None and "repr_fn" in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


@contextlib.contextmanager
def _shown_as(nodes: list[Node], show: Callable[[Node], str]) -> Iterator[None]:
    """While it is open, nodes are printed by their variables."""
    before = [node._repr_fn for node in nodes]
    try:
        for node in nodes:
            node._repr_fn = show
        yield
    finally:
        for node, fn in zip(nodes, before, strict=True):
            node._repr_fn = fn
