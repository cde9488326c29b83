"""What happened: programs compiled and why, how often each ran, and every sync point by source line."""

from __future__ import annotations

import atexit
import sys
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterable

from jaxflow._core import budget, flags
from jaxflow._core.run_hooks import WATCHERS
from jaxflow._core.user_line import user_line

SYNC = "a number was needed"
STEP = "end of optimizer.step()"
OPTIMIZER = "an optimizer was made"
MODULE = "end of a module call without grad"
BOUND = "bound on recorded operations"
ASKED = "jaxflow.flush()"
DEAR = "an operation too large to run at once"


# How many earlier programs a new one is compared with to say why it was compiled.
_LOOK_BACK = 32

# Programs described one by one, and source lines counted one by one; a long process keeps no more of them.
_MAX_PROGRAMS = 1024
_MAX_LINES = 1024
OTHER_LINES = "other lines"
_MOST_LATEST = 16


class _Figures:
    """What was counted since the process began; every change is made under ``lock``.

    The latest runs wait in ``latest``, each as the arguments of `_count_run`, until `explain` is called or
    there are many.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()  # a finalizer that computes may come in while it is held
        self.latest: deque[tuple] = deque()
        self.programs: deque[dict] = deque(maxlen=_MAX_PROGRAMS)
        self.compilations = 0
        self.compile_seconds = 0.0
        self.runs = 0
        self.run_seconds = 0.0
        self.interpreted = 0
        self.interpreted_seconds = 0.0
        self.cold: dict[str, list[int]] = {}  # source line -> [runs, programs that first ran there]
        self.without_rule: Counter = Counter()
        self.eager_ops = 0
        self.at_once = 0
        self.recoveries = 0
        self.reasons: Counter = Counter()
        self.syncs: Counter = Counter()


_figures = _Figures()


def compiled(name: str, ops: int, why: str, seconds: float, line: str) -> dict:
    """Note a compilation; returns the entry in which ``ran`` counts the program's runs."""
    entry = {"name": name, "ops": ops, "why": why, "seconds": seconds, "runs": 0, "line": line}
    with _figures.lock:
        _figures.programs.append(entry)
        _figures.compilations += 1
        _figures.compile_seconds += seconds
    for watcher in WATCHERS:
        watcher.compiled(name, seconds)
    return entry


def interpreted(trace: tuple, first: bool, reason: str, seconds: float) -> None:
    """Note a run by the interpreter; ``first``: the first run of this trace."""
    line = user_line()
    with _figures.lock:
        _figures.interpreted += 1
        _figures.interpreted_seconds += seconds
        counts = _figures.cold.setdefault(_line_in(_figures.cold, line), [0, 0])
        counts[0] += 1
        counts[1] += first
        _note_close(reason, line if reason is SYNC else None)
    for watcher in WATCHERS:
        watcher.ran(program_name(trace), seconds)


def ran(entry: dict, reason: str, seconds: float) -> None:
    """Note a run of a program, and where a sync came from."""
    latest = _figures.latest
    latest.append((entry, reason, user_line() if reason is SYNC else None, seconds))
    if len(latest) > _MOST_LATEST:
        _count_latest()
    if WATCHERS:
        for watcher in WATCHERS:
            watcher.ran(entry["name"], seconds)


def _count_latest() -> None:
    with _figures.lock:
        while _figures.latest:
            _count_run(*_figures.latest.popleft())


def _count_run(entry: dict, reason: str, line: str | None, seconds: float) -> None:
    entry["runs"] += 1
    _figures.runs += 1
    _figures.run_seconds += seconds
    _note_close(reason, line)


def without_rule(name: str, primitives: Iterable[str]) -> None:
    """Note the lax primitives of the operation ``name`` that the interpreter leaves to XLA."""
    with _figures.lock:
        _figures.without_rule.update(f"{primitive} (in {name})" for primitive in primitives)


def _note_close(reason: str, line: str | None) -> None:
    _figures.reasons[reason] += 1
    if line is not None:
        _figures.syncs[_line_in(_figures.syncs, line)] += 1


def _line_in(counted: dict, line: str) -> str:
    return line if line in counted or len(counted) < _MAX_LINES else OTHER_LINES


def ran_eagerly() -> None:
    """Note an operation that ran by itself, outside any program."""
    with _figures.lock:
        _figures.eager_ops += 1


def ran_at_once(ops: int, reason: str) -> None:
    """Note operations that were run at their call, and what ended that."""
    with _figures.lock:
        _figures.at_once += ops
        _note_close(reason, None)


def recovered(lost: int) -> None:
    """Note a program that could not be run as one, and how many of its results could not be had at all."""
    with _figures.lock:
        _figures.recoveries += 1


def program_name(trace: tuple) -> str:
    """A short name of a trace: its most frequent operations."""
    names = Counter(step.name for step in trace if not isinstance(step, int))
    return " ".join(f"{name}*{n}" if n > 1 else name for name, n in names.most_common(4))


def why_compiled(trace: tuple, alive: tuple, known: dict) -> str:
    """Why no compiled program serves this trace: what differs from the closest one."""
    if not known:
        return "first program"
    same = known.get(trace)
    if same:
        before = same.executables[0]
        missing = len(set(alive) - before.alive_set)
        if missing:
            return f"liveness: {missing} more result(s) are still referred to than before"
        return "donation: a leaf that was donated before is still referred to"
    shape_of_it = _skeleton(trace)
    for other in list(known)[: -_LOOK_BACK - 1 : -1]:
        if len(other) == len(trace) and _skeleton(other) == shape_of_it:
            return _first_difference(trace, other)
    return "new sequence of operations"


def _skeleton(trace: tuple) -> tuple:
    return tuple(step if isinstance(step, int) else step.name for step in trace)


def _first_difference(trace: tuple, other: tuple) -> str:
    for new, old in zip(trace, other, strict=True):
        if new is not old and not isinstance(new, int):
            if new.kinds != old.kinds:
                return f"shape or dtype: {new.name} met {_kinds(new)}, before {_kinds(old)}"
            return f"static arguments of {new.name} changed"
    return "new sequence of operations"


def _kinds(plan) -> str:
    return "(" + ", ".join(k.__name__ if isinstance(k, type) else repr(k) for k in plan.kinds) + ")"


class Report(dict):
    """The figures of :func:`explain`; prints as text."""

    def __str__(self) -> str:
        lines = [
            f"jaxflow: {self['compilations']} programs compiled in {self['compile_seconds']:.2f} s, "
            f"{self['runs']} runs, {self['run_seconds']:.2f} s in closing and dispatch; "
            f"{self['eager_ops']} operations ran by themselves",
            f"interpreted without compiling: {self['interpreted']} runs in "
            f"{self['interpreted_seconds']:.2f} s; {self['at_once']} operations at once, unrecorded",
        ]
        if self["recoveries"]:
            lines.append(f"could not be run as one program, and ran operation by operation: "
                         f"{self['recoveries']}")
        lines += [f"  {runs:6d} x  {programs:5d} programs  {line}"
                  for line, (runs, programs) in self["cold"].items()]
        lines += [f"  {n:6d} x  {what} has no rule and ran through XLA"
                  for what, n in self["without_rule"].items()]
        for p in self["programs"]:
            lines.append(f"  {p['runs']:6d} x  {p['ops']:5d} ops  compiled in {p['seconds']:6.2f} s  "
                         f"{p['name']}")
            lines.append(f"           why: {p['why']}; first at {p['line']}")
        left_out = self["compilations"] - len(self["programs"])
        if left_out:
            lines.append(f"  and {left_out} older programs")
        lines.append("closed because:")
        lines += [f"  {n:6d} x  {reason}" for reason, n in self["closed_because"].items()]
        lines.append("sync points:")
        lines += [f"  {n:6d} x  {line}" for line, n in self["syncs"].items()]
        lines.append("kept:")
        lines += [f"  {c['count']:6d}     {name}, about {c['bytes'] / 1e6:.1f} MB; {c['evicted']} were let go"
                  for name, c in self["caches"].items()]
        if self["functions"]:
            lines += ["compiled functions:", *(f"  {line}" for line in str(self["functions"]).split("\n"))]
        return "\n".join(lines)

    __repr__ = __str__


# What `jaxflow.compiler`, which lies above, has to say of its functions; it puts itself here.
of_functions: Callable[[], list] = list


def explain() -> Report:
    """What the executors did so far in this process.

    Returns a dict that prints as a table: ``compilations``, ``compile_seconds``, ``runs`` and
    ``run_seconds`` of compiled programs, ``interpreted`` and ``interpreted_seconds`` of runs by the
    interpreter, ``cold`` (source line -> how many of these runs it caused, and how many programs first ran
    there), ``without_rule`` (primitive -> how many of their operations had one that the interpreter leaves
    to XLA), ``at_once`` (operations that were cheap, cold, and run without recording them), ``recoveries``
    (programs that failed and were run operation by operation), ``eager_ops`` (operations that ran one by
    one), ``programs`` (of the last 1024: name, number of ops, why it was compiled, seconds, runs, source
    line), ``closed_because`` (reason -> how often) and ``syncs`` (source line -> how often it forced a
    result), ``caches`` (name -> ``count``, estimated ``bytes`` and how many were ``evicted``: NOTE [What is
    kept]), ``functions`` (what ``jaxflow.compiler.explain`` says). With the environment variable
    ``JAXFLOW_EXPLAIN=1`` it is printed when the process ends.
    """
    caches = budget.report()
    _count_latest()
    with _figures.lock:
        return Report(
            compilations=_figures.compilations,
            compile_seconds=_figures.compile_seconds,
            runs=_figures.runs,
            run_seconds=_figures.run_seconds,
            interpreted=_figures.interpreted,
            interpreted_seconds=_figures.interpreted_seconds,
            cold={line: tuple(counts) for line, counts in
                  sorted(_figures.cold.items(), key=lambda item: -item[1][0])},
            without_rule=dict(_figures.without_rule.most_common()),
            at_once=_figures.at_once,
            recoveries=_figures.recoveries,
            eager_ops=_figures.eager_ops,
            programs=sorted(map(dict, _figures.programs), key=lambda p: -p["runs"]),
            closed_because=dict(_figures.reasons.most_common()),
            syncs=dict(_figures.syncs.most_common()),
            caches=caches,
            functions=of_functions(),
        )


if flags.EXPLAIN_AT_EXIT:
    atexit.register(lambda: sys.stderr.write(f"{explain()}\n"))
