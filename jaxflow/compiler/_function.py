"""Compiled functions: which specialisation serves a call, and what happens when none does."""

from __future__ import annotations

import functools
import gc
import itertools
import threading
import types
import warnings
import weakref
from collections.abc import Callable
from typing import Any

from jax.extend.core import get_opaque_trace_state

from jaxflow._core import dtype as dtypes
from jaxflow._core.device import innermost
from jaxflow._core.levels import LEVELS
from jaxflow._core.tensor import Tensor
from jaxflow._dispatch import explain, forking
from jaxflow._dispatch.door import view_value
from jaxflow._dispatch.generator import default_generator, drawing
from jaxflow._dispatch.run import flush
from jaxflow._dispatch.state import state
from jaxflow._dispatch.traces import MET
from jaxflow._dispatch.tracked import Tape, settled

from ._arguments import LEAVES, flatten, numbers_at, records, same_attributes
from ._call import MISSED
from ._capture import Capture, Programs, Unsupported
from ._numbers import Numbers, is_store
from ._reach import Reach, Wrapped
from ._rows import same
from ._specialise import Builder
from ._turns import Busy, capturing
from ._watcher import Watcher, asks_types

RECOMPILE_LIMIT = 8

# Captures of a function that may fail before Python runs at each call: the first ones may create state.
_ATTEMPTS = 3

_NUMBERS = (float, int)

# What jax says of itself outside all of its transformations.
_UNTRACED = get_opaque_trace_state()

#: The compiled functions that live, for `explain`.
functions: weakref.WeakSet = weakref.WeakSet()


def _modes() -> tuple:
    """What belongs to a thread or the process and decides what operations do."""
    return (state.grad, state.inference, state.constant, dtypes.get_default_dtype(), innermost(),
            drawing.generator)


_numbers = itertools.count()


class Disguised(Exception):
    """A call has to be captured again, with its numbers as they are."""


class _Entry:
    """The specialisations for one structure of arguments and one set of modes."""

    __slots__ = ("attempts", "calls", "numbers", "python", "reasons", "specialisations", "tracked")

    def __init__(self) -> None:
        self.specialisations: list = []
        self.attempts = 0
        self.calls = 0
        self.reasons: list[str] = []
        self.numbers: list[tuple] = []  # (container, key) of numbers that are followed
        self.python: list[str] | None = None  # why Python runs at each call
        self.tracked: set | None = set()  # arguments that are tracked numbers; None if nothing may be

    def note_number(self, holder: Any, key: Any) -> None:
        """Follow the number at a key of a container from the next capture on."""
        if not any(holder is x and key == k for x, k in self.numbers):
            self.numbers.append((holder, key))


class CompiledFunction(Wrapped):
    """A function whose calls are served by compiled programs wherever that is sure to be the same.

    Attributes:
        entries: (argument structure, modes) -> specialisations.
        misses: why a call needed a new specialisation, one list of reasons each.
        skipped: calls that ran as they are, inside a transformation or another capture.
    """

    def __init__(self, fn: Callable, *, fullgraph: bool, limit: int, name: str | None,
                 dynamic: bool | None = None) -> None:
        functools.update_wrapper(self, fn, updated=())
        self.fn, self.fullgraph, self.limit, self.dynamic = fn, fullgraph, limit, dynamic
        self.number = next(_numbers)
        self.name = name or getattr(fn, "__qualname__", type(fn).__name__)
        self.entries: dict[Any, _Entry] = {}
        self.misses: list[list[str]] = []
        self.names: set[str] = set()
        self.scopes: dict[Any, dict] = {}
        self.extra: dict[int, Callable] = {}  # functions met in calls that no walk had found
        self.skipped = 0
        self.count = 0  # specialisations of all entries
        self.others = _Entry()  # calls whose structure is new when there may be no more specialisations
        self.warned = False
        functions.add(self)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if (
            LEVELS or state.axes or state.captors or state.saving is not None or stance.disabled
            or stance.name == "force_eager" or state.programs.__class__ is Programs
            or (MET and get_opaque_trace_state() != _UNTRACED)
        ):
            self.skipped += 1
            return self.fn(*args, **kwargs)
        leaves: list = []
        if not kwargs and LEAVES.issuperset(map(type, args)):
            leaves += args  # as `flatten` would, but quicker
            structure = (tuple, *[None] * len(args)), None
        else:
            structure = flatten(args, leaves), flatten(kwargs, leaves) if kwargs else None
        key = structure, _modes()
        entry = self.entries.get(key)
        if entry is None:
            if self.count >= self.limit:
                if not self.misses:
                    self.misses.append(["the arguments' structure or the modes are others"])
                entry = self.others
                self._give_up(entry)
            else:
                entry = self.entries[key] = _Entry()
        entry.calls += 1
        try:
            for spec in entry.specialisations:
                result = spec.call(leaves)
                if result is not MISSED:
                    spec.hits += 1
                    return result
            return self._missed(entry, structure, leaves, args, kwargs)
        except Busy:
            entry.calls, self.skipped = entry.calls - 1, self.skipped + 1
        return self.fn(*args, **kwargs)

    def _missed(self, entry: _Entry, structure: Any, leaves: list, args: tuple, kwargs: dict) -> Any:
        """The call where no specialisation serves it: by a new one, or as Python."""
        if entry.python is not None:
            return self.fn(*args, **kwargs)
        if stance.name == "eager_on_recompile":
            return self.fn(*args, **kwargs)
        if stance.name == "fail_on_recompile":
            raise RuntimeError(f"{self.name} has to be compiled anew, and the stance is 'fail_on_recompile'")
        with capturing():
            tracked = self._to_track(entry, leaves, args, kwargs)
            try:
                return self._specialise(entry, structure, leaves, args, kwargs, tracked)
            except Disguised:
                entry.tracked = None
                if entry.specialisations:
                    self.misses.pop()  # it will be said again
                return self._specialise(entry, structure, leaves, args, kwargs, {})

    def __deepcopy__(self, memo: dict) -> CompiledFunction:
        return self  # as a function is

    def explain(self) -> dict:
        """See `jaxflow.compiler.explain`."""
        entries = [*self.entries.values(), self.others]
        return {
            "name": self.name,
            "calls": sum(e.calls for e in entries) + self.skipped,
            "hits": sum(s.hits for e in entries for s in e.specialisations),
            "specialisations": sum(len(e.specialisations) for e in entries),
            "misses": [list(reasons) for reasons in self.misses],
            "python": list(dict.fromkeys(r for e in entries for r in e.python or ())),
            "warm_up": list(dict.fromkeys(r for e in entries if e.python is None for r in e.reasons)),
            "skipped": self.skipped,
        }

    def reset(self) -> None:
        """Forget everything that was compiled."""
        self.entries.clear()
        self.misses.clear()
        self.count, self.others = 0, _Entry()
        self.warned = False

    # -------------------------------------------------------------------------------------- compiling

    def _to_track(self, entry: _Entry, leaves: list, args: tuple, kwargs: dict) -> dict:
        """Arguments whose number is followed through the call: those that were another number before."""
        if self.dynamic is False or entry.tracked is None:
            return {}
        at = numbers_at(args, kwargs)
        for name, leaf in at.items():
            if self.dynamic or any(
                i == leaf and not same(x, leaves[leaf])
                for spec in entry.specialisations for i, x in spec.arguments.other
            ):
                entry.tracked.add(name)
        return {name: leaf for name, leaf in at.items() if name in entry.tracked}

    def _numbers(self, entry: _Entry, reach: Reach) -> Numbers:
        """Numbers kept in containers that are followed: those that were another one before."""
        if self.dynamic is False or entry.tracked is None:
            return Numbers(reach, ())
        for spec in entry.specialisations:
            for row in filter(is_store, spec.guard.rows):
                for key, old, new in row.changes():
                    if type(old) in _NUMBERS and type(new) in _NUMBERS:
                        entry.note_number(row.holder, key)
        return Numbers(reach, entry.numbers)

    def _specialise(self, entry: _Entry, structure: Any, leaves: list, args: tuple, kwargs: dict,
                    tracked: dict) -> Any:
        if entry.specialisations:
            self.misses.append(entry.specialisations[0].misses(structure, leaves))
        if self.count >= self.limit:
            self._give_up(entry)
            return self.fn(*args, **kwargs)
        tensors = [x for x in leaves if isinstance(x, Tensor)]
        views = [(t, view_value(t)) for t in tensors if t._view is not None]
        flush()
        roots: list = [(self.fn, self.name), *((f, f.__qualname__) for f in self.extra.values())]
        roots += [(x, "argument") for x in leaves if not isinstance(x, Tensor)]
        attributes = [dict(t.__dict__) for t in tensors]
        roots += [(x, f"argument.{name}") for held in attributes for name, x in held.items()]
        given = records((args, kwargs))
        roots += [(type(x), type(x).__qualname__) for x in given]
        reach = Reach(self.names).walk(roots, [(scope, code) for code, scope in self.scopes.items()])
        numbers = self._numbers(entry, reach)
        tape = Tape(len(tracked) + len(numbers.found))
        if tape.count and asks_types(reach.codes):
            raise Disguised
        given_args, given_kwargs = list(args), dict(kwargs)
        start = tape.start([*(leaves[i] for i in tracked.values()), *(p.before for p in numbers.found)])
        for name, x in zip(tracked, start):
            (given_kwargs if isinstance(name, str) else given_args)[name] = x
        generators = {**reach.generators, **{id(g): g for g in (default_generator, drawing.generator) if g}}
        capture = Capture(self.fullgraph, views, tape, generators)
        watcher = Watcher(capture)
        walked, marks = _histories(reach)
        modes = _modes()
        failure = result = spec = builder = None
        try:
            numbers.note()
            capture.begin()
            watcher.start()
            numbers.track(start[len(tracked):])
            try:
                result = self.fn(*given_args, **given_kwargs)
            except BaseException as error:
                disguised = tape.count and isinstance(error, TypeError) and capture.break_line is None
                if isinstance(error, Unsupported) or disguised:
                    raise
                failure = error  # the user's: what was recorded before it is run, and it is raised again
            finally:
                watcher.stop()
            if tape.count and capture.break_line is None and asks_types(watcher.codes):
                raise Disguised
            again: list = []
            if (flatten(args, again), flatten(kwargs, again) if kwargs else None) != structure or any(
                a is not b for a, b in zip(leaves, again)
            ) or not all(map(same_attributes, attributes, map(vars, tensors))):
                capture.blame("it changes a container or an object among its arguments")
            if _modes() != modes:
                capture.blame("it leaves another grad mode or default dtype behind")
            if failure is None:
                builder = Builder(capture, watcher, reach, tensors, result, {id(x) for x in given}, walked,
                                  numbers)
                spec = self._built(entry, builder)
        except BaseException as error:
            capture.rollback()
            numbers.put_back()
            if tape.count and isinstance(error, TypeError) and capture.break_line is None:
                raise Disguised from error  # something looked closer at a number than it can bear
            raise
        finally:
            for mark in marks:
                mark.remove()
        if spec is None:
            # What the call has dropped is no result of its program, and what it overwrote can be donated.
            watcher.forget()
            del builder, views
            if capture.break_line is None:
                try:
                    capture.commit()
                except BaseException:  # an interrupt
                    capture.rollback()
                    raise
            try:
                capture.release()
                if capture.break_line is None and capture.program.device is not None:
                    capture.program.close(explain.ASKED)
                capture.end()
            except BaseException:
                capture.end()
                raise
            if tape.count:
                numbers.settle(tape, result, *map(vars, tensors))
            if failure is not None:
                try:
                    raise failure
                finally:
                    del failure  # or the error and this frame would refer to each other
            return settled(result)
        result = builder.result = None
        try:
            capture.rollback()
            builder.note(spec, structure, leaves, list(tracked.values()))
        except BaseException:  # an interrupt: nothing was called
            capture.rollback()
            builder.put_back()
            raise
        capture.release()  # its notes of how things were hold the values that the call is to donate
        del builder, views
        if spec.fits(leaves) is None:
            reasons = "; ".join(spec.misses(structure, leaves))
            entry.python = [f"its guards do not hold right after the call: {reasons}"]
            return self.fn(*args, **kwargs)
        entry.attempts = 0
        entry.specialisations.insert(0, spec)
        self.count += 1
        result = spec.call(leaves)
        return self.fn(*args, **kwargs) if result is MISSED else result  # somebody came in between

    def _built(self, entry: _Entry, builder: Builder) -> Any:
        """The specialisation of a capture that ended well, None where Python has to run."""
        capture, watcher, reach = builder.capture, builder.watcher, builder.reach
        entry.attempts += 1
        spec = None
        unknown = {code: scope for code, scope in watcher.codes.items() if code not in reach.codes}
        self.names |= watcher.names
        if capture.break_line is not None:
            capture.reasons.insert(0, f"a number of a tensor is needed at {capture.break_line}")
        elif unknown:
            self.scopes.update(unknown)
            for code in unknown:
                if code.co_freevars:
                    for f in gc.get_referrers(code):
                        if isinstance(f, types.FunctionType):
                            self.extra[id(f)] = f
            capture.blame("it ran code that was not known before: " + ", ".join(
                f"{code.co_name} ({code.co_filename}:{code.co_firstlineno})" for code in unknown
            ))
        else:
            spec = builder.build()
            for place in capture.numbers:
                entry.note_number(*place)
        if spec is None:
            capture.lasting = capture.lasting or capture.break_line is not None
            last = entry.attempts >= (2 if capture.lasting else _ATTEMPTS)
            refused = self.fullgraph and not capture.outside
            if refused and (last or capture.lasting or (not unknown and entry.attempts > 1)):
                raise Unsupported(
                    f"fullgraph=True, but Python has to run at each call of {self.name}: "
                    + "; ".join(capture.reasons)
                )
            entry.reasons += capture.reasons
            if last:
                entry.python = list(capture.reasons)
        return spec

    def _give_up(self, entry: _Entry) -> None:
        entry.python = [f"more than {self.limit} specialisations"]
        if not self.warned:
            self.warned = True
            last = "; ".join(self.misses[-1]) if self.misses else "the arguments' structure"
            warnings.warn(
                f"{self.name} was compiled {self.limit} times for other values ({last}); from now on Python "
                "runs at calls that none of them serves. Pass what changes as a tensor, pad shapes to a few "
                "sizes, or raise recompile_limit. jaxflow.compiler.explain() lists all the reasons.",
                stacklevel=4,
            )


def _histories(reach: Reach) -> tuple[set[int], list]:
    """Ids of the nodes, at captured tensors, that a backward will have come to; handles to end that."""
    walked: set[int] = set()
    nodes = {id(t._grad_fn): t._grad_fn for t, _ in reach.tensors.values() if t._grad_fn is not None}
    marks = [node.register_prehook(lambda grads, at=at: walked.add(at)) for at, node in nodes.items()]
    return walked, marks


class _Stance(threading.local):
    disabled = False
    name = "default"


#: What `compiler.disable` and `compiler.set_stance` say in this thread.
stance = _Stance()


forking.ENTRIES.append(CompiledFunction.__call__)
