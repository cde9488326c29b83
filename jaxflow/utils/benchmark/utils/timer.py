"""``Timer``: how long a statement takes, with its results."""

from __future__ import annotations

import ast
import enum
import statistics
import sys
import textwrap
import timeit
from collections.abc import Callable
from typing import Any, NoReturn

from jaxflow import cuda
from jaxflow._exec.run import flush

from .common import Measurement, TaskSpec, set_torch_threads

__all__ = ["Language", "Timer", "timer"]


def timer() -> float:
    """A clock in seconds, read after all that was recorded is computed."""
    cuda.synchronize()
    return timeit.default_timer()


class Language(enum.Enum):
    """What a statement is written in. Python alone is timed here."""

    PYTHON = 0
    CPP = 1


def _dedented(text: str) -> str:
    return textwrap.dedent(text).removeprefix("\n").rstrip()


def _loop(stmt: str, setup: str) -> str:
    """The source of a function that takes the time of a statement, run for each item.

    What an expression returns is kept until it is computed: an operation whose result nobody has is not run.
    """
    try:
        ast.parse(stmt, mode="eval")
        stmt = f"_kept = ({stmt}\n)"
    except SyntaxError:
        compile(stmt, "<stmt>", "exec")
    body, setup = textwrap.indent(stmt, " " * 8), textwrap.indent(setup, " " * 4)
    return (f"def _timed(_items, _timer, _compute):\n{setup}\n    _start = _timer()\n"
            f"    for _item in _items:\n{body}\n        _compute()\n    return _timer() - _start\n")


class Timer:
    """Takes the time of a statement.

    Before a statement is run again what it recorded is computed, so a time is that of its results too, not of
    the recording alone. Nothing else may compute meanwhile.

    Args:
        stmt: the statement, of one line or more.
        setup: what is run before, once for each time taken.
        global_setup: of C++: refused.
        timer: a clock, in seconds.
        globals: what names mean in the statement; ``torch`` is jaxflow where it is not given.
        label: what is timed, in words: the heading of a table of `Compare`.
        sub_label: which form of it: the name of a row.
        description: on what: the name of a column.
        env: where.
        num_threads: shown; without effect: the process computes with all cores that it may use.
        language: Python.

    Raises:
        ValueError: for a statement that is no text, a ``global_setup``, and an unknown language.
        NotImplementedError: for C++.

    Example:
        >>> from jaxflow.utils.benchmark import Timer
        >>> measured = Timer("x @ x", globals={"x": torch.ones(4, 4)}).timeit(3)
        >>> measured.number_per_run, measured.median > 0
        (3, True)
    """

    def __init__(self, stmt: str = "pass", setup: str = "pass", global_setup: str = "",
                 timer: Callable[[], float] = timer, globals: dict[str, Any] | None = None,
                 label: str | None = None, sub_label: str | None = None, description: str | None = None,
                 env: str | None = None, num_threads: int = 1,
                 language: Language | str = Language.PYTHON) -> None:
        if not isinstance(stmt, str):
            raise ValueError("Currently only a `str` stmt is supported.")
        if language in (Language.CPP, "cpp", "c++"):
            raise NotImplementedError("torch.utils.benchmark: C++ is not timed: there is no C++ interface. "
                                      "Time the statement in Python.")
        if language not in (Language.PYTHON, "py", "python"):
            raise ValueError(f"Invalid language `{language}`.")
        if global_setup:
            raise ValueError(f"global_setup is C++ only, got `{global_setup}`. Move it to `setup`.")
        stmt, setup = _dedented(stmt), _dedented(setup)
        self._task_spec = TaskSpec(stmt, setup, global_setup, label, sub_label, description, env, num_threads)
        self._clock = timer
        self._globals = {"torch": sys.modules[__name__.partition(".")[0]], **(globals or {})}
        space = dict(self._globals)
        exec(compile(_loop(stmt or "pass", setup or "pass"), "<timed statement>", "exec"), space)
        self._timed = space["_timed"]

    def _time(self, number: int) -> float:
        """The time of so many runs, at least a nanosecond."""
        return max(self._timed(range(number), self._clock, flush), 1e-9)

    def _measured(self, number: int, times: list[float]) -> Measurement:
        return Measurement(number_per_run=number, raw_times=times, task_spec=self._task_spec)

    def timeit(self, number: int = 1000000) -> Measurement:
        """One time of so many runs, after a hundredth of them to warm up.

        Args:
            number: how many runs.

        Returns:
            A `Measurement`.
        """
        with set_torch_threads(self._task_spec.num_threads):
            self._time(max(number // 100, 2))
            return self._measured(number, [self._time(number)])

    def repeat(self, repeat: int = -1, number: int = -1) -> NoReturn:
        """NotImplementedError, as in PyTorch."""
        raise NotImplementedError("See `Timer.blocked_autorange.`")

    def autorange(self, callback: Callable[[int, float], Any] | None = None) -> NoReturn:
        """NotImplementedError, as in PyTorch."""
        raise NotImplementedError("See `Timer.blocked_autorange.`")

    def _enough(self, min_run_time: float) -> int:
        """A number of runs beside whose time that of the clock is nothing. It also warms up."""
        with set_torch_threads(self._task_spec.num_threads):
            overhead = statistics.median(self._time(0) for _ in range(5))
            number = 1
            while number < 10**9:
                taken = self._time(number)
                if taken > min_run_time or (overhead <= 1e-4 * taken and taken >= min_run_time / 1000):
                    break
                number *= 10
        return number

    def _until(self, done: Callable[[list[float]], bool], number: int, least: float, most: float | None,
               callback: Callable[[int, float], Any] | None) -> Measurement:
        """Times of so many runs, until they took long enough and are ``done``, or took the most there is."""
        times: list[float] = []
        with set_torch_threads(self._task_spec.num_threads):
            while sum(times) < least or not done(times):
                times.append(self._time(number))
                if callback:
                    callback(number, times[-1])
                if most and sum(times) > most:
                    break
        return self._measured(number, times)

    def blocked_autorange(self, callback: Callable[[int, float], Any] | None = None,
                          min_run_time: float = 0.2) -> Measurement:
        """Times of a number of runs that is found first, for so many seconds in all.

        Args:
            callback: called with the number of runs and each time.
            min_run_time: seconds.

        Returns:
            A `Measurement`.
        """
        return self._until(bool, self._enough(min_run_time), min_run_time, None, callback)

    def adaptive_autorange(self, threshold: float = 0.1, *, min_run_time: float = 0.01,
                           max_run_time: float = 10.0, callback: Callable[[int, float],
                                                                          Any] | None = None) -> Measurement:
        """Times of a number of runs that is found first, until they are spread little.

        Args:
            threshold: the distance between the quartiles, as a part of the median.
            min_run_time: seconds that are timed at least.
            max_run_time: seconds after which it ends.
            callback: called with the number of runs and each time.

        Returns:
            A `Measurement`.
        """
        number = self._enough(0.05)

        def close_together(times: list[float]) -> bool:
            return len(times) > 3 and self._measured(number, times).meets_confidence(threshold)

        return self._until(close_together, number, min_run_time, max_run_time, callback)

    def collect_callgrind(self, number: int = 100, *, repeats: int | None = None,
                          collect_baseline: bool = True, retain_out_file: bool = False) -> NoReturn:
        """NotImplementedError: instructions are not counted."""
        raise NotImplementedError(
            "torch.utils.benchmark: Timer.collect_callgrind is not supported: most of the work is done by "
            "code that XLA compiles. jaxflow.explain() counts what ran, and torch.profiler times it.")
