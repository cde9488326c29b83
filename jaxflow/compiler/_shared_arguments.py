"""Arguments of a compiled function whose memory others may write to.

NOTE [Shared arguments]
    A batch that comes by ``from_numpy`` is host-shared as long as its array is there: NOTE [Host-shared
    storages]. A compiled call that only reads it takes a copy when it begins. What its graph has kept of
    the copy is looked up in the memory at the backward, as what Python records.

    The call that is recorded may do anything with it; what it does is not known before. So for as long as
    it is recorded, the storage holds a leaf, as all others do: the Value of a copy (`Borrowed`). When
    recording ends, however it does, the storage holds its memory again, and what was written goes there. What
    the call wrote to is left to Python from then on, and so is memory that is too large to be copied each
    time, or that has another size than its tensors need.
"""

from __future__ import annotations

import contextlib
from operator import setitem
from typing import Any

import numpy as np

from jaxflow._core.commit import Overtaken, all_equal, at_epochs, commit_results, rows_called
from jaxflow._core.shared import HostValue
from jaxflow._core.value import Storage, Value
from jaxflow._dispatch.shared_operands import copy_of, note_copy
from jaxflow._memory.resized import was_resized

# Bytes of memory that a call copies at most, of each argument.
_LARGEST = 1 << 24


def stays_there(value: Any) -> bool:
    """Whether it is memory that no leaf stands for: too large to be copied at each call, or resized."""
    return value.__class__ is HostValue and (value.aval.nbytes > _LARGEST or was_resized(value))


def apart(value: Any) -> Any:
    """A Value that nobody else writes to: ``value``, or that of a copy."""
    return copy_of(value) if value.__class__ is HostValue else value


class Borrowed:
    """The storages that hold leaves in the place of host-shared memory while a call is recorded.

    ``copies`` are these leaves, and those of views, with what they are copies of.
    """

    def __init__(self) -> None:
        self._found: list[tuple[Storage, HostValue, Value]] = []
        self.copies: list[tuple[Value, HostValue]] = []

    def take(self, found: list[tuple[Storage, HostValue, Value]]) -> None:
        """Note storages, what they hold, and the leaves that they are about to hold."""
        self._found = found

    def forget(self) -> None:
        """Give nothing back: somebody else puts everything back as it was."""
        self._found, self.copies = [], []

    def changed(self, storages: list[Storage]) -> bool:
        """Whether one of these is among them."""
        here = {id(s) for s, *_ in self._found}
        return any(id(s) in here for s in storages)

    def give_back(self) -> None:
        """Let each storage hold its memory again, with what was written meanwhile.

        After an interrupt it can be called again. Raises what computing it raises; the memory is as it was.
        """
        for leaf, shared in self.copies:  # which a backward after the call may use
            note_copy(leaf, shared)
        self.copies = []
        while found := self._found:
            _give_last_back(found)


def _give_last_back(found: list[tuple[Storage, HostValue, Value]]) -> None:
    """Let the last storage hold its memory again, and take it off the list, in one call.

    Nothing is done if another thread has done so meanwhile, or has written to it.
    """
    number = len(found)
    for storage, shared, leaf in found[number - 1 : number]:  # of none that is there no more
        epoch, now = storage.epoch, storage.value
        # What views have read of the leaf they read again, so the storage is at another epoch.
        rows: list[tuple] = [(setattr, storage, "value", shared), (setattr, storage, "epoch", epoch + 1),
                             (list.pop, found)]
        failure: BaseException | None = None
        if now is not leaf:
            try:
                rows.append((setitem, shared.live.view(), Ellipsis, np.asarray(now.settled())))
            except Exception as error:  # noqa: BLE001 - raised below
                failure = error
        with contextlib.suppress(Overtaken):
            commit_results(all_equal(map(len, (found,)), (number,)), at_epochs((storage,), (epoch,)),
                           rows_called(rows))
            if failure is not None:
                raise failure
