"""Compiled functions: which specialisation serves a call, and what happens when none does."""

from __future__ import annotations

import functools
import itertools
import threading
import warnings
import weakref
from collections.abc import Callable
from typing import Any

from jaxflow._core.jax_compat import get_opaque_trace_state
from jaxflow._core.levels import LEVELS
from jaxflow._core.state import state
from jaxflow._core.traces import MET
from jaxflow._exec import forking

from ._arguments import LEAVES, flatten, numbers_at
from ._call import MISSED
from ._capture import END, FOLLOW, SHOW, Programs
from ._first_call import ATTEMPTS, Disguised, FirstCall
from ._modes import modes
from ._python_guards import Wrapped
from ._rows import same
from ._turns import Busy, capturing

RECOMPILE_LIMIT = 8

# What jax says of itself outside all of its transformations.
_UNTRACED = get_opaque_trace_state()

#: The compiled functions that live, for `explain`.
functions: weakref.WeakSet = weakref.WeakSet()


_numbers = itertools.count()


# After how many calls at least it is tried again whether Python has to run at each.
_AGAIN = 32


class Entry:
    """The specialisations for one structure of arguments and one set of modes."""

    __slots__ = ("again", "attempts", "by_value", "calls", "disturbed", "hits", "lengths", "numbers",
                 "python", "reads", "reasons", "specialisations", "tracked")

    def __init__(self, reads: str = SHOW) -> None:
        self.reads = reads  # what becomes of numbers of tensors that a capture reads
        self.specialisations: list = []
        self.attempts = 0
        self.hits = 0  # of specialisations that were dropped
        self.disturbed = 0  # attempts that somebody else disturbed
        self.calls = 0
        self.reasons: list[str] = []
        self.numbers: list[tuple] = []  # (container, key) of numbers that are followed
        # Those that are not, as some code reads their type: names of arguments, and (container, key).
        self.by_value: list[Any] = []
        self.lengths: list[tuple] = []  # of lists that only grew: more than they held
        self.python: list[str] | None = None  # why Python runs at each call
        self.again = 0  # the number of the call from which on that is tried again
        self.tracked: set | None = set()  # arguments that are tracked numbers; None if nothing may be

    def note_number(self, holder: Any, key: Any) -> None:
        """Follow the number at a key of a container from the next capture on."""
        if not any(holder is x and key == k for x, k in self.numbers) and not self._is_by_value(holder, key):
            self.numbers.append((holder, key))

    def guard_by_value(self, which: Disguised) -> None:
        """Follow some numbers no more, or none at all."""
        if not which.names and not which.places:
            self.tracked, self.reads = None, END
            return
        self.by_value += [*which.names, *which.places]
        self.numbers = [known for known in self.numbers if not self._is_by_value(*known)]

    def _is_by_value(self, holder: Any, key: Any) -> bool:
        return any(known.__class__ is tuple and known[0] is holder and known[1] == key
                   for known in self.by_value)

    def leave_to_python(self, reasons: list[str]) -> None:
        """Let Python run where nothing serves, and try again after as many calls as there were."""
        self.python, self.again = reasons, self.calls + max(self.calls, _AGAIN)

    def may_try(self) -> bool:
        """Whether a call that nothing serves may be captured."""
        return self.python is None or self.calls >= self.again

    def drop_unsteady(self) -> int:
        """Leave to Python what numbers of tensors decide in one way, then in another; how many that are."""
        unsteady = [spec for spec in self.specialisations if spec.unsteady()]
        if unsteady:
            self.hits += sum(spec.hits for spec in unsteady)
            self.specialisations = [spec for spec in self.specialisations if spec not in unsteady]
            self.reads = END
        return len(unsteady)


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
        self.entries: dict[Any, Entry] = {}
        self.misses: list[list[str]] = []
        self.names: set[str] = set()
        self.scopes: dict[Any, dict] = {}
        self.extra: dict[int, Callable] = {}  # functions that ran in calls and that no walk had found
        self.skipped = 0
        self.count = 0  # specialisations of all entries
        self.others = Entry()  # calls whose structure is new when there may be no more specialisations
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
        key = structure, modes()
        entry = self.entries.get(key)
        if entry is None:
            if self.count >= self.limit:
                if not self.misses:
                    self.misses.append(["the arguments' structure or the modes are others"])
                entry = self.others
                self._give_up(entry)
            else:
                entry = self.entries[key] = Entry(FOLLOW if self.fullgraph else SHOW)
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

    def _missed(self, entry: Entry, structure: Any, leaves: list, args: tuple, kwargs: dict) -> Any:
        """The call where no specialisation serves it: by a new one, or as Python."""
        if not entry.may_try():
            return self.fn(*args, **kwargs)
        if stance.name == "eager_on_recompile":
            return self.fn(*args, **kwargs)
        if stance.name == "fail_on_recompile":
            raise RuntimeError(f"{self.name} has to be compiled anew, and the stance is 'fail_on_recompile'")
        with capturing():
            if entry.python is not None and not self._try_again(entry):
                return self.fn(*args, **kwargs)
            if entry.specialisations:
                self.misses.append(entry.specialisations[0].misses(structure, leaves))
                self.count -= entry.drop_unsteady()
            if self.count >= self.limit:
                self._give_up(entry)
                return self.fn(*args, **kwargs)
            given = structure, leaves, args, kwargs
            for again in (True, False):
                try:
                    return FirstCall(self, entry, *given, self._to_track(entry, leaves, args, kwargs)).run()
                except Disguised as disguised:
                    entry.guard_by_value(disguised if again else Disguised())
            return FirstCall(self, entry, *given, {}).run()

    def __deepcopy__(self, memo: dict) -> CompiledFunction:
        return self  # as a function is

    def explain(self) -> dict:
        """See `jaxflow.compiler.explain`."""
        entries = [*self.entries.values(), self.others]
        return {
            "name": self.name,
            "calls": sum(e.calls for e in entries) + self.skipped,
            "hits": sum(e.hits + sum(s.hits for s in e.specialisations) for e in entries),
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
        self.count, self.others = 0, Entry()
        self.warned = False

    # -------------------------------------------------------------------------------------- compiling

    def _to_track(self, entry: Entry, leaves: list, args: tuple, kwargs: dict) -> dict:
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
        return {name: leaf for name, leaf in at.items()
                if name in entry.tracked and name not in entry.by_value}

    def _try_again(self, entry: Entry) -> bool:
        """Capture once more where Python was to run; another thread may have done that.

        What a function does may settle down late: a list of the latest hundred results is full at last. One
        of the specialisations gives way, where there are as many as there may be.
        """
        if not entry.may_try() or self.fullgraph or (self.count >= self.limit and not entry.specialisations):
            return False
        if self.count >= self.limit:
            least = min(reversed(entry.specialisations), key=lambda spec: spec.hits)
            entry.specialisations = [spec for spec in entry.specialisations if spec is not least]
            entry.hits += least.hits
            self.count -= 1
        entry.python, entry.attempts = None, ATTEMPTS - 1
        return True

    def _give_up(self, entry: Entry) -> None:
        entry.leave_to_python([f"more than {self.limit} specialisations"])
        if not self.warned:
            self.warned = True
            last = "; ".join(self.misses[-1]) if self.misses else "the arguments' structure"
            warnings.warn(
                f"{self.name} was compiled {self.limit} times for other values ({last}); from now on Python "
                "runs at calls that none of them serves. Pass what changes as a tensor, pad shapes to a few "
                "sizes, or raise recompile_limit. jaxflow.compiler.explain() lists all the reasons.",
                stacklevel=4,
            )


class _Stance(threading.local):
    disabled = False
    name = "default"


#: What `compiler.disable` and `compiler.set_stance` say in this thread.
stance = _Stance()


forking.ENTRIES.append(CompiledFunction.__call__)
