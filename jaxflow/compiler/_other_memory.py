"""Tensors that a call gives other memory: ``p.data = p.data - rate * p.grad``, ``set_``.

NOTE [Tensors given other memory]
    The tensor stays, and the walk guards which one it is. The memory that it had before is found at the
    tensor itself at each call, like that of a tensor which another one replaces: it is an item, at a place
    that holds nothing else. If another tensor that stays has that memory too, it is guarded like any other:
    then each call is another specialisation's. A leaf of a graph stays one; what has a history is left to
    Python.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import getitem, setitem
from typing import Any

from jaxflow._core.fields import MEMORY, rebind_rows
from jaxflow._core.tensor import Tensor, version_cell
from jaxflow._core.value import Untracked
from jaxflow._dispatch.shared_operands import other_memory_rows

from ._journal import Journal
from ._outlines import Before
from ._template import Recipes


class Itself:
    """The place of a tensor that stays, in the form of a row."""

    def __init__(self, t: Tensor, shown: str) -> None:
        self.holder, self.shown, self.varying = (t,), shown, set()

    def access(self, key: Any) -> tuple:
        """As `Row.access`; nothing is stored in it."""
        return getitem, setitem, 0

    def describe(self, key: Any) -> str:
        """How to call it."""
        return self.shown


def given_other_memory(t: Tensor, was: Before, journal: Journal, *, alone: bool) -> bool:
    """Whether a call gave ``t`` other memory, and each call can do it again; ``alone``: no thread did it."""
    view, cell = t._view, journal.cell_of[id(was._storage)] if was._view is None else was._view.version
    if all(getattr(t, name) is getattr(was, name) for name in MEMORY):
        return False
    if was._grad_fn is not None or t._grad_fn is not None:
        return False
    if was._view is not None and was._view.base is not None:
        return False
    if version_cell(t) is not cell or (view is not None and view.base is not None):
        return False
    if isinstance(cell, Untracked) or isinstance(t._storage.version, Untracked):
        return False
    return journal.is_born(t._storage) or alone  # else another thread may have done it


def row_of(t: Tensor, recipes: Recipes, raised: int) -> Callable[[Any], list[tuple]]:
    """A function of a `Call` that gives the stores by which ``t`` gets the memory that it has now.

    It counts ``raised`` more writes then.
    """
    storage_of = recipes.storage_of(t._storage)
    aval, stride, view = t._aval, t._stride, t._view

    def stores(call: Any) -> list[tuple]:
        cell, storage = version_cell(t), storage_of(call)
        rows = [(setitem, cell, 0, cell[0] + raised)] if raised else []
        if view is None:  # a base, whose cell is its storage's
            rows += other_memory_rows(t, storage, None, cell)
            return [*rows, *rebind_rows(t, storage, aval, stride, None), (setattr, storage, "version", cell)]
        rows += other_memory_rows(t, storage, view.plan, None)
        info = type(view)(view.plan, None, None, cell, view.origin)
        return [*rows, *rebind_rows(t, storage, aval, stride, info)]

    return stores
