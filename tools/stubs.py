"""Writes the type stubs: what editors and type checkers know of the names that are derived from records.

Functions, methods, in-place forms and operators are published from ops and composites when the package is
imported; in its files they cannot be seen. Run ``python -m tools.stubs`` from the repository; a test fails
while the stubs are out of date.
"""

from __future__ import annotations

import inspect
import pathlib
import re
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import jaxflow
from jaxflow._core import tensor as tensor_module
from jaxflow._plans.op import OPS
from jaxflow._publish.composite import COMPOSITES
from jaxflow._publish.signatures import signature_of

from .stub_forms import forms_of

ROOT = pathlib.Path(__file__).resolve().parent.parent
_BUILTINS = "bool bytes complex float int list object str tuple type".split()

# In a class with methods called float and int, those names mean the methods: stubs use others for types.
_HEAD = f'''# Written by tools/stubs.py from the records of ops and composites: python -m tools.stubs.
import enum as _enum
from builtins import {", ".join(f"{n} as _{n}" for n in _BUILTINS)}
from collections.abc import Callable as _Callable, Iterable as _Iterable, Iterator as _Iterator
from collections.abc import Sequence as _Sequence
from typing import Any as _Any, NamedTuple as _NamedTuple, overload as _overload

import numpy as _np

from jaxflow._core.device import device as _device
from jaxflow._core.dtype import dtype as _dtype
from jaxflow._core.size import Size as _Size
from jaxflow._core.tensor import Tensor{{alias}}
from jaxflow._core.generator import Generator as _Generator

_Number = _bool | _int | _float | _complex
'''

_TYPES = {
    **{n: f"_{n}" for n in (*_BUILTINS, "Any", "Callable", "Iterable", "Iterator", "Number", "Sequence",
                            "Size", "Generator", "dtype", "device")},
    "Tensor": "Tensor", "None": "None", "...": "...", "np.ndarray": "_np.ndarray", "dtypes.dtype": "_dtype",
    "devices.device": "_device", "enum.IntEnum": "_enum.IntEnum", "Integers": "_int | _Sequence[_int]",
}

#: What parameters without an annotation are, by their names (those of ops are static there).
_BY_NAME = {
    "dtype": "_dtype | None", "device": "_device | _str | _int | None", "keepdim": "_bool",
    "generator": "_Generator | None",
}

#: Attributes of tensors that are no tensors.
_ATTRIBUTES = {
    "shape": "_Size", "dtype": "_dtype", "device": "_device", "ndim": "_int", "itemsize": "_int",
    "nbytes": "_int", "layout": "_Any", "grad": "Tensor | None", "_grad": "Tensor | None", "grad_fn": "_Any",
    "_base": "Tensor | None", "_version": "_int", "output_nr": "_int", "requires_grad": "_bool",
    "retains_grad": "_bool", "names": "_Any", "name": "_Any", "volatile": "_bool",
    "grad_dtype": "_dtype | None", "_backward_hooks": "_Any", "_post_accumulate_grad_hooks": "_Any",
}

#: What special methods return.
_SPECIAL = {
    "__bool__": "_bool", "__int__": "_int", "__float__": "_float", "__complex__": "_complex",
    "__index__": "_int", "__len__": "_int", "__iter__": "_Iterator[Tensor]", "__contains__": "_bool",
    "__repr__": "_str", "__format__": "_str", "__hash__": "_int", "__array__": "_np.ndarray",
    "__setitem__": "None", "__delitem__": "None", "__dlpack_device__": "_tuple[_enum.IntEnum, _int]",
}
_NOT_SHOWN = frozenset(
    "__dict__ __weakref__ __module__ __doc__ __slots__ __annotations__ __new__ __init_subclass__ __hash__ "
    "__array_priority__ __torch_function__ __setstate__ __reduce_ex__ __dir__ __class__".split()
)


# ------------------------------------------------------------------------------------- annotations


def typed(annotation: Any) -> str:
    """An annotation as the stubs write it; ``Any`` where it uses a name they do not have."""
    if annotation is inspect.Parameter.empty:
        return "_Any"
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "Any")
    for name in re.findall(r"[A-Za-z_][\w.]*", text):
        if name not in _TYPES:
            return "_Any"
    return re.sub(r"[A-Za-z_][\w.]*", lambda m: _TYPES[m[0]], text)


def _parameter_type(p: inspect.Parameter) -> str:
    if p.annotation is not p.empty and (typed(p.annotation) != "_Any" or p.name not in _BY_NAME):
        return typed(p.annotation)
    if p.name in _BY_NAME:
        return _BY_NAME[p.name]
    kind = type(p.default)
    return f"_{kind.__name__}" if kind in (bool, float, str) else "_Any"


def _default(value: Any) -> str:
    return repr(value) if value is None or type(value) in (bool, int, str) else "..."


def parameters(signature: inspect.Signature) -> str:
    """The parameters of a signature as a stub writes them, without the parentheses."""
    shown: list[str] = []
    star = False
    optional = False
    for p in signature.parameters.values():
        if p.kind is p.VAR_POSITIONAL:
            shown.append(f"*{p.name}: {typed(p.annotation)}")
            star = True
            continue
        if p.kind is p.VAR_KEYWORD:
            shown.append(f"**{p.name}: {typed(p.annotation)}")
            continue
        if p.kind is p.KEYWORD_ONLY and not star:
            shown.append("*")
            star = True
        if p.name == "self":
            shown.append("self")
            continue
        default = p.default
        if default is p.empty and optional and not star:
            default = ...  # what an overloaded function needs in one form only
        optional = optional or default is not p.empty
        text = f"{_name(p.name)}: {_parameter_type(p)}"
        shown.append(text if default is p.empty else f"{text} = {_default(default)}")
        if p.kind is p.POSITIONAL_ONLY and _last_positional_only(signature, p):
            shown.append("/")
    return ", ".join(shown)


def _name(name: str) -> str:
    return name if name.isidentifier() else "_"


def _last_positional_only(signature: inspect.Signature, p: inspect.Parameter) -> bool:
    names = [q.name for q in signature.parameters.values() if q.kind is q.POSITIONAL_ONLY]
    return names[-1] == p.name


# ---------------------------------------------------------------------------------------- functions


def _returned(fn: Callable, signature: inspect.Signature) -> str:
    op = getattr(fn, "__op__", None)
    if op is not None:
        fields = getattr(op.returns, "fields", None)
        return f"_{op.method_name}_result" if fields else "Tensor" if not op.returns else "_Any"
    return typed(signature.return_annotation)


def function(name: str, fn: Callable, indent: str = "", method: bool = False, forms: bool = False) -> str:
    """The stub of a function or method: its signature and the first line of its documentation.

    With ``forms`` several, where `stub_forms` has some of that name.
    """
    first = (inspect.getdoc(fn) or "").partition("\n")[0].replace("\\", "\\\\").replace('"""', "'''")
    # A quotation mark at the end would run into those that close the text.
    body = f'\n{indent}    """{first}{" " * first.endswith(chr(34))}"""\n' if first else " ...\n"
    if forms and (found := forms_of(name, method)):
        overload = f"{indent}@_overload\n" if len(found) > 1 else ""
        return "".join(f"{overload}{indent}def {name}{form}:{body}" for form in found)
    try:
        signature = signature_of(fn, method, inplace=name.endswith("_") and not name.endswith("__"))
    except (TypeError, ValueError):
        return f"{indent}def {name}({'self, ' * method}*args: _Any, **kwargs: _Any) -> _Any: ...\n"
    returns = _SPECIAL.get(name) or _returned(fn, signature)
    if name.endswith("_") and not name.endswith("__"):
        returns = "Tensor"
    return f"{indent}def {name}({parameters(signature)}) -> {returns}:{body}"


def returned_kinds() -> dict[str, tuple[str, ...]]:
    """The named tuples that public forms return, and their fields."""
    return {op.method_name: op.returns.fields for op in OPS.values()
            if getattr(op.returns, "fields", None) and not op.method_name.startswith("_")}


def results() -> str:
    """The named tuples that ops return."""
    return "\n".join(
        f"class _{name}_result(_NamedTuple):\n" + "".join(f"    {f}: Tensor\n" for f in fields)
        for name, fields in sorted(returned_kinds().items())
    )


# ------------------------------------------------------------------------------------------- tensors


def tensor_class() -> str:
    """The class Tensor with everything that is published into it."""
    lines = ['class Tensor:\n    """A multi-dimensional array with PyTorch\'s interface."""\n',
             "    def __init__(self, *args: _Any, **kwargs: _Any) -> None: ...\n",
             "    def __hash__(self) -> _int: ...\n"]
    slots = tensor_module.Tensor.__slots__
    for name, x in sorted(vars(jaxflow.Tensor).items()):
        hidden = name.startswith("_") and not name.startswith("__") and name not in _ATTRIBUTES
        if name in _NOT_SHOWN or hidden or name in slots or not name.isidentifier():
            continue
        if isinstance(x, property):
            kind = _ATTRIBUTES.get(name, "_bool" if name.startswith("is_") else "Tensor")
            lines.append(f"    @property\n    def {name}(self) -> {kind}: ...\n")
            if x.fset is not None and "refuse" not in x.fset.__name__:
                lines.append(f"    @{name}.setter\n    def {name}(self, value: _Any) -> None: ...\n")
        elif isinstance(x, types.FunctionType):
            lines.append(_method(name, x))
        elif isinstance(x, staticmethod):
            lines.append("    @staticmethod\n" + function(name, x.__func__, "    "))
    return "".join(lines)


def _method(name: str, fn: Callable) -> str:
    note = "  # type: ignore[override]" if name in ("__eq__", "__ne__") else ""
    if name.startswith("__") and hasattr(fn, "__op__"):
        operands = "self" if name in ("__neg__", "__abs__", "__invert__", "__pos__") else "self, other: _Any"
        return f"    def {name}({operands}) -> Tensor: ...{note}\n"
    return function(name, fn, "    ", method=True, forms=True)


# ----------------------------------------------------------------------------------------- namespaces


def _composed() -> set[int]:
    return {id(c.fn) for c in COMPOSITES.values()}


def namespace(module: types.ModuleType) -> str:
    """The stub of a module that records are published into."""
    derived = _composed()
    functions, imports, values = [], [], []
    for name, x in sorted(vars(module).items()):
        if name.startswith("_") or name == "annotations":
            continue
        if isinstance(x, types.ModuleType):
            if x.__name__ == f"{module.__name__}.{name}":
                imports.append(f"from . import {name} as {name}\n")
        elif name == "Tensor":
            imports.append("")
        elif isinstance(x, types.FunctionType) and (hasattr(x, "__op__") or id(x) in derived):
            functions.append(function(name, x, forms=module is jaxflow))
        elif isinstance(x, (type, types.FunctionType)):
            imports.append(_imported(name, x, module))
        else:
            values.append(f"{name}: {_value_type(x)}\n")
    if module is jaxflow:  # modules that are loaded when they are first used, and their classes
        imports += [f"from . import {name} as {name}\n" for name in sorted(module._LATE) if name[0] != "_"]
        late = sorted(module._LATE_NAMES.items())
        imports += [f"from .{home} import {name} as {name}\n" for name, home in late]
    return "".join((*imports, "\n", *values, "\n", *functions))


def _imported(name: str, x: Any, module: types.ModuleType) -> str:
    """The line for what ``module`` has from elsewhere, whatever place it names as its own."""
    place = x.__globals__["__name__"] if isinstance(x, types.FunctionType) else x.__module__
    home = sys.modules.get(place)
    if isinstance(x, type) and type(x) is not type and "__call__" in vars(type(x)):
        return f"{name}: _Any\n"  # a class whose call makes something else
    if home is None or home is module or getattr(home, x.__name__, None) is not x:
        return f"class {name}({x.__base__.__name__}): ...\n" if isinstance(x, type) else f"{name}: _Any\n"
    return f"from {place} import {x.__name__} as {name}\n"


def _value_type(x: Any) -> str:
    kind = type(x)
    if kind in (float, int, str, bool):
        return f"_{kind.__name__}"
    return {"dtype": "_dtype", "Generator": "_Generator"}.get(kind.__name__, "_Any")


def namespaces() -> Iterator[types.ModuleType]:
    """The modules that records are published into."""
    found = {""}
    for record in (*OPS.values(), *COMPOSITES.values()):
        found.add(record.namespace)
        found.update(alias.rpartition(".")[0] for alias in record.aliases if "." in alias)
    for name in sorted(found):
        module = sys.modules.get(f"jaxflow.{name}".rstrip("."))
        if module is not None:
            yield module


def stubs() -> dict[pathlib.Path, str]:
    """Every stub's text, by its path."""
    helpers = "".join(
        function(name, x) if isinstance(x, types.FunctionType) else f"class {name}:\n"
        "    def __init__(self, *args: _Any) -> None: ...\n"
        "    def __getattr__(self, name: _str) -> _Any: ...\n"
        for name, x in vars(tensor_module).items()
        if getattr(x, "__module__", "") == tensor_module.__name__ and name != "Tensor"
    )
    own_head = re.sub(r"from jaxflow._core.tensor import .*\n", "", _HEAD)
    written = {pathlib.Path(tensor_module.__file__).with_suffix(".pyi"): "\n".join(
        (own_head, results(), tensor_class(), helpers))}
    kinds = ", ".join(f"_{n}_result as _{n}_result" for n in sorted(returned_kinds()))
    head = _HEAD.format(alias=" as Tensor") + f"from jaxflow._core.tensor import {kinds}\n"
    for module in namespaces():
        written[pathlib.Path(module.__file__).with_suffix(".pyi")] = f"{head}\n{namespace(module)}"
    return written


def main(argv: list[str]) -> int:
    """Write the stubs whose text has changed and name them; with ``--check`` name them, and fail."""
    changed = 0
    for path, text in stubs().items():
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        changed += 1
        print(path.relative_to(ROOT))
        if "--check" not in argv:
            path.write_text(text, encoding="utf-8")
    return changed if "--check" in argv else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
