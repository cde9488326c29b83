"""Who ran in a captured call: the user's functions, calls into C, optimizers and schedules.

``sys.setprofile`` reports every call while a function is captured, and none afterwards.
"""

from __future__ import annotations

import collections
import copy
import os
import sys
import sysconfig
import types
from typing import Any

import numpy as np

from jaxflow._core.generator import Generator
from jaxflow._core.inner import name_of_module
from jaxflow._core.symbolic_numbers import SymNumber
from jaxflow._core.tensor import Tensor
from jaxflow._plans.op import SCALAR
from jaxflow._publish import overrides
from jaxflow.optim import _device_state
from jaxflow.optim._rule import RuleOptimizer

from ._capture import Capture
from ._code import names_of, types_asked
from ._profilers import can_resume, resume

_HOME = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_SCHEDULES = os.path.join(_HOME, "optim", "lr_scheduler") + os.sep
# Settings of the library that no guard compares.
_SETTINGS = tuple(os.path.join(_HOME, *name.split("/")) for name in (
    "_api/settings/threads.py", "_api/settings/precision.py", "_api/settings/determinism.py",
    "_core/printing.py",
))
_PRINTING = _SETTINGS[-1]  # reads its settings whoever calls it
_STDLIB = sysconfig.get_paths()["stdlib"] + os.sep
_SITE = tuple(sysconfig.get_paths()[kind] + os.sep for kind in ("purelib", "platlib"))
_ENGINES = tuple(
    os.path.dirname(os.path.abspath(sys.modules[name].__file__ or "")) + os.sep
    for name in ("jax", "jaxlib", "numpy")
)
# What the interpreter calls to limit the threads of BLAS.
_BESIDE = os.sep + "threadpoolctl.py"
# Parts of Python's library that only pass calls on, or work on what they are given.
_PASSING = tuple(os.path.join(_STDLIB, name) for name in (
    "contextlib.py", "functools.py", "typing.py", "dataclasses.py", "enum.py", "abc.py", "operator.py",
    "collections", "copy.py", "copyreg.py", "inspect.py", "types.py", "weakref.py", "_collections_abc.py",
    "numbers.py", "itertools.py", "bisect.py", "heapq.py", "string.py", "re", "_weakrefset.py", "warnings.py",
))

_PURE = frozenset((
    len, isinstance, issubclass, getattr, hasattr, min, max, sum, abs, round, sorted, any, all, repr, format,
    id, callable, chr, ord, divmod, pow, hash, iter, setattr, delattr, bin, hex, oct,
    ascii, vars, dir,
))
_PURE_MODULES = frozenset(("math", "cmath", "_operator", "_functools", "itertools", "_abc"))
_PLAIN = (str, bytes, int, float, complex, bool, list, dict, tuple, set, frozenset, range, slice, type(None),
          collections.deque, collections.OrderedDict, collections.defaultdict, types.MappingProxyType,
          types.FunctionType, type(iter([])), object)

NOTHING, PASSING, USER, SCHEDULE, RULE, ENGINE, SEED, SETTING = range(8)

_COPYING = copy.copy.__code__, copy.deepcopy.__code__
# What they return is another number at each call.
_SEED_READERS = frozenset(f.__code__ for f in (Generator.initial_seed, Generator.get_offset, Generator.seed))


def is_ours(filename: str) -> bool:
    """Whether a file is jaxflow's, or of the libraries below it."""
    return filename.startswith((_HOME, *_ENGINES))


def is_library(code: types.CodeType) -> bool:
    """Whether a function refers to no user's state: ours, or a part of Python that passes calls on."""
    return is_ours(code.co_filename) or code.co_filename.startswith(_PASSING)


class Watcher:
    """What a captured call did in Python.

    Attributes:
        codes: the user's code objects that ran -> (globals, line of definition).
        names: attribute and global names they mention.
        events: in order, ("numbers", optimizer, group, fresh, rule, static, first float, names) for an
            update rule and ("schedule", scheduler, values of its groups before the step, and after it) for
            a learning-rate schedule.
        born: objects made in the call.
        met: arguments of the user's functions that ran, ``self`` as well: id -> object.
        copied: ids of what was copied by `copy.copy` and `copy.deepcopy`, which take what is in it, too.
        asked: the tape's entries of tracked numbers whose type some code reads.
    """

    def __init__(self, capture: Capture) -> None:
        self.capture = capture
        self.codes: dict[types.CodeType, dict] = {}
        self.events: list[tuple] = []
        self.born: dict[int, Any] = {}
        self.met: dict[int, Any] = {}
        self.asked: set[int] = set()
        self.kinds: dict[types.CodeType, int] = {}
        self.copied = copied = set[int]()
        self.calls = {
            **capture.draws.calls(), **capture.journal.calls(),
            **dict.fromkeys(_COPYING, lambda frame: copied.add(id(frame.f_locals["x"]))),
        }
        self.returns = {**capture.draws.returns(), **capture.journal.returns()}
        self.inside: Any = None  # the frame of the schedule whose step runs
        self.rule: tuple | None = None
        self.schedules: dict[int, tuple] = {}  # those that step, and what they and their groups held
        self.before: Any = None

    def start(self) -> None:
        """Watch this thread."""
        self.before = sys.getprofile()
        if can_resume(self.before):
            sys.setprofile(self._see)
        else:
            self.capture.blame("a profiler that is not Python's own watches the thread's calls")

    def stop(self) -> None:
        """Watch no more."""
        if not can_resume(self.before):
            return
        if sys.getprofile() != self._see:  # an interrupt came while it was put aside
            self.capture.blame("something else watched the thread's calls")
        resume(self.before)

    def forget(self) -> None:
        """Keep alive nothing that the call made."""
        self.born, self.met, self.rule = {}, {}, None

    def put_back(self) -> None:
        """Let schedules be where they were before the call."""
        for held in self.schedules.values():
            for x, before in held:
                x.clear()
                x.update(before)

    @property
    def names(self) -> set[str]:
        """All names that the code which ran mentions."""
        found: set[str] = set()
        for code in self.codes:
            found |= names_of(code)
        return found

    def _see(self, frame: Any, event: str, arg: Any) -> None:
        code = frame.f_code
        if event == "call":
            if code in self.calls:
                self.calls[code](frame)
            kind = self.kinds.get(code)
            if kind is None:
                kind = _kind_of(frame)
                if kind != ENGINE:  # which may depend on the caller
                    self.kinds[code] = kind
            if code.co_name == "__init__" and code.co_argcount:
                me = frame.f_locals.get(code.co_varnames[0])
                self.born[id(me)] = me
            if self.inside is None and kind != NOTHING:
                if kind == ENGINE:  # what jax does to trace and compile is nobody's business
                    self.inside = frame
                elif kind != SETTING or code.co_filename == _PRINTING or (
                    not is_ours(_caller(frame).f_code.co_filename)
                ):
                    self._called(frame, code, kind)
        elif event == "c_call":
            if self.inside is None:
                kind = self.kinds.get(code)
                if kind is None:
                    kind = self.kinds[code] = _kind_of(frame)
                if kind == USER and not self._pure(arg):
                    self._impure(frame, arg)
        elif event == "return":
            if code in self.returns:
                self.returns[code](frame, arg)
            if frame is self.inside or (self.rule and self.rule[0] is frame):
                self._returned(frame)

    def _called(self, frame: Any, code: types.CodeType, kind: int) -> None:
        if kind == USER:
            self.codes.setdefault(code, frame.f_globals)
            self.asked |= {x.at for x in map(frame.f_locals.get, types_asked(code) or ())
                           if type(x) is SymNumber and x.tape is self.capture.tape}
            for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]:
                x = frame.f_locals.get(name)
                if x is not None and not isinstance(x, (Tensor, int, float, str, tuple, list, dict)):
                    self.met.setdefault(id(x), x)
        elif kind == SCHEDULE:
            self.inside = frame
            me = frame.f_locals.get("self")
            given = [frame.f_locals.get(n) for n in code.co_varnames[1 : code.co_argcount]]
            if any(x is not None for x in given):
                where = _line(frame.f_back)
                self.capture.blame(f"{type(me).__name__}.step() was given an argument ({where})")
            if any(isinstance(g["lr"], Tensor) for g in me.optimizer.param_groups):
                self.capture.blame(f"{type(me).__name__} changes a learning rate that is a tensor")
            held = [(x, dict(x)) for x in (vars(me), *me.optimizer.param_groups)]
            self.schedules.setdefault(id(me), held)
            self.events.append(("schedule", me, _group_values(me), []))
        elif kind == SETTING:
            self.capture.blame(f"it reads or changes a setting by {code.co_name}() at {_line(frame)}",
                               lasting=True)
        elif kind == SEED:
            self.capture.blame(f"it asks a generator for its seed or offset at {_line(frame)}")
        elif kind == RULE:
            caller = frame.f_back.f_locals
            self.rule = (frame, caller, dict(frame.f_locals), len(self.capture.program.floats))

    def _returned(self, frame: Any) -> None:
        if frame is self.inside:
            self.inside = None
            if self.kinds.get(frame.f_code) == SCHEDULE:
                _, schedule, _, after = self.events[-1]
                after += _group_values(schedule)
            return
        _, caller, given, first = self.rule
        self.rule = None
        if self.capture.break_line is not None:
            return  # Python runs anyhow, and what is recorded now is another Program
        rule = given["rule"]
        names = [
            p.name for p in rule.params
            if p.kind == SCALAR and not isinstance(given["hypers"][p.name], Tensor)
        ]
        owner, batch = caller.get("self"), caller.get("batch")
        if isinstance(owner, RuleOptimizer) and batch is not None and (
            len(self.capture.program.floats) - first == len(names)
        ):
            static = {k: v for k, v in given["static"].items() if k != "layout"}
            self.events.append(("numbers", owner, batch.group, batch.fresh, rule, static, first, names))
        else:
            self.capture.blame(f"{type(owner).__name__}.step() computes its numbers in a way of its own")

    def _pure(self, fn: Any) -> bool:
        owner = getattr(fn, "__self__", None)
        if owner is None:
            owner = getattr(fn, "__objclass__", None)
            if owner is not None:
                return owner in _PLAIN
        if owner is None or isinstance(owner, types.ModuleType):
            return fn in _PURE or getattr(fn, "__module__", None) in _PURE_MODULES
        kind = owner if isinstance(owner, type) else type(owner)
        return kind in _PLAIN or issubclass(kind, (BaseException, types.GeneratorType, np.dtype)) or (
            getattr(fn, "__name__", "") in ("__init_subclass__", "__new__", "__setattr__", "__init__")
        )

    def _impure(self, frame: Any, fn: Any) -> None:
        name = getattr(fn, "__qualname__", repr(fn))
        self.capture.blame(f"{name}() is called at {_line(frame)}", lasting=True)


def _group_values(schedule: Any) -> list[list]:
    return [list(group.values()) for group in schedule.optimizer.param_groups]


def _caller(frame: Any) -> Any:
    """The frame that called a function of the library, whether or not classes may override it."""
    frame = frame.f_back
    while frame.f_code.co_filename == overrides.__file__:
        frame = frame.f_back
    return frame


def _line(frame: Any) -> str:
    """The user's line of a frame, or of who called it."""
    at = frame
    while at is not None and _is_inner(at.f_code.co_filename):
        at = at.f_back
    at = frame if at is None else at
    return f"{at.f_code.co_filename}:{at.f_lineno}"


def _is_inner(filename: str) -> bool:
    return filename.startswith(_HOME) or (
        filename.startswith(_STDLIB) and not filename.startswith(_SITE)
    )


def _kind_of(frame: Any) -> int:
    code = frame.f_code
    name = code.co_filename
    if name.startswith("<"):  # generated: by import, by named tuples and dataclasses
        module = str(name_of_module(frame.f_globals)).split(".")[0]
        if name.startswith("<frozen") or module in ("jaxflow", "jax", "jaxlib", "numpy") or (
            module.startswith("namedtuple_")
        ):
            return NOTHING
    if code is _device_state.call.__code__:
        return RULE
    if code in _SEED_READERS:
        return SEED
    if name.startswith(_SCHEDULES):
        return SCHEDULE if code.co_name == "step" else NOTHING
    if name.startswith(_ENGINES) or name.endswith(_BESIDE):
        return ENGINE
    if name.startswith(_HOME):
        return SETTING if name in _SETTINGS else NOTHING
    if name.startswith(_PASSING):
        return PASSING
    if _is_inner(name) and frame.f_back is not None and frame.f_back.f_code.co_filename.startswith(_HOME):
        return ENGINE  # Python's library at work for us
    return USER
