"""Programs that runs have found, as text: those that are wrong still, and those that once were.

A block is a title, a line with the mode, the kinds that are compared and the sizes, a line for what each
library gives, and the program, indented. Blocks are separated by empty lines; lines of ``#`` are comments.
"""

import dataclasses
import pathlib
import re

from .compare import KINDS
from .program import Instruction
from .runner import MODES

FOLDER = pathlib.Path(__file__).parent
#: What is wrong now, and what was once and must not be again.
WRONG, RIGHT = FOLDER / "findings.txt", FOLDER / "found.txt"
_TARGET = re.compile(r"^(?:with [^:]+: )?\(?((?:[ts]\d+,? ?)+)\)? = ")


@dataclasses.dataclass(frozen=True)
class Known:
    """One program of the lists."""

    title: str
    mode: str
    kind: str
    rounds: list
    program: list

    def wrong(self):
        """What is wrong with it, or None."""
        first_wrong, _ = MODES[self.mode]
        return first_wrong(self.program, self.rounds, self.mode, (self.kind,))


def read(path):
    """The programs of a list."""
    blocks, lines = [], []
    for line in [*path.read_text("utf-8").splitlines(), ""]:
        if line and not line.startswith("#"):
            lines.append(line)
        elif not line and lines:
            blocks.append(_block(lines))
            lines = []
    return blocks


def _block(lines):
    mode, kind, *sizes = lines[1].split()
    if mode not in MODES or kind not in KINDS:
        raise ValueError(f"no mode and kind: {lines[1]!r}")
    program = [instruction(line.strip()) for line in lines if line.startswith("    ")]
    rounds = [dict(zip("nmk", map(int, s.split(",")), strict=False)) for s in sizes] or [{}]
    return Known(lines[0], mode, kind, rounds, [*program, Instruction("pass", looks=True)])


def instruction(code):
    """The instruction of a line of text."""
    target = _TARGET.match(code)
    makes = tuple(re.findall(r"[ts]\d+", target[1])) if target else ()
    return Instruction(code, makes, fatal=".backward(" in code)


def shown(title, found):
    """A finding as a block."""
    difference = found.wrong.difference
    sizes = " ".join(",".join(map(str, r.values())) for r in found.rounds)
    lines = [title, f"{found.mode} {found.wrong.kind} {sizes}".rstrip(),
             f"torch: {str(difference.torch)[:90]}", f"jaxflow: {str(difference.jaxflow)[:90]}",
             *(f"    {i.code}" for i in found.program if i.code != "pass")]
    return "\n".join(lines) + "\n"
