"""The quick call in a steady state, where all that it gives away is nobody else's.

NOTE [Steady state]
    A training step that is called again and again finds what the call before it left: each parameter, each
    number of the optimizer's state and each old gradient is referred to by its tensor alone. Then nothing is
    copied, and which Value gets which result is known beforehand. So what is stored are iterators over lists
    that were made with the specialisation, and whatever depends on the number of tensors is done by C
    functions that walk over lists. Anything else (a clone of a parameter, a gradient that somebody keeps, a
    host array, a value still pending) takes the general way, `Specialisation._general`.
"""

from __future__ import annotations

import time
from itertools import chain, repeat
from operator import add, attrgetter, itemgetter, setitem
from typing import TYPE_CHECKING, Any
from weakref import getweakrefcount

from jaxflow._core.commit import all_at_epochs, all_equal, rows_called, stores, with_grads
from jaxflow._core.value import Value
from jaxflow._dispatch import late
from jaxflow._dispatch.flight import Flight, watched
from jaxflow._dispatch.handover import kinds_of
from jaxflow._dispatch.state import several_threads
from jaxflow._dispatch.watching import WATCHERS

from ._picks import pick
from ._sole import expected, references, referred
from ._stores import MISSED, Call, Stores

if TYPE_CHECKING:
    from ._specialisation import Specialisation

_value_of, _array_of, _producer_of = attrgetter("value"), attrgetter("array"), attrgetter("producer")
_shared, _doubt_of, _grad_of = attrgetter("shared"), attrgetter("doubt"), attrgetter("_grad")
_epoch_of, _offset_of, _version_of = attrgetter("epoch"), attrgetter("_offset"), attrgetter("version")
_first = itemgetter(0)


class Steady:
    """The quick call of a `Specialisation` in a steady state.

    Its Values are numbered: those that are read, those of old gradients, new ones, and -1 for None.
    """

    @staticmethod
    def possible(spec: Specialisation) -> bool:
        """Whether there is such a state."""
        executable = spec.executable
        return (
            spec.simple and all(place[0] == "fixed" for place, *_ in spec.rest)
            and (bool(spec.renewed) or not spec.grad_makers)
            and not executable.spares and not executable.calls_host
        )

    def __init__(self, spec: Specialisation) -> None:
        self.kinds: list | None = None  # of the arguments of a call that went this way
        self.sole = expected(len(spec.donated), len(spec.renewed), arrays=False)
        outputs, leaf_at = spec.outputs, spec.leaf_at
        count, old = len(leaf_at), len(leaf_at) + len(spec.renewed)
        getting = {o: k for _, k, o, *_ in spec.reused}
        getting.update((o, count + j) for j, (o, *_) in enumerate(spec.renewed))
        self.new_avals: list = []
        for o, slot in enumerate(outputs):
            if o not in getting:
                getting[o] = old + len(self.new_avals)
                self.new_avals.append(spec.avals[slot])
        at = {slot: getting[o] for o, slot in enumerate(outputs)}
        at.update((-1 - i, leaf_at[i]) for i in range(count))
        self.pick_targets = pick([getting[o] for o in range(len(outputs))])
        grads = {n for _, n, *_ in spec.plain_grads} if spec.renewed else ()
        self.pick_fresh = pick([-1 if n in grads else at[slot] for n, slot in enumerate(spec.fresh)])
        self.makers = spec.other_makers if spec.renewed else spec.makers
        # How many references there are to what is given away when it is: `every`, and what it is picked for.
        mentions = [*(getting[o] for o in range(len(outputs))),
                    *(-1 if n in grads else at[slot] for n, slot in enumerate(spec.fresh)),
                    *(at[slot] for _, _, slot, *_ in spec.rest),
                    *(leaf_at[spec.leaves.index(place)] for place, *_ in spec.rest if place in spec.leaves)]
        self.referred = expected(len(spec.donated))
        for n, k in enumerate(spec.donated):
            self.referred[n] += 1 + mentions.count(k)
        self.owners = spec.renewed_owners or spec.read_owners  # gradients go on as the new ones, or are read
        # Where a result's doubt is noted; the answers to questions are in none.
        asked = {k for _, k in spec.question_from}
        self.pick_flags = pick([getting[k] for _, k in spec.question_from])
        self.pick_marks = pick([-1 if o in asked else o for o in range(len(outputs))])
        self.pick_left = pick([-1 if slot is None else outputs.index(slot) for slot in spec.left_slots])
        # The storages that are written: those whose Value goes on, and then the others.
        self.others = [place[1] for place, *_ in spec.rest]
        self.pick_others = pick([at[slot] for _, _, slot, *_ in spec.rest])
        self.epochs = [*spec.reused_epochs, *(epoch for *_, epoch, _ in spec.rest)]
        self.bumps = [*spec.reused_bumps, *(bump for *_, bump in spec.rest)]
        self.old_epochs = [epoch for *_, epoch in spec.renewed]
        self.old_versions = [version for _, _, version, _ in spec.renewed]
        self.ends = bool(spec.executable.watched or spec.schedules)  # more than a note follows the run
        self.more = bool(spec.sinks or spec.settings or spec.flags)

    def run(self, spec: Specialisation, arguments: list, grads: list | None, storages: list) -> Any:
        """The quick call, or MISSED. ``grads`` and ``storages`` are as `Conditions.fits` found them."""
        if grads is None or several_threads():
            return MISSED
        written = spec.written
        epochs = list(map(_epoch_of, written))
        values = spec.read(arguments, storages)
        read = spec.pick_read(grads) if spec.read_owners else None
        arrays = list(map(_array_of, values))
        generators = spec.generators
        offsets = list(map(_offset_of, generators))
        numbers = spec.numbers()
        given = spec.pick_donated(values)
        donated, kept = list(spec.pick_donated(arrays)), list(spec.pick_kept(arrays))
        kinds = list(kinds_of(chain(arrays, numbers)))
        if kinds != self.kinds:
            if None in kinds[: len(arrays)] or not spec.entrance.knows(donated, kept, numbers):
                return MISSED
            self.kinds = kinds
        grads, storages = spec.pick_grads(grads), spec.pick_grads(storages)
        old = list(map(_value_of, storages))
        others = watched()
        if references(given, (), grads, storages, old) != self.sole or (
            any(map(getweakrefcount, grads)) or any(map(_producer_of, old))
            or any(map(_shared, chain(given, old))) or others and any(map(_producer_of, values))
        ):
            return MISSED
        every = [*values, *old, *map(Value, self.new_avals), None]
        targets, flags = self.pick_targets(every), self.pick_flags(every)
        rows: list[tuple] = []
        marks: Any = ()
        if flags or any(map(_doubt_of, chain(values, old))):
            doubt, rows = spec.doubt(values, flags)
            marks = repeat(None)
            if doubt is not None:
                marks = [*zip(repeat(doubt), spec.outputs), None]
                rows.append((setattr, spec, "latest", (doubt, list(self.pick_left(marks)))))
                marks = self.pick_marks(marks)
        cells = list(map(_version_of, written))
        this = Call(arguments, (), (), spec.entries, self.pick_fresh(every), len(spec.recipes))
        if spec.viewed:
            for cell, bump in zip(cells, self.bumps):
                this.bumps[id(cell)] = this.bumps.get(id(cell), 0) + bump
        for number, recipe in self.makers:
            this.made[number] = recipe(this)
        # What is replaced lives until all is stored: NOTE [One C call].
        held = [*map(_array_of, old), *map(_value_of, self.others)]
        if self.more:
            out = Stores()
            spec.store_rest(this, out)
            held += out.held
            rows += out.rows
        undisturbed = chain(all_at_epochs(written, epochs), with_grads(self.owners, read or grads))
        if generators:
            rows += spec.draws(offsets)
            undisturbed = chain(undisturbed, all_equal(map(_offset_of, generators), offsets))
        result = spec.result(this)
        results: list = []
        started = time.perf_counter() if WATCHERS else 0.0
        then = chain(
            map(setattr, targets, repeat("array"), results),
            map(setattr, targets, repeat("doubt"), marks),
            stores(self.others, "value", self.pick_others(every)) if self.others else (),
            stores(chain(written, storages), "epoch", chain(map(add, epochs, self.epochs), self.old_epochs)),
            map(setitem, chain(cells, map(_version_of, storages)), repeat(0),
                chain(map(add, map(_first, cells), self.bumps), self.old_versions)),
            rows_called(rows),
        )
        undisturbed = chain(undisturbed, referred(given, donated, self.referred))
        if others and given:
            flight = Flight(given)
            with flight.lock:
                try:
                    spec.entrance.again(donated, kept, numbers, results, chain(undisturbed, flight.start()),
                                        chain(then, flight.end()))
                finally:
                    flight.close("")
        else:
            spec.entrance.again(donated, kept, numbers, results, undisturbed, then)
        if WATCHERS or self.ends:
            spec.finish(results, started)
        else:
            late.called(spec.about)
        return result
