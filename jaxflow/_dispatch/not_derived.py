"""The node of an operation that has no derivative: backward through it raises, and not before."""

from __future__ import annotations

from .graph import Node


class NotDerived(Node):
    """In the place of a node: the graph above it works, a cotangent that arrives is an error."""

    __slots__ = ("_aval", "_what")

    _is_python = True
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


NotDerived.__name__ = NotDerived.__qualname__ = "NotImplemented"
