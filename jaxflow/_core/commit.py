"""Stores that become visible together, or not at all.

NOTE [One C call]
    Between two bytecodes anything may happen: a signal handler raises, another thread runs, a finalizer
    computes. Inside one call of a C function that calls nothing but C functions, nothing does. So whatever
    has to change together is written down first, as rows ``(function, *arguments)`` or as iterators of
    ``map``, of functions written in C (``setattr``, ``operator.setitem``), and is then stored by a single
    call. Before that it is checked whether what the new state was computed from is still there; if another
    store was quicker, nothing is stored, and the caller computes again.

    ``setattr`` and ``setitem`` let go of what was there before, and a finalizer of the user's may run then:
    the caller keeps what it replaces until the call is over.

NOTE [The latest store]
    Each such call ends by putting a number that was never there before into ``LATEST``. So who has looked at
    thousands of tensors need not look again while the same number stands there: nobody has changed what a
    tensor that others can see shows, what it is like, its ``.grad`` or its version. A run that gives pending
    Values their arrays changes nothing of that, `commit_results`; nor does who completes a new tensor.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterable, Sequence
from itertools import chain, count, repeat, starmap
from operator import attrgetter, call, eq, is_, itemgetter, setitem
from typing import Any

# With no room for elements, extending consumes an iterator and keeps nothing.
_exhaust = deque(maxlen=0).extend
_epoch_of, _grad_of = attrgetter("epoch"), attrgetter("_grad")
_holds = {True: None}.__getitem__
_CONDITION = (False,)  # of the KeyError that it raises
END = slice(sys.maxsize, None)

#: The number of the latest store, and where the numbers come from: NOTE [The latest store].
LATEST = [0]
NUMBERS = count(1)
_HERE, _AT = (LATEST,), (0,)
_latest = itemgetter(0)


class Overtaken(Exception):
    """What the new state was computed from is not there any more; nothing was stored."""


def commit(rows: Iterable[tuple], *more: Iterable, storages: Sequence = (), epochs: Sequence = (),
           owners: Sequence = (), grads: Sequence = (), conditions: Iterable = ()) -> None:
    """Call every row's function with its arguments and exhaust the iterators ``more``: all of it, or nothing.

    Each of ``storages`` has to be at the epoch in ``epochs`` that stands at its place, each of ``owners`` has
    to have that ``.grad`` of ``grads``, and each of ``conditions``, an iterator of ``map`` as well, has to be
    True; else Overtaken is raised.
    """
    commit_parts(
        at_epochs(storages, epochs), with_grads(owners, grads), map(_holds, conditions), rows_called(rows),
        *more,
    )


def commit_parts(*parts: Iterable) -> None:
    """`commit` of iterators: first of conditions, as the functions below make them, and then of stores."""
    commit_results(*parts, map(setitem, _HERE, _AT, NUMBERS))


def commit_results(*parts: Iterable) -> None:
    """`commit_parts` of stores that change no tensor which somebody can see."""
    try:
        _exhaust(chain(*parts))
    except KeyError as error:
        if error.args == _CONDITION:
            raise Overtaken from None
        raise


def at_epochs(storages: Iterable, epochs: Iterable) -> Iterable:
    """The condition that each storage is at its epoch."""
    return all_equal(map(_epoch_of, storages), epochs)


def all_at_epochs(storages: Iterable, epochs: list) -> Iterable:
    """`at_epochs` for many: all are read and compared at once."""
    return map(_holds, map(eq, map(list, (map(_epoch_of, storages),)), (epochs,)))


def all_equal(found: Iterable, expected: Iterable) -> Iterable:
    """The condition that what ``found`` yields equals what stands in ``expected``, numbers in both."""
    return _all(map(eq, found, expected))


def all_same(found: Iterable, expected: Iterable) -> Iterable:
    """The condition that what ``found`` yields is what stands in ``expected``, object by object."""
    return _all(map(is_, found, expected))


def with_grads(owners: Iterable, grads: Iterable) -> Iterable:
    """The condition that each of ``owners`` has that ``.grad``."""
    return all_same(map(_grad_of, owners), grads)


def latest(number: int) -> Iterable:
    """The condition that nothing was stored since ``number`` was that of the latest store."""
    return _all(still_latest(number))


def still_latest(number: int) -> Iterable[bool]:
    """Whether `latest` holds, as something to be stored; it is checked when it is consumed."""
    return map(eq, map(_latest, _HERE), (number,))


def numbered(number: int) -> Iterable:
    """The store that makes ``number``, which comes from ``NUMBERS``, that of the latest store."""
    return map(setitem, _HERE, _AT, (number,))


def _all(found: Iterable) -> Iterable:
    """The condition that all that ``found`` yields is true."""
    return map(_holds, map(all, (found,)))


def rows_called(rows: Iterable[tuple]) -> Iterable:
    """The iterator that calls every row's function with its arguments."""
    return starmap(call, rows)


def commit_one(storage: Any, epoch: int, stores: Iterable) -> None:
    """`commit` of ``stores``, an iterator, for one storage that has to be at ``epoch``.

    Where somebody can see them they end with that of a new number: NOTE [The latest store]. The interpreter
    lets nobody in between a comparison and the start of the call that follows it.
    """
    if storage.epoch != epoch:
        raise Overtaken
    _exhaust(stores)


def store(stores: Iterable) -> None:
    """`commit` of ``stores``, an iterator, whatever the present state is."""
    _exhaust(chain(stores, map(setitem, _HERE, _AT, NUMBERS)))


def stores(owners: Iterable, name: str, values: Iterable) -> Iterable:
    """The iterator that sets the attribute ``name`` of each of ``owners`` to its value."""
    return map(setattr, owners, repeat(name), values)


def appended(values: list, item: Any) -> tuple:
    """The row that appends ``item`` to ``values``."""
    return setitem, values, END, (item,)
