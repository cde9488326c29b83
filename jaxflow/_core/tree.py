"""Nested tuples, lists and dicts of tensors, flattened as PyTorch does: None is a leaf like any other."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from .tensor import Tensor


class Structure:
    """How a tree is built: the container's type, what it says of its children, and their structures.

    A leaf has the type None. Equal structures fit each other; ``repr`` spells them as PyTorch does.
    """

    __slots__ = ("children", "context", "type")

    def __init__(self, type_: type | None, context: Any, children: tuple[Structure, ...]) -> None:
        self.type, self.context, self.children = type_, context, children

    def _key(self) -> tuple:
        return self.type, self.context, self.children

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Structure) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash((self.type, len(self.children)))

    def __repr__(self) -> str:
        if self.type is None:
            return "*"
        inner = ",\n  ".join(repr(child).replace("\n", "\n  ") for child in self.children)
        return f"TreeSpec({self.type.__name__}, {self.context}, [{inner}])"


_LEAF = Structure(None, None, ())
_DICTS = (dict, OrderedDict, defaultdict)


def flatten(tree: Any) -> tuple[list, Structure]:
    """The leaves of a tree, dicts in the order of their keys' insertion, and its structure."""
    leaves: list = []
    return leaves, _flatten(tree, leaves)


def _flatten(tree: Any, leaves: list) -> Structure:
    kind = type(tree)
    if kind is tuple or kind is list:
        context, children = None, tree
    elif kind in _DICTS:
        context, children = list(tree), tree.values()
        if kind is defaultdict:
            context = [tree.default_factory, context]
    elif isinstance(tree, tuple) and hasattr(tree, "_fields"):
        context, children = kind, tree
    else:
        leaves.append(tree)
        return _LEAF
    return Structure(kind, context, tuple(_flatten(child, leaves) for child in children))


def unflatten(leaves: Iterable, structure: Structure) -> Any:
    """The tree of that structure with these leaves."""
    return _unflatten(iter(leaves), structure)


def _unflatten(leaves: Iterator, structure: Structure) -> Any:
    kind, context = structure.type, structure.context
    if kind is None:
        return next(leaves)
    children = [_unflatten(leaves, child) for child in structure.children]
    if kind is tuple or kind is list:
        return kind(children)
    if kind is defaultdict:
        return defaultdict(context[0], zip(context[1], children, strict=True))
    if kind in _DICTS:
        return kind(zip(context, children, strict=True))
    return kind(*children) if hasattr(kind, "_make") else kind(children)


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
