"""After a capture: plain numbers where tracked ones were left, NOTE [Numbers of calls]."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable
from operator import is_, setitem
from types import CellType, FunctionType, ModuleType
from typing import Any

from jaxflow._core.commit import commit_results, rows_called
from jaxflow._core.graph import Node
from jaxflow._core.inner import PACKAGES, module_of
from jaxflow._core.symbolic_numbers import settled
from jaxflow._core.tensor import Tensor

from ._python_tracer import is_library

DICTS = (dict, OrderedDict, defaultdict, Counter)
_NOT_MADE = (type(None), type, ModuleType, str, bytes, int, float, complex)
_OF_PYTHON = 1 << 9  # Py_TPFLAGS_HEAPTYPE
_INNER = (*PACKAGES, "jaxflow.autograd.forward_mode", "jaxflow.autograd.saved_attributes",
          "jaxflow.compiler", "jax.", "jaxlib")


def settle(holders: Iterable, known: Iterable[int]) -> None:
    """Look through what the call has made, from ``holders`` on; ``known``: ids of what was there before."""
    todo, seen = list(holders), set(known)
    while todo:
        x = todo.pop()
        if id(x) not in seen and not isinstance(x, _NOT_MADE) and not _is_inner(x):
            seen.add(id(x))
            settle_in(x)
            todo += x if isinstance(x, (tuple, set, frozenset)) else [y for _, y in entries_of(x)]
            todo += (x.__closure__ or ()) if isinstance(x, FunctionType) else ()
            todo.append(attributes_of(x))


def _is_inner(x: Any) -> bool:
    """Whether something is the library's own: from there one comes to all that it has compiled."""
    if isinstance(x, FunctionType):
        return is_library(x.__code__)
    return module_of(type(x)).startswith(_INNER) and not isinstance(x, (Tensor, Node))


def settle_in(holder: Any) -> None:
    """Put plain numbers into one container."""
    if type(holder) in (*DICTS, set):
        keys = list(map(settled, holder))
        if not all(map(is_, keys, holder)):  # a key cannot be replaced where it stands
            new = keys if type(holder) is set else list(zip(keys, holder.values()))
            update = set.update if new is keys else dict.update  # a Counter's own adds
            commit_results(rows_called([(holder.clear,), (update, holder, new)]))
    put = _put(holder)
    for key, x in entries_of(holder):
        plain = settled(x)
        if plain is not x:
            put(holder, key, plain)


def attributes_of(x: Any) -> dict | None:
    """The attributes that are an object's own; None if it has none."""
    try:
        return object.__getattribute__(x, "__dict__")  # past what a class may do instead
    except AttributeError:
        return None


def _put(holder: Any) -> Callable:
    if isinstance(holder, list):
        return list.__setitem__
    if isinstance(holder, (dict, deque)):
        return setitem
    return type.__setattr__ if isinstance(holder, type) else setattr


def entries_of(holder: Any) -> list[tuple]:
    """(key, value) of all that something holds which can be stored anew."""
    if isinstance(holder, dict):
        return list(dict.items(holder))
    if isinstance(holder, (list, deque)):
        return list(enumerate(holder))
    if isinstance(holder, CellType):
        return [("cell_contents", x) for x in contents_of(holder)]
    if isinstance(holder, FunctionType):
        return [(name, getattr(holder, name)) for name in ("__defaults__", "__kwdefaults__")]
    if isinstance(holder, type):
        return list(vars(holder).items())
    if isinstance(holder, BaseException):
        return [("args", holder.args)]
    kinds = [c for c in type(holder).__mro__ if c.__flags__ & _OF_PYTHON and "__slots__" in vars(c)]
    names = [n for c in kinds for n in ((c.__slots__,) if isinstance(c.__slots__, str) else c.__slots__)]
    return [(n, getattr(holder, n)) for n in names if n not in ("__dict__", "__weakref__") and
            hasattr(holder, n)]


def contents_of(cell: CellType) -> tuple:
    """What a variable of an enclosing function holds; nothing if it is not assigned."""
    try:
        return (cell.cell_contents,)
    except ValueError:
        return ()
