"""Where the pieces of a split dimension begin and end; PyTorch's errors for pieces that do not fit."""

from __future__ import annotations

from collections.abc import Sequence

from ._support import wrap_dim

Bounds = list[tuple[int, int]]


def _need_dim(name: str, shape: tuple[int, ...]) -> None:
    if not shape:
        raise RuntimeError(f"{name} expects at least a 1-dimensional tensor")


def by_size(shape: tuple[int, ...], size: int, dim: int) -> tuple[int, Bounds]:
    """The axis, and the bounds of pieces of ``size`` (the last one may be smaller) along it."""
    _need_dim("split", shape)
    if size < 0:
        raise RuntimeError(f"split expects split_size be non-negative, but got split_size={size}")
    axis = wrap_dim(dim, len(shape))
    extent = shape[axis]
    if size == 0 and extent:
        raise RuntimeError(
            f"split_size can only be 0 if dimension size is 0, but got dimension size of {extent}"
        )
    count = max(-(-extent // size), 1) if size else 1
    return axis, [(i * size, min((i + 1) * size, extent)) for i in range(count)]


def by_sizes(shape: tuple[int, ...], sizes: Sequence[int], dim: int) -> tuple[int, Bounds]:
    """The axis, and the bounds of pieces of the given sizes, which must add up to its extent."""
    _need_dim("split", shape)
    axis = wrap_dim(dim, len(shape))
    if any(s < 0 for s in sizes):
        raise RuntimeError(
            "split_with_sizes expects split_sizes have only non-negative entries, but got "
            f"split_sizes={list(sizes)}"
        )
    if sum(sizes) != shape[axis]:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {shape[axis]} (input tensor's size at "
            f"dimension {axis}), but got split_sizes={list(sizes)}"
        )
    bounds, at = [], 0
    for s in sizes:
        bounds.append((at, at + s))
        at += s
    return axis, bounds


def chunk_size(shape: tuple[int, ...], chunks: int, dim: int) -> int | list[int]:
    """The size of each of at most ``chunks`` equal pieces; all sizes, where there is nothing to share."""
    _need_dim("chunk", shape)
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    return -(-shape[wrap_dim(dim, len(shape))] // chunks) or [0] * chunks


def narrowed(shape: tuple[int, ...], dim: int, start: int, length: int) -> tuple[int, int, int]:
    """The axis, and the bounds of ``length`` elements from ``start``, which may count from the end."""
    if not shape:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    axis = wrap_dim(dim, len(shape))
    extent = shape[axis]
    if not -extent <= start <= extent:
        raise IndexError(
            f"start out of range (expected to be in range of [{-extent}, {extent}], but got {start})"
        )
    if start < 0:
        start += extent
    if length < 0 or start + length > extent:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({extent}).")
    return axis, start, start + length
