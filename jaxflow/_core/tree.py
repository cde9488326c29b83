"""Nested tuples, lists and dicts of tensors, flattened as PyTorch does: None is a leaf like any other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax

from .tensor import Tensor


def _is_leaf(x: Any) -> bool:
    return x is None or isinstance(x, Tensor)


def flatten(tree: Any) -> tuple[list, Any]:
    """The leaves of a tree, and its structure."""
    return jax.tree_util.tree_flatten(tree, is_leaf=_is_leaf)


def unflatten(leaves: list, structure: Any) -> Any:
    """The tree of that structure with these leaves."""
    return jax.tree_util.tree_unflatten(structure, leaves)


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
            pairs = [(prefix[key], tree[key]) for key in sorted(tree)]
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
