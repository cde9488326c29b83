"""Switches of a library that is not used: remembered, shown, and put back after a block."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any


def switches_of(module: ModuleType, within: dict[str, Any]) -> tuple[Callable[..., tuple], Callable]:
    """``set_flags`` and ``flags`` of a module whose switches are the keys of ``within``.

    The first sets those that are given and returns what all were before; the second sets all of them for a
    block, those that are not given to the values in ``within``.
    """
    names = tuple(within)

    def set_flags(*values: Any, **named: Any) -> tuple:
        given = {**dict(zip(names, values)), **named}
        unknown = [name for name in given if name not in names]
        if unknown or len(values) > len(names):
            raise TypeError(f"set_flags() got an unexpected argument {(unknown or values)[0]!r}")
        before = tuple(getattr(module, name) for name in names)
        for name, value in given.items():
            if value is not None:
                setattr(module, name, value)
        return before

    @contextlib.contextmanager
    def flags(*values: Any, **named: Any) -> Iterator[None]:
        before = set_flags(**{**within, **dict(zip(names, values)), **named})
        try:
            yield
        finally:
            for name, value in zip(names, before, strict=True):
                setattr(module, name, value)

    for function in (set_flags, flags):  # where users find it, which is what ``pickle`` writes
        function.__module__, function.__qualname__ = module.__name__, function.__name__
    return set_flags, flags
