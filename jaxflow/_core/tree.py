"""Nested containers of tensors, flattened as PyTorch does: None is a leaf like any other.

What counts as a container is in a table, to which programs may add types of their own.
"""

from __future__ import annotations

import dataclasses
from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from .size import Size
from .tensor import Tensor


class Node(NamedTuple):
    """How a type of container is taken apart and put together.

    ``flatten(tree)`` gives the children and a context, from which ``unflatten(children, context)`` makes an
    equal one. ``keys(tree)`` names the way to each child, for paths; None where nobody said.
    """

    flatten: Callable[[Any], tuple[Iterable, Any]]
    unflatten: Callable[[Iterable, Any], Any]
    keys: Callable[[Any], list] | None = None


@dataclasses.dataclass(frozen=True)
class SequenceKey:
    """The way to an element of a sequence."""

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"

    def get(self, sequence: Any) -> Any:
        """That element."""
        return sequence[self.idx]


@dataclasses.dataclass(frozen=True)
class MappingKey:
    """The way to a value of a mapping."""

    key: Any

    def __str__(self) -> str:
        return f"[{self.key!r}]"

    def get(self, mapping: Any) -> Any:
        """That value."""
        return mapping[self.key]


@dataclasses.dataclass(frozen=True)
class GetAttrKey:
    """The way to an attribute of an object."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"

    def get(self, obj: Any) -> Any:
        """That attribute."""
        return getattr(obj, self.name)


def _sequence(make: Callable) -> Node:
    return Node(lambda t: (t, None), lambda children, _: make(children),
                lambda t: [SequenceKey(i) for i in range(len(t))])


def _mapping_keys(tree: Any) -> list:
    return [MappingKey(key) for key in tree]


def _mapping(make: type) -> Node:
    return Node(lambda t: (t.values(), list(t)),
                lambda children, keys: make(zip(keys, children, strict=True)), _mapping_keys)


#: The containers, by type. Named tuples are looked up under ``namedtuple``.
NODES: dict[Any, Node] = {
    tuple: _sequence(tuple),
    list: _sequence(list),
    Size: _sequence(Size),
    dict: _mapping(dict),
    OrderedDict: _mapping(OrderedDict),
    defaultdict: Node(
        lambda t: (t.values(), [t.default_factory, list(t)]),
        lambda children, context: defaultdict(context[0], zip(context[1], children, strict=True)),
        _mapping_keys,
    ),
    deque: Node(lambda t: (t, t.maxlen), lambda children, maxlen: deque(children, maxlen=maxlen),
                lambda t: [SequenceKey(i) for i in range(len(t))]),
    namedtuple: Node(
        lambda t: (t, type(t)), lambda children, kind: kind(*children),
        lambda t: [GetAttrKey(field) for field in t._fields],
    ),
}


def node_type(tree: Any) -> Any:
    """The key of a tree's outermost container in `NODES`; None for a leaf."""
    kind = type(tree)
    if kind in NODES:
        return kind
    return namedtuple if isinstance(tree, tuple) and hasattr(tree, "_fields") else None


class TreeSpec:
    """How a tree is built: the container's type, what it says of its children, and their structures.

    A leaf has the type None. Equal structures fit each other; ``repr`` spells them as PyTorch does.
    """

    __slots__ = ("_children", "context", "num_leaves", "type")

    def __init__(self, type: Any, context: Any, children_specs: Iterable[TreeSpec]) -> None:
        self.type, self.context, self._children = type, context, tuple(children_specs)
        self.num_leaves: int = 1 if type is None else sum([c.num_leaves for c in self._children])

    @property
    def num_nodes(self) -> int:
        """How many leaves and containers there are."""
        return 1 + sum(child.num_nodes for child in self._children)

    @property
    def num_children(self) -> int:
        """How many children the outermost container has."""
        return len(self._children)

    def is_leaf(self) -> bool:
        """Whether the tree is a single leaf."""
        return self.type is None

    def children(self) -> list[TreeSpec]:
        """The structures of the children."""
        return list(self._children)

    def child(self, index: int) -> TreeSpec:
        """The structure of one child."""
        return self._children[index]

    def unflatten(self, leaves: Iterable) -> Any:
        """The tree of this structure with these leaves. ValueError unless there are as many as it has."""
        if not isinstance(leaves, (list, tuple)):
            leaves = list(leaves)
        if len(leaves) != self.num_leaves:
            raise ValueError(
                f"treespec.unflatten(leaves): `leaves` has length {len(leaves)} but the spec refers to a "
                f"pytree that holds {self.num_leaves} items ({self})."
            )
        return unflatten(leaves, self)

    def flatten_up_to(self, tree: Any) -> list:
        """For each leaf of this structure the subtree that stands there. ValueError for another structure."""
        subtrees: list = []
        self._collect(tree, subtrees)
        return subtrees

    def _collect(self, tree: Any, subtrees: list) -> None:
        if self.type is None:
            subtrees.append(tree)
            return
        kind = node_type(tree)
        both = self.type in _DICTS and kind in _DICTS
        if kind != self.type and not both:
            raise ValueError(f"Node type mismatch; expected {self.type!r}, but got {kind or type(tree)!r}.")
        children, context = NODES[kind].flatten(tree)
        children = list(children)
        if len(children) != len(self._children):
            raise ValueError(
                f"Node arity mismatch; expected {len(self._children)}, but got {len(children)}."
            )
        if both:
            keys = self.context[1] if self.type is defaultdict else self.context
            if set(keys) != set(tree):
                raise ValueError(
                    f"Node keys mismatch; missing key(s): {set(keys).difference(tree)}; "
                    f"extra key(s): {set(tree).difference(keys)}."
                )
            children = [tree[key] for key in keys]
        elif context != self.context and self.type is not deque:
            raise ValueError(
                f"Node context mismatch for node type {self.type!r}; expected {self.context!r}, but got "
                f"{context!r}."
            )
        for spec, child in zip(self._children, children):
            spec._collect(child, subtrees)

    def _key(self) -> tuple:
        return self.type, self.context, self._children

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TreeSpec) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash((self.type, len(self._children)))

    def __repr__(self) -> str:
        if self.type is None:
            return "*"
        inner = ",\n  ".join(repr(child).replace("\n", "\n  ") for child in self._children)
        return f"TreeSpec({self.type.__name__}, {self.context}, [{inner}])"


LEAF = TreeSpec(None, None, ())
_DICTS = (dict, OrderedDict, defaultdict)


def flatten(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> tuple[list, TreeSpec]:
    """The leaves of a tree, dicts in the order of their keys' insertion, and its structure.

    Where ``is_leaf`` says so, a container is a leaf.
    """
    leaves: list = []
    return leaves, _flatten(tree, leaves, is_leaf)


def _flatten(tree: Any, leaves: list, is_leaf: Callable[[Any], bool] | None) -> TreeSpec:
    kind = None if is_leaf is not None and is_leaf(tree) else node_type(tree)
    if kind is None:
        leaves.append(tree)
        return LEAF
    children, context = NODES[kind].flatten(tree)
    return TreeSpec(kind, context, [_flatten(child, leaves, is_leaf) for child in children])


def unflatten(leaves: Iterable, structure: TreeSpec) -> Any:
    """The tree of that structure with these leaves."""
    return _unflatten(iter(leaves), structure)


def _unflatten(leaves: Iterator, structure: TreeSpec) -> Any:
    if structure.type is None:
        return next(leaves)
    children = [_unflatten(leaves, child) for child in structure._children]
    return NODES[structure.type].unflatten(children, structure.context)


def map_leaves(fn: Callable[[Any], Any], tree: Any) -> Any:
    """The tree with ``fn`` applied to each leaf."""
    leaves, structure = flatten(tree)
    return unflatten([fn(leaf) for leaf in leaves], structure)


def broadcast_prefix(prefix: Any, tree: Any) -> list | None:
    """For each leaf of ``tree`` the leaf of ``prefix`` that stands for it; None if they do not match.

    A leaf of ``prefix`` stands for the whole subtree in its place.
    """
    if isinstance(prefix, (tuple, list, dict)) and not isinstance(tree, Tensor):
        if type(prefix) is not type(tree) or len(prefix) != len(tree):
            return None
        if isinstance(prefix, dict):
            if prefix.keys() != tree.keys():
                return None
            pairs = [(prefix[key], tree[key]) for key in tree]
        else:
            pairs = list(zip(prefix, tree, strict=True))
        found: list = []
        for one, subtree in pairs:
            part = broadcast_prefix(one, subtree)
            if part is None:
                return None
            found += part
        return found
    if isinstance(prefix, (tuple, list, dict)):
        return None
    return [prefix] * len(flatten(tree)[0])
