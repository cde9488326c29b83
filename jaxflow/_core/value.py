"""Values: immutable arrays, known or still pending in a Program; and the Storages that hold them.

NOTE [Values are immutable]
    A Value stands for one array for ever. Writing to a Tensor puts another Value into its Storage; who
    saved the old Value keeps it. So a saved value can never be corrupted, and sharing a Value between
    storages (``clone``) costs nothing.

``Value.array`` is referred to by its Value alone, unless it was handed out (``Tensor.jax()``,
``numpy()``), which sets ``shared``. An executable may donate a leaf's buffer only when nothing but
the Program refers to the Value and it is not shared.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from .aval import Aval
from .device import CPU, resolve
from .sequence import next_sequence

_NO_NUMBERS = (
    "inside jax.jit, jax.grad or jax.vmap a tensor has no numbers yet: item(), bool(), tolist(), numpy(), an "
    "index or a shape that depends on them cannot be had there. Compute them outside and pass them in, or "
    "choose without looking: torch.where instead of `if` and of masks as indices, jax.lax.cond, "
    "jax.lax.while_loop"
)

#: What says more of an error of XLA's that reading an array raised: NOTE [Failures found at a read].
on_unreadable: list[Callable[[BaseException], BaseException]] = []

# Larger host arrays become jax arrays at once, so that no compiled program copies them at every call.
SMALL = 1 << 16


class Value:
    """An immutable array of a known aval: a jax array, or on the host a NumPy one nobody writes to.

    The latter becomes a jax array once that is needed; NOTE [Cold programs]. ``producer`` is ``(entry, k)``
    while the array is pending: it will be the ``k``-th result of that entry of a Program, whose inputs the
    entry keeps. It is ``None`` once ``array`` is set. The tuple is replaced whole, so a reader in another
    thread never sees half of it. ``unchecked`` is the run whose checks have to be looked at before the array
    is read, and the slot of this Value there: NOTE [Faults found late].
    """

    __slots__ = ("__weakref__", "array", "aval", "unchecked", "producer", "shared")

    def __init__(self, aval: Aval, array: Any = None, producer: tuple | None = None,
                 shared: bool = False) -> None:
        self.aval = aval
        self.array = array
        self.unchecked: tuple | None = None
        self.producer = producer
        self.shared = shared

    def get(self) -> Any:
        """The jax array; runs the Program it is pending in first if need be. Raises what that did wrong."""
        array = self.settled()
        return self.on_device() if array.__class__ is np.ndarray else array

    def on_device(self) -> jax.Array:
        """The NumPy array that it holds as a jax array, which it holds from now on."""
        array = self.array = device_array(self.array, resolve(CPU)[1])
        return array

    def settled(self) -> Any:
        """The array as it is held: `get` without making a jax array of it."""
        producer = self.producer
        if producer is not None:
            producer[0].program.deliver(self)
        unchecked = self.unchecked
        if unchecked is not None:
            unchecked[0].answer(self, unchecked[1])
        return self.array

    def host(self) -> np.ndarray:
        """The elements on the host. Raises jax's error where they are traced, which says what to do."""
        array = self.settled()
        try:
            return np.asarray(array)
        except jax.errors.TracerArrayConversionError as error:
            error.add_note(_NO_NUMBERS)
            raise
        except jax.errors.JaxRuntimeError as error:
            for named in on_unreadable:
                raise named(error) from error.__cause__
            raise

    def __repr__(self) -> str:
        state = "known" if self.producer is None else f"pending as result {self.producer[1]}"
        return f"<Value {self.aval!r} {state}>"


def device_array(array: np.ndarray, device: jax.Device) -> jax.Array:
    """``array``, which nobody writes to from now on, as a jax array on ``device``.

    Of jax's ways the quickest, and never a tracer, inside ``jax.jit`` too.
    """
    return jax.make_array_from_callback(array.shape, _alone(device), lambda _: array)


@functools.cache
def _alone(device: jax.Device) -> jax.sharding.Sharding:
    return jax.sharding.SingleDeviceSharding(device)


def as_number(array: np.ndarray) -> Any:
    """The one element as a Python number."""
    x = array.reshape(())
    return x.item() if x.dtype.kind in "biufc" else float(x)


def host_array(array: np.ndarray) -> Any:
    """What a CPU Value holds of ``array``, which nobody writes to from now on."""
    if array.nbytes > SMALL:
        return device_array(array, resolve(CPU)[1])
    array = array.view()
    array.flags.writeable = False
    return array


# The bits of an array's flags that say that its memory is its own, and contiguous: read together.
_OWN = np.empty(0).flags.num & 5


def owned(array: np.ndarray) -> np.ndarray:
    """``array`` in contiguous memory of its own, which nobody writes to from now on."""
    about = array.flags
    if about.num & _OWN != _OWN:
        array = array.copy()
        about = array.flags
    about.writeable = False
    return array


class Untracked(list):
    """The version cell of a tensor made in inference mode: in PyTorch its version cannot be read."""

    __slots__ = ()


# The clock of traces, in steps that no number of writes reaches; see NOTE [Older than the trace].
_TICK = 1 << 40
_now = 0


def tick() -> int:
    """Let the clock go on; storages made from here on have an epoch of at least what it returns."""
    global _now
    _now += _TICK
    return _now


#: Where in a version cell the version stands, and after a write with a gradient the name of its node. Behind
#: them stands what a `WatchedStorage` showed at its end, for nodes that refer to the cell.
COUNTED, _BEHIND = slice(0, 2), slice(1, 3)


def counted_in(cell: Sequence) -> list:
    """What stands at `COUNTED` in a version cell."""
    return [cell[0], cell[1] if len(cell) > 1 else None]


class Storage:
    """The one mutable cell: the current Value, and how often it was replaced.

    ``value`` has the base tensor's logical shape. ``epoch`` counts every write and shows views that what they
    read is stale; ``version`` is the cell behind ``Tensor._version``, shared with all views but not with
    ``.data`` aliases; see `COUNTED`. The three change in one call: NOTE [One C call]. A Storage that others
    can see keeps its cell.
    """

    __slots__ = ("__weakref__", "epoch", "value", "version")

    def __init__(self, value: Value) -> None:
        self.value = value
        self.epoch = _now
        self.version = [0]


class WatchedStorage(Storage):
    """A storage that others may write to unseen, see ``_core.unseen``.

    What it shows at its end stays in its cell: a node that saved it refers to the cell, and to no storage.
    """

    __slots__ = ()

    def __del__(self) -> None:
        leave(self.version, self.value)


class FixedStorage(WatchedStorage):
    """A storage whose memory was given to NumPy or came from there: PyTorch never resizes it after that."""

    __slots__ = ()


def leave(cell: list, last: Any) -> None:
    """Let ``last`` stand in a version cell as what its storage showed at its end, which is now."""
    cell[_BEHIND] = counted_in(cell)[1], (last, next_sequence())


def left_in(cell: list, sequence: int = -1) -> Any:
    """What the storage of a version cell showed at its end; None where nothing stands there.

    None, too, for a node that was made after that, of which ``sequence`` is the number: what it saved is in
    another storage, which has taken the cell over.
    """
    last, end = cell[2] if len(cell) > 2 else (None, 0)
    return last if sequence < end else None


def note_moved(cell: list, since: int) -> None:
    """Note behind what stands there by `leave` when that storage took the cell over from another one."""
    cell[3:4] = [since]


def given_in(cell: list) -> dict | None:
    """What `givens_of` returned for a version cell; None where it was not called."""
    return cell[4] if len(cell) > 4 else None


def givens_of(cell: list) -> dict:
    """Which tensors that count their writes in ``cell`` were given other memory, and when; to be added to."""
    while len(cell) <= len(_NOTHING) + 1:  # which is its place
        cell[len(cell) :] = [*_NOTHING[len(cell) - 1 :], {}]
    return cell[4]


# What stands in a version cell behind the version, before anything is noted there.
_NOTHING = (None, (None, 0), -1)


def moved_at(cell: list) -> int:
    """What `note_moved` has noted; -1 where nothing stands there."""
    return cell[3] if len(cell) > 3 else -1
