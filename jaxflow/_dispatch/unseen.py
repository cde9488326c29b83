"""Writes that no version tells of: those through another tensor of the same memory with a version of its own.

NOTE [Unseen writes]
    ``x.data`` shows the memory of ``x`` and counts its writes apart. PyTorch saves an operand as the memory
    that it is, so what is written to ``x.data`` between a forward and its backward is what the backward
    finds, and nothing refuses it. A node here keeps a Value, which no write changes. So it is noted which
    storages have such tensors, and when one of them was written to last. A backward of a node from before
    that looks its operands up again: a guard knows the cell in which versions are counted, and how a view
    lies in the storage; of an operand with a version of its own the storage too (`Aliased`). Writes inside
    a call that a compiled program serves are not noted.
"""

from __future__ import annotations

from typing import NamedTuple

from jaxflow._core.by_cell import StoragesByCell
from jaxflow._core.value import Storage

from .graph import next_sequence
from .views import ViewPlan

#: The storages that have, or had, tensors which count their writes apart.
APART = StoragesByCell()
#: When one of them was written to last, as nodes are numbered.
LATEST = [-1]


class Aliased(NamedTuple):
    """A saved operand that counts its writes apart: its storage, and how it lies there."""

    storage: Storage
    plan: ViewPlan


def written_to(storage: Storage) -> None:
    """Take note of a write to a storage that may be among them; it is about to be stored."""
    if APART.at(storage.version) is storage:
        LATEST[0] = next_sequence()
