"""The words of the Mersenne twister (Matsumoto and Nishimura 1998), many at a time.

A `Span` is a run of consecutive words that never changes; it makes the span that follows when that is first
used.
"""

from __future__ import annotations

from collections.abc import Callable
from weakref import ref

import numpy as np

from . import compiled_words
from .compile_budget import CompileBudget

#: How many words the twister's state has; it makes as many at a time.
N = 624

#: How many words a span has at most; spans double in size up to here, so that a short draw costs little.
_MOST = 384 * N


#: In words that NumPy makes; the program takes half the time.
_budget = CompileBudget(1 << 27)


def _tempered(key: np.ndarray) -> np.ndarray:
    """The words that a state gives, without moving it."""
    y = key ^ (key >> 11)
    y ^= (y << 7) & np.uint32(0x9D2C5680)
    y ^= (y << 15) & np.uint32(0xEFC60000)
    y ^= y >> 18
    return y


def _untempered(words: np.ndarray) -> np.ndarray:
    """The state that gives 624 words: the steps of `_tempered` undone from the last to the first."""
    y = words ^ (words >> 18)
    y ^= (y << 15) & np.uint32(0xEFC60000)
    x = y
    for _ in range(4):  # each round puts seven more bits right
        x = y ^ ((x << 7) & np.uint32(0x9D2C5680))
    y = x
    for _ in range(2):
        x = y ^ (x >> 11)
    return x


class Span:
    """Consecutive words, a multiple of 624 of them.

    Attributes:
        words: uint32, not writable.
    """

    __slots__ = ("__weakref__", "_following", "_key", "_twister", "words")

    def __init__(
        self, words: np.ndarray, twister: np.random.MT19937 | None = None, key: np.ndarray | None = None
    ) -> None:
        words.flags.writeable = False
        self.words = words
        # What makes the words after these, for the first who needs them: a list, of which one takes it.
        self._twister = [] if twister is None else [twister]
        self._key = key  # the state behind the last words, where it is known
        # Not held, or a place would hold all words after it.
        self._following: Callable[[], Span | None] = _nothing

    @classmethod
    def of_state(cls, key: np.ndarray) -> Span:
        """The 624 words that a state gives."""
        return cls(_tempered(key))

    def state_at(self, position: int) -> tuple[np.ndarray, int]:
        """The state from which the words before ``position`` came last, and how many of its words are
        used."""
        used = (position - 1) % N + 1 if position else 0
        begin = position - used
        return _untempered(self.words[begin:begin + N]), used

    def following(self) -> Span:
        """The words after these."""
        made = self._following()
        if made is None:
            count = min(2 * self.words.size, _MOST)
            made = self._compiled() if count == _MOST and _budget.used_up else self._by_numpy(count)
            self._following = ref(made)
        return made

    def _state(self) -> np.ndarray:
        return _untempered(self.words[-N:]) if self._key is None else self._key

    def _compiled(self) -> Span:
        words, key = compiled_words.words(_MOST // N)(self._state())
        return Span(words, key=key)

    def _by_numpy(self, count: int) -> Span:
        try:
            twister = self._twister.pop()
        except IndexError:  # somebody else has made them, or was interrupted
            twister = np.random.MT19937(0)
            state = {"key": self._state(), "pos": N}
            twister.state = {"bit_generator": "MT19937", "state": state}
        _budget.spend(count)
        return Span(twister.random_raw(count).astype(np.uint32), twister)


def _nothing() -> None:
    """What a reference to nothing gives."""


def seeded(seed: int) -> Span:
    """The span before the first word of a seed, of which the lower 32 bits count: all its words are used."""
    twister = np.random.MT19937(0)
    twister._legacy_seeding(seed & 0xFFFFFFFF)
    return Span(_tempered(twister.state["state"]["key"]), twister)
