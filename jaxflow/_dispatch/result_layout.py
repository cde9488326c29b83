"""How results lie in memory whose operands are not all contiguous: by what the op declares as ``layout``."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from jaxflow._core.geometry import (
    Ints,
    Layout,
    broadcast_shapes,
    channels_last_strides,
    contiguous_strides,
    preserve_strides,
    strides_like,
    suggests_channels_last,
)


def _preserved(layouts: Sequence[Layout], shape: Ints) -> Ints | None:
    """A pointwise result; one that was reduced besides is contiguous."""
    return preserve_strides(*layouts) if broadcast_shapes(*(size for size, _ in layouts)) == shape else None


def _like(layouts: Sequence[Layout], shape: Ints) -> Ints | None:
    """In the order of the first operand."""
    return strides_like(shape, layouts[0]) if len(layouts[0][0]) == len(shape) else None


def _channels(layouts: Sequence[Layout], shape: Ints) -> Ints | None:
    """Channels last where the first operand is."""
    if len(layouts[0][0]) != len(shape) or not suggests_channels_last(*layouts[0]):
        return None
    return channels_last_strides(shape)


def _joined(layouts: Sequence[Layout], shape: Ints) -> Ints | None:
    """Channels last where all operands are."""
    return _channels(layouts, shape) if all(suggests_channels_last(*one) for one in layouts) else None


#: What an op may declare; each function gives None for a result that is contiguous.
LAYOUTS: dict[str, Callable[[Sequence[Layout], Ints], Ints | None]] = {
    "preserve": _preserved, "like": _like, "channels": _channels, "joined": _joined,
}


def result_strides(layout: str, layouts: Sequence[Layout], shape: Ints) -> Ints | None:
    """Strides of a result of this ``shape``, None if it is contiguous; ``layouts`` are the operands'."""
    return unless_contiguous(LAYOUTS[layout](layouts, shape), shape)


def unless_contiguous(stride: Ints | None, shape: Ints) -> Ints | None:
    """The strides of a result of this ``shape``, None where it is contiguous."""
    return None if stride is None or stride == contiguous_strides(shape) else stride
