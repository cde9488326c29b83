"""What a captured call found, made and touched.

NOTE [The journal]
    A captured call runs on the real state; nothing is put back when it ends. So what its guards will
    compare is noted before it begins, of those tensors that can be followed: those that the walk has reached,
    the arguments, and their gradients. What the call makes is noted when a constructor runs. All other
    tensors are reached in a way that cannot be followed. To read their numbers is noticed, and so is to
    change them: then Python runs at each call.

    The watcher reports both; it sees each function of the library begin and end, in the thread that captures
    and in no other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import CodeType
from typing import Any
from weakref import ref

import jax

from jaxflow._core import fields
from jaxflow._core.commit import commit
from jaxflow._core.graph import Node
from jaxflow._core.sequence import next_sequence
from jaxflow._core.tensor import Tensor, ViewInfo, make, make_result, make_view
from jaxflow._core.value import COUNTED, Storage, Value, counted_in
from jaxflow._views import history
from jaxflow._writes import writes
from jaxflow.autograd.accumulate import Publication
from jaxflow.autograd.tensor import history_of

from ._outlines import Before

UNKNOWN = "that it reached in a way that cannot be followed"
_VIEW_FIELDS = ("shown", "seen_version", "own", "written", "base_plan")


class Journal:
    """The account of one capture; ``blame`` takes why Python has to run.

    Attributes:
        tensors: id -> (tensor, how it was) of those that are noted.
        storages: id -> (storage, its Value, epoch) of these.
        cell_of: id of a storage -> its version cell.
        views: (what makes a tensor a view, its fields).
        cells: id -> (version cell, what it held).
        released: nodes from before the call that let go of what they kept, with that.
        histories: ids of tensors whose ``grad_fn`` was read.
        began: the number in the sequence of nodes at which it began.
    """

    def __init__(self, blame: Callable[[str], None]) -> None:
        self.blame = blame
        self.tensors: dict[int, tuple[Tensor, Before]] = {}
        self.storages: dict[int, tuple[Storage, Any, int]] = {}
        self.cell_of: dict[int, list] = {}
        self.views: list[tuple[ViewInfo, tuple]] = []
        self.cells: dict[int, tuple[list, list]] = {}
        self.released: list[tuple[Node, Any, Any]] = []
        self.histories: set[int] = set()
        self._born: dict[int, ref] = {}  # tensors and storages
        self._constants: dict[int, Value] = {}  # made from numbers that are there
        self.began = next_sequence()
        self.over = False

    # ----------------------------------------------------------------------------- before the call

    def note(self, tensors: Iterable[Tensor]) -> None:
        """Note how tensors are, with their gradients and the tensors that they are views of."""
        todo = list(tensors)
        while todo:
            t = todo.pop()
            if id(t) in self.tensors:
                continue
            self.tensors[id(t)] = t, Before(t)
            self._note_storage(t._storage)
            if t._grad is not None:
                todo.append(t._grad)
            view = t._view
            if view is not None:
                self.views.append((view, tuple([getattr(view, name) for name in _VIEW_FIELDS])))
                self._note_cell(view.version)
                if view.base is not None:
                    todo.append(view.base)

    def _note_storage(self, s: Storage) -> None:
        if id(s) not in self.storages:
            self.storages[id(s)] = s, s.value, s.epoch
            self.cell_of[id(s)] = s.version
            self._note_cell(s.version)

    def _note_cell(self, cell: list) -> None:
        self.cells.setdefault(id(cell), (cell, counted_in(cell)))

    def was(self, t: Tensor) -> Before:
        """How a tensor was that is noted."""
        return self.tensors[id(t)][1]

    # ------------------------------------------------------------------------ what the watcher reports

    def calls(self) -> dict[CodeType, Callable[[Any], None]]:
        """What to do with the frame of a function that begins."""
        one = (fields.set_grad, fields.set_history, fields.history_rows, fields.set_requires_grad,
               fields.requires_grad_row, fields.grad_row, fields.set_hooks, fields.rebind,
               fields.rebind_rows,
               history.set_history, history.history_rows, writes.write, writes.write_part, writes.rows_of)
        return {
            Storage.__init__.__code__: lambda frame: self._made(frame.f_locals["self"]),
            Value.__init__.__code__: self._value_made,
            Value.settled.__code__: self._number_read,
            history_of.__code__: lambda frame: self.histories.add(id(frame.f_locals["self"])),
            Publication.freed.__code__: lambda frame: self._released(frame.f_locals["node"]),
            Node._release.__code__: lambda frame: self._released(frame.f_locals["self"]),
            **dict.fromkeys((f.__code__ for f in one), lambda frame: self._touched(frame.f_locals["t"])),
            writes.write_all.__code__: lambda frame: self._all_touched(frame.f_locals["targets"]),
            fields.grad_stores.__code__: lambda frame: self._all_touched(frame.f_locals["owners"]),
            fields.exchange.__code__: lambda frame: self._all_touched(
                [frame.f_locals["one"], frame.f_locals["other"]]),
            fields.exchange_cells.__code__: lambda frame: self._all_touched(
                [frame.f_locals["t"], frame.f_locals["source"]]),
        }

    def returns(self) -> dict[CodeType, Callable[[Any, Any], None]]:
        """What to do with the frame of a function that ends, and what it returns."""
        made_by = (make.__code__, make_result.__code__, make_view.__code__)
        return dict.fromkeys(made_by, lambda frame, made: self._made(made))

    def _made(self, x: Any) -> None:
        if x is not None:
            self._born[id(x)] = ref(x)

    def _value_made(self, frame: Any) -> None:
        found = frame.f_locals
        if found["array"] is not None and found["producer"] is None and not self.over:
            self._constants[id(found["self"])] = found["self"]

    def _number_read(self, frame: Any) -> None:
        value = frame.f_locals["self"]
        if value.producer is None and not self.is_constant(value) and not self.over:
            self.blame(f"it reads numbers of a tensor of shape {list(value.aval.shape)} {UNKNOWN}")

    def _released(self, node: Node) -> None:
        if node._sequence < self.began:  # it was there before the call
            self.released.append((node, node._inputs, node._guards))

    def _all_touched(self, tensors: Iterable) -> None:
        for t in tensors:
            self._touched(t)

    def _touched(self, t: Tensor) -> None:
        if id(t) not in self.tensors and not self.is_born(t):
            self.blame(f"it changes a tensor of shape {list(t._aval.shape)} {UNKNOWN}")
            self.note((t,))

    # ------------------------------------------------------------------------------- what came of it

    def is_born(self, x: Any) -> bool:
        """Whether a tensor or a storage was made in the call."""
        found = self._born.get(id(x))
        return found is not None and found() is x

    def is_constant(self, value: Value) -> bool:
        """Whether a Value was made in the call from numbers that were there."""
        return self._constants.get(id(value)) is value

    def constants(self) -> dict[int, Value]:
        """The Values that were made in the call from numbers that were there, by id."""
        return self._constants

    def born_storages(self) -> list[Storage]:
        """Those of the call that are still there."""
        found = (r() for r in self._born.values())
        return [s for s in found if isinstance(s, Storage)]

    def shown(self) -> set[int]:
        """The ids of the storages that tensors of the call show which are still there."""
        found = (r() for r in self._born.values())
        return {id(t._storage) for t in found if isinstance(t, Tensor)}

    def end(self) -> None:
        """Take note of nothing any more, and keep nothing alive that the call has made."""
        self.over = True
        self._constants = {}

    def restore(self, written_here: Callable[[Any], bool]) -> None:
        """Put everything back, but what other threads have written.

        ``written_here`` says of what a storage shows whether this thread has put it there.
        """
        for t, before in self.tensors.values():
            fields.restore(t, before.state)
        rows: list[tuple] = []
        for s, value, epoch in self.storages.values():
            if s.version is not self.cell_of[id(s)]:
                rows.append((setattr, s, "version", self.cell_of[id(s)]))
            if written_here(s.value):
                rows += [(setattr, s, "value", value), (setattr, s, "epoch", epoch)]
        for view, before in self.views:
            rows += [(setattr, view, name, x) for name, x in zip(_VIEW_FIELDS, before)]
        rows += [(list.__setitem__, cell, COUNTED, before) for cell, before in self.cells.values()]
        for node, inputs, guards in reversed(self.released):
            rows += [(setattr, node, "_inputs", inputs), (setattr, node, "_guards", guards)]
        commit(rows)


def is_known(value: Any) -> bool:
    """Whether a Value is there, outside of any transformation."""
    return (value.__class__ is Value and value.producer is None
            and not isinstance(value.array, jax.core.Tracer))
