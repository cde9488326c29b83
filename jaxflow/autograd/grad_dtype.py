"""``Tensor.grad_dtype``: of which dtype the gradients of a leaf are, where it is not the leaf's own."""

from __future__ import annotations

from typing import Any

from jaxflow._core import dtype as dtypes
from jaxflow._core.fields import set_hooks
from jaxflow._core.graph import AccumulateGrad
from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.dispatch import apply
from jaxflow._plans.op import OPS
from jaxflow._views.history import refreshed

# It stands among the hooks of a leaf: who sets none pays nothing for it.
KEY = "grad_dtype"


def wanted(t: Tensor) -> dtypes.dtype | None:
    """The dtype that gradients of ``t`` must have; None if any will do."""
    return t._aval.dtype if t._hooks is None else t._hooks.get(KEY, t._aval.dtype)


def decided_by_the_leaf(edge: tuple) -> bool:
    """Whether this edge leads to a leaf that has a ``grad_dtype`` of its own."""
    node = edge[0]
    return node.__class__ is AccumulateGrad and KEY in (node.variable._hooks or ())


def in_grad_dtype(t: Tensor, grad: Tensor | None) -> Tensor | None:
    """What arrives at a leaf, in its ``grad_dtype``. RuntimeError for dtypes that have no gradients."""
    want = wanted(t)
    if grad is None or want is None or grad._aval.dtype is want:
        return grad
    if want.category < 2:
        raise RuntimeError(
            f"isDifferentiableType(grad.scalar_type()) failed: the leaf's grad_dtype is {want}, and "
            "gradients are floating point or complex"
        )
    return apply(OPS["_to_dtype"], (grad,), (want,))


def _get(self) -> dtypes.dtype | None:
    if refreshed(self)._grad_fn is not None:
        raise RuntimeError("grad_dtype can only be accessed on leaf tensors.")
    return wanted(self)


def _set(self, dtype: Any) -> None:
    if dtype is not None and not isinstance(dtype, dtypes.dtype):
        raise RuntimeError(f"grad_dtype must be a torch.dtype or None, but got {type(dtype).__name__}")
    held = self.grad  # which warns where it is no leaf, as in PyTorch
    if refreshed(self)._grad_fn is not None:
        raise RuntimeError("grad_dtype can only be set on leaf tensors.")
    if dtype is not None and held is not None and held._aval.dtype is not dtype:
        raise RuntimeError(
            f"Cannot set grad_dtype to '{dtype.scalar_name}' because there is already a gradient with dtype "
            f"'{held._aval.dtype.c_name}'. Please clear the gradient (.grad = None) before changing "
            "grad_dtype, or ensure the new grad_dtype matches the existing gradient's dtype."
        )
    if self._hooks is None:
        set_hooks(self, {})
    self._hooks[KEY] = dtype


Tensor.grad_dtype = property(
    _get, _set,
    doc="The dtype of this leaf's gradients: its own unless another is set; None lets any dtype be.",
)
