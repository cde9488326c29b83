"""Generators: where every random number comes from.

A Generator is a seed and a position in one of two streams.

In the stream "counter" the position is an offset. Each random op takes the current pair, as two integer
leaves, and the offset goes up by one; the op derives its jax key as ``fold_in(key(seed), offset)``. So the
draw of an op depends on the seed and on how many draws came before, not on the executor, and a Program
with random ops has the same key at every step. Nothing else in the project makes a key.

In the stream "torch" the position is a `Place` between two words of PyTorch's Mersenne twister. A draw takes
words at once, and what is made of them is a leaf of whatever is recorded. Generators of CPUs have this stream
by default, those of other devices "counter". Where none is named, each device has one of its own.

Under ``jax.jit`` the pair is a constant of the trace, unless the seed is a tensor made from a key that
is an argument: ``Generator.from_key``.

NOTE [Drawn in a captured call]
    While ``jaxflow.compile`` captures a call, the seed and the offset of a generator that the call draws from
    are `Position`s: the same numbers, which also store where they come from. So they can be found anew at
    each later call, wherever they went in between (a node of a graph, a generator's saved position).
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from jaxflow._core import device as devices
from jaxflow._core.modes import Restored
from jaxflow._random.cursor import Cursor
from jaxflow._random.place import Place, bytes_of, place_of, start_of

_DEFAULT_SEED = 67280421310721
_MASK = (1 << 64) - 1


class Position(int):
    """A generator's seed or offset that stores where it comes from; its ``__class__`` is ``int``.

    Attributes:
        generator: whose it was when the capture began.
        moved: of an offset, how many draws came since; None of a seed.
        draws: the capture's account of draws.
    """

    generator: Generator
    moved: int | None
    draws: Any

    def __new__(cls, value: int, generator: Generator, moved: int | None, draws: Any) -> Position:
        self = int.__new__(cls, value)
        self.generator, self.moved, self.draws = generator, moved, draws
        return self

    @property
    def __class__(self) -> type:
        return int

    def __add__(self, count: Any) -> Any:
        if type(count) is not int:
            return int(self) + count
        return Position(int(self) + count, self.generator, self.moved + count, self.draws)

    def __sub__(self, range_: int) -> Position:
        """The same number in a signed range."""
        return Position(int(self) - range_, self.generator, self.moved, self.draws)

    def __reduce_ex__(self, protocol: Any) -> tuple:
        return int, (int(self),)


STREAMS = ("counter", "torch")


class _Streams:
    """Which stream new generators of CPUs have."""

    new: str = "torch"


class Taken(NamedTuple):
    """What a draw from PyTorch's stream gave, and the places before and behind its words."""

    array: np.ndarray
    before: Place
    after: Place


class Generator:
    """A stream of random numbers with PyTorch's interface.

    Args:
        device: where its numbers are used.
        stream: "torch" for the numbers that PyTorch draws on x86-64 from the same seed; "counter" for jax's
            (threefry), which are drawn inside of compiled programs. None for that of `random.set_stream`,
            "torch" at first, on a CPU, and for "counter" on another device.

    Raises:
        ValueError: for another name of a stream.

    Example:
        >>> g = torch.Generator().manual_seed(1337)
        >>> torch.rand(3, generator=g)
        tensor([0.0783, 0.4956, 0.6231])
    """

    def __init__(self, device: Any = "cpu", stream: str | None = None) -> None:
        self.device = devices.named(device)
        if stream is None:
            stream = streams.new if self.device.type == "cpu" else "counter"
        stream = need_stream(stream)
        self._seed, self._offset = _DEFAULT_SEED, _start(stream, _DEFAULT_SEED)

    @property
    def stream(self) -> str:
        """The name of the stream that it draws from: "counter" or "torch"."""
        return "torch" if self._offset.__class__ is Place else "counter"

    def take(self, draw: Callable[..., np.ndarray], args: tuple) -> Taken:
        """What ``draw(cursor, *args)`` makes of the next words of PyTorch's stream; the generator goes on."""
        while True:
            place = self._offset
            cursor = Cursor(place)
            array = draw(cursor, *args)
            after = cursor.place()
            if self._offset is place:  # nobody gets in between a comparison and a store: NOTE [One C call]
                self._offset = after
                break
        drawing.last = self, place, after
        return Taken(array, place, after)

    def draw(self, count: int = 1) -> tuple[int, int]:
        """The pair for one random op, as signed 64-bit integers; advances the stream by ``count``.

        Raises RuntimeError in PyTorch's stream, which has no such pairs.
        """
        self._counted()
        while True:
            offset = self._offset
            after = offset + count
            if self._offset is offset:  # nobody gets in between a comparison and a store: NOTE [One C call]
                self._offset = after
                break
        drawing.last = self, offset, after
        seed = self._seed
        return (_signed(seed) if seed.__class__ is int else seed), _signed(offset)

    def manual_seed(self, seed: int) -> Generator:
        """Start the stream of ``seed``. Raises ValueError if it does not fit 64 bits."""
        seed = int(seed)
        if not -(1 << 63) <= seed <= _MASK:
            raise ValueError("Overflow when unpacking long long")
        seed &= _MASK
        self.go_to({"_seed": seed, "_offset": _start(self.stream, seed)})
        return self

    def seed(self) -> int:
        """Start a stream from the operating system's entropy; returns the seed."""
        seed = secrets.randbits(63)
        self.manual_seed(seed)
        return seed

    def initial_seed(self) -> int:
        """The seed the stream started from."""
        return self._seed

    def get_offset(self) -> int:
        """How many draws were made. RuntimeError in PyTorch's stream."""
        return self._counted()

    def set_offset(self, offset: int) -> None:
        """Go to a position of the stream. RuntimeError in PyTorch's stream."""
        self._counted()
        self._offset = int(offset)

    def _counted(self) -> int:
        if self._offset.__class__ is Place:
            raise RuntimeError("CPU Generator does not use offset")
        return self._offset

    def go_to(self, position: dict[str, Any]) -> None:
        """Go to a seed and an offset: to both at once, or not at all."""
        self.__dict__.update(position)

    def position(self) -> dict[str, Any]:
        """The present seed and offset, as `go_to` takes them."""
        return {"_seed": self._seed, "_offset": self._offset}

    def state_array(self) -> np.ndarray:
        """Seed and offset as 16 bytes, or PyTorch's 5,056 bytes of its stream.

        Raises RuntimeError for a generator made from a jax key.
        """
        if self._offset.__class__ is Place:
            return bytes_of(self._offset, self._seed)
        if self._seed.__class__ is not int:
            raise RuntimeError("a generator made from a jax key has no state; keep the key instead")
        return np.array([self._seed, self._offset & _MASK], np.uint64).view(np.uint8)

    def set_state_array(self, state: np.ndarray) -> None:
        """Restore what :meth:`state_array` gave. Raises TypeError or RuntimeError for other data."""
        if self._offset.__class__ is Place:
            seed, place = place_of(state)
            self.go_to({"_seed": seed, "_offset": place})
        else:
            self.go_to(position_of(state))

    def clone_state(self) -> Generator:
        """An independent generator at the same position."""
        other = Generator(self.device, "counter")
        other._seed, other._offset = self._seed, self._offset
        return other


def need_stream(name: str) -> str:
    """The name of a stream. ValueError for another."""
    if name not in STREAMS:
        raise ValueError(f"stream must be one of {', '.join(map(repr, STREAMS))}, but got {name!r}")
    return name


def _start(stream: str, seed: int) -> Any:
    """The position where a seed's stream begins."""
    return start_of(seed) if stream == "torch" else 0


def _signed(x: int) -> int:
    return x - (1 << 64) if x >= 1 << 63 else x


def position_of(state: np.ndarray) -> dict[str, int]:
    """What `Generator.go_to` takes, from what `Generator.state_array` gave.

    Raises TypeError or RuntimeError for other data.
    """
    state = np.asarray(state)
    if state.dtype != np.uint8:
        raise TypeError("RNG state must be a torch.ByteTensor")
    if state.size != 16:
        raise RuntimeError("RNG state must be a torch.ByteTensor of 16 bytes, as get_state() gives")
    seed, offset = state.copy().view(np.uint64).tolist()
    return {"_seed": seed, "_offset": offset}


streams = _Streams()
default_generator = Generator()
default_generator.seed()

#: The default generators of other devices, each made at its first draw.
_elsewhere: dict[devices.device, Generator] = {}


def default_of(where: devices.device) -> Generator:
    """The generator that draws on a device where none is named."""
    if where.type == "cpu":
        return default_generator
    found = _elsewhere.get(where)
    if found is None:
        fresh = Generator(where).manual_seed(default_generator.initial_seed())
        found = _elsewhere.setdefault(where, fresh)
    return found


def defaults() -> list[Generator]:
    """The default generators of all devices on which numbers were drawn, that of CPUs first."""
    return [default_generator, *_elsewhere.values()]


#: Where default generators are; a device that is not among them has drawn nothing.
Positions = dict[Generator, dict[str, Any]]


def positions() -> Positions:
    """Where the default generators are."""
    return {g: g.position() for g in defaults()}


def go_back(to: Positions) -> None:
    """Let the default generators be where they were; those of devices that had drawn nothing begin anew."""
    for generator, position in to.items():
        generator.go_to(position)
        if generator is not default_generator:
            _elsewhere[generator.device] = generator
    for where, generator in list(_elsewhere.items()):
        if generator not in to:
            _elsewhere.pop(where, None)


class Elsewhere(Restored):
    """A ``with`` block after which the default generators are where they were.

    It begins at ``begin``, or where they are. Nothing is put back unless it is ``enabled``.
    """

    __slots__ = ("begin", "enabled")

    def __init__(self, begin: Positions | None = None, enabled: bool = True) -> None:
        super().__init__()
        self.begin, self.enabled = begin, enabled

    def noted(self) -> Positions | None:
        """Where they are."""
        return positions() if self.enabled else None

    def change(self) -> None:
        """Go where the block begins."""
        if self.begin is not None:
            go_back(self.begin)

    def put_back(self, before: Positions | None) -> None:
        """Go back."""
        if before is not None:
            go_back(before)


class _Drawing(threading.local):
    """Which generator draws where none is named; None for the default one."""

    generator: Generator | None = None
    last: tuple | None = None  # generator of this thread's last draw, where it was and where it went


drawing = _Drawing()


def give_back() -> None:
    """Undo this thread's last draw, unless somebody else has drawn since: its operation was refused."""
    if drawing.last is not None:
        generator, before, after = drawing.last
        drawing.last = None
        if generator._offset == after:
            generator._offset = before


def source_of(generator: Generator | None, where: devices.device) -> Generator:
    """The generator that draws on a device where ``generator`` is named, or None is.

    Raises RuntimeError for a generator of another kind of device; one of the CPU whose stream is "counter",
    such as those made from a jax key, draws on all.
    """
    if where.type == "meta":  # a copy of this device's own generator moves in place of it
        own = generator is not None and generator.device.type == "meta"
        return generator if own else default_of(where)
    if generator is None:
        return drawing.generator or default_of(where)
    if generator.device.type != where.type and (
            generator.device.type != "cpu" or generator.stream == "torch"):
        raise RuntimeError(
            f"Expected a '{where.type}' device type for generator but found '{generator.device.type}'"
        )
    return generator
