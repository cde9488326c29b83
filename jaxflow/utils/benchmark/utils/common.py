"""What was timed, the times, and how they are written."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import textwrap
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from jaxflow import _functions as functions

__all__ = ["Measurement", "TaskSpec", "ordered_unique", "select_unit", "set_torch_threads", "trim_sigfig",
           "unit_to_english"]

_UNITS = {-3: ("ns", 1e-9), -2: ("us", 1e-6), -1: ("ms", 1e-3)}
_WORDS = {"ns": "nanosecond", "us": "microsecond", "ms": "millisecond", "s": "second"}
#: From which spread on, as a part of the median, a measurement is doubted.
_DOUBTED, _MUCH_DOUBTED = 0.1, 0.25
_MOST_FIGURES, _LEAST_INTERVAL = 4, 25e-9


@dataclasses.dataclass(repr=False, frozen=True)
class TaskSpec:
    """What was timed.

    Args:
        stmt: the statement.
        setup: what was run before it once.
        global_setup: of C++; empty.
        label: what is timed, in words: the heading of a table.
        sub_label: which form of it: the name of a row.
        description: on what: the name of a column.
        env: where.
        num_threads: the number of threads.
    """

    stmt: str
    setup: str
    global_setup: str = ""
    label: str | None = None
    sub_label: str | None = None
    description: str | None = None
    env: str | None = None
    num_threads: int = 1

    @property
    def title(self) -> str:
        """The label, or the statement, and the sub-label."""
        if self.label is None and "\n" in self.stmt:
            form = f" ({self.sub_label})" if self.sub_label else ""
            return f"stmt:{form}\n{textwrap.indent(self.stmt, '  ')}"
        named = self.stmt if self.label is None else self.label
        return f"{named}: {self.sub_label}" if self.sub_label else named

    def setup_str(self) -> str:
        """The setup, where there is one."""
        if not self.setup or self.setup == "pass":
            return ""
        several = "\n" in self.setup
        return f"setup:\n{textwrap.indent(self.setup, '  ')}" if several else f"setup: {self.setup}"

    def summarize(self) -> str:
        """The title, the description and the setup."""
        parts = filter(None, (self.title, self.description, self.setup_str()))
        return "\n".join(f"{part}\n" if "\n" in part else part for part in parts)


@dataclasses.dataclass(repr=False)
class Measurement:
    """Times of a statement, with what was timed; its fields are attributes of this too.

    Args:
        number_per_run: how often the statement was run for each time.
        raw_times: the times, in seconds.
        task_spec: what was timed.
        metadata: anything else.
    """

    number_per_run: int
    raw_times: list[float]
    task_spec: TaskSpec
    metadata: dict[Any, Any] | None = None

    def __getattr__(self, name: str) -> Any:
        if name in TaskSpec.__dataclass_fields__:
            return getattr(self.task_spec, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @property
    def times(self) -> list[float]:
        """The times of one run, in seconds."""
        return [time / self.number_per_run for time in self.raw_times]

    def _quantile(self, part: float) -> float:
        return float(np.quantile(self.times, part)) if self.raw_times else -1.0

    @property
    def median(self) -> float:
        """The median time of one run, in seconds; -1 without times, as of `mean`."""
        return self._quantile(0.5)

    @property
    def mean(self) -> float:
        """The mean time of one run, in seconds."""
        return float(np.mean(self.times)) if self.raw_times else -1.0

    @property
    def iqr(self) -> float:
        """The distance between the quartiles, in seconds."""
        return self._quantile(0.75) - self._quantile(0.25)

    @property
    def significant_figures(self) -> int:
        """How many figures to trust, by the 90 % interval of the mean of what is between the quartiles."""
        times = sorted(self.times)
        inner = times[len(times) // 4:math.ceil(3 * len(times) / 4)]
        interval = max(1.645 * float(np.std(inner)) / math.sqrt(len(inner)), _LEAST_INTERVAL)
        return min(max(math.floor(math.log10(self.median / interval)), 1), _MOST_FIGURES)

    @property
    def has_warnings(self) -> bool:
        """Whether the times are spread widely."""
        return bool(self._warning())

    def _warning(self) -> str:
        if not self.raw_times or self.meets_confidence():
            return ""
        cause = ("This could indicate system fluctuation." if self.meets_confidence(_MUCH_DOUBTED) else
                 "This suggests significant environmental influence.")
        spread = self.iqr / self.median * 100
        return (f"  WARNING: Interquartile range is {spread:.1f}% of the median measurement.\n"
                f"           {cause}")

    def meets_confidence(self, threshold: float = _DOUBTED) -> bool:
        """Whether the distance between the quartiles is less than such a part of the median."""
        return self.iqr / self.median < threshold

    @property
    def title(self) -> str:
        """See `TaskSpec.title`."""
        return self.task_spec.title

    @property
    def as_row_name(self) -> str:
        """The name of its row in a table."""
        return self.sub_label or self.stmt or "[Unknown]"

    def __repr__(self) -> str:
        count = len(self.raw_times)
        unit, scale = select_unit(self.median)
        several, threads = count > 1, self.num_threads
        lines = [object.__repr__(self), self.task_spec.summarize(),
                 f"  {'Median: ' if several else ''}{self.median / scale:.2f} {unit}"]
        if count >= 4:
            low, high = self._quantile(0.25) / scale, self._quantile(0.75) / scale
            lines.append(f"  IQR:    {self.iqr / scale:.2f} {unit} ({low:.2f} to {high:.2f})")
        lines.append(f"  {count} measurement{'s' if several else ''}, {self.number_per_run} runs "
                     f"{'per measurement,' if several else ','} {threads} thread{'s' if threads > 1 else ''}")
        return "\n".join([*lines, self._warning()]).strip()

    @staticmethod
    def merge(measurements: Iterable[Measurement]) -> list[Measurement]:
        """One measurement of all that were of the same task, by the times of one run."""
        groups: dict[TaskSpec, list[float]] = {}
        for each in measurements:
            groups.setdefault(each.task_spec, []).extend(each.times)
        return [Measurement(1, times, task) for task, times in groups.items()]


def select_unit(t: float) -> tuple[str, float]:
    """A unit for a time in seconds, and how many seconds it is."""
    return _UNITS.get(math.floor(math.log10(t) / 3) if t > 0 else 0, ("s", 1))


def unit_to_english(u: str) -> str:
    """A unit in words."""
    return _WORDS[u]


def trim_sigfig(x: float, n: int) -> float:
    """A number rounded to so many figures.

    Example:
        >>> from jaxflow.utils.benchmark import trim_sigfig
        >>> trim_sigfig(1234.5, 2)
        1200.0
    """
    if n != int(n):
        raise AssertionError("Number of significant figures must be an integer")
    if x == 0:
        return 0.0
    scale = 10.0 ** (math.ceil(math.log10(abs(x))) - n)
    return round(x / scale) * scale


def ordered_unique(elements: Iterable[Any]) -> list[Any]:
    """Each element once, in the order in which they came first."""
    return list(dict.fromkeys(elements))


@contextlib.contextmanager
def set_torch_threads(n: int) -> Iterator[None]:
    """A block in which `get_num_threads` says a number; it has no effect on what computes."""
    before = functions.get_num_threads()
    try:
        functions.set_num_threads(n)
        yield
    finally:
        functions.set_num_threads(before)
