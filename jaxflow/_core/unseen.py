"""Writes that no version tells of: through a tensor with a version of its own, or by NumPy.

NOTE [Unseen writes]
    ``x.data`` shows the memory of ``x`` and counts its writes apart; what NumPy writes to ``x.numpy()`` is
    not counted at all. PyTorch saves an operand as the memory that it is, so what is written so between a
    forward and its backward is what the backward finds, and nothing refuses it. A node here keeps a Value,
    which no write changes. So it is noted which storages may be written to like that, and when one of them
    was last. A backward of a node from before that looks its operands up again: a guard knows the cell in
    which versions are counted, and how a view lies in the storage; of an operand with a version of its own
    the storage too. Writes inside a call that a compiled program serves are not noted.
"""

from __future__ import annotations

from .by_cell import StoragesByCell
from .sequence import next_sequence
from .value import Storage

#: The storages that have, or had, tensors which count their writes apart, or were written to by NumPy.
APART = StoragesByCell()
#: When one of them was written to last, as nodes are numbered.
LATEST = [-1]


def written_to(storage: Storage) -> None:
    """Take note of a write to a storage that may be among them; it is about to be stored."""
    if APART.at(storage.version) is storage:
        LATEST[0] = next_sequence()


def written_by_others(storage: Storage) -> None:
    """Take note that somebody else may have written to a storage."""
    APART.note(storage)
    LATEST[0] = next_sequence()
