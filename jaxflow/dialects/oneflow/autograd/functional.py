"""Derivatives of functions: ``jaxflow.autograd.functional`` on OneFlow's tensors."""

import functools as _functools
from collections.abc import Callable as _Callable
from typing import Any as _Any

from jaxflow.autograd import functional as _functional

from .._dialect import DIALECT as _DIALECT


def _on_tensors(derive: _Callable) -> _Callable:
    @_functools.wraps(derive)
    def call(func: _Callable, *args: _Any, **kwargs: _Any) -> _Any:
        return _DIALECT.wrap(derive(_DIALECT.hook(func), *args, **kwargs))

    call.__module__ = __name__  # found here, not where what it wraps is
    return call


vjp, jvp = _on_tensors(_functional.vjp), _on_tensors(_functional.jvp)
jacobian, hessian = _on_tensors(_functional.jacobian), _on_tensors(_functional.hessian)
vhp, hvp = _on_tensors(_functional.vhp), _on_tensors(_functional.hvp)
