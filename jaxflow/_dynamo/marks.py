"""Advice about tensors for a compiler that specialises on shapes and addresses, which holds here anyway."""

from __future__ import annotations

from typing import Any


def mark_static(t: Any, index: int | list[int] | tuple[int, ...] | None = None) -> None:
    """Nothing: compiled programs are for exact shapes."""


def mark_static_address(t: Any, guard: bool = False) -> None:
    """Nothing: a compiled program reads and writes a tensor's memory wherever that is."""
