"""When a program cannot be run: its operations one by one, and what depends on those that fail undone.

NOTE [What a failed run leaves]
    The operations that somebody needs are run again, each alone: on the CPU by the interpreter, else by
    XLA. So only what cannot be computed is lost: the operations that fail, and what depends on them. Values
    that were written over while this program was recorded are computed as well, where a storage or a
    ``.grad`` may have to go back to one. Then, in one call, every result that is there is delivered, and
    every storage and every ``.grad`` that shows what cannot be computed shows its last Value that can, with
    that one's version and history (NOTE [Undoing what cannot be computed]). If another thread or a
    finalizer wrote to one of them since it was looked at, nothing is stored, and it is looked at again. The
    first error that concerns a result somebody can see is raised, and names its operation; reading a lost
    value raises again. Nothing is raised if every operation could be run alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from operator import call, eq, setitem
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from jaxflow._core.aval import Aval
from jaxflow._core.commit import Overtaken, commit
from jaxflow._core.fields import grad_row, history_rows
from jaxflow._core.memory_errors import OutOfMemoryError, as_memory_error
from jaxflow._core.value import COUNTED, Storage, Value, counted_in, host_array, owned
from jaxflow._plans.plan import NUMBER_DTYPES, Plan

from . import explain
from .counted import Miscounted, check_inputs
from .eager import run_alone
from .fitting import check, need_alone
from .numpy import tiering
from .numpy.lower import host_of
from .trace_analysis import VECTOR, Step, inputs, parse, without_dead
from .undo import ENTRY, GRADS, grad_of, source_of, sources_of, writes_of
from .unread import blank, slots_read

if TYPE_CHECKING:
    from .program import Program
    from .tape import Entry, Layout


class Lost:
    """Why a result could not be computed: the operation that failed, and its error."""

    __slots__ = ("error", "line", "plan")

    def __init__(self, plan: Plan, error: Exception, line: str | None) -> None:
        self.plan, self.error, self.line = plan, error, line

    def where(self) -> str:
        """The operation as an error names it."""
        kinds = ", ".join(k.__name__ if isinstance(k, type) else repr(k) for k in self.plan.kinds)
        where = f" at {self.line}" if self.line else f", first met with these sizes at {self.plan.line}"
        return f"{self.plan.name}({kinds}){where}"

    def raised(self) -> Exception:
        """The error for whoever reads the result later."""
        kind = OutOfMemoryError if isinstance(self.error, OutOfMemoryError) else RuntimeError
        error = kind(f"this value could not be computed: {self.where()} failed: {self.error}")
        error.__cause__ = self.error
        return error


class Given(RuntimeError):
    """An input was given away to a run that failed."""


def recover(program: Program, layout: Layout, alive: tuple[int, ...], error: Exception) -> None:
    """Compute what can be computed of a program that failed with ``error``; raise the first failure."""
    miscounted = isinstance(error, Miscounted)  # then there is no operation whose inputs are known
    steps = [] if miscounted else parse(layout.trace)
    wanted: set[int] = set()
    env: dict[int, Any] = {}
    lost: dict[int, Lost] = {}
    while not program.finished:  # a finalizer may need a number, and recover meanwhile
        undo = list(program.undo)
        needed = {layout.slot_of(source) for source in sources_of(undo)
                  if source.__class__ is tuple and source[0].program is program}.union(alive)
        if not needed <= wanted:
            wanted |= needed
            if miscounted:
                lost = dict.fromkeys(range(len(layout.results)), Lost(error.plan, error, None))
            else:
                env, lost = _run_alone(program, layout, steps, wanted)
        slots = tuple(slot for slot in alive if slot in env)
        about, arrays = (slots, None), [env[slot] for slot in slots]
        try:
            present = Present()
            commit([*_undone(program, undo, env, lost, present),
                    (setitem, program.answers, slice(None), [about, arrays]),
                    (setattr, program, "failed", lost), (setattr, program, "undo", []),
                    (setattr, program, "unsettled", None)],
                   conditions=map(eq, (len(undo), False),
                                  map(call, (program.undo.__len__, partial(getattr, program, "finished")))),
                   **present.as_it_was())
        except Overtaken:
            continue  # somebody wrote to what may have to go back: it is looked at again
        break
    lost = program.failed
    explain.recovered(len(lost))
    program._deliver()
    seen = {id(lost[slot]) for slot in alive if slot in lost}
    first = next((failure for failure in lost.values() if id(failure) in seen), None)
    if first is not None:
        count = sum(x.__class__ is Plan for x in layout.trace)
        where = (f"{first.where()}, in a program of {count} operations"
                 + ("" if first.line else "; set JAXFLOW_DEBUG=1 to see the line of this call"))
        if isinstance(first.error, Given):  # no operation failed alone: the reason is that of the run
            error.add_note(f"{first.error}, and is needed by {where}")
            raise error
        first.error.add_note(f"raised by {where}")
        raise first.error from (None if first.error is error else error)


def _run_alone(program: Program, layout: Layout, steps: list[Step], wanted: set[int]) -> tuple[dict, dict]:
    """The arrays of the ``wanted`` slots, and why each of the others could not be had."""
    line_of = {id(step): line for step, line in zip(steps, layout.lines)}
    live = without_dead(steps, set(wanted))
    last = {slot: at for at, step in enumerate(live) for slot in step.slots}
    env: dict[int, Any] = {}
    lost: dict[int, Lost] = {}
    unread: dict[int, Aval] = {}
    vectors = {float: layout.floats, int: layout.integers, complex: layout.complexes}

    def array(slot: int) -> Any:
        if slot in unread:
            return blank(unread[slot])
        return env[slot] if slot >= 0 else layout.leaves[-1 - slot].array

    def number(kind: type, position: int) -> Any:
        return kind(vectors[VECTOR[kind]][position])

    for at, step in enumerate(live):
        plan, out = step.plan, step.out
        read, unread = step.slots, {}
        if any(slot in lost or _given_away(layout, slot) for slot in read):
            read = slots_read(plan, step.slots)  # NOTE [Written over unread]
            avals = [kind for kind in plan.kinds if isinstance(kind, Aval)]
            unread = {slot: aval for slot, aval in zip(step.slots, avals) if slot not in read}
        failure = next((lost[slot] for slot in read if slot in lost), None)
        if failure is None:
            try:
                _refuse_given(layout, read)
                found = _alone(plan, inputs(step, array, number))
                env.update(zip(range(out, out + len(plan.out_avals)), found))
            except Exception as error:  # noqa: BLE001 - whatever it is, it belongs to this operation
                failure = Lost(plan, as_memory_error(error), line_of.get(id(step)))
        if failure is not None:
            lost.update((out + k, failure) for k in range(len(plan.out_avals)))
        for slot in (*step.slots, *range(out, out + len(plan.out_avals))):
            if slot in env and slot not in wanted and last.get(slot, -1) <= at:
                del env[slot]
    return env, lost


def compute_late(value: Value) -> None:
    """Compute a pending Value that its Program took for gone.

    In garbage with reference cycles the collector clears weak references before finalizers run. A finalizer
    may use such a Value after all: it still refers to its entry, and the entry to what it is computed from.
    """
    ordered: dict[int, Entry] = {}
    stack = [value.producer[0]]
    while stack:
        entry = stack.pop()
        before = [x[0] for x in entry if x.__class__ is tuple and id(x[0]) not in ordered]
        if before:
            stack += [entry, *before]
        else:
            ordered[id(entry)] = entry
    results: dict[int, list] = {}
    for entry in ordered.values():
        arguments = []
        for x in entry:
            if x.__class__ is tuple:
                x = results[id(x[0])][x[1]]
            elif x.__class__ is Value:
                if _given(x):
                    raise Given(f"the memory of {x.aval!r}, which {entry.plan.name} reads, was given away by "
                                "a program that took this value for garbage")
                x = x.array
            arguments.append(x)
        results[id(entry)] = _alone(entry.plan, arguments)
    entry, k = value.producer
    commit([(setattr, value, "array", results[id(entry)][k]), (setattr, value, "producer", None)])


def _given(value: Value) -> bool:
    """Whether the memory of a Value that was there was given away."""
    return isinstance(value.array, jax.Array) and value.array.is_deleted()


def _given_away(layout: Layout, slot: int) -> bool:
    return slot < 0 and _given(layout.leaves[-1 - slot])


def _refuse_given(layout: Layout, slots: Iterable[int]) -> None:
    for slot in slots:
        if _given_away(layout, slot):
            raise Given(f"the memory of an input, {layout.leaves[-1 - slot].aval!r}, was given to a run that "
                        "failed afterwards")


def _alone(plan: Plan, arguments: list) -> list:
    """The results of one operation."""
    check_inputs(plan, arguments)
    need = need_alone(plan.out_avals)
    if need:
        check(need, plan.device)
    failed: Exception | None = None
    if tiering.interprets(plan.device):
        from jaxflow._interpreter import interpreting

        try:
            with interpreting():
                found = host_of(plan).bare(*[_host(x) for x in arguments])
            return [host_array(owned(a)) for a in found]
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001 - XLA may be able to do it
            failed = error
    try:
        return jax.block_until_ready(list(run_alone(plan, arguments)))
    except Exception as error:
        raise error from failed


def _host(x: Any) -> np.ndarray:
    return NUMBER_DTYPES[x.__class__](x) if x.__class__ in NUMBER_DTYPES else np.asarray(x)


class Present:
    """What storages and owners of gradients show, each as it was when it was first looked at."""

    def __init__(self) -> None:
        self.storages: dict[int, tuple[Storage, int]] = {}
        self.owners: dict[int, tuple[Any, Any]] = {}

    def source(self, storage: Storage) -> Any:
        """What a storage shows, as records name it."""
        self.epoch(storage)  # before the Value: if that is another one, the epoch will be too
        return source_of(storage.value)

    def epoch(self, storage: Storage) -> int:
        """The epoch of a storage."""
        return self.storages.setdefault(id(storage), (storage, storage.epoch))[1]

    def grad(self, owner: Any) -> Any:
        """The ``.grad`` of an owner."""
        return self.owners.setdefault(id(owner), (owner, owner._grad))[1]

    def as_it_was(self) -> dict[str, Sequence]:
        """What `commit` has to find unchanged."""
        storages, epochs = zip(*self.storages.values()) if self.storages else ((), ())
        owners, grads = zip(*self.owners.values()) if self.owners else ((), ())
        return {"storages": storages, "epochs": epochs, "owners": owners, "grads": grads}


def _undone(program: Program, undo: list, env: dict, lost: dict, present: Present) -> list[tuple]:
    """The rows that bring every storage and ``.grad`` back to its last Value that can be had."""
    made: dict[int, Value] = {}

    def value_of(source: Any) -> Value | None:
        """The Value of a record's source; None if it cannot be had."""
        if source.__class__ is Value:
            return None if _given(source) else source
        entry, k = source
        if entry.program is not program:  # one that failed before, or that somebody opened meanwhile
            failed = entry.program.failed
            return None if failed and entry.first + k in failed else entry.results[k]()
        slot = entry.first + k
        if slot in lost:
            return None
        found = made.get(slot) or entry.results[k]()
        if found is None:
            found = made[slot] = Value(entry.plan.out_avals[k], env[slot])
        return found

    back: dict[int, tuple] = {}  # storage -> what it goes back to, and the write that is undone
    for write in writes_of(undo):
        storage, source = write[:2]
        shown = back[id(storage)][0] if id(storage) in back else present.source(storage)
        if value_of(shown) is None:
            back[id(storage)] = source, write
    rows: list[tuple] = []
    for source, (storage, _, cell, version, history) in back.values():
        value = value_of(source)
        if value is None:
            continue  # it never showed anything that can be had
        rows += [(setattr, storage, "value", value), (setattr, storage, "epoch", present.epoch(storage) + 1),
                 (list.__setitem__, cell, COUNTED, counted_in(version))]
        t = history and history[0]()
        if t is not None:
            rows += _with_history(t, *history[1:])
    rows += _grads_undone(undo, value_of, back, present)
    for record in undo:
        if record[0] is ENTRY and any(id(s()) in back for s in record[3] if s() is not None):
            rows += [(record[1].pop, key, None) for key in record[2]]
    return rows


def _grads_undone(undo: list, value_of: Callable, back: dict, present: Present) -> list[tuple]:
    """The rows that give each ``.grad`` that cannot be had back to its owner as it was before."""

    def there(t: Any) -> bool:
        """Whether a tensor's Value can be had, or the one that its storage goes back to."""
        storage = t._storage
        return value_of(back[id(storage)][0] if id(storage) in back else present.source(storage)) is not None

    def kept(before: tuple) -> bool:
        t = before[3][0]()
        return before[0] is not None and value_of(before[0]) is not None if t is None else there(t)

    found: dict[int, tuple] = {}  # owners, and what records keep of the ``.grad`` they get
    for record in reversed(undo):
        for reference, before in zip(*record[1:]) if record[0] is GRADS else ():
            owner = reference()
            if owner is None:
                continue
            grad = found[id(owner)][1] if id(owner) in found else present.grad(owner)
            if not (grad is None or (kept if grad.__class__ is tuple else there)(grad)):
                found[id(owner)] = owner, before
    return [grad_row(owner, before and grad_of(before, before[0] and value_of(before[0])))
            for owner, before in found.values()]


def _with_history(t: Any, node: Any, number: int, requires_grad: bool) -> list[tuple]:
    found = None if node is None else node()
    return history_rows(t, found, number, requires_grad)
