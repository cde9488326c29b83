"""Which types, besides tensors and plain containers, a ``weights_only`` load may make."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jaxflow._core.modes import Restored

_allowed: list[Any] = []


def add_safe_globals(safe_globals: list[Callable | tuple[Callable, str]]) -> None:
    """Allow types and functions, by their own name or as ``(object, "the.name.in.the.file")``."""
    for item in safe_globals:
        if item not in _allowed:
            _allowed.append(item)


def get_safe_globals() -> list[Callable | tuple[Callable, str]]:
    """What was allowed."""
    return list(_allowed)


def clear_safe_globals() -> None:
    """Allow nothing more than is allowed from the start."""
    _allowed.clear()


class safe_globals(Restored):  # noqa: N801 - PyTorch's name
    """Allow types and functions inside a ``with`` block."""

    def __init__(self, safe_globals: list[Callable | tuple[Callable, str]]) -> None:
        super().__init__()
        self.safe_globals = safe_globals

    def noted(self) -> list:
        """What is allowed."""
        return list(_allowed)

    def change(self) -> None:
        """Allow these too."""
        add_safe_globals(self.safe_globals)

    def put_back(self, before: list) -> None:
        """Allow that, and nothing else."""
        _allowed[:] = before


def allowed_by_name() -> dict[str, Any]:
    """The allowed objects under the names that files use.

    Raises:
        ValueError: for a tuple that is no pair.
        TypeError: for a pair whose second item is no string.
    """
    named = {}
    for item in _allowed:
        if not isinstance(item, tuple):
            named[f"{item.__module__}.{item.__qualname__}"] = item
            continue
        if len(item) != 2:
            raise ValueError(
                "Expected tuple of length 2 (global, str of callable full path), but got tuple of "
                f"length: {len(item)}"
            )
        if type(item[1]) is not str:
            raise TypeError(
                "Expected second item in tuple to be str of callable full path, but got: "
                f"{type(item[1])}"
            )
        named[item[1]] = item[0]
    return named
