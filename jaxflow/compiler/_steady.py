"""The quick call in a steady state, where all that it gives away is nobody else's.

NOTE [Steady state]
    A training step that is called again and again finds what the call before it left: each parameter, each
    number of the optimizer's state and each old gradient is referred to by its tensor alone. Then nothing is
    copied, and which Value gets which result is known beforehand. So what is stored are iterators over lists
    that were made with the specialisation, and whatever depends on the number of tensors is done by C
    functions that walk over lists. The Values go on with the new arrays: no difference from new Values can
    be seen. Nothing is published before the program has run: so no other thread of Python's may be there,
    for XLA lets them run meanwhile. Anything else (a clone of a parameter, a gradient that somebody keeps, a
    host array, a value still pending) takes the general way, `Specialisation._general`.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from itertools import chain, repeat, starmap
from operator import add, attrgetter, itemgetter, setitem
from sys import getrefcount
from typing import TYPE_CHECKING, Any
from weakref import getweakrefcount

import jax
import numpy as np

from jaxflow._core.commit import (
    NUMBERS,
    Overtaken,
    all_equal,
    all_same,
    commit_results,
    latest,
    numbered,
    rows_called,
    still_latest,
    stores,
)
from jaxflow._core.jax_compat import trace_context
from jaxflow._core.run_hooks import WATCHERS
from jaxflow._core.shared import unconverted
from jaxflow._core.value import Value
from jaxflow._exec import late_failures
from jaxflow._exec.background import alone

from ._call import MISSED, Call
from ._picks import pick
from ._sole import SOLE, expected, referred_in_sum
from ._taken import NO_DRAWS
from ._tensor_guards import Found

if TYPE_CHECKING:
    from ._specialisation import Specialisation

_value_of, _array_of, _producer_of = attrgetter("value"), attrgetter("array"), attrgetter("producer")
_shared, _unchecked_of = attrgetter("shared"), attrgetter("unchecked")
_committed_of = attrgetter("_committed")
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
        renewed = [slot for _, slot, *_ in spec.renewed]
        uses = _uses(spec)
        return (
            spec.simple and spec.nodes is None and not spec.other_places
            and (bool(renewed) or not spec.grad_makers)
            and all(slot >= 0 and uses[slot] == 1 for slot in renewed)
            and all(alias.__class__ is list for _, alias in spec.aliases)
            and not executable.spares and not executable.watched and not spec.entrance.need
        )

    def __init__(self, spec: Specialisation) -> None:
        # Of a call that went this way, what decides it (see `handover.kinds_of`), and the function for it.
        self.way: tuple = None, None
        outputs, leaf_at, uses = spec.outputs, spec.leaf_at, _uses(spec)
        count, old = len(leaf_at), len(leaf_at) + len(spec.renewed)
        donated = {spec.leaves[i]: leaf_at[i] for i in spec.executable.donated}
        # Which result goes to a Value that is there: what is written is, if it was donated.
        getting: dict[int, int] = {}
        others = []
        for place, slot, *_ in spec.writes:
            if place in donated and slot >= 0 and uses[slot] == 1:
                getting[outputs.index(slot)] = donated[place]
            else:
                others.append((place, slot))
        getting.update((outputs.index(slot), count + j) for j, (_, slot, *_) in enumerate(spec.renewed))
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
                    *(at[slot] for _, slot in others),
                    *(leaf_at[spec.leaves.index(place)] for place, _ in others if place in spec.leaves)]
        self.sole = [*expected(0, len(spec.renewed)), *[SOLE.dropped] * len(spec.renewed)]
        self.referred = sum(expected(len(spec.donated)), sum(1 + mentions.count(k) for k in spec.donated))
        # Somebody referred to what was to be given away; the next call looks before it prepares everything.
        self.overtaken = False
        self.sole_given = expected(len(spec.donated))[: len(spec.donated)]
        # Where it is noted that a result is unchecked; the answers to checks never are.
        asked = {k for _, k in spec.check_from}
        self.pick_flags = pick([getting[k] for _, k in spec.check_from])
        self.pick_marks = pick([-1 if o in asked else o for o in range(len(outputs))])
        # Storages that get another Value.
        self.others = [place[1] for place, _ in others]
        self.pick_others = pick([at[slot] for _, slot in others])
        self.old_epochs = [epoch for *_, epoch in spec.renewed]
        self.old_versions = [version for _, _, version, _ in spec.renewed]
        self.more = bool(spec.sinks or spec.stored or spec.settings or spec.flags or spec.moved
                         or spec.shares)
        # What a call is that makes nothing and refers to nothing.
        empty = not (spec.fresh or spec.recipes or spec.viewed or self.more or spec.arguments.types)
        self.empty = Call([], (), (), None, 0, 0) if empty else None

    def run(self, spec: Specialisation, found: Found) -> Any:
        """The quick call, or MISSED."""
        arguments, grads, memory, entries, floats, integers, (since, converted) = found
        if grads is None or not alone():
            return MISSED
        written = spec.written
        epochs = list(map(_epoch_of, written))
        values = spec.read(arguments, memory)
        taken = NO_DRAWS if spec.taken is None else spec.taken.again()
        values += taken.values
        arrays = list(map(_array_of, values))
        if np.ndarray in map(type, arrays) and not any(map(_shared, values)):
            arrays = [v.on_device() if a.__class__ is np.ndarray else a for v, a in zip(values, arrays)]
        generators = spec.generators
        offsets = list(map(_offset_of, generators)) if generators else []
        numbers = spec.numbers(floats, integers)
        try:
            kinds = trace_context(), list(map(_committed_of, arrays)), list(map(type, numbers))
        except AttributeError:  # one is shared with NumPy, or pending
            return MISSED
        given = spec.pick_donated(values)
        donated, kept = list(spec.pick_donated(arrays)), list(spec.pick_kept(arrays))
        known, direct = self.way
        if kinds != known:
            direct = spec.entrance.direct(donated, kept, numbers)
            if direct is None:
                return MISSED
            self.way = kinds, direct
        del arrays
        old: list = []
        if self.sole:
            grads, memory = spec.pick_grads(grads), spec.pick_grads(memory)
            old += map(_value_of, memory)
            if list(map(getrefcount, chain(grads, memory, old))) != self.sole or (
                any(map(getweakrefcount, grads)) or any(map(_producer_of, old))
            ):
                return MISSED
        else:
            grads = memory = ()
        if any(map(_shared, chain(given, old))):
            return MISSED
        if self.overtaken and list(map(getrefcount, given)) != self.sole_given:
            return MISSED
        every = [*values, *old, *map(Value, self.new_avals), None]
        targets, flags = self.pick_targets(every), self.pick_flags(every)
        rows: Sequence[tuple] = ()
        marks: Any = ()
        if flags or any(map(_unchecked_of, chain(values, old))):
            found_wrong, rows = spec.unchecked(values, flags)
            marks = repeat(None) if found_wrong is None else self.pick_marks(found_wrong)
        cells = spec.cells
        this = self.empty
        if this is None:
            this = Call(arguments, (), (), entries, len(spec.fresh), len(spec.recipes))
            this.fresh = self.pick_fresh(every)
            if spec.viewed:
                this.raise_versions(cells, spec.bumps)
            for number, recipe in self.makers:
                this.made[number] = recipe(this)
        # What is replaced lives until all is stored: NOTE [One C call].
        held = [*map(_array_of, old), *map(_value_of, self.others)]
        if self.more:
            rows = [*rows]
            spec.store_rest(this, rows, held)
        undisturbed = chain(latest(since), unconverted(converted))
        if generators:
            rows = [*rows, *spec.draws(offsets)]
            undisturbed = chain(undisturbed, all_equal(map(_offset_of, generators), offsets))
        if taken.places:
            rows = [*rows, *taken.rows]
            undisturbed = chain(undisturbed, all_same(map(_offset_of, spec.taken.generators), taken.places))
        if spec.places:
            undisturbed = chain(undisturbed, spec.numbers_still(entries))
        result = spec.result(this)
        results: list = []
        after = next(NUMBERS)
        if spec.repeats:
            rows = [*rows, (setattr, spec, "proved", after)]
        started = time.perf_counter() if WATCHERS else 0.0
        raised = map(add, epochs, spec.epochs)
        try:
            commit_results(
                undisturbed, referred_in_sum(given, donated, self.referred),
                map(results.extend, starmap(direct, ((donated, kept, *numbers),))),
                map(setattr, targets, repeat("array"), results),
                map(setattr, targets, repeat("unchecked"), marks),
                stores(self.others, "value", self.pick_others(every)) if self.others else (),
                stores(chain(written, memory), "epoch", chain(raised, self.old_epochs)),
                map(setitem, chain(cells, map(_version_of, memory)), repeat(0),
                    chain(map(add, map(_first, cells), spec.bumps), self.old_versions)),
                rows_called([*rows, (setattr, spec, "own", after)]),
                stores((spec,), "undisturbed", still_latest(since)), numbered(after),
            )
        except jax.errors.JaxRuntimeError:
            return MISSED  # the general way finds out what can be computed
        except Overtaken:
            self.overtaken = True
            raise
        self.overtaken = False
        if WATCHERS or spec.schedules:
            spec.finish(started)
        else:
            late_failures.called(spec.about)
        return result


def _uses(spec: Specialisation) -> Counter:
    """How often each result is somebody's Value."""
    return Counter([*(slot for _, slot, *_ in spec.writes), *spec.fresh])
