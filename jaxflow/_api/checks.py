"""Assertions that PyTorch has functions for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jaxflow._core.tensor import Tensor
from jaxflow._publish.composite import composite

_UNSAID = (
    "Expected cond to be True, but got False. (Could this error message be improved? If so, please report an "
    "enhancement request to PyTorch.)"
)


@composite("function", name="_check_with", checks=False)
def check_with(error_type: type, cond: bool, message: Callable[[], str] | None = None) -> None:
    """Raise ``error_type`` with what ``message()`` says unless ``cond``, a bool, is True."""
    if not isinstance(cond, bool):
        raise TypeError(f"cond must be a bool, but got {type(cond)}")
    if cond:
        return
    if message is None:
        raise error_type(_UNSAID)
    if not callable(message):
        raise TypeError("message must be a callable")
    raise error_type(str(message()))


def _checker(name: str, kind: type) -> None:
    def check(cond: bool, message: Callable[[], str] | None = None) -> None:
        check_with(kind, cond, message)

    check.__name__ = check.__qualname__ = name
    check.__doc__ = f"Raise {kind.__name__} with what ``message()`` says unless ``cond`` is True."
    composite("function", checks=False)(check)


for _name, _kind in (("", RuntimeError), ("_value", ValueError), ("_index", IndexError), ("_type", TypeError),
                     ("_not_implemented", NotImplementedError)):
    _checker(f"_check{_name}", _kind)


@composite("function", name="_check_tensor_all", checks=False)
def check_tensor_all(cond: Tensor, message: Callable[[], str] | None = None) -> None:
    """Raise RuntimeError unless all elements of a bool tensor are True."""
    check_with(RuntimeError, bool(cond.all()), message)


@composite("function", name="_assert", checks=False)
def assert_(condition: Any, message: str) -> None:
    """``assert condition, message``, as a function."""
    if not condition:
        raise AssertionError(message)


@composite("function", name="_assert_async", checks=False)
def assert_async(input: Tensor, assert_msg: str = "Expected Tensor with single nonzero value, but got "
                                                  "zero") -> None:
    """Raise RuntimeError with a message if a tensor of one element is zero, now and not later."""
    if not bool(input):
        raise RuntimeError(assert_msg)
