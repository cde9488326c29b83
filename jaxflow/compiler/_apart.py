"""How containers are taken apart into what stands in them, and objects that a call made.

NOTE [Objects made anew]
    By ``self.target = copy.deepcopy(self.net)`` or ``self.scale = lambda t: t * k`` each call puts another
    object at a place, which is like the one before it: a function with the same code, a module with the same
    attributes. Such an object is taken apart as a list or a dict is, where nothing but its attributes, or the
    variables of an enclosing function, is its own. Whether one is taken apart is for the caller to say: what
    was there before the call is the very same object afterwards, and is compared by identity.
"""

from __future__ import annotations

import enum
import functools
import sys
from collections.abc import Callable, Iterator
from inspect import CO_NESTED
from types import BuiltinFunctionType, CellType, FunctionType, ModuleType, SimpleNamespace
from typing import Any

from jaxflow._core.inner import module_of
from jaxflow._core.symbolic_numbers import SymNumber
from jaxflow._core.tensor import Tensor
from jaxflow.nn.modules.module import Module

from ._arguments import parts_of
from ._python_tracer import is_library
from ._rows import SCALARS
from ._settling import contents_of

_OF_PYTHON = 1 << 9  # Py_TPFLAGS_HEAPTYPE

# Whether an object is taken apart.
Opens = Callable[[Any], bool]


class _Plain:
    """Whose objects have attributes and nothing else."""


def nothing_made(x: Any) -> bool:
    """Only lists, tuples, dicts and dataclasses are taken apart."""
    return False


def apart(x: Any, opens: Opens = nothing_made) -> tuple[Any, list] | None:
    """What a container or an object is, and what stands in it; None of what is not taken apart."""
    parts = parts_of(x)
    if parts is not None:
        names = tuple(x) if isinstance(x, dict) else tuple(vars(x)) if hasattr(x, "__dict__") else None
        return (type(x), names), parts
    kind = type(x)
    if isinstance(x, (Tensor, enum.Enum, *SCALARS)) or kind is SymNumber or not opens(x):
        return None
    if kind is FunctionType:
        if lasts(x):
            return None
        named = id(x.__code__), id(x.__globals__), x.__name__, x.__qualname__
        return (kind, *named), [*(x.__closure__ or ()), x.__defaults__, x.__kwdefaults__, x.__dict__]
    if kind is CellType:
        return (kind, len(contents_of(x))), [*contents_of(x)]
    if kind is functools.partial:
        return None if vars(x) else ((kind,), [x.func, x.args, x.keywords])
    if kind is set or kind is frozenset:
        return ((kind, frozenset(x)), []) if all(type(y) is str for y in x) else None
    if has_attributes_alone(kind):
        return (kind, tuple(vars(x))), list(vars(x).values())
    return None


def lasts(x: Any) -> bool:
    """Whether a class, a module or a function is no call's own: it was made when a module was imported."""
    if isinstance(x, FunctionType):
        return is_library(x.__code__) or not x.__code__.co_flags & CO_NESTED
    return isinstance(x, (type, ModuleType)) or (
        isinstance(x, BuiltinFunctionType) and isinstance(x.__self__, (ModuleType, type(None)))
    )


def is_public(x: Any) -> bool:
    """Whether this is a function of the library, or one written in C, that is found under its name."""
    if isinstance(x, BuiltinFunctionType):
        return isinstance(x.__self__, ModuleType)
    if not isinstance(x, FunctionType) or not is_library(x.__code__):
        return False
    found: Any = sys.modules.get(module_of(x))
    for name in x.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is x


def has_attributes_alone(kind: type) -> bool:
    """Whether objects of a class have their attributes, and no other state that is their own."""
    if kind is SimpleNamespace:
        return True
    return (
        not hasattr(kind, "__del__") and kind.__new__ is object.__new__
        and (kind.__basicsize__, kind.__dictoffset__) == (_Plain.__basicsize__, _Plain.__dictoffset__)
        and all(c is object or c is Module or module_of(c).startswith("jaxflow.nn.modules.")
                or module_of(c).split(".")[0] not in ("jaxflow", "jax") for c in kind.__mro__)
        and all(c is object or c.__flags__ & _OF_PYTHON for c in kind.__mro__)
    )


def outline(x: Any, leaves: list, opens: Opens = nothing_made) -> Any:
    """Append the leaves of a tree, and return its structure."""
    found = apart(x, opens)
    if found is None:
        leaves.append(x)
        return None
    return found[0], [outline(y, leaves, opens) for y in found[1]]


def gather(x: Any, structure: Any, leaves: list, containers: list) -> bool:
    """Append the leaves and the containers of a tree, if it has this structure; whether it does."""
    if structure is None:
        leaves.append(x)
        return True
    found = apart(x, _everything)
    if found is None or found[0] != structure[0] or len(found[1]) != len(structure[1]):
        return False
    containers.append(x)
    return all(gather(y, s, leaves, containers) for y, s in zip(found[1], structure[1]))


def parts_in(x: Any) -> list:
    """What stands in a container or an object that is taken apart."""
    found = apart(x, _everything)
    return [] if found is None else found[1]


def _everything(x: Any) -> bool:
    return True


def is_tree(x: Any, opens: Opens = nothing_made, constant: Opens = nothing_made) -> bool:
    """Whether ``x`` is a container of nothing but containers, tensors, plain values and constants."""
    return apart(x, opens) is not None and not is_in_itself(x, (), opens) and all(
        isinstance(y, (Tensor, *SCALARS)) or type(y) is SymNumber or constant(y) for y in leaves_of(x, opens)
    )


def is_in_itself(x: Any, around: tuple = (), opens: Opens = nothing_made) -> bool:
    """Whether a container stands somewhere in itself, or one of those ``around`` it does."""
    found = apart(x, opens)
    return found is not None and (
        any(x is y for y in around) or any(is_in_itself(y, (*around, x), opens) for y in found[1])
    )


def leaves_of(x: Any, opens: Opens = nothing_made) -> list:
    """What stands in a tree."""
    leaves: list = []
    outline(x, leaves, opens)
    return leaves


def containers_of(x: Any, opens: Opens = nothing_made) -> Iterator[Any]:
    """The tree itself, and the containers in it."""
    found = apart(x, opens)
    if found is not None:
        yield x
        for y in found[1]:
            yield from containers_of(y, opens)
