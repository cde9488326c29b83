"""Implementations of attention that other packages offer by name, and switch on themselves."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, NamedTuple

_logger = logging.getLogger(__name__)

#: The functions that switch implementations on, by name.
_offered: dict[str, Callable[..., Any]] = {}


class _Active(NamedTuple):
    name: str
    handle: Any


_active: _Active | None = None


def register_flash_attention_impl(impl: str, *, register_fn: Callable[..., Any]) -> None:
    """Offer an implementation of attention.

    Args:
        impl: its name, which replaces what had the name before.
        register_fn: called without arguments by `activate_flash_attention_impl`; it puts functions of its own
            in the place of others, and may return an object whose ``remove()`` undoes that.

    Example:
        >>> from jaxflow.nn import attention
        >>> attention.register_flash_attention_impl("mine", register_fn=lambda: None)
        >>> attention.list_flash_attention_impls()
        ['mine']
    """
    _offered[impl] = register_fn


def activate_flash_attention_impl(impl: str) -> None:
    """Switch on an implementation that was offered, in the place of one that is on.

    Args:
        impl: its name.

    Raises:
        ValueError: for a name that was not offered.
    """
    global _active
    _restore()
    register_fn = _offered.get(impl)
    if register_fn is None:
        raise ValueError(f"Unknown flash attention impl '{impl}'. Available implementations: "
                         f"{list_flash_attention_impls()}")
    handle = register_fn()
    if handle is not None:
        _active = _Active(impl, handle)


def list_flash_attention_impls() -> list[str]:
    """The names of the implementations that were offered, sorted; PyTorch's own, for CUDA, are not there."""
    return sorted(_offered)


def current_flash_attention_impl() -> str | None:
    """The name of the implementation that is switched on; None for what is there without one."""
    return None if _active is None else _active.name


def restore_flash_attention_impl(_raise_warn: bool = True) -> None:
    """Switch off the implementation that is on; where there is none, the logger says so.

    Args:
        _raise_warn: False to say nothing.
    """
    if not _restore() and _raise_warn:
        _logger.warning("Trying to restore the default attention when no other one was activated")


def _restore() -> bool:
    """Switch off the implementation that is on, and say whether there was one."""
    global _active
    was = _active
    if was is not None:
        was.handle.remove()
    _active = None
    return was is not None
