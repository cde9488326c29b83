"""The graph through sparse tensors: from values to the tensor that has them, and back.

NOTE [Gradients through parts]
    An operation on a sparse tensor computes with ordinary operations on its values, which have gradients of
    their own. Two nodes lead in and out of that. `assembled` makes a sparse tensor of values: the gradient of
    a value is the element of the tensor's gradient at its place. `entries` gives the values of a sparse
    tensor: the tensor's gradient is sparse, with the gradients of the values at their places, each place
    once. Both are made of the other, so that gradients have gradients.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from jaxflow._core.fields import init_history
from jaxflow._core.graph import Node
from jaxflow._core.state import state
from jaxflow._core.tensor import Tensor, version_cell
from jaxflow._views.history import edge_of
from jaxflow.autograd.wording import FREED

#: What gives the gradient of an operand, from that of the result.
Pull = Callable[[Tensor], Tensor]


class PartsNode(Node):
    """A node whose backward is a Python function for each operand."""

    __slots__ = ("_aval", "_pulls", "_seen")

    _is_python = True
    _num_outputs = 1

    def __init__(self, aval: Any, edges: list, pulls: Sequence[Pull], saved: Sequence[Tensor]) -> None:
        super().__init__(None, (), edges, tuple(edge is not None for edge in edges), None)
        self._aval = aval
        self._pulls: Sequence[Pull] | None = pulls
        self._seen = [(cell, cell[0]) for cell in map(version_cell, saved)]

    @property
    def next_functions(self) -> tuple:
        """``(node, output number)`` for every operand."""
        return tuple(edge or (None, 0) for edge in self._edges)

    @property
    def _saves_something(self) -> bool:
        return bool(self._seen)

    def _out_aval(self, number: int) -> Any:
        return self._aval

    def _release(self) -> None:
        if self._seen:
            self._pulls = None

    def _run(self, cotangents: list, keep: bool) -> list:
        """The gradients of the operands; None for those that need none."""
        pulls, grad = self._pulls, cotangents[0]
        if pulls is None:
            raise RuntimeError(FREED)
        if grad is None:
            return [None] * len(self._edges)
        if any(cell[0] != version for cell, version in self._seen):
            raise RuntimeError(
                "one of the variables needed for gradient computation has been modified by an inplace "
                f"operation: a tensor that {self.name()} saved")
        found = [pull(grad) if edge is not None else None
                 for pull, edge in zip(pulls, self._edges, strict=True)]
        if not keep:
            self._release()
        return found


@functools.cache
def _class(name: str) -> type[PartsNode]:
    return type(f"{name}Backward0", (PartsNode,), {"__slots__": (), "__module__": "builtins"})


def recorded(result: Tensor, name: str, operands: Sequence[tuple[Tensor, Pull]],
             saved: Sequence[Tensor] = ()) -> Tensor:
    """``result``, which is fresh and without history, as what the node ``name`` made of the operands.

    Args:
        result: what was computed.
        name: PyTorch's name of the node, without ``Backward0``.
        operands: each with the function that gives its gradient, from that of the result.
        saved: tensors that these functions read, which may not be overwritten meanwhile.
    """
    if state.grad and result._aval.dtype.category >= 2 and any(t.requires_grad for t, _ in operands):
        edges = [edge_of(t) if t.requires_grad else None for t, _ in operands]
        init_history(result, _class(name)(result._aval, edges, [pull for _, pull in operands], saved), 0)
    return result
