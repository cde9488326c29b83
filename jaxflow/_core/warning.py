"""Warnings that name the user's line, and those that a process gives once."""

from __future__ import annotations

import os
import sys
import warnings
from typing import Any

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep

_always = False
_given: set[str] = set()


def user_level() -> int:
    """The ``stacklevel`` with which the caller's warning names the innermost line outside the package."""
    frame: Any = sys._getframe(1)
    level = 1
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    return level


def warn_once(message: str, category: type[Warning] = UserWarning, key: str = "") -> None:
    """Give this warning at the first call with it, or at every call under `set_warn_always`.

    Of warnings with the same ``key`` only the first is given.
    """
    key = key or message
    if _always or key not in _given:
        _given.add(key)
        warnings.warn(message, category, stacklevel=user_level())


def set_warn_always(b, /) -> None:
    """Say whether warnings given once a process are given each time; RuntimeError for no bool."""
    global _always
    if not isinstance(b, bool):
        raise RuntimeError(f"setWarnOnlyOnce expects a bool, but got {type(b).__name__}")
    _always = b


def is_warn_always_enabled() -> bool:
    """Say whether warnings given once a process are given each time."""
    return _always
