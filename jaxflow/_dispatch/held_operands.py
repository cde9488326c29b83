"""What a node holds beyond, or short of, what its declaration says: set by the function that recorded it."""

from __future__ import annotations

from jaxflow._core.graph import RESULT
from jaxflow._core.tensor import Tensor, version_cell
from jaxflow._views.history import edge_of, guard_of


def hold_only(result: Tensor, *operands: Tensor | None) -> Tensor:
    """Let operands of the node of ``result`` be overwritten, all but ``operands``; returns ``result``.

    For those that PyTorch's kernel copies before it saves them (scaled, repeated, cast). Values are
    immutable, so the gradient is that of what was there.
    """
    node = result._grad_fn
    if node is not None and node._guards:
        cells = [version_cell(t) for t in operands if t is not None]
        # One with a cell of its own stays in the place of each, for what counts the guards of a node.
        node._guards[:] = [
            g if g[3] is RESULT or any(g[0] is cell for cell in cells) else ([g[1]], *g[1:4], None)
            for g in node._guards
        ]
    return result


def hold_also(result: Tensor, *tensors: Tensor | None) -> Tensor:
    """Refuse the backward of ``result`` if one of ``tensors`` is overwritten before; returns ``result``.

    For those that PyTorch's node saves and our formula does not read.
    """
    node = result._grad_fn
    if node is not None:
        held = [
            (cell, cell[0], t._aval, edge_of(t) if t._requires_grad else None, guard_of(t))
            for t in tensors if t is not None for cell in [version_cell(t)] if cell.__class__ is list
        ]
        if node._guards is None:
            node._guards = held
        else:
            node._guards.extend(held)
    return result
