"""``_flatten``: the tensors in a nested container, and what it takes to put them back."""

from __future__ import annotations

from typing import Any

from jaxflow._core.tensor import Tensor


def _flatten(*args: Any) -> tuple[list[Tensor], Any]:
    """The tensors in nested tuples, lists and dicts, and a description for `_unflatten`.

    Raises:
        RuntimeError: for anything else in them.
    """
    tensors: list[Tensor] = []

    def describe(x: Any) -> Any:
        if isinstance(x, Tensor):
            tensors.append(x)
            return None
        if isinstance(x, dict):
            return dict, [(key, describe(x[key])) for key in x]
        if isinstance(x, (tuple, list)):
            return tuple if isinstance(x, tuple) else list, [describe(item) for item in x]
        raise RuntimeError(f"_flatten() takes tensors in tuples, lists and dicts, not {type(x).__name__}")

    return tensors, describe(args[0] if len(args) == 1 and isinstance(args[0], tuple) else args)


def _unflatten(vars: list[Tensor], desc: Any) -> Any:
    """The container that `_flatten` described, with these tensors."""
    given = iter(vars)

    def make(part: Any) -> Any:
        if part is None:
            return next(given)
        kind, items = part
        if kind is dict:
            return {key: make(item) for key, item in items}
        return kind(make(item) for item in items)

    return make(desc)
