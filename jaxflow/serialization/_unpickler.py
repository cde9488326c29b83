"""Reading objects: by an allow-list (``weights_only``), or all that pickle can make.

Names in the file are looked up in a table of functions and types that are safe with any
arguments (``_rebuild.known``) and in what the user allowed; nothing is imported. Only those are
called, and only objects of those types are given state. Unknown opcodes are refused. So a
hostile file can waste memory, but run nothing of its choice.
"""

from __future__ import annotations

import importlib
import pickle
import struct
from _compat_pickle import IMPORT_MAPPING, NAME_MAPPING
from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import Any

from jaxflow import _functions as functions
from jaxflow import return_types
from jaxflow._core.dtype import QUANTIZED
from jaxflow._core.tensor import Tensor

from ._names import StorageType
from ._rebuild import known
from ._safe import allowed_by_name

_BLOCKED = frozenset(("sys", "os", "posix", "nt"))

# The opcodes of pickle protocol 2 and what later protocols need for the same content.
_OPCODES = (
    "PROTO STOP MARK POP POP_MARK NONE NEWFALSE NEWTRUE BININT BININT1 BININT2 LONG1 LONG4 "
    "BINFLOAT BINUNICODE SHORT_BINUNICODE BINUNICODE8 SHORT_BINSTRING BINSTRING BINBYTES "
    "SHORT_BINBYTES BINBYTES8 BYTEARRAY8 EMPTY_TUPLE TUPLE TUPLE1 TUPLE2 TUPLE3 EMPTY_LIST APPEND "
    "APPENDS EMPTY_DICT SETITEM SETITEMS EMPTY_SET ADDITEMS FROZENSET BINPERSID GET BINGET "
    "LONG_BINGET PUT BINPUT LONG_BINPUT MEMOIZE FRAME GLOBAL STACK_GLOBAL REDUCE NEWOBJ BUILD"
).split()


class WeightsOnlyUnpickler(pickle._Unpickler):
    """Makes tensors, plain containers and what the user allowed; refuses everything else."""

    dispatch = {
        code[0]: pickle._Unpickler.dispatch[code[0]]
        for code in (getattr(pickle, name) for name in _OPCODES)
    }

    def __init__(self, file: Any, persistent_load: Callable, *, encoding: str = "utf-8") -> None:
        super().__init__(file, encoding=encoding)
        self.persistent_load = persistent_load
        self._user = allowed_by_name()
        self._callable: dict[int, Any] = {id(item): item for item in self._user.values()}

    def load(self) -> Any:
        """Read one object. Raises UnpicklingError for what is not allowed, and for damage."""
        try:
            return super().load()
        except KeyError as error:
            raise pickle.UnpicklingError(f"Unsupported operand {error}") from error
        except (IndexError, EOFError, struct.error) as error:
            raise pickle.UnpicklingError(f"the pickle is damaged: {error!r}") from error

    def find_class(self, module: str, name: str) -> Any:
        """The object a name stands for, if it is allowed."""
        if (module, name) in NAME_MAPPING:  # protocol 2 writes the names of Python 2
            module, name = NAME_MAPPING[(module, name)]
        module = IMPORT_MAPPING.get(module, module)
        path = f"{module}.{name}"
        if module in _BLOCKED:
            raise pickle.UnpicklingError(
                f"Trying to load unsupported GLOBAL {path} whose module {module} is blocked."
            )
        found, value = known(path)
        if not found:
            if path not in self._user:
                shown = path.removeprefix("builtins.")
                raise pickle.UnpicklingError(
                    f"Unsupported global: GLOBAL {shown} was not an allowed global by default. If "
                    "you trust it, allow it with `torch.serialization.add_safe_globals("
                    f"[{shown}])` or inside `with torch.serialization.safe_globals([{shown}]):`."
                )
            value = self._user[path]
        self._callable[id(value)] = value
        return value

    def _check(self, function: Any) -> None:
        if self._callable.get(id(function)) is not function or function is None:
            raise pickle.UnpicklingError(
                f"Trying to call reduce for unrecognized function {function}"
            )

    def _load_reduce(self) -> None:
        args = self.stack.pop()
        function = self.stack[-1]
        self._check(function)
        self.stack[-1] = function(*args)

    def _load_newobj(self) -> None:
        args = self.stack.pop()
        cls = self.stack.pop()
        self._check(cls)
        self.append(cls.__new__(cls, *args))

    def _load_build(self) -> None:
        state = self.stack.pop()
        obj = self.stack[-1]
        kind = type(obj)
        if kind is OrderedDict:
            obj.__dict__.update(state)
        elif any(kind is item for item in self._user.values()):
            _set_state(obj, state)
        else:
            raise pickle.UnpicklingError(
                "Can only build Tensor, Parameter, OrderedDict or types allowlisted via "
                f"`add_safe_globals`, but got {kind}"
            )

    def _target(self, kinds: tuple, verb: str) -> Any:
        if type(self.stack[-1]) not in kinds:
            raise pickle.UnpicklingError(f"Can only {verb}, but got {type(self.stack[-1])}")
        return self.stack[-1]

    def _load_append(self) -> None:
        item = self.stack.pop()
        self._target((list,), "append to lists").append(item)

    def _load_appends(self) -> None:
        items = self.pop_mark()
        self._target((list,), "extend lists").extend(items)

    def _load_additems(self) -> None:
        items = self.pop_mark()
        self._target((set,), "add to sets").update(items)

    def _load_setitem(self) -> None:
        value, key = self.stack.pop(), self.stack.pop()
        self._target(_DICTS, _IN_DICTS.format("SETITEM"))[key] = value

    def _load_setitems(self) -> None:
        items = self.pop_mark()
        target = self._target(_DICTS, _IN_DICTS.format("SETITEMS"))
        for i in range(0, len(items), 2):
            target[items[i]] = items[i + 1]

    def _load_bytearray8(self) -> None:
        (length,) = struct.unpack("<Q", self.read(8))
        self.append(bytearray(self.read(length)))  # takes no more memory than there are bytes

    for _code, _function in {
        pickle.REDUCE: _load_reduce,
        pickle.NEWOBJ: _load_newobj,
        pickle.BUILD: _load_build,
        pickle.APPEND: _load_append,
        pickle.APPENDS: _load_appends,
        pickle.ADDITEMS: _load_additems,
        pickle.SETITEM: _load_setitem,
        pickle.SETITEMS: _load_setitems,
        pickle.BYTEARRAY8: _load_bytearray8,
    }.items():
        dispatch[_code[0]] = _function
    del _code, _function


_DICTS = (dict, OrderedDict, Counter)
_IN_DICTS = "{} for dict, collections.OrderedDict, collections.Counter"


def _set_state(obj: Any, state: Any) -> None:
    if hasattr(obj, "__setstate__"):
        obj.__setstate__(state)
        return
    attributes, slots = state if isinstance(state, tuple) and len(state) == 2 else (state, None)
    if attributes:
        obj.__dict__.update(attributes)
    for name, value in (slots or {}).items():
        setattr(obj, name, value)


def full_unpickler(pickle_module: Any) -> type:
    """An Unpickler class that reads PyTorch's names as jaxflow's, and all that pickle can."""

    class Unpickler(pickle_module.Unpickler):
        def __init__(self, file: Any, persistent_load: Callable, **options: Any) -> None:
            super().__init__(file, **options)
            self._persistent_load = persistent_load

        def persistent_load(self, pid: Any) -> Any:
            return self._persistent_load(pid)

        def find_class(self, module: str, name: str) -> Any:
            found, value = known(f"{module}.{name}")
            if found and (not isinstance(value, StorageType) or value.dtype in QUANTIZED):
                return value  # storages of quantized tensors have no class here
            if module == "torch" or module.startswith("torch."):
                return _counterpart(module, name)
            return super().find_class(module, name)

    return Unpickler


# Where PyTorch's pickles find functions that it has written in C++: the public place, and what precedes the
# public name.
_IN_C = {
    "torch._C._nn": ("torch.nn.functional", ""),
    "torch._C._linalg": ("torch.linalg", "linalg_"),
    "torch._C._special": ("torch.special", "special_"),
    "torch._C._fft": ("torch.fft", "fft_"),
}
_OWNERS_IN_C = {"_VariableFunctionsClass": functions, "TensorBase": Tensor}


def _counterpart(module: str, name: str) -> Any:
    """What jaxflow has under PyTorch's name; its own modules may be split differently."""
    if module == "torch._C" and name in _OWNERS_IN_C:
        return _OWNERS_IN_C[name]
    if module == "torch.return_types":
        cls = getattr(return_types, name)
        return lambda items, unnamed=None: cls(*items)  # as PyTorch's class takes them apart
    if module in _IN_C:
        module, prefix = _IN_C[module]
        name = name.removeprefix(prefix)
    parts = module.split(".")
    for depth in range(len(parts), 0, -1):
        try:
            value: Any = importlib.import_module(".".join(["jaxflow", *parts[1:depth]]))
            for attribute in name.split("."):
                value = getattr(value, attribute)
            return value
        except (ModuleNotFoundError, AttributeError):
            continue
    raise AttributeError(
        f"the checkpoint holds a {module}.{name}, which jaxflow does not have; save a state_dict() "
        "in place of the object"
    )
