"""Whether nobody but those who are known refers to something, by counting references."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from itertools import chain
from operator import attrgetter
from types import SimpleNamespace
from typing import Any, NamedTuple

from jaxflow._core.commit import all_equal

_value_of, _array_of = attrgetter("value"), attrgetter("array")
_grad_of, _storage_of = attrgetter("_grad"), attrgetter("_storage")


def references(values: Sequence, arrays: Sequence, grads: Sequence = (), storages: Sequence = (),
               old: Sequence = ()) -> list[int]:
    """The number of references to each: `expected` says what it is where they belong to one tensor alone.

    ``values`` and ``arrays`` were picked from lists of more of them, and are still in these; likewise
    ``grads``, tensors, and their ``storages``; ``old`` are the Values of the latter.
    """
    count = sys.getrefcount
    return [*map(count, values), *map(count, arrays), *map(count, grads), *map(count, storages),
            *map(count, old)]


def referred(values: Sequence, arrays: Sequence, counts: list[int]) -> Iterable:
    """The condition that there are so many references to each, no more."""
    return all_equal(map(list, (map(sys.getrefcount, chain(values, arrays)),)), (counts,))


def array_references(value: Any) -> int:
    """The number of references to the array of a Value: SOLE.of_value where it is the Value's alone."""
    return sys.getrefcount(value.array)


class _Sole(NamedTuple):
    value: int
    array: int
    grad: int
    storage: int
    old: int
    of_value: int  # what `array_references` says


def _calibrate() -> _Sole:
    storage = SimpleNamespace(value=SimpleNamespace(array=object()))
    owner = SimpleNamespace(_grad=SimpleNamespace(_storage=SimpleNamespace(value=object())))
    of_value = array_references(storage.value)
    values = list(map(_value_of, [storage]))
    arrays = list(map(_array_of, values))
    grads = list(map(_grad_of, [owner]))
    storages = list(map(_storage_of, grads))
    old = list(map(_value_of, storages))
    counts = references((values[0],), (arrays[0],), (grads[0],), (storages[0],), old)
    return _Sole(*counts, of_value)


# A free-threaded build has no reliable count: there, nothing is anybody's alone.
SOLE = _calibrate() if getattr(sys, "_is_gil_enabled", lambda: True)() else _Sole(-1, -1, -1, -1, -1, -1)


def expected(values: int, grads: int = 0, *, arrays: bool = True) -> list[int]:
    """What `references` says of so many Values, their ``arrays``, and gradients, that nobody else has."""
    return [*[SOLE.value] * values, *[SOLE.array] * (values if arrays else 0),
            *[SOLE.grad] * grads, *[SOLE.storage] * grads, *[SOLE.old] * grads]
