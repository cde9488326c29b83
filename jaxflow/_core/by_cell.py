"""Tables of storages, weakly, by the cells in which their versions are counted."""

from __future__ import annotations

import weakref

from .value import Storage


class _Noted(weakref.ref):
    """A storage in a table: its place there is ``key``."""

    __slots__ = ("key",)


class StoragesByCell(dict):
    """id of a version cell -> a reference to the storage whose writes are counted there.

    A storage that is gone is gone from here. The number may be another cell's by then: `at` tells them apart.
    """

    def noted(self, storage: Storage) -> _Noted:
        """What stands here for a storage, at the place ``key``."""
        noted = _Noted(storage, self._forget)
        noted.key = id(storage.version)
        return noted

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
            self.pop(noted.key, None)
