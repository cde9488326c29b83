"""What is noted at the nodes that are being made: entries of ``meta`` and lines of the program."""

from __future__ import annotations

import contextlib
import functools
import threading
import traceback
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

__all__ = ["annotate", "annotate_fn", "format_stack", "get_current_meta", "has_preserved_node_meta",
           "preserve_node_meta", "set_current_meta", "set_stack_trace"]

_F = TypeVar("_F", bound=Callable)


class _Noted(threading.local):
    """What nodes of this thread get, and whether they get it."""

    preserved = False
    meta: dict[str, Any] = {}  # noqa: RUF012 - replaced, never changed


_noted = _Noted()


@contextlib.contextmanager
def _with(**fields: Any) -> Iterator[None]:
    before = {name: getattr(_noted, name) for name in fields}
    try:
        _noted.__dict__.update(fields)
        yield
    finally:
        _noted.__dict__.update(before)


def preserve_node_meta(enable: bool = True) -> contextlib.AbstractContextManager[None]:
    """A block in which nodes that are made get what `set_current_meta` and `annotate` give.

    Args:
        enable: whether they do.

    Example:
        >>> with torch.fx.traceback.preserve_node_meta():
        ...     torch.fx.traceback.has_preserved_node_meta()
        True
    """
    return _with(preserved=enable, meta=dict(_noted.meta))


def has_preserved_node_meta() -> bool:
    """Whether the block of `preserve_node_meta` is open in this thread."""
    return _noted.preserved


def get_current_meta() -> dict[str, Any]:
    """What nodes that are made now get as their ``meta``."""
    return _noted.meta


def set_current_meta(node: Any, pass_name: str = "") -> contextlib.AbstractContextManager[None]:
    """A block in which nodes that are made get the ``meta`` of ``node``; nothing unless it is preserved.

    Args:
        node: the node that others are made from.
        pass_name: what makes them, noted among ``meta["from_node"]``.
    """
    if not (_noted.preserved and node.meta):
        return contextlib.nullcontext()
    meta = dict(node.meta)
    meta["from_node"] = [*meta.get("from_node", ()), (node.name, node.target, pass_name)]
    return _with(meta=meta)


def set_stack_trace(stack: list[str]) -> None:
    """Give nodes that are made from now on these lines of the program, if ``meta`` is preserved."""
    if _noted.preserved and stack:
        _noted.meta = {**_noted.meta, "stack_trace": "".join(stack)}


def format_stack() -> list[str]:
    """The lines of the program: those that were set, or those that run now."""
    if _noted.preserved:
        return [_noted.meta.get("stack_trace", "")]
    return traceback.format_list(traceback.extract_stack()[:-1])


def annotate(annotation_dict: dict[str, Any]) -> contextlib.AbstractContextManager[None]:
    """A block in which nodes that are made get these entries in ``meta["custom"]``, if ``meta`` is preserved.

    Args:
        annotation_dict: the entries.
    """
    meta = dict(_noted.meta)
    meta["custom"] = {**meta.get("custom", {}), **annotation_dict}
    return _with(meta=meta)


def annotate_fn(annotation_dict: dict[str, Any]) -> Callable[[_F], _F]:
    """A decorator that runs a function in the block of `annotate`.

    Args:
        annotation_dict: the entries.
    """

    def decorate(fn: Any) -> Any:
        @functools.wraps(fn)
        def call(*args: Any, **kwargs: Any) -> Any:
            with annotate(annotation_dict):
                return fn(*args, **kwargs)

        return call

    return decorate
