"""Writing to tensors: value, version and history of one or of many, published together.

See NOTE [One C call] for how, NOTE [Writing through a view] for what a write to a view is, and
NOTE [Undoing what cannot be computed] for what is kept in case the new Value cannot be had.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import repeat
from operator import add, attrgetter, call, eq, itemgetter, setitem
from typing import Any, NamedTuple, Protocol

import numpy as np

from jaxflow._core.commit import (
    END,
    LATEST,
    NUMBERS,
    Overtaken,
    all_at_epochs,
    commit,
    commit_one,
    commit_parts,
    rows_called,
    stores,
)
from jaxflow._core.generator import Generator
from jaxflow._core.graph import RESULT
from jaxflow._core.levels import FORWARD, LEVELS
from jaxflow._core.shared import HostValue
from jaxflow._core.state import state
from jaxflow._core.tensor import MovedInfo, Tensor, make, version_cell
from jaxflow._core.traces import MET, refuse_leak
from jaxflow._core.unseen import APART, written_to
from jaxflow._core.value import Storage, Value
from jaxflow._dispatch.saved_tensors import Packed
from jaxflow._dispatch.viewing import Counted
from jaxflow._exec.run import run
from jaxflow._exec.undo import write_record, write_row, writes_rows
from jaxflow._memory.bool_bytes import hold_bytes, needs_bytes
from jaxflow._transforms.batching import Batched, axes_of
from jaxflow._views.chain import view_node
from jaxflow._views.history import Rebuilt, base_plan_of, edge_of, history_rows
from jaxflow._views.host_shared import shown_of
from jaxflow._views.values import value_of

_set = list.__setitem__
_view_of, _storage_of = attrgetter("_view"), attrgetter("_storage")
_value_of, _cell_of, _first = attrgetter("value"), attrgetter("version"), itemgetter(0)
_ZERO, _ONE = repeat(0), repeat(1)
_VALUES, _NO_VIEW, _COUNTED = {Value}, {None}, {list}  # what is usual


def write(t: Tensor, result: Tensor | Value, epoch: int | None = None, *, counted: bool = True,
          beside: Beside | None = None) -> None:
    """Make ``t`` show ``result`` (a tensor of its shape and dtype, or its Value), all that changes at once.

    Raises Overtaken, having changed nothing, if its storage is not at ``epoch`` any more. Without one,
    whatever the storage shows is replaced. ``counted`` says whether the version goes up. What is ``beside``
    it is stored in the same call.
    """
    storage, view = t._storage, t._view
    at = storage.epoch if epoch is None else epoch
    old = storage.value, t._grad_fn  # kept until the call is over
    try:
        new = result
        if isinstance(result, Tensor) and not result._requires_grad:
            new = value_of(result)
        if new.__class__ is Value is old[0].__class__ and view is None and not (beside or LEVELS or MET):
            # The usual case, without the lists of the others.
            cell, producer = storage.version, new.producer
            if APART:
                written_to(storage)
            version = _next(cell) if counted else cell[0]
            places: tuple = storage, storage, cell, LATEST
            values: tuple = new, at + 1, version, next(NUMBERS)
            if producer is not None:
                places += (producer[0].program.undo,)
                values += ((write_record(storage, old[0], cell, None),),)
            commit_one(storage, at, map(call, _WRITE, places, _WHERE, values))
            return
        if not isinstance(result, Tensor):
            result = make(result)
        copies: list[tuple] = []
        rows = rows_of(t, result, at, counted, copies=copies)
        after = [] if beside is None else beside.rows()
        commit(rows + copies + after, storages=(storage,), epochs=(at,),
               conditions=beside.undisturbed() if beside else ())
        # Kept for the next read; what it says is true at any time, but in memory that others may write to.
        if view is not None and view.plan.exact and not copies:
            view.shown = at + 1, value_of(result) if new is result else new
    except Overtaken:
        if epoch is not None:
            raise
        write(t, result, counted=counted)
        return
    del old
    if result._requires_grad:
        written_through(t, result)


def write_part(t: Tensor, row: tuple, epoch: int) -> None:
    """Do what ``row`` does in the memory that others share with ``t``: a write to ``t`` without history.

    Raises Overtaken, having changed nothing, if its storage is not at ``epoch`` any more; and what ``row``
    raises, which is then not counted.
    """
    storage, view = t._storage, t._view
    cell = storage.version if view is None else view.version
    if APART:
        written_to(storage)
    version = _next(cell)
    rows: list[tuple] = [(setattr, storage, "epoch", epoch + 1), row, (_set, cell, 0, version)]
    if view is not None and view.base is None:
        rows.append((setattr, view, "seen_version", version))
    commit(rows, storages=(storage,), epochs=(epoch,))


class Beside(Protocol):
    """What else a write stores, and what has to be so for that."""

    def rows(self) -> list[tuple]:
        """The stores, as `commit` takes them."""

    def undisturbed(self) -> Iterator[bool]:
        """The conditions; where one is False, the operation is computed again."""


class Draws(NamedTuple):
    """How far a generator goes with what was drawn from a copy of it."""

    source: Generator
    before: int
    after: int

    def rows(self) -> list[tuple]:
        """The generator moves on."""
        return [(setattr, self.source, "_offset", self.after)]

    def undisturbed(self) -> Iterator[bool]:
        """Whether nobody else drew from it meanwhile."""
        return map(eq, map(_offset_of, (self.source,)), (self.before,))


_offset_of = attrgetter("_offset")
# What the usual write calls, and where each stores its value; the last is for a pending one.
_WRITE, _WHERE = (setattr, setattr, _set, setitem, setitem), ("value", "epoch", 0, 0, END)


def _next(cell: list) -> int:
    """The version after a write."""
    return cell[0] if cell.__class__ is Counted and state.inference else cell[0] + 1


def write_all(targets: Sequence[Tensor], results: Sequence, epochs: Sequence[int],
              rows: Sequence[tuple] = (), *, counted: bool = True) -> None:
    """Write every result, a tensor or its Value, to its target, and do what ``rows`` say, at once.

    ``counted`` as in `write`.

    Raises Overtaken, having changed nothing, if a storage is not at its epoch any more.
    """
    storages = list(map(_storage_of, targets))
    old: Any = list(map(_value_of, storages))  # kept until the call is over
    new = results
    if set(map(type, results)) != _VALUES:
        new = [value_of(r) if isinstance(r, Tensor) and not r._requires_grad else r for r in results]
    if (LEVELS or MET or set(map(type, new)) != _VALUES or set(map(type, old)) != _VALUES
            or set(map(_view_of, targets)) != _NO_VIEW):
        old = old, [t._grad_fn for t in targets]
        tensors = [r if isinstance(r, Tensor) else make(r) for r in results]
        stored, copies = list(rows), []
        written: dict[int, Any] = {}  # what storages will hold that several targets show
        for t, result, epoch in zip(targets, tensors, epochs):
            stored += rows_of(t, result, epoch, counted, written, copies=copies)
        commit(stored + copies, storages=storages, epochs=epochs)
        del old
        for t, result in zip(targets, tensors):
            if result._requires_grad:
                written_through(t, result)
        return
    cells = list(map(_cell_of, storages))
    commit_parts(
        all_at_epochs(storages, list(epochs)), rows_called([*rows, *writes_rows(storages, old, cells, new)]),
        stores(storages, "value", new), stores(storages, "epoch", map(add, epochs, _ONE)),
        map(_set, cells, _ZERO, map(add, map(_first, cells), _ONE) if set(map(type, cells)) == _COUNTED
            else list(map(_next, cells))) if counted else (),
    )
    del old


def rows_of(t: Tensor, result: Tensor, epoch: int, counted: bool = True,
            written: dict[int, Any] | None = None, *, copies: list[tuple]) -> list[tuple]:
    """The stores that make ``t`` show ``result``, if its storage is at ``epoch``.

    ``written`` is what storages will hold by stores of the same call, and the versions of their cells, by
    id; it is added to. So is ``copies``, the stores into memory that others may read: they come last, for
    other threads may run meanwhile. Each is followed by what counts it, which stays undone where NumPy
    cannot do the store.
    """
    new = value_of(result)
    storage = t._storage
    if APART:
        written_to(storage)
    if MET:
        refuse_leak(t, new, "a tensor")
    if new.__class__ is Batched:
        _refuse_more_axes(new, storage)
    if LEVELS:
        FORWARD.wrote(t, result)
    view = t._view
    requires_grad = result._requires_grad
    memory = None
    if view is None:
        cell = storage.version
        owner = t if requires_grad else None
        old = storage.value
        if old.__class__ is HostValue:
            memory = _memory_row(t, old, new)
            rows = [(setattr, storage, "epoch", epoch + 1)]
        else:
            rows = [(setattr, storage, "value", new), (setattr, storage, "epoch", epoch + 1)]
            if written is not None:
                written[id(storage)] = new
    else:
        cell = view.version
        owner = (t if view.base is None else view.base) if requires_grad else None
        old = storage.value
        if old.__class__ is HostValue:
            memory = _memory_row(t, old, new)
            rows = [(setattr, storage, "epoch", epoch + 1)]
        else:
            plan = view.plan
            if needs_bytes(t):
                hold_bytes(t)
                raise Overtaken
            base = old if written is None else written.get(id(storage), old)
            whole = new if plan.identity else run(plan.write, [base, new, *plan.write_numbers])[0]
            rows = [(setattr, storage, "value", whole), (setattr, storage, "epoch", epoch + 1)]
            if written is not None:
                written[id(storage)] = whole
            new = whole
    version = _next(cell) if counted else cell[0]
    if written is not None:
        version = counted_once_more(cell, version, written)
    then = rows
    if memory is not None:
        then = copies
        copies.append(memory)
    then.append((_set, cell, 0, version))
    undo = write_row(storage, old, cell, owner, new)
    if undo is not None:
        then.append(undo)
    if view is not None and view.base is None:
        then.append((setattr, view, "seen_version", version))
    if requires_grad:
        _add_history(then, t, result, cell, version)
    return rows


def counted_once_more(cell: list, version: int, written: dict[int, Any]) -> int:
    """The ``version`` that a write leaves in ``cell``, where the same call may have written there before."""
    earlier = written.get(id(cell))
    if earlier is not None and version != cell[0]:
        version = earlier + 1
    written[id(cell)] = version
    return version


def _memory_row(t: Tensor, base: HostValue, new: Value) -> tuple:
    """The store that puts ``new`` where ``t`` lies in the memory of its storage, which holds ``base``.

    Raises what computing ``new`` raises, and RuntimeError where it would lie beyond the end of the memory.
    """
    view, target = t._view, base
    if view is not None:
        plan = view.plan
        found = None if plan.overlaps else shown_of(base, plan)
        if found is None:  # no strides say where that is, or they say it twice
            new = run(plan.write, [base, new, *plan.write_numbers])[0]
        else:
            target = found
    return setitem, target.live.view(), Ellipsis, np.asarray(new.settled())


def _refuse_more_axes(new: Batched, storage: Storage) -> None:
    if not set(new.axes) <= set(axes_of(storage.value)):
        raise RuntimeError(
            "vmap: an in-place operation on `self` is not possible because there exists a Tensor `other` "
            "in extra_args that has more elements than `self`. This happened due to `other` being vmapped "
            "over but `self` not being vmapped over in a vmap. Please try to use out-of-place operators "
            "instead, or make `self` inside of vmap from a tensor that is vmapped over "
            "(`torch.zeros_like(x)`)."
        )


def _add_history(rows: list[tuple], t: Tensor, result: Tensor, cell: list, version: int) -> None:
    """The rows by which ``t``, or the base it is a view of, becomes an output of the write's node."""
    view = t._view
    node = result._grad_fn
    if view is None or view.base is None:
        rows += history_rows(t, node, result._output_nr)
        guards = node._guards
        if guards and guards.__class__ is not Packed and guards[-1][3] is RESULT:
            # A result that the node saves is in ``t`` now, at this version.
            node._guards = [*guards[:-1], (cell, version, t._aval, RESULT, None)]
    else:
        base = view.base
        if view.__class__ is MovedInfo:
            raise RuntimeError(
                "a view that was given other memory through .data = is written to where it is recorded: to "
                "autograd it is still a part of its base. Write to it under no_grad, or detach it first"
            )
        edges = [edge_of(base) if base._requires_grad else None, edge_of(result)]
        plan = base_plan_of(view)
        node = view_node(plan.write, plan.write_numbers, edges)
        rows += history_rows(base, node, 0)
        rows.append((setattr, view, "written", version))
    rows.append((_set, cell, slice(1, 2), (node.name(),)))  # errors about saved tensors say who wrote last


def written_through(t: Tensor, result: Tensor) -> None:
    """After a write to a view with a base: its node's result lives in the view now."""
    view, node = t._view, result._grad_fn
    if view is None or view.base is None:
        return
    guards: Any = node._guards
    if guards and guards.__class__ is not Packed and guards[-1][3] is RESULT:
        cell = version_cell(t)
        node._guards = [*guards[:-1], (cell, cell[0], t._aval, RESULT, Rebuilt(t))]

