"""PyTorch's signatures, read from what the installed torch says of itself, and what differs from them here.

Functions written in C++ have no signature at run time. Their forms are read from the stubs that torch ships
(``torch.*`` and the methods) and from the table of its functions that torchgen ships (``linalg``, ``fft``,
``special``); Python functions are asked.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import inspect
import pathlib
import re
from typing import Any

import torch
import torchgen

import jaxflow
from jaxflow._publish.signatures import signature_of

EMPTY = inspect.Parameter.empty
UNKNOWN = "..."  # a default that torch's table does not tell

#: Defaults that mean the same: torch's stubs give the one, its documentation and this package the other.
_EQUAL = {"layout": {"None", "strided"}, "memory_format": {"None", "preserve_format", "contiguous_format"},
          "padding": {"0", "valid"}, "out": {"None", "..."}, "pin_memory": {"None", "False"},
          "spacing": {"None", "1"}}

#: Functions whose forms put the same name in different places, or give one thing two names; they are told
#: apart in the body, and held against torch by calls (``test_names.py``).
BY_CALLS = {"arange", "range", "repeat_interleave", "isin", "unique", "unique_consecutive", "Tensor.view",
            "Tensor.swapaxes_", "Tensor.resize_", "linalg.qr", "view_copy",
            "nuclear_norm"}

#: NumPy's names for parameters, which torch takes for its own wherever a function is written in C++.
NUMPY = {"dim": "axis", "keepdim": "keepdims"}
#: One tensor under several names; the documentation of ``linalg`` calls it ``A``, and torch refuses that.
_INPUT = ("input", "x", "a", "x1", "A")
_OTHER = ("other", "x2", "B")

#: Functions that do not take them here: what is chosen has to be said with the dimension.
_NO_NUMPY = {"select", "narrow", "unflatten", "Tensor.select", "Tensor.narrow", "Tensor.unflatten",
             "Tensor.split", "split_copy", "split_with_sizes_copy", "unbind_copy", "gradient",
             "frobenius_norm", "norm_except_dim", "unsafe_chunk", "unsafe_split", "unsafe_split_with_sizes",
             "Tensor.unsafe_chunk",
             "Tensor.unsafe_split", "Tensor.unsafe_split_with_sizes"}

#: What the stubs say and torch itself refuses when it is called so: (path, parameter), either may be "".
_NOT_SO = {
    ("tensor", ""), ("Tensor.new_tensor", ""), ("as_tensor", ""),  # all but the data by name only
    ("from_numpy", "ndarray"),  # takes no keyword
    ("Tensor.requires_grad_", "mode"), ("Tensor.mul", "out"), ("Tensor.sub", "out"), ("argsort", "out"),
    ("Tensor.add", "out"), ("Tensor.floor_divide", "out"), ("Tensor.true_divide", "out"),
    ("linspace", "steps"), ("logspace", "steps"), ("range", "pin_memory"),
    ("subtract", "alpha"), ("Tensor.subtract", "alpha"), ("Tensor.subtract_", "alpha"), ("rsub", "alpha"),
    ("utils.data.random_split", "generator"), ("Tensor.solve", ""), ("Tensor.lstsq", ""),
    ("orgqr", ""), ("ormqr", ""), ("Tensor.orgqr", ""), ("Tensor.ormqr", ""), ("spmm", ""),
    ("dsmm", ""),  # called by position
    # A factor by position before a number, which is deprecated; out= of activations. Losses of the library
    # reduce nothing by default (0), and the stubs say 1. Sequences in the place of the tensor.
    ("threshold", "out"), ("", "reduction"), ("dequantize", ""), ("quantize_per_tensor", ""),
    ("", "out_dtype"),  # of products: refused on the CPU, "could not run 'aten::mm.dtype'"
}


@dataclasses.dataclass(frozen=True)
class Form:
    """One accepted form of a call: parameters as (name, default), those before ``keyword`` positional."""

    parameters: tuple[tuple[str, Any], ...]
    keyword: int
    rest: bool = False  # takes any further arguments

    def __str__(self) -> str:
        shown = [name if default is EMPTY else f"{name}={default!r}" for name, default in self.parameters]
        if self.keyword < len(shown):
            shown.insert(self.keyword, "*")
        return f"({', '.join(shown)})"


# ----------------------------------------------------------------------------------- torch's own


def _default(node: ast.expr | None) -> Any:
    if node is None:
        return EMPTY
    text = ast.unparse(node)
    if text == "...":
        return UNKNOWN
    try:
        return ast.literal_eval(text)
    except ValueError:
        return {"inf": float("inf"), "float('inf')": float("inf")}.get(text, text)


def _form(node: ast.FunctionDef) -> Form | None:
    """The form that a stub gives; None for dimension names and deprecated orders of arguments."""
    a = node.args
    ordered = [*a.posonlyargs, *a.args]
    types = [ast.unparse(p.annotation) if p.annotation else "" for p in (*ordered, *a.kwonlyargs)]
    if any("EllipsisType" in t for t in types):
        return None
    defaults = [None] * (len(ordered) - len(a.defaults)) + list(a.defaults)
    parameters = [(p.arg, _default(d)) for p, d in zip(ordered, defaults, strict=True)]
    if a.vararg:
        parameters.append((a.vararg.arg, EMPTY))
    keyword = len(parameters)
    parameters += [(p.arg, _default(d)) for p, d in zip(a.kwonlyargs, a.kw_defaults, strict=True)]
    return Form(tuple(parameters), keyword, rest=bool(a.kwarg))


def _forms_in(body: list, skip_self: bool) -> dict[str, list[Form]]:
    found: dict[str, list[Form]] = {}
    for node in body:
        if not isinstance(node, ast.FunctionDef):
            continue
        form = _form(node)
        if form is None:
            continue
        names = [name for name, _ in form.parameters]
        if skip_self:
            form = dataclasses.replace(form, parameters=form.parameters[1:], keyword=form.keyword - 1)
        elif {"self", "names"} & {*names}:
            continue  # deprecated orders, such as add(self, alpha, other); named dimensions
        forms = found.setdefault(node.name, [])
        if form not in forms:
            forms.append(form)
    return found


def _stub(name: str) -> list:
    return ast.parse((pathlib.Path(torch.__file__).parent / "_C" / name).read_text()).body


@functools.cache
def functions() -> dict[str, list[Form]]:
    """Forms of the functions of ``torch`` that are written in C++."""
    return _forms_in(_stub("_VariableFunctions.pyi"), False)


@functools.cache
def methods() -> dict[str, list[Form]]:
    """Forms of the methods of ``torch.Tensor`` that are written in C++."""
    classes = [n for n in _stub("__init__.pyi") if isinstance(n, ast.ClassDef) and n.name == "TensorBase"]
    return _forms_in(classes[0].body, True)


_SCHEMA = re.compile(r"- func: (\w+)(?:\.\w+)?\((.*)\) -> ")


@functools.cache
def table() -> dict[str, list[Form]]:
    """Forms of the functions of ``linalg``, ``fft`` and ``special``, by their names in torchgen's table."""
    path = pathlib.Path(torchgen.__file__).parent / "packaged/ATen/native/native_functions.yaml"
    found: dict[str, list[Form]] = {}
    for line in path.read_text().splitlines():
        matched = _SCHEMA.match(line)
        if not matched or "(a!)" in matched[2]:
            continue
        if matched[1].startswith(("linalg_", "fft_", "special_")):
            found.setdefault(matched[1], []).append(_of_schema(matched[2]))
    return found


def _of_schema(text: str) -> Form:
    parameters, keyword = [], None
    for item in re.split(r", (?![^\[(]*[\])])", text):
        if item == "*":
            keyword = len(parameters)
            continue
        declared, equals, default = item.partition("=")
        name = declared.rpartition(" ")[2]
        value: Any = EMPTY
        if equals:
            try:
                value = ast.literal_eval(default)
            except (ValueError, SyntaxError):
                value = {"true": True, "false": False}.get(default.lower(), default)
        parameters.append(("input" if name == "self" else name, value))
    return Form(tuple(parameters), len(parameters) if keyword is None else keyword)


def _asked(signature: inspect.Signature, skip_self: bool) -> Form:
    parameters = list(signature.parameters.values())[skip_self:]
    ordered = [(p.name, UNKNOWN if p.kind is p.VAR_POSITIONAL else p.default)
               for p in parameters if p.kind < p.KEYWORD_ONLY]
    named = [(p.name, p.default) for p in parameters if p.kind is p.KEYWORD_ONLY]
    rest = any(p.kind is p.VAR_KEYWORD for p in parameters)
    return Form((*ordered, *named), len(ordered), rest)


def torch_forms(path: str) -> list[Form]:
    """The forms of ``torch.<path>`` (``Tensor.sum``, ``nn.functional.relu``); none where torch hides them."""
    namespace, _, name = path.rpartition(".")
    thing = functools.reduce(getattr, path.split("."), torch)
    if namespace == "Tensor" and name in methods() and not inspect.isfunction(thing):
        return methods()[name]
    if namespace == "" and name in functions() and not inspect.isfunction(thing):
        return functions()[name]
    if namespace in ("linalg", "fft", "special"):
        return table().get(f"{namespace}_{name}", [])
    if namespace == "nn.functional" and (hidden := getattr(torch.nn.functional, f"_{name}", None)) and (
        "boolean_dispatch" in str(getattr(thing, "__qualname__", ""))
    ):
        thing = hidden
    try:
        form = _asked(inspect.signature(thing), namespace == "Tensor")
        return [] if form.rest else [form]
    except (ValueError, TypeError):
        return functions().get(name, []) if namespace == "nn.functional" else []


# -------------------------------------------------------------------------------------- comparing


def our_form(path: str) -> Form | None:
    """What ``jaxflow.<path>`` accepts; None where it says ``*args, **kwargs`` or decides in its body."""
    if path in BY_CALLS:
        return None
    namespace, _, name = path.rpartition(".")
    fn = functools.reduce(getattr, path.split("."), jaxflow)
    method = namespace == "Tensor"
    try:
        signature = signature_of(fn, method, inplace=name.endswith("_"))
    except (ValueError, TypeError):
        return None
    parameters = list(signature.parameters.values())
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return None
    return _asked(signature, method)


def _same(ours: Any, theirs: Any) -> bool:
    if UNKNOWN in (str(ours), str(theirs)) or ours is theirs:
        return True
    if isinstance(theirs, (list, tuple)) and not isinstance(ours, (list, tuple)):
        return all(_same(ours, item) for item in theirs)
    if isinstance(ours, (list, tuple)) and isinstance(theirs, (list, tuple)):
        return list(ours) == list(theirs)
    return str(ours).removeprefix("torch.") == str(theirs).removeprefix("torch.") or ours == theirs


def _same_default(name: str, ours: Any, theirs: Any) -> bool:
    if _same(ours, theirs):
        return True
    return {str(x).removeprefix("torch.") for x in (ours, theirs)} <= _EQUAL.get(name, set())


def differences(path: str) -> list[str]:
    """Where ``jaxflow.<path>`` takes other arguments than ``torch.<path>``, in words."""
    ours = our_form(path)
    if ours is None:
        return []
    found = []
    for theirs in torch_forms(path):
        for words in _compare(path, ours, theirs):
            if words not in found:
                found.append(words)
    namespace, _, name = path.rpartition(".")
    written = methods() if namespace == "Tensor" else functions() if not namespace else {}
    if name in written and path not in _NO_NUMPY and not _takes_numpy(path):
        names = {n for form in written[name] for n, _ in form.parameters}
        have = {n for n, _ in ours.parameters}
        found += [f"no {NUMPY[n]!r} for {n!r}" for n in NUMPY if n in names and NUMPY[n] not in have]
    return found


def _takes_numpy(path: str) -> bool:
    """Whether the function is published from an op, whose binder knows NumPy's names."""
    return hasattr(functools.reduce(getattr, path.split("."), jaxflow), "__op__")


def _compare(path: str, ours: Form, theirs: Form) -> list[str]:
    here = {name: (place, default) for place, (name, default) in enumerate(ours.parameters)}
    found = []
    for place, (name, default) in enumerate(theirs.parameters):
        if {(path, ""), (path, name), ("", name)} & _NOT_SO and (name != "reduction" or default == 1):
            continue
        for same in (_INPUT, _OTHER):
            if name not in here and name in same:
                name = next((n for n in same if n in here), name)
        if name not in here:
            found.append(f"no {name!r}")
            continue
        our_place, our_default = here[name]
        if place < theirs.keyword:
            if our_place >= ours.keyword:
                found.append(f"{name!r} only by name")
            elif our_place != place:
                found.append(f"{name!r} is number {our_place + 1}, not {place + 1}")
        if default is EMPTY:
            continue
        if our_default is EMPTY:
            found.append(f"{name!r} has no default")
        elif not _same_default(name, our_default, default):
            found.append(f"{name}={our_default!r}, not {default!r}")
    named = {name for name, _ in theirs.parameters}
    for same in (_INPUT, _OTHER):
        named |= {*same} if named & {*same} else set()
    found += [f"requires {name!r}" for name, default in ours.parameters
              if default is EMPTY and name not in named and (path, "") not in _NOT_SO]
    return found
