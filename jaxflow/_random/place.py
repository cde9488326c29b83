"""A place in a stream of words, and the bytes by which PyTorch stores it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .twister import N, Span, seeded

#: How PyTorch stores the state of a generator on the CPU: the seed; how many words of the state are left,
#: whether there is one, which word is next; the state, a word in eight bytes; the second numbers of normal
#: pairs that wait. (The fields named x and rho are not used any more.)
_LAYOUT = np.dtype([
    ("seed", "<u8"), ("left", "<i4"), ("seeded", "<i4"), ("next", "<u8"), ("state", "<u8", (N,)),
    ("normal_x", "<f8"), ("normal_y", "<f8"), ("normal_rho", "<f8"), ("normal_waits", "<i4"), ("", "<i4"),
    ("single", "<f4"), ("single_waits", "u1"), ("", "u1", (3,)),
])
_BYTES = _LAYOUT.itemsize  # 5,056


class Place(NamedTuple):
    """Between two words of a stream.

    Attributes:
        span: the words around it.
        position: how many words of the span are used.
        waiting: the second number of a normal pair of which the first was used, or None.
        single: the same of a float32 pair; no draw of today's makes one, states of older PyTorch may hold
        one. fresh: whether the stream was just seeded, which PyTorch's bytes show.
    """

    span: Span
    position: int
    waiting: float | None = None
    single: float | None = None
    fresh: bool = False


def start_of(seed: int) -> Place:
    """Before the first word of a seed."""
    return Place(seeded(seed), N, fresh=True)


def bytes_of(place: Place, seed: int) -> np.ndarray:
    """PyTorch's 5,056 bytes of a place in the stream that began at ``seed``."""
    record = np.zeros((), _LAYOUT)
    key, used = place.span.state_at(place.position)
    record["seed"], record["seeded"], record["state"] = seed, 1, key
    record["left"], record["next"] = (1, 0) if place.fresh else (N + 1 - used, used)
    if place.waiting is not None:
        record["normal_waits"], record["normal_y"] = 1, place.waiting
    if place.single is not None:
        record["single_waits"], record["single"] = 1, place.single
    return np.frombuffer(record.tobytes(), np.uint8).copy()


def place_of(data: np.ndarray) -> tuple[int, Place]:
    """The seed and the place that PyTorch's bytes say.

    Raises:
        TypeError: for another dtype than uint8.
        RuntimeError: for another number of bytes, and for what is no state.
    """
    data = np.asarray(data)
    if data.dtype != np.uint8:
        raise TypeError("RNG state must be a torch.ByteTensor")
    if data.size != _BYTES:
        raise RuntimeError(
            f"Expected a CPUGeneratorImplState of size {_BYTES} but found the input RNG state size to be "
            f"{data.size}"
        )
    record = np.frombuffer(data.tobytes(), _LAYOUT)[0]
    left, following = int(record["left"]), int(record["next"])
    if not record["seeded"] or not 0 < left <= N or following > N:
        raise RuntimeError("Invalid mt19937 state")
    # With one left the next word makes a new state, wherever ``next`` points.
    span = Span.of_state(record["state"].astype(np.uint32))
    waiting = float(record["normal_y"]) if record["normal_waits"] else None
    single = float(record["single"]) if record["single_waits"] else None
    place = Place(span, N if left == 1 else following, waiting, single, fresh=left == 1 and not following)
    return int(record["seed"]), place
