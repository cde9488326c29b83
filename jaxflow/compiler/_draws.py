"""Which random numbers a captured call draws, and where that leaves the generators.

A seed or an offset that came from the generator as it was is found anew at each call; one that the call set
itself (``manual_seed(0)``) is a constant of the call. See NOTE [Drawn in a captured call].
"""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType
from typing import Any

from jaxflow._core.generator import Generator, Position
from jaxflow._core.modes import Kept
from jaxflow._core.value import Value
from jaxflow._dispatch.vmap_axes import draw_inside

from ._taken import Taking

_UNKNOWN = "it draws from a generator that it reached in a way that cannot be followed"


class Draws:
    """The account of one capture.

    ``known`` are the generators that were found before it, by id; ``blame`` takes why Python has to run;
    ``leaf`` makes a leaf of the recording of a Value.
    """

    def __init__(self, known: dict[int, Generator], blame: Callable[..., None],
                 leaf: Callable[[Value], Value]) -> None:
        self.known, self.blame = known, blame
        self.born: set[int] = set()
        self.started: dict[int, tuple[Generator, Position, Position]] = {}
        # Positions that this thread has brought about; another thread's are none of these.
        self.own: dict[int, Position] = {}
        self.read: dict[tuple[int, int], tuple[Position, Position]] = {}
        self.taking = Taking(blame, leaf)  # from PyTorch's stream

    # ------------------------------------------------------------------------ what the watcher reports

    def calls(self) -> dict[CodeType, Callable[[Any], None]]:
        """What to do with the frame of a function that begins."""
        return {
            Generator.__init__.__code__: lambda frame: self.born.add(id(frame.f_locals["self"])),
            Generator.state_array.__code__: self._reads,
            **dict.fromkeys((f.__code__ for f in (
                Generator.draw, Generator.take, Generator.clone_state, Generator.position, Generator.go_to,
                Generator.set_offset,
            )), lambda frame: self.meet(frame.f_locals["self"])),
            Kept.noted.__code__: self._noted,
            draw_inside.__code__: self._apart,
        }

    def returns(self) -> dict[CodeType, Callable[[Any, Any], None]]:
        """What to do with the frame of a function that ends, and what it returns."""
        return {
            Generator.draw.__code__: self._drawn,
            Generator.set_state_array.__code__: self._put_back,
            **self.taking.returns(),
        }

    def meet(self, g: Generator) -> None:
        """Let the numbers of a generator that was there before say where they come from."""
        if id(g) in self.started or id(g) in self.born or self.taking.is_root(g):
            return
        if id(g) not in self.known:
            self.blame(_UNKNOWN)
        elif g.stream == "torch":
            self.taking.begin(g)
        elif g._seed.__class__ is not int:
            self.blame("it draws from a generator that was made from a jax key")
        else:
            self._replace(g, lambda seed, offset: self._begun(g, seed, offset))

    def _begun(self, g: Generator, seed: int, offset: int) -> dict:
        begun = self.started[id(g)] = g, Position(seed, g, None, self), Position(offset, g, 0, self)
        self.own[id(begun[2])] = begun[2]
        return {"_seed": begun[1], "_offset": begun[2]}

    @staticmethod
    def _replace(g: Generator, by: Callable[[Any, Any], dict]) -> None:
        """Let a generator hold what ``by`` makes of its numbers."""
        while True:
            seed, offset = g._seed, g._offset
            new = by(seed, offset)
            if g._offset is offset and g._seed is seed:  # nobody gets in between this and the call
                g.__dict__.update(new)
                return

    def _drawn(self, frame: Any, pair: tuple | None) -> None:
        offset, after = frame.f_locals.get("offset"), frame.f_locals.get("after")
        if pair is not None and type(offset) is Position:
            self._only_own(offset)
            self.own[id(after)] = after

    def _mine(self, offset: int) -> bool:
        """Whether no other thread has brought a generator to an offset."""
        return type(offset) is not Position or id(offset) in self.own

    def _only_own(self, offset: Position) -> None:
        if not self._mine(offset):
            self.blame("another thread draws from the same generator meanwhile", of_others=True)

    def _noted(self, frame: Any) -> None:
        holder = frame.f_locals["self"].holder
        if isinstance(holder, Generator):
            self.meet(holder)

    def _reads(self, frame: Any) -> None:
        g = frame.f_locals["self"]
        self.meet(g)
        if g.stream == "torch" and id(g) not in self.born:
            self.blame("it reads the state of a generator")
        seed, offset = g._seed, g._offset
        if type(seed) is Position is type(offset):
            self.read[int(seed), int(offset)] = seed, offset

    def _put_back(self, frame: Any, nothing: None) -> None:
        """A state that the call has read itself is the generator's again, not a constant."""
        g = frame.f_locals["self"]
        found = self.read.get((g._seed, g._offset)) if g._seed.__class__ is int else None
        if found is not None:
            g.__dict__.update(_seed=found[0], _offset=found[1])

    def _apart(self, frame: Any) -> None:
        if any(axis.randomness == "different" for axis in frame.f_locals["axes"]):
            self.blame("it draws random numbers inside vmap, other ones for each example")

    # ------------------------------------------------------------------------------- what came of it

    def moved(self) -> list[tuple]:
        """(generator, how far it went on, seed it ended with or None) of those that the call moved."""
        found = []
        for g, seed, _ in self.started.values():
            now = g._offset
            if type(now) is Position:
                self._only_own(now)
            if g._seed is seed and type(now) is Position and now.generator is g:
                if now.moved:
                    found.append((g, now.moved, None))
            elif type(g._seed) is not Position and type(now) is not Position:
                found.append((g, now, g._seed))
            else:
                self.blame("it leaves a generator with another one's seed, or at an offset of its own")
        return found

    def end(self, *, undo: bool = False) -> None:
        """Let the generators hold plain numbers; ``undo``: those they had before."""
        if undo:
            self.taking.undo()
        for g, *before in self.started.values():
            if undo:
                self._replace(g, lambda seed, offset, before=before: _plain(
                    *(before if self._mine(offset) else (seed, offset))))
            elif g._seed.__class__ is int:
                self._replace(g, _plain)


def _plain(seed: int, offset: int) -> dict:
    return {"_seed": int(seed), "_offset": int(offset)}
