"""What happened: programs compiled and why, how often each ran, and every sync point by source line."""

from __future__ import annotations

import atexit
import os
import sys
import threading
from collections import Counter
from typing import Any

from jaxflow._core import flags

SYNC = "a number was needed"
STEP = "end of optimizer.step()"
MODULE = "end of a module call without grad"
BOUND = "bound on recorded operations"
ASKED = "jaxflow.synchronize()"

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep

# How many earlier programs a new one is compared with to say why it was compiled.
_LOOK_BACK = 32

_lock = threading.Lock()
_compiled: list[dict] = []
_by_executable: dict[int, dict] = {}
_reasons: Counter = Counter()
_syncs: Counter = Counter()
_eager_ops = Counter()
_run_seconds = 0.0


def user_line() -> str:
    """``file:line`` of the innermost frame outside the package."""
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    if frame is None:
        return "<unknown>"
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


def compiled(executable, n_ops: int) -> None:
    """Note a compilation."""
    with _lock:
        entry = {"name": executable.name, "ops": n_ops, "why": executable.why,
                 "seconds": executable.compile_seconds, "line": user_line(), "executable": executable}
        _compiled.append(entry)


def ran(executable, reason: str, seconds: float) -> None:
    """Note a run of a program, and where a sync came from."""
    global _run_seconds
    _reasons[reason] += 1
    _run_seconds += seconds
    if reason is SYNC:
        _syncs[user_line()] += 1


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
        before = same[0]
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
            f"{self['runs']} runs, {self['run_seconds']:.2f} s in closing and dispatch",
        ]
        for p in self["programs"]:
            lines.append(f"  {p['runs']:6d} x  {p['ops']:5d} ops  compiled in {p['seconds']:6.2f} s  "
                         f"{p['name']}")
            lines.append(f"           why: {p['why']}; first at {p['line']}")
        lines.append("closed because:")
        lines += [f"  {n:6d} x  {reason}" for reason, n in self["closed_because"].items()]
        lines.append("sync points:")
        lines += [f"  {n:6d} x  {line}" for line, n in self["syncs"].items()]
        return "\n".join(lines)

    __repr__ = __str__


def explain() -> Report:
    """What the deferred executor did so far in this process.

    Returns a dict that prints as a table: ``compilations``, ``compile_seconds``, ``runs``,
    ``run_seconds``, ``programs`` (name, number of ops, why it was compiled, seconds, runs, source line),
    ``closed_because`` and ``syncs`` (source line -> how often it forced a result). With the environment
    variable ``JAXFLOW_EXPLAIN=1`` it is printed when the process ends.
    """
    with _lock:
        programs = [
            {k: v for k, v in entry.items() if k != "executable"} | {"runs": entry["executable"].runs}
            for entry in _compiled
        ]
    return Report(
        compilations=len(programs),
        compile_seconds=sum(p["seconds"] for p in programs),
        runs=sum(_reasons.values()),
        run_seconds=_run_seconds,
        programs=sorted(programs, key=lambda p: -p["runs"]),
        closed_because=dict(_reasons.most_common()),
        syncs=dict(_syncs.most_common()),
    )


if flags.EXPLAIN_AT_EXIT:
    atexit.register(lambda: sys.stderr.write(f"{explain()}\n"))
