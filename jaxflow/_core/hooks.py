"""The handle that every ``register_..._hook`` returns, and a warning where hooks are lost."""

from __future__ import annotations

import itertools
import warnings
import weakref
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any

_ids = itertools.count()


class RemovableHandle:
    """Takes one hook out of its table; a context manager that does so on leaving.

    Args:
        hooks_dict: the table, an OrderedDict (plain dicts cannot be referred to weakly). The hook
            goes in under ``handle.id``.
        extra_dict: further tables, one or several, that may have an entry under the same id.
    """

    def __init__(
        self, hooks_dict: Any, *, extra_dict: Mapping | Sequence[Mapping] | None = None
    ) -> None:
        self.id = next(_ids)
        if extra_dict is None:
            extra_dict = ()
        elif isinstance(extra_dict, Mapping):
            extra_dict = (extra_dict,)
        # A handle somebody keeps must not keep the module or tensor of its hook alive.
        self._tables = tuple(weakref.ref(table) for table in (hooks_dict, *extra_dict))

    def remove(self) -> None:
        """Take the hook out; a second call does nothing."""
        for ref in self._tables:
            table = ref()
            if table is not None:
                table.pop(self.id, None)

    def __getstate__(self) -> tuple:
        return [ref() for ref in self._tables], self.id

    def __setstate__(self, state: tuple) -> None:
        tables, self.id = state
        self._tables = tuple(
            weakref.ref(OrderedDict() if table is None else table) for table in tables
        )

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()


def warn_if_has_hooks(tensor: Any) -> None:
    """Warn of each hook of a leaf that a checkpoint leaves out, but for those that are marked as such."""
    for hook in ((tensor._hooks or {}).get("tensor") or {}).values():
        if not hasattr(hook, "__torch_unserializable__"):
            warnings.warn(f"backward hook {hook!r} on tensor will not be serialized.  If this is expected, "
                          "you can decorate the function with @torch.utils.hooks.unserializable_hook "
                          "to suppress this warning", stacklevel=2)
