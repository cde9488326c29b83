"""Twins: copies of modules that have the same tensors, but modes, attributes and submodules of their own."""

from __future__ import annotations

import functools
import types
from typing import Any

from jaxflow.nn import Module

_TABLES = ("_parameters", "_buffers", "_modules", "_non_persistent_buffers_set", "_forward_hooks",
           "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")


def twin_of(module: Module, others: dict[int, Any] | None = None) -> Module:
    """A copy of a module whose structure is its own, and whose tensors are the same ones.

    Submodules are copied, also where they lie in lists, tuples and dicts among the attributes, and bound
    methods of such modules are bound to the copies. All else that attributes hold is shared.

    Args:
        module: any module.
        others: by ``id``, what to put in the place of tensors (or of anything else).
    """
    return _Twins(module, others or {}).of(module)


class _Twins:
    """The copies made so far, by the id of what they are copies of."""

    def __init__(self, root: Module, others: dict[int, Any]) -> None:
        self.made: dict[int, Any] = dict(others)
        self.kept = list(root.modules())  # ids are those of living modules
        for module in self.kept:
            self.made[id(module)] = type(module).__new__(type(module))
        for module in self.kept:
            self.made[id(module)].__dict__.update(
                (name, self._table(x) if name in _TABLES else self.of(x))
                for name, x in module.__dict__.items()
            )

    def _table(self, table: Any) -> Any:
        if not isinstance(table, dict):
            return table.copy()
        copied = table.copy()
        for key, x in table.items():
            copied[key] = self.of(x)
        return copied

    def of(self, x: Any) -> Any:
        """``x`` with copies in the place of what was copied; ``x`` itself where nothing was."""
        found = self.made.get(id(x))
        if found is not None:
            return found
        kind = x.__class__
        if kind is types.MethodType:
            owner = self.made.get(id(x.__self__))
            return x if owner is None else types.MethodType(x.__func__, owner)
        if kind is functools.partial:
            return functools.partial(self.of(x.func), *map(self.of, x.args), **self.of(dict(x.keywords)))
        if kind is dict:
            copied = {key: self.of(item) for key, item in x.items()}
            return copied if any(copied[key] is not x[key] for key in x) else x
        if kind in (list, tuple):
            items = [self.of(item) for item in x]
            return kind(items) if any(a is not b for a, b in zip(items, x, strict=True)) else x
        return x
