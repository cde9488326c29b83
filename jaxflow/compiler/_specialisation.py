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

import sys
import time
from collections.abc import Callable, Iterator
from itertools import chain, repeat, starmap
from operator import add, attrgetter, call, eq, itemgetter, setitem
from types import SimpleNamespace
from typing import Any
from weakref import getweakrefcount, ref

import jax
import numpy as np

from jaxflow._core.commit import Overtaken, commit, stores
from jaxflow._core.device import resolve
from jaxflow._core.fields import grad_row, requires_grad_row
from jaxflow._core.tensor import Tensor
from jaxflow._core.value import Value
from jaxflow._dispatch import explain, late
from jaxflow._dispatch.door import view_value
from jaxflow._dispatch.doubt import Doubt, Question, doubt_of
from jaxflow._dispatch.spares import chosen, large
from jaxflow._dispatch.watching import WATCHERS

from ._conditions import PLAIN, Conditions
from ._reach import Item

COMPILED = "call of a compiled function"

_value_of, _array_of, _producer_of = attrgetter("value"), attrgetter("array"), attrgetter("producer")
_doubt_of, _shared = attrgetter("doubt"), attrgetter("shared")
_grad_of, _storage_of = attrgetter("_grad"), attrgetter("_storage")
_epoch_of, _offset_of = attrgetter("epoch"), attrgetter("_offset")
_version_of, _first = attrgetter("version"), itemgetter(0)


# Runs whose doubts hang on each other before they are settled together: asking costs as much as a guard.
_CHAIN = 16


class Call:
    """One quick call under way: what recipes of results refer to."""

    __slots__ = ("arguments", "bumps", "entries", "fresh", "grads", "items", "made", "storages")

    def __init__(self, arguments: list, grads: list, items: list, entries: list | None) -> None:
        self.arguments, self.grads, self.items, self.entries = arguments, grads, items, entries
        self.bumps: dict[int, int] = {}  # id of a version cell -> by how much the call raises it
        self.fresh: list = []
        self.storages: list = []
        self.made: list = []

    def place(self, place: tuple) -> Any:
        """The storage at a place."""
        kind, x = place
        if kind == "fixed":
            return x
        if kind == "argument":
            return self.arguments[x]._storage
        return (self.grads if kind == "grad" else self.items)[x]._storage


def _pick(indices: list[int]) -> Callable[[list], Any]:
    if len(indices) == 1:
        only = indices[0]
        return lambda values: (values[only],)
    return itemgetter(*indices) if indices else lambda values: ()


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
        places = {place[0] for place in (*self.leaves, *(w[0] for w in self.writes), *self.viewed)}
        self.plain = places <= {"fixed", "argument"}
        self.leaf_at = [at[i] for i in range(len(self.leaves))]
        self.donated = [at[i] for i in executable.donated]
        self.sole = tuple([count] * len(self.donated) for count in _SOLE)
        self.pick_donated, self.pick_kept = _pick(self.donated), _pick([at[i] for i in executable.kept])
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
        self.pick_reused = _pick([k for _, k, *_ in self.reused])
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
        self.seed_list = [(at, g, draw) for at, (g, draw) in self.seeds.items()]
        self.float_array = self._vector(self.floats, np.float64)
        self.complex_array = self._vector(self.complexes, np.complex128)
        self.integer_array = self._vector(self.integers, np.int64)
        if any(x.__class__ is not Value for x in self.from_constants):
            raise TypeError("a constant has to be a Value")
        self._arrange()

    def _load_grads(self, out: dict[int, int], results: dict[int, int]) -> None:
        """Find out whether old gradients can go on as the new ones."""
        self.renewed: list[tuple] = []
        self.renewed_owners: list[Tensor] = []
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
        self.sole_grads = tuple([count] * len(grads) for count in _SOLE_GRAD)
        self.other_fresh = [f for f in self.fresh_from if f[0] not in numbers]
        self.other_makers = [m for m in self.makers if m[0] not in made]

    def _arrange(self) -> None:
        """Write down what the usual call stores where: old Values and old gradients all go on."""
        self.usual = self.plain and not self.rest and (bool(self.renewed) or not self.grad_makers)
        self.usual_fresh = self.other_fresh if self.renewed else self.fresh_from
        self.usual_makers = self.other_makers if self.renewed else self.makers
        new = dict.fromkeys((k, slot) for _, k, slot in self.usual_fresh if slot >= 0)
        self.usual_picks = [*self.reused_outputs, *(k for k, _ in new), *(o for o, *_ in self.renewed)]
        self.usual_slots = [*(self.outputs[o] for o in self.reused_outputs), *(slot for _, slot in new),
                            *(slot for _, slot, *_ in self.renewed)]
        self.usual_epochs = [epoch for *_, epoch in self.renewed]
        self.usual_versions = [version for _, _, version, _ in self.renewed]

    def watch_tensors(self, tensors: list[Tensor], grads: list[Tensor], arguments: list[Tensor],
                      items: list[Item]) -> None:
        """Note what captured tensors are like, and whose ``.grad`` is there."""
        super().watch_tensors(tensors, grads, arguments, items)
        before = {id(t): m for t, m in zip(self.graded, self.grad_metas)}
        for owner, (_, slot, _, _) in zip(self.renewed_owners, self.renewed):
            if before.get(id(owner)) != (self.avals[slot], *PLAIN):
                self.renewed, self.renewed_owners = [], []
                self._arrange()
                return

    def _vector(self, numbers: list, dtype: Any) -> Any:
        return jax.device_put(np.array(numbers, dtype), self.device)

    # -------------------------------------------------------------------------------------------- call

    def run(self, arguments: list, plain: bool) -> Any:
        """The quick call. All guards hold; ``plain`` if there is nothing special about any .grad."""
        while True:
            try:
                return self._run(arguments, plain)
            except Overtaken:  # somebody wrote to what the call writes to: it starts from that
                continue

    def _run(self, arguments: list, plain: bool) -> Any:
        epochs = list(map(_epoch_of, self.written))
        values = list(map(_value_of, self.storages))
        for i in self.from_arguments:
            values.append(arguments[i]._storage.value)
        grads: Any = ()
        items: Any = ()
        if not self.plain:
            items = [holder[key] for holder, key in self.items]
            grads = [(t if t.__class__ is not int else arguments[t])._grad for t in self.grad_owners]
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
        exclusive = self._exclusive(values, arrays)
        offsets = [g._offset for g, _, _ in self.drawn]
        integers = self._integers() if self.seed_list else self.integer_array
        donated = list(self.pick_donated(arrays))
        kept = list(self.pick_kept(arrays))
        del arrays
        spare: list = []
        renewed = self._renewed(spare) if plain and self.renewed else None
        if self.executable.spares:
            donated += chosen(self.executable.spares, spare)
        this = Call(arguments, grads, items, self.entries)
        out = _Stores()
        self._prepare(values, epochs, exclusive, this, renewed, out)
        for (g, moved, seed), offset in zip(self.drawn, offsets):
            out.set(g, "_offset", moved if seed is not None else offset + moved)
            if seed is not None:
                out.set(g, "_seed", seed)
        result = self.result(this)
        started = time.perf_counter() if WATCHERS else 0.0
        answers: list = []
        numbers = self.float_array, integers, self.complex_array
        undisturbed = chain(map(eq, map(_epoch_of, self.written), epochs),
                            map(eq, map(_offset_of, [g for g, _, _ in self.drawn]), offsets))
        if self.executable.calls_host:  # it gives nothing away, and may turn out to have failed
            self.entrance.run(donated, kept, numbers, None, answers)
            self.executable.look(answers[1])
            commit((), out.stores(answers), conditions=undisturbed)
        else:
            self.entrance.run(donated, kept, numbers, None, answers, len(self.donated), undisturbed,
                              out.stores(answers))
            late.called(self.about)
            if self.executable.watched:
                self.executable.look(answers[1])
        if WATCHERS:
            explain.ran(self.executable.entry, COMPILED, time.perf_counter() - started)
        for scheduler in self.schedules:
            scheduler.step()
        return result

    def _exclusive(self, values: list, arrays: list) -> list | None:
        """None if all that is donated is nobody else's; otherwise copies are made, and which were not."""
        counts = _counts(self.pick_donated(values), self.pick_donated(arrays))
        if counts == self.sole and not any(map(_shared, self.pick_donated(values))):
            return None
        alone = []
        for n, k in enumerate(self.donated):
            if (counts[0][n], counts[1][n]) != _SOLE or values[k].shared:
                arrays[k] = arrays[k].copy()
            else:
                alone.append(k)
        return alone

    def _renewed(self, spare: list) -> tuple[list, list] | None:
        """The Value and the storage of each old gradient that is nobody else's; None if one is.

        They go on with the new arrays, which nobody can tell from new tensors. Large arrays that were theirs
        alone are added to ``spare``, each with its aval: NOTE [Spare arrays].
        """
        grads = list(map(_grad_of, self.renewed_owners))
        if _grad_counts(grads) != self.sole_grads or any(map(getweakrefcount, grads)):
            return None
        storages = list(map(_storage_of, grads))
        values = list(map(_value_of, storages))
        if any(map(_producer_of, values)) or any(map(_shared, values)):
            return None
        for k in self.large_grads:
            v = values[k]
            if isinstance(v.array, jax.Array) and _array_count(v) == _SOLE_ARRAY:
                spare.append((v.aval, v.array))
        return values, storages

    def _integers(self) -> Any:
        numbers = list(self.integers)
        for at, g, draw in self.seed_list:
            x = g._seed if draw is None else g._offset + draw
            numbers[at] = x - (1 << 64) if x >= 1 << 63 else x
        return np.array(numbers, np.int64)

    def _prepare(self, values: list, epochs: list, exclusive: list | None, call: Call,
                 renewed: tuple[list, list] | None, out: _Stores) -> None:
        """Note in ``out`` all that the call stores, but for the arrays, which are not there yet."""
        doubt, left = self._doubt(values, out)
        cells = list(map(_version_of, self.reused_storages))
        apart = len(set(map(id, cells))) == len(cells)
        if self.usual and exclusive is None and apart and bool(renewed) is bool(self.renewed):
            self._prepare_usual(values, epochs, cells, doubt, call, renewed or ([], []), out)
            self._prepare_rest(call, out)
            return
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
        fresh: list = [None] * len(self.fresh)
        for n, k, slot in self.fresh_from if renewed is None else self.other_fresh:
            fresh[n] = value(k, slot)
        call.fresh = fresh
        call.storages = [None] * len(fresh)
        for place, k, slot, epoch, bump in self.rest:
            s = place[1] if place[0] == "fixed" else call.place(place)
            out.held.append(s.value)
            out.set(s, "value", value(k, slot))
            out.written(s, epoch, bump, call)
        call.made = [None] * len(self.recipes)
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
        self._prepare_rest(call, out)

    def _prepare_usual(self, values: list, epochs: list, cells: list, doubt: Doubt | None, call: Call,
                       renewed: tuple[list, list], out: _Stores) -> None:
        """The same where old Values and gradients go on with the new arrays, all of them."""
        targets = list(self.pick_reused(values))
        fresh: list = [None] * len(self.fresh)
        made: dict[int, Value] = {}
        for n, _, slot in self.usual_fresh:
            if slot < 0:
                fresh[n] = values[self.leaf_at[-1 - slot]]
            elif slot in made:
                fresh[n] = made[slot]
            else:
                fresh[n] = made[slot] = Value(self.avals[slot])
                targets.append(made[slot])
        old, storages = renewed
        targets += old
        out.targets += targets
        out.picks += self.usual_picks
        if doubt is not None:
            out.more.append(stores(targets, "doubt", [(doubt, slot) for slot in self.usual_slots]))
        elif any(map(_doubt_of, targets)):
            out.more.append(stores(targets, "doubt", repeat(None)))
        out.more += (
            stores(chain(self.reused_storages, storages), "epoch",
                   chain(map(add, epochs, self.reused_epochs), self.usual_epochs)),
            map(setitem, chain(cells, map(_version_of, storages)), repeat(0),
                chain(map(add, map(_first, cells), self.reused_bumps), self.usual_versions)),
        )
        if self.viewed:
            call.bumps.update(zip(map(id, cells), self.reused_bumps))
        call.fresh, call.storages = fresh, [None] * len(fresh)
        call.made = [None] * len(self.recipes)
        for number, recipe in self.usual_makers:
            call.made[number] = recipe(call)

    def _prepare_rest(self, call: Call, out: _Stores) -> None:
        """What is stored beside Values and gradients: things in containers, attributes, flags."""
        for (holder, key, row, index, at), maker in self.sinks:
            x = maker(call)
            out.held.append(holder[key])
            out.rows += [(setitem, holder, key, x), (setitem, row.held, index, x),
                         (setitem, self.guard.flat, at, x)]
        out.rows += [(setitem, holder, key, x) for holder, key, x in self.settings]
        for owner, flag in self.flags:
            t = call.arguments[owner] if owner.__class__ is int else owner
            out.rows.append(requires_grad_row(t, flag))

    def _doubt(self, values: list, out: _Stores) -> tuple[Doubt | None, list | None]:
        """What this run may have done wrong (NOTE [Faults found late]), and what of it is left."""
        doubts = list(map(_doubt_of, values))
        if not self.question_from and not any(doubts):
            return None, None
        questions = [
            Question(out.new(q.flag.aval, k), q.asked, q.victims, q.error, q.line)
            for q, k in self.question_from
        ]
        last, left = self.latest
        if questions and (doubts == left if last is not None else not any(doubts)):
            # What is read is as the run before left it, or in no doubt.
            if len(self.pending) >= _CHAIN:
                self._settle()
            chain = None if last is None or last.wrong == {} else (last, self.left_pairs)
            doubt = Doubt(questions, [], self.trace, chain)
            out.rows.append((self.pending.append, doubt))
        else:
            out.rows.append((self.pending.clear,))
            doubt = doubt_of(questions, [values[k] for k in self.leaf_at], self.trace)
        left = None
        if doubt is not None:
            left = [None if slot is None else (doubt, slot) for slot in self.left_slots]
        out.set(self, "latest", (doubt, left))
        return doubt, left

    def _settle(self) -> None:
        """Forget the runs that are known to have gone well."""
        for n, doubt in enumerate(self.pending):
            if not doubt.sound():
                del self.pending[:n]
                return
        self.pending.clear()


class _Stores:
    """What a quick call stores in the call that runs its program: NOTE [One hand-over].

    Attributes:
        targets, picks: Values, and which of the results is the array of each.
        rows: everything else, or
        more: iterators of it.
        held: what is replaced, kept until the call is over.
    """

    __slots__ = ("held", "more", "picks", "rows", "targets")

    def __init__(self) -> None:
        self.targets: list[Value] = []
        self.picks: list[int] = []
        self.rows: list[tuple] = []
        self.more: list[Iterator] = []
        self.held: list = []

    def array(self, v: Value, k: int) -> None:
        """The ``k``-th result is the array of ``v``."""
        self.targets.append(v)
        self.picks.append(k)

    def new(self, aval: Any, k: int) -> Value:
        """A new Value for the ``k``-th result."""
        v = Value(aval)
        self.array(v, k)
        return v

    def set(self, holder: Any, name: str, x: Any) -> None:
        """``holder.name = x``."""
        self.rows.append((setattr, holder, name, x))

    def written(self, s: Any, epoch: int, bump: int, call: Call) -> None:
        """The storage counts ``epoch`` more writes, and its version goes up by ``bump``."""
        self.rows.append((setattr, s, "epoch", s.epoch + epoch))
        cell = s.version
        call.bumps[id(cell)] = bump = call.bumps.get(id(cell), 0) + bump
        self.rows.append((setitem, cell, 0, cell[0] + bump))

    def stores(self, answers: list) -> Iterator:
        """All of it as an iterator; the results will be ``answers[1]``."""
        self.held += map(_array_of, self.targets)
        found: list = []
        return chain(
            map(call, (found.extend,), map(answers.__getitem__, (1,))),
            map(setattr, self.targets, repeat("array"), map(found.__getitem__, self.picks)),
            starmap(call, self.rows), *self.more,
        )


def _array_count(v: Any) -> int:
    return sys.getrefcount(v.array)


def _counts(values: tuple, arrays: tuple) -> tuple[list[int], list[int]]:
    return list(map(sys.getrefcount, values)), list(map(sys.getrefcount, arrays))


def _grad_counts(grads: list) -> tuple[list[int], list[int], list[int]]:
    storages = list(map(_storage_of, grads))
    return (
        list(map(sys.getrefcount, grads)), list(map(sys.getrefcount, storages)),
        list(map(sys.getrefcount, list(map(_value_of, storages)))),
    )


def _calibrate() -> tuple[tuple[int, int], tuple[int, int, int], int]:
    """What `_counts` says of a Value that one storage holds and of its array, `_grad_counts` of a .grad.

    And `_array_count` of the Value.
    """
    holder = SimpleNamespace(value=SimpleNamespace(array=object()),
                             _grad=SimpleNamespace(_storage=SimpleNamespace(value=object())))
    of_array = _array_count(holder.value)
    values = [holder.value]
    arrays = list(map(_array_of, values))
    first = itemgetter(0, 0)
    counts = _counts(first(values), first(arrays))
    of_grad = _grad_counts(list(map(_grad_of, [holder])))
    # The second mention in the tuples is of this function alone.
    return (counts[0][0] - 1, counts[1][0] - 1), tuple(c[0] for c in of_grad), of_array


# A free-threaded build has no reliable count: there, everything is copied.
_SOLE, _SOLE_GRAD, _SOLE_ARRAY = (
    _calibrate() if getattr(sys, "_is_gil_enabled", lambda: True)() else ((-1, -1), (-1, -1, -1), -1)
)
