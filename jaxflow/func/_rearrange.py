"""``rearrange``: reorder, split and join dimensions as a pattern of names says."""

from __future__ import annotations

import re
from typing import Any

from jaxflow import _functions as functions
from jaxflow._core.tensor import Tensor

_DOTS = "..."
_TOKEN = re.compile(r"\.\.\.|[()]|\w+|\S")

# A side of a pattern: for each dimension the names of what it is made of, or the ellipsis.
Side = list[list[str] | str]


def rearrange(tensor: Any, pattern: str, **axes_lengths: int) -> Tensor:
    """A tensor with its dimensions reordered, split and joined: ``rearrange(x, "b (h n) -> n b h", n=2)``.

    Args:
        tensor: one, or a list of tensors to stack first.
        pattern: names of the dimensions before and after ``->``; parentheses for one made of several, ``1``
            for one of extent 1, and ``...`` for any others.
        axes_lengths: extents of names that the tensor does not determine.

    Raises:
        ValueError: for patterns that are malformed, whose sides differ in names, or that do not fit.
        TypeError: for extents that are no ints.
    """
    if not isinstance(tensor, Tensor):
        tensor = functions.stack(tensor)
    before, after = _sides(pattern)
    _check(before, after, axes_lengths)
    before = _expanded(before, tensor.ndim)
    if not before:
        return tensor  # however many ones the right side has, as in PyTorch
    lengths = dict(axes_lengths)
    split: list[int] = []
    names: list[str] = []
    for group, extent in zip(before, tensor.shape, strict=True):
        for name, length in zip(group, _extents(group, extent, lengths), strict=True):
            lengths[name] = length
            split.append(length)
            names.append(name)
    groups = [[name] for name in names if name.startswith(_DOTS)]
    order: list[str] = []
    shape: list[int] = []
    for group in after:
        for part in groups if group == _DOTS else [_joined(group, groups)]:
            order += part
            size = 1
            for name in part:
                size *= lengths[name]
            shape.append(size)
    return tensor.reshape(split).permute([names.index(name) for name in order]).reshape(shape)


def _joined(group: list[str], ellipsis: list[list[str]]) -> list[str]:
    """The names of a dimension, with those the ellipsis stands for in its place."""
    return [n for name in group for n in ([d for [d] in ellipsis] if name == _DOTS else [name])]


def _sides(pattern: str) -> tuple[Side, Side]:
    sides = pattern.split("->")
    if len(sides) != 2:
        raise ValueError("Pattern must contain a single '->' separator")
    before, after = map(_parsed, sides)
    if _DOTS not in _names(before) and _DOTS in _names(after):
        raise ValueError(f"Ellipsis found in right side, but not left side of a pattern {pattern}")
    if any(_DOTS in group for group in before if group != _DOTS):
        raise ValueError(f"Ellipsis is parenthesis in the left side is not allowed: {pattern}")
    return before, after


def _parsed(text: str) -> Side:
    if "." in text:
        if _DOTS not in text:
            raise ValueError("Expression may contain dots only inside ellipsis (...)")
        if text.count(_DOTS) != 1 or text.count(".") != 3:
            raise ValueError(
                "Expression may contain dots only inside ellipsis (...); only one ellipsis for tensor "
            )
    found: Side = []
    group: list[str] | None = None
    seen: set[str] = set()
    for token in _TOKEN.findall(text):
        if token == "(":
            if group is not None:
                raise ValueError("Axis composition is one-level (brackets inside brackets not allowed)")
            group = []
        elif token == ")":
            if group is None:
                raise ValueError("Brackets are not balanced")
            found.append(group)
            group = None
        elif token == "1":
            if group is None:
                found.append([])
        else:
            _check_name(token, seen)
            seen.add(token)
            if group is not None:
                group.append(token)
            else:
                found.append(_DOTS if token == _DOTS else [token])
    if group is not None:
        raise ValueError(f"Imbalanced parentheses in expression: '{text.replace(_DOTS, chr(8230))}'")
    return found


def _check_name(token: str, seen: set[str]) -> None:
    if token in seen:
        raise ValueError(
            f"Indexing expression contains duplicate dimension '{token.replace(_DOTS, chr(8230))}'"
        )
    if token == _DOTS:
        return
    if not re.fullmatch(r"\w+", token):
        raise ValueError(f"Unknown character '{token}'")
    if token.isdecimal():
        raise ValueError(
            "rearrange only supports unnamed axes of size 1" if int(token) > 0
            else f"Anonymous axis should have positive length, not {int(token)}"
        )
    reason = None
    if not token.isidentifier():
        reason = "not a valid python identifier"
    elif token[0] == "_" or token[-1] == "_":
        reason = "axis name should should not start or end with underscore"
    if reason:
        raise ValueError(f"Invalid axis identifier: {token}\n{reason}")


def _names(side: Side) -> set[str]:
    return {name for group in side for name in ([group] if isinstance(group, str) else group)}


def _check(before: Side, after: Side, lengths: dict[str, Any]) -> None:
    for length in lengths.values():
        if type(length) is not int:
            raise TypeError(f"rearrange axis lengths must be integers, got: {type(length)}")
    different = _names(before) ^ _names(after)
    if different:
        raise ValueError(
            f"Identifiers only on one side of rearrange expression (should be on both): {different}"
        )
    unknown = lengths.keys() - _names(before)
    if unknown:
        raise ValueError(f"Identifiers not found in rearrange expression: {unknown}")


def _expanded(side: Side, ndim: int) -> list[list[str]]:
    """The left side with a name for each dimension the ellipsis stands for."""
    if _DOTS not in side:
        if len(side) != ndim:
            raise ValueError(
                f"Number of dimensions in pattern ({len(side)}) must be equal to the number of dimensions in "
                f"the tensor ({ndim})"
            )
        return side
    at, rest = side.index(_DOTS), ndim - (len(side) - 1)
    if rest < 0:
        raise ValueError(
            f"Number of dimensions in pattern ({len(side) - 1}) must be less than or equal to the number of "
            f"dimensions in the tensor ({ndim})"
        )
    return [*side[:at], *([f"{_DOTS}{i}"] for i in range(rest)), *side[at + 1:]]


def _extents(group: list[str], extent: int, lengths: dict[str, int]) -> list[int]:
    """The extents of the names that make up one dimension. ValueError if they cannot."""
    known = 1
    for name in group:
        known *= lengths.get(name, 1)
    open_ = [name for name in group if name not in lengths]
    if len(open_) > 1:
        raise ValueError(f"cannot tell the lengths of {open_} apart: name all but one of them")
    if (extent % known if open_ and known else extent != known):
        raise ValueError(f"a dimension of extent {extent} cannot be made of {group} with {lengths}")
    return [lengths.get(name, extent // known if known else 0) for name in group]
