"""``Compare``: measurements in tables."""

from __future__ import annotations

import enum
import math
import sys
from collections.abc import Iterable
from typing import NamedTuple

from .common import Measurement, ordered_unique, select_unit, trim_sigfig, unit_to_english

__all__ = ["Colorize", "Compare"]

_BOLD, _END = "\033[1m", "\033[0m"
_BEST, _GOOD, _BAD, _WORST = "\033[92m", "\033[34m", "\033[2m\033[91m", "\033[31m"


class Colorize(enum.Enum):
    """Along what times are compared by colours."""

    NONE = "none"
    COLUMNWISE = "columnwise"
    ROWWISE = "rowwise"


class _Options(NamedTuple):
    trim: bool = False
    colorize: Colorize = Colorize.NONE
    warn: bool = False


class _Row(NamedTuple):
    threads: int
    env: str | None
    name: str

    @classmethod
    def of(cls, measured: Measurement) -> _Row:
        return cls(measured.num_threads, measured.env, measured.as_row_name)


class _Format(NamedTuple):
    """How the times of a column are written."""

    width: int
    decimals: int
    warned: int
    trim: bool

    @classmethod
    def of(cls, column: list[Measurement], scale: float, options: _Options) -> _Format:
        digits = [math.ceil(math.log10(m.median / scale)) for m in column]
        decimals = min(max(m.significant_figures - d, 0) for m, d in zip(column,
                                                                         digits)) if options.trim else 1
        warned = 7 if options.warn and any(m.has_warnings for m in column) else 0
        return cls(max(digits) + decimals + bool(decimals), decimals, warned, options.trim)

    def __call__(self, measured: Measurement | None, scale: float) -> str:
        if measured is None:
            return " " * len(self._text(1.0, 1, ""))
        spread = f" (! {measured.iqr / measured.median * 100:.0f}%)" if measured.has_warnings else ""
        return self._text(measured.median / scale, measured.significant_figures,
                          spread if self.warned else "")

    def _text(self, value: float, figures: int, spread: str) -> str:
        value = trim_sigfig(value, figures) if self.trim else value
        return f"{value:>{self.width}.{self.decimals}f}{spread:>{self.warned}}"


def _coloured(text: str, time: float, best: float) -> str:
    if time <= best * 1.01 or time <= best + 100e-9:
        return _BEST + _BOLD + text + _END * 2
    if time <= best * 1.1:
        return _GOOD + _BOLD + text + _END * 2
    if time >= best * 5:
        return _WORST + _BOLD + text + _END * 2
    return _BAD + text + _END * 2 if time >= best * 2 else text


def _table(results: list[Measurement], options: _Options) -> str:
    """The table of measurements with the same label."""
    unit, scale = select_unit(min(m.median for m in results))
    rows = sorted(ordered_unique(map(_Row.of, results)), key=lambda row: (row.threads, row.env or ""))
    columns = ordered_unique(m.description for m in results)
    cells = {(_Row.of(m), m.description): m for m in results}
    formats = {c: _Format.of([m for (_, d), m in cells.items() if d == c], scale, options) for c in columns}
    names = _row_names(rows)
    texts = [[name, *(formats[c](cells.get((row, c)), scale) for c in columns)]
             for name, row in zip(names, rows)]
    head = ["", *(c or "" for c in columns)]
    widths = [max(map(len, texts_of)) for texts_of in zip(head, *texts)]
    lines = ["  |  ".join(text.center(width) for text, width in zip(head, widths))]
    whole = len(lines[0])
    before = None
    for row, (name, *times) in zip(rows, texts):
        if row.threads != before:
            lines.append(f"{row.threads} threads: ".ljust(whole, "-"))
            before = row.threads
        written = [name.ljust(widths[0])]
        for c, text, width in zip(columns, times, widths[1:]):
            beside = [m.median for (r, d), m in cells.items() if r == row]
            below = [m.median for (r, d), m in cells.items() if d == c and r.threads == row.threads]
            compared = beside if options.colorize is Colorize.ROWWISE else below
            text, measured = text.center(width), cells.get((row, c))
            if options.colorize is not Colorize.NONE and measured is not None:
                text = _coloured(text, measured.median, min(compared))
            written.append(text)
        lines.append("  |  ".join(written))
    label = results[0].label or ""
    warned = options.warn and any(m.has_warnings for m in results)
    return "\n".join([
        f"[{f' {label} '.center(whole - 2, '-')}]", *lines, "",
        f"Times are in {unit_to_english(unit)}s ({unit}).",
        *(["(! XX%) Measurement has high variance, where XX is the IQR / median * 100."] if warned else []),
        ""])


def _row_names(rows: list[_Row]) -> list[str]:
    """The names of rows; before the first one of each environment that, where there are several."""
    envs = {row.env for row in rows}
    if len(envs) == 1:
        return [f"      {row.name}" for row in rows]
    longest = max(len(env or "") for env in envs)
    names, before = [], None
    for row in rows:
        shown = f"({row.env})" if (row.threads, row.env) != before else ""
        names.append("  " + shown.ljust(longest + 4) + row.name)
        before = (row.threads, row.env)
    return names


class Compare:
    """Measurements as tables, one for each label.

    Rows have the sub-labels (or statements), columns the descriptions. `str` gives the text.

    Args:
        results: measurements.

    Raises:
        ValueError: for what is no `Measurement`.

    Example:
        >>> from jaxflow.utils.benchmark import Compare, Measurement, TaskSpec
        >>> task = TaskSpec("x.sum()", "pass", label="sum", description="float32")
        >>> print(str(Compare([Measurement(1, [0.002, 0.004], task)])).splitlines()[3])
              x.sum()  |    3.0
    """

    def __init__(self, results: Iterable[Measurement]) -> None:
        self._results: list[Measurement] = []
        self._options = _Options()
        self.extend_results(results)

    def extend_results(self, results: Iterable[Measurement]) -> None:
        """Add measurements. ValueError for what is none."""
        results = list(results)
        for each in results:
            if not isinstance(each, Measurement):
                raise ValueError(f"Expected an instance of `Measurement`, got {type(each)} instead.")
        self._results.extend(results)

    def trim_significant_figures(self) -> None:
        """Write as many figures as can be trusted."""
        self._options = self._options._replace(trim=True)

    def colorize(self, rowwise: bool = False) -> None:
        """Show by colours of terminals which times are good in a column, or in a row."""
        self._options = self._options._replace(colorize=Colorize.ROWWISE if rowwise else Colorize.COLUMNWISE)

    def highlight_warnings(self) -> None:
        """Mark times that are spread widely."""
        self._options = self._options._replace(warn=True)

    def __str__(self) -> str:
        merged = Measurement.merge(self._results)
        labels = ordered_unique(m.label for m in merged)
        return "\n".join(_table([m for m in merged if m.label == label], self._options) for label in labels)

    def print(self) -> None:
        """Print the tables."""
        print(self, file=sys.stdout)
