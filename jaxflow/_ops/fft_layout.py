"""How spectra lie in memory: a kernel transforms the last dimensions of a permuted copy, and what it wrote is
turned back.

There the other dimensions come first, the one with the widest stride outermost; what is transformed follows.
A transform over many dimensions is done in turns, each of what the one before has left.
"""

from __future__ import annotations

from collections.abc import Sequence

from jaxflow._core.dtype import COMPLEX, FLOATING
from jaxflow._core.geometry import (
    Ints,
    Layout,
    channels_last_strides,
    contiguous_strides,
    empty_like_strides,
    suggests_channels_last,
)
from jaxflow._plans.op import Operand

# Dimensions that the kernel transforms in one turn.
_AT_ONCE = 7


def _turn(stride: Ints, dims: Sequence[int], size: Ints) -> Ints:
    """Strides after one turn over ``dims``, whose result has this ``size``."""
    found, step = [0] * len(size), 1
    for d in reversed(dims):
        found[d] = step
        step *= max(size[d], 1)
    # The others are one dimension to the kernel.
    for d in reversed(_widest_first(stride, _others(len(size), dims))):
        found[d] = step
        step *= size[d]
    return tuple(found)


def _others(ndim: int, dims: Sequence[int]) -> list[int]:
    """The dimensions that are not transformed; in whose order those come that have one stride.

    The last of them are moved, one by one, to the places of those that are transformed.
    """
    count = ndim - len(dims)
    behind = [d for d in range(count, ndim) if d not in dims]
    return [behind.pop() if d in dims else d for d in range(count)]


def _widest_first(stride: Ints, dims: Sequence[int]) -> list[int]:
    return sorted(dims, key=stride.__getitem__, reverse=True)


def complex_to_complex(size: Ints, stride: Ints, dims: Sequence[int]) -> Ints:
    """Strides of a transform of complex numbers over ``dims``; over none it is a copy."""
    if not dims:
        return empty_like_strides(size, stride)
    left = _widest_first(stride, dims)
    while left:
        stride, left = _turn(stride, left[-_AT_ONCE:], size), left[:-_AT_ONCE]
    return stride


def real_to_complex(size: Ints, stride: Ints, dims: Sequence[int]) -> Ints:
    """Strides of the spectrum, of this ``size``, of real numbers; the last of ``dims`` is the fastest."""
    return _turn(stride, [*_widest_first(stride, dims[:-1]), dims[-1]], size)


def complex_to_real(before: Ints, stride: Ints, dims: Sequence[int], size: Ints) -> Ints:
    """Strides of real numbers of this ``size`` that have a spectrum of the size ``before``."""
    if len(dims) > 1:
        stride = complex_to_complex(before, stride, dims[:-1])
    return _turn(stride, dims[-1:], size)


def taken(operand: Operand, dims: Sequence[int], wanted: Sequence[int], needs_complex: bool) -> Layout:
    """How an operand lies when it is transformed: cast where it must be, and cut off or filled up.

    ``wanted`` are the lengths of the dimensions ``dims``, -1 for one that stays.
    """
    size, stride, dtype = operand
    if dtype.category < (COMPLEX if needs_complex else FLOATING):
        stride = empty_like_strides(size, stride)
    lengths = list(size)
    for d, length in zip(dims, wanted, strict=True):
        lengths[d] = size[d] if length == -1 else length
    shorter = tuple(map(min, size, lengths))
    if shorter != tuple(lengths):  # it is filled up with zeros, in a new tensor
        last = suggests_channels_last(shorter, stride)
        stride = (channels_last_strides if last else contiguous_strides)(tuple(lengths))
    return tuple(lengths), stride
