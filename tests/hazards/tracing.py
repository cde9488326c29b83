"""Seeing each bytecode that jaxflow's own files execute, and coming in at a chosen one.

``sys.settrace`` with ``f_trace_opcodes`` works on every Python from 3.11 on. The event comes before the
instruction at ``f_lasti`` runs; what the trace function raises is raised there, as if a signal had come.
"""

from __future__ import annotations

import pathlib
import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any, NamedTuple

import jaxflow

PACKAGE = str(pathlib.Path(jaxflow.__file__).resolve().parent)


class Interrupt(BaseException):
    """What is raised at a point; nothing in jaxflow can know it."""


class Place(NamedTuple):
    """An instruction of a code object, by names that are the same in every process."""

    file: str  # relative to the package
    function: str
    first_line: int
    offset: int

    def __str__(self) -> str:
        return f"{self.file}:{self.function}:{self.first_line}+{self.offset}"


def place_of(code: CodeType, offset: int) -> Place:
    file = code.co_filename.removeprefix(PACKAGE).lstrip("/\\").replace("\\", "/")
    return Place(file, code.co_qualname, code.co_firstlineno, offset)


def line_of(code: CodeType, offset: int) -> int:
    """The source line of the instruction at ``offset``."""
    for start, end, line in code.co_lines():
        if start <= offset < end and line is not None:
            return line
    return code.co_firstlineno


def profile(run: Callable[[], Any]) -> dict[tuple[CodeType, int], int]:
    """How often ``run`` executes each instruction of the package, in the order of the first executions."""
    counts: dict[tuple[CodeType, int], int] = {}

    def local(frame: FrameType, event: str, _: Any):
        if event == "opcode":
            key = (frame.f_code, frame.f_lasti)
            counts[key] = counts.get(key, 0) + 1
        return local

    def everywhere(frame: FrameType, event: str, _: Any):
        if not frame.f_code.co_filename.startswith(PACKAGE):
            return None
        return _by_instruction(frame, local)

    _traced(everywhere, run)
    return counts


class Outcome(NamedTuple):
    """What became of a run that was to be interrupted."""

    reached: bool  # whether the chosen instruction was executed
    raised: str | None  # what came out: the name of an exception's class


def raise_interrupt() -> None:
    raise Interrupt


def disturb(run: Callable[[], Any], code: CodeType, offset: int, execution: int,
            disturbance: Callable[[], None] = raise_interrupt) -> Outcome:
    """Run, and call ``disturbance`` before the given execution (from 0) of one instruction."""
    left = execution
    reached = False

    def local(frame: FrameType, event: str, _: Any):
        nonlocal left, reached
        if event == "opcode" and frame.f_lasti == offset and not reached:
            if left == 0:
                reached = True
                disturbance()
            left -= 1
        return local

    def everywhere(frame: FrameType, event: str, _: Any):
        if reached or frame.f_code is not code:
            return None
        return _by_instruction(frame, local)

    try:
        _traced(everywhere, run)
    except BaseException as error:
        return Outcome(reached, type(error).__name__)
    return Outcome(reached, None)


def now_and_then(run: Callable[[], Any], apart: Callable[[], int], disturbance: Callable[[], None]) -> None:
    """Run, and call ``disturbance`` again and again, ``apart()`` instructions of the package in between."""
    left = apart()

    def local(frame: FrameType, event: str, _: Any):
        nonlocal left
        if event == "opcode":
            left -= 1
            if left < 0:
                left = apart()
                disturbance()
        return local

    def everywhere(frame: FrameType, event: str, _: Any):
        if not frame.f_code.co_filename.startswith(PACKAGE):
            return None
        return _by_instruction(frame, local)

    _traced(everywhere, run)


def _by_instruction(frame: FrameType, local: Callable) -> Callable:
    """Have ``local`` called at each instruction of a frame that begins."""
    frame.f_trace = local  # Python 3.13 sends no instructions to a frame that has no trace function yet
    frame.f_trace_opcodes, frame.f_trace_lines = True, False
    return local


def _traced(function: Callable, run: Callable[[], Any]) -> None:
    # On Python 3.12 events of single instructions are only sent if some frame asked for them beforehand.
    sys._getframe().f_trace_opcodes = True
    sys.settrace(function)
    try:
        run()
    finally:
        sys.settrace(None)
