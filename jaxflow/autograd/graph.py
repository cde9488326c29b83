"""The public names of the graph: nodes and edges."""

from __future__ import annotations

from typing import Any, NamedTuple

from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.door import edge_of, refresh_history
from jaxflow._dispatch.graph import AccumulateGrad as AccumulateGrad
from jaxflow._dispatch.graph import Node as Node


class GradientEdge(NamedTuple):
    """A place in the graph that ``grad`` and ``backward`` take instead of the tensor made there."""

    node: Any
    output_nr: int
    ownership_token: Any = None


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The edge a cotangent of ``tensor`` arrives at. RuntimeError if it requires no grad."""
    view = tensor._view
    if view is not None and view.seen_version != view.version[0]:
        refresh_history(tensor)
    if not tensor._requires_grad:
        raise RuntimeError(
            "It is not possible to get the gradient edge for a Tensor that does not require gradients"
        )
    return GradientEdge(*edge_of(tensor))
