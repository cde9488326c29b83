"""Questions: writes at indices that nobody knows yet, cut off at each instruction.

Such a write is done before its indices can be looked at, so what it asks about them is recorded with it. Here
they are out of range. Afterwards either nothing was written, and the tensor can be read, or it was, and
reading it raises. ``python -m tests.hazards.questions`` tries every instruction.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from typing import NamedTuple

import jaxflow as torch

from .scenario import operation
from .surroundings import executing, in_thread, quiet
from .tracing import disturb, line_of, place_of, profile
from .windows import window_of
from .world import World

WRITES = ("w.t[w.i] = 2.0", "w.row.index_put_((w.i,), w.s, accumulate=True)",
          "w.t.index_add_(0, w.i, w.s)", "w.t.scatter_(0, w.i, w.s)",
          "w.t.scatter_add_(0, w.i, w.s)", "w.t.index_fill_(0, w.i, 1.0)", "w.t.put_(w.i, w.s)")


class Wrong(NamedTuple):
    """A point after which the tensor is not what it has to be."""

    write: str
    where: str
    what: str


def _world() -> World:
    """Indices that are computed in the open program, one of them too large."""
    table = torch.ones(2, 4)
    world = World(t=torch.ones(4), table=table, row=table[1], s=torch.ones(2), k=torch.tensor([1, 8]))
    world.i = world.k + 1
    return world


def _state(world: World) -> tuple[int, str]:
    """Whether something was written, and how reading it ends."""
    written = world.t._version + world.table._version
    try:
        sound = world.t.tolist() == [1.0] * 4 and world.table.tolist() == [[1.0] * 4] * 2
    except (IndexError, RuntimeError):
        return written, "raises"
    return written, "as before" if sound else "other numbers"


def check(write: str, count: int | None, seed: int = 0) -> tuple[int, list[Wrong]]:
    """Try ``count`` points of a write (all if None): how many, and what was wrong."""
    with quiet():
        return in_thread(_check, operation(write).run, write, count, seed)


def _check(run: Callable, write: str, count: int | None, seed: int) -> tuple[int, list[Wrong]]:
    wrong = []
    with executing("compiled"):  # what is interpreted at once knows its indices
        for _ in range(3):
            world = _world()
            counts = profile(lambda w=world: run(w))
            _state(world)
        points = [key for key in counts if window_of(key[0], place_of(*key)) is None]
        random.Random(seed).shuffle(points)
        for code, offset in points[:count]:
            world = _world()
            if not disturb(lambda w=world: run(w), code, offset, 0).reached:
                continue
            written, reading = _state(world)
            if reading != ("raises" if written else "as before"):
                where = f"{place_of(code, offset).file}:{line_of(code, offset)}"
                wrong.append(Wrong(write, where, f"{written} writes, then reading: {reading}"))
    return len(points[:count]), wrong


def main() -> int:
    """Try all of them, and say what was found."""
    tried, wrong = 0, []
    for write in WRITES:
        n, found = check(write, None)
        print(f"{write}: {len(found)} wrong of {n}")
        for one in found:
            print(f"    {one.where}: {one.what}")
        tried, wrong = tried + n, wrong + found
    print(f"{len(wrong)} wrong of {tried}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
