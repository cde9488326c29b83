"""The node of an operation that has no derivative: backward through it raises, and not before."""

from __future__ import annotations

import functools
from collections.abc import Callable

from jaxflow._core.dtype import FLOATING
from jaxflow._core.graph import Node
from jaxflow._core.state import state
from jaxflow._core.tensor import Tensor
from jaxflow._views.history import edge_of, set_history


class NotDerived(Node):
    """In the place of a node: the graph above it works, a cotangent that arrives is an error."""

    __slots__ = ("_aval", "_what")

    _is_python = True
    _at_once = True
    _num_outputs = 1

    def __init__(self, what: str, edges: tuple, aval) -> None:
        super().__init__(None, (), edges, (), None)
        self._what = what
        self._aval = aval

    @property
    def next_functions(self) -> tuple:
        """``(node, output number)`` for every operand."""
        return tuple(edge or (None, 0) for edge in self._edges)

    def _out_aval(self, number: int):
        return self._aval

    def name(self) -> str:
        """PyTorch's name of such a node."""
        return "torch::autograd::NotImplemented"

    def _release(self) -> None:
        """Nothing is kept."""

    def _run(self, cotangents: list, keep: bool) -> list:
        raise RuntimeError(f"derivative for {self._what} is not implemented")


@functools.cache
def named(name: str) -> Callable:
    """Such nodes that PyTorch has a name for."""

    class Named(NotDerived):
        __slots__ = ()
        _at_once = False

        def name(self) -> str:
            return name

        def _run(self, cotangents: list, keep: bool) -> list:
            if not any(self._edges):  # of views made in inference mode, whose gradient goes nowhere
                return [None] * len(self._edges)
            raise NotImplementedError(f"the derivative for '{self._what}' is not implemented.")

    Named.__name__ = Named.__qualname__ = name
    return Named


def without_derivative(result: Tensor, what: str, *operands: Tensor, node: Callable | None = None) -> Tensor:
    """``result``, whose backward says that there is no derivative, if an operand requires grad.

    Integers require none.
    """
    if state.grad and result._aval.dtype.category >= FLOATING and any(t._requires_grad for t in operands):
        edges = tuple(edge_of(t) if t._requires_grad else None for t in operands)
        set_history(result, (node or NotDerived)(what, edges, result._aval), 0)
    return result


NotDerived.__name__ = NotDerived.__qualname__ = "NotImplemented"
