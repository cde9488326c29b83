"""Lists and dicts that refuse to be changed: the arguments of nodes, whose users are counted."""

from __future__ import annotations

from typing import Any, NoReturn

from jaxflow._core.tree import NODES as _CONTAINERS
from jaxflow._core.tree import Node as _Container

__all__ = ["immutable_dict", "immutable_list"]

_ADVICE = ("object does not support mutation. A node's args and kwargs are replaced, not changed: copy them, "
           "change the copy, and assign it to node.args or node.kwargs.")


def _refuse(self: Any, *args: Any, **kwargs: Any) -> NoReturn:
    raise TypeError(f"{type(self).__name__!r} {_ADVICE}")


class immutable_list(list):  # noqa: N801 - PyTorch's name
    """A list that cannot be changed, which is what lists among a node's arguments become.

    Args:
        iterable: the items.

    Raises:
        TypeError: for whatever would change it.

    Example:
        >>> from jaxflow.fx.immutable_collections import immutable_list
        >>> immutable_list([1, 2])
        [1, 2]
        >>> hash(immutable_list([1])) == hash((1,))
        True
    """

    append = clear = extend = insert = pop = remove = reverse = sort = _refuse
    __delitem__ = __iadd__ = __imul__ = __setitem__ = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self))

    def __reduce__(self) -> tuple:
        return immutable_list, (tuple(self),)


class immutable_dict(dict):  # noqa: N801 - PyTorch's name
    """A dict that cannot be changed, which is what dicts among a node's arguments become.

    Args:
        args, kwargs: those of ``dict``.

    Raises:
        TypeError: for whatever would change it.

    Example:
        >>> from jaxflow.fx.immutable_collections import immutable_dict
        >>> immutable_dict(a=1)
        {'a': 1}
    """

    clear = pop = popitem = setdefault = update = _refuse
    __delitem__ = __ior__ = __setitem__ = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple:
        return immutable_dict, (tuple(self.items()),)


_CONTAINERS.setdefault(
    immutable_list, _Container(lambda t: (t, None), lambda children, context: immutable_list(children)))
_CONTAINERS.setdefault(
    immutable_dict, _Container(lambda t: (t.values(), list(t)),
                               lambda children, keys: immutable_dict(zip(keys, children, strict=True))))
