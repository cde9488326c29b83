"""``Variable``: the name tensors with gradients once had, kept for old programs."""

from __future__ import annotations

import operator
import warnings
from typing import Any

from jaxflow._api.creation.host_arrays import differentiable
from jaxflow._core.attributes import read_only
from jaxflow._core.tensor import Tensor

from .api import backward, grad
from .engine import queue_callback
from .wording import written

_NAME = "_variable_name"

Tensor.name = read_only(
    "name", lambda self: self.__dict__.get(_NAME), "The name ``Variable(..., name=...)`` gave it, or None."
)


class _VariableMeta(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor)

    def __call__(cls, data: Any = None, requires_grad: Any = False, volatile: Any = False,
                 _grad_fn: Any = None, name: str | None = None, **unknown: Any) -> Tensor:
        for given in unknown:
            raise TypeError(f"'{given}' is an invalid keyword argument for this function")
        requires_grad = operator.index(requires_grad)
        if name is not None and not isinstance(name, str):
            raise TypeError(f"argument 5 must be str or None, not {type(name).__name__}")
        if volatile:
            warnings.warn(
                "volatile was removed and now has no effect. Use `with torch.no_grad():` instead.",
                UserWarning, stacklevel=2,
            )
            if requires_grad:
                raise ValueError("Variable can't be volatile and require_grad at the same time!")
        if _grad_fn is not None:
            kind = written(type(_grad_fn))
            raise TypeError(f"_grad_fn has to be a Function object or None, but got {kind}")
        if data is None:
            data = Tensor()
        if not isinstance(data, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {written(type(data))}")
        leaf = data.detach()
        if name is not None:
            leaf.__dict__[_NAME] = name
        return differentiable(leaf) if requires_grad else leaf


class _Engine:
    """The object ``Variable._execution_engine``."""

    queue_callback = staticmethod(queue_callback)

    @staticmethod
    def is_checkpoint_valid() -> bool:
        """True: passes that accumulate into named inputs only are not distinguished here."""
        return True

    @staticmethod
    def run_backward(tensors: Any, grad_tensors: Any, keep_graph: bool, create_graph: bool,
                     inputs: Any = (), allow_unreachable: bool = False,
                     accumulate_grad: bool = False) -> tuple:
        """The pass behind ``backward`` (``accumulate_grad``) and ``grad``."""
        if accumulate_grad:
            backward(tensors, grad_tensors, keep_graph, create_graph, inputs=inputs or None)
            return ()
        return grad(tensors, inputs, grad_tensors, keep_graph, create_graph, allow_unused=allow_unreachable)


class Variable(metaclass=_VariableMeta):
    """``Variable(data, requires_grad=False)`` is a leaf tensor on the memory of ``data``.

    Raises:
        TypeError: for what is no tensor, a name that is no string, and unknown arguments.
        ValueError: when it is both ``volatile`` (which has no effect any more) and requires grad.
        RuntimeError: when ``requires_grad`` is true for an integer or bool tensor.
    """

    _execution_engine = _Engine()
