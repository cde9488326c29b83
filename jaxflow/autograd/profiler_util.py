"""What a profile found: events, their averages, and both as a table."""

from __future__ import annotations

import dataclasses
import enum
import json
import pathlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any


class ProfilerActivity(enum.Enum):
    """Whose time is taken. Only CPU and CUDA exist here."""

    CPU = 0
    XPU = 1
    MTIA = 2
    CUDA = 3
    HPU = 4
    PrivateUse1 = 5


class DeviceType(enum.Enum):
    """Where the time of an event was spent."""

    CPU = 0
    CUDA = 1


@dataclasses.dataclass(frozen=True)
class Interval:
    """When an event began and ended, in microseconds since the profile began."""

    start: float
    end: float

    def elapsed_us(self) -> float:
        """How long it took."""
        return self.end - self.start


# The units a table may use, and how many microseconds each has.
_UNITS = {"us": 1.0, "ms": 1e3, "s": 1e6}


def _time(us: float, unit: str | None = None) -> str:
    if unit is None:
        unit = "s" if us >= 1e6 else "ms" if us >= 1e3 else "us"
    return f"{us / _UNITS[unit]:.3f}{unit}"


def _share(part: float, whole: float) -> str:
    return f"{part * 100 / whole:.2f}%" if whole else "NaN"


class _Times:
    """Names under which PyTorch shows the times of an event or an average, derived from the fields."""

    cpu_time_total: float
    self_cpu_time_total: float
    device_time_total: float
    count: int

    @property
    def cpu_time(self) -> float:
        """Host microseconds of one call."""
        return self.cpu_time_total / self.count if self.count else 0.0

    @property
    def device_time(self) -> float:
        """Device microseconds of one call."""
        return self.device_time_total / self.count if self.count else 0.0

    @property
    def self_device_time_total(self) -> float:
        """Device microseconds; they are counted where they were measured, so children have none."""
        return self.device_time_total

    cuda_time = property(lambda self: self.device_time)
    cuda_time_total = property(lambda self: self.device_time_total)
    self_cuda_time_total = property(lambda self: self.self_device_time_total)
    cpu_time_str = property(lambda self: _time(self.cpu_time))
    cpu_time_total_str = property(lambda self: _time(self.cpu_time_total))
    self_cpu_time_total_str = property(lambda self: _time(self.self_cpu_time_total))
    device_time_str = property(lambda self: _time(self.device_time))
    device_time_total_str = property(lambda self: _time(self.device_time_total))
    self_device_time_total_str = property(lambda self: _time(self.self_device_time_total))


@dataclasses.dataclass(eq=False)
class FunctionEvent(_Times):
    """One thing that happened: an operation, a region the user named, a program's run or compilation.

    ``kind`` is ``"op"``, ``"region"``, ``"step"``, ``"program"`` or ``"compile"``; times are microseconds.
    """

    id: int
    name: str
    kind: str
    thread: int
    time_range: Interval
    input_shapes: list = dataclasses.field(default_factory=list)
    stack: list = dataclasses.field(default_factory=list)
    device_time_total: float = 0.0
    cpu_parent: FunctionEvent | None = dataclasses.field(default=None, repr=False)
    cpu_children: list = dataclasses.field(default_factory=list, repr=False)

    count = 1
    device_type = DeviceType.CPU
    is_async = is_remote = is_legacy = False

    @property
    def key(self) -> str:
        """The name under which events are averaged: the steps of a profile share one."""
        return "ProfilerStep*" if self.kind == "step" else self.name

    @property
    def is_user_annotation(self) -> bool:
        """Whether the user named it, with ``record_function`` or by ``step()``."""
        return self.kind in ("region", "step")

    @property
    def cpu_time_total(self) -> float:
        """Host microseconds from begin to end."""
        return self.time_range.elapsed_us()

    @property
    def self_cpu_time_total(self) -> float:
        """Host microseconds outside of the events inside it."""
        return self.cpu_time_total - sum(c.cpu_time_total for c in self.cpu_children)


@dataclasses.dataclass
class FunctionEventAvg(_Times):
    """All events of one key, added up."""

    key: str
    count: int = 0
    cpu_time_total: float = 0.0
    self_cpu_time_total: float = 0.0
    device_time_total: float = 0.0
    input_shapes: Any = None
    stack: Any = None
    is_user_annotation: bool = False
    device_type: DeviceType = DeviceType.CPU

    def add(self, event: FunctionEvent | FunctionEventAvg) -> FunctionEventAvg:
        """Count one more event, or all those of another average."""
        self.count += event.count
        self.cpu_time_total += event.cpu_time_total
        self.self_cpu_time_total += event.self_cpu_time_total
        self.device_time_total += event.device_time_total
        return self

    def __repr__(self) -> str:
        return (
            f"<FunctionEventAvg key={self.key} self_cpu_time={self.self_cpu_time_total_str} "
            f"cpu_time={self.cpu_time_str}  self_device_time={self.self_device_time_total_str} "
            f"device_time={self.device_time_str} input_shapes={self.input_shapes or ''}>"
        )


class EventList(list):
    """Events in the order in which they began, or averages."""

    @property
    def self_cpu_time_total(self) -> float:
        """Host microseconds of all of them, each counted once."""
        return sum(e.self_cpu_time_total for e in self)

    def key_averages(self, group_by_input_shapes: bool = False, group_by_stack_n: int = 0,
                     group_by_overload_name: bool = False) -> EventList:
        """One ``FunctionEventAvg`` for each name (and input shapes, and innermost source lines)."""
        found: dict[tuple, FunctionEventAvg] = {}
        for e in self:
            shapes = str(e.input_shapes) if group_by_input_shapes else ""
            stack = tuple(e.stack[:group_by_stack_n]) if group_by_stack_n > 0 else ()
            average = found.get((e.key, shapes, stack))
            if average is None:
                average = found[e.key, shapes, stack] = FunctionEventAvg(
                    e.key, is_user_annotation=e.is_user_annotation,
                    input_shapes=e.input_shapes if group_by_input_shapes else None,
                    stack=list(stack) if stack else None,
                )
            average.add(e)
        return EventList(found.values())

    def total_average(self) -> FunctionEventAvg:
        """Everything added up, under the key ``Total``."""
        total = FunctionEventAvg("Total")
        for e in self:
            total.add(e)
        return total

    def table(self, sort_by: str | None = None, row_limit: int = 100, max_src_column_width: int = 75,
              max_name_column_width: int = 55, max_shapes_column_width: int = 80,
              header: str | None = None, top_level_events_only: bool = False,
              time_unit: str | None = None) -> str:
        """The events as text, the largest ``sort_by`` (an attribute, such as ``cpu_time_total``) first.

        Raises:
            AttributeError: for a ``sort_by`` that events do not have.
            ValueError: for a ``time_unit`` other than ``us``, ``ms`` and ``s``.
        """
        if time_unit is not None and time_unit not in _UNITS:
            raise ValueError(f"time_unit must be one of {list(_UNITS)}, not {time_unit!r}")
        rows = list(self)
        if sort_by is not None:
            sort_by = sort_by.replace("cuda", "device")
            rows.sort(key=lambda e: getattr(e, sort_by), reverse=True)
        if top_level_events_only:
            rows = [e for e in rows if getattr(e, "cpu_parent", None) is None]
        if row_limit >= 0:
            rows = rows[:row_limit]
        columns = self._columns(time_unit, max_name_column_width, max_shapes_column_width,
                                max_src_column_width)
        cells = [[title for title, _ in columns], *([cell(e) for _, cell in columns] for e in rows)]
        return _drawn(cells, header, top_level_events_only, [
            f"Self CPU time total: {_time(self.self_cpu_time_total, time_unit)}",
            *([f"Self device time total: {_time(self._device_total(), time_unit)}"]
              if self._device_total() else []),
        ])

    def _device_total(self) -> float:
        return sum(e.self_device_time_total for e in self)

    def _columns(self, unit, name_width: int, shapes_width: int,
                 source_width: int) -> list[tuple[str, Callable]]:
        host, device = self.self_cpu_time_total, self._device_total()
        columns: list[tuple[str, Callable]] = [
            ("Name", lambda e: _shortened(e.key, name_width)),
            ("Self CPU %", lambda e: _share(e.self_cpu_time_total, host)),
            ("Self CPU", lambda e: _time(e.self_cpu_time_total, unit)),
            ("CPU total %", lambda e: _share(e.cpu_time_total, host)),
            ("CPU total", lambda e: _time(e.cpu_time_total, unit)),
            ("CPU time avg", lambda e: _time(e.cpu_time, unit)),
        ]
        if device:
            columns += [
                ("Device %", lambda e: _share(e.self_device_time_total, device)),
                ("Device total", lambda e: _time(e.device_time_total, unit)),
                ("Device time avg", lambda e: _time(e.device_time, unit)),
            ]
        columns.append(("# of Calls", lambda e: str(e.count)))
        if any(e.input_shapes for e in self):
            columns.append(("Input Shapes", lambda e: str(e.input_shapes or "")[:shapes_width]))
        if any(e.stack for e in self):
            columns.append(("Source Location", lambda e: _tail((e.stack or [""])[0], source_width)))
        return columns

    def export_chrome_trace(self, path: str, more: Sequence[dict] = ()) -> None:
        """Write a file that chrome://tracing and Perfetto open; ``more`` are events to add."""
        trace = {"displayTimeUnit": "ms", "traceEvents": [*self._trace_events(), *more]}
        pathlib.Path(path).write_text(json.dumps(trace), encoding="utf-8")

    def _trace_events(self) -> Iterator[dict]:
        yield {"ph": "M", "pid": 0, "name": "process_name", "args": {"name": "jaxflow (host)"}}
        for e in self:
            yield {
                "ph": "X", "cat": e.kind, "name": e.name, "pid": 0, "tid": e.thread,
                "ts": e.time_range.start, "dur": e.cpu_time_total,
                "args": {"device time (us)": e.device_time_total, **(
                    {"Input Dims": e.input_shapes} if e.input_shapes else {}), **(
                    {"Call stack": e.stack} if e.stack else {})},
            }

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Write ``line name microseconds`` for each source line, as flame graph tools read it.

        Raises:
            ValueError: for a metric other than ``self_cpu_time_total`` and ``self_cuda_time_total``.
        """
        known = ("self_cpu_time_total", "self_cuda_time_total", "self_device_time_total")
        if metric not in known:
            raise ValueError(f"metric should be one of: {list(known)}")
        totals: dict[str, int] = {}
        for e in self:
            if e.stack:
                line = ";".join((*reversed(e.stack), e.name)).replace(" ", "_")
                totals[line] = totals.get(line, 0) + int(getattr(e, metric))
        text = "".join(f"{line} {us}\n" for line, us in totals.items() if us > 0)
        pathlib.Path(path).write_text(text, encoding="utf-8")

    def __str__(self) -> str:
        return self.table()


def _shortened(text: str, width: int) -> str:
    return text if width < 0 or len(text) <= width else text[: max(width - 3, 0)] + "..."


def _tail(text: str, width: int) -> str:
    return text if len(text) <= width else "..." + text[len(text) - width + 3 :]


def _drawn(cells: list[list[str]], header: str | None, top_level: bool, totals: list[str]) -> str:
    widths = [max(12, *map(len, column)) for column in zip(*cells)]
    rule = "  ".join("-" * w for w in widths)
    lines = []
    if header is not None:
        lines += ["=" * len(rule), header]
    if top_level:
        lines += ["=" * len(rule), "This report only display top-level ops statistics"]
    lines.append(rule)
    for k, row in enumerate(cells):
        lines.append("  ".join(cell.rjust(w) for cell, w in zip(row, widths)))
        if k == 0:
            lines.append(rule)
    return "\n".join([*lines, rule, *totals, ""])
