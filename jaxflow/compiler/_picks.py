"""Elements of a list at fixed places, picked in one C call where there are several."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter


def pick(indices: Sequence[int]) -> Callable[[Sequence], tuple]:
    """A function that gives the elements of a list that stand at ``indices``."""
    if len(indices) == 1:
        only = indices[0]
        return lambda values: (values[only],)
    return itemgetter(*indices) if indices else lambda values: ()
