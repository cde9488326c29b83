"""Custom functions inside jax's transformations: jax calls the user's backward.

NOTE [Custom functions under jax]
    ``jax.grad`` would differentiate what ``forward`` computes, and never call ``backward``. So where an
    argument is a tracer, the outputs are computed by a ``jax.custom_vjp``, whose forward rule runs the
    user's forward once more with a ``ctx`` of its own, and whose backward rule gets what that ``ctx`` kept:
    tensors travel as residuals, everything else as it is. Our own graph is recorded as ever, so
    ``backward()`` inside ``jax.jit`` works too; under ``jax.jit`` XLA merges the two forwards.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax

from jaxflow._core.commit import commit
from jaxflow._core.fields import init_history
from jaxflow._core.modes import Changed
from jaxflow._core.state import state
from jaxflow._core.tensor import Tensor, make
from jaxflow._core.value import Value
from jaxflow._publish.pytree import array_of
from jaxflow._views.values import value_of


def any_traced(args: tuple) -> bool:
    """Whether one of the tensors holds a tracer."""
    return any(
        isinstance(a, Tensor) and isinstance(value_of(a).array, jax.core.Tracer) for a in args
    )


def with_rule(function: type, run: Callable, args: tuple, kwargs: dict, before: list[Value],
              shown: Any) -> Any:
    """``shown``, the outputs of ``function`` on these arguments, as jax shall differentiate them.

    ``run`` calls its forward with a ctx; ``before`` are the values that the tensors among ``args`` had
    before forward ran.
    """
    rule = _Rule(function, run, args, kwargs)
    computed = iter(rule.apply(*(v.get() for v in before)))
    outputs = shown if isinstance(shown, tuple) else (shown,)
    new = tuple(_showing(t, next(computed)) if isinstance(t, Tensor) else t for t in outputs)
    return new if isinstance(shown, tuple) else new[0]


def _showing(t: Tensor, array: Any) -> Tensor:
    """``t`` with another value: itself if it is a base, else a new tensor with its history."""
    value = Value(t._aval, array, shared=True)
    if t._view is None:
        storage = t._storage
        commit([(setattr, storage, "value", value), (setattr, storage, "epoch", storage.epoch + 1)])
        return t
    new = make(value, type(t))
    new._stride = t._stride
    init_history(new, t._grad_fn, t._output_nr, t._requires_grad)
    return new


class _Rule:
    """One application as a ``jax.custom_vjp`` of the tensors' arrays."""

    def __init__(self, function: type, run: Callable, args: tuple, kwargs: dict) -> None:
        self.function, self.run, self.args, self.kwargs = function, run, args, kwargs
        self.at = [i for i, a in enumerate(args) if isinstance(a, Tensor)]
        self.avals = [args[i]._aval for i in self.at]
        self.kept: tuple = ()  # what ctx kept beside tensors; the forward rule is traced before the other
        self.apply = jax.custom_vjp(lambda *arrays: self._forward(arrays)[1])
        self.apply.defvjp(self._forward_rule, self._backward_rule)

    def _context(self):
        node = self.function._backward_cls()
        node._arguments = len(self.args)
        node._positions = tuple(self.at)
        floating = [aval.dtype.category >= 2 for aval in self.avals]
        node.needs_input_grad = tuple(
            i in self.at and floating[self.at.index(i)] for i in range(len(self.args))
        )
        node._in_avals = tuple(self.avals)
        node._edges = tuple((node, 0) if needed else None for needed in floating)
        return node

    def _forward(self, arrays: tuple):
        node, args = self._context(), list(self.args)
        for i, aval, array in zip(self.at, self.avals, arrays, strict=True):
            args[i] = make(Value(aval, array, shared=True))
        result = Changed(state, grad=False).run(self.run, self.function, node, tuple(args), self.kwargs)
        outputs = result if isinstance(result, tuple) else (result,)
        node._out_avals = tuple(t._aval if isinstance(t, Tensor) else None for t in outputs)
        return node, [array_of(t) for t in outputs if isinstance(t, Tensor)]

    def _forward_rule(self, *arrays):
        node, outs = self._forward(arrays)
        saved = list(node.to_save or ())
        for name in ("to_save", "saved_for_forward", "dirty_tensors", "non_differentiable"):
            node.__dict__.pop(name, None)
        leaves, tree = jax.tree.flatten((saved, dict(node.__dict__)), is_leaf=_is_leaf)
        plain = [None if isinstance(x, Tensor) else x for x in leaves]
        traced = [array_of(x) if isinstance(x, Tensor) else None for x in leaves]
        self.kept = tree, plain, [x._aval if isinstance(x, Tensor) else None for x in leaves], (
            node._out_avals, node._materialize)
        return outs, traced

    def _backward_rule(self, traced, cotangents):
        tree, plain, avals, (out_avals, materialize) = self.kept
        leaves = [
            x if aval is None else make(Value(aval, array, shared=True))
            for x, aval, array in zip(plain, avals, traced, strict=True)
        ]
        saved, notes = jax.tree.unflatten(tree, leaves)
        node = self._context()
        node.__dict__.update(notes)
        node._saved = tuple(None if t is None else _Residual(t) for t in saved)
        node._out_avals, node._materialize = out_avals, materialize
        arrived = iter(cotangents)
        given: list = [None if aval is None else _cotangent(aval, next(arrived)) for aval in out_avals]
        grads = Changed(state, grad=False).run(node._run, given, keep=True)
        return tuple(None if g is None else array_of(g) for g in grads)


def _is_leaf(x: Any) -> bool:
    # Tensors, and None: an output that was not saved has its place in saved_tensors.
    return isinstance(x, Tensor) or x is None


def _cotangent(aval, array: Any) -> Tensor | None:
    """The cotangent of one output; None for outputs that have none (integers)."""
    return None if array.dtype == jax.dtypes.float0 else make(Value(aval, array, shared=True))


class _Residual:
    """A saved tensor that came through jax's residuals."""

    __slots__ = ("tensor",)

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor

    def unpack(self, node: Any = None) -> Tensor:
        """The tensor as it was saved."""
        return self.tensor
