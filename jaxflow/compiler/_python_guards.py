"""What a function can reach in Python: the values its calls depend on, and where they are kept.

NOTE [What is guarded]
    From the function, its closure and its arguments the walk follows the names that the user's code mentions
    (globals, attributes), the contents of lists and dicts, and everything a Module or an optimizer holds.
    Each place it comes through becomes a row: a live container and what it held. A call is served by a
    specialisation only if all rows still hold, so every later path to an object is the same path. Numbers,
    strings and the like are compared by value, all else by identity. What changes without leaving a trace
    in such places (an iterator, an open file, an array of NumPy) cannot be guarded: where code that ran
    mentions it, Python runs at each call.
"""

from __future__ import annotations

import abc
import builtins
import collections
import enum
import functools
import inspect
import itertools
import operator
import os
import re
import threading
import types
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from jaxflow._core.generator import Generator
from jaxflow._core.inner import PACKAGES, module_of, name_of_module
from jaxflow._core.tensor import Tensor
from jaxflow.nn.modules import _global_hooks
from jaxflow.nn.modules.module import Module
from jaxflow.optim._rule import RuleOptimizer
from jaxflow.optim.lr_scheduler import LRScheduler
from jaxflow.optim.optimizer import Optimizer

from ._code import MATCHED, codes_of, globals_of, names_of
from ._python_tracer import is_library
from ._rows import DICTS, MISSING, MISSINGS, SCALARS, Row

_FIXED = (*SCALARS, type(...), type(NotImplemented), range, slice, re.Pattern, np.dtype,
          np.generic, types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType,
          Generator, types.CodeType, types.GenericAlias, types.GetSetDescriptorType, property,
          types.MemberDescriptorType)
_LISTS = (list, tuple, collections.deque)
# Where dtypes, devices, layouts, grad modes and arrays come from: they do not change.
_UNCHANGING = (*PACKAGES, "jaxflow.autograd", "jax.", "jaxlib")

# Who mentions these may read any attribute.
_DYNAMIC = frozenset(("getattr", "vars", "dir", "__dict__", "attrgetter", "__getattribute__", "__slots__"))
# Whose functions, written in Python or in C, read attributes that the user's code does not mention.
_READING_ALL = ("collections", "weakref", "_weakrefset", "argparse", "os")
_FIELD_READERS = frozenset(("astuple", "asdict"))
# What is another in each thread, goes when nobody refers to it, or is filled where nobody sees it.
_ELUSIVE = (threading.local, weakref.ref)
# State of Python's own modules that somebody may change.
_OF_MODULES = {"os": ("environ",), "sys": ("argv",)}
# What changes in a schedule at each step, and the methods that show it.
_OF_SCHEDULES = frozenset(("get_last_lr", "last_epoch", "get_lr", "state_dict", "_last_lr", "_step_count"))

# More places than this, or more that they hold, are not looked at before each call; Python runs instead.
MOST_PLACES, MOST_HELD = 20_000, 100_000

# How a class reads and stores what its objects have in a slot.
_SLOT = types.MemberDescriptorType

# Whose functions refer to no user's state; pytest's are called where it has rewritten an ``assert``.
_LIBRARIES = ("jaxflow", "jax", "numpy", "torch", "_pytest")


class Wrapped:
    """Base of compiled functions, which run ``fn`` as it is where another one is captured."""

    fn: Callable


class Reach:
    """Everything reached from some roots by names; see NOTE [What is guarded].

    Attributes:
        rows: the places.
        tensors: id -> (tensor, how to call it).
        generators: id -> generator.
        codes: code objects of the functions that were found.
        opaque: (name, shown, object) of what cannot be guarded.
        seen: id -> object, everything that was looked at.
    """

    def __init__(self, names: set[str]) -> None:
        self.names = set(names)
        self.codes: set[types.CodeType] = set()
        self.roots: list[tuple] = []
        self._clear()

    def _clear(self) -> None:
        self.rows: list[Row] = []
        self.tensors: dict[int, tuple[Tensor, str]] = {}
        self.generators: dict[int, Generator] = {}
        self.opaque: list[tuple[str, str, Any]] = []
        self.seen: dict[int, Any] = {}
        self.work: list[tuple[Any, str, str]] = []
        self.objects: list[Any] = []
        self.classes: list[type] = []
        # By identity: a class need not be hashable, and each stays alive here as long as its number.
        self.library: dict[int, type] = {}
        self.based: dict[int, type] = {}  # classes whose attributes have a row
        self.absent: set[str] = set()
        self.listed = 0

    def walk(self, roots: list[tuple[Any, str]], scopes: list[tuple[dict, types.CodeType]]) -> Reach:
        """Walk until no new names turn up. ``scopes`` are codes whose functions are not known."""
        while True:
            before = len(self.names), len(self.codes)
            self._clear()
            for hooks in vars(_global_hooks).values():
                if isinstance(hooks, collections.OrderedDict):
                    self._dict(hooks, "hooks of all modules")
            for globals_, code in scopes:
                self._scope(globals_, code)
            self.everything = not self.names.isdisjoint(_DYNAMIC)
            self.work += [(x, shown, "") for x, shown in (*roots, (Tensor, "Tensor"))]
            while self.work and len(self.seen) < MOST_PLACES and self.listed < MOST_HELD:
                self._visit(*self.work.pop())
                if not self.work and self.absent:  # names that no globals have
                    names, self.absent = self.absent & vars(builtins).keys(), set()
                    self._named(vars(builtins), sorted(names), "builtins")
            if self.work:
                self.opaque.append(("", f"more than {MOST_PLACES} places", None))
                return self
            if before == (len(self.names), len(self.codes)):
                self._kinds(self.objects, type, "the class of an object")
                self._kinds(self.classes, operator.attrgetter("__mro__"), "the bases of a class")
                for name in _NAMING & self.names:  # a class of C makes a new text each time
                    self._kinds([c for c in self.classes if c.__flags__ & _OF_PYTHON],
                                operator.attrgetter(name), "a class")
                if not self.names.isdisjoint(("isinstance", "issubclass")) and any(
                    isinstance(c, abc.ABCMeta) for c in self.classes
                ):
                    self.rows.append(Row(abc, functools.partial(_registered, abc.get_cache_token()),
                                         lambda: ["register"], "abc"))
                return self

    def _kinds(self, holders: Sequence, ask: Callable, shown: str) -> None:
        """One row for one property of many objects."""
        if holders:
            self.rows.append(_row_of_kinds(tuple(holders), ask, shown))

    def leave(self, gone: set[int]) -> None:
        """Guard no more what stands in the holders with these ids, nor of what class they are."""
        left = [row for row in self.rows if id(row.holder) not in gone]
        for at, row in enumerate(left):
            if type(row.holder) is tuple and getattr(row.lister, "args", ())[1:] == (row.holder,) and (
                not gone.isdisjoint(map(id, row.holder))
            ):
                holders = tuple(x for x in row.holder if id(x) not in gone)
                left[at] = _row_of_kinds(holders, row.lister.args[0], row.shown)
        self.rows = left

    # --------------------------------------------------------------------------------------- the walk

    def _visit(self, x: Any, shown: str, name: str) -> None:
        if isinstance(x, Generator):
            self.generators[id(x)] = x
        if isinstance(x, _FIXED) or id(x) in self.seen:
            return
        self.seen[id(x)] = x
        if isinstance(x, Tensor):
            self.tensors[id(x)] = (x, shown)
            self._attributes(x, shown, name)
            if _python_classes(x):
                self._of_class(x, shown)
            if x._hooks:
                self.work.append((x._hooks, f"{shown}'s hooks", ""))
        elif isinstance(x, _ELUSIVE) or (
            isinstance(x, functools._lru_cache_wrapper) and not _of_library(x.__wrapped__)
        ):
            self.opaque.append((name, shown, x))
        elif isinstance(x, types.FunctionType):
            self._function(x, shown)
        elif isinstance(x, types.MethodType):
            self.work += [(x.__self__, shown, name), (x.__func__, shown, name)]
        elif isinstance(x, functools.partial):
            self.work += [(x.func, shown, name), (x.args, shown, name), (x.keywords, shown, name)]
        elif isinstance(x, types.ModuleType):
            self._python_module(x, shown)
        elif isinstance(x, type):
            self._class(x, shown)
        elif isinstance(x, (staticmethod, classmethod)):
            self.work.append((x.__func__, shown, name))
        elif type(x) in DICTS:
            self._row(x, x.values, x.keys, shown, inside=name)
        elif isinstance(x, _LISTS):
            self._row(x, x.__iter__, lambda: range(len(x)), shown, inside=name)
        elif isinstance(x, (set, frozenset)):
            if all(isinstance(k, SCALARS) for k in x):
                self._row(x, lambda: sorted(x, key=repr), lambda: range(len(x)), shown)
            else:
                self._row(x, x.__iter__, lambda: range(len(x)), shown, inside=name)
        elif isinstance(x, types.CellType):
            self._row(x, functools.partial(_cell, x), lambda: [name], shown)
        elif isinstance(x, Module):
            self._module(x, shown)
        elif isinstance(x, Optimizer):
            self._optimizer(x, shown)
        elif isinstance(x, Wrapped):
            self.work.append((x.fn, shown, name))
        elif isinstance(x, enum.Enum):
            if not module_of(type(x)).startswith("jaxflow"):
                self._row(x.__dict__, x.__dict__.values, x.__dict__.keys, shown, inside=name)
        elif isinstance(x, LRScheduler):
            if not self.names.isdisjoint(_OF_SCHEDULES):
                self._dict(x.__dict__, shown)
        elif module_of(type(x)).startswith(_UNCHANGING) and not hasattr(type(x), "__next__"):
            return
        elif hasattr(x, "__dict__") and not hasattr(type(x), "__next__"):
            self._object(x, shown, name)
        else:
            self._slots(x, shown, name)

    def _row(self, holder: Any, lister: Callable, names: Callable, shown: str,
             keys: frozenset | None = None, inside: str | None = None, *, named: bool = True,
             whole: Any = None) -> Row:
        row = Row(holder, lister, names, shown, keys, named=named, whole=whole)
        self.rows.append(row)
        self.listed += len(row.held)
        for key, x in zip(row.names(), row.held):
            if x is not MISSING and (keys is None or key in keys) and not isinstance(x, SCALARS):
                # What is in a container is mentioned wherever the container is.
                self.work.append((x, row.describe(key), key if inside is None else inside))
        return row

    def _dict(self, x: Any, shown: str, keys: frozenset | None = None, *, named: bool = True) -> None:
        self._row(x, x.values, x.keys, shown, keys, named=named)

    def _named(self, x: Any, names: Iterable[str], shown: str, *, whole: bool = False,
               owner: Any = None) -> None:
        """A row for some names of a namespace, present or not; ``whole``: it may not get more of them.

        ``owner`` is the class whose attributes these are.
        """
        names = tuple(names)
        if names or whole:
            self._row(x if owner is None else owner, functools.partial(map, x.get, names, MISSINGS),
                      lambda: names, shown, whole=x if whole else None)

    def _scope(self, globals_: dict, code: types.CodeType) -> None:
        if is_library(code):
            return
        mentioned = names_of(code)
        self.names |= mentioned
        self.codes |= codes_of(code)
        self._named(globals_, sorted(globals_of(code)), "global")  # absent ones may appear
        self.absent.update(globals_of(code) - globals_.keys())

    def _function(self, f: types.FunctionType, shown: str) -> None:
        wrapped = f.__dict__.get("__wrapped__")
        if wrapped is not None:
            self.work.append((wrapped, shown, ""))
        if f.__closure__:  # also of decorators that the library made: they hold the user's function
            for cell, name in zip(f.__closure__, f.__code__.co_freevars):
                self.work.append((cell, shown, name))
        if f is os.getenv:
            self.work.append((os.environ, "os.environ", "getenv"))
        if is_library(f.__code__):
            return
        self._row(f, functools.partial(_PARTS, f), lambda: _PART_NAMES, shown)
        for name in _DESCRIBING & self.names:
            self._row(f, functools.partial(map, operator.attrgetter(name), (f,)), lambda n=name: [n], shown)
        self._scope(f.__globals__, f.__code__)
        if f.__defaults__ or f.__kwdefaults__:
            self.work += [(f.__defaults__, f"{shown}'s defaults", ""), (f.__kwdefaults__, shown, "")]
        self._dict(f.__dict__, shown, frozenset(self.names))

    def _python_module(self, m: types.ModuleType, shown: str) -> None:
        first = name_of_module(m.__dict__).split(".")[0]
        if first != "jaxflow" and (first in _LIBRARIES or first in _STDLIB):
            state = _OF_MODULES.get(m.__name__, ())
            if not self.names.isdisjoint((*state, "getenv")):
                self._named(m.__dict__, state, m.__name__)
        if first in _LIBRARIES or first in _STDLIB:
            self._of_others(m.__dict__, m.__name__)
            return
        self._named(m.__dict__, sorted(n for n in self.names if n in m.__dict__), m.__name__, whole=True)

    def _of_others(self, space: Any, shown: str) -> None:
        """A namespace of a library: somebody may put a function of his own there."""
        names = tuple(sorted(n for n in {*self.names, *_CALLED} if n in space))
        if not names:
            return
        row = Row(space, functools.partial(map, space.get, names, MISSINGS), lambda: names, shown)
        self.rows.append(row)
        for name, x in zip(names, row.held):
            if isinstance(x, types.FunctionType) and not is_library(x.__code__) or (
                isinstance(x, types.ModuleType) and name_of_module(x.__dict__).startswith("jaxflow")
            ):
                self.work.append((x, row.describe(name), name))

    def _class(self, c: type, shown: str) -> None:
        for base in c.__mro__:
            first = module_of(base).split(".")[0]
            if first in _LIBRARIES or first in _STDLIB:
                if id(base) not in self.library:
                    self.library[id(base)] = base
                    self._of_others(base.__dict__, base.__qualname__)
                continue
            if id(base) in self.based:
                continue
            self.based[id(base)] = base
            if MATCHED in self.names:
                self.names.update(base.__dict__.get(MATCHED, ()))
            if not self.names.isdisjoint(_FIELD_READERS):
                self.names.update(base.__dict__.get("__dataclass_fields__", ()))
            names = sorted(n for n in {*self.names, *_CALLED} if n in base.__dict__)
            self._named(base.__dict__, names, base.__qualname__, whole=True, owner=base)
        if type(c) is not type:
            self.work.append((type(c), type(c).__qualname__, ""))
        self.classes.append(c)

    def _module(self, m: Module, shown: str) -> None:
        plain = module_of(type(m)).split(".")[0] == "jaxflow"
        own = m.__dict__ if plain or self.everything else self.names
        keys = frozenset(k for k in own if k not in _BOOKKEEPING) | _MODULE_KEYS
        self._dict(m.__dict__, shown, keys, named=not plain)
        self._of_class(m, shown)

    def _of_class(self, x: Any, shown: str) -> None:
        """The class of an object, and what it has in slots."""
        self.objects.append(x)
        self.work.append((type(x), type(x).__qualname__, ""))
        slots = {n for c in _python_classes(x) for n, d in vars(c).items() if isinstance(d, _SLOT)}
        names = sorted(slots if self.everything else slots & self.names)
        if names:
            lister = functools.partial(map, getattr, itertools.repeat(x), names, MISSINGS)
            row = self._row(x, lister, lambda: names, shown)
            row.slotted = all(isinstance(inspect.getattr_static(x, n), _SLOT) for n in names)

    def _optimizer(self, o: Optimizer, shown: str) -> None:
        if isinstance(o, RuleOptimizer):  # whose own attributes are known
            self._named(o.__dict__, _OPTIMIZER_KEYS, shown)
        else:
            self._dict(o.__dict__, shown, frozenset(k for k in o.__dict__ if k not in ("step", "state")))
        self.work.append((o.state, f"{shown}.state", ""))
        for group in o.param_groups:
            if isinstance(o, RuleOptimizer) and "param_groups" not in self.names:
                # Its numbers are found anew at each call; where the user reads them they are guarded.
                self.seen[id(group)] = group
                tensors = (k for k, x in group.items() if isinstance(x, Tensor))
                self._named(group, ("params", *tensors), f"{shown}.param_groups")
        self._of_class(o, shown)

    def _attributes(self, x: Any, shown: str, name: str) -> None:
        held = x.__dict__
        if type(x) is types.SimpleNamespace or any(module_of(c) in _READING_ALL for c in type(x).__mro__):
            self._row(held, held.values, held.keys, shown, frozenset(held), inside=name)
        else:
            self._dict(held, shown, frozenset(held if self.everything else self.names))

    def _object(self, x: Any, shown: str, name: str) -> None:
        self._attributes(x, shown, name)
        self._of_class(x, shown)
        if isinstance(x, dict):
            self._dict(x, shown)
        if isinstance(x, (list, tuple)):
            self._row(x, x.__iter__, lambda: range(len(x)), shown)

    def _slots(self, x: Any, shown: str, name: str) -> None:
        if any("__slots__" in vars(c) for c in _python_classes(x)) and not hasattr(type(x), "__next__"):
            self._of_class(x, shown)
        elif type(x) is not object:
            self.opaque.append((name, shown, x))


# What decides what a function does, besides what it refers to.
_PART_NAMES = ("__code__", "__defaults__", "__kwdefaults__")
_PARTS = operator.attrgetter(*_PART_NAMES)
# What a module is called by.
_CALLED = ("forward", "__call__")
# Attributes that describe functions and classes, guarded where code mentions them.
_NAMING = frozenset(("__name__", "__qualname__"))
_DESCRIBING = _NAMING | {"__doc__", "__module__", "__annotations__"}
_OF_PYTHON = 1 << 9  # Py_TPFLAGS_HEAPTYPE
_MODULE_KEYS = frozenset((
    "training", "_parameters", "_buffers", "_modules", "_backward_pre_hooks", "_backward_hooks",
    "_forward_hooks", "_forward_pre_hooks",
))
_OPTIMIZER_KEYS = ("param_groups", "state", "_optimizer_step_pre_hooks", "_optimizer_step_post_hooks")
# What matters in saving and loading only, or changes only when one of the above does.
_BOOKKEEPING = frozenset((
    "_state_dict_hooks", "_state_dict_pre_hooks", "_load_state_dict_pre_hooks", "_load_state_dict_post_hooks",
    "_non_persistent_buffers_set", "_forward_hooks_with_kwargs", "_forward_hooks_always_called",
    "_forward_pre_hooks_with_kwargs", "_is_full_backward_hook", "_compiled_call_impl",
))


def _row_of_kinds(holders: tuple, ask: Callable, shown: str) -> Row:
    return Row(holders, functools.partial(map, ask, holders), lambda: range(len(holders)), shown)


def _registered(before: Any) -> tuple:
    """Whether some class was registered with an abstract one since."""
    return (abc.get_cache_token() != before,)


def _of_library(f: Any) -> bool:
    code = getattr(f, "__code__", None)
    return code is not None and is_library(code)


def _python_classes(x: Any) -> list[type]:
    """The classes of an object that were made by Python code, the library's left out."""
    return [c for c in type(x).__mro__ if c.__flags__ & _OF_PYTHON
            and module_of(c).split(".")[0] not in _LIBRARIES]


def _cell(cell: types.CellType) -> tuple:
    try:
        return (cell.cell_contents,)
    except ValueError:  # not assigned yet
        return (MISSING,)


_STDLIB = frozenset(__import__("sys").stdlib_module_names) - {"__main__"}
