"""Updates by sparse gradients: of the rows of a parameter that have one, the others stay as they are."""

from __future__ import annotations

import math
from typing import Any

from jaxflow import _functions as functions
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
    """The rows of a parameter that a sparse gradient is for.

    There are as many as the gradient has entries, whatever comes twice: steps with as many entries are
    one program, and no number is waited for. What is left over where rows come twice stands at row 0, and
    changes nothing there.

    Args:
        grad: a sparse gradient in coordinates.
        maximize: whether its negative is meant.
        once: whether entries of the same row are added first.

    Attributes:
        places: the numbers of the rows, int64 ``(n,)``; with several sparse dimensions those of elements.
        values: the gradient, ``(n, *dense)``.
    """

    def __init__(self, grad: Tensor, maximize: bool, once: bool = True) -> None:
        if grad.layout.name != "sparse_coo":
            raise RuntimeError(f"gradients of layout {grad.layout} are not taken: use those in coordinates")
        grad = grad.detach()
        count = grad.sparse_dim()
        self._shape = (math.prod(grad.shape[:count]), *grad.shape[count:])
        places, values = handler("places")(grad), grad._values()
        values = -values if maximize else values
        self._used: Tensor | None = None
        if once and not grad.is_coalesced() and values.shape[0]:
            places, values, self._used = _once(places, values)
        self.places, self.values = places, values

    def of(self, t: Tensor) -> Tensor:
        """These rows of a tensor of the parameter's shape."""
        return self._rows(t).index_select(0, self.places)

    def added(self, t: Tensor, change: Tensor) -> Tensor:
        """``t`` with ``change`` added to these rows."""
        rows = self._rows(t)
        if self._used is not None:
            change = functions.where(self._used, change, functions.zeros_like(change))
        return rows.index_add(0, self.places, change.to(rows.dtype)).reshape(t.shape)

    def _rows(self, t: Tensor) -> Tensor:
        return t if t.shape == self._shape else t.reshape(self._shape)


def _once(places: Tensor, values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Rows and the sums of their values, as many as there were, and which of them are used."""
    count = values.shape[0]
    order = places.argsort(stable=True)
    ordered = places.index_select(0, order)
    group = functions.cat([ordered.new_zeros(1), (ordered[1:] != ordered[:-1]).to(ordered.dtype)]).cumsum(0)
    sums = functions.zeros_like(values).index_add(0, group, values.index_select(0, order))
    rows = functions.zeros_like(places).scatter_reduce(0, group, ordered, "amax")
    used = functions.arange(count, device=places.device) <= group[-1]
    return rows, sums, used.reshape((count, *(1,) * (values.dim() - 1)))


def momentum(state: Any, grad: Tensor, factor: float, dampening: float) -> Tensor:
    """The sparse buffer: the gradient at first, then ``factor * buffer + (1 - dampening) * grad``."""
    before = None if not state else state.get("momentum_buffer")
    if before is None:
        return grad.detach().clone()
    if not has_parts(before):
        raise RuntimeError("a dense momentum_buffer takes no sparse gradient: make a new optimizer")
    return handler("coalesce")(before * factor + grad.detach() * (1 - dampening))
