"""Custom functions: the user's forward and backward as one node of the graph.

``forward`` runs with recording off, ``backward`` with it on only under ``create_graph``. What
they compute is dispatched like anything else, so a custom function inside a training step
becomes part of the same compiled Program. Its node keeps exactly what ``save_for_backward`` was
given.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from typing import Any

from jaxflow._core.fields import init_history, set_history
from jaxflow._core.levels import LEVELS
from jaxflow._core.modes import Changed
from jaxflow._core.state import state
from jaxflow._core.tensor import Tensor, make, version_cell
from jaxflow._core.traces import MET
from jaxflow._dispatch.viewing import alias, apply_view
from jaxflow._views.history import FUNCTION, MULTI_OUTPUT, edge_of, refreshed, refusal
from jaxflow._views.values import value_of
from jaxflow._writes.writes import write

from .function_node import BackwardCFunction, FunctionCtx, missing_backward, missing_vmap
from .function_traced import any_traced, with_rule
from .function_transforms import apply_mapped, check_vmap, push_forward, tangents_in, without_tangents
from .grad_mode import no_grad

__all__ = ["BackwardCFunction", "Function", "FunctionCtx", "FunctionMeta", "InplaceFunction",
           "NestedIOFunction", "once_differentiable"]


class FunctionMeta(type):
    """Gives each custom function its node class, named as PyTorch names it."""

    def __init__(cls, name, bases, attrs) -> None:
        super().__init__(name, bases, attrs)
        cls._backward_cls = type(name + "Backward", (BackwardCFunction,), {
            "__slots__": (), "_forward_cls": cls,
        })


class Function(FunctionCtx, metaclass=FunctionMeta):
    """Base of custom differentiable functions: give a subclass static ``forward``, ``backward``.

    ``forward(ctx, *args)`` computes; ``backward(ctx, *grad_outputs)`` returns one gradient (or
    None) for each argument of forward. Use it with ``MyFunction.apply(*args)``. With a separate
    ``setup_context(ctx, inputs, output)``, forward takes no ctx.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warnings.warn(
            f"{type(self)} should not be instantiated. Methods on autograd functions are all "
            "static, so you should invoke them on the class itself. Instantiating an autograd "
            "function will raise an error in a future version of PyTorch.",
            DeprecationWarning, stacklevel=2,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Please use "
            "new-style autograd function with static forward method. (Example: "
            "https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)"
        )

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the function; to be overridden."""
        raise NotImplementedError(
            "You must implement the forward function for custom autograd.Function."
        )

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple, output: Any) -> Any:
        """Save what backward needs, when forward takes no ctx."""
        raise NotImplementedError("setup_context is not implemented.")

    # Turns cotangents of the outputs into those of the inputs; to be overridden, under either name.
    backward = staticmethod(missing_backward)
    vjp = backward

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """Turn tangents of the inputs into those of the outputs; to be overridden."""
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with forward "
            "mode AD."
        )

    generate_vmap_rule = False  # whether vmap may run forward, backward and jvp on batched tensors

    # Gives ``(output, out_dims)`` for arguments of which some are batched; to be overridden.
    vmap = staticmethod(missing_vmap)

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run forward and, with grad on, record this function as a node."""
        separate = cls.setup_context is not Function.setup_context
        if separate or kwargs:
            args, kwargs = _bind(cls.forward, separate, args, kwargs)
        if state.axes:
            overridden = cls.vmap is not missing_vmap
            check_vmap(cls, separate=separate, overridden=overridden)
            if overridden:
                return apply_mapped(cls, args)
        node = cls._backward_cls()
        node._arguments = len(args)
        node._positions = tuple(i for i, a in enumerate(args) if isinstance(a, Tensor))
        tensors = [refreshed(args[i]) for i in node._positions]
        node.needs_input_grad = tuple(isinstance(a, Tensor) and a._requires_grad for a in args)
        node._in_avals = tuple(t._aval for t in tensors)
        record = state.grad and any(node.needs_input_grad)
        if record:
            node._edges = tuple(edge_of(t) if t._requires_grad else None for t in tensors)
        tangents = tangents_in(args) if LEVELS else None
        before = [value_of(t) for t in tensors] if MET and any_traced(args) else None
        saved: Any = None
        dirty: set = set()
        plain: set = set()

        def forward() -> Any:
            nonlocal saved
            result = run_forward(cls, node, args, kwargs)
            saved = node.saved_for_forward
            dirty.update(map(id, node.dirty_tensors or ()))
            plain.update(map(id, node.non_differentiable or ()))
            shown = _wrap(node, result, tensors, record, dirty, plain)
            if record and not tangents:
                node._keep()
            return shown

        # ``constant`` stays: only our graph leaves this out, NOTE [Custom functions under jax].
        unrecorded = Changed(state, grad=False)
        shown = without_tangents().run(unrecorded.run, forward) if tangents else unrecorded.run(forward)
        if tangents:
            outputs = shown if isinstance(shown, tuple) else (shown,)
            push_forward(node, args, tangents, saved, dirty, plain, outputs)
            if record:
                with no_grad():
                    node._keep()  # the outputs are duals now
        for declared in _DECLARED:
            node.__dict__.pop(declared, None)
        return shown if before is None else with_rule(cls, run_forward, args, kwargs, before, shown)


def run_forward(function: type, node: BackwardCFunction, args: tuple, kwargs: dict) -> Any:
    """Call the user's forward, and ``setup_context`` where there is one; with recording off."""
    if function.setup_context is Function.setup_context:
        return function.forward(node, *args, **kwargs)
    result = function.forward(*args, **kwargs)
    function.setup_context(node, args, result)
    return result


def _bind(forward, separate: bool, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
    """Keyword arguments in the place forward has for them; gradients are given by position."""
    ctx = () if separate else (None,)
    bound = inspect.signature(forward).bind(*ctx, *args, **kwargs)
    if separate:
        bound.apply_defaults()
    return bound.args[len(ctx):], bound.kwargs


def _wrap(node: BackwardCFunction, result: Any, inputs: list, record: bool, dirty: set, plain: set) -> Any:
    """Give the outputs their history; an input that comes back is dirty (changed) or a view."""
    single = not isinstance(result, tuple)
    outputs = (result,) if single else result
    try:
        _check_marks(node, inputs, outputs, record)
    except RuntimeError:
        for t in node.dirty_tensors or ():
            if isinstance(t, Tensor):
                version_cell(t)[0] += 1  # forward has written to it, refused or not
        raise
    given = {id(t) for t in inputs}
    traced = [
        record and isinstance(out, Tensor) and id(out) not in plain and out._aval.dtype.category >= 2
        for out in outputs
    ]
    origin = MULTI_OUTPUT if sum(traced) > 1 else FUNCTION
    wrapped: list = []
    for i, out in enumerate(outputs):
        if not isinstance(out, Tensor):
            wrapped.append(out)
            continue
        if id(out) in dirty and id(out) in given and (traced[i] or not refreshed(out)._requires_grad):
            shown = out
            _write_history(out, node if traced[i] else None, i)
        elif id(out) in given and not traced[i] and refreshed(out)._requires_grad:
            shown = alias(out)  # the input keeps its history, what is returned has none
            version_cell(out)[0] += id(out) in dirty
        else:
            shown = _same(out) if id(out) in given else out
            view = shown._view
            if view is not None and view.base is not None:
                view.origin = origin
            if traced[i] or view is None or view.base is None:
                seen = () if view is None or not record else (
                    (setattr, view, "seen_version", view.version[0]),
                )
                set_history(shown, node if traced[i] else None, i, traced[i], *seen)
        if shown is not out and node.to_save is not None:
            node.to_save = tuple(shown if t is out else t for t in node.to_save)
        wrapped.append(shown)
    node._out_avals = tuple(t._aval if isinstance(t, Tensor) else None for t in wrapped)
    return wrapped[0] if single else tuple(wrapped)


def _same(t: Tensor) -> Tensor:
    """An input as what is returned: viewed in its own shape, so single elements have new strides."""
    if t._stride is None:
        return apply_view("alias", t)
    return apply_view("view", t, (t._aval.shape,))


_DECLARED = ("to_save", "saved_for_forward", "dirty_tensors", "non_differentiable")


def _write_history(t: Tensor, node: BackwardCFunction | None, number: int) -> None:
    """Forward changed ``t`` without recording; say so to the graph, and to the views of ``t``."""
    shown = make(value_of(t))
    init_history(shown, node, number, node is not None)
    write(t, shown)


def _check_marks(node: BackwardCFunction, inputs: list, outputs: tuple, record: bool) -> None:
    """Refuse ``mark_dirty`` and ``mark_non_differentiable`` where PyTorch does."""
    dirty, plain = node.dirty_tensors or (), node.non_differentiable or ()
    if not all(isinstance(t, Tensor) for t in dirty):
        raise RuntimeError("mark_dirty can only accept variables, but argument")
    if not all(isinstance(t, Tensor) for t in plain):
        raise RuntimeError("mark_non_differentiable only accepts variable arguments, but got")
    for t in dirty:
        if not any(t is given for given in inputs):
            warnings.warn(
                "ctx.mark_dirty() received a tensor that was not an input. Only input Tensors that "
                "have been mutated should be passed to ctx.mark_dirty().",
                UserWarning, stacklevel=4,
            )
        if not any(t is out for out in outputs):
            raise RuntimeError(
                "Some elements marked as dirty during the forward method were not returned as "
                "output. The inputs that are modified inplace must all be outputs of the Function."
            )
        if not record or any(t is p for p in plain):
            continue
        base = None if t._view is None else t._view.base
        if t._requires_grad and t._grad_fn is None:
            raise RuntimeError(
                "a leaf Variable that requires grad has been used in an in-place operation."
            )
        if base is not None:
            _check_dirty_view(t, base, outputs)


def _check_dirty_view(t: Tensor, base: Tensor, outputs: tuple) -> None:
    """Refuse a dirty input whose base cannot take on this function as its history."""
    if len(outputs) > 1:
        raise RuntimeError(
            "If your Function modifies inplace an input that is a view of another Tensor, your Function "
            "cannot return more than one Tensor. Clone the input first, or leave the other results to a "
            "second Function."
        )
    if t._view.origin is not None:
        raise RuntimeError(refusal(t, "is being"))
    if base._requires_grad and base._grad_fn is None:
        raise RuntimeError(
            "a view of a leaf Variable that requires grad is being used in an in-place operation."
        )


def once_differentiable(fn):
    """Decorate a ``backward`` that cannot itself be differentiated: doing so raises."""

    @functools.wraps(fn)
    def wrapped(ctx, *grads):
        with no_grad():
            outs = fn(ctx, *grads)
        if not (state.grad and any(isinstance(g, Tensor) and g._requires_grad for g in grads)):
            return outs
        single = not isinstance(outs, tuple)
        refused = [
            _Refuse.apply(out.detach().requires_grad_()) if isinstance(out, Tensor) else out
            for out in ((outs,) if single else outs)
        ]
        return refused[0] if single else tuple(refused)

    return wrapped


class _Refuse(Function):
    """Identity in forward, an error in backward."""

    generate_vmap_rule = True

    @staticmethod
    def forward(out):
        return out

    @staticmethod
    def setup_context(ctx, inputs, output):
        """Nothing is kept."""

    @staticmethod
    def backward(ctx, *grads):
        raise RuntimeError(
            "trying to differentiate twice a function that was marked with @once_differentiable"
        )


_Refuse._backward_cls = type("Error", (BackwardCFunction,), {
    "__slots__": (), "_forward_cls": _Refuse, "name": lambda self: "torch::autograd::Error",
})


class InplaceFunction(Function):
    """An old name: a Function whose instances carry ``inplace``."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


class NestedIOFunction(Function):
    """An old name, without use in PyTorch too: what it called is gone. RuntimeError where it is called."""

    def forward_extended(self, *input: Any) -> None:
        """Where subclasses of old computed; to be overridden."""
        raise NotImplementedError

    def backward_extended(self, *grad_output: Any) -> None:
        """Where subclasses of old gave gradients; to be overridden."""
        raise NotImplementedError


_ContextMethodMixin = FunctionCtx  # by this name old pickles find it
