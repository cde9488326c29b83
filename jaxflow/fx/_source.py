"""Generated code made into a function: its lines are found by tracebacks, and its names by pickles."""

from __future__ import annotations

import builtins
import importlib
import itertools
import linecache
import sys
import weakref
from types import CodeType, FunctionType
from typing import Any

from ._names import CUSTOM, PACKAGE
from ._patching import forget_with

_numbers = itertools.count().__next__


def _filename(co_fields: dict[str, Any]) -> str:
    name = f"<eval_with_key>.{_numbers()}"
    if co_fields:
        name += (f" from {co_fields['co_filename']}:{co_fields['co_firstlineno']} in {co_fields['co_name']}")
    return name


def function_from(source: str, space: dict[str, Any], co_fields: dict[str, Any] | None = None,
                  name: str = "forward") -> FunctionType:
    """The function that a text defines.

    Args:
        source: the text.
        space: what the names in it mean; a copy becomes the function's namespace.
        co_fields: where the traced function was written, for tracebacks.
        name: the function's name.
    """
    own = dict(space)
    filename = _filename(co_fields or {})
    code: CodeType = compile(source, filename, "exec", dont_inherit=True)
    exec(code, own)
    made = own.pop(name)
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    weakref.finalize(made, linecache.cache.pop, filename, None).atexit = False
    forget_with(made, own)
    return made


def _import(name: str, space: Any = None, local: Any = None, fromlist: Any = (), level: int = 0) -> Any:
    """``import torch`` as jaxflow's, whether or not a module of that name is there."""
    root, dot, rest = name.partition(".")
    if root != "torch" or level:
        return builtins.__import__(name, space, local, fromlist, level)
    found = importlib.import_module(f"{PACKAGE}{dot}{rest}")
    return found if fromlist else importlib.import_module(PACKAGE)


def function_of_saved(source: str) -> FunctionType:
    """The function that saved code defines, whose imports of ``torch`` give jaxflow."""
    return function_from(source, {"__builtins__": {**vars(builtins), "__import__": _import}})


def import_line(name: str, obj: Any) -> str:
    """The line that gives ``obj`` a name in code of its own.

    Raises:
        ValueError: for an object that no module has by its name.
    """
    if name in CUSTOM:
        return CUSTOM[name][0]
    module = getattr(obj, "__module__", None)
    own = getattr(obj, "__qualname__", getattr(obj, "__name__", None))
    if module is None or own is None:
        raise ValueError(f"the code of this module uses {name} = {obj!r}, which cannot be imported. Put it "
                         "into a function at the top of a module, marked by torch.fx.wrap")
    if module == "__main__" and "<" not in own:
        return f"from __main__ import {own} as {name}" if own != name else f"from __main__ import {own}"
    found: Any = sys.modules.get(module) or _try_import(module)
    for part in own.split("."):
        found = getattr(found, part, None)
    if found is not obj:
        raise ValueError(f"the code of this module uses {obj!r}, which is not found as {module}.{own}: put "
                         "it at the top of a module")
    module = f"torch{module.removeprefix(PACKAGE)}" if module.partition(".")[0] == PACKAGE else module
    return f"from {module} import {own}" + ("" if own == name else f" as {name}")


def _try_import(module: str) -> Any:
    return importlib.import_module(module)


def import_block(space: dict[str, Any]) -> str:
    """The lines that give all names of a namespace their meaning."""
    return "\n".join(sorted({import_line(name, obj) for name, obj in space.items()}))
