"""Custom functions: the user's forward and backward as one node of the graph.

NOTE [Custom functions are Python]
    ``forward`` runs with recording off, ``backward`` with it on only under ``create_graph``. What they
    compute passes the door like anything else, so a custom function inside a training step becomes part
    of the same compiled Program. Its node keeps exactly what ``save_for_backward`` was given.
"""

from __future__ import annotations

import functools
from typing import Any

from jaxflow._core.tensor import Tensor, make, make_view, version_cell
from jaxflow._dispatch.door import apply, edge_of, plan_of, refresh_history, value_of
from jaxflow._dispatch.graph import Node
from jaxflow._dispatch.op import OPS
from jaxflow._dispatch.state import state
from jaxflow._dispatch.viewing import alias

from .grad_mode import enable_grad, no_grad
from .wording import FREED, current_maker, overwritten


class FunctionNode(Node):
    """The node of a custom function; it is also the ``ctx`` its forward and backward get."""

    __slots__ = ("__dict__",)

    is_python = True

    def __init__(self, function: type) -> None:
        super().__init__(None, (), (), (), None)
        self._function = function
        self._saved: tuple = ()
        self._to_save: tuple | None = None
        self._dirty: tuple = ()
        self._non_differentiable: tuple = ()
        self._materialize = True
        self._freed = False
        self._out_avals: tuple = ()
        self.needs_input_grad: tuple[bool, ...] = ()

    # -- what the user calls on ctx
    def save_for_backward(self, *tensors: Any) -> None:
        """Keep inputs or outputs of forward for ``saved_tensors`` in backward. Raises TypeError for others."""
        for i, t in enumerate(tensors):
            if t is not None and not isinstance(t, Tensor):
                raise TypeError(
                    f"save_for_backward can only save variables, but argument {i} is of type "
                    f"{type(t).__name__}"
                )
        self._to_save = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        """Keep tensors for ``jvp``."""
        self._saved_for_forward = tensors

    def mark_dirty(self, *args: Tensor) -> None:
        """Declare inputs that forward changed in place."""
        self._dirty = args

    def mark_non_differentiable(self, *args: Tensor) -> None:
        """Declare outputs that never require grad."""
        self._non_differentiable = args

    def set_materialize_grads(self, value: bool) -> None:
        """Whether missing cotangents arrive as zeros (the default) or as None."""
        self._materialize = value

    @property
    def saved_tensors(self) -> tuple:
        """What ``save_for_backward`` kept. Raises RuntimeError once the graph was freed."""
        if self._freed:
            raise RuntimeError(FREED)
        return tuple(None if s is None else s.unpack(self) for s in self._saved)

    @property
    def saves_something(self) -> bool:
        """Whether freeing the graph forbids a second pass."""
        return bool(self._saved)

    # -- for the engine
    @property
    def num_outputs(self) -> int:
        """How many cotangents arrive."""
        return len(self._out_avals)

    def out_aval(self, number: int):
        """The aval a cotangent of that output must have."""
        return self._out_avals[number]

    def release(self) -> None:
        """Forget the saved tensors."""
        if self._saved:
            self._saved, self._freed = (), True

    def run(self, cotangents: list, keep: bool) -> list:
        """Call the user's backward and align what it returns with the edges."""
        if self._materialize:
            cotangents = [
                _zeros(self._out_avals[i]) if c is None else c for i, c in enumerate(cotangents)
            ]
        elif all(c is None for c in cotangents):
            return [None] * len(self.edges)
        grads = self._function.backward(self, *cotangents)
        if not isinstance(grads, tuple):
            grads = (grads,)
        name = self.name()
        expected = len(self.edges)
        if len(grads) > expected and all(g is None for g in grads[expected:]):
            grads = grads[:expected]
        if len(grads) != expected:
            raise RuntimeError(
                f"function {name} returned an incorrect number of gradients (expected {expected}, got "
                f"{len(grads)})"
            )
        checked = [self._checked(i, g, name) for i, g in enumerate(grads)]
        if not keep:
            self.release()
        return checked

    def _checked(self, i: int, grad: Any, name: str):
        if grad is None or self.edges[i] is None:
            return None
        if not isinstance(grad, Tensor):
            raise RuntimeError(f"expected Variable or None (got {type(grad).__name__})")
        want = self._in_avals[i]
        if grad._aval.shape != want.shape:
            if not _sums_to(grad._aval.shape, want.shape):
                raise RuntimeError(
                    f"Function {name} returned an invalid gradient at index {i} - got "
                    f"{list(grad._aval.shape)} but expected shape compatible with {list(want.shape)}"
                )
            grad = grad.sum_to_size(want.shape)
        if grad._aval.dtype is not want.dtype:
            grad = apply(OPS["_to_dtype"], (grad,), (want.dtype,))
        return grad


def _sums_to(shape: tuple, target: tuple) -> bool:
    if len(target) > len(shape):
        return False
    tail = shape[len(shape) - len(target):]
    return all(t in (1, s) for s, t in zip(tail, target, strict=True))


def _zeros(aval) -> Tensor:
    return apply(OPS["_full"], (0.0,), (aval.shape, aval.dtype, aval.device))


class _Saved:
    """A saved tensor: its Value then, its edge, and the version that must not have changed."""

    __slots__ = ("aval", "cell", "edge", "is_output", "number", "stride", "value", "variable",
                 "version")

    def __init__(self, t: Tensor, node: FunctionNode) -> None:
        self.value = value_of(t)
        self.aval, self.stride = t._aval, t._stride
        self.cell = version_cell(t)
        self.version = self.cell[0]
        self.is_output = t._grad_fn is node
        self.number = t._output_nr
        # Outputs are rebuilt with the node as history: keeping them would make a cycle.
        self.edge = edge_of(t) if t._requires_grad and not self.is_output else None
        self.variable = t if t._requires_grad and t._grad_fn is None else None

    def unpack(self, node: FunctionNode) -> Tensor:
        if self.cell[0] != self.version:
            maker = node.name() if self.is_output else current_maker(self.cell, self.edge)
            number = self.number if self.is_output else 0
            raise overwritten(self.aval, maker, number, self.cell, self.version)
        if self.variable is not None:
            return self.variable
        t = make(self.value)
        t._stride = self.stride
        if self.is_output:
            t._grad_fn, t._output_nr, t._requires_grad = node, self.number, True
        elif self.edge is not None:
            t._grad_fn, t._output_nr, t._requires_grad = (*self.edge, True)
        return t


class _FunctionMeta(type):
    """Gives each custom function its node class, named as PyTorch names it."""

    def __init__(cls, name, bases, attrs) -> None:
        super().__init__(name, bases, attrs)
        cls._backward_cls = type(name + "Backward", (FunctionNode,), {"__slots__": ()})


class Function(metaclass=_FunctionMeta):
    """Base of custom differentiable functions: subclass it, give static ``forward`` and ``backward``.

    ``forward(ctx, *args)`` computes; ``backward(ctx, *grad_outputs)`` returns one gradient (or None) for
    each argument of forward. Use it with ``MyFunction.apply(*args)``. With a separate
    ``setup_context(ctx, inputs, output)``, forward takes no ctx.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise RuntimeError(
            f"{type(self)} should not be instantiated. Methods on autograd functions are all static, so "
            "you should invoke them on the class itself. Instantiating an autograd function will raise "
            "an error in a future version of PyTorch."
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

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Turn cotangents of the outputs into those of the inputs; to be overridden."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to "
            "use it with backward mode AD."
        )

    @staticmethod
    def vjp(ctx: Any, *grad_outputs: Any) -> Any:
        """Another name of ``backward``."""
        raise NotImplementedError("vjp is not implemented; define backward")

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run forward and, with grad on, record this function as a node."""
        node = cls._backward_cls(cls)
        tensors = [a if isinstance(a, Tensor) else None for a in args]
        for t in tensors:
            if t is not None and t._view is not None and t._view.seen_version != t._view.version[0]:
                refresh_history(t)
        wants = tuple(t is not None and t._requires_grad for t in tensors)
        record = any(wants) and state.grad
        node.needs_input_grad = wants
        node.edges = tuple(edge_of(t) if w else None for t, w in zip(tensors, wants))
        node._in_avals = tuple(None if t is None else t._aval for t in tensors)
        with no_grad():
            if _has_setup(cls):
                result = cls.forward(*args, **kwargs)
                cls.setup_context(node, args, result)
            else:
                result = cls.forward(node, *args, **kwargs)
        return _wrap(node, result, tensors, record)


def _has_setup(cls: type) -> bool:
    return cls.setup_context is not Function.setup_context


def _wrap(node: FunctionNode, result: Any, inputs: list, record: bool) -> Any:
    """Give the outputs their history; inputs that come back are dirty (changed) or become views."""
    single = not isinstance(result, (tuple, list))
    outputs = (result,) if single else tuple(result)
    dirty = {id(t) for t in node._dirty}
    for t in node._dirty:
        if record and t._requires_grad and t._grad_fn is None:
            raise RuntimeError(
                "a leaf Variable that requires grad is being used in an in-place operation."
            )
        if not any(t is o for o in outputs):
            raise RuntimeError(
                "Some elements marked as dirty during the forward method were not returned as output. The"
                " inputs that are modified inplace must all be outputs of the Function."
            )
    input_ids = {id(t) for t in inputs if t is not None}
    plain = {id(t) for t in node._non_differentiable}
    wrapped: list = []
    avals = []
    for i, out in enumerate(outputs):
        if not isinstance(out, Tensor):
            if out is not None and single:
                raise TypeError(
                    f"{type(node).__name__}.forward: expected to have a Tensor or tuple of Tensor "
                    f"returned, but got {type(out).__name__}"
                )
            wrapped.append(out)
            avals.append(None)
            continue
        original = out
        if id(out) in input_ids and id(out) not in dirty:
            out = make_view(out, plan_of(out), alias(out)._view)
        elif record and id(out) not in dirty and out._view is not None and out._view.base is not None:
            out = make_view(out, plan_of(out), alias(out)._view)
        if record and id(original) not in plain and out._aval.dtype.category >= 2:
            out._grad_fn, out._output_nr, out._requires_grad = node, i, True
        elif id(out) not in dirty:
            out._grad_fn, out._requires_grad = None, False
        if original is not out and node._to_save is not None:
            node._to_save = tuple(out if s is original else s for s in node._to_save)
        wrapped.append(out)
        avals.append(out._aval)
    node._out_avals = tuple(avals)
    if node._to_save is not None and record:
        node._saved = tuple(None if t is None else _Saved(t, node) for t in node._to_save)
    elif node._to_save is not None:
        node._saved = ()
    node._to_save, node._dirty, node._non_differentiable = None, (), ()
    return wrapped[0] if single else tuple(wrapped)


def once_differentiable(fn):
    """Decorate a ``backward`` that cannot itself be differentiated: doing so raises."""

    @functools.wraps(fn)
    def wrapped(ctx, *grads):
        with no_grad():
            outs = fn(ctx, *grads)
        needs = any(isinstance(g, Tensor) and g._requires_grad for g in grads)
        if not (state.grad and needs):
            return outs
        outs = outs if isinstance(outs, tuple) else (outs,)
        with enable_grad():
            return tuple(_Refuse.apply(g, *grads) if isinstance(g, Tensor) else g for g in outs)

    return wrapped


class _Refuse(Function):
    """Identity in forward, an error in backward."""

    @staticmethod
    def forward(ctx, out, *_):
        return out.clone()

    @staticmethod
    def backward(ctx, *grads):
        raise RuntimeError(
            "trying to differentiate twice a function that was marked with @once_differentiable"
        )
