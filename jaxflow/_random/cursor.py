"""What a draw takes its words from."""

from __future__ import annotations

import numpy as np

from .place import Place

#: How many elements are drawn at a time, so that they stay in a processor's cache.
CHUNK = 8192

_LOW_53 = np.uint64((1 << 53) - 1)


class Cursor:
    """Moves through the words of a stream, from a place that it leaves as it is."""

    __slots__ = ("_fresh", "_position", "_single", "_span", "waiting")

    def __init__(self, place: Place) -> None:
        self._span, self._position, self.waiting, self._single, self._fresh = place

    def place(self) -> Place:
        """Where the cursor is."""
        return Place(self._span, self._position, self.waiting, self._single, self._fresh)

    def words(self, n: int) -> np.ndarray:
        """The next ``n`` words, uint32; not to be written to."""
        if not n:
            return np.empty(0, np.uint32)
        self._fresh = False
        span, begin = self._span, self._position
        end = begin + n
        if end <= span.words.size:
            self._position = end
            return span.words[begin:end]
        out = np.empty(n, np.uint32)
        at = 0
        while at < n:
            if begin == span.words.size:
                span, begin = span.following(), 0
            part = span.words[begin:begin + n - at]
            out[at:at + part.size] = part
            at += part.size
            begin += part.size
        self._span, self._position = span, begin
        return out

    def long_words(self, n: int) -> np.ndarray:
        """The next ``n`` pairs of words, uint64: the first of a pair is the higher half."""
        pairs = self.words(2 * n).view(np.uint64)
        return (pairs << np.uint64(32)) | (pairs >> np.uint64(32))  # little-endian

    def word(self) -> int:
        """The next word."""
        return int(self.words(1)[0])

    def long_word(self) -> int:
        """The next two words as one number, the higher half first."""
        return self.word() << 32 | self.word()

    def fractions(self, n: int) -> np.ndarray:
        """The next ``n`` float64 from [0, 1): 53 bits of two words each."""
        pairs = self.long_words(n)
        pairs &= _LOW_53
        return pairs * 2.0**-53

    def fraction(self) -> float:
        """The next float64 from [0, 1)."""
        return (self.long_word() & ((1 << 53) - 1)) * 2.0**-53


def parts_of(n: int, begin: int = 0) -> list[tuple[int, int]]:
    """The ranges in which the elements from ``begin`` to ``n`` are drawn."""
    return [(at, min(at + CHUNK, n)) for at in range(begin, n, CHUNK)]
