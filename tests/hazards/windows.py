"""Instructions that are not interrupted: one table, each row with its reason.

A row names a file of the package, a function in it (``fnmatch`` patterns), and which of its instructions.
"""

from __future__ import annotations

import dis
import fnmatch
import functools
from types import CodeType
from typing import NamedTuple

from .tracing import Place

WHOLE, LEAVING_WITH = "every instruction", "leaving a with block"


class Window(NamedTuple):
    file: str
    function: str
    instructions: str
    reason: str


WINDOWS = (
    Window("*", "*", LEAVING_WITH,
           "the compiler puts the loads for __exit__(None, None, None) outside the block it protects; "
           "CPython handles signals at none of these instructions, so only this harness could come in there"),
    Window("autograd/grad_mode.py", "*.__enter__", WHOLE,
           "a mode that is set when __enter__ is cut off is not left again: Python calls no __exit__ "
           "(PyTorch's modes have the same window)"),
    Window("autograd/grad_mode.py", "*.__exit__", WHOLE,
           "an __exit__ that is cut off is not called again (PyTorch's modes have the same window)"),
)


def window_of(code: CodeType, place: Place) -> Window | None:
    """The row that excludes an instruction, or None."""
    for row in WINDOWS:
        if (fnmatch.fnmatch(place.file, row.file) and fnmatch.fnmatch(place.function, row.function)
                and (row.instructions == WHOLE or place.offset in leaving_with(code))):
            return row
    return None


@functools.cache
def leaving_with(code: CodeType) -> frozenset[int]:
    """Offsets of the instructions that call ``__exit__(None, None, None)`` at the end of a with block.

    The call itself is one of them: until it has run the block is not left.
    """
    instructions = [i for i in dis.get_instructions(code) if i.opname != "CACHE"]
    found = set()
    for at in range(len(instructions) - 3):
        if all(_loads_none(i) for i in instructions[at:at + 3]):
            end = at + 3
            if instructions[end].opname == "PRECALL":  # Python 3.11
                end += 1
            if instructions[end].opname == "CALL" and instructions[end].arg == 2:
                first = at - 1 if at and instructions[at - 1].opname == "SWAP" else at
                found.update(i.offset for i in instructions[first:end + 1])
    return frozenset(found)


def _loads_none(instruction: dis.Instruction) -> bool:
    return instruction.opname == "LOAD_CONST" and instruction.argval is None
