"""Gradients that are nested, for the engine: how they are added and kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jaxflow._core.tensor import Tensor
from jaxflow._masked import gradients as masked

from .parts import fresh, is_nested, like, parts_of, values_of


def summed(a: Tensor, b: Tensor) -> Tensor:
    """The sum of two gradients, both of the same rows."""
    if not (is_nested(a) or is_nested(b)):
        return masked.summed(a, b)
    if not (is_nested(a) and is_nested(b)) or a._aval.shape != b._aval.shape:
        raise RuntimeError("a gradient of a nested tensor is nested, with the same rows; another one is not")
    return like(parts_of(a), values_of(a) + values_of(b))


def taken(t: Tensor) -> Tensor:
    """A gradient as a leaf keeps it: without history."""
    return fresh(parts_of(t)) if is_nested(t) else masked.taken(t)


def through(node: Any, cotangents: list, pull_back: Callable) -> list | None:
    """What an operation's backward makes of cotangents of other layouts. RuntimeError for nested ones."""
    if any(is_nested(c) for c in cotangents):
        raise RuntimeError(f"{node.name()} gave an ordinary tensor, whose gradient cannot be nested")
    return masked.through(node, cotangents, pull_back)
