"""Updates by sparse gradients: of the rows of a parameter that have one, the others stay as they are."""

from __future__ import annotations

import math
from typing import Any

from jaxflow._core.layouts import handler, has_parts
from jaxflow._core.tensor import Tensor


class SparseKind:
    """In the place of what parameters of a batch have in common: each with a sparse gradient is alone."""

    __slots__ = ("param",)

    def __init__(self, param: Tensor) -> None:
        self.param = param

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SparseKind) and self.param is other.param

    def __hash__(self) -> int:
        return id(self.param)


class Rows:
    """The rows of a parameter that a sparse gradient is for, each once.

    Attributes:
        places: their numbers, int64 ``(n,)``; with several sparse dimensions those of single elements.
        values: the gradient, ``(n, *dense)``.
    """

    def __init__(self, grad: Tensor, maximize: bool) -> None:
        if grad.layout.name != "sparse_coo":
            raise RuntimeError(f"gradients of layout {grad.layout} are not taken: use those in coordinates")
        grad = handler("coalesce")(grad.detach())
        count = grad.sparse_dim()
        self._shape = (math.prod(grad.shape[:count]), *grad.shape[count:])
        self.places = handler("places")(grad)
        values = grad._values()
        self.values = -values if maximize else values

    def of(self, t: Tensor) -> Tensor:
        """These rows of a tensor of the parameter's shape."""
        return t.detach().reshape(self._shape).index_select(0, self.places)

    def added(self, t: Tensor, change: Tensor) -> Tensor:
        """``t`` with ``change`` added to these rows."""
        rows = t.detach().reshape(self._shape)
        return rows.index_add(0, self.places, change.to(rows.dtype)).reshape(t.shape)


def momentum(state: Any, grad: Tensor, factor: float, dampening: float) -> Tensor:
    """The sparse buffer: the gradient at first, then ``factor * buffer + (1 - dampening) * grad``."""
    before = None if not state else state.get("momentum_buffer")
    if before is None:
        return grad.detach().clone()
    if not has_parts(before):
        raise RuntimeError("a dense momentum_buffer takes no sparse gradient: make a new optimizer")
    return handler("coalesce")(before * factor + grad.detach() * (1 - dampening))
