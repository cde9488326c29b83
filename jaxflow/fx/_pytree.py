"""Containers taken apart by a structure that is known before: what generated code does with its arguments."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable
from typing import Any

from jaxflow._core.size import Size
from jaxflow._core.tree import TreeSpec

FlattenFuncSpec = Callable[[Any, TreeSpec], list]
FlattenFuncExactMatchSpec = Callable[[Any, TreeSpec], bool]


def _values(tree: Any, spec: TreeSpec) -> list:
    return [tree[key] for key in spec.context]


def _default_values(tree: Any, spec: TreeSpec) -> list:
    return [tree[key] for key in spec.context[1]]


def _items(tree: Any, spec: TreeSpec) -> list:
    return [tree[i] for i in range(spec.num_children)]


def _same_length(tree: Any, spec: TreeSpec) -> bool:
    return len(tree) == spec.num_children


#: By type of container: what takes one apart by a structure.
SUPPORTED_NODES: dict[Any, FlattenFuncSpec] = {
    dict: _values, OrderedDict: _values, defaultdict: _default_values, list: _items, tuple: _items,
    Size: _items, deque: _items, namedtuple: _items}
#: By type of container: whether one has exactly the children of a structure.
SUPPORTED_NODES_EXACT_MATCH: dict[Any, FlattenFuncExactMatchSpec | None] = dict.fromkeys(
    SUPPORTED_NODES, _same_length)


def register_pytree_flatten_spec(
        cls: type, flatten_fn_spec: FlattenFuncSpec,
        flatten_fn_exact_match_spec: FlattenFuncExactMatchSpec | None = None) -> None:
    """Say how a type of container is taken apart by a structure that is known.

    Args:
        cls: the type, which ``torch.utils._pytree`` has as a container, too.
        flatten_fn_spec: gives the children of an object, for that structure.
        flatten_fn_exact_match_spec: whether an object has these children and no others.
    """
    SUPPORTED_NODES[cls] = flatten_fn_spec
    SUPPORTED_NODES_EXACT_MATCH[cls] = flatten_fn_exact_match_spec


def tree_flatten_spec(pytree: Any, spec: TreeSpec) -> list[Any]:
    """The leaves of ``pytree`` by the structure ``spec``; where that has a leaf, a container is one, too.

    Args:
        pytree: nested containers.
        spec: their structure, of ``torch.utils._pytree.tree_flatten``.

    Raises:
        RuntimeError: for a container that nothing was registered for.

    Example:
        >>> from jaxflow.fx._pytree import tree_flatten_spec
        >>> from jaxflow.utils import _pytree
        >>> _, spec = _pytree.tree_flatten([1, {"a": 2}])
        >>> tree_flatten_spec([3, {"a": 4, "b": 5}], spec)
        [3, 4]
    """
    if spec.is_leaf():
        return [pytree]
    if spec.type not in SUPPORTED_NODES:
        raise RuntimeError(f"{type(pytree)} has no function that takes it apart by a structure. Please "
                           "register one with torch.fx._pytree.register_pytree_flatten_spec.")
    children = SUPPORTED_NODES[spec.type](pytree, spec)
    return [leaf for child, inner in zip(children, spec.children(), strict=True)
            for leaf in tree_flatten_spec(child, inner)]
