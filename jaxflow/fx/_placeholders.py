"""Arguments of the traced function: proxies, or values that the traced function is specialized to."""

from __future__ import annotations

import types
from collections.abc import Callable
from inspect import CO_VARARGS, CO_VARKEYWORDS
from typing import Any


class PHBase:
    """Stands for a value in ``concrete_args`` that remains an input."""

    def __repr__(self) -> str:
        return "PH"


#: The one that is used; programs put it where a leaf of an argument is to be an input.
PH: PHBase = PHBase()


class PHWithMeta(PHBase):
    """Stands for a value that remains an input, whose attributes become entries of the node's ``meta``.

    Args:
        ph_key: a name for it, kept as an attribute.
    """

    def __init__(self, ph_key: str | None = None) -> None:
        super().__init__()
        self.ph_key = ph_key

    def transfer_to(self, meta: dict[str, Any]) -> None:
        """Put the attributes into a ``meta``."""
        meta.update(self.__dict__)


def _assert_is_none(value: Any, msg: str) -> None:
    """Raise AssertionError unless ``value`` is None."""
    if value is not None:
        raise AssertionError(msg)


_assert_is_none.__module__ = f"{__package__}._symbolic_trace"  # where PyTorch has it, as generated code says


def with_plain_parameters(fn: types.FunctionType, count: int) -> types.FunctionType:
    """A function with the same lines whose first ``count`` variables are taken by position.

    Keyword-only parameters, ``*args`` and ``**kwargs`` are among these, each one argument.
    """
    code = fn.__code__
    plain = code.replace(co_argcount=count, co_posonlyargcount=0, co_kwonlyargcount=0,
                         co_flags=code.co_flags & ~(CO_VARARGS | CO_VARKEYWORDS))
    return types.FunctionType(plain, fn.__globals__, fn.__name__, fn.__defaults__, fn.__closure__)


def has_variable_parameters(fn: Callable) -> bool:
    """Whether it has parameters that are not taken by position."""
    code = fn.__code__
    return bool(code.co_kwonlyargcount or code.co_flags & (CO_VARARGS | CO_VARKEYWORDS))
