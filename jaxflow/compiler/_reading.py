"""The quick call of what only reads: nothing is given away, and nothing but its result is new.

A compiled forward under ``no_grad`` is one. What it makes is seen by nobody before it returns, so nothing has
to be written down before the program runs, and an interrupt has nothing to tear.
"""

from __future__ import annotations

import time
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from jaxflow._core.run_hooks import WATCHERS
from jaxflow._core.value import Value

from ._call import MISSED, Call
from ._picks import pick
from ._tensor_guards import Found

if TYPE_CHECKING:
    from ._specialisation import Specialisation

_array_of, _unchecked_of, _producer_of = attrgetter("array"), attrgetter("unchecked"), attrgetter("producer")
_shared = attrgetter("shared")


class Reading:
    """The quick call of a `Specialisation` that only reads."""

    @staticmethod
    def possible(spec: Specialisation) -> bool:
        """Whether it changes nothing at all."""
        executable = spec.executable
        return spec.only_makes() and spec.nodes is None and not (
            executable.donated or executable.spares or executable.calls_host
        )

    def __init__(self, spec: Specialisation) -> None:
        self.avals = [spec.avals[slot] for slot in spec.outputs]
        at = {slot: len(spec.leaf_at) + o for o, slot in enumerate(spec.outputs)}
        at.update((-1 - i, k) for i, k in enumerate(spec.leaf_at))
        self.pick_fresh = pick([at[slot] for slot in spec.fresh])

    def run(self, spec: Specialisation, found: Found) -> Any:
        """The quick call, or MISSED where a value is shared with NumPy, still pending or unchecked."""
        arguments, grads, memory, entries, floats, integers, _ = found
        if grads is None:
            return MISSED
        values = spec.read(arguments, memory)
        if any(map(_producer_of, values)) or any(map(_unchecked_of, values)) or any(map(_shared, values)):
            return MISSED
        arrays = list(map(_array_of, values))
        if np.ndarray in map(type, arrays):
            arrays = [v.on_device() if a.__class__ is np.ndarray else a for v, a in zip(values, arrays)]
        started = time.perf_counter() if WATCHERS else 0.0
        results = spec.entrance.results(list(spec.pick_kept(arrays)), spec.numbers(floats, integers))
        values += map(Value, self.avals, results)
        this = Call(arguments, (), (), entries, len(spec.fresh), len(spec.recipes))
        this.fresh = self.pick_fresh(values)
        for number, recipe in spec.makers:
            this.made[number] = recipe(this)
        if spec.executable.watched:
            spec.executable.look(results)
        spec.finish(started)
        return spec.result(this)
