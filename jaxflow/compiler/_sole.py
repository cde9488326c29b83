"""Whether nobody but those who are known refers to something, by counting references."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from itertools import chain
from operator import attrgetter
from types import SimpleNamespace
from typing import Any, NamedTuple

from jaxflow._core.commit import all_equal

_array_of = attrgetter("array")
_grad_of, _storage_of = attrgetter("_grad"), attrgetter("_storage")


def references(values: Sequence, arrays: Sequence, grads: Sequence = (),
               storages: Sequence = ()) -> list[int]:
    """The number of references to each: `expected` says what it is where nobody but a call refers to them.

    ``values`` and ``arrays`` were picked from lists of more of them; each of the values is in one more list,
    and no tensor's any more. ``grads``, tensors, and their ``storages`` are one owner's, were picked from
    lists, and are still in these.
    """
    count = sys.getrefcount
    return [*map(count, values), *map(count, arrays), *map(count, grads), *map(count, storages)]


def referred(one: Sequence, other: Sequence, counts: list[int]) -> Iterable:
    """The condition that `references` says ``counts`` of Values and arrays, or of gradients and storages."""
    return all_equal(map(list, (map(sys.getrefcount, chain(one, other)),)), (counts,))


def referred_in_sum(one: Sequence, other: Sequence, count: int) -> Iterable:
    """The condition that `references` says ``count`` in sum, where it cannot say less of any of them."""
    return all_equal(map(sum, (map(sys.getrefcount, chain(one, other)),)), (count,))


def array_references(value: Any) -> int:
    """The number of references to the array of a Value: SOLE.of_value where it is the Value's alone."""
    return sys.getrefcount(value.array)


class _Sole(NamedTuple):
    value: int
    array: int
    grad: int
    storage: int
    dropped: int  # of the Value of an old gradient
    of_value: int  # what `array_references` says


def _calibrate() -> _Sole:
    lists = [[SimpleNamespace(array=object())]]
    lists.append(list(lists[0]))
    arrays = list(map(_array_of, lists[0]))
    given, donated = tuple(lists[0]), list(arrays)
    del arrays
    owner = SimpleNamespace(_grad=SimpleNamespace(_storage=object()))
    grads = list(map(_grad_of, [owner]))
    storages = list(map(_storage_of, grads))
    counts = references(given, donated, tuple(grads), tuple(storages))
    del lists[0]
    return _Sole(*counts, *map(sys.getrefcount, given), array_references(given[0]) - 1)


# A free-threaded build has no reliable count: there, nothing is anybody's alone.
SOLE = _calibrate() if getattr(sys, "_is_gil_enabled", lambda: True)() else _Sole(-1, -1, -1, -1, -1, -1)


def expected(values: int, grads: int = 0) -> list[int]:
    """What `references` says of so many Values, their arrays, and gradients, that nobody else has."""
    return [*[SOLE.value] * values, *[SOLE.array] * values, *[SOLE.grad] * grads, *[SOLE.storage] * grads]
