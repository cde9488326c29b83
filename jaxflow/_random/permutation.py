"""Orders of the numbers 0 to n - 1: Fisher and Yates, from the front (Durstenfeld 1964)."""

from __future__ import annotations

import numpy as np

from .cursor import Cursor
from .rounding import whole

#: From so many numbers on a step takes two words.
_TWO_WORDS = (2**32 - 1) // 20
#: Up to so many numbers, swaps in Python are quicker.
_SHORT = 400


def permutation(cursor: Cursor, n: int, dtype: np.dtype) -> np.ndarray:
    """0 to n - 1: step i swaps the places i and i + word % (n - i)."""
    if n <= 0:
        return np.empty(0, dtype)
    step = np.arange(n - 1, dtype=np.int64)
    words = cursor.long_words(n - 1) if n >= _TWO_WORDS else cursor.words(n - 1)
    other = (words % (n - step).astype(words.dtype)).astype(np.int64) + step
    return whole(_swapped(n, other), dtype)


def _swapped(n: int, other: np.ndarray) -> np.ndarray:
    if n < _SHORT:
        order = list(range(n))
        for i, k in enumerate(other.tolist()):
            order[i], order[k] = order[k], order[i]
        return np.array(order, np.int64)
    return _swapped_at_once(n, other)


def _swapped_at_once(n: int, other: np.ndarray) -> np.ndarray:
    """The same without a loop over the steps.

    What lies at place i before step i was put there by the last step k < i with ``other[k] == i``, and is
    what lay at place k before step k. So the places form a forest of pointers, which are followed by
    doubling.
    """
    steps = np.arange(other.size, dtype=np.int64)
    bits = int(n).bit_length()
    by_place = np.sort((other << bits) | steps)  # by place, then by step
    place, step = by_place >> bits, by_place & ((1 << bits) - 1)
    earlier = np.full(other.size, -1, np.int64)  # the step before this one that swapped with the same place
    same = place[1:] == place[:-1]
    earlier[step[1:][same]] = step[:-1][same]
    last = np.full(n, -1, np.int64)  # the last step before step p that swapped with place p
    moved = place != step
    last[place[moved]] = step[moved]  # of equal places the later step is the later entry
    root = np.where(last >= 0, last, np.arange(n, dtype=np.int64))
    while True:
        further = root[root]
        if np.array_equal(further, root):
            break
        root = further
    out = np.empty(n, np.int64)
    untouched = np.where(other == steps, root[other], other)
    out[:-1] = np.where(earlier >= 0, root[np.maximum(earlier, 0)], untouched)
    out[-1] = root[-1]
    return out
