"""The text of a tensor, character for character what Paddle prints."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

_PREFIX = "Tensor("


@dataclasses.dataclass(slots=True)
class Options:
    """What :func:`set_printoptions` sets."""

    precision: int = 8
    threshold: int = 1000
    edgeitems: int = 3
    sci_mode: bool = False
    linewidth: int = 80


OPTIONS = Options()


def set_printoptions(
    precision: int | None = None, threshold: int | None = None, edgeitems: int | None = None,
    sci_mode: bool | None = None, linewidth: int | None = None,
) -> None:
    """Set how tensors print; what is None stays.

    ``precision`` counts digits after the point, ``threshold`` the elements beyond which only ``edgeitems`` at
    either end of a dimension are shown, ``linewidth`` the characters of a line.

    Raises:
        TypeError: for an option of another type.
    """
    for name, value, kind in (
        ("precision", precision, int), ("threshold", threshold, int), ("edgeitems", edgeitems, int),
        ("sci_mode", sci_mode, bool), ("linewidth", linewidth, int),
    ):
        if value is None:
            continue
        if not isinstance(value, kind):
            raise TypeError(
                f"The type of '{name}' in set_printoptions must be {kind}, but received {type(value)}."
            )
        setattr(OPTIONS, name, value)


def tensor_text(array: np.ndarray, dtype: str, place: Any, stop_gradient: bool) -> str:
    """The repr of a tensor with these values; ``dtype`` is its name."""
    if array.dtype.kind not in "biufc":
        array = array.astype(np.float32)  # bfloat16 and the like, which hold less
    head = f"shape={list(array.shape)}, dtype={dtype}, place={place!r}, stop_gradient={stop_gradient}"
    return f"{_PREFIX}{head},\n{' ' * len(_PREFIX)}{_contents(array)})"


def _contents(array: np.ndarray) -> str:
    edge = OPTIONS.edgeitems
    cut = [array.size > OPTIONS.threshold and length > 2 * edge for length in array.shape]
    if any(cut):
        shown = [
            np.r_[:edge, length - edge : length] if is_cut else np.arange(length)
            for length, is_cut in zip(array.shape, cut)
        ]
        array = array[np.ix_(*shown)]
    texts = [_text(item) for item in array.ravel()]
    width = max(map(len, texts), default=0)
    negative = array.dtype.kind in "if" and bool((array < 0).any())
    # A column for the sign where anything has one; a text as wide as the column keeps its place.
    padded = [
        text.ljust(width) if len(text) == width or not negative or item < 0 else (" " + text).ljust(width)
        for text, item in zip(texts, array.ravel())
    ]
    return _nest(iter(padded), array.shape, cut, len(_PREFIX), width)


def _text(item: Any) -> str:
    if item.dtype.kind != "f":
        return str(item)
    if OPTIONS.sci_mode:
        return f"{item:.{OPTIONS.precision}e}"
    if not math.isnan(item) and np.ceil(item) == item:
        return f"{item:.0f}."
    return f"{item:.{OPTIONS.precision}f}"


def _nest(texts: Iterator[str], shape: tuple, cut: list, indent: int, width: int) -> str:
    if not shape:
        return next(texts)
    inner = "\n" + " " * (indent + 1)
    if len(shape) == 1:
        items = list(itertools.islice(texts, shape[0]))
        if cut[0]:
            items.insert(OPTIONS.edgeitems, "...")
        each = max(1, (OPTIONS.linewidth - indent) // (width + 2))
        lines = (", ".join(items[i : i + each]) for i in range(0, len(items), each))
        return "[" + ("," + inner).join(lines) + "]"
    rows = [_nest(texts, shape[1:], cut[1:], indent + 1, width) for _ in range(shape[0])]
    if cut[0]:
        rows.insert(OPTIONS.edgeitems, "...")
    return "[" + ("," + "\n" * (len(shape) - 2) + inner).join(rows) + "]"
