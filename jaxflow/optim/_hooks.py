"""Tables of hooks, called in order."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

from jaxflow.utils.hooks import RemovableHandle


class HookTable(OrderedDict):
    """Hooks by the id of their handle."""

    def add(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """Register ``hook`` last, or first with ``prepend``."""
        handle = RemovableHandle(self)
        self[handle.id] = hook
        if prepend:
            self.move_to_end(handle.id, last=False)
        return handle
