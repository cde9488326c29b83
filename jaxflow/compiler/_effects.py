"""What Python changed in a captured call that outlives it, and what it may have read unguarded.

Each change of what the walk reached is either repeated by each quick call, and noted here for that, or it is
why Python has to run at each call.
"""

from __future__ import annotations

import copy
import dataclasses
import enum
import functools
import operator
import types
from collections import Counter, deque
from typing import Any

from jaxflow._core.commit import END
from jaxflow._core.symbolic_numbers import SymNumber
from jaxflow._core.tensor import Tensor
from jaxflow.nn.modules.module import Module
from jaxflow.optim.lr_scheduler import LRScheduler
from jaxflow.optim.optimizer import Optimizer

from ._apart import (
    containers_of,
    gather,
    is_in_itself,
    is_public,
    is_tree,
    lasts,
    leaves_of,
    outline,
    parts_in,
)
from ._arguments import parts_of
from ._capture import Capture
from ._code import MATCHED, line_of, only_appends
from ._containers import Contents, Replaced, Tree
from ._journal import UNKNOWN
from ._numbers import Numbers, Place, Stored, is_store
from ._other_memory import Itself, given_other_memory
from ._python_guards import Reach
from ._python_tracer import Watcher
from ._rows import LENGTH, SCALARS, Item, Row, shorten
from ._settling import attributes_of

_FLAGS = (bool, str, type(None))
_NUMBERS = (float, int)
# A list that grows is followed up to this length at once; beyond it only if it has been longer before.
_SHORT = 4
# Who mentions these may look at attributes that no code names.
_LOOKING = frozenset((MATCHED, "__self__"))
# What shows all that some objects hold, and whether it does that of an object.
_SHOWING = {
    "state_dict": lambda x: isinstance(x, (Module, Optimizer, LRScheduler)),
    **dict.fromkeys(("asdict", "astuple", "replace"), dataclasses.is_dataclass),
}


class Effects:
    """Those of one capture.

    ``tensors`` are the tensors among the arguments, ``known`` the ids of arguments that are known by what
    they hold.

    Attributes:
        numbers: (id of a container, key) -> where a number is that is followed.
        stored: numbers that the call stores.
        items: attributes that hold another tensor after each call.
        trees: containers that each call replaces; ``gone``: ids of those that were there, and in them.
        stood: id of a container that was there, or in one of them -> (tree, its number there).
        rewritten: id -> (container, one like it was), of those that it changes and then replaces.
        made: id -> container or object, of those that it puts somewhere.
        grown: ids of lists that it appends to and does not read, and of what is there.
        refilled: ids of lists that get more or fewer entries by each call.
        lengths: (list, more entries than an earlier capture found there) of those that have only grown.
        carried: ids of tensors that are put somewhere.
        leaving: id of a tensor or container -> how many places hold another one afterwards.
        sinks: (row, key, tensor or container that was stored there, whether each call finds there what the
            one before it has left).
        settings: stores of flags; ``flagged``: their places, (row, key).
        moved: id -> tensor, of those that get other memory: NOTE [Tensors given other memory].
    """

    def __init__(self, capture: Capture, watcher: Watcher, reach: Reach, tensors: list, known: set[int],
                 numbers: Numbers) -> None:
        self.capture, self.watcher, self.reach = capture, watcher, reach
        self.journal, self.was = capture.journal, capture.journal.was
        self.arguments, self.known = tensors, known
        self.numbers = {(id(p.holder), p.key): p for p in numbers.found}
        self.containers = numbers.saved
        self.stored: list[Stored] = []
        self.items: list[Item] = []
        self.trees: list[Tree] = []
        self.gone: set[int] = set()
        self.stood: dict[int, tuple] = {}
        self.made: dict[int, Any] = {}
        self.rewritten: dict[int, tuple] = {}
        self.grown: set[int] = set()
        self.refilled: set[int] = set()
        self.lengths: list[tuple] = []
        self.carried: set[int] = set()
        self.leaving: Counter = Counter()
        self.sinks: list[tuple] = []
        self.settings: list[tuple] = []
        self.flagged: list[tuple] = []
        self.moved: dict[int, Tensor] = {}

    def blame(self, reason: str, lasting: bool = False) -> None:
        """Python has to run at each call."""
        self.capture.blame(reason, lasting=lasting)

    def find(self) -> None:
        """Blame what no quick call can repeat, and note the rest."""
        self._other_memory()
        self._changes()
        self._unguarded()
        self._in_order()

    def _changes(self) -> None:
        """What Python changed that outlives the call."""
        # What is written there may be by chance what was there: then it counts all the same.
        self.stored += [Stored(place) for place in self.numbers.values() if not place.untouched()]
        changes: list[tuple] = []
        every = [(row, row.changes(everything=True)) for row in self.reach.rows]
        replaced = {id(old) for _, found in every for _, old, new in found if self._is_tree(new)}
        for row, found in every:
            longer = any(key is LENGTH for key, *_ in found)
            longer |= bool(found) and type(row.holder) is deque
            if found and id(row.holder) in replaced and self._is_plain(row):
                self.rewritten[id(row.holder)] = row.holder, row.before()
                continue
            if longer and self._grew(row):
                continue
            if (longer or any(self._moved(new) for *_, new in found)) and self._has_contents(row):
                found = [(LENGTH, row.held, list(row.holder))]
                row = Contents(row)
            changes += [(row, *change) for change in found]
        self._count_leaving(changes)
        for row, key, old, new in changes:
            if row.__class__ is Contents:
                if self._kept_container(row, key, old, new):
                    self.refilled.add(id(row.holder))
                    continue
            elif key is not LENGTH and (
                self._kept_number(row, key, old, new) or self._kept_in_attribute(row, key, old, new)
            ):
                continue
            where = line_of(str(key), self.watcher.codes)
            self.blame(
                f"it changes {row.describe(key)} from {shorten(old)} to {shorten(new)}"
                + (f" ({where})" if where else "")
            )
        for x, _ in self.rewritten.values():
            if not self._kept_contents(x):
                self.blame("it changes a container and puts another one in its place")
        if self.capture.tape.disturbed:
            self.blame("another thread used a number that it follows")
        if not self.capture.undisturbed():  # perhaps another thread wrote it
            for row, key in self._not_by_itself():
                self.blame(f"it sets {row.describe(key)} while there are other threads")
        changed = [row.holder for row, *_ in self.sinks] + [holder for _, holder, *_ in self.settings]
        changed += [p.holder for p in (*self.numbers.values(), *(s.place for s in self.stored))]
        for x, before in self.containers:
            if isinstance(x, dict) and len(x) == len(before) and list(x) != list(before):
                self.blame(f"it changes the keys of a dict: {shorten(list(before))}")
        if any(id(holder) in self.gone for holder in changed):
            self.blame("it changes a container and puts another one in its place")
        self.reach.leave(self.gone | self.grown | self.refilled)

    def _count_leaving(self, changes: list[tuple]) -> None:
        counted: set[int] = set()  # containers: what stands in one is counted once, as the walk comes to it
        for *_, old, new in changes:
            if isinstance(new, Tensor):
                self.leaving[id(old)] += 1
            elif self._is_tree(new) and (structure := self._like(old, new)) is not None:
                self.leaving[id(old)] += 1
                containers: list = []
                gather(self._as_was(old), structure, [], containers)
                for at, x in zip([id(old), *map(id, containers[1:])], containers):
                    if at not in counted:
                        counted.add(at)
                        self.leaving.update(map(id, parts_in(x)))

    def _is_plain(self, row: Row) -> bool:
        """Whether a row lists a list or dict that can be stored whole."""
        x = row.holder
        whole = type(x) in (list, dict) and row.lister == (x.values if type(x) is dict else x.__iter__)
        return whole and is_tree(x) and is_tree(row.before()) and (
            not any(place.row is row for place in self.numbers.values())
        )

    def _as_was(self, x: Any) -> Any:
        """A container like ``x`` was before the call; ``x`` itself where the call has not changed it."""
        return self.rewritten.get(id(x), (x, x))[1]

    def _kept_contents(self, x: Any) -> bool:
        """Note what the call has put into a container that it has then replaced; whether that can be done."""
        tree, at = self.stood.get(id(x), (None, 0))
        parts = [y for y in parts_in(x) if not isinstance(y, SCALARS)]
        if tree is None or any(type(y) is SymNumber or parts_of(y) is not None for y in parts):
            return False
        tensors = [y for y in parts if isinstance(y, Tensor)]
        if len(tensors) < len(parts) or not all(map(self._nameable, tensors)):
            return False
        self.carried.update(map(id, tensors))
        self.sinks.append((Replaced(tree, at), LENGTH, copy.copy(x), False))
        return True

    def _other_memory(self) -> None:
        """Find the tensors that get other memory, where that can be followed."""
        given = {id(t._storage) for t in self.arguments}
        alone = self.capture.undisturbed()
        for t, was in self.journal.tensors.values():
            if (
                id(t) in self.reach.tensors and id(was._storage) not in given
                and not any(t is a for a in self.arguments)
                and given_other_memory(t, was, self.journal, alone=alone)
            ):
                self.moved[id(t)] = t
                self.items.append(Item(Itself(t, self.reach.tensors[id(t)][1]), None, t))

    def _not_by_itself(self) -> list[tuple]:
        """(row, key) of what is stored that does not show that the call made it: it was there before."""
        found = [(s.place.row, s.place.key) for s in self.stored if s.entry is None]
        found += self.flagged
        return found + [
            (row, LENGTH if key is END else key) for row, key, x, _ in self.sinks
            if key is END or key is LENGTH or (
                isinstance(x, Tensor) and not self.journal.is_born(x)
                and not any(x is a for a in self.arguments)
            )
        ]

    def _in_order(self) -> None:
        """A quick call finds an optimizer's numbers, and lets schedules go on, and nothing else."""
        at_first = {id(row.holder): row.held for row in self.reach.rows  # groups that the user's code names
                    if row.lister == getattr(row.holder, "values", None)}
        last: dict[int, tuple] = {}
        for kind, what, *more in self.watcher.events:
            if kind == "schedule":
                for group, before, after in zip(what.optimizer.param_groups, *more):
                    _, known = last.get(id(group), (None, at_first.get(id(group), before)))
                    self._left_alone(group, known, before)
                    last[id(group)] = group, after
        for group, after in last.values():
            self._left_alone(group, after, list(group.values()))

    def _left_alone(self, group: dict, before: list, now: list) -> None:
        if len(before) != len(now) or not all(map(operator.is_, before, now)):
            self.blame("it changes an optimizer's group for which a schedule steps")

    def _kept_number(self, row: Row, key: Any, old: Any, new: Any) -> bool:
        """Whether a number is another one afterwards, and its place is followed; else it is noted."""
        place = self.numbers.get((id(row.holder), key))
        if place is not None and place.row is row:
            storable = type(new) in (*_NUMBERS, *_FLAGS, SymNumber) and not self._scheduled(row)
            return storable or place.untouched()
        if not is_store(row) or self._scheduled(row):
            return False
        if type(old) in _NUMBERS:
            if type(new) in (*_NUMBERS, *_FLAGS, SymNumber):
                self.capture.numbers.append((row.holder, key))
            return False
        if isinstance(old, _FLAGS) and type(new) in (*_NUMBERS, SymNumber):
            # What was there is guarded; that it is another kind afterwards makes the next call another one.
            self.stored.append(Stored(Place(row, key, old)))
            return True
        return False

    def _scheduled(self, row: Row) -> bool:
        """Whether a schedule that steps in the call changes the numbers there."""
        schedules = [what for kind, what, *_ in self.watcher.events if kind == "schedule"]
        return any(row.holder is x for s in schedules
                   for x in (vars(s), *vars(s).values(), *s.optimizer.param_groups))

    def _kept_in_attribute(self, row: Row, key: Any, old: Any, new: Any) -> bool:
        """Whether an attribute was given a flag, an object, or a tensor that can be named, as by each call.

        Entries of lists and dicts, globals and variables of enclosing functions count as attributes.
        """
        named = isinstance(key, str) and row.lister == getattr(row.holder, "values", None)
        if not named and not (is_store(row) and type(key) in (str, int)):  # which compare without Python
            return False
        _, put, at = row.access(key)
        if type(row.holder) is not list and self._is_flag(old) and self._is_flag(new):
            # What it is afterwards follows from what it was, which is guarded. A counter is never twice the
            # same, so for numbers that would be no use.
            self.settings.append((put, row.holder, at, new))
            self.flagged.append((row, key))
            return True
        if self._is_tree(new):
            return self._kept_container(row, key, old, new)
        if not isinstance(new, Tensor) or not self._nameable(new):
            return False
        follows = False  # whether each call finds there what the one before it has left
        if isinstance(old, Tensor):
            if not self._on_its_storage(old):
                return False  # it got another storage first
            follows = self._leaves_all(old)
            if follows and not self._kept_item(row, key, old):
                return False
        elif old is not None:
            return False
        self.carried.add(id(new))
        self.sinks.append((row, key, new, follows))
        return True

    def _is_flag(self, x: Any) -> bool:
        """Whether something is one of few: a word, a member of an enumeration, or what was there before."""
        return isinstance(x, (*_FLAGS, enum.Enum)) or is_public(x) or (
            id(x) in self.reach.seen and not isinstance(x, Tensor) and parts_of(x) is None
        )

    def _moved(self, new: Any) -> bool:
        """Whether a container stood somewhere before the call."""
        return id(new) in self.reach.seen and parts_of(new) is not None

    def _has_contents(self, row: Row) -> bool:
        """Whether all that stands in a list can be made anew."""
        x = row.holder
        return (
            type(x) in (list, deque) and is_tree(row.held) and is_tree(list(x))
            and not any(place.row is row for place in self.numbers.values())
            and sum(other.holder is x for other in self.reach.rows) == 1 and not self._only_grows(row)
        )

    def _only_grows(self, row: Row) -> bool:
        """Whether a list has got longer from capture to capture, so that no call is like another."""
        x, before = row.holder, row.held
        if len(x) <= len(before) or not all(map(operator.is_, x, before)):
            return False
        at = next((i for i, (y, _) in enumerate(self.lengths) if y is x), len(self.lengths))
        longest = max((n for _, n in self.lengths[at : at + 1]), default=_SHORT)
        if len(before) < longest:
            return False
        self.lengths[at : at + 1] = [(x, len(before) + 1)]
        return True

    def _grew(self, row: Row) -> bool:
        """Whether a list or deque got more entries, and nothing that ran looks into it: each call appends.

        What stands in it is not guarded.
        """
        x, before = row.holder, row.held
        if type(x) not in (list, deque) or self.reach.everything or not self.reach.names.isdisjoint(_LOOKING):
            return False
        added = _added(x, before)
        if not added or id(x) in self.watcher.copied:
            return False
        places = [(r, key) for r in self.reach.rows for key, y in zip(r.names(), r.held) if y is x]
        if not all(self._only_appended(*place) for place in places):
            return False
        if any(place.row is row for place in self.numbers.values()):
            return False
        if is_in_itself(before):
            return False
        # Nor need it live on: nobody comes to it but through the list.
        held = [y for z in before for y in (*containers_of(z), *leaves_of(z))]
        self.grown.update(id(y) for y in held if self._places(y) < 2)
        self.grown.add(id(x))
        self.sinks.append((row, END, tuple(added), False))
        return True

    def _only_appended(self, row: Row, key: Any) -> bool:
        """Whether the code does nothing with the list at a place but append to it."""
        codes = self.reach.codes.union(self.watcher.codes)
        owners = [x for x in self.reach.seen.values() if _holds(x, row.holder)]
        if any(shows(x) for name, shows in _SHOWING.items() if name in self.reach.names for x in owners):
            return False
        if isinstance(key, str) and only_appends(key, codes):
            return True
        around = [name for r in self.reach.rows for name, y in zip(r.names(), r.held) if y is row.holder]
        return isinstance(row.holder, dict) and bool(around) and all(
            isinstance(name, str) and only_appends(name, codes, inside=True) for name in around
        )

    def _nameable(self, t: Tensor) -> bool:
        """Whether a tensor is an argument, was made in the call, or was found before it."""
        return self.journal.is_born(t) or id(t) in self.reach.tensors or any(
            t is a for a in self.arguments
        )

    def _on_its_storage(self, t: Tensor) -> bool:
        """Whether a tensor is noted and still has the storage that it had."""
        return id(t) in self.journal.tensors and self.was(t)._storage is t._storage

    def _leaves_all(self, old: Tensor) -> bool:
        """Whether a tensor stands at none of its places after the call."""
        return self._places(old) == self.leaving[id(old)]

    def _kept_item(self, row: Row | Tree, key: Any, old: Tensor) -> bool:
        """Note that a tensor leaves a place, and every other one; whether that can be followed."""
        known = next((item for item in self.items if item.tensor is old), None)
        if known is not None:
            known.also.append((row, key))
            return True
        if old.__dict__ or any(old._storage is a._storage for a in self.arguments):
            return False
        self.items.append(Item(row, key, old))
        return True

    def _places(self, x: Any) -> int:
        """In how many places something was before the call."""
        return sum(y is x for row in self.reach.rows for y in row.held)

    def _is_new(self, x: Any) -> bool:
        """Whether the call made something that is not plain."""
        return id(x) not in self.reach.seen

    def _is_tree(self, x: Any) -> bool:
        """Whether something is a container, or an object that the call made, which can be made again."""
        return is_tree(x, self._is_new, lambda y: not self._is_new(y) or lasts(y))

    def _like(self, old: Any, new: Any) -> Any:
        """The structure by which what stood where ``new`` stands is taken apart; None if it is not.

        An object is where it is like the one that the call made.
        """
        old, structure = self._as_was(old), outline(new, [], self._is_new)
        if gather(old, structure, [], []):
            return structure
        return outline(old, []) if is_tree(old) else None

    def _kept_container(self, row: Row, key: Any, old: Any, new: Any) -> bool:
        """Whether a container made in the call took the place of another: NOTE [Containers made anew]."""
        structure = self._like(old, new)
        if old is not None and structure is None and not self._is_flag(old):
            return False
        known = next((tree for tree in self.trees if tree.stood is old), None)
        tree = known or (None if structure is None else Tree(row, key, old, structure, self._as_was(old)))
        before = [] if tree is None else tree.containers
        at = {id(x): i for i, x in enumerate(before)}
        held = list(containers_of(new, self._is_new))
        if not all(id(x) in at and self._untouched(x) for x in held if not self._is_new(x)):
            return False
        if known is not None:
            known.also.append((row, key))
        elif tree is not None and not self._kept_leaves(tree):
            return False
        self.stood.update((y, (tree, i)) for y, i in at.items())
        made = [t for t in leaves_of(new, self._is_new) if isinstance(t, Tensor)]
        if not all(map(self._nameable, made)):
            return False
        self.carried.update(map(id, made))
        self.made.update((id(x), x) for x in held)
        alike = tree is not None and outline(new, [], self._is_new) == tree.structure
        self.sinks.append((row, key, new, alike and row.__class__ is not Contents))
        return True

    def _kept_leaves(self, tree: Tree) -> bool:
        """Note that a tree leaves its places, and what stands in it; whether that can be followed."""
        containers = tree.containers
        if any(self._places(x) > self.leaving[id(x)] for x in containers):
            return False
        for i, t in tree.tensors:
            if not self._on_its_storage(t):
                return False
            if not self._leaves_all(t):
                tree.fixed.append((i, t))
            elif not self._kept_item(tree, i, t):
                return False
        self.trees.append(tree)
        self.gone.update(map(id, containers))
        self.gone.update(id(vars(x)) for x in containers if hasattr(x, "__dict__"))
        return True

    def _untouched(self, x: Any) -> bool:
        """Whether a container holds what it held, and nothing in it is followed."""
        holders = x, getattr(x, "__dict__", x)
        return not any(place.holder is y for y in holders for place in self.numbers.values()) and not any(
            row.changes(everything=True) for row in self.reach.rows if any(row.holder is y for y in holders)
        )

    def _unguarded(self) -> None:
        names = self.watcher.names.union(*(c.co_freevars for c in self.watcher.codes))
        if "data_ptr" in names:
            self.blame("it asks where memory lies, by data_ptr()")
        for name, shown, x in self.reach.opaque:
            if not name or name in names or self.reach.everything:
                where = line_of(name, self.watcher.codes) if name else None
                what = "" if x is None else f", a {type(x).__name__}"
                at = f" ({where})" if where else ""
                self.capture.blame(f"it may read {shown}{what}, which cannot be guarded{at}", lasting=True)
        known = self.known.union(self.reach.seen, self.reach.generators, self.watcher.born, self.made)
        for x in self.watcher.met.values():
            if id(x) not in known and _has_state(x):
                self.blame(f"it uses a {type(x).__name__} {UNKNOWN}")


def _holds(x: Any, holder: Any) -> bool:
    """Whether the attributes of an object are in ``holder``."""
    return x is holder or (not isinstance(x, (Tensor, type)) and attributes_of(x) is holder)


def _added(x: Any, before: list) -> list:
    """What was appended to a list or deque; nothing where that is not known."""
    known = set(map(id, before))
    now = list(x)
    count = len(now) - len(before)
    if type(x) is deque and x.maxlen is not None:  # what was there first may be gone
        count = next((n for n, y in enumerate(reversed(now)) if id(y) in known), len(now))
    staying = now[: len(now) - count]
    if count <= 0 or not all(map(operator.is_, staying, before[len(before) - len(staying):])):
        return []
    return now[len(now) - count:]


_STATELESS = (type, types.FunctionType, types.MethodType, types.BuiltinFunctionType, types.ModuleType,
              functools.partial, enum.Enum)


def _has_state(x: Any) -> bool:
    return bool(getattr(x, "__dict__", None)) and not isinstance(x, _STATELESS)
