"""Warnings that a process gives once, unless `set_warn_always` asks for every one."""

from __future__ import annotations

import warnings

_always = False
_given: set[str] = set()


def warn_once(message: str, category: type[Warning] = UserWarning, stacklevel: int = 2,
              key: str = "") -> None:
    """Give this warning the first time it is asked for, or each time under `set_warn_always`.

    Of warnings with the same ``key`` only the first is given.
    """
    key = key or message
    if _always or key not in _given:
        _given.add(key)
        warnings.warn(message, category, stacklevel=stacklevel + 1)


def set_warn_always(b, /) -> None:
    """Say whether warnings given once a process are given each time; RuntimeError for no bool."""
    global _always
    if not isinstance(b, bool):
        raise RuntimeError(f"setWarnOnlyOnce expects a bool, but got {type(b).__name__}")
    _always = b


def is_warn_always_enabled() -> bool:
    """Say whether warnings given once a process are given each time."""
    return _always
