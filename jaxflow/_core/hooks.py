"""The handle that every ``register_..._hook`` returns."""

from __future__ import annotations

import itertools
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
