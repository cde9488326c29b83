"""Arguments of nodes: nested tuples, lists, dicts and slices, mapped over."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .immutable_collections import immutable_dict, immutable_list


def map_aggregate(a: Any, fn: Callable[[Any], Any]) -> Any:
    """``a`` with each leaf in it replaced by what ``fn`` makes of it.

    Args:
        a: nested tuples, named tuples, lists, dicts and slices; anything else is a leaf.
        fn: called with each leaf.

    Returns:
        The same containers; lists and dicts as ones that cannot be changed.

    Example:
        >>> torch.fx.node.map_aggregate((1, [2, {"a": 3}]), lambda x: -x)
        (-1, [-2, {'a': -3}])
    """
    if isinstance(a, tuple):
        items = [map_aggregate(x, fn) for x in a]
        return type(a)(*items) if hasattr(a, "_fields") else tuple(items)
    if isinstance(a, list):
        return immutable_list([map_aggregate(x, fn) for x in a])
    if isinstance(a, dict):
        return immutable_dict({k: map_aggregate(v, fn) for k, v in a.items()})
    if isinstance(a, slice):
        return slice(map_aggregate(a.start, fn), map_aggregate(a.stop, fn), map_aggregate(a.step, fn))
    return fn(a)
