"""What can change in a call: every storage, tensor, graph and optimizer that lives, as it is now.

A capture runs the user's function once. Before that all of this is noted, so that the capture can tell
what the function read and changed, and so that an exception leaves everything as it was.
"""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Callable, Iterator
from itertools import compress
from operator import attrgetter
from typing import Any

from jaxflow._core.fields import restore, state_of
from jaxflow._core.tensor import Tensor, ViewInfo
from jaxflow._core.value import Storage, Value
from jaxflow._dispatch.graph import Node
from jaxflow.optim.lr_scheduler import LRScheduler
from jaxflow.optim.optimizer import Optimizer

_VIEW_SLOTS = ("value", "epoch", "seen_version", "own", "written", "base_plan")
_NODE_SLOTS = ("_inputs", "_guards")

_view_state, _node_state = attrgetter(*_VIEW_SLOTS), attrgetter(*_NODE_SLOTS)

# What was frozen before this package was imported is none of ours.
_FROZEN = gc.get_freeze_count()

# The kinds, and what is noted of each: what an interrupt left half made lacks it, as do leaves' nodes.
_KINDS: dict[type, Callable[[Any], Any]] = {
    Storage: attrgetter("value", "epoch", "version"), Value: attrgetter("array", "producer", "shared"),
    Tensor: state_of, ViewInfo: attrgetter("version", *_VIEW_SLOTS), Node: _node_state,
    Optimizer: attrgetter("state", "param_groups"), LRScheduler: attrgetter("__dict__"),
}


def living() -> dict[type, list]:
    """All living objects of the kinds that a call can change.

    One pass over what the garbage collector knows. A registry kept up to date instead would make every
    operation pay for what only a capture needs.
    """
    kind_of = {cls: kind for kind in _KINDS for cls in _with_subclasses(kind)}
    found: dict[type, list] = {kind: [] for kind in _KINDS}
    if gc.get_freeze_count() > _FROZEN:
        gc.unfreeze()  # what gc.freeze() hid may be written to in the call all the same
    everything = gc.get_objects()
    # In C from end to end: a process has millions of objects, hardly any of which are ours.
    for x in compress(everything, map(kind_of.__contains__, map(type, everything))):
        found[kind_of[type(x)]].append(x)
    return {kind: _whole(objects, _KINDS[kind]) for kind, objects in found.items()}


def _whole(objects: list, fields: Callable[[Any], Any]) -> list:
    """Those of the objects that have their fields; no one can use what an interrupt left half made."""
    try:
        deque(map(fields, objects), maxlen=0)
        return objects
    except AttributeError:
        return [x for x in objects if _has(x, fields)]


def _has(x: Any, fields: Callable[[Any], Any]) -> bool:
    try:
        fields(x)
    except AttributeError:
        return False
    return True


def _with_subclasses(cls: type) -> Iterator[type]:
    yield cls
    for sub in type.__subclasses__(cls):
        yield from _with_subclasses(sub)


class Snapshot:
    """The state of all living objects that a call can change, and the way back to it."""

    def __init__(self) -> None:
        found = living()
        self.values = {id(v) for v in found[Value]}
        self.storages = [(s, s.value, s.epoch) for s in found[Storage]]
        self.tensors = {id(t): (t, state_of(t)) for t in found[Tensor]}
        self.views = [(v, _view_state(v)) for v in found[ViewInfo]]
        self.nodes = [(n, _node_state(n)) for n in found[Node]]
        cells = {id(o.version): o.version for kind in (Storage, ViewInfo) for o in found[kind]}
        self.cells = [(cell, list(cell)) for cell in cells.values()]
        self.optimizers = [
            (o, o.state, [(k, s, _copy(s)) for k, s in o.state.items()], [dict(g) for g in o.param_groups])
            for o in found[Optimizer]
        ]
        self.schedulers = [(s, dict(s.__dict__)) for s in found[LRScheduler]]

    def restore(self) -> None:
        """Put everything back."""
        for s, value, epoch in self.storages:
            s.value, s.epoch = value, epoch
        for t, saved in self.tensors.values():
            restore(t, saved)
        for v, saved in self.views:
            _put(v, _VIEW_SLOTS, saved)
        for n, saved in self.nodes:
            _put(n, _NODE_SLOTS, saved)
        for cell, saved in self.cells:
            list.__setitem__(cell, slice(None), saved)
        for o, state, entries, groups in self.optimizers:
            o.state = state
            state.clear()
            for key, entry, saved in entries:
                state[key] = entry
                if isinstance(entry, dict):
                    entry.clear()
                    entry.update(saved)
            for group, saved in zip(o.param_groups, groups):
                group.clear()
                group.update(saved)
        for s, saved in self.schedulers:
            s.__dict__.clear()
            s.__dict__.update(saved)


def _copy(x: Any) -> Any:
    return dict(x) if isinstance(x, dict) else x


def _put(x: Any, names: tuple[str, ...], values: tuple) -> None:
    for name, value in zip(names, values):
        setattr(x, name, value)
