"""Containers that each call replaces: a hidden state that is a tuple, a list or dict made anew.

NOTE [Containers made anew]
    ``self.hidden = (h, c)`` leaves another tuple at its place after each call. So the place is not guarded by
    identity: what stands there has to have the same structure, the same numbers and strings, and tensors
    like those then. Its tensors are items like one that stands in an attribute by itself. A window of the
    latest tensors that is not full yet has another structure after each call: then the next call is another
    specialisation's.
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import getitem, setitem
from typing import Any

from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.tracked import Tracked

from ._arguments import flatten
from ._rows import SCALARS, Row, same

_KINDS = (tuple, list, dict)


def is_tree(x: Any) -> bool:
    """Whether ``x`` is a container of nothing but containers, tensors and plain values."""
    leaves: list = []
    return isinstance(x, _KINDS) and flatten(x, leaves) is not None and all(
        isinstance(y, (Tensor, *SCALARS)) or type(y) is Tracked for y in leaves
    )


def leaves_of(x: Any) -> list:
    """What stands in a tree."""
    leaves: list = []
    flatten(x, leaves)
    return leaves


def containers_of(x: Any) -> Iterator[Any]:
    """The tree itself, and the containers in it."""
    if isinstance(x, _KINDS):
        yield x
        for y in x.values() if isinstance(x, dict) else x:
            yield from containers_of(y)


class Tree:
    """The place of a container that each call replaces; ``tree[i]`` is the leaf that stands there now.

    It takes the place of a row for the items in it. ``fixed``: its tensors that stand elsewhere, too, and
    stay there; each is (i, tensor).
    """

    def __init__(self, row: Row, key: Any, x: Any) -> None:
        self.row, self.key, self.holder = row, key, self
        leaves: list = []
        self.structure = flatten(x, leaves)
        self.tensors = [(i, t) for i, t in enumerate(leaves) if isinstance(t, Tensor)]
        self.others = [(i, y) for i, y in enumerate(leaves) if not isinstance(y, Tensor)]
        self.fixed: list[tuple] = []
        self.varying: set = set()

    def __getitem__(self, i: int) -> Any:
        return leaves_of(self.now())[i]

    def now(self) -> Any:
        """The container that stands there now."""
        get, _, at = self.row.access(self.key)
        return get(self.row.holder, at)

    def access(self, key: Any) -> tuple:
        """As `Row.access`; nothing is stored in it."""
        return getitem, setitem, key

    def describe(self, key: Any) -> str:
        """How to call the place of the container."""
        return self.row.describe(self.key)

    def fits(self) -> bool:
        """Whether what stands there is like what stood there then, tensors aside."""
        leaves: list = []
        if flatten(self.now(), leaves) != self.structure:
            return False
        return all(isinstance(leaves[i], Tensor) for i, _ in self.tensors) and (
            all(leaves[i] is t for i, t in self.fixed) and all(same(y, leaves[i]) for i, y in self.others)
        )
