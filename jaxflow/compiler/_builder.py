"""From a capture to a specialisation: which leaf is read where, which result is written where.

A *place* is where a storage is found at each call: ("fixed", storage) for captured state, ("argument", i)
for the i-th tensor among the arguments, ("grad", i) for the ``.grad`` of a tensor and ("item", i) for
a tensor in an attribute; calls may make both anew.
"""

from __future__ import annotations

import gc
import operator
from collections import Counter
from typing import Any

from jaxflow._core.fields import MEMORY, STATE, state_of
from jaxflow._core.tensor import Tensor, version_cell
from jaxflow._core.user_line import user_line
from jaxflow._core.value import Storage, Value
from jaxflow._exec import explain, program_cache
from jaxflow._exec.buffer_reuse import large
from jaxflow._exec.executable import Executable
from jaxflow._exec.host_calls import call_host
from jaxflow._plans.plan import Plan
from jaxflow.optim.optimizer import Optimizer

from ._apart import leaves_of
from ._arguments import Arguments
from ._capture import END, Capture
from ._containers import Trees
from ._effects import Effects
from ._graphs import LATER, Graph
from ._guard import Guard
from ._joined import Recorded
from ._journal import UNKNOWN
from ._numbers import Numbers
from ._other_memory import row_of
from ._outlines import Before
from ._python_guards import Reach
from ._python_tracer import Watcher
from ._rows import Item
from ._specialisation import Specialisation
from ._template import Recipes, Unnamed, Unwalked, let_go

# Bytes that may be there twice, so that a call can look at its results before it overwrites anything.
_MOST_KEPT = 256 << 20


class Builder(Effects):
    """Reads one capture. ``build`` returns a Specialisation, or None with the reasons in the capture."""

    def __init__(self, capture: Capture, watcher: Watcher, reach: Reach, tensors: list, known: set[int],
                 numbers: Numbers) -> None:
        super().__init__(capture, watcher, reach, tensors, known, numbers)
        self.program, self.result = capture.program, None
        self.given: frozenset[int] = frozenset()  # ids of lists, dicts and records among the arguments
        self.walked: set[int] = set()  # ids of nodes of histories from before it that a backward came to
        self.places: dict[int, tuple] = {}  # id of a storage -> its place
        self.counters: set[int] = set()  # ids of the storages of numbers that an optimizer keeps
        self.fixed: dict[int, int] = {}  # id of a captured tensor's storage -> its number
        self.grads: list[Tensor] = []  # whose .grad was there before
        self.exact: list[int] = []  # views among the arguments that must be the very same part
        self.dropped: list[Item] = []  # items whose tensor the call does not read
        self.shown: list[Item] = []  # items whose tensor is a view of memory that stays
        self.flags: list[tuple] = []  # tensors whose requires_grad the call changes
        self.followed: list[tuple] = []  # (row, key) where each call finds what the one before it has left
        self.raised: dict[int, int] = {}  # by how much tensors that get other memory count more writes
        self.new_grads: list[tuple] = []
        self.replaces = False  # whether each .grad it makes takes the place of an old one
        self.committed = False  # whether the recording is a Program in the order of the specialisation
        self.journal.note((*(t for t, _ in reach.tensors.values()), *tensors))
        self._find_places()

    # ----------------------------------------------------------------------------------------- places

    def _find_places(self) -> None:
        owners = {id(t): t for t, _ in self.reach.tensors.values()}
        self.counters = {
            id(t._storage) for o in self.reach.seen.values() if isinstance(o, Optimizer)
            for state in list(o.state.values()) if isinstance(state, dict)
            for t in list(state.values()) if id(t) in owners and not t._aval.ndim
        }
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
        read = self._read()
        carried = self.carried.union(id(t) for t in leaves_of(self.result) if isinstance(t, Tensor))
        changed, shown = {id(s) for s in self._changed()}, self.journal.shown()
        candidates, self.items = self.items, []
        leaving = {id(item.tensor) for item in candidates}
        # Who finds a tensor in a list that only gets longer reads what is there by then.
        staying = {id(t._storage) for t, _ in self.reach.tensors.values()
                   if id(t) not in leaving and id(t) not in self.grown}
        first: dict[int, int] = {}  # id of a storage -> the number of the first item on it
        for item in candidates:
            t, old = item.tensor, self.was(item.tensor)
            s = old._storage
            _, slot = self.capture.held.get(id(s), (None, None))
            unread = slot is not None and slot not in read and id(s) not in changed and id(s) not in shown
            if id(t) in self.moved and id(s) in staying:
                continue  # it is another one's, too, where it stays
            if id(t) not in self.moved and unread and old._grad is None and id(t) not in carried:
                self.dropped.append(item)
            elif id(s) in staying and id(t) not in (carried | self.moved.keys()) and _is_plain_view(old):
                self.shown.append(item)
            elif id(t) not in self.moved and (
                id(s) in staying or id(old._grad_fn) in self.walked or not _replaceable(old)
                or t._grad is not None or (old._grad_fn is not None and id(t) in self.journal.histories)
            ):
                raise Unnamed(f"another tensor in {item.row.describe(item.key)}, having read the old one")
            else:
                item.like = first.setdefault(id(s), len(self.items))
                self.places[id(s)] = ("item", item.like)
                self.items.append(item)
        for item in candidates:
            at = id(self.was(item.tensor)._storage)
            if at not in staying:
                self.fixed.pop(at, None)
                if at not in first:
                    self.places.pop(at, None)

    def _owners(self) -> dict[int, Tensor]:
        """id of a tensor -> a view of it, of those that are found through their views alone."""
        found = {}
        for t, was in self.journal.tensors.values():
            known = id(t) in self.reach.tensors or any(t is a for a in self.arguments)
            if known and was._view is not None and was._view.base is not None and was._view is t._view:
                found[id(was._view.base)] = t
        return found

    def _find_exact(self, leaves: set, writes: list[tuple], recipes: Recipes) -> None:
        """Views among the arguments of which it counts which part of their base they are.

        It does where the base is used by itself, or where code that ran mentions ``storage_offset``.
        """
        used = {self.places.get(id(s)) for s, slot in self.capture.held.values() if slot in leaves}
        used |= {w[0] for w in writes} | recipes.used
        asked = "storage_offset" in self.watcher.names
        self.exact = [
            i for i, t in enumerate(self.arguments)
            if t._view is not None and (asked or self.places.get(id(t._storage)) in used)
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
        self.find()
        if self.capture.borrowed.changed(self._changed()):
            self.capture.blame("it writes to an argument whose memory NumPy may write to", of_others=True)
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

    def guard(self, spec: Specialisation, arguments: Arguments) -> None:
        """Let the guards require tensors as they were before the call."""
        spec.arguments = arguments
        spec.arguments.exact = self.exact
        made = [t for t in self.arguments if self.was(t)._grad_fn is not None]
        if made and not any(map(self._looked_at, made)):
            spec.arguments.let_vary()
        items = {id(item.tensor) for item in (*self.items, *self.dropped, *self.shown)}
        used = {id(s) for kind, s in (*spec.leaves, *(w[0] for w in spec.writes)) if kind == "fixed"}
        items -= self.moved.keys()
        tensors = [t for t, _ in self.reach.tensors.values()
                   if id(t) not in items and (id(t) not in self.grown or id(t._storage) in used)]
        spec.watch_tensors(tensors, self.grads, self.arguments, self.items, self.was)
        spec.watch_dropped(self.dropped, self.shown, self.was)
        spec.trees = Trees(self.trees, [row.holder for row in self.reach.rows])
        for tree in self.trees:
            for row, key in ((tree.row, tree.key), *tree.also):
                row.varying.add(key)
        for item in (*self.items, *self.dropped, *self.shown):
            for row, key in ((item.row, item.key), *item.also):
                row.varying.add(key)
        for place in self.numbers.values():
            place.row.varying.add(place.key)

    def _looked_at(self, t: Tensor) -> bool:
        """Whether the call did more with the history of an argument than record what comes after it."""
        node = self.was(t)._grad_fn
        return id(t) in self.journal.histories or id(node) in self.walked or any(
            other is not t and self.was(other)._grad_fn is node
            and self.was(other)._output_nr == self.was(t)._output_nr for other in self.arguments
        )

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
        graph = Graph(self)
        recipes = Recipes(graph, self.journal.is_born, numbers, items, self.reach, self.place_of)
        recipes.dropped = frozenset(id(item.tensor) for item in (*self.dropped, *self.shown))
        recipes.stood, recipes.given = self.stood, self.given
        recipes.owners = self._owners()
        result = recipes.result(self.result)
        grads = self._new_grads(recipes)
        writes = self._writes()
        moved = [(t, row_of(t, recipes, self.raised.get(id(t), 0))) for t in self.moved.values()]
        sinks = [(row, key, recipes.result(x), follows) for row, key, x, follows in self.sinks]
        self.followed = [(row, key) for row, key, _, follows in self.sinks if follows]
        self.sinks.clear()
        self.watcher.forget()
        let_go(recipes.nodes, lambda t: not self.journal.is_born(t) or id(t) in recipes.tensor_numbers)
        self._survivors(recipes)
        seeds, drawn = capture.seeds(), capture.draws.moved()
        ends = capture.draws.taking.ends()
        if capture.reasons:
            raise Unnamed("what was said")
        needed = {v.producer[1] for v in (*(s.value for s in recipes.storages), *(w[1] for w in writes)) if
                  self._owed(v) and v.producer[1] >= 0}
        needed |= {q.flag.producer[1] for q in program.checks}
        order = self._order(leaves)
        new_slot = {slot: -1 - i for i, slot in enumerate(order)}
        nodes = graph.close(recipes, new_slot)
        self._kept_numbers(recipes)
        if capture.reasons:
            raise Unnamed("what was said")
        tape = capture.tape
        reads = tape.reads if tape.waits({stored.entry for stored in self.stored}) else []
        needed.update(slot for slot in reads if slot >= 0)
        joins = nodes is not None and nodes.hold
        donatable = () if joins else self._donatable(order, writes, recipes)
        if reads and joins and program.checks:
            raise Unwalked(f"{LATER}, and reads a number that may be wrong")
        if reads:  # which decide what is published: nothing is given away before they are known
            kept = sum(capture.leaves[-1 - order[i]].aval.nbytes for i in donatable)
            if kept > _MOST_KEPT and not capture.fullgraph:
                capture.reads = END
                self.blame(f"it reads numbers of tensors, and overwrites {kept >> 20} MB", lasting=True)
                raise Unnamed("what was said")
            donatable = ()

        def slot_of(value: Value) -> int:
            if not self._owed(value):
                raise Unnamed("a tensor made of data from outside")
            slot = value.producer[1]
            if slot < 0 and slot not in new_slot:
                raise Unnamed("memory of a tensor that it does not read")
            return slot if slot >= 0 else new_slot[slot]

        spec = Specialisation()
        spec.nodes, spec.joins = nodes, joins
        spec.guard = Guard(self.reach.rows)
        spec.leaves = [leaves[slot] for slot in order]
        drawn_leaves = [capture.leaves[-1 - slot] for slot in order if leaves[slot][0] == "drawn"]
        spec.constants = [
            None if leaves[slot][0] != "constant" else capture.leaves[-1 - slot] for slot in order
        ]
        spec.shared = self._shared(order)
        spec.writes = [(place, slot_of(v), *more) for place, v, *more in writes]
        spec.fresh = [slot_of(s.value) for s in recipes.storages]
        spec.recipes, spec.result, spec.grad_makers = recipes.tensors, result, grads
        spec.shares = recipes.shares
        spec.sinks = [
            (row.access(key), row.holder, (row.held, *spec.guard.index(row, key)) if follows else None, make)
            for row, key, make, follows in sinks
        ]
        spec.stored = [stored.rows(spec.guard) for stored in self.stored]
        spec.places = list(self.numbers.values())
        spec.looks = [*zip(*((p.get, p.holder, p.at) for p in spec.places))]
        spec.flags, spec.settings, spec.moved = self.flags, self.settings, moved
        spec.plain_grads = None if joins else self._plain_grads(recipes)
        spec.viewed = recipes.used
        self._find_exact(set(leaves), writes, recipes)
        if reads and call_host(step for step in program.trace if step.__class__ is Plan):
            raise Unnamed("a number that is read, beside a call of the host")
        capture.commit(order)  # nothing is refused from here on
        self.committed = True
        spec.seeds, spec.drawn = seeds, drawn
        spec.taken = capture.draws.taking.taken(drawn_leaves, ends, program.device)
        # Numbers of a group that are followed say themselves what an update takes; the others are guarded.
        followed = {id(p.holder) for p in spec.places}
        spec.events = [e for e in self.watcher.events if e[0] == "schedule" or id(e[2]) not in followed]
        spec.floats, spec.integers, spec.complexes = program.floats, program.integers, program.complexes
        spec.checks = program.checks
        spec.tape = capture.tape if capture.tape.used else None
        spec.reads = [slot if slot >= 0 else new_slot[slot] for slot in reads]
        spec.patient = capture.fullgraph
        trace = spec.trace = tuple(program.trace)
        spec.leaf_avals = [leaf.aval for leaf in program.leaves]
        if joins:  # it runs like any other, this time
            spec.load(Recorded(trace, len(order), len(program.results)))
            return spec
        program.giving = donatable
        alive = tuple(sorted(needed))
        entry = program_cache.known(trace)
        executable = entry.serving(alive, donatable)
        if executable is None or executable.offered < len(donatable) or (reads and executable.spares):
            why = explain.why_compiled(trace, alive, program_cache.traces())
            spare = Counter(new._aval for _, new in self.new_grads
                            if self.replaces and large(new._aval) and not reads)
            line = user_line()
            executable = Executable(trace, alive, donatable, program.signature(), why, line, spare)
            program_cache.keep(trace, entry, executable)
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
        for slot in self._read():
            value = capture.leaves[-1 - slot]
            if slot in viewed:
                found[slot] = ("view", viewed[slot])
            elif slot in by_slot:
                found[slot] = self.places[id(by_slot[slot])]
            elif self.capture.draws.taking.node_of(value) is not None:
                found[slot] = ("drawn", None)
            elif self.journal.is_constant(value):
                found[slot] = ("constant", None)
            else:
                self.blame(f"it reads a tensor of shape {list(value.aval.shape)} {UNKNOWN}")
        if self.capture.reasons:
            raise Unnamed("what was said")
        return found

    def _read(self) -> set[int]:
        """The slots of leaves that the operations take, or that are there afterwards."""
        found = {x for x in self.program.trace if x.__class__ is int and x < 0}
        found.update(slot for slot in self.capture.tape.reads if slot < 0)
        for s in (*self._changed(), *self.journal.born_storages()):  # a clone is the same memory at first
            if self._owed(s.value) and s.value.producer[1] < 0:
                found.add(s.value.producer[1])
        return found

    def _order(self, leaves: dict[int, tuple]) -> list[int]:
        """In the order of first use, which is the same at every capture of the same program."""
        first = self.program.first_uses()
        return sorted(leaves, key=lambda slot: first.get(slot, len(self.program.trace) - slot))

    def _shared(self, order: list[int]) -> list[list[Storage]]:
        """Leaves that stand for several storages, which must go on sharing their value."""
        owners: dict[int, list[Storage]] = {}
        for s, slot in self.capture.held.values():
            if id(s) in self.places:
                owners.setdefault(slot, []).append(s)
        shared = [owners[slot] for slot in order if len(owners.get(slot, ())) > 1]
        if any(self.places[id(s)][0] != "fixed" for storages in shared for s in storages):
            raise Unnamed("another counter of an optimizer, which was one number with others")
        return shared

    # ----------------------------------------------------------------------------------------- writes

    def _changed(self) -> list[Storage]:
        """Storages that were there before and hold another value now, or count more writes."""
        held, leaves = self.capture.held, self.capture.leaves
        return [s for s, _, epoch in self.journal.storages.values()
                if s.epoch != epoch or (id(s) in held and s.value is not leaves[-1 - held[id(s)][1]])]

    def _writes(self) -> list[tuple]:
        """(place, new value, how much its epoch and its version go up, alias) of each storage written.

        ``alias`` is None, or whose version goes up instead of the storage's: the version cell of a captured
        tensor, or the number of an argument.
        """
        bumps = {id(cell): cell[0] - saved[0] for cell, saved in self.journal.cells.values()
                 if cell[0] != saved[0]}
        cell_of = self.journal.cell_of
        aliases = self._aliases(bumps)
        found = []
        for s in self._changed():
            at, alias = aliases.get(id(s), (id(cell_of[id(s)]), None))
            bump = bumps.pop(at, 0)
            found.append((self.place_of(s), s.value, s.epoch - self.journal.storages[id(s)][2], bump, alias))
        for t in self.moved.values():
            self.raised[id(t)] = bumps.pop(id(version_cell(t)), 0)
        if bumps:
            self.blame("it writes through several tensors that show one memory and count its writes apart")
        return found

    def _aliases(self, bumps: dict[int, int]) -> dict[int, tuple]:
        """id of a storage -> (id of a cell among ``bumps``, alias as of `_writes`), for those of aliases."""
        left = *self.items, *self.dropped, *self.shown
        replaced = {id(item.tensor) for item in left} - self.moved.keys()
        given = {id(t): i for i, t in enumerate(self.arguments)}
        found: dict[int, tuple] = {}
        for t, was in self.journal.tensors.values():
            own = self.journal.cell_of[id(was._storage)]
            cell = own if was._view is None else was._view.version
            known = id(t) in given or (id(t) in self.reach.tensors and id(t) not in replaced)
            if known and id(cell) in bumps and cell is not own:
                found[id(was._storage)] = id(cell), given.get(id(t), cell)
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
                if old is new or name == "_output_nr" or (name in MEMORY and id(t) in self.moved):
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

    def _kept_numbers(self, recipes: Recipes) -> None:
        """Tracked numbers that live on where nobody can put another one at the next call."""
        tape = self.capture.tape
        there = [*(p.now() for p in self.numbers.values()), *(s.place.now() for s in self.stored)]
        if tape.used and tape.kept(recipes.tracked.union(map(id, there))):
            self.blame("it keeps a number in an object that it made", lasting=True)
            self.capture.keeps_numbers = True


def _replaceable(t: Before) -> bool:
    """Whether any other tensor like it could have stood at its place."""
    view, base = t._view, t._view and t._view.base
    if t._grad is not None:
        return False
    if base is not None and (base._requires_grad or base._grad_fn is not None or base._view is not None):
        return False
    return view is None or view.version is t._storage.version


def _is_plain_view(t: Tensor) -> bool:
    """Whether a tensor is a view that shows its memory, and no history."""
    view = t._view
    return view is not None and view.base is not None and _replaceable(t) and t._grad_fn is None
