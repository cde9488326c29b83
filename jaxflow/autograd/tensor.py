"""The autograd methods of Tensor: backward, grad, hooks, detach, and the attributes that show the graph."""

from __future__ import annotations

import warnings
import weakref
from collections import OrderedDict
from collections.abc import Sequence
from operator import setitem
from typing import Any

from jaxflow._core.attributes import read_only
from jaxflow._core.commit import Overtaken, commit
from jaxflow._core.fields import (
    exchange_cells,
    requires_grad_row,
    set_grad,
    set_history,
    set_hooks,
    set_requires_grad,
)
from jaxflow._core.graph import Invalid, hook_into
from jaxflow._core.layouts import HANDLERS, has_parts
from jaxflow._core.state import state
from jaxflow._core.tensor import Tensor, ViewInfo, version_cell
from jaxflow._core.traces import MET, refuse_leak
from jaxflow._dispatch.dispatch import plan_of
from jaxflow._dispatch.shared_operands import other_memory_rows
from jaxflow._dispatch.viewing import alias, show
from jaxflow._dispatch.viewing import is_inference as is_inference_tensor
from jaxflow._exec.buffer_reuse import drop_grads
from jaxflow._publish.composite import composite
from jaxflow._views.history import DETACHED
from jaxflow._views.history import refreshed as _refreshed
from jaxflow._views.values import value_of
from jaxflow._writes.resizing import shows_with_others

from . import api, grad_dtype
from .engine import _passes, publish_open
from .wording import written

# ------------------------------------------------------------------------------------- attributes


def history_of(self):
    node = _refreshed(self)._grad_fn
    if node.__class__ is Invalid:
        raise RuntimeError(node.message)
    return node


def _requires_grad(self) -> bool:
    return _refreshed(self)._requires_grad


def _set_requires_grad(self, value: bool) -> None:
    if not isinstance(value, bool):
        raise RuntimeError("requires_grad must be a bool")
    if value and _refreshed(self)._grad_fn is not None:
        raise RuntimeError("you can only change requires_grad flags of leaf variables.")
    _change_requires_grad(
        self, value, "only Tensors of floating point and complex dtype can require gradients"
    )


def _change_requires_grad(self, value: bool, wrong_dtype: str) -> None:
    leaf = _refreshed(self)._grad_fn is None
    if not (leaf or value):
        raise RuntimeError(
            "you can only change requires_grad flags of leaf variables. If you want to use a "
            "computed variable in a subgraph that doesn't require differentiation use "
            "var_no_grad = var.detach()."
        )
    if value and self._aval.dtype.category < 2:
        raise RuntimeError(wrong_dtype)
    if value and is_inference_tensor(self) and not state.inference:
        raise RuntimeError(
            "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed."
        )
    if not leaf:
        return
    if self._view is None and not state.axes:
        set_requires_grad(self, value)
        return
    rows = [(setitem, axis.leaves, id(self), self) for axis in state.axes]
    if self._view is not None:
        rows.append((setattr, self._view, "own", value))
    commit([requires_grad_row(self, value), *rows])


def _shown_grad_fn(self):
    return history_of(self)  # whose code stays as it is where a subclass overrides this property


Tensor.grad_fn = read_only("grad_fn", _shown_grad_fn, "The node that made this tensor; None for a leaf.")
Tensor.requires_grad = property(
    _requires_grad, _set_requires_grad, lambda self: _set_requires_grad(self, None),
    "Whether operations on this tensor are recorded.",
)
Tensor.is_leaf = read_only(
    "is_leaf", lambda self: history_of(self) is None, "Whether no recorded operation made it."
)
Tensor.output_nr = read_only(
    "output_nr", lambda self: self._output_nr, "Which output of ``grad_fn`` it is."
)


@composite("method")
def requires_grad_(self: Tensor, requires_grad: bool = True) -> Tensor:
    """Set ``requires_grad`` and return the tensor.

    Args:
        requires_grad: whether operations on the tensor are recorded from now on, so that backward gives it
            a gradient.

    Returns:
        The tensor itself.

    Raises:
        RuntimeError: if the dtype is neither floating point nor complex, or if the tensor is the result of
            a recorded operation and ``requires_grad`` is False (use ``detach()``).
        TypeError: if ``requires_grad`` is not a bool.

    Example:
        >>> weight = torch.ones(2).requires_grad_()
        >>> (weight * torch.tensor([3.0, 4.0])).sum().backward()
        >>> weight.grad
        tensor([3., 4.])
        >>> weight.requires_grad_(False).requires_grad
        False
    """
    if not isinstance(requires_grad, bool):
        raise TypeError(
            "requires_grad_(): argument 'requires_grad' (position 1) must be bool, not "
            f"{type(requires_grad).__name__}"
        )
    _change_requires_grad(
        self, requires_grad, "only Tensors of floating point dtype can require gradients"
    )
    return self


@composite()
def is_inference(input: Tensor) -> bool:
    """Whether the tensor was made in inference mode, and so may take no part in autograd."""
    return is_inference_tensor(input)


def _get_grad(self):
    if _passes.open:
        publish_open()  # NOTE [A pass publishes at its end]
    if self._grad is None and _refreshed(self)._grad_fn is not None and not self.retains_grad:
        warnings.warn(
            "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad "
            "attribute won't be populated during autograd.backward(). If you indeed want the .grad "
            "field to be populated for a non-leaf Tensor, use .retain_grad() on the non-leaf Tensor. If "
            "you access the non-leaf Tensor by mistake, make sure you access the leaf Tensor instead. "
            "See github.com/pytorch/pytorch/pull/30531 for more information.",
            UserWarning, stacklevel=2,
        )
    return self._grad


def _set_grad(self, new: Any) -> None:
    publish_open()
    if new is None:
        drop_grads((self,))
        return
    if not isinstance(new, Tensor):
        raise TypeError(
            "assigned grad expected to be a Tensor or None but got grad of type "
            f"{written(type(new))}"
        )
    if new is self:
        raise RuntimeError("can't assign Variable as its own grad")
    want = grad_dtype.wanted(self)
    if want is not None and new._aval.dtype is not want:
        raise RuntimeError(
            f"attempting to assign a gradient with dtype '{new._aval.dtype.c_name}' to a "
            f"tensor with grad_dtype '{want.scalar_name}'. The gradient must match the tensor's grad_dtype "
            "(defaults to the tensor's dtype). You can set the tensor's grad_dtype attribute with a "
            "specific dtype, or None to allow any dtype. Set grad_dtype with caution. Diverging the "
            "dtypes of a tensor and its gradient may break downstream systems that assume they match."
        )
    if new._aval.device is not self._aval.device:
        raise RuntimeError(
            f"attempting to assign a gradient with device type '{new._aval.device.type}' to a tensor "
            f"with device type '{self._aval.device.type}'. Please ensure that the gradient and the "
            "tensor are on the same device"
        )
    if new._aval.shape != self._aval.shape:
        raise RuntimeError(
            f"attempting to assign a gradient of size '{list(new._aval.shape)}' to a tensor of size "
            f"'{list(self._aval.shape)}'. Please ensure that the gradient and the tensor are the same "
            "size"
        )
    if MET and not has_parts(new):
        refuse_leak(self, value_of(new), "the .grad of a tensor")
    set_grad(self, new)


def _del_grad(self) -> None:
    publish_open()
    drop_grads((self,))


def zero_grads(tensors: Sequence[Any]) -> None:
    """Set the ``.grad`` of ``tensors`` to None: of all at once, unless a class has a ``.grad`` of its own."""
    if any([cls.grad is not Tensor.grad for cls in set(map(type, tensors))]):
        for t in tensors:
            t.grad = None
        return
    if _passes.open:
        publish_open()
    drop_grads(tensors)


Tensor.grad = property(_get_grad, _set_grad, _del_grad, doc="The accumulated gradient, or None.")


# ------------------------------------------------------------------------------- detach and .data


@composite()
def detach(input: Tensor) -> Tensor:
    """The tensor without its autograd history: shares storage and version, never requires grad.

    Args:
        input: any tensor.

    Returns:
        A view of ``input`` with its shape and dtype, whose ``requires_grad`` is False. A write to one of
        them shows in the other. Backward notices such a write, if it needs the values from before.

    Example:
        >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
        >>> y = x.detach()
        >>> y.requires_grad
        False
        >>> y[0] = 5.0
        >>> x
        tensor([5., 2.], requires_grad=True)
    """
    return alias(input, constant=True)


@composite("method")
def detach_(self: Tensor) -> Tensor:
    """Cut this tensor off the graph; it becomes a leaf. Refused for views, whose base has history.

    Its values stay. Gradients do not pass through it any more, also not from results computed from it
    later; what was computed from it before keeps its history.

    Returns:
        This tensor, which does not require gradients any more.

    Raises:
        RuntimeError: for a view.

    Example:
        >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
        >>> y = x * 3
        >>> y.detach_() is y, y.requires_grad, y.is_leaf
        (True, False, True)
    """
    view = _refreshed(self)._view
    if state.inference or is_inference_tensor(self):
        return self  # PyTorch's autograd layer, which would do it, is not entered
    if view is not None and view.base is not None:
        raise RuntimeError(
            "Can't detach views in-place. Use detach() instead. If you are using "
            "DistributedDataParallel (DDP) for training, and gradient_as_bucket_view is set as True, "
            "gradients are views of DDP buckets, and hence detach_() cannot be called on these "
            "gradients. To fix this error, please refer to the Optimizer.zero_grad() function in "
            "torch/optim/optimizer.py as the solution."
        )
    before, node = self._tangents, self._grad_fn  # kept until the call is over
    marks = () if node is None else ((set.add, DETACHED.setdefault(node, set()), self._output_nr),)
    set_history(self, None, 0, False, (setattr, self, "_tangents", None), *marks)
    del before, node
    return self


def _get_data(self) -> Tensor:
    return alias(self, own_version=True, constant=True)


def _set_data(self, new: Tensor) -> None:
    if not isinstance(new, Tensor):
        raise TypeError(f"Variable data has to be a tensor, but got {type(new).__name__}")
    if _refreshed(self)._requires_grad and new._aval.dtype.category < 2:
        raise RuntimeError(
            "data set to a tensor that requires gradients must be floating point or complex dtype"
        )
    if HANDLERS and (has_parts(new) or has_parts(self)):
        HANDLERS["set_data"](self, new)
        return
    if MET:
        refuse_leak(self, value_of(new), "a tensor")
    while True:
        cell, own = version_cell(new), version_cell(self)
        plain = new._view is None and not new._requires_grad and new is not self
        plain = plain and (self._view is None or self._view.base is None)
        try:
            if plain and own.__class__ is cell.__class__ and not shows_with_others(self):
                # It stays a base, quick as before. Nodes that saved it find it where it is by then, but views
                # stay where they are, which count their writes in the same cell.
                exchange_cells(self, new, ViewInfo(plan_of(new), None, None, cell),
                               *other_memory_rows(self, new._storage, None, own))
            elif self._storage is not new._storage or plan_of(self) is not plan_of(new):
                show(self, new, *other_memory_rows(self, new._storage, plan_of(new), None))
            return
        except Overtaken:
            continue


def _delete_data(self) -> None:
    raise RuntimeError("Deleting tensor data is not allowed. Delete tensor instead!")


Tensor.data = property(
    _get_data, _set_data, _delete_data,
    doc="The same storage without autograd history and with its own version.",
)


# ------------------------------------------------------------------------------------ gradients


@composite("method")
def backward(
    self: Tensor, gradient: Any = None, retain_graph: bool | None = None, create_graph: bool = False,
    inputs: Any = None,
) -> None:
    """Add the gradients of this tensor to the ``.grad`` of the leaves; see ``autograd.backward``.

    A leaf ``x`` gets ``x.grad += sum over i of gradient[i] * d self[i] / d x``. Gradients add up over
    several calls; set ``.grad`` to None, or call ``zero_grad()`` of an optimizer or module, to start again.

    Args:
        gradient: the cotangent, a tensor of this tensor's shape. It may be left out when this tensor has
            one element; 1 is taken then.
        retain_graph: whether to keep what the operations saved, so that backward can run once more through
            them (default: the value of ``create_graph``).
        create_graph: whether to record the computation of the gradients too, for higher derivatives.
        inputs: a tensor, a sequence or a dict of tensors (leaves or not). Gradients are then added to these
            alone (default: all leaves that require a gradient).

    Returns:
        None; the results are in the ``.grad`` of the leaves, with the shape and dtype of each leaf.

    Raises:
        RuntimeError: if this tensor has no history, a ``gradient`` is needed or does not fit, the graph was
            freed by an earlier call, or a saved tensor was overwritten since.

    Example:
        >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
        >>> (x * x).sum().backward()
        >>> x.grad
        tensor([2., 4.])
        >>> (x * x).backward(torch.tensor([1.0, 10.0]))  # added to the gradient that is there
        >>> x.grad
        tensor([ 4., 44.])
    """
    api.backward(self, gradient, retain_graph, create_graph, inputs=inputs)


@composite("method")
def retain_grad(self: Tensor) -> None:
    """Keep this non-leaf's gradient in ``.grad``. Raises RuntimeError if it requires none."""
    if not _refreshed(self)._requires_grad:
        raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
    node = history_of(self)
    if node is None:
        return
    if node._retained is None:
        node._retained = {}
    node._retained[self._output_nr] = weakref.ref(self)


def _retains_grad(self) -> bool:
    node = _refreshed(self)._grad_fn
    if node is None or not node._retained:
        return False
    ref = node._retained.get(self._output_nr)
    return ref is not None and ref() is self


Tensor.retains_grad = read_only(
    "retains_grad", _retains_grad, "Whether ``retain_grad()`` was called on a non-leaf."
)


@composite("method")
def register_hook(self: Tensor, hook: Any):
    """Call ``hook(grad)`` whenever this tensor's gradient is computed; a returned tensor replaces it.

    Several hooks are called in the order in which they were registered.

    Args:
        hook: a function of the gradient, a tensor of this one's shape, which it must not change in place.
            It returns None, or another tensor to go on with.

    Returns:
        A `RemovableHandle`; its ``remove()`` takes the hook out.

    Raises:
        RuntimeError: when this tensor does not require gradients.
        TypeError: in backward, when the hook returns something else than a tensor.

    Example:
        >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
        >>> handle = x.register_hook(lambda grad: 10 * grad)
        >>> (x * x).sum().backward()
        >>> x.grad
        tensor([20., 40.])
        >>> handle.remove()
    """
    if not _refreshed(self)._requires_grad:
        raise RuntimeError(
            "cannot register a hook on a tensor that doesn't require gradient"
        )
    node = history_of(self)
    if node is None:
        return hook_into(_leaf_hooks(self).setdefault("tensor", OrderedDict()), hook)
    if node._tensor_hooks is None:
        node._tensor_hooks = {}
    return hook_into(node._tensor_hooks.setdefault(self._output_nr, OrderedDict()), hook)


def _leaf_hooks(t: Tensor) -> dict:
    if t._hooks is None:
        set_hooks(t, {})
    return t._hooks


@composite("method")
def register_post_accumulate_grad_hook(self: Tensor, hook: Any):
    """Call ``hook(tensor)`` after this leaf's ``.grad`` was updated."""
    if not self._requires_grad:
        raise RuntimeError(
            "cannot register a hook on a tensor that doesn't require gradient"
        )
    if _refreshed(self)._grad_fn is not None:
        raise RuntimeError(
            "post accumulate grad hooks cannot be registered on non-leaf tensors"
        )
    return hook_into(_leaf_hooks(self).setdefault("post_accumulate", OrderedDict()), hook)

