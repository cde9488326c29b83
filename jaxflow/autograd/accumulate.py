"""What happens to a gradient when it arrives: at a leaf, at a tensor that retains it, beside another."""

from __future__ import annotations

import threading

from jaxflow._core.geometry import contiguous_strides, is_non_overlapping_and_dense
from jaxflow._core.tensor import Tensor, make
from jaxflow._core.warning import warn_once
from jaxflow._dispatch.batch import axes_of
from jaxflow._dispatch.door import apply, share, strides_of, value_of
from jaxflow._dispatch.inplace import apply_inplace, write
from jaxflow._dispatch.op import OPS
from jaxflow._dispatch.spares import expect
from jaxflow._dispatch.state import state
from jaxflow._dispatch.traces import MET, refuse_leak
from jaxflow._dispatch.viewing import is_inference


def add(a: Tensor, b: Tensor) -> Tensor:
    """The sum of two cotangents."""
    return apply(OPS["add"], (a, b, None))


def without_history(t: Tensor) -> Tensor:
    """A fresh tensor with the same Value: immutable, so it need not be copied."""
    return make(value_of(t))


def accumulate_grad(variable: Tensor, grad: Tensor, create_graph: bool) -> None:
    """``variable.grad += grad``; PyTorch's rules for when the old ``.grad`` object is kept.

    Without ``create_graph`` an existing ``.grad`` is changed in place; with it, replaced by a new sum
    that has history.
    """
    if not variable._requires_grad:
        return  # it was cut off the graph since
    if any(id(variable) not in axis.leaves for axis in axes_of(value_of(grad))):
        raise RuntimeError(
            "vmap: backward() inside of vmap cannot accumulate into the .grad of a tensor from outside, "
            "which has no place for one gradient per example. Use torch.func.grad or "
            "torch.autograd.grad and return the gradients."
        )
    with _accumulating:
        _add_to_grad(variable, grad, create_graph)
    run_post_accumulate_hooks(variable)


def run_post_accumulate_hooks(variable: Tensor) -> None:
    """Call what waits for this leaf's gradient; as in PyTorch also when none came."""
    hooks = variable._hooks
    if hooks is not None:
        for hook in list(hooks.get("post_accumulate", {}).values()):
            if hook(variable) is not None:
                raise RuntimeError("Tensor post accumulate grad hooks should return None.")


# Threads may walk graphs that share leaves; each sum must see the one before.
_accumulating = threading.Lock()


def _add_to_grad(variable: Tensor, grad: Tensor, create_graph: bool) -> None:
    before = variable._grad
    if before is None:
        if MET:
            refuse_leak(variable, value_of(grad), "the .grad of a tensor")
        if not (create_graph and grad._requires_grad) and variable._stride is None:
            variable._grad = without_history(grad)  # the usual case, in the usual layout
            expect(variable._grad)
            return
        new = grad if create_graph and grad._requires_grad else without_history(grad)
        stride = _contract(variable)
        if new is grad:  # PyTorch copies it into the variable's layout, or clones it into row order
            gaps = stride != strides_of(variable)
            new = share(OPS["clone"], grad) if gaps else apply(
                OPS["_copy"], (make(value_of(grad)), grad)
            )
        new._stride = None if stride == contiguous_strides(variable._aval.shape) else stride
        variable._grad = new
    else:
        usual = before._stride is variable._stride is None or strides_of(before) == _contract(variable)
        if state.grad:
            variable._grad = add(before, grad)
        elif usual and before._aval is grad._aval and not is_inference(before):
            write(before, add(before, grad))
        else:
            apply_inplace(OPS["add"], (before, grad, None))
        if not usual:
            warn_once(
                "grad and param do not obey the gradient layout contract. This is not an error, but "
                "may impair performance."
            )


def _contract(variable: Tensor) -> tuple[int, ...]:
    """The strides a leaf's ``.grad`` is given: its own where they leave no gaps, else contiguous ones."""
    shape, strides = variable._aval.shape, strides_of(variable)
    return strides if is_non_overlapping_and_dense(shape, strides) else contiguous_strides(shape)


def retain(t: Tensor, grad: Tensor) -> None:
    """Store (a second time: add) the cotangent of a non-leaf that called ``retain_grad()``."""
    if t._grad is None:
        t._grad = share(OPS["clone"], grad) if state.grad else without_history(grad)
    else:
        t._grad = add(t._grad, grad)
