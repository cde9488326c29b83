"""Integers from a range."""

from __future__ import annotations

import numpy as np

from .cursor import Cursor, parts_of
from .rounding import DIGITS, whole

_ALL = 1 << 64
#: From this range on a number takes two words.
_TWO_WORDS = 1 << 28


def integers(cursor: Cursor, n: int, dtype: np.dtype, low: int, high: int) -> np.ndarray:
    """``n`` integers from [low, high): what is left of a word, or of two, divided by the range."""
    if dtype.name in DIGITS:
        low, high = _lowest(low, dtype), _highest(high, dtype)
    return whole(_remainders(cursor, n, high - low, low), dtype)


def _remainders(cursor: Cursor, n: int, span: int, low: int) -> np.ndarray:
    if span >= _ALL:
        return cursor.long_words(n).view(np.int64)
    out, base = np.empty(n, np.uint64), np.uint64(low % _ALL)
    for begin, end in parts_of(n):
        if span >= _TWO_WORDS:
            np.remainder(cursor.long_words(end - begin), np.uint64(span), out[begin:end])
        else:
            out[begin:end] = cursor.words(end - begin) % np.uint32(span)
    if low:
        out += base
    return out.view(np.int64)


def _nearest(number: int, dtype: np.dtype) -> int:
    return int(whole(np.array([number], np.int64), dtype)[0])


def _lowest(low: int, dtype: np.dtype) -> int:
    """The lower bound, or the next number above it that a floating dtype holds."""
    above = _nearest(low + 1, dtype)
    if above >= low:
        return low
    return above + (1 << (abs(low + 1).bit_length() - DIGITS[dtype.name]))


def _highest(high: int, dtype: np.dtype) -> int:
    """The upper bound, or the next number below it that a floating dtype holds."""
    below = _nearest(high - 1, dtype)
    if below < high:
        return high
    return below - (1 << (abs(high - 1).bit_length() - DIGITS[dtype.name]))


def any_integers(cursor: Cursor, n: int, dtype: np.dtype) -> np.ndarray:
    """``n`` integers from 0 to the largest that the dtype holds; of floating ones to the last of all they
    hold."""
    if dtype == np.int64:
        return (cursor.long_words(n) & np.uint64((1 << 63) - 1)).view(np.int64)
    if dtype == np.float64:
        return whole((cursor.long_words(n) % np.uint64((1 << 53) + 1)).view(np.int64), dtype)
    if dtype.name in DIGITS:
        return whole((cursor.words(n) % np.uint32((1 << DIGITS[dtype.name]) + 1)).astype(np.int64), dtype)
    if dtype == np.bool_:
        return (cursor.words(n) & np.uint32(1)).astype(dtype)
    values = int(np.iinfo(dtype).max) + 1
    if values > 1 << 32:
        return whole(cursor.long_words(n).view(np.int64), dtype)
    words = cursor.words(n)
    return whole((words if values == 1 << 32 else words % np.uint32(values)).astype(np.int64), dtype)
