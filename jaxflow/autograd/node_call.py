"""Nodes as functions: ``grad_fn(g)`` runs one node, outside of any pass."""

from __future__ import annotations

from typing import Any

from jaxflow._core.graph import Node
from jaxflow._core.state import state
from jaxflow._core.tensor import Tensor

from .engine import lone_pass


def _call(self: Node, *cotangents: Any, **options: Any) -> Any:
    """The gradients of the node's inputs for these cotangents (None: undefined), hooks left out.

    One tensor where ``next_functions`` has one entry, else a tuple. Recorded where grad mode is on;
    nothing is freed. An accumulator adds to its leaf's ``.grad`` and returns ``()``.

    Raises:
        TypeError: for another number of cotangents, things that are no tensors, or keyword arguments.
        RuntimeError: once the graph was freed.
    """
    if options:
        raise TypeError("keyword arguments are not supported")
    if len(cotangents) != self._num_outputs:
        raise TypeError(f"expected {self._num_outputs} arguments, got {len(cotangents)} instead")
    for i, c in enumerate(cotangents):
        if c is not None and not isinstance(c, Tensor):
            raise TypeError(f"argument {i} is not a Variable")
        if c is not None and c._aval.shape != self._out_aval(i).shape:
            raise RuntimeError(
                f"{self.name()} got a gradient of shape {list(c._aval.shape)} for an output of shape "
                f"{list(self._out_aval(i).shape)}"
            )
    given = [
        c if c is None or c._aval.dtype is self._out_aval(i).dtype else c.to(self._out_aval(i).dtype)
        for i, c in enumerate(cotangents)
    ]
    alone = lone_pass(state.grad)
    grads = alone.evaluate(self, given)
    alone.found.publish()
    if not self._edges:
        return ()
    edge_inputs = range(len(self._edges)) if self._is_python else self._plan.edge_inputs
    found = tuple(None if grads is None else grads[i] for i in edge_inputs)
    return found[0] if len(found) == 1 else found


Node.__call__ = _call
