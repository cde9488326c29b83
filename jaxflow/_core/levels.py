"""The forward-mode levels under way, in any thread; see NOTE [Duals] in ``autograd/forward_mode.py``.

A list of its own, which dispatch can test for truth in a few nanoseconds: nearly always it is empty.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

LEVELS: list = []


class ForwardMode:
    """What operations do while a level is open.

    Forward mode is written with operations, so its module imports theirs; the functions they call there
    are attributes of the one instance `FORWARD`, which that module sets.
    """

    __slots__ = ("apply", "apply_plan", "carry", "check_write", "is_dual", "set_tangent",
                 "tangents_of", "viewed", "wrote")

    apply: Callable[..., Any]
    apply_plan: Callable[..., tuple]
    carry: Callable[..., None]
    check_write: Callable[..., None]
    is_dual: Callable[..., bool]
    set_tangent: Callable[..., None]
    tangents_of: Callable[..., dict]
    viewed: Callable[..., None]
    wrote: Callable[..., None]


FORWARD = ForwardMode()
