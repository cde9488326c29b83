"""PyTorch's names for modules, classes and functions: ``torch.nn.modules.linear.Linear``.

What is public is renamed once, and again where more of it was imported. Code of jaxflow that looks at where
something was made uses `module_of`, which still says it.
"""

from __future__ import annotations

import sys
from types import FunctionType, ModuleType
from typing import Any

from jaxflow._core.inner import FORMER

#: The modules whose members have PyTorch's names by now.
_RENAMED: set[str] = set()
_HEAP_TYPE = 1 << 9  # CPython's flag for classes made by a class statement


#: Modules of jaxflow's own that PyTorch has not, or means something else by.
_NOT_PYTORCHS = frozenset((
    "_api _as_torch _core _dispatch _exec _exported _functions _interop _interpreter _masked _memory _nested "
    "_operators _ops _plans _publish _quantized _random _shapes _sparse _streams _transforms _views _writes "
    "as_torch dialects oneflow paddle __main__").split())


def is_pytorchs(name: str) -> bool:
    """Whether ``torch.<name>`` may be jaxflow's module of that name."""
    return name not in _NOT_PYTORCHS


def public_modules() -> dict[str, ModuleType]:
    """jaxflow's modules that are imported and have no part of their own name hidden, by that name."""
    found = {}
    for name, module in list(sys.modules.items()):
        root, *parts = name.split(".")
        private = any(p.startswith("_") and not p.startswith("__") for p in parts)
        ours = root == "jaxflow" and isinstance(module, ModuleType) and not private
        if ours and is_pytorchs("".join(parts[:1])):
            found[name] = module
    return found


def give_names() -> None:
    """Rename what is public of the modules that were imported since the last time."""
    modules = public_modules()
    new = sorted((n for n in modules if n not in _RENAMED), key=lambda n: (n.count("."), n))
    for name in new:
        module, alias = modules[name], _alias(name)
        module.__name__ = alias
        sys.modules.setdefault(alias, module)
    for name in new:
        _name_members(modules, name)
    _RENAMED.update(new)


def _alias(name: str) -> str:
    return "torch" + name.removeprefix("jaxflow")


def _name_members(modules: dict[str, ModuleType], name: str) -> None:
    """Name the public classes and functions of a module: after the one that made them, if that is public."""
    for key, x in list(vars(modules[name]).items()):
        if key.startswith("_") or not isinstance(x, (type, FunctionType)):
            continue
        made = x.__module__
        if not isinstance(made, str) or made.partition(".")[0] != "jaxflow" or not _can_be_renamed(x):
            continue
        home = made if made in modules else name
        if _found_in(modules[home], x):
            FORMER[x] = made  # first: an interrupt in between leaves a name that says the same
            x.__module__ = _alias(home)


def _found_in(module: ModuleType, x: type | FunctionType) -> bool:
    """Whether the module has it by its name, by which it is pickled."""
    found: Any = module
    for part in x.__qualname__.split("."):
        found = getattr(found, part, None)
    return found is x


def _can_be_renamed(x: type | FunctionType) -> bool:
    """Whether it was made by Python code: a class written in C keeps its name."""
    return isinstance(x, FunctionType) or bool(x.__flags__ & _HEAP_TYPE)
