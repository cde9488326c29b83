"""The mark of how stable a name is, which changes nothing of what it marks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

_T = TypeVar("_T")


def compatibility(is_backward_compatible: bool) -> Callable[[_T], _T]:
    """A decorator that notes whether a function or class is promised to stay as it is.

    Args:
        is_backward_compatible: the promise, kept as ``__compatible__`` of what is decorated.

    Returns:
        The decorator, which returns what it is given.

    Example:
        >>> from jaxflow.fx._compatibility import compatibility
        >>> @compatibility(is_backward_compatible=True)
        ... def f():
        ...     return 1
        >>> f()
        1
    """

    def mark(fn: Any) -> Any:
        fn.__compatible__ = is_backward_compatible
        return fn

    return mark
