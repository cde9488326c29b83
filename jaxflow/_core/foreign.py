"""Objects that are no tensors, but of a class that may override what functions do with them.

What looks at arguments raises `Foreign` for one. The public function that was called lets functions look for
overrides from then on, by `look_for_overrides`, and is called again: see NOTE [Overrides are installed late].
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Foreign(TypeError):
    """An operand is no tensor, but of a class that may override operations."""


def may_override(x: Any) -> bool:
    """Whether the class of ``x`` has a ``__torch_function__``."""
    return hasattr(x.__class__, "__torch_function__")


#: What lets functions look for overrides, and whether they did not before; ``_publish.overrides`` sets it.
INSTALL: list[Callable[[], bool]] = []


def look_for_overrides() -> bool:
    """Let functions look for overrides; False where they do already: the object had its chance."""
    return INSTALL[0]()
