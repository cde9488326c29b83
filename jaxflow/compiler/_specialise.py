"""From a capture to a specialisation: which leaf is read where, which result is written where.

A *place* is where a storage is found at each call: ("fixed", storage) for captured state, ("argument", i)
for the i-th tensor among the arguments, ("grad", i) for the ``.grad`` of a tensor and ("item", i) for
a tensor in an attribute; calls may make both anew.
"""

from __future__ import annotations

import enum
import functools
import gc
import operator
import types
from collections import Counter
from typing import Any

from jaxflow._core.commit import END
from jaxflow._core.fields import STATE, state_of
from jaxflow._core.tensor import Tensor
from jaxflow._core.value import Storage, Value
from jaxflow._dispatch import explain, library
from jaxflow._dispatch.executable import Executable
from jaxflow._dispatch.spares import large
from jaxflow._dispatch.tracked import Tracked

from ._arguments import Arguments
from ._capture import Capture
from ._containers import Tree, containers_of, is_tree, leaves_of
from ._guard import Guard
from ._journal import UNKNOWN
from ._numbers import Numbers, Place, Stored, is_store
from ._outlines import Before
from ._reach import Reach
from ._rows import LENGTH, Item, Row, shorten
from ._specialisation import Specialisation
from ._template import Recipes, Unnamed, Unwalked, let_go
from ._watcher import MATCHED, Watcher, line_of, only_appends

_FLAGS = (bool, str, type(None))
_NUMBERS = (float, int)
# Who mentions these may look at attributes that no code names.
_LOOKING = frozenset((MATCHED, "deepcopy", "copy", "asdict", "astuple", "replace", "state_dict", "__self__"))


class Builder:
    """Reads one capture. ``build`` returns a Specialisation, or None with the reasons in the capture."""

    def __init__(self, capture: Capture, watcher: Watcher, reach: Reach, tensors: list, known: set[int],
                 numbers: Numbers) -> None:
        self.numbers = {(id(p.holder), p.key): p for p in numbers.found}
        self.stored: list[Stored] = []  # numbers that it stores
        self.known = known  # ids of arguments that are known by what they hold
        self.walked: set[int] = set()  # ids of nodes of histories from before it that a backward came to
        self.capture, self.watcher, self.reach = capture, watcher, reach
        self.journal, self.was = capture.journal, capture.journal.was
        self.arguments, self.result = tensors, None
        self.program = capture.program
        self.containers = numbers.saved
        self.places: dict[int, tuple] = {}  # id of a storage -> its place
        self.fixed: dict[int, int] = {}  # id of a captured tensor's storage -> its number
        self.grads: list[Tensor] = []  # whose .grad was there before
        self.exact: list[int] = []  # views among the arguments that must be the very same part
        self.items: list[Item] = []  # attributes that hold another tensor after each call
        self.trees: list[Tree] = []  # containers that each call replaces
        self.gone: set[int] = set()  # ids of those that were there, and in them
        self.grown: set[int] = set()  # ids of lists it appends to and does not read, and what is there
        self.carried: set[int] = set()  # ids of tensors that are put somewhere
        self.leaving: Counter = Counter()  # id of a tensor -> how many places hold another one afterwards
        self.dropped: list[Item] = []  # those whose tensor the call does not read
        self.flags: list[tuple] = []  # tensors whose requires_grad the call changes
        self.sinks: list[tuple] = []
        self.committed = False  # whether the recording is a Program in the order of the specialisation
        self.followed: list[tuple] = []  # (row, key) where each call finds what the one before it has left
        self.settings: list[tuple] = []
        self.flagged: list[tuple] = []  # their places, (row, key)
        self.new_grads: list[tuple] = []
        self.replaces = False  # whether each .grad it makes takes the place of an old one
        self.journal.note((*(t for t, _ in reach.tensors.values()), *tensors))
        self._find_places()

    def blame(self, reason: str) -> None:
        """Python has to run at each call."""
        self.capture.blame(reason)

    # ----------------------------------------------------------------------------------------- places

    def _find_places(self) -> None:
        owners = {id(t): t for t, _ in self.reach.tensors.values()}
        for t in owners.values():
            self.fixed.setdefault(id(t._storage), len(self.fixed))
            self.places.setdefault(id(t._storage), ("fixed", t._storage))
        for t in (*owners.values(), *self.arguments):
            grad = t._grad
            if grad is not None and id(grad) not in owners and id(grad._storage) not in self.fixed:
                self.grads.append(t)
                self.places[id(grad._storage)] = ("grad", len(self.grads) - 1)
        for i, t in enumerate(self.arguments):
            if self.places.get(id(t._storage), ("",))[0] == "grad":
                self.blame("an argument is the .grad of a tensor it captures")
            if id(t._storage) not in self.fixed:
                self.places[id(t._storage)] = ("argument", i)

    def _place_items(self) -> None:
        """Tell the attributes whose old tensor is read, which is an input then, from those that drop it."""
        read = {x for x in self.program.trace if x.__class__ is int and x < 0}
        changed = {id(s) for s in self._changed()}
        candidates, self.items = self.items, []
        for item in candidates:
            t, old = item.tensor, self.was(item.tensor)
            s = old._storage
            _, slot = self.capture.held.get(id(s), (None, None))
            unread = slot is not None and slot not in read and id(s) not in changed
            if unread and old._grad is None and id(t) not in self.carried:
                self.dropped.append(item)
            elif not item.alone or id(old._grad_fn) in self.walked or not _replaceable(old):
                raise Unnamed(f"another tensor in {item.row.describe(item.key)}, having read the old one")
            else:
                self.places[id(s)] = ("item", len(self.items))
                self.items.append(item)
            if item.alone:
                del self.fixed[id(s)]
                if item in self.dropped:
                    del self.places[id(s)]

    def _find_exact(self, leaves: set, writes: list[tuple], recipes: Recipes) -> None:
        """Views among the arguments whose base is used by itself: there it counts which part they are."""
        used = {self.places.get(id(s)) for s, slot in self.capture.held.values() if slot in leaves}
        used |= {w[0] for w in writes} | recipes.used
        self.exact = [
            i for i, t in enumerate(t for t in self.arguments)
            if t._view is not None and self.places.get(id(t._storage)) in used
        ]

    def place_of(self, s: Storage) -> tuple:
        """Where a storage that was there before is found. Unnamed if it cannot be."""
        place = self.places.get(id(s))
        if place is None:
            raise Unnamed(f"a tensor {UNKNOWN}")
        return place

    # ------------------------------------------------------------------------------------------ build

    def build(self, result: Any, arguments: Arguments) -> Specialisation | None:
        """The specialisation, if the call can be repeated without running Python.

        ``result`` is what the call returned, ``arguments`` the guard of what it was given.
        """
        self.result = result
        self._effects()
        self._unguarded()
        self._in_order()
        if self.program.device is None and not self.capture.reasons:
            self.blame("it records no operation")
        if self.capture.reasons:
            return None
        try:
            spec = self._build()
            self.guard(spec, arguments)
            return spec
        except Unnamed as unnamed:
            if not self.capture.reasons:
                self.capture.outside = isinstance(unnamed, Unwalked)
                self.capture.blame(f"it returns or keeps {unnamed}", lasting=self.capture.outside)
            return None

    def _effects(self) -> None:
        """What Python changed that outlives the call."""
        # What is written there may be by chance what was there: then it counts all the same.
        self.stored += [Stored(place) for place in self.numbers.values() if not place.untouched()]
        changes = [(row, *change) for row in self.reach.rows for change in row.changes(everything=True)]
        for *_, old, new in changes:
            if isinstance(new, Tensor):
                self.leaving[id(old)] += 1
            elif is_tree(old) and is_tree(new):
                self.leaving.update(id(t) for t in leaves_of(old) if isinstance(t, Tensor))
        for row, key, old, new in changes:
            if self._grew(row) if key is LENGTH else (
                self._kept_number(row, key, old, new) or self._kept_in_attribute(row, key, old, new)
            ):
                continue
            where = line_of(str(key), self.watcher.codes)
            self.blame(
                f"it changes {row.describe(key)} from {shorten(old)} to {shorten(new)}"
                + (f" ({where})" if where else "")
            )
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
        self.reach.rows = [row for row in self.reach.rows if id(row.holder) not in self.gone | self.grown]

    def _not_by_itself(self) -> list[tuple]:
        """(row, key) of what is stored that does not show that the call made it: it was there before."""
        found = [(s.place.row, s.place.key) for s in self.stored if s.entry is None]
        found += self.flagged
        return found + [(row, LENGTH if key is END else key) for row, key, x, _ in self.sinks
                        if key is END or (isinstance(x, Tensor) and not self.journal.is_born(x)
                                          and not any(x is a for a in self.arguments))]

    def _in_order(self) -> None:
        """A quick call finds an optimizer's numbers first, and lets schedules go on when all has run."""
        stepped = set()
        at_first = {id(row.holder): row.held for row in self.reach.rows  # groups that the user's code names
                    if row.lister == getattr(row.holder, "values", None)}
        last: dict[int, tuple] = {}
        for kind, what, *more in self.watcher.events:
            if kind == "schedule":
                stepped.add(id(what.optimizer))
                for group, before, after in zip(what.optimizer.param_groups, *more):
                    _, known = last.get(id(group), (None, at_first.get(id(group), before)))
                    self._left_alone(group, known, before)
                    last[id(group)] = group, after
            elif id(what) in stepped:
                self.blame(f"a schedule steps before an update of the same {type(what).__name__}")
        for group, after in last.values():
            self._left_alone(group, after, list(group.values()))

    def _left_alone(self, group: dict, before: list, now: list) -> None:
        if len(before) != len(now) or not all(map(operator.is_, before, now)):
            self.blame("it changes an optimizer's group for which a schedule steps")

    def _kept_number(self, row: Row, key: Any, old: Any, new: Any) -> bool:
        """Whether a number is another one afterwards, and its place is followed; else it is noted."""
        place = self.numbers.get((id(row.holder), key))
        if place is not None and place.row is row:
            storable = type(new) in (*_NUMBERS, *_FLAGS, Tracked) and not self._scheduled(row)
            return storable or place.untouched()
        if not is_store(row) or self._scheduled(row):
            return False
        if type(old) in _NUMBERS:
            if type(new) in (*_NUMBERS, *_FLAGS, Tracked):
                self.capture.numbers.append((row.holder, key))
            return False
        if isinstance(old, _FLAGS) and type(new) in (*_NUMBERS, Tracked):
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
        """Whether an attribute was given a flag, or a tensor that can be named; then each call does so.

        Entries of lists and dicts, globals and variables of enclosing functions count as attributes.
        """
        named = isinstance(key, str) and row.lister == getattr(row.holder, "values", None)
        if not named and not (is_store(row) and type(key) in (str, int)):  # which compare without Python
            return False
        _, put, at = row.access(key)
        if type(row.holder) is not list and isinstance(old, _FLAGS) and isinstance(new, _FLAGS):
            # What it is afterwards follows from what it was, which is guarded. A counter is never twice the
            # same, so for numbers that would be no use.
            self.settings.append((put, row.holder, at, new))
            self.flagged.append((row, key))
            return True
        if is_tree(new):
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

    def _grew(self, row: Row) -> bool:
        """Whether a list got more entries, and nothing that ran looks into it: then each call appends.

        What stands in it is not guarded.
        """
        x, before = row.holder, row.held
        if type(x) is not list or self.reach.everything or not self.reach.names.isdisjoint(_LOOKING):
            return False
        if len(x) < len(before) or not all(map(operator.is_, x, before)):
            return False
        places = [(r, key) for r in self.reach.rows for key, y in zip(r.names(), r.held) if y is x]
        codes = self.reach.codes.union(self.watcher.codes)
        if any(not isinstance(key, str) or not only_appends(key, codes) for _, key in places):
            return False
        if any(place.row is row for place in self.numbers.values()):
            return False
        # Nor need it live on: nobody comes to it but through the list.
        held = [y for z in before for y in (*containers_of(z), *leaves_of(z))]
        self.grown.update(id(y) for y in held if self._places(y) < 2)
        self.grown.add(id(x))
        self.sinks.append((row, END, tuple(x[len(before):]), False))
        return True

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
        self.items.append(Item(row, key, old, self._alone(old)))
        return True

    def _places(self, x: Any) -> int:
        """In how many places something was before the call."""
        return sum(y is x for row in self.reach.rows for y in row.held)

    def _alone(self, old: Tensor) -> bool:
        others = (t for t, _ in self.reach.tensors.values() if t is not old)
        return not any(t._storage is old._storage for t in others)

    def _kept_container(self, row: Row, key: Any, old: Any, new: Any) -> bool:
        """Whether a container made in the call took the place of another: NOTE [Containers made anew]."""
        known, alike = self.reach.seen, False
        if any(id(x) in known for x in containers_of(new)):
            return False
        made = [t for t in leaves_of(new) if isinstance(t, Tensor)]
        if old is not None:
            if not is_tree(old):
                return False
            tree = Tree(row, key, old)
            alike = Tree(row, key, new).structure == tree.structure
            if any(self._places(x) > 1 for x in containers_of(old)):
                return False
            for i, t in tree.tensors:
                if not self._on_its_storage(t):
                    return False
                if not self._leaves_all(t):
                    tree.fixed.append((i, t))
                elif not self._kept_item(tree, i, t):
                    return False
            self.trees.append(tree)
            self.gone.update(map(id, containers_of(old)))
        if not all(map(self._nameable, made)):
            return False
        self.carried.update(map(id, made))
        self.sinks.append((row, key, new, alike))
        return True

    def _unguarded(self) -> None:
        names = self.watcher.names.union(*(c.co_freevars for c in self.watcher.codes))
        for name, shown, x in self.reach.opaque:
            if not name or name in names or self.reach.everything:
                where = line_of(name, self.watcher.codes) if name else None
                what = "" if x is None else f", a {type(x).__name__}"
                at = f" ({where})" if where else ""
                self.capture.blame(f"it may read {shown}{what}, which cannot be guarded{at}", lasting=True)
        known = self.known.union(self.reach.seen, self.reach.generators, self.watcher.born)
        for x in self.watcher.met.values():
            if id(x) not in known and _has_state(x):
                self.blame(f"it uses a {type(x).__name__} {UNKNOWN}")

    def guard(self, spec: Specialisation, arguments: Arguments) -> None:
        """Let the guards ask for tensors as they were before the call."""
        spec.arguments = arguments
        spec.arguments.exact = self.exact
        items = {id(item.tensor) for item in (*self.items, *self.dropped)}
        used = {id(s) for kind, s in (*spec.leaves, *(w[0] for w in spec.writes)) if kind == "fixed"}
        tensors = [t for t, _ in self.reach.tensors.values()
                   if id(t) not in items and (id(t) not in self.grown or id(t._storage) in used)]
        spec.watch_tensors(tensors, self.grads, self.arguments, self.items, self.was)
        spec.watch_dropped(self.dropped, self.was)
        spec.trees = self.trees
        for tree in self.trees:
            tree.row.varying.add(tree.key)
        for item in (*self.items, *self.dropped):
            for row, key in ((item.row, item.key), *item.also):
                row.varying.add(key)
        for place in self.numbers.values():
            place.row.varying.add(place.key)

    def follow(self, spec: Specialisation) -> None:
        """Let the guards expect, of what each call leaves as another thing, what this one has left."""
        for row, key in (*self.followed, *((place.row, place.key) for place in self.numbers.values())):
            get, _, at = row.access(key)
            index, position = spec.guard.index(row, key)
            row.held[index] = spec.guard.flat[position] = get(row.holder, at)

    def _build(self) -> Specialisation:
        program, capture = self.program, self.capture
        self._place_items()
        leaves = self._leaves()
        numbers = {id(t): i for i, t in enumerate(self.arguments)}
        items = {id(item.tensor): i for i, item in enumerate(self.items)}
        recipes = Recipes(program, self.journal.is_born, numbers, items, self.reach, self.place_of)
        recipes.dropped = frozenset(id(item.tensor) for item in self.dropped)
        result = recipes.result(self.result)
        grads = self._new_grads(recipes)
        sinks = [(row, key, recipes.result(x), follows) for row, key, x, follows in self.sinks]
        self.followed = [(row, key) for row, key, _, follows in self.sinks if follows]
        self.sinks.clear()
        writes = self._writes()
        self.watcher.forget()
        let_go(recipes.nodes, lambda t: not self.journal.is_born(t) or id(t) in recipes.tensor_numbers)
        self._survivors(recipes)
        seeds, drawn = capture.seeds(), capture.draws.moved()
        if capture.reasons:
            raise Unnamed("what was said")
        needed = {v.producer[1] for v in (*(s.value for s in recipes.storages), *(w[1] for w in writes)) if
                  self._owed(v) and v.producer[1] >= 0}
        needed |= {q.flag.producer[1] for q in program.questions}
        order = self._order(leaves)
        donatable = self._donatable(order, writes, recipes)
        new_slot = {slot: -1 - i for i, slot in enumerate(order)}

        def slot_of(value: Value) -> int:
            if not self._owed(value):
                raise Unnamed("a tensor made of data from outside")
            slot = value.producer[1]
            if slot < 0 and slot not in new_slot:
                raise Unnamed("memory of a tensor that it does not read")
            return slot if slot >= 0 else new_slot[slot]

        spec = Specialisation()
        spec.guard = Guard(self.reach.rows)
        spec.leaves = [leaves[slot] for slot in order]
        spec.constants = [
            None if leaves[slot][0] != "constant" else capture.leaves[-1 - slot] for slot in order
        ]
        spec.shared = self._shared(order)
        spec.writes = [(place, slot_of(v), epoch, bump) for place, v, epoch, bump in writes]
        spec.fresh = [slot_of(s.value) for s in recipes.storages]
        spec.recipes, spec.result, spec.grad_makers = recipes.tensors, result, grads
        spec.sinks = [
            (row.access(key), row.holder, (row.held, *spec.guard.index(row, key)) if follows else None, make)
            for row, key, make, follows in sinks
        ]
        spec.stored = [stored.rows(spec.guard) for stored in self.stored]
        spec.places = list(self.numbers.values())
        spec.looks = [*zip(*((p.get, p.holder, p.at) for p in spec.places))]
        spec.flags, spec.settings = self.flags, self.settings
        spec.plain_grads, spec.viewed = self._plain_grads(recipes), recipes.used
        self._find_exact(set(leaves), writes, recipes)
        capture.commit(order)  # nothing is refused from here on
        self.committed = True
        spec.seeds, spec.drawn = seeds, drawn
        # Numbers of a group that are followed say themselves what an update takes; the others are guarded.
        followed = {id(p.holder) for p in spec.places}
        spec.events = [e for e in self.watcher.events if e[0] == "schedule" or id(e[2]) not in followed]
        spec.floats, spec.integers, spec.complexes = program.floats, program.integers, program.complexes
        spec.questions = program.questions
        spec.tape = capture.tape if capture.tape.count else None
        trace = spec.trace = tuple(program.trace)
        program.giving = donatable
        spec.leaf_avals = [leaf.aval for leaf in program.leaves]
        alive = tuple(sorted(needed))
        entry = library.known(trace)
        executable = entry.serving(alive, donatable)
        if executable is None or executable.offered < len(donatable):
            why = explain.why_compiled(trace, alive, library.traces())
            spare = Counter(new._aval for _, new in self.new_grads if self.replaces and large(new._aval))
            line = explain.user_line()
            executable = Executable(trace, alive, donatable, program.signature(), why, line, spare)
            library.keep(trace, entry, executable)
        spec.load(executable)
        program.vectors = spec.vectors()
        return spec

    def _owed(self, value: Any) -> bool:
        return isinstance(value, Value) and value.producer is not None and value.producer[0] is self.program

    # ----------------------------------------------------------------------------------------- leaves

    def _leaves(self) -> dict[int, tuple]:
        """Leaf slot -> its place, of all that the recorded operations read or that is written elsewhere."""
        capture = self.capture
        by_slot: dict[int, Storage] = {}
        owners: dict[int, list[Storage]] = {}
        for s, slot in capture.held.values():
            owners.setdefault(slot, []).append(s)
        for slot, storages in owners.items():
            named = [s for s in storages if id(s) in self.places]
            if named:
                by_slot[slot] = named[0]
        seen_as = capture.seen_as
        viewed = {seen_as[id(t)]: i for i, t in enumerate(self.arguments) if id(t) in seen_as}
        found: dict[int, tuple] = {}
        used = {x for x in self.program.trace if x.__class__ is int and x < 0}
        for s in self._changed():
            if self._owed(s.value) and s.value.producer[1] < 0:
                used.add(s.value.producer[1])
        for slot in used:
            value = capture.leaves[-1 - slot]
            if slot in viewed:
                found[slot] = ("view", viewed[slot])
            elif slot in by_slot:
                found[slot] = self.places[id(by_slot[slot])]
            elif self.journal.is_constant(value):
                found[slot] = ("constant", None)
            else:
                self.blame(f"it reads a tensor of shape {list(value.aval.shape)} {UNKNOWN}")
        if self.capture.reasons:
            raise Unnamed("what was said")
        return found

    def _order(self, leaves: dict[int, tuple]) -> list[int]:
        """In the order of first use, which is the same at every capture of the same program."""
        first = self.capture.first_uses()
        return sorted(leaves, key=lambda slot: first.get(slot, len(self.program.trace) - slot))

    def _shared(self, order: list[int]) -> list[list[Storage]]:
        """Leaves that stand for several storages, which must go on sharing their value."""
        owners: dict[int, list[Storage]] = {}
        for s, slot in self.capture.held.values():
            if id(s) in self.places:
                owners.setdefault(slot, []).append(s)
        return [owners[slot] for slot in order if len(owners.get(slot, ())) > 1]

    # ----------------------------------------------------------------------------------------- writes

    def _changed(self) -> list[Storage]:
        """Storages that were there before and hold another value now, or count more writes."""
        held, leaves = self.capture.held, self.capture.leaves
        return [s for s, _, epoch in self.journal.storages.values()
                if s.epoch != epoch or (id(s) in held and s.value is not leaves[-1 - held[id(s)][1]])]

    def _writes(self) -> list[tuple]:
        """(place, new value, how much its epoch and its version go up) of each storage that was written."""
        bumps = {id(cell): (cell, cell[0] - saved[0]) for cell, saved in self.journal.cells.values()
                 if cell[0] != saved[0]}
        found = []
        for s in self._changed():
            _, bump = bumps.pop(id(s.version), (None, 0))
            found.append((self.place_of(s), s.value, s.epoch - self.journal.storages[id(s)][2], bump))
        if bumps:
            self.blame("it writes through an alias (detach(), .data) that was made before the call")
        return found

    def _new_grads(self, recipes: Recipes) -> list[tuple]:
        """(place of a tensor, recipe of its new .grad or None) of each .grad that is another object now."""
        found = []
        argument = {id(t): i for i, t in enumerate(self.arguments)}
        self.new_grads, self.replaces = [], True
        for t, was in self.journal.tensors.values():
            before, now = was.state, state_of(t)
            if all(map(operator.is_, now, before)):
                continue
            for name, old, new in zip(STATE, before, now):
                if old is new or name == "_output_nr":
                    continue
                if name == "_requires_grad" and t._view is None and (
                    id(t) in self.reach.tensors or id(t) in argument
                ):
                    self.flags.append((t if id(t) not in argument else argument[id(t)], new))
                elif name != "_grad":
                    shape = list(t._aval.shape)
                    what = name.strip("_")
                    self.blame(f"it changes {what} of a tensor of shape {shape} that was there before")
                elif id(t) not in self.reach.tensors and id(t) not in argument:
                    self.blame(f"it changes the .grad of a tensor {UNKNOWN}")
                else:
                    made = None if new is None else recipes.tensor(new)
                    self.replaces &= old is not None and new is not None
                    found.append((t if id(t) not in argument else argument[id(t)], made))
                    self.new_grads.append((found[-1][0], new))
        return found

    def _plain_grads(self, recipes: Recipes) -> list[tuple] | None:
        """(owner, number of storage, of tensor, version, epoch) of each new .grad, if all are plain."""
        found = []
        for owner, new in self.new_grads:
            numbers = None if new is None or owner.__class__ is int else recipes.plain(new)
            if numbers is None:
                return None
            found.append((owner, numbers[1], numbers[0], new._storage.version[0], new._storage.epoch))
        return found

    def _donatable(self, order: list[int], writes: list[tuple], recipes: Recipes) -> tuple[int, ...]:
        """Leaves whose memory nobody needs once the call is over: state that it overwrites."""
        kept = {id(v) for v in (*(w[1] for w in writes), *(s.value for s in recipes.storages))}
        written = {place for place, *_ in ((w[0],) for w in writes)}
        slots_of: dict[int, int] = {}
        for _, slot in self.capture.held.values():
            slots_of[slot] = slots_of.get(slot, 0) + 1
        found = []
        leaves = self._places_by_slot()
        for i, slot in enumerate(order):
            leaf = self.capture.leaves[-1 - slot]
            place = leaves.get(slot)
            alone = slots_of.get(slot) == 1 and id(leaf) not in kept and leaf.aval.numel
            if alone and place in written and place[0] in ("fixed", "grad", "item"):
                found.append(i)
        return tuple(found)

    def _places_by_slot(self) -> dict[int, tuple]:
        return {slot: self.places[id(s)] for s, slot in self.capture.held.values() if id(s) in self.places}

    # -------------------------------------------------------------------------------------- survivors

    def _survivors(self, recipes: Recipes) -> None:
        """Tensors of the call that live on where nobody can put a new one at the next call."""
        known = set(map(id, recipes.storages))
        for again in (True, False):
            left = [s for s in self.journal.born_storages() if id(s) not in known and self._owed(s.value)]
            if not left:
                return
            if again:
                gc.collect()
        shapes = sorted({str(list(s.value.aval.shape)) for s in left})
        self.blame(f"it keeps a tensor it made (of shape {', '.join(shapes[:3])}) beyond the call")


_STATELESS = (type, types.FunctionType, types.MethodType, types.BuiltinFunctionType, types.ModuleType,
              functools.partial, enum.Enum)


def _replaceable(t: Before) -> bool:
    """Whether any other tensor like it could have stood at its place."""
    view, base = t._view, t._view and t._view.base
    if t._grad is not None or (t._requires_grad and t._grad_fn is None):
        return False
    if base is not None and (base._requires_grad or base._grad_fn is not None or base._view is not None):
        return False
    return view is None or view.version is t._storage.version


def _has_state(x: Any) -> bool:
    return bool(getattr(x, "__dict__", None)) and not isinstance(x, _STATELESS)
