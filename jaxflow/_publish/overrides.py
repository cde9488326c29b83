"""``__torch_function__``: subclasses, other classes and modes that take over what public functions do.

NOTE [Overrides are installed late]
    At first no function looks for arguments that override it, because nearly no program has any. When the
    first class that overrides is made (or a mode entered, or a foreign object given to an operation), every
    public function gets other code, once and for all. The function object stays the same, so whoever has
    imported it calls the new code, which looks for overrides first and then runs the old code. Until then
    overriding costs nothing.
"""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from types import FunctionType
from typing import Any

from jaxflow._core.foreign import INSTALL
from jaxflow._core.layouts import HANDLERS, PartsStorage, among
from jaxflow._core.modes import Changed
from jaxflow._core.tensor import Tensor
from jaxflow._core.torchs import TAKE_ANYTHING, is_function_of_torch, is_torchs, refusal
from jaxflow._plans.op import OPS

from .composite import COMPOSITES
from .places import places_of


class _Disabled:
    """A ``__torch_function__`` that overrides nothing: its class is taken for a plain tensor.

    No function, which would be bound to the tensor that it is looked up on.
    """

    def __call__(self, func: Callable, types: Sequence[type], args: tuple = (),
                 kwargs: dict | None = None) -> Any:
        if is_function_of_torch(func):
            raise refusal(_full_name(func))
        with DisableTorchFunctionSubclass():
            return func(*args, **(kwargs or {}))


disabled = _Disabled()


def _full_name(func: Callable) -> str:
    """PyTorch's name of one of its functions."""
    name = getattr(func, "__name__", repr(func))
    return f"torch.{name}" if name != "__get__" else f"torch.Tensor.{func.__self__.__name__}"


class _Overriding(threading.local):
    """Whether classes of arguments may override in this thread, and the modes it entered, innermost last."""

    classes = True
    modes: tuple = ()


_asked = _Overriding()


class DisableTorchFunctionSubclass:
    """A context in which arguments override nothing; modes still do."""

    def __enter__(self) -> None:
        self._before, _asked.classes = _asked.classes, False

    def __exit__(self, *error: Any) -> None:
        _asked.classes = self._before


class DisableTorchFunction:
    """A context in which neither arguments nor modes override anything."""

    def __enter__(self) -> None:
        before = self._before = {"classes": _asked.classes, "modes": _asked.modes}
        fields = _asked.__dict__
        try:
            fields.update(classes=False, modes=())
        except BaseException:
            fields.update(before)
            raise

    def __exit__(self, *error: Any) -> None:
        try:
            _asked.__dict__.update(self._before)
        except BaseException:
            _asked.__dict__.update(self._before)
            raise


class TorchFunctionMode:
    """A context in which every public function is handed to ``__torch_function__`` of the mode.

    Subclasses define ``__torch_function__(self, func, types, args=(), kwargs=None)``; while it runs, this
    mode is left, so that it may call ``func``.
    """

    def __torch_function__(self, func: Callable, types: Sequence[type], args: tuple = (),
                           kwargs: dict | None = None) -> Any:
        raise NotImplementedError(f"{type(self).__name__} defines no __torch_function__")

    def __enter__(self) -> TorchFunctionMode:
        install_overrides()
        _asked.modes = (*_asked.modes, self)
        return self

    def __exit__(self, *error: Any) -> None:
        _asked.modes = _asked.modes[:-1]


# ------------------------------------------------------------------------------------ who overrides

_PACKAGE = __package__.partition(".")[0]
_PLAIN = frozenset((Tensor, int, float, bool, complex, str, type(None)))


def overrides(x: Any) -> bool:
    """Whether the class of ``x`` has a ``__torch_function__`` that does something."""
    cls = x.__class__
    if cls in _PLAIN:
        return False
    own = getattr(cls, "__torch_function__", disabled)
    return own is not disabled and not isinstance(x, type) and not is_torchs(x)


def overriding(arguments: Iterable[Any], public: Callable | None = None) -> list:
    """One argument of each class that overrides, subclasses before the classes they are made from.

    The function ``public``, if it is given, takes no tensors of PyTorch: NOTE [Two kinds of tensors].
    """
    found: list = []
    for x in arguments:
        if x.__class__ in _PLAIN:
            continue
        if public is not None and is_torchs(x):
            raise refusal(name_of(public))
        if not overrides(x) or any(type(x) is type(f) for f in found):
            continue
        place = next((i for i, f in enumerate(found) if isinstance(x, type(f))), len(found))
        found.insert(place, x)
    return found


def _relevant(args: tuple, kwargs: dict) -> Iterable[Any]:
    for x in (*args, *kwargs.values()):
        if x.__class__ in (list, tuple):
            yield from x
        else:
            yield x


def handle(public: Callable, found: list, args: tuple, kwargs: dict) -> Any:
    """The result of the innermost mode, or else of the first of ``found``, that handles this call.

    ``NotImplemented`` when none of them handles it.
    """
    types = tuple(type(f) for f in found)
    if _asked.modes:
        modes = _asked.modes
        result = Changed(_asked, modes=modes[:-1]).run(
            modes[-1].__torch_function__, public, types, args, kwargs)
        if result is not NotImplemented:
            return result
    for f in found:
        result = f.__torch_function__(public, types, args, kwargs)
        if result is not NotImplemented:
            return result
    return NotImplemented


def _refused(public: Callable, found: list) -> TypeError:
    who = "".join(f"\n  - {'tensor subclass' if isinstance(f, Tensor) else 'object of type'} {type(f)}"
                  for f in found)
    return TypeError(f"Multiple dispatch failed for '{name_of(public)}'; all __torch_function__ handlers "
                     f"returned NotImplemented:\n{who}")


#: The names under which functions are known to those who override them, set when overrides are installed.
_NAMES: dict[Any, str] = {}


def name_of(public: Callable) -> str:
    """``torch.add``, ``torch.Tensor.add``: a function's full name; its own where it is not ours."""
    return _NAMES.get(public) or getattr(public, "__name__", repr(public))


def in_mode() -> bool:
    """Whether this thread has entered a mode that takes over calls now."""
    return bool(_asked.modes)


def found_in(arguments: Iterable[Any]) -> list:
    """`overriding`, or nothing where overriding by arguments is switched off."""
    return overriding(arguments) if _asked.classes else []


def known() -> dict[Any, str]:
    """Full names by function; filled by `install_overrides`."""
    return _NAMES


def by_place() -> dict[Any, list[Callable]]:
    """The functions with full names, by their namespace (or Tensor)."""
    found: dict[Any, list[Callable]] = {}
    for public, name in _NAMES.items():
        place = name.removeprefix("torch").strip(".").rpartition(".")[0]
        owner = Tensor if place == "Tensor" else sys.modules[f"{_PACKAGE}.{place}".rstrip(".")]
        found.setdefault(owner, []).append(public)
    return found


def methods() -> set:
    """The functions that are attributes of Tensor."""
    return {x for x in vars(Tensor).values() if isinstance(x, FunctionType)}


# ------------------------------------------------------------------------------- installing overrides


def _entry(original: Callable, public: Callable, by_class: bool, operator: bool) -> Callable:
    """What the installed code calls, with the arguments as they came."""

    refusing = None if getattr(public, "__name__", "") in TAKE_ANYTHING else public

    def run(args: tuple, kwargs: dict) -> Any:
        if HANDLERS and among(_relevant(args, kwargs)):  # NOTE [Layouts other than strided]
            return HANDLERS["call"](public, original, args, kwargs)
        return original(*args, **kwargs)

    def enter(args: tuple, kwargs: dict) -> Any:
        if not kwargs and not _asked.modes:  # the usual call: dense tensors and numbers, of classes of ours
            for x in args:
                cls = x.__class__
                if cls is Tensor:
                    if x._storage.__class__ is PartsStorage:
                        break
                elif cls not in _PLAIN:
                    break
            else:
                return original(*args)
        found = overriding(_relevant(args, kwargs), refusing) if _asked.classes else []
        if not found and not _asked.modes:
            return run(args, kwargs)
        if not by_class and not _asked.modes:
            with DisableTorchFunctionSubclass():
                return run(args, kwargs)
        result = handle(public, found if by_class else [], args, kwargs)
        if result is NotImplemented and not operator:
            raise _refused(public, found)
        return result

    return enter


@functools.cache
def _code(free: int, key: str, body: str):
    """Code of a function with so many free variables, that hands everything to its keyword ``key``."""
    cells = [f"cell{i}" for i in range(free)]
    source = (f"def outer({', '.join(cells)}):\n"
              f"    def call(*args, {key}, **kwargs):\n"
              f"        if 0: {', '.join(cells) or '()'}\n"
              f"        {body}\n"
              "    return call\n")
    space: dict = {}
    exec(compile(source, __file__, "exec"), space)
    return space["outer"](*cells).__code__


def override_function(fn: FunctionType, public: Callable, by_class: bool = True,
                      operator: bool = False) -> None:
    """Give ``fn`` code that looks for overrides first."""
    if _calls(fn) == "_installed":
        return
    original = _set_aside(fn)
    entry = _entry(original, public, by_class, operator)
    _replace(fn, original, "_installed", entry, "return _installed(args, kwargs)")


def explain_errors_of(fn: FunctionType, explain: Callable[[Exception, tuple, dict], None]) -> None:
    """Let ``explain`` see what errors ``fn`` raises, and with which arguments; it may raise a better one."""
    if _calls(fn) is not None:
        return
    original = _set_aside(fn)
    original.explain = explain
    _replace(fn, original, "_explained", original, (
        "try: return _explained(*args, **kwargs)\n"
        "        except (AttributeError, TypeError, ValueError, RuntimeError) as error:\n"
        "            _explained.explain(error, args, kwargs)\n"
        "            raise"))


def _calls(fn: FunctionType) -> str | None:
    """The keyword that holds what the installed code calls; None of a function as it was written."""
    first = fn.__code__.co_varnames[:1]
    return first[0] if first in (("_installed",), ("_explained",)) else None


def _set_aside(fn: FunctionType) -> FunctionType:
    """A function that does what ``fn`` did before overrides were installed."""
    if _calls(fn) is not None:
        return fn.__kwdefaults__[_calls(fn)]
    original = FunctionType(fn.__code__, fn.__globals__, fn.__name__, fn.__defaults__, fn.__closure__)
    original.__kwdefaults__ = fn.__kwdefaults__
    original.__qualname__ = fn.__qualname__
    return original


def _replace(fn: FunctionType, original: FunctionType, key: str, called: Callable, body: str) -> None:
    """Give ``fn`` a body that calls ``called``, which is its keyword ``key``.

    Before the line that sets the code ``fn`` does what it did, after it what the body says: an interrupt
    leaves one of the two. A function ignores a default of a keyword that its code does not have.
    """
    fn.__kwdefaults__ = {**(fn.__kwdefaults__ or {}), key: called}
    if not hasattr(fn, "__wrapped__"):
        fn.__wrapped__ = original  # whose signature it still has
    fn.__code__ = _code(len(fn.__code__.co_freevars), key, body)
    fn.__defaults__ = None


#: What an operator is to those who override it: the method, where PyTorch's operator is the method itself.
_OPERATORS = dict(
    __add__="add", __radd__="add", __sub__="sub", __mul__="mul", __rmul__="mul", __matmul__="matmul",
    __truediv__="div", __mod__="remainder", __pow__="pow", __neg__="neg", __abs__="abs", __lt__="lt",
    __le__="le", __gt__="gt", __ge__="ge", __iadd__="add_", __isub__="sub_", __imul__="mul_",
    __rand__="bitwise_and", __ror__="bitwise_or", __rxor__="bitwise_xor",
)

#: Operators that return NotImplemented when no override handles the call: Python tries the other operand.
_BINARY = frozenset(
    f"__{prefix}{name}__" for prefix in ("", "r", "i")
    for name in ("add sub mul matmul truediv floordiv mod pow and or xor lshift rshift".split())
) | {"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"}

#: Functions that arguments do not override: they make tensors, or say what something is.
_BY_MODES_ONLY = frozenset(
    "tensor as_tensor asarray from_numpy from_dlpack is_tensor as_subclass result_type can_cast "
    "promote_types _make_subclass __new__ __init_subclass__ __dir__ __getattribute__ __setattr__ "
    "__class_getitem__ __torch_function__ __jax_array__ __iter__".split()
)


_installed: list[bool] = []
#: Two threads that rewrote the same function at once would each take the other's code for the original.
_installing = threading.RLock()


def overrides_are_installed() -> bool:
    """Whether public functions look for overrides, all of them."""
    return bool(_installed)


def install_overrides() -> None:
    """Give every public function, method and property code that looks for overrides first.

    Where something interrupts it, the next call goes on: what looks for overrides already is left as it is.
    """
    if _installed:
        return
    with _installing:
        _install()
        _installed[:] = [True]


def _install() -> None:
    own = {id(c.fn) for c in COMPOSITES.values()}
    places = {place for record in (*OPS.values(), *COMPOSITES.values()) for place, _ in places_of(record)}
    for place in sorted(places):
        module = sys.modules.get(f"{_PACKAGE}.{place}".rstrip("."))
        whole = place == "nn.functional"  # all it has are functions of tensors
        for name, x in list(vars(module).items()) if module else ():
            if isinstance(x, FunctionType) and not name.startswith("_") and (
                whole or hasattr(x, "__op__") or id(x) in own
            ):
                _NAMES.setdefault(x, f"torch.{place}.{name}".replace("..", "."))
                override_function(x, x, name not in _BY_MODES_ONLY)
    for name, x in list(vars(Tensor).items()):
        _override_attribute(name, x)


def _override_attribute(name: str, x: Any) -> None:
    if isinstance(x, property):
        for accessor, kind in ((x.fget, x.__get__), (x.fset, x.__set__), (x.fdel, x.__delete__)):
            if isinstance(accessor, FunctionType):
                override_function(accessor, kind)
    elif isinstance(x, FunctionType) and name not in _BY_MODES_ONLY:
        if x.__name__.startswith("_"):
            x.__name__ = name  # which an override reads
        public = getattr(Tensor, _OPERATORS[name]) if name in _OPERATORS else x
        _NAMES.setdefault(public, f"torch.Tensor.{name}")
        override_function(x, public, operator=name in _BINARY)


def _first_foreign() -> bool:
    """Install overrides; False where they are."""
    if overrides_are_installed():
        return False
    install_overrides()
    return True


INSTALL.append(_first_foreign)

# ------------------------------------------------------------------------- the default for subclasses

#: Attributes whose values stay as they are: they belong to other tensors.
_UNWRAPPED = ("_base", "grad")


@functools.cache
def unwrapped() -> frozenset:
    """The accessors whose results the default ``__torch_function__`` leaves as they are."""
    return frozenset(vars(Tensor)[n].__get__ for n in _UNWRAPPED if isinstance(vars(Tensor).get(n), property))


def _default(cls: type, func: Callable, types: Sequence[type], args: tuple = (),
             kwargs: dict | None = None) -> Any:
    """Call ``func`` as for plain tensors, and make what comes out tensors of this class."""
    if is_function_of_torch(func):
        raise refusal(_full_name(func))
    if not all(issubclass(cls, t) for t in types):
        return NotImplemented
    with DisableTorchFunctionSubclass():
        result = func(*args, **(kwargs or {}))
        return result if func in unwrapped() else _converted(result, cls)


def _converted(result: Any, cls: type) -> Any:
    if cls is Tensor:
        return result
    if isinstance(result, Tensor):
        return result if isinstance(result, cls) else result.as_subclass(cls)
    if isinstance(result, (tuple, list)):
        items = [_converted(r, cls) for r in result]
        return type(result)(*items) if hasattr(result, "_fields") else type(result)(items)
    return result


Tensor.__torch_function__ = classmethod(_default)
