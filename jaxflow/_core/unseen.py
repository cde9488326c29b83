"""Writes that no version counts: through a tensor with a version of its own, or by NumPy.

NOTE [Unseen writes]
    ``x.data`` shows the memory of ``x`` and counts its writes apart; what NumPy writes to ``x.numpy()`` is
    not counted at all. PyTorch saves an operand as the memory that it is, so what is written so between a
    forward and its backward is what the backward finds, and nothing refuses it. A node here keeps a Value,
    which no write changes. So it is noted which storages may be written to like that, and when one of them
    was last. A backward of a node from before that looks its operands up again: a guard holds the cell in
    which versions are counted, and how a view lies in the storage; of an operand with a version of its own
    the storage too. Writes inside a call that a compiled program serves are not noted.

    A storage may be gone before the backward comes, and its memory be written to after that as long as an
    array of NumPy's shows it. So what a noted storage showed at its end stays in the cell of its versions.
"""

from __future__ import annotations

import weakref
from operator import setitem

from .sequence import next_sequence
from .value import Storage, WatchedStorage, leave, left_in, moved_at, note_moved

#: When a storage was written to unseen last, or one that may have been was gone, as nodes are numbered.
LATEST = [-1]
#: What stands in the cell of a storage if leaving there what it showed was interrupted.
LOST = object()


class _Noted(weakref.ref):
    """A storage in a table: its place there is ``key``, the id of ``cell``, where its writes are counted.

    ``since`` is when what counts its writes in ``cell`` was given this memory, -1 if it had it from the
    beginning.
    """

    __slots__ = "cell", "key", "since"


class WatchedStorages(dict):
    """id of a version cell -> a reference to a storage whose writes are counted there, and others are not.

    It leaves in the cell what it shows at its end, and is gone from here then.
    """

    def noted(self, storage: Storage, cell: list | None = None) -> _Noted:
        """What stands here for a storage, at the place ``key``; ``cell`` is to be that of its versions."""
        if storage.__class__ is Storage:
            storage.__class__ = WatchedStorage
        noted = _Noted(storage, self._forget)
        noted.cell = storage.version if cell is None else cell
        noted.key, noted.since = id(noted.cell), -1
        return noted

    def moved_row(self, storage: Storage, cell: list, since: int) -> tuple:
        """The store that notes a storage that takes ``cell`` over from another one."""
        noted = self.noted(storage, cell)
        noted.since = since
        return setitem, self, noted.key, noted

    def moved(self, cell: list) -> int:
        """When what counts its writes in ``cell`` was given other memory, as nodes are numbered, or -1."""
        noted = self.get(id(cell))
        return moved_at(cell) if noted is None or noted.cell is not cell else noted.since

    def note(self, storage: Storage) -> None:
        """Take note of a storage, if it is not here."""
        if self.at(storage.version) is not storage:
            noted = self.noted(storage)
            self[noted.key] = noted

    def at(self, cell: list) -> Storage | None:
        """The storage whose writes are counted in ``cell``; None if it is not here."""
        noted = self.get(id(cell))
        storage = None if noted is None else noted()
        return storage if storage is not None and storage.version is cell else None

    def storages(self) -> list[Storage]:
        """All that are there."""
        return [s for noted in list(self.values()) if (s := noted()) is not None]

    def _forget(self, noted: _Noted) -> None:
        if self.get(noted.key) is noted:
            LATEST[0] = next_sequence()  # before it is gone from here: as long as it is, nodes look as well
            if left_in(noted.cell) is None:
                leave(noted.cell, LOST)
            if noted.since >= 0:
                note_moved(noted.cell, noted.since)
            self.pop(noted.key, None)


#: The storages that have, or had, tensors which count their writes apart, or were written to by NumPy.
APART = WatchedStorages()


def written_to(storage: Storage) -> None:
    """Take note of a write to a storage that may be among them; it is about to be stored."""
    if APART.at(storage.version) is storage:
        LATEST[0] = next_sequence()


def written_by_others(storage: Storage) -> None:
    """Take note that somebody else may have written to a storage."""
    APART.note(storage)
    LATEST[0] = next_sequence()
