"""Profilers that watch a thread before a capture does: put aside, and watching again after it."""

from __future__ import annotations

import sys
from _lsprof import Profiler
from typing import Any


def can_resume(profiler: Any) -> bool:
    """Whether `resume` can let this one, which ``sys.getprofile()`` gave, watch again."""
    return profiler is None or callable(profiler) or isinstance(profiler, Profiler)


def resume(profiler: Any) -> None:
    """Let a profiler that was put aside watch this thread again."""
    if isinstance(profiler, Profiler):  # cProfile before Python 3.12: ``sys.setprofile`` would call it
        profiler.enable()  # in place of whatever watches
    else:
        sys.setprofile(profiler)
