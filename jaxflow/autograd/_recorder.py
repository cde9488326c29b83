"""The recorder behind both interfaces of the profiler: what ran on the host, and what XLA did meanwhile.

NOTE [Two clocks]
    Operations, programs and regions are timed here, on the host. The time of the device comes from jax's
    profiler, which lists XLA's kernels by module and run. The n-th run of a module is what the n-th event
    that dispatched it computed: a program, or under the eager executor an operation. Runs that were
    under way before are the first, and get a row of the module's own; so do all where some are missing.
"""

from __future__ import annotations

import contextlib
import gzip
import itertools
import json
import pathlib
import tempfile
import threading
import time
from collections import defaultdict, deque

import jax

from jaxflow._core import jax_compat
from jaxflow._core.aval import Aval
from jaxflow._core.run_hooks import WATCHERS
from jaxflow._core.user_line import user_line
from jaxflow._exec.run import flush

from .profiler_util import EventList, FunctionEvent, Interval

_MODULE_OF_PROGRAMS = "jit_replay"

# More than XLA lets run at a time before it makes the caller wait.
_IN_FLIGHT = 256


class Recorder:
    """Watches from ``start`` to ``stop``; then ``events`` and ``trace_events`` are complete."""

    def __init__(self, *, record_shapes: bool, with_stack: bool, device: bool) -> None:
        self.record_shapes, self.with_stack, self.device = record_shapes, with_stack, device
        self.events = EventList()
        self.trace_events: list[dict] = []
        self.folder: tempfile.TemporaryDirectory | None = None
        self.numbers = itertools.count()
        self.started = 0
        # What eager operations are still computing, perhaps for nobody: stop() waits for it.
        self.in_flight: deque = deque(maxlen=_IN_FLIGHT)

    # ------------------------------------------------------------------------ what a watcher does

    def run(self, run, plan, inputs: list) -> list:
        """Run a plan and note it."""
        start = time.perf_counter_ns()
        values = run(plan, inputs, True)
        shapes = [list(k.shape) if isinstance(k, Aval) else [] for k in plan.kinds]
        self.note("op", plan.name, start, time.perf_counter_ns(), shapes)
        self.in_flight.extend(v.array for v in values if v.producer is None)
        return values

    def ran(self, name: str, seconds: float) -> None:
        """Note the run of a program."""
        end = time.perf_counter_ns()
        self.note("program", f"program [{name}]", end - round(seconds * 1e9), end)

    def compiled(self, name: str, seconds: float) -> None:
        """Note a compilation."""
        end = time.perf_counter_ns()
        self.note("compile", f"compile [{name}]", end - round(seconds * 1e9), end)

    def note(self, kind: str, name: str, start: int, end: int, shapes: list | None = None) -> None:
        """Add an event that lasted from ``start`` to ``end`` (nanoseconds of ``perf_counter_ns``)."""
        self.events.append(FunctionEvent(
            next(self.numbers), name, kind, threading.get_ident(),
            Interval((start - self.started) / 1e3, (end - self.started) / 1e3),
            input_shapes=(shapes or []) if self.record_shapes else [],
            stack=[user_line()] if self.with_stack and kind == "op" else [],
        ))

    # ------------------------------------------------------------------------------ start and stop

    def start(self) -> None:
        """Begin. What was recorded before runs first. RuntimeError if somebody is watching already."""
        if WATCHERS:
            raise RuntimeError("Profiler is already enabled: one profile can run at a time")
        flush()
        jax.block_until_ready(jax.live_arrays())
        try:
            if self.device:
                self.folder = tempfile.TemporaryDirectory(prefix="jaxflow-profile-")
                options = jax.profiler.ProfileOptions()
                options.python_tracer_level = 0  # every Python call: it would drown and slow everything else
                jax.profiler.start_trace(self.folder.name, profiler_options=options)
            self.started = time.perf_counter_ns()
            WATCHERS.append(self)
        except BaseException:
            self.give_up()
            raise

    def give_up(self) -> None:
        """Watch no more, and let jax trace no more: another profile may start."""
        if self in WATCHERS:
            WATCHERS.remove(self)
        if self.folder is not None:
            with contextlib.suppress(RuntimeError):  # it had not begun, or has ended
                jax.profiler.stop_trace()

    def stop(self) -> None:
        """End. What was recorded meanwhile is run and waited for, so that its time is in the profile."""
        try:
            flush()
            WATCHERS.remove(self)
            runs = self._ended()
        except BaseException:
            self.give_up()
            raise
        self.events.sort(key=lambda e: (e.time_range.start, -e.time_range.end))
        _nest(self.events)
        self._hand_out(runs)

    def _ended(self) -> dict[str, list[Interval]]:
        """Wait for what was recorded; when XLA was busy."""
        arrays = [a for a in self.in_flight if isinstance(a, jax.Array)]
        jax.block_until_ready([
            a for a in (*arrays, *jax.live_arrays())
            if not isinstance(a, jax.core.Tracer) and not a.is_deleted()
        ])
        self.in_flight.clear()
        runs: dict = {}
        if self.folder is not None:
            jax.profiler.stop_trace()
            with self.folder:
                runs = self._read_trace(pathlib.Path(self.folder.name))
        return runs

    def _read_trace(self, folder: pathlib.Path) -> dict[str, list[Interval]]:
        """When XLA was busy, by module and run; keeps the events of jax's own trace file."""
        for path in folder.rglob("*.trace.json.gz"):
            with gzip.open(path) as file:
                self.trace_events += filter(None, json.load(file)["traceEvents"])  # the last is empty
        runs: dict = defaultdict(lambda: defaultdict(list))
        for path in folder.rglob("*.xplane.pb"):
            for module, run, span in jax_compat.device_spans(path):
                runs[module][run].append(Interval(*span))
        return {
            module: sorted(by_run.values(), key=lambda spans: min(s.start for s in spans))
            for module, by_run in runs.items()
        }

    def _hand_out(self, runs: dict) -> None:
        """Give every run's device time to the event that dispatched it; NOTE [Two clocks]."""
        dispatched: dict[str, list[FunctionEvent]] = defaultdict(list)
        for e in self.events:
            if e.kind == "program":
                dispatched[_MODULE_OF_PROGRAMS].append(e)
            elif e.kind == "op":
                dispatched[f"jit_{e.name}"].append(e)
        for module, spans in runs.items():
            found = dispatched.get(module, [])
            early = len(spans) - len(found)
            if found and early >= 0:
                for e, of_run in zip(found, spans[early:], strict=True):
                    e.device_time_total = _busy(of_run)
                spans = spans[:early]
            for of_run in spans:
                at = min(s.start for s in of_run)
                self.events.append(FunctionEvent(
                    next(self.numbers), f"{module} (device)", "device", 0, Interval(at, at),
                    device_time_total=_busy(of_run),
                ))


def _busy(spans: list[Interval]) -> float:
    """Microseconds covered by at least one of the intervals: loops contain what they call."""
    total, until = 0.0, float("-inf")
    for span in sorted(spans, key=lambda s: s.start):
        total += max(0.0, span.end - max(span.start, until))
        until = max(until, span.end)
    return total


def _nest(events: EventList) -> None:
    """Find out, thread by thread, which event lies within which. ``events`` are in order of their begin."""
    open_events: dict[int, list[FunctionEvent]] = defaultdict(list)
    for e in events:
        outer = open_events[e.thread]
        while outer and outer[-1].time_range.end < e.time_range.end:
            outer.pop()
        if outer:
            e.cpu_parent = outer[-1]
            outer[-1].cpu_children.append(e)
        outer.append(e)


def watching() -> Recorder | None:
    """The recorder at work, if there is one."""
    return next((w for w in WATCHERS if isinstance(w, Recorder)), None)


class region:  # noqa: N801 - reads like the context managers beside it
    """Note the block as one event, here and in jax's own trace, whoever started that."""

    def __init__(self, name: str, kind: str = "region") -> None:
        self.name, self.kind = name, kind
        self.annotation = jax.profiler.TraceAnnotation(name)
        self.recorder: Recorder | None = None
        self.start = 0

    def __enter__(self) -> None:
        self.recorder = watching()
        self.start = time.perf_counter_ns()
        self.annotation.__enter__()

    def __exit__(self, *exc: object) -> None:
        end = time.perf_counter_ns()
        self.annotation.__exit__(None, None, None)
        if self.recorder is not None and self.recorder is watching():
            self.recorder.note(self.kind, self.name, self.start, end)
