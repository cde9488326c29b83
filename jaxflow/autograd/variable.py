"""``Variable``: the name tensors with gradients once had, kept for old programs."""

from __future__ import annotations

import warnings
from typing import Any

from jaxflow._api.construct import differentiable
from jaxflow._core.tensor import Tensor

from .api import backward, grad
from .engine import queue_callback


class _VariableMeta(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor)

    def __call__(cls, data: Any = None, requires_grad: bool = False, volatile: Any = None) -> Tensor:
        if volatile is not None:
            warnings.warn(
                "volatile was removed and now has no effect. Use `with torch.no_grad():` instead.",
                UserWarning, stacklevel=2,
            )
        if data is None:
            data = Tensor()
        if not isinstance(data, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(data).__name__}")
        leaf = data.detach()
        return differentiable(leaf) if requires_grad else leaf


class _Engine:
    """What programs know as ``Variable._execution_engine``."""

    queue_callback = staticmethod(queue_callback)

    @staticmethod
    def is_checkpoint_valid() -> bool:
        """True: passes that accumulate into named inputs only are not told apart here."""
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
        TypeError: for what is no tensor.
        RuntimeError: when ``requires_grad`` is asked of an integer or bool tensor.
    """

    _execution_engine = _Engine()
