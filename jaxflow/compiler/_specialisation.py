"""A specialisation: a compiled program of one function, and all it takes to run it without Python.

NOTE [The quick call]
    A call whose guards hold reads the present values of its leaves, runs the executable and writes what
    it returns to where the captured call wrote it: the storages get new values, and version and epoch go up
    by what they went up then, so that views and aliases see the write. An old value that only its storage
    refers to is donated and its Value goes on with the new array, which nobody can tell from a new Value;
    one that somebody else holds (a clone, a graph) is copied first. Numbers are found anew at each call:
    seeds and offsets come from the generators, an optimizer's from its groups.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from operator import attrgetter, itemgetter
from typing import Any

import jax
import numpy as np

from jaxflow._core.device import resolve
from jaxflow._core.tensor import Tensor
from jaxflow._core.value import Value
from jaxflow._dispatch import explain
from jaxflow._dispatch.door import view_value
from jaxflow._dispatch.doubt import Doubt, Question, doubt_of
from jaxflow._dispatch.watching import WATCHERS

from ._reach import Item, same

COMPILED = "call of a compiled function"

_tensor = attrgetter("_storage", "_aval", "_stride", "_view", "_requires_grad", "_grad_fn", "_hooks",
                     "_tangents")
_grad_meta = attrgetter("_aval", "_stride", "_view", "_requires_grad", "_grad_fn", "_hooks")
_grad_of, _array_of, _shared = attrgetter("_grad"), attrgetter("array"), attrgetter("shared")
_TENSOR_NAMES = ("its storage", "its shape, dtype or device", "its strides", "the base it is a view of",
                 "requires_grad", "its grad_fn", "its hooks", "its tangents")


# Runs whose doubts may hang on each other before they are settled together: asking costs as much as a guard.
_CHAIN = 16


class Call:
    """One quick call under way: what recipes of results refer to."""

    __slots__ = ("arguments", "fresh", "grads", "items", "made", "storages")

    def __init__(self, arguments: list, grads: list, items: list) -> None:
        self.arguments, self.grads, self.items = arguments, grads, items
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


class Specialisation:
    """See NOTE [The quick call]; `_specialise.Builder` fills it in."""

    arguments: Any
    guard: Any
    leaves: list[tuple]
    constants: list
    shared: list[list]
    writes: list[tuple]
    fresh: list[int]
    recipes: list[Callable]
    result: Callable
    grad_makers: list[tuple]
    sinks: list[tuple]
    flags: list[tuple]
    settings: list[tuple]
    seeds: dict[int, tuple]
    drawn: list[tuple]
    events: list[tuple]
    floats: list
    integers: list
    complexes: list
    questions: list
    trace: tuple

    def __init__(self) -> None:
        self.hits = 0
        self.last: Doubt | None = None  # the latest run's
        self.unsettled = 0

    # --------------------------------------------------------------------------------------- making it

    def watch_tensors(self, tensors: list[Tensor], grads: list[Tensor], arguments: list[Tensor],
                      items: list[Item]) -> None:
        """Note what captured tensors are like, and whose ``.grad`` is there."""
        self.items = [(item.row.holder, item.key) for item in items]
        self.item_metas = [_grad_meta(item.tensor) for item in items]
        self.tensors = tensors
        self.tensor_metas = list(map(_tensor, tensors))
        self.graded = [t for t in tensors if t._requires_grad or t._grad is not None]
        self.grad_metas = [None if t._grad is None else _grad_meta(t._grad) for t in self.graded]
        # Memory of a .grad that is a captured tensor's too; an argument's it may not be.
        self.grad_fixed = [
            None if t._grad is None else self.arguments.fixed.get(id(t._grad._storage)) for t in self.graded
        ]
        self.argument_grads = [(i, None if t._grad is None else _grad_meta(t._grad)) for i, t in
                               enumerate(arguments) if t._requires_grad or t._grad is not None]
        numbers = {id(t): i for i, t in enumerate(arguments)}
        fixed = {id(t) for t in tensors}
        self.grad_owners = [t if id(t) in fixed else numbers[id(t)] for t in grads]

    def load(self, executable: Any) -> None:
        """Arrange everything for a quick call of ``executable``."""
        self.executable = executable
        self.compiled = executable.compiled
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
        places = {place[0] for place in (*self.leaves, *(w[0] for w in self.writes))}
        self.plain = places <= {"fixed", "argument"}
        self.leaf_at = [at[i] for i in range(len(self.leaves))]
        self.donated = [at[i] for i in executable.donated]
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
        for place, slot, epoch, bump in self.writes:
            k = donated_by.get(place)
            if k is not None and slot >= 0 and results[slot] == 1 and place[0] == "fixed":
                self.reused.append((place[1], k, out[slot], epoch, bump))
            else:
                rest.append((place, slot if slot < 0 else out[slot], slot, epoch, bump))
        self.rest = rest
        self.fresh_from = [(slot if slot < 0 else out[slot], slot) for slot in self.fresh]
        self.question_from = [(q, out[q.flag.place[1]]) for q in self.questions]
        self.dynamic = [e for e in self.events if e[0] == "numbers"]
        self.known_groups = [None] * len(self.dynamic)
        self.schedules = [e[1] for e in self.events if e[0] == "schedule"]
        self.seed_list = [(at, g, draw) for at, (g, draw) in self.seeds.items()]
        self.float_array = self.complex_array = None
        self.integer_array = None
        self.float_array = self._vector(self.floats, np.float64)
        self.complex_array = self._vector(self.complexes, np.complex128)
        self.integer_array = self._vector(self.integers, np.int64)
        if any(x.__class__ is not Value for x in self.from_constants):
            raise TypeError("a constant has to be a Value")

    def _vector(self, numbers: list, dtype: Any) -> Any:
        return jax.device_put(np.array(numbers, dtype), self.device)

    # ------------------------------------------------------------------------------------------ guards

    def fits(self, leaves: list) -> list | None:
        """The tensors among the arguments if every guard holds, else None."""
        tensors = self.arguments.match(leaves)
        if tensors is None or not self.guard.holds():
            return None
        if list(map(_tensor, self.tensors)) != self.tensor_metas or not self._grads_fit(tensors):
            return None
        if self.items:
            for (holder, key), expected in zip(self.items, self.item_metas):
                t = holder[key]
                if not isinstance(t, Tensor) or _grad_meta(t) != expected or (
                    id(t._storage) in self.arguments.fixed or any(t._storage is a._storage for a in tensors)
                ):
                    return None
        for storages in self.shared:
            first = storages[0].value
            for s in storages:
                if s.value is not first:
                    return None
        return tensors if not self.dynamic or self._numbers_fit() else None

    def _grads_fit(self, tensors: list) -> bool:
        fixed = self.arguments.fixed
        given = {id(t._storage) for t in tensors}
        for grad, expected, same_as in zip(map(_grad_of, self.graded), self.grad_metas, self.grad_fixed):
            if grad is None:
                if expected is not None:
                    return False
            elif expected is None or _grad_meta(grad) != expected:
                return False
            else:
                at = id(grad._storage)
                if fixed.get(at) != same_as or at in given:
                    return False
        for i, expected in self.argument_grads:
            grad = tensors[i]._grad
            if (grad is None) != (expected is None) or (grad is not None and _grad_meta(grad) != expected):
                return False
        return True

    def _numbers_fit(self) -> bool:
        """Bring the optimizers' numbers up to date; whether their rules and options are the same."""
        changed = None
        for k, (_, owner, group, fresh, rule, static, first, names) in enumerate(self.dynamic):
            values = list(group.values())
            known = self.known_groups[k]
            if known is not None and len(known) == len(values) and all(map(same, known, values)):
                continue
            found, hypers, options = owner._rule(group, fresh)
            if found is not rule or options != static:
                return False
            if changed is None:
                changed = list(self.floats)
            for i, name in enumerate(names):
                if isinstance(hypers[name], Tensor):
                    return False
                changed[first + i] = float(hypers[name])
            self.known_groups[k] = values
        if changed is not None and changed != self.floats:
            self.floats = changed
            self.float_array = self._vector(changed, np.float64)
        return True

    def misses(self, structure: Any, leaves: list) -> list[str]:
        """Which guards do not hold, in words."""
        tensors = self.arguments.match(leaves) if structure == self.arguments.structure else None
        if tensors is None:
            return self.arguments.misses(structure, leaves)
        found = self.guard.misses()
        for t, old in zip(self.tensors, self.tensor_metas):
            for name, a, b in zip(_TENSOR_NAMES, old, _tensor(t)):
                if a is not b and (name == "its storage" or a != b):
                    found.append(f"a captured tensor of shape {list(t._aval.shape)}: {name} changed")
        if not self._grads_fit(tensors):
            found.append("whether a captured tensor has a .grad, or what it is like, changed")
        return found or ["options of an optimizer changed, or which tensors share memory"]

    # -------------------------------------------------------------------------------------------- call

    def run(self, arguments: list) -> Any:
        """The quick call. All guards hold."""
        values = [s.value for s in self.storages]
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
        doubtful = bool(self.question_from)
        for v in values:
            if v.place is not None:
                v.place[0].close(explain.ASKED)  # but not waited for
                if v.array is None:
                    v.get()  # says what went wrong
            if v.doubt is not None:
                doubtful = True
            if v.array.__class__ is np.ndarray:
                v.get()  # the device's from now on
        v = None  # `_exclusive` counts who refers to it
        arrays = list(map(_array_of, values))
        exclusive = self._exclusive(values, arrays)
        integers = self._integers() if self.seed_list else self.integer_array
        donated = self.pick_donated(arrays)
        kept = self.pick_kept(arrays)
        del arrays
        started = time.perf_counter() if WATCHERS else 0.0
        out = self.compiled(list(donated), list(kept), self.float_array, integers, self.complex_array)
        if WATCHERS:
            explain.ran(self.executable.entry, COMPILED, time.perf_counter() - started)
        for g, moved, seed in self.drawn:
            with g._lock:
                g._offset = moved if seed is not None else g._offset + moved
                if seed is not None:
                    g._seed = seed
        return self._deliver(values, exclusive, out, Call(arguments, grads, items), doubtful)

    def _exclusive(self, values: list, arrays: list) -> list | None:
        """None if all that is donated is nobody else's; otherwise copies are made, and which were not."""
        donated = self.donated
        for k in donated:
            v = values[k]
            if sys.getrefcount(v) != _VALUE or v.shared or sys.getrefcount(arrays[k]) != _ARRAY:
                break
        else:
            return None
        alone = []
        v = None
        for k in donated:
            v = values[k]
            if sys.getrefcount(v) != _VALUE or v.shared or sys.getrefcount(arrays[k]) != _ARRAY:
                arrays[k] = arrays[k].copy()
            else:
                alone.append(k)
        return alone

    def _integers(self) -> Any:
        numbers = list(self.integers)
        for at, g, draw in self.seed_list:
            x = g._seed if draw is None else g._offset + draw
            numbers[at] = x - (1 << 64) if x >= 1 << 63 else x
        return np.array(numbers, np.int64)

    def _deliver(self, values: list, exclusive: list | None, out: list, call: Call, doubtful: bool) -> Any:
        doubt = self._doubt(values, out) if doubtful else None
        made: dict[int, Value] = {}

        def value(k: int, slot: int) -> Value:
            if slot < 0:
                return values[self.leaf_at[-1 - slot]]
            found = made.get(slot)
            if found is None:
                found = made[slot] = Value(self.avals[slot], out[k])
                if doubt is not None:
                    found.doubt = (doubt, slot)
            return found

        if exclusive is None:
            for s, k, o, epoch, bump in self.reused:
                v = values[k]
                v.array = out[o]
                v.doubt = None if doubt is None else (doubt, self.outputs[o])
                s.epoch += epoch
                s.version[0] += bump
        else:
            for s, _, o, epoch, bump in self.reused:
                s.value = value(o, self.outputs[o])
                s.epoch += epoch
                s.version[0] += bump
        call.fresh = [value(k, slot) for k, slot in self.fresh_from]
        call.storages = [None] * len(call.fresh)
        for place, k, slot, epoch, bump in self.rest:
            s = place[1] if place[0] == "fixed" else call.place(place)
            s.value = value(k, slot)
            s.epoch += epoch
            s.version[0] += bump
        return self._results(call)

    def _results(self, call: Call) -> Any:
        for recipe in self.recipes:
            call.made.append(recipe(call))
        for owner, maker in self.grad_makers:
            t = owner if owner.__class__ is not int else call.arguments[owner]
            t._grad = None if maker is None else maker(call)
        for where, maker in self.sinks:
            self.guard.put(where, maker(call))
        for holder, key, x in self.settings:
            holder[key] = x
        for owner, flag in self.flags:
            (call.arguments[owner] if owner.__class__ is int else owner)._requires_grad = flag
        for scheduler in self.schedules:
            scheduler.step()
        return self.result(call)

    def _doubt(self, values: list, out: list) -> Any:
        """What this run may turn out to have done wrong; see NOTE [Faults found late]."""
        inherited = any(v.doubt is not None and v.doubt[0].wrong != {} for v in values)
        if inherited and self.last is not None and self.last.sound():
            inherited = any(v.doubt is not None and v.doubt[0].wrong != {} for v in values)
        if not (inherited or self.question_from):
            return None
        questions = [
            Question(Value(q.flag.aval, out[k]), q.asked, q.victims, q.error, q.line)
            for q, k in self.question_from
        ]
        if not inherited:
            self.last = Doubt(questions, [], self.trace)
            return self.last
        leaves = [values[k] for k in self.leaf_at]
        self.unsettled += 1
        if self.unsettled < _CHAIN:
            open_ = [
                (-1 - i, v.doubt) for i, v in enumerate(leaves)
                if v.doubt is not None and v.doubt[0].wrong != {}
            ]
            self.last = Doubt(questions, open_, self.trace)
        else:
            self.unsettled = 0
            self.last = doubt_of(questions, leaves, self.trace)
        return self.last


class _Holder:
    __slots__ = ("array", "value")


def _calibrate() -> tuple[int, int]:
    """What ``sys.getrefcount`` says, in `_exclusive`, of a Value that one storage holds and of its array."""
    holder = _Holder()
    holder.value = _Holder()
    holder.value.array = object()

    def look(values: list, arrays: list) -> tuple[int, int]:
        for k in range(1):
            v = values[k]
            return sys.getrefcount(v), sys.getrefcount(arrays[k])
        raise AssertionError

    values = [holder.value]
    return look(values, [v.array for v in values])


# A free-threaded build has no reliable count: there, everything is copied.
_VALUE, _ARRAY = _calibrate() if getattr(sys, "_is_gil_enabled", lambda: True)() else (-1, -1)
