"""PyTorch's refusal of a backward whose saved tensors were overwritten since the operation."""

from __future__ import annotations

from jaxflow._core.graph import RESULT, HeldResult, Node
from jaxflow._plans.op import OPS, TENSOR
from jaxflow._views.history import Guarded, detached_in_place

from .wording import CUT_OFF, current_maker, overwritten


def refuse_overwritten(node: Node) -> None:
    """RuntimeError for the first saved tensor that was overwritten, in PyTorch's order and words."""
    for cell, version, aval, edge, view in _as_unpacked(node):
        changed = cell[0] != version
        if detached_in_place(edge) and not (changed and len(cell) > 1 and cell[1]):
            raise RuntimeError(CUT_OFF)  # a write that was recorded gave it a node again
        if changed:
            number = 0
            if edge.__class__ is HeldResult:
                maker = None if edge.number is None else node.name()
                number = edge.number or 0
            elif edge is RESULT:
                maker = (view is not None and view.maker()) or node.name()
            else:
                if view.__class__ is Guarded:
                    view.check()
                maker = current_maker(cell, edge)
            raise overwritten(aval, maker, number, cell, version)


def _as_unpacked(node: Node) -> list[tuple]:
    """The guards in the order PyTorch looks at what it saved: operands by its names, then results."""
    op = OPS.get(node._plan.name)
    names = [] if op is None else [p.name for p in op.params if p.kind == TENSOR]
    inputs = [g for g in node._guards if g[3] is not RESULT and g[3].__class__ is not HeldResult]
    if len(names) != len(inputs):
        return node._guards
    named = [("self" if name == "input" else name, g) for name, g in zip(names, inputs)]
    results = [g for g in node._guards if g not in inputs]
    return [g for _, g in sorted(named, key=lambda pair: pair[0])] + results
