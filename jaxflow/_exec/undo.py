"""What a store replaced, for as long as what it stored is pending.

NOTE [Undoing what cannot be computed]
    A write publishes a Value that is pending. Should the Program turn out not to be computable, the storage
    shows its last computable Value again. So beside every such store, in the same call, what it replaced is
    appended to the ``undo`` list of the Program that has to compute the new Value, and is kept until that has
    delivered.

    A record must keep nothing alive that would be gone without it, or the Program would have to compute more:
    storages, tensors and nodes stand in it as weak references, and a pending Value as its producer. A Value
    that is there is kept; donation does not count the mention (`count_mentions`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from operator import setitem
from typing import Any
from weakref import ref

from jaxflow._core.commit import END, appended
from jaxflow._core.fields import init_history
from jaxflow._core.tensor import Tensor, make
from jaxflow._core.value import Storage, Value

# What a record is about; the tuples are plain, for one is made at every write.
WRITE, WRITES, GRADS, ENTRY = "write", "writes", "grads", "entry"
Undo = tuple


def source_of(value: Any) -> Any:
    """A Value that is there, or the producer of one that is pending.

    A leaf of a capture is there, and has a producer (NOTE [Capture]).
    """
    return value.producer or value if value.array is None else value


def write_row(storage: Storage, old: Any, cell: list, t: Tensor | None, new: Any) -> tuple | None:
    """The row that notes a write of ``new`` to ``storage``; None if ``new`` is there already.

    ``old`` is what the storage shows before, ``cell`` its version; ``t`` is the tensor whose history changes.
    """
    if new.__class__ is not Value or old.__class__ is not Value:
        return None
    producer = new.producer
    if producer is None:
        return None
    return setitem, producer[0].program.undo, END, (write_record(storage, old, cell, t),)


def write_record(storage: Storage, old: Any, cell: list, t: Tensor | None) -> Undo:
    """What is noted of a write; the arguments are those of `write_row`."""
    history = None if t is None else history_of(t)
    source = (old.producer or old) if old.array is None else old  # as `source_of`, but quicker
    return WRITE, ref(storage), source, cell, (*cell,), history


def history_of(t: Tensor) -> tuple:
    """The autograd history of a tensor as a record keeps it."""
    node = t._grad_fn
    return ref(t), None if node is None else ref(node), t._output_nr, t._requires_grad


def programs_of(values: Iterable[Any]) -> set:
    """The Programs that have to compute ``values``."""
    found: set = set()
    last = None
    for v in values:
        if v.__class__ is Value:
            producer = v.producer
            if producer is not None:
                entry = producer[0]
                if entry is not last:  # many results of one operation, mostly
                    last = entry
                    found.add(entry.program)
    return found


def writes_rows(storages: list[Storage], old: list, cells: list[list], new: Sequence[Any]) -> list[tuple]:
    """The rows that note writes of ``new`` over ``old`` to many storages, which somebody keeps anyway.

    Both are Values.
    """
    programs = programs_of(new)
    if not programs:
        return []
    record = (WRITES, storages, list(map(source_of, old)), cells, list(map(tuple, cells)))
    return [appended(program.undo, record) for program in programs]


def grads_rows(owners: list[Tensor], before: list[Tensor | None], new: Sequence[Any]) -> list[tuple]:
    """The rows that note that the ``.grad`` of ``owners`` was ``before``; ``new`` are the Values it gets."""
    programs = programs_of(new)
    if not programs:
        return []
    record = (GRADS, [*map(ref, owners)], [g if g is None else kept_grad(g) for g in before])
    return [appended(program.undo, record) for program in programs]


def kept_grad(grad: Tensor) -> tuple:
    """A ``.grad`` as a record keeps it: nobody else may, once it is replaced."""
    storage = grad._storage
    source = source_of(storage.value) if storage.value.__class__ is Value and grad._view is None else None
    return source, storage.version, grad._stride, history_of(grad)


def grad_of(kept: tuple, value: Any) -> Tensor | None:
    """The tensor that a record keeps: itself if it is there yet, else one with its ``value``."""
    _, version, stride, (found, node, number, requires_grad) = kept
    t = found()
    if t is None and value is not None:
        t = make(value)
        t._storage.version, t._stride = version, stride
        init_history(t, None if node is None else node(), number, requires_grad)
    return t


def entry_rows(mapping: dict, change: dict, beside: Sequence[Tensor], new: Sequence[Any]) -> list[tuple]:
    """The rows that note that the keys of ``change`` are new in ``mapping``, beside writes to tensors."""
    record = (ENTRY, mapping, tuple(change), [ref(t._storage) for t in beside])
    return [appended(program.undo, record) for program in programs_of(new)]


def writes_of(undo: Iterable[Undo]) -> Iterator[tuple]:
    """Storage, what it showed, version cell, version and history of every write, the last first."""
    for record in reversed(list(undo)):
        if record[0] is WRITE:
            _, storage, *rest = record
            found = storage()
            if found is not None:
                yield found, *rest
        elif record[0] is WRITES:
            for storage, source, cell, version in zip(*record[1:]):
                yield storage, source, cell, version, None


def sources_of(undo: Iterable[Undo]) -> list:
    """What records mention: Values that are there, and producers."""
    found: list = []
    for record in undo:
        kind = record[0]
        if kind is WRITES:
            found += record[2]
        elif kind is WRITE:
            found.append(record[2])
        elif kind is GRADS:
            found += [kept[0] for kept in record[2] if kept is not None and kept[0] is not None]
    return found


def count_mentions(undo: Iterable[Undo], slots: dict[Value, int], uses: list[int]) -> None:
    """Add to ``uses`` how often records mention the Values in the slots from -1 down."""
    for slot in map(slots.get, sources_of(undo)):
        if slot is not None:
            uses[-1 - slot] += 1
