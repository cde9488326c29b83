"""A specialisation: a compiled program of one function, and all it takes to run it without Python.

NOTE [The quick call]
    A call whose guards hold reads the present values of its leaves, runs the executable and writes what
    it returns to where the captured call wrote it: the storages get new values, and version and epoch go up
    by what they went up then, so that views and aliases see the write. An old value that only its storage
    refers to is donated and its Value goes on with the new array, which nobody can tell from a new Value;
    one that somebody else holds (a clone, a graph) is copied first. An old .grad that the call replaces
    goes on as the new one where nobody else refers to it. Numbers are found
    anew at each call: seeds and offsets come from the generators, an optimizer's from its groups.

    All that the call changes is written down before the program runs, and is stored in the same C call
    (NOTE [One hand-over]): an interrupt finds the state before the call or the one after it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from itertools import chain, repeat
from operator import add, attrgetter, itemgetter, setitem
from typing import Any
from weakref import getweakrefcount, ref

import jax
import numpy as np

from jaxflow._core.commit import Overtaken, all_at_epochs, all_equal, commit_parts, stores, with_grads
from jaxflow._core.device import resolve
from jaxflow._core.fields import grad_row, requires_grad_row
from jaxflow._core.tensor import Tensor
from jaxflow._core.value import Value
from jaxflow._dispatch import explain, late
from jaxflow._dispatch.door import view_value
from jaxflow._dispatch.doubt import Doubt, Question, doubt_of
from jaxflow._dispatch.spares import chosen, large
from jaxflow._dispatch.state import several_threads
from jaxflow._dispatch.watching import WATCHERS

from ._conditions import PLAIN, Conditions
from ._picks import pick
from ._reach import Item
from ._reading import Reading
from ._sole import SOLE, array_references, expected, references
from ._steady import Steady
from ._stores import MISSED, Call, Stores

COMPILED = "call of a compiled function"

_value_of, _array_of, _producer_of = attrgetter("value"), attrgetter("array"), attrgetter("producer")
_doubt_of, _shared, _grad_of = attrgetter("doubt"), attrgetter("shared"), attrgetter("_grad")
_epoch_of, _offset_of = attrgetter("epoch"), attrgetter("_offset")
_version_of, _first = attrgetter("version"), itemgetter(0)


# Runs whose doubts hang on each other before they are settled together: asking costs as much as a guard.
_CHAIN = 16


class Specialisation(Conditions):
    """See NOTE [The quick call]; `_specialise.Builder` fills it in."""

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
    flags: list[tuple]
    settings: list[tuple]
    seeds: dict[int, tuple]
    drawn: list[tuple]
    events: list[tuple]
    integers: list
    complexes: list
    questions: list
    trace: tuple

    def __init__(self) -> None:
        self.hits = 0
        # The latest run's doubt, and what of it is in the doubts of the values that were written.
        self.latest: tuple[Doubt | None, list | None] = None, None
        self.entries: list | None = None
        self.pending: list[Doubt] = []  # runs nobody has asked about yet, the oldest first

    # --------------------------------------------------------------------------------------- making it

    def load(self, executable: Any) -> None:
        """Arrange everything for a quick call of ``executable``."""
        self.executable = executable
        self.entrance = executable.entrance
        self.device = resolve(self.trace[0].device)[1]
        groups: dict[str, list[int]] = {
            k: [] for k in ("fixed", "argument", "view", "grad", "item", "constant")
        }
        for i, (kind, _) in enumerate(self.leaves):
            groups[kind].append(i)
        gathered = [i for kind in groups.values() for i in kind]
        at = {leaf: k for k, leaf in enumerate(gathered)}
        self.storages = [self.leaves[i][1] for i in groups["fixed"]]
        self.from_arguments = [self.leaves[i][1] for i in groups["argument"]]
        self.from_views = [self.leaves[i][1] for i in groups["view"]]
        self.from_grads = [self.leaves[i][1] for i in groups["grad"]]
        self.from_constants = [self.constants[i] for i in groups["constant"]]
        self.from_items = [self.leaves[i][1] for i in groups["item"]]
        reads = {kind for kind, _ in self.leaves}
        changes = {kind for kind, _ in (*(w[0] for w in self.writes), *self.viewed)}
        changes.update(self.leaves[i][0] for i in executable.donated)
        # Plain: captured tensors and arguments are all there is; simple: gradients and constants, too.
        self.plain = reads | changes <= {"fixed", "argument"}
        self.simple = reads <= {"fixed", "argument", "grad", "constant"} and changes <= {"fixed", "argument"}
        self.leaf_at = [at[i] for i in range(len(self.leaves))]
        self.donated = [at[i] for i in executable.donated]
        self.sole = expected(len(self.donated))
        self.pick_donated, self.pick_kept = pick(self.donated), pick([at[i] for i in executable.kept])
        out = {slot: k for k, slot in enumerate(executable.outputs)}
        self.outputs = executable.outputs
        self.avals: dict[int, Any] = {}
        slot = 0
        for step in self.trace:
            if step.__class__ is not int:
                for aval in step.out_avals:
                    self.avals[slot] = aval
                    slot += 1
        # State that is donated and written: its Value goes on with the new array.
        donated_by = {self.leaves[i]: at[i] for i in executable.donated}
        rest, self.reused = [], []
        results: dict[int, int] = {}
        for _, slot, _, _ in self.writes:
            results[slot] = results.get(slot, 0) + 1
        for slot in self.fresh:
            results[slot] = results.get(slot, 0) + 1
        self.left_slots: list[int | None] = [None] * len(gathered)
        read_at = {self.leaves[i]: at[i] for i in range(len(self.leaves)) if self.leaves[i][0] == "fixed"}
        for place, slot, epoch, bump in self.writes:
            k = donated_by.get(place)
            if slot >= 0 and place in read_at:
                self.left_slots[read_at[place]] = slot
            if k is not None and slot >= 0 and results[slot] == 1 and place[0] == "fixed":
                self.reused.append((place[1], k, out[slot], epoch, bump))
            else:
                rest.append((place, slot if slot < 0 else out[slot], slot, epoch, bump))
        self.rest = rest
        self.pick_reused = pick([k for _, k, *_ in self.reused])
        self.reused_storages, _, self.reused_outputs, self.reused_epochs, self.reused_bumps = (
            map(list, zip(*self.reused)) if self.reused else ([], [], [], [], []))
        self.written = [s for s, *_ in self.reused] + [w[0][1] for w in rest if w[0][0] == "fixed"]
        self.left_pairs = [(-1 - i, self.left_slots[at[i]]) for i in range(len(self.leaves))
                           if self.left_slots[at[i]] is not None]
        self.fresh_from = [(n, slot if slot < 0 else out[slot], slot) for n, slot in enumerate(self.fresh)]
        self.makers = list(enumerate(self.recipes))
        self._load_grads(out, results)
        self.question_from = [(q, out[q.flag.producer[1]]) for q in self.questions]
        self.dynamic = [e for e in self.events if e[0] == "numbers"]
        self.about = self.trace, (), ref(self)
        self.known_groups = [None] * len(self.dynamic)
        self.schedules = [e[1] for e in self.events if e[0] == "schedule"]
        self.generators = [g for g, _, _ in self.drawn]
        self.seed_list = [(at, g, draw) for at, (g, draw) in self.seeds.items()]
        self.float_array = self._vector(self.floats, np.float64)
        self.complex_array = self._vector(self.complexes, np.complex128)
        self.integer_array = self._vector(self.integers, np.int64)
        if any(x.__class__ is not Value for x in self.from_constants):
            raise TypeError("a constant has to be a Value")

    def _load_grads(self, out: dict[int, int], results: dict[int, int]) -> None:
        """Find out whether old gradients can go on as the new ones."""
        self.renewed: list[tuple] = []
        self.renewed_owners: list[Tensor] = []
        self.pick_grads = pick(())
        grads = self.plain_grads
        if not grads or not self.plain:
            return
        slots = [self.fresh[n] for _, n, *_ in grads]
        if any(slot < 0 or results[slot] > 1 for slot in slots):
            return
        self.renewed = [(out[slot], slot, *since) for slot, (_, _, _, *since) in zip(slots, grads)]
        self.renewed_owners = [owner for owner, *_ in grads]
        self.large_grads = [k for k, (_, slot, *_) in enumerate(self.renewed)
                            if self.executable.spares and large(self.avals[slot])]
        numbers = {n for _, n, *_ in grads}
        made = {number for _, _, number, *_ in grads}
        self.sole_grads = expected(0, len(grads))
        self.other_fresh = [f for f in self.fresh_from if f[0] not in numbers]
        self.other_makers = [m for m in self.makers if m[0] not in made]

    def watch_tensors(self, tensors: list[Tensor], grads: list[Tensor], arguments: list[Tensor],
                      items: list[Item]) -> None:
        """Note what captured tensors are like, and whose ``.grad`` is there."""
        super().watch_tensors(tensors, grads, arguments, items)
        before = {id(t): m for t, m in zip(self.graded, self.grad_metas)}
        for owner, (_, slot, _, _) in zip(self.renewed_owners, self.renewed):
            if before.get(id(owner)) != (self.avals[slot], *PLAIN):
                self.renewed, self.renewed_owners = [], []
                break
        having = {id(t): k for k, t in enumerate(self.having)}
        self.pick_grads = pick([having[id(owner)] for owner in self.renewed_owners])
        self.read_owners = [self.grad_owners[i] for i in self.from_grads]
        captured = all(id(owner) in having for owner in self.read_owners)
        self.pick_read = pick([having[id(owner)] for owner in self.read_owners] if captured else ())
        self.usual = next((way(self) for way in (Reading, Steady) if captured and way.possible(self)), None)

    def _vector(self, numbers: list, dtype: Any) -> Any:
        """The numbers as the program takes them."""
        return jax.device_put(np.array(numbers, dtype), self.device) if numbers else None

    # -------------------------------------------------------------------------------------------- call

    def call(self, leaves: list) -> Any:
        """The quick call if every guard holds; otherwise MISSED."""
        usual = self.usual
        while True:
            found = self.fits(leaves)
            if found is None:
                return MISSED
            try:
                result = MISSED if usual is None else usual.run(self, *found)
                return self._general(*found) if result is MISSED else result
            except Overtaken:  # somebody changed what the call changes, or refers to it: it starts from that
                usual = None

    def _general(self, arguments: list, plain: list | None, storages: list) -> Any:
        """The quick call, whatever else refers to what it reads; ``plain``: the old gradients if they are."""
        epochs = list(map(_epoch_of, self.written))
        values = list(map(_value_of, self.storages))
        for i in self.from_arguments:
            values.append(arguments[i]._storage.value)
        grads: Any = ()
        items: Any = ()
        owners: Any = ()
        if not self.plain:
            items = [holder[key] for holder, key in self.items]
            owners = [t if t.__class__ is not int else arguments[t] for t in self.grad_owners]
            grads = list(map(_grad_of, owners))
            values += [view_value(arguments[i]) for i in self.from_views]
            values += [grads[i]._storage.value for i in self.from_grads]
            values += [items[i]._storage.value for i in self.from_items]
            values += self.from_constants
        if any(map(_producer_of, values)):
            for i in range(len(values)):
                if values[i].producer is not None:
                    values[i].producer[0].program.close(explain.ASKED)  # but not waited for
                if values[i].array is None:
                    values[i].get()  # says what went wrong
        arrays = list(map(_array_of, values))
        if np.ndarray in map(type, arrays):
            arrays = [values[i].get() if arrays[i].__class__ is np.ndarray else arrays[i]
                      for i in range(len(arrays))]  # the device's from now on
        threaded = several_threads()
        exclusive = self._exclusive(values, arrays, threaded)
        offsets = list(map(_offset_of, self.generators))
        numbers = self.numbers()
        donated = list(self.pick_donated(arrays))
        kept = list(self.pick_kept(arrays))
        del arrays
        spare: list = []
        olds: tuple = ()  # the old gradients that go on as the new ones
        renewed = None
        if plain is not None and self.renewed:
            renewed = self._renewed(self.pick_grads(plain), self.pick_grads(storages), spare)
            olds = () if renewed is None else self.pick_grads(plain)
        if self.executable.spares:
            donated += chosen(self.executable.spares, [] if threaded else spare)
        this = Call(arguments, grads, items, self.entries, [None] * len(self.fresh), len(self.recipes))
        out = Stores()
        self._prepare(values, epochs, exclusive, this, renewed, out)
        out.rows += self.draws(offsets)
        result = self.result(this)
        started = time.perf_counter() if WATCHERS else 0.0
        answers: list = []
        undisturbed = chain(
            with_grads(owners, grads), with_grads(self.renewed_owners, olds),
            all_at_epochs(self.written, epochs), all_equal(map(_offset_of, self.generators), offsets),
        )
        if self.executable.calls_host or threaded:  # it gives nothing of anybody's away, and may have failed
            self.entrance.run(donated, kept, numbers, None, answers)
            if self.executable.calls_host:
                self.executable.look(answers[1])
            commit_parts(undisturbed, out.stores(answers))
        else:
            self.entrance.run(donated, kept, numbers, None, answers, len(self.donated), undisturbed,
                              out.stores(answers))
        self.finish(answers[1], started)
        return result

    def finish(self, results: list, started: float) -> None:
        """What follows a run that returned ``results``."""
        if not self.executable.calls_host:
            late.called(self.about)
            if self.executable.watched:
                self.executable.look(results)
        if WATCHERS:
            explain.ran(self.executable.entry, COMPILED, time.perf_counter() - started)
        for scheduler in self.schedules:
            scheduler.step()

    def _exclusive(self, values: list, arrays: list, threaded: bool) -> list | None:
        """None if all that is donated is nobody else's; otherwise copies are made, and which were not.

        With ``threaded``, where several threads use tensors, all are copies: NOTE [In flight].
        """
        counts = references(self.pick_donated(values), self.pick_donated(arrays))
        if counts == self.sole and not threaded and not any(map(_shared, self.pick_donated(values))):
            return None
        alone = []
        for n, k in enumerate(self.donated):
            if threaded or (counts[n], counts[len(self.donated) + n]) != SOLE[:2] or values[k].shared:
                arrays[k] = arrays[k].copy()
            else:
                alone.append(k)
        return alone

    def _renewed(self, grads: tuple, storages: tuple, spare: list) -> tuple[list, tuple] | None:
        """The Values and the storages of old gradients, if all are nobody else's; otherwise None.

        They go on with the new arrays, which nobody can tell from new tensors. Large arrays that were theirs
        alone are added to ``spare``, each with its aval: NOTE [Spare arrays].
        """
        values = list(map(_value_of, storages))
        if references((), (), grads, storages, values) != self.sole_grads or any(map(getweakrefcount, grads)):
            return None
        if any(map(_producer_of, values)) or any(map(_shared, values)):
            return None
        for k in self.large_grads:
            v = values[k]
            if isinstance(v.array, jax.Array) and array_references(v) == SOLE.of_value:
                spare.append((v.aval, v.array))
        return values, storages

    def read(self, arguments: list, storages: list) -> list[Value]:
        """The present Values of all that is read, where that is ``simple``; ``storages`` are gradients'."""
        values = list(map(_value_of, self.storages))
        for i in self.from_arguments:
            values.append(arguments[i]._storage.value)
        if not self.plain:
            values += map(_value_of, self.pick_read(storages))
            values += self.from_constants
        return values

    def numbers(self) -> tuple:
        """What the program takes beside arrays."""
        integers = self._integers() if self.seed_list else self.integer_array
        return self.float_array, integers, self.complex_array

    def draws(self, offsets: list) -> list[tuple]:
        """The stores that let the generators, which are at ``offsets``, go on."""
        rows = []
        for (g, moved, seed), offset in zip(self.drawn, offsets):
            rows.append((setattr, g, "_offset", moved if seed is not None else offset + moved))
            if seed is not None:
                rows.append((setattr, g, "_seed", seed))
        return rows

    def _integers(self) -> Any:
        numbers = list(self.integers)
        for at, g, draw in self.seed_list:
            x = g._seed if draw is None else g._offset + draw
            numbers[at] = x - (1 << 64) if x >= 1 << 63 else x
        return np.array(numbers, np.int64)

    def _prepare(self, values: list, epochs: list, exclusive: list | None, call: Call,
                 renewed: tuple[list, tuple] | None, out: Stores) -> None:
        """Note in ``out`` all that the call stores, but for the arrays, which are not there yet."""
        doubt, rows = self.doubt(values, [out.new(q.flag.aval, k) for q, k in self.question_from])
        out.rows += rows
        left = None
        if doubt is not None:
            left = [None if slot is None else (doubt, slot) for slot in self.left_slots]
            out.set(self, "latest", (doubt, left))
        cells = list(map(_version_of, self.reused_storages))
        apart = len(set(map(id, cells))) == len(cells)
        made: dict[int, Value] = {}

        def value(k: int, slot: int) -> Value:
            if slot < 0:
                return values[self.leaf_at[-1 - slot]]
            found = made.get(slot)
            if found is None:
                found = made[slot] = out.new(self.avals[slot], k)
                if doubt is not None:
                    found.doubt = (doubt, slot)
            return found

        if exclusive is None:
            kept = self.pick_reused(values)
            out.targets += kept
            out.picks += self.reused_outputs
            if doubt is not None:
                out.more.append(stores(kept, "doubt", self.pick_reused(left)))
            elif any(map(_doubt_of, kept)):
                out.more.append(stores(kept, "doubt", repeat(None)))
        else:
            for s, _, o, _, _ in self.reused:
                out.held.append(s.value)
                out.set(s, "value", value(o, self.outputs[o]))
        if apart and not self.rest:
            out.more += (
                stores(self.reused_storages, "epoch", map(add, epochs, self.reused_epochs)),
                map(setitem, cells, repeat(0), map(add, map(_first, cells), self.reused_bumps)),
            )
            if self.viewed:
                call.bumps.update(zip(map(id, cells), self.reused_bumps))
        else:
            for s, _, _, epoch, bump in self.reused:
                out.written(s, epoch, bump, call)
        fresh: Any = call.fresh
        for n, k, slot in self.fresh_from if renewed is None else self.other_fresh:
            fresh[n] = value(k, slot)
        for place, k, slot, epoch, bump in self.rest:
            s = place[1] if place[0] == "fixed" else call.place(place)
            out.held.append(s.value)
            out.set(s, "value", value(k, slot))
            out.written(s, epoch, bump, call)
        if renewed is None:
            for number, recipe in self.makers:
                call.made[number] = recipe(call)
            for owner, maker in self.grad_makers:
                t = owner if owner.__class__ is not int else call.arguments[owner]
                out.held.append(t._grad)
                out.rows.append(grad_row(t, None if maker is None else maker(call)))
        else:
            old, storages = renewed
            out.targets += old
            out.picks += [o for o, *_ in self.renewed]
            if doubt is not None:
                out.more.append(stores(old, "doubt", [(doubt, slot) for _, slot, *_ in self.renewed]))
            elif any(map(_doubt_of, old)):
                out.more.append(stores(old, "doubt", repeat(None)))
            out.more += (
                stores(storages, "epoch", [epoch for *_, epoch in self.renewed]),
                map(setitem, map(_version_of, storages), repeat(0), [r[2] for r in self.renewed]),
            )
            for number, recipe in self.other_makers:
                call.made[number] = recipe(call)
        self.store_rest(call, out)

    def store_rest(self, call: Call, out: Stores) -> None:
        """Note in ``out`` what is stored beside Values and gradients: in containers, attributes, flags."""
        for (holder, key, row, index, at), maker in self.sinks:
            x = maker(call)
            out.held.append(holder[key])
            out.rows += [(setitem, holder, key, x), (setitem, row.held, index, x),
                         (setitem, self.guard.flat, at, x)]
        out.rows += [(setitem, holder, key, x) for holder, key, x in self.settings]
        for owner, flag in self.flags:
            t = call.arguments[owner] if owner.__class__ is int else owner
            out.rows.append(requires_grad_row(t, flag))

    def doubt(self, values: list, flags: Sequence[Value]) -> tuple[Doubt | None, list[tuple]]:
        """What this run may have done wrong (NOTE [Faults found late]), and the stores that note it.

        ``flags`` are the answers to its questions.
        """
        doubts = list(map(_doubt_of, values))
        if not flags and not any(doubts):
            return None, []
        questions = [Question(flag, q.asked, q.victims, q.error, q.line)
                     for flag, (q, _) in zip(flags, self.question_from)]
        last, left = self.latest
        if questions and (doubts == left if last is not None else not any(doubts)):
            # What is read is as the run before left it, or in no doubt.
            if len(self.pending) >= _CHAIN:
                self._settle()
            before = None if last is None or last.wrong == {} else (last, self.left_pairs)
            doubt = Doubt(questions, [], self.trace, before)
            return doubt, [(self.pending.append, doubt)]
        doubt = doubt_of(questions, [values[k] for k in self.leaf_at], self.trace)
        rows: list[tuple] = [(self.pending.clear,)]
        if doubt is None:
            rows.append((setattr, self, "latest", (None, None)))
        return doubt, rows

    def _settle(self) -> None:
        """Forget the runs that are known to have gone well."""
        for n, doubt in enumerate(self.pending):
            if not doubt.sound():
                del self.pending[:n]
                return
        self.pending.clear()
