"""What is put in place of functions and methods while a function is traced, and taken away afterwards.

NOTE [Patches while tracing]
    Modules are called, their attributes read and wrapped functions called as always; while a thread traces,
    others stand in their place, in the class and in the namespaces. One thread traces at a time (`LOCK`), and
    what stands there does what stood there before when another thread calls it or when no proxy is among the
    arguments. Each place is noted before anything is put there, so that an interrupt in between leaves
    nothing.
"""

from __future__ import annotations

import builtins
import functools
import inspect
import math
import threading
import weakref
from collections.abc import Callable, Iterable
from types import FunctionType, ModuleType
from typing import Any

from jaxflow.utils import _pytree

from .proxy import Proxy

#: Held by the thread that traces.
LOCK = threading.RLock()

#: Functions that are recorded as calls, by namespace and name: `wrap` adds them.
_wrapped_fns_to_patch: dict[tuple[int, str], dict[str, Any]] = {}

_ABSENT = object()


class Patches:
    """Places where something else stands while a function runs."""

    def __init__(self) -> None:
        self._places: list[tuple[Any, str, Any, bool]] = []
        self._seen: set[int] = set()

    def item(self, space: dict[str, Any], name: str, new: Any) -> None:
        """Put ``new`` into a namespace."""
        self._places.append((space, name, space.get(name, _ABSENT), True))
        space[name] = new

    def attribute(self, cls: type, name: str, new: Any) -> None:
        """Put ``new`` into a class."""
        self._places.append((cls, name, cls.__dict__.get(name, _ABSENT), False))
        setattr(cls, name, new)

    def first_time(self, space: dict[str, Any]) -> bool:
        """Whether a namespace was not gone through yet."""
        if id(space) in self._seen:
            return False
        self._seen.add(id(space))
        return True

    def _undo(self) -> None:
        while self._places:
            owner, name, before, is_item = self._places[-1]
            if is_item and before is _ABSENT:
                owner.pop(name, None)
            elif is_item:
                owner[name] = before
            elif before is _ABSENT:
                if name in owner.__dict__:
                    delattr(owner, name)
            else:
                setattr(owner, name, before)
            self._places.pop()

    def run(self, fn: Callable, *args: Any) -> Any:
        """What ``fn`` returns for these patches and the arguments; afterwards all is as before."""
        try:
            result = fn(self, *args)
            self._undo()
            return result
        except BaseException:  # an interrupt in the middle of putting back, too: NOTE [Modes and interrupts]
            self._undo()
            raise


def recorded(fn: Callable) -> Callable:
    """A function that is recorded as a call of ``fn`` when a proxy is among its arguments."""

    @functools.wraps(fn)
    def call(*args: Any, **kwargs: Any) -> Any:
        for leaf in _pytree.tree_leaves((args, kwargs)):
            if isinstance(leaf, Proxy):
                made = leaf.tracer.create_proxy("call_function", fn, args, kwargs)
                made.node.meta["is_wrapped"] = True
                return made
        return fn(*args, **kwargs)

    call.__fx_already_patched = True  # type: ignore[attr-defined]
    return call


def patch_wrapped(patches: Patches) -> None:
    """Put functions that record into all places that were given to `wrap`."""
    for (_, name), space in list(_wrapped_fns_to_patch.items()):
        fn = space[name] if name in space else getattr(builtins, name, None)
        if fn is not None and not hasattr(fn, "__fx_already_patched"):
            patches.item(space, name, recorded(fn))


def patch_functions_of(patches: Patches, space: dict[str, Any], functions: set[int]) -> None:
    """Put functions that record into a namespace, for those of ``functions`` (by id) that are in it."""
    if not patches.first_time(space):
        return
    for name, value in list(space.items()):
        if not name.startswith("_") and callable(value) and id(value) in functions:
            patches.item(space, name, recorded(value))


def functions_in(modules: Iterable[ModuleType]) -> set[int]:
    """The ids of the public functions of modules, also while others stand there, of a thread that traces."""
    found = (value for module in modules for name, value in list(vars(module).items())
             if not name.startswith("_") and callable(value))
    return {id(value.__wrapped__ if hasattr(value, "__fx_already_patched") else value) for value in found}


def wrap(fn_or_name: str | Callable) -> str | Callable:
    """Record calls of a function whole, instead of going through its lines, when an argument is a proxy.

    Args:
        fn_or_name: the function, or its name in the module that calls `wrap`, which may be that of a built-in
            function. A call at the top of that module, or a decorator there.

    Returns:
        ``fn_or_name`` itself.

    Raises:
        RuntimeError: for what is neither a function nor a name.
        NotImplementedError: when it is called from within a function.

    Example:
        >>> space = {"torch": torch}
        >>> exec("torch.fx.wrap('len')\\ndef f(x):\\n    return x * len(x)", space)
        >>> print(torch.fx.symbolic_trace(space["f"]).code.strip())
        torch.fx._symbolic_trace.wrap("len")
        <BLANKLINE>
        def forward(self, x):
            len_1 = len(x)
            mul = x * len_1;  x = len_1 = None
            return mul
    """
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise RuntimeError("Unsupported type for global function! Must be either a callable or string name")
    name = fn_or_name if isinstance(fn_or_name, str) else fn_or_name.__code__.co_name if isinstance(
        fn_or_name, FunctionType) else fn_or_name.__name__
    frame = inspect.currentframe()
    caller = None if frame is None else frame.f_back
    if caller is None or caller.f_code.co_name != "<module>":
        raise NotImplementedError("wrap must be called at the top level of a module")
    _wrapped_fns_to_patch[id(caller.f_globals), name] = caller.f_globals
    return fn_or_name


def forget_with(owner: Any, space: dict[str, Any]) -> None:
    """Forget what was given to `wrap` in a namespace of generated code once ``owner`` is gone."""
    keys = [key for key in list(_wrapped_fns_to_patch) if key[0] == id(space)]
    for key in keys:
        weakref.finalize(owner, _wrapped_fns_to_patch.pop, key, None).atexit = False


#: Modules whose functions are recorded by default.
MATH = (math,)
