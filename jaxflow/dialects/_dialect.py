"""What the dialects have in common: other frameworks' classes on jaxflow's tensors, functions and modules.

NOTE [Dialect tensors]
    A dialect's tensor class is a subclass of Tensor without slots of its own, so that ``t.__class__ = Class``
    changes a tensor that is there already: same object, same storage, same history. A dialect's functions
    and methods are jaxflow's own, called as they are, and what comes out gets the dialect's class. A plain
    tensor that goes in and comes back as the same object stays plain: somebody else holds it.

    Some names mean one thing in jaxflow and another in the dialect (``shape``, ``split``). Such a name is a
    :class:`Meaning`. The caller's module decides: code of this package gets jaxflow's meaning, all other
    code the dialect's. So composites, modules and optimizers work on a dialect's tensors as on any other,
    hooks and custom functions that they call back see the dialect, and no mode has to be entered or left,
    in any thread.
"""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable, Iterable
from typing import Any

import jaxflow
from jaxflow import Tensor
from jaxflow._core.inner import name_of_module
from jaxflow.nn import Module

# Special methods whose results are tensors; the others keep their Python types.
_OPERATORS = frozenset(
    f"__{prefix}{name}__"
    for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor",
                 "lshift", "rshift")
    for prefix in ("", "r", "i")
) | frozenset("__neg__ __pos__ __abs__ __invert__ __eq__ __ne__ __lt__ __le__ __gt__ __ge__ __getitem__ "
              "__copy__ __deepcopy__ __reversed__".split())

_MODULE_HOOKS = ("register_forward_hook", "register_forward_pre_hook", "register_backward_hook",
                 "register_full_backward_hook", "register_full_backward_pre_hook")


class Meaning:
    """An attribute that is ``ours`` for code of this package and ``theirs`` for all other."""

    def __init__(self, ours: Any, theirs: Any) -> None:
        self.ours, self.theirs = ours, theirs
        self.__doc__ = theirs.__doc__

    def __get__(self, t: Any, cls: type | None = None) -> Any:
        return (self.ours if _asked_by_jaxflow() else self.theirs).__get__(t, cls)

    def __set__(self, t: Any, value: Any) -> None:
        (self.ours if _asked_by_jaxflow() else self.theirs).__set__(t, value)

    def __delete__(self, t: Any) -> None:
        (self.ours if _asked_by_jaxflow() else self.theirs).__delete__(t)


def _asked_by_jaxflow() -> bool:
    """Whether the code that uses a Meaning, two frames up, is of this package."""
    return name_of_module(sys._getframe(2).f_globals).startswith("jaxflow.")


class DType:
    """A dtype under a dialect's name; equal to jaxflow's, and to itself alone among the dialect's."""

    __slots__ = ("_dialect", "plain")

    def __init__(self, plain: jaxflow.dtype, dialect: str) -> None:
        self.plain, self._dialect = plain, dialect

    def __getattr__(self, name: str) -> Any:
        if name == "plain":  # looked up before it is set, by copy and pickle
            raise AttributeError(name)
        return getattr(self.plain, name)

    def __eq__(self, other: Any) -> bool:
        return self.plain is (other.plain if isinstance(other, DType) else other)

    def __hash__(self) -> int:
        return hash(self.plain)

    def __repr__(self) -> str:
        return f"{self._dialect}.{self.plain.name}"

    def __reduce__(self) -> tuple:
        return DType, (self.plain, self._dialect)


class Context:
    """The ``ctx`` of a custom function, showing the tensors it holds in a dialect's class."""

    __slots__ = ("_dialect", "_node")

    def __init__(self, node: Any, dialect: Dialect) -> None:
        object.__setattr__(self, "_node", node)
        object.__setattr__(self, "_dialect", dialect)

    def __getattr__(self, name: str) -> Any:
        return self._dialect.wrap(getattr(self._node, name))

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._node, name, value)


class Dialect:
    """One dialect: which class stands for which of jaxflow's, and which values for which arguments.

    Attributes:
        classes: jaxflow's classes of tensors to the dialect's.
        inward: types of the dialect's values (dtypes, places) to the function that gives jaxflow's.
        dtypes: jaxflow's dtypes to the dialect's.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.classes: dict[type, type] = {}
        self.inward: dict[type, Callable] = {DType: lambda named: named.plain}
        self.dtypes = {plain: DType(plain, name) for plain in set(jaxflow._ALL_DTYPES.values())}

    def wrap(self, result: Any, given: Iterable = ()) -> Any:
        """``result``, its tensors (also those in tuples, lists, dicts) in this dialect's class."""
        kind = type(result)
        wanted = self.classes.get(kind)
        if wanted is not None:
            if not any(result is a for a in given):
                result.__class__ = wanted
        elif kind is jaxflow.dtype:
            return self.dtypes[result]
        elif isinstance(result, (tuple, list)) and kind is not jaxflow.Size:
            for item in result:
                self.wrap(item, given)
        elif isinstance(result, dict):
            for item in result.values():
                self.wrap(item, given)
        return result

    def bare(self, value: Any) -> Any:
        """``value`` as jaxflow takes it: a dtype or place of the dialect becomes jaxflow's."""
        convert = self.inward.get(type(value))
        return value if convert is None else convert(value)

    def function(self, fn: Callable) -> Callable:
        """``fn`` taking this dialect's values and giving this dialect's tensors."""
        inward, classes, wrap = self.inward, self.classes, self.wrap

        @functools.wraps(fn)
        def call(*args: Any, **kwargs: Any) -> Any:
            given = [inward[type(a)](a) if type(a) in inward else a for a in args]
            if kwargs:
                result = fn(*given, **{name: self.bare(a) for name, a in kwargs.items()})
            else:
                result = fn(*given)
            wanted = classes.get(type(result))
            if wanted is None:
                return wrap(result, given)
            for a in given:
                if a is result:
                    return result
            result.__class__ = wanted
            return result

        return call

    def operator(self, fn: Callable, cls: type) -> Callable:
        """A special method of Tensor for the class ``cls``: as :meth:`function`, and quicker."""

        @functools.wraps(fn)
        def call(*args: Any) -> Any:
            result = fn(*args)
            if type(result) is Tensor:  # a new one: what is called for tensors of a dialect returns no other
                result.__class__ = cls
            return result

        return call

    def hook(self, fn: Callable) -> Callable:
        """A user's function that is to be called with this dialect's tensors."""

        @functools.wraps(fn)
        def call(*args: Any, **kwargs: Any) -> Any:
            return fn(*self.wrap(args), **self.wrap(kwargs))

        return call

    def stands_for(self, cls: type, base: type) -> None:
        """Make ``cls`` the class for tensors of class ``base``; they are saved as what they are."""
        self.classes[base] = cls
        cls._stored_as = base

    def complete(self, cls: type) -> type:
        """Complete the class ``cls``: inherited methods give its tensors, own ones become Meanings."""
        self.stands_for(cls, Tensor)
        own = dict(vars(cls))
        for name, ours in vars(Tensor).items():
            if name.startswith("_") and name not in _OPERATORS:
                continue
            if name in _OPERATORS:
                setattr(cls, name, own.get(name) or self.operator(ours, cls))
                continue
            if isinstance(ours, types.FunctionType):
                setattr(cls, name, self.function(ours))
            elif isinstance(ours, property):
                wrapped = property(self.function(ours.fget), ours.fset, ours.fdel, ours.__doc__)
                setattr(cls, name, Meaning(ours, wrapped))
            if name in own:
                setattr(cls, name, Meaning(ours, own[name]))
        cls.__iter__ = lambda t: map(self.wrap, Tensor.__iter__(t))
        return cls

    # ------------------------------------------------------------------------------- custom functions

    def custom_function(self, cls: type, context: type = Context) -> None:
        """Let ``forward`` and ``backward`` of a subclass of Function see this dialect's tensors."""
        for name in ("forward", "backward"):
            written = vars(cls).get(name)
            if isinstance(written, staticmethod):
                setattr(cls, name, staticmethod(self._in_context(written.__func__, context)))

    def _in_context(self, fn: Callable, context: type) -> Callable:
        @functools.wraps(fn)
        def call(ctx: Any, *args: Any, **kwargs: Any) -> Any:
            return fn(context(ctx, self), *self.wrap(args), **kwargs)

        return call

    # ---------------------------------------------------------------------------------------- modules

    def module_base(self, name: str, **attributes: Any) -> type:
        """The dialect's ``Module``: results, parameters and buffers are of the dialect's class."""
        dialect = self

        class DialectModule(Module):
            def __call__(self, *args: Any, **kwargs: Any) -> Any:
                return dialect.wrap(super().__call__(*args, **kwargs), args)

            def register_parameter(self, name: str, param: Any) -> None:
                super().register_parameter(name, dialect.wrap(param))

        for hooked in _MODULE_HOOKS:
            setattr(DialectModule, hooked, self._registering(getattr(Module, hooked)))
        DialectModule.__name__ = DialectModule.__qualname__ = name
        DialectModule.__module__ = f"jaxflow.{self.name}.nn"
        DialectModule.__doc__ = f"Base class of layers and models, as ``{self.name}.nn.{name}``."
        for key, value in attributes.items():
            setattr(DialectModule, key, value)
        self.module = DialectModule
        return DialectModule

    def _registering(self, register: Callable) -> Callable:
        @functools.wraps(register)
        def call(module: Any, hook: Callable, *args: Any, **kwargs: Any) -> Any:
            return register(module, self.hook(hook), *args, **kwargs)

        return call

    def layer(self, cls: type, arguments: Callable[..., dict] | None = None, name: str = "") -> type:
        """jaxflow's layer ``cls`` as one of this dialect; ``arguments`` turns its arguments into ours."""
        dialect = self

        def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
            if arguments is not None:
                args, kwargs = (), arguments(*args, **kwargs)
            cls.__init__(self, *map(dialect.bare, args), **{k: dialect.bare(v) for k, v in kwargs.items()})
            dialect.wrap([*self.parameters(), *self.buffers()])

        __init__ = functools.wraps(arguments or cls.__init__)(__init__)
        attributes = {"__init__": __init__, "__doc__": cls.__doc__, "__module__": self.module.__module__}
        if cls.forward is not Module.forward:  # hooks come before __call__ is done
            attributes["forward"] = self.function(cls.forward)
        return type(name or cls.__name__, (self.module, cls), attributes)


def missing(dialect: str, module: str, known: Iterable[str], name: str) -> AttributeError:
    """What a dialect's module raises for a name it lacks: one that the framework has, or one nobody has."""
    if name in known:
        return AttributeError(
            f"{module}.{name} exists in {dialect} but not here: jaxflow has no operation behind it yet. "
            "docs/dialects.md lists what the dialect offers."
        )
    return AttributeError(f"module 'jaxflow.{module}' has no attribute '{name}'")
