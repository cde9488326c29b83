"""Containers that each call replaces: a hidden state that is a tuple, a list or dict made anew.

NOTE [Containers made anew]
    ``self.hidden = (h, c)`` leaves another tuple at its place after each call. So the place is not guarded by
    identity: what stands there has to have the same structure, the same numbers and strings, and tensors
    like those then. Its tensors are items like one that stands in an attribute by itself. A window of the
    latest tensors that is not full yet has another structure after each call: then the next call is another
    specialisation's. Containers that stood in the old one may stand in the new one, as they are.

    Objects that each call makes anew are treated alike: NOTE [Objects made anew].

    A list whose length the call changes is treated as a place that all of its contents stand at: they are
    made anew, and put into the same list by one store.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from operator import getitem, setitem
from typing import Any

from jaxflow._core.commit import Overtaken
from jaxflow._core.tensor import Tensor

from ._apart import gather
from ._rows import Row, listed, same


class Contents:
    """All that stands in a list or deque, as one place: ``row`` is the list's own."""

    def __init__(self, row: Row) -> None:
        self.row, self.holder, self.varying = row, row.holder, set()

    def access(self, key: Any) -> tuple:
        """As `Row.access`: a list of the same things is read, or stored."""
        if type(self.holder) is deque:
            return listed, (deque.clear, deque.extend), None
        return getitem, setitem, slice(None)

    def describe(self, key: Any) -> str:
        """How to call it."""
        return self.row.shown


class Replaced:
    """All that stands in a list or dict which the call changes and then replaces."""

    def __init__(self, tree: Tree, number: int) -> None:
        self.tree, self.number, self.holder = tree, number, self

    def now(self) -> Any:
        """The container that stands there before the call."""
        return self.tree.container(self.number)

    def access(self, key: Any) -> tuple:
        """As `Row.access`, of the container itself."""
        kind = type(self.tree.containers[self.number])
        return _copied, (kind.clear, dict.update if kind is dict else list.extend), None

    def describe(self, key: Any) -> str:
        """How to call it."""
        return self.tree.describe(key)


def _copied(x: Any, key: Any) -> Any:
    """Another list or dict of the same things, whatever the key."""
    return type(x)(x)


def _at(row: Row | Contents, key: Any) -> Any:
    get, _, at = row.access(key)
    try:
        return get(row.holder, at)
    except (LookupError, ValueError, AttributeError):  # an entry that is gone, a variable without a value
        return None


class Tree:
    """The place of a container that each call replaces; ``tree[i]`` is the leaf that stands there now.

    It takes the place of a row for the items in it. ``fixed``: its tensors that stand elsewhere, too, and
    stay there; each is (i, tensor). ``also``: more places, (row, key), of the same container. ``was`` is a
    container like ``x`` before the call.
    """

    def __init__(self, row: Row | Contents, key: Any, x: Any, structure: Any, was: Any) -> None:
        self.row, self.key, self.holder, self.stood = row, key, self, x
        self.also: list[tuple] = []
        self.structure = structure
        leaves, self.containers = self._taken_apart(was)
        self.containers[:1] = [x]
        self.tensors = [(i, t) for i, t in enumerate(leaves) if isinstance(t, Tensor)]
        self.others = [(i, y) for i, y in enumerate(leaves) if not isinstance(y, Tensor)]
        self.fixed: list[tuple] = []
        self.varying: set = set()

    def _taken_apart(self, x: Any) -> tuple[list, list]:
        """The leaves and the containers of what has its structure; none of anything else."""
        leaves: list = []
        containers: list = []
        return (leaves, containers) if gather(x, self.structure, leaves, containers) else ([], [])

    def _now_apart(self) -> tuple[list, list]:
        found = self._taken_apart(self.now())
        if not found[1]:
            raise Overtaken  # another thread has put something else there since the guards were checked
        return found

    def __getitem__(self, i: int) -> Any:
        return self._now_apart()[0][i]

    def now(self) -> Any:
        """The container that stands there now; None if nothing does."""
        return _at(self.row, self.key)

    def container(self, i: int) -> Any:
        """The container that stands there now, or the ``i``-th in it."""
        return self._now_apart()[1][i]

    def access(self, key: Any) -> tuple:
        """As `Row.access`; nothing is stored in it."""
        return getitem, setitem, key

    def describe(self, key: Any) -> str:
        """How to call the place of the container."""
        return self.row.describe(self.key)

    def let_go(self) -> None:
        """Keep nothing alive that stood there in the captured call."""
        self.stood = None
        self.containers, self.tensors = [None] * len(self.containers), [(i, None) for i, _ in self.tensors]

    def fits(self, found: list) -> bool:
        """Whether what stands there is like what stood there then, tensors aside.

        Its containers are appended to ``found``.
        """
        now = self.now()
        leaves, containers = self._taken_apart(now)
        if len(containers) != len(self.containers):
            return False
        if not all(_at(row, key) is now for row, key in self.also):
            return False
        found += containers
        return all(isinstance(leaves[i], Tensor) for i, _ in self.tensors) and (
            all(leaves[i] is t for i, t in self.fixed) and all(same(y, leaves[i]) for i, y in self.others)
        )


class Trees(list):
    """Those of a specialisation; ``others`` are the containers that it guards by identity."""

    def __init__(self, trees: list[Tree], others: Iterable) -> None:
        super().__init__(trees)
        self.others = {id(x): x for x in others}
        self.pattern = _pattern([x for tree in trees for x in tree.containers])
        for tree in trees:
            tree.let_go()

    def fit(self) -> bool:
        """Whether each fits, and the same places hold one container as then."""
        found: list = []
        return all(tree.fits(found) for tree in self) and (
            self.others.keys().isdisjoint(map(id, found)) and _pattern(found) == self.pattern
        )


def _pattern(xs: list) -> list[int]:
    """For each the number of the first that is the same object."""
    first: dict[int, int] = {}
    return [first.setdefault(id(x), i) for i, x in enumerate(xs)]
