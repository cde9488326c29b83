"""Tensors of a subclass, sharing the storage of another tensor."""

from __future__ import annotations

from jaxflow._core.fields import init_requires_grad, init_storage
from jaxflow._core.layouts import HANDLERS, has_parts
from jaxflow._core.state import state
from jaxflow._core.tensor import Tensor, make
from jaxflow._dispatch.dispatch import plan_of
from jaxflow._dispatch.viewing import alias
from jaxflow._views.values import value_of


def _make_subclass(cls: type, data: Tensor, require_grad: bool = False) -> Tensor:
    """A leaf of class ``cls`` that shares the storage of ``data`` and has no history.

    Raises:
        TypeError: when ``data`` is no tensor.
        RuntimeError: for ``require_grad`` with an integer or bool tensor.
    """
    if not isinstance(data, Tensor):
        raise TypeError(
            "_make_subclass(): argument 'data' (position 2) must be Tensor, not "
            f"{type(data).__name__}"
        )
    if HANDLERS and has_parts(data):
        return HANDLERS["make_subclass"](cls, data, require_grad)
    if require_grad and data._aval.dtype.category < 2:
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
    if require_grad and data.is_inference() and not state.inference:
        raise RuntimeError(
            "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed."
        )
    t = make(value_of(data), cls)
    # What shows all of a storage is a base tensor like any other, which every operation reads
    # fastest.
    source = data if plan_of(data).identity else alias(data)
    init_storage(t, source._storage, source._stride, None if source is data else source._view)
    init_requires_grad(t, require_grad)
    return t


Tensor._make_subclass = staticmethod(_make_subclass)
