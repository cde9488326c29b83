"""Derivatives of functions: ``jaxflow.autograd.functional`` on OneFlow's tensors."""

from collections.abc import Callable as _Callable
from typing import Any as _Any

import jaxflow as _jaxflow

from .._dialect import DIALECT as _DIALECT
from .._dialect import NAMES as _NAMES
from .._dialect import missing as _missing


def __getattr__(name: str) -> _Any:
    if name not in _NAMES["autograd.functional"]:
        raise _missing("OneFlow", "oneflow.autograd.functional", (), name)
    derive = getattr(_jaxflow.autograd.functional, name)

    def call(func: _Callable, *args: _Any, **kwargs: _Any) -> _Any:
        return _DIALECT.face(derive(_DIALECT.hook(func), *args, **kwargs))

    call.__name__ = call.__qualname__ = name
    call.__doc__ = derive.__doc__
    return call
