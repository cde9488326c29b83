"""Gradients of another shape than the tensor that they are for has by now.

NOTE [Shapes in the graph]
    A tensor can take another shape without its place in the graph knowing of it: by ``t_()`` and its like
    where nothing is recorded, or by ``.data =``. As in PyTorch a node takes gradients of the shape that its
    output had when it was recorded, and a leaf those of the shape that it had when its accumulator was made.
    One of another shape is summed to it, if the one broadcasts to the other; else it is refused. Otherwise
    all nodes yield gradients of the right shape, so a pass looks only once such a tensor was seen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from jaxflow._core.graph import Node
from jaxflow._core.tensor import Tensor, make
from jaxflow._core.value import Value

Edge = tuple[Node, int]


def in_their_shapes(node: Node, grads: Sequence) -> Sequence:
    """The gradients that ``node`` yields, each in the shape that the node takes where it goes."""
    found = list(grads)
    for i, (edge, grad) in enumerate(zip(node._edges, grads)):
        if edge is None or grad is None:
            continue
        shape = edge[0]._out_aval(edge[1]).shape
        if _aval_of(grad).shape != shape:
            found[i] = _in_shape(grad, shape, lambda i=i: (
                f"Function {node.name()} returned an invalid gradient at index {_position(node, i)}"))
    return found


def roots_in_their_shapes(roots: list[tuple[Edge, Tensor | None]]) -> list[tuple[Edge, Tensor | None]]:
    """The cotangents that a pass begins with, each in the shape that its root's node takes; None is zeros."""
    found = []
    for i, ((node, number), grad) in enumerate(roots):
        shape = node._out_aval(number).shape
        if grad is not None and _aval_of(grad).shape != shape:
            grad = _in_shape(grad, shape, lambda i=i: f"invalid gradient at index {i}")
        found.append(((node, number), grad))
    return found


def sums_to(shape: tuple, target: tuple) -> bool:
    """Whether a tensor of ``target`` shape broadcasts to ``shape``."""
    if len(target) > len(shape):
        return False
    tail = shape[len(shape) - len(target):]
    return all(t in (1, s) for s, t in zip(tail, target, strict=True))


def sum_to(grad: Tensor, target: tuple) -> Tensor:
    """The sum of a gradient over the dimensions by which ``target`` broadcasts to its shape."""
    extra = len(grad._aval.shape) - len(target)
    dims = [i for i, s in enumerate(grad._aval.shape) if i < extra or target[i - extra] != s]
    return grad.sum(dims, keepdim=True).reshape(target)


def _in_shape(grad: Tensor | Value, shape: tuple, what: Callable[[], str]) -> Tensor:
    given = _aval_of(grad).shape
    if not sums_to(given, shape):
        raise RuntimeError(f"{what()} - got {list(given)} but expected shape compatible with {list(shape)}")
    return sum_to(make(grad) if isinstance(grad, Value) else grad, shape)


def _aval_of(grad: Tensor | Value):
    return grad.aval if isinstance(grad, Value) else grad._aval


def _position(node: Node, i: int) -> int:
    """Which of ``next_functions`` an edge is."""
    edge_inputs = () if node._is_python else node._plan.edge_inputs
    return edge_inputs.index(i) if i in edge_inputs else i
