"""A specialisation: a compiled program of one function, and all it takes to run it without Python.

NOTE [The quick call]
    A call whose guards hold reads the present values of its leaves and changes what the captured call
    changed, in one C call: the storages that it wrote get new Values, and version and epoch go up by what
    they went up then, so that views and aliases see the write; gradients, attributes and flags change,
    generators go on. The Values are pending in a `Run`, which is closed at once: NOTE [A quick call publishes
    first]. If somebody has changed meanwhile what the call changes, nothing is stored, and the guards are
    checked again.

    An old .grad that the call replaces goes on as the new one where nobody else refers to it: no difference
    from a new tensor can be seen. Numbers are found anew at each call: seeds and offsets come from the
    generators, an optimizer's from its groups.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from itertools import chain, repeat, starmap
from operator import add, attrgetter, call, itemgetter, setitem
from typing import Any
from weakref import getweakrefcount, ref

import jax
import numpy as np

from jaxflow._core.commit import (
    Overtaken,
    all_at_epochs,
    all_equal,
    all_same,
    commit_parts,
    commit_results,
    rows_called,
    stores,
    with_grads,
)
from jaxflow._core.device import resolve
from jaxflow._core.fields import grad_row, requires_grad_row
from jaxflow._core.memory_errors import OutOfMemoryError
from jaxflow._core.run_hooks import WATCHERS
from jaxflow._core.shared import unconverted
from jaxflow._core.tensor import Tensor
from jaxflow._core.value import Value, as_number
from jaxflow._exec import explain, late_failures
from jaxflow._exec.buffer_reuse import large
from jaxflow._exec.deferred_checks import Check, UncheckedRun, unchecked_run
from jaxflow._views.values import view_value

from ._call import COMPILED, MISSED, Call
from ._containers import Replaced
from ._joined import Joined, Joining
from ._nodes import Nodes
from ._outlines import PLAIN, Before
from ._picks import pick
from ._reading import Reading
from ._rows import Item
from ._run import Run
from ._shared_arguments import apart
from ._sole import expected, references, referred
from ._steady import Steady
from ._taken import NO_DRAWS, Taken
from ._tensor_guards import Conditions, Found

_value_of, _producer_of, _unchecked_of = attrgetter("value"), attrgetter("producer"), attrgetter("unchecked")
_grad_of, _epoch_of, _offset_of = attrgetter("_grad"), attrgetter("epoch"), attrgetter("_offset")
_version_of, _first = attrgetter("version"), itemgetter(0)
_NONE = repeat(None)

# Unchecked runs that depend on each other before they are settled together, which costs as much as a guard.
_CHAIN = 16

# How many runs may be in vain because the numbers that they read decide otherwise, and a fourth of the calls
# that are served.
_PATIENCE = 4


class Specialisation(Conditions):
    """See NOTE [The quick call]; `_builder.Builder` fills it in."""

    leaves: list[tuple]
    constants: list
    writes: list[tuple]
    fresh: list[int]
    recipes: list[Callable]
    result: Callable
    grad_makers: list[tuple]
    plain_grads: list[tuple] | None
    viewed: set[tuple]
    sinks: list[tuple]
    shares: bool  # whether a container that it makes stands at several places
    flags: list[tuple]
    stored: list[Callable[[Any], list[tuple]]]
    settings: list[tuple]
    moved: list[tuple]  # tensors that get other memory, with what makes the stores
    seeds: dict[int, tuple]
    drawn: list[tuple]
    taken: Taken | None  # what is drawn from PyTorch's stream
    events: list[tuple]
    integers: list
    complexes: list
    checks: list
    nodes: Nodes | None  # of histories that are each call's own
    joins: bool  # whether they keep Values: then it records, and runs nothing
    at: dict[int, int]  # slot -> the number of its Value
    reads: list[int]  # slots of the numbers of tensors that the call reads
    patient: bool  # whether it goes on running in vain, for Python may not run at each call
    trace: tuple

    def __init__(self) -> None:
        self.hits = self.wasted = 0  # wasted: runs whose numbers turned out to decide otherwise
        # The latest run, unchecked, and what of it is noted at the values that were written.
        self.latest: tuple[UncheckedRun | None, Sequence] = None, ()
        self.pending: list[UncheckedRun] = []  # runs whose checks may still be open, the oldest first

    # --------------------------------------------------------------------------------------- making it

    def load(self, executable: Any) -> None:
        """Arrange everything for a quick call of ``executable``."""
        self.executable = executable
        self.entrance = executable.entrance
        self.device = resolve(self.trace[0].device)[1]
        self._load_leaves(executable)
        self._load_results(executable.outputs)
        if self.joins:
            executable.load(self.at)
        if self.nodes is not None:
            self.nodes.load(self.at)
        self.dynamic = [e for e in self.events if e[0] == "numbers"]
        self.about = self.trace, (), ref(self)
        self.known_groups = [None] * len(self.dynamic)
        self.schedules = [e[1] for e in self.events if e[0] == "schedule"]
        self.turns = _in_turns(self.events)
        self.in_order = bool(self.turns or self.reads)  # something has to be known before something else
        self.at_once = range(0 if self.turns else len(self.dynamic))
        self.generators = [g for g, _, _ in self.drawn]
        self.all_generators = [*self.generators, *(() if self.taken is None else self.taken.generators)]
        self.seed_list = [(at, g, draw) for at, (g, draw) in self.seeds.items()]
        self.float_array = self._vector(self.floats, np.float64)
        self.complex_array = self._vector(self.complexes, np.complex128)
        self.integer_array = self._vector(self.integers, np.int64)
        if any(x.__class__ is not Value for x in self.from_constants):
            raise TypeError("a constant has to be a Value")

    def _load_leaves(self, executable: Any) -> None:
        """Where the Values that are read come from; they are gathered by where that is."""
        groups: dict[str, list[int]] = {
            k: [] for k in ("fixed", "argument", "view", "grad", "item", "constant", "drawn")
        }
        for i, (kind, _) in enumerate(self.leaves):
            groups[kind].append(i)
        at = {leaf: k for k, leaf in enumerate(i for kind in groups.values() for i in kind)}
        self.leaf_at = [at[i] for i in range(len(self.leaves))]
        self.storages = [self.leaves[i][1] for i in groups["fixed"]]
        self.from_arguments = [self.leaves[i][1] for i in groups["argument"]]
        self.from_views = [self.leaves[i][1] for i in groups["view"]]
        self.from_grads = [self.leaves[i][1] for i in groups["grad"]]
        self.from_constants = [self.constants[i] for i in groups["constant"]]
        self.from_items = [self.leaves[i][1] for i in groups["item"]]
        reads = {kind for kind, _ in self.leaves if kind != "drawn"}  # these are made at each call
        changes = {kind for kind, _ in (*(w[0] for w in self.writes), *self.viewed)}
        changes.update(self.leaves[i][0] for i in executable.donated)
        # Plain: captured tensors and arguments are all there is; simple: gradients and constants, too.
        self.plain = reads | changes <= {"fixed", "argument"}
        self.simple = reads <= {"fixed", "argument", "grad", "constant"} and changes <= {"fixed", "argument"}
        self.donated = [at[i] for i in executable.donated]
        self.pick_donated = pick(self.donated)
        self.pick_kept = pick([at[i] for i in executable.kept])
        self.sole = expected(len(executable.donated))

    def _load_results(self, outputs: Sequence[int]) -> None:
        """Where results go; Values are numbered: those that are read, then those of ``outputs``."""
        self.outputs = outputs
        self.avals: dict[int, Any] = {}
        slot = 0
        for step in self.trace:
            if step.__class__ is not int:
                for aval in step.out_avals:
                    self.avals[slot] = aval
                    slot += 1
        count = len(self.leaf_at)
        at = self.at = {slot: count + o for o, slot in enumerate(outputs)}
        at.update((-1 - i, k) for i, k in enumerate(self.leaf_at))
        self.new_avals = [self.avals[slot] for slot in outputs]
        writes = self.writes = sorted(self.writes, key=lambda write: write[0][0] != "fixed")
        self.written = [place[1] for place, *_ in writes if place[0] == "fixed"]
        self.other_places = [place for place, *_ in writes if place[0] != "fixed"]
        self.writes_arguments = any(place[0] == "argument" for place in self.other_places)
        self.pick_written = pick([at[slot] for _, slot, *_ in writes])
        self.aliases = [(k, alias) for k, (*_, alias) in enumerate(writes) if alias is not None]
        self.cells = self.cells_of(self.written, ())
        self.epochs, self.bumps = [w[2] for w in writes], [w[3] for w in writes]
        self.pick_fresh = pick([at[slot] for slot in self.fresh])
        self.makers = list(enumerate(self.recipes))
        self.check_from = [(q, outputs.index(q.flag.producer[1])) for q in self.checks]
        self.pick_flags = pick([o for _, o in self.check_from])
        self.pick_reads = pick([at[slot] for slot in self.reads])
        # What the places that are read hold afterwards.
        left = {place: slot for place, slot, *_ in writes if slot >= 0 and place[0] == "fixed"}
        by_position = {k: left.get(self.leaves[i]) for i, k in enumerate(self.leaf_at)}
        self.pick_left = pick([outputs.index(by_position[k]) if by_position[k] in outputs else -1
                               for k in range(count)])
        self.left_pairs = [(-1 - i, left[self.leaves[i]]) for i in range(count) if self.leaves[i] in left]
        self._load_grads(at)

    def _load_grads(self, at: dict[int, int]) -> None:
        """Find out whether old gradients can go on as the new ones."""
        self.renewed: list[tuple] = []  # owner, slot of the result, version and epoch, of each
        grads = self.plain_grads
        if grads and self.plain:
            self.renewed = [(owner, self.fresh[n], *since) for owner, n, _, *since in grads]
            made = {number for _, _, number, *_ in grads}
            self.pick_renewed = pick([at[slot] for _, slot, *_ in self.renewed])
            self.old_versions = [version for _, _, version, _ in self.renewed]
            self.old_epochs = [epoch for *_, epoch in self.renewed]
            self.sole_grads = expected(0, len(grads))
            # When it is stored, the list of what is replaced refers to their storages, too.
            self.sole_replaced = [n + (k >= len(grads)) for k, n in enumerate(self.sole_grads)]
            self.other_makers = [m for m in self.makers if m[0] not in made]
            large_ones = [k for k, (_, slot, *_) in enumerate(self.renewed)
                          if self.executable.spares and large(self._aval(slot))]
            self.pick_large = pick(large_ones)

    def _aval(self, slot: int) -> Any:
        """The aval of a result, or of a leaf."""
        return self.avals[slot] if slot >= 0 else self.leaf_avals[-1 - slot]

    def watch_tensors(self, tensors: list[Tensor], grads: list[Tensor], arguments: list[Tensor],
                      items: list[Item], was: Callable[[Tensor], Before]) -> None:
        """Note what captured tensors were like, and whose ``.grad`` was there; ``was`` says so."""
        super().watch_tensors(tensors, grads, arguments, items, was)
        before = {id(t): m for t, m in zip(self.graded, self.grad_metas)}
        if any(before.get(id(owner)) != (self._aval(slot), *PLAIN) for owner, slot, *_ in self.renewed):
            self.renewed = []
        if self.renewed:
            self.ask_whole_grads()
        self.renewed_owners = [owner for owner, *_ in self.renewed]
        having = {id(t): k for k, t in enumerate(self.having)}
        self.pick_grads = pick([having[id(owner)] for owner in self.renewed_owners])
        self.read_owners = [self.grad_owners[i] for i in self.from_grads]
        self.simple = self.simple and all(id(owner) in having for owner in self.read_owners)
        self.pick_read = pick([having[id(owner)] for owner in self.read_owners] if self.simple else ())
        self.usual = next((way(self) for way in (Reading, Steady, Joining) if way.possible(self)), None)

    def only_makes(self) -> bool:
        """Whether it changes nothing that is there, and its result is all that is new."""
        changes = (self.writes, self.grad_makers, self.sinks, self.stored, self.settings, self.flags,
                   self.moved, self.all_generators)
        return self.simple and not (any(changes) or self.checks or self.schedules)

    def _vector(self, numbers: list, dtype: Any) -> Any:
        """The numbers as the program takes them."""
        if self.joins:
            return np.array(numbers, dtype)
        return jax.device_put(np.array(numbers, dtype), self.device) if numbers else None

    # -------------------------------------------------------------------------------------------- call

    def call(self, leaves: list) -> Any:
        """The quick call if every guard holds; otherwise MISSED."""
        usual = self.usual
        while self.in_order:
            try:
                if self.unsteady():
                    return MISSED
                return self._after_schedules(leaves) if self.turns else self._having_read(leaves)
            except Overtaken:
                continue
        while True:
            try:
                found = self.fits(leaves)
                if found is None:
                    return MISSED
                result = MISSED if usual is None else usual.run(self, found)
                return self._general(found) if result is MISSED else result
            except Overtaken:  # somebody changed what the call changes, or refers to it: it starts from that
                usual = None

    def _after_schedules(self, leaves: list) -> Any:
        """The quick call where a schedule steps before an update of its optimizer.

        Schedules step and numbers are found as the events say. Where the call does not come to publishing, it
        is as if they had not stepped.
        """
        found = self.fits(leaves)
        if found is None:
            return MISSED
        held = [(x, dict(x)) for s in self.schedules for x in (vars(s), *s.optimizer.param_groups)]
        try:
            for step, numbers in self.turns:
                if step is not None:
                    step()
                elif not self._numbers_fit(numbers):
                    return MISSED
            now: tuple | None = (None, self.float_array, self.integer_array)
            if self.tape is not None:
                now = self._arithmetic(self._start(leaves))
            return MISSED if now is None else self._general((*found[:3], *now, found[6]), (held.clear,))
        finally:
            rows = [row for x, before in held for row in ((x.clear,), (x.update, before))]
            commit_results(rows_called(rows))

    def _having_read(self, leaves: list) -> Any:
        """The quick call where numbers of its results decide: it runs first, and publishes if they agree."""
        found = self.fits(leaves)
        return MISSED if found is None else self._general(found)

    def unsteady(self) -> bool:
        """Whether too many of its runs were in vain: Python is quicker then."""
        return 4 * (self.wasted - _PATIENCE) > self.hits and not self.patient

    def _read(self, values: list, numbers: Sequence, entries: list) -> tuple[list, list] | None:
        """Run the program: its results, and all entries of the tape; None if Python decides otherwise.

        None, too, where it cannot run, or does something wrong: Python says where.
        """
        for value in values:
            unchecked = value.unchecked
            if unchecked is not None:
                if unchecked[0].settle(wait=True):
                    return None
                value.unchecked = None
        kept = [value.get() for value in self.pick_kept(values)]
        try:
            results = self.entrance.results(kept, numbers)
            if self.executable.watched:
                self.executable.look(results)
            arrays = [*(value.array for value in values), *results]
            read = [as_number(np.asarray(x)) for x in self.pick_reads(arrays)]
            wrong = any(np.asarray(x)[0] for x in self.pick_flags(results))
        except (jax.errors.JaxRuntimeError, OutOfMemoryError):
            return None
        now = self._decided(entries, None if wrong else read)
        return None if now is None else (results, now)

    def _decided(self, entries: list, read: list | None) -> list | None:
        """All entries of the tape with the numbers that were read; None if Python decides otherwise."""
        now = None if read is None else self.tape.evaluate(entries[: self.tape.count], read)
        self.disagreed = now is None
        self.wasted += self.disagreed
        return now

    def _general(self, found: Found, *more: tuple) -> Any:
        """The quick call, whoever else refers to what it reads and changes; it stores ``more`` rows, too.

        MISSED if numbers that it reads decide otherwise.
        """
        this, owners, read = self._holders(*found[:2], found[3])
        written: Any = self.written
        if self.other_places:
            written = [*written, *map(this.place, self.other_places)]
        epochs = list(map(_epoch_of, written))  # before the Values: a write in between is noticed so
        nodes, joins = self.nodes, self.joins
        guarded = () if nodes is None else nodes.begin(this)
        values = self._values(this, *found[:3])
        taken = NO_DRAWS if self.taken is None else self.taken.again()
        values += taken.values
        if not joins and any(map(_producer_of, values)):
            _wait_for(values)
        generators = self.generators
        offsets = list(map(_offset_of, generators))
        run: Any = (Joined if joins else Run)(self, values, self.numbers(*found[4:6]))
        new: list[Value]
        if joins:
            if not run.record():
                return MISSED
            if self.reads:
                this.entries = self._decided(found[3], run.read())
                if this.entries is None:
                    return MISSED
            new = run.new
        elif self.reads:
            ran = self._read(values, run.numbers, found[3])
            if ran is None:
                return MISSED
            results, this.entries = ran
            new = list(map(Value, self.new_avals, results))
        else:
            new = run.new = list(map(Value, self.new_avals, _NONE, zip(repeat(run), self.outputs)))
            run.marks, run.noted = self.unchecked(values, self.pick_flags(new))
        every = values + new
        if nodes is not None:
            nodes.make(this, every, run.numbers[int] if joins else (), guarded)
        this.fresh = self.pick_fresh(every)
        cells = self.cells_of(written, this.arguments)
        if self.viewed:
            this.raise_versions(cells, self.bumps)
        rows, held = [*self.draws(offsets), *taken.rows, *more], []
        run.replaced = written, list(map(_value_of, written)), cells, list(map(_first, cells)), (), ()
        grads = self._grads_changed(this, run, every, *found[1:3], rows)
        if self.sinks or self.stored or self.settings or self.flags or self.moved:
            self.store_rest(this, rows, held)
        result = self.result(this)
        if joins:
            rows += run.rows()
        undisturbed = chain(
            run.conditions() if joins else (), all_at_epochs(written, epochs), unconverted(found[6][1]),
            with_grads(owners, read), all_equal(map(_offset_of, generators), offsets),
            all_same(map(_offset_of, self.all_generators[len(offsets):]), taken.places),
            self.numbers_still(found[3]),
        )
        then = chain(
            stores(written, "value", self.pick_written(every)),
            stores(written, "epoch", map(add, epochs, self.epochs)),
            map(setitem, cells, repeat(0), map(add, map(_first, cells), self.bumps)),
        )
        del every
        try:
            commit_parts(undisturbed, *grads, then, rows_called(rows))
        except Overtaken:
            run.give_up()
            raise
        started = time.perf_counter() if WATCHERS else 0.0
        if self.reads:
            run.give_up()
        else:
            run.close(COMPILED)
        self.finish(started)
        return result

    def _grads_changed(self, this: Call, run: Run, every: list, plain: list | None, storages: list,
                       rows: list) -> tuple[Iterable, ...]:
        """Make the new tensors; the conditions, then the stores that give tensors their new gradients.

        They go to ``rows`` where each ``.grad`` gets another tensor.
        """
        grads, memory = self._old_grads(plain, storages)
        for number, recipe in self.other_makers if memory else self.makers:
            this.made[number] = recipe(this)
        written, old, cells, versions, *_ = run.replaced
        if memory:  # the old tensors go on as the new ones
            their_cells, their_values = list(map(_version_of, memory)), list(map(_value_of, memory))
            if self.executable.spares:
                run.dropped = self.pick_large(their_values)
            run.replaced = ([*written, *memory], old + their_values, cells + their_cells,
                            versions + list(map(_first, their_cells)), (), ())
            return (
                with_grads(self.renewed_owners, grads), referred(grads, memory, self.sole_replaced),
                stores(memory, "value", self.pick_renewed(every)), stores(memory, "epoch", self.old_epochs),
                map(setitem, their_cells, repeat(0), self.old_versions),
            )
        if not self.grad_makers:
            return ()
        owners = [t if t.__class__ is not int else this.arguments[t] for t, _ in self.grad_makers]
        before = list(map(_grad_of, owners))
        rows += [grad_row(t, None if maker is None else maker(this))
                 for t, (_, maker) in zip(owners, self.grad_makers)]
        run.replaced = written, old, cells, versions, owners, before
        return (with_grads(owners, before),)

    def finish(self, started: float) -> None:
        """What follows a run that was handed over."""
        if not self.joins and not self.executable.calls_host:
            late_failures.called(self.about)
        if not self.joins and WATCHERS:
            explain.ran(self.executable.entry, COMPILED, time.perf_counter() - started)
        for scheduler in () if self.turns else self.schedules:
            scheduler.step()

    def _holders(self, arguments: list, plain: list | None,
                 entries: list | None) -> tuple[Call, Sequence, Sequence]:
        """The call, and owners of gradients that are read or changed, with these."""
        made = entries, len(self.fresh), len(self.recipes)
        if self.simple and plain is not None:
            return Call(arguments, (), (), *made), self.read_owners, self.pick_read(plain)
        items = list(starmap(call, self.items))
        owners = [t if t.__class__ is not int else arguments[t] for t in self.grad_owners]
        grads = list(map(_grad_of, owners))
        return Call(arguments, grads, items, *made), owners, grads

    def _values(self, this: Call, arguments: list, plain: list | None, storages: list) -> list[Value]:
        """The present Values of all that is read."""
        if self.simple and plain is not None:
            return self.read(arguments, storages)
        grads, items = this.grads, this.items
        values = list(map(_value_of, self.storages))
        for i in self.from_arguments:
            value = arguments[i]._storage.value
            values.append(value if value.__class__ is Value else apart(value))
        for i in self.from_views:
            value = view_value(arguments[i])
            values.append(value if value.__class__ is Value else apart(value))
        values += [grads[i]._storage.value for i in self.from_grads]
        values += [items[i]._storage.value for i in self.from_items]
        return values + self.from_constants

    def read(self, arguments: list, memory: list) -> list[Value]:
        """The same, where that is ``simple`` and all gradients are plain; ``memory``: their storages."""
        values = list(map(_value_of, self.storages))
        for i in self.from_arguments:
            value = arguments[i]._storage.value
            values.append(value if value.__class__ is Value else apart(value))
        if not self.plain:
            values += map(_value_of, self.pick_read(memory))
            values += self.from_constants
        return values

    def cells_of(self, written: list, arguments: Sequence) -> list:
        """Where the versions are counted that go up with writes to these storages."""
        cells = list(map(_version_of, written))
        for k, alias in self.aliases:
            if k < len(cells) and (arguments or alias.__class__ is list):
                cells[k] = alias if alias.__class__ is list else arguments[alias]._view.version
        return cells

    def _old_grads(self, plain: list | None, storages: list) -> tuple[Sequence, Sequence]:
        """Old gradients that go on as the new ones, and their storages: nobody else refers to them."""
        if plain is not None and self.renewed:
            grads, memory = self.pick_grads(plain), self.pick_grads(storages)
            if references((), (), grads, memory) == self.sole_grads and not any(map(getweakrefcount, grads)):
                return grads, memory
        return (), ()

    def vectors(self) -> tuple:
        """The numbers of the captured call, as the program takes them beside arrays."""
        integers = np.array(self.integers, np.int64) if self.seed_list else self.integer_array
        return self.float_array, integers, self.complex_array

    def numbers(self, floats: Any, integers: Any) -> tuple:
        """What the program takes beside arrays."""
        if self.seed_list:
            integers = self._seeded(self.integers if integers is self.integer_array else integers)
        return floats, integers, self.complex_array

    def draws(self, offsets: list) -> list[tuple]:
        """The stores that let the generators, which are at ``offsets``, go on."""
        rows = []
        for (g, moved, seed), offset in zip(self.drawn, offsets):
            rows.append((setattr, g, "_offset", moved if seed is not None else offset + moved))
            if seed is not None:
                rows.append((setattr, g, "_seed", seed))
        return rows

    def _seeded(self, integers: Any) -> Any:
        numbers = list(integers)
        for at, g, draw in self.seed_list:
            x = g._seed if draw is None else g._offset + draw
            numbers[at] = x - (1 << 64) if x >= 1 << 63 else x
        return np.array(numbers, np.int64)

    def store_rest(self, this: Call, rows: list, held: list) -> None:
        """Add to ``rows`` what is stored in containers and flags, and to ``held`` what it replaces."""
        for (get, put, at), holder, followed, maker in self.sinks:
            x = maker(this)
            if holder.__class__ is Replaced:
                holder = holder.now()
            held.append(get(holder, at))
            if put.__class__ is tuple:
                *clear, fill = put
                rows += [*((f, holder) for f in clear), (fill, holder, x)]
            else:
                rows.append((put, holder, at, x))
            if followed is not None:  # else what Python does next is another thing
                known, index, position = followed
                rows += [(setitem, known, index, x), (setitem, self.guard.flat, position, x)]
        for number in self.stored:
            rows += number(this.entries)
        rows += self.settings
        for t, stores_of in self.moved:
            held.append((t._storage, t._view))
            rows += stores_of(this)
        for owner, flag in self.flags:
            t = this.arguments[owner] if owner.__class__ is int else owner
            rows.append(requires_grad_row(t, flag))

    def unchecked(self, values: list, flags: Sequence[Value]) -> tuple[list | None, Sequence[tuple]]:
        """What this run may have done wrong (NOTE [Faults found late]), and the rows that note it.

        It is given as the ``unchecked`` of each result, with None as the last; None if there is none.
        ``flags`` are the answers to its checks.
        """
        unchecked_runs = tuple(map(_unchecked_of, values))
        if not flags and not any(unchecked_runs):
            return None, ()
        checks = [Check(flag, q.asked, q.affected, q.error, q.line)
                     for flag, (q, _) in zip(flags, self.check_from)]
        last, left = self.latest
        if checks and (unchecked_runs == left if last is not None else not any(unchecked_runs)):
            # What is read is as the run before left it, or checked.
            if len(self.pending) >= _CHAIN:
                self._settle()
            before = None if last is None or last.wrong == {} else (last, self.left_pairs)
            unchecked = UncheckedRun(checks, [], self.trace, before)
            row: tuple = self.pending.append, unchecked
        else:
            unchecked = unchecked_run(checks, [values[k] for k in self.leaf_at], self.trace)
            row = setattr, self, "pending", [] if unchecked is None else [unchecked]
            if unchecked is None:
                return None, [row, (setattr, self, "latest", (None, ()))]
        marks = [*zip(repeat(unchecked), self.outputs), None]
        return marks, [row, (setattr, self, "latest", (unchecked, self.pick_left(marks)))]

    def _settle(self) -> None:
        """Forget the runs of which it is known what went wrong."""
        for n, unchecked in enumerate(self.pending):
            if not unchecked.sound() and unchecked.settle(wait=False) is None:
                del self.pending[:n]
                return
        self.pending.clear()


def _in_turns(events: list[tuple]) -> list[tuple]:
    """(a schedule's step or None, which optimizers' numbers) in the order of ``events``.

    Empty where no schedule steps before an update of its optimizer: then all numbers are found first.
    """
    found: list[tuple] = []
    stepped: set[int] = set()
    mixed, k = False, 0
    for kind, what, *_ in events:
        if kind == "schedule":
            stepped.add(id(what.optimizer))
            found.append((what.step, range(0)))
        else:
            mixed |= id(what) in stepped
            found.append((None, range(k, k + 1)))
            k += 1
    return found if mixed else []


def _wait_for(values: list[Value]) -> None:
    """Run what is pending elsewhere; raises what went wrong."""
    for value in values:
        if value.producer is not None:
            value.producer[0].program.close(explain.ASKED)  # but not waited for
        if value.array is None:
            value.get()  # says what went wrong
