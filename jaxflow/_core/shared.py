"""Memory that others may write to: what a storage holds while NumPy, say, can reach it.

NOTE [Host-shared storages]
    ``from_numpy(a)`` and ``a`` are one memory, and nobody says when NumPy writes to it. While the other side
    can reach it, the storage is *host-shared*: it holds a `HostValue`, whose truth is that memory. A view of
    the storage shows a `HostValue` too, of the same memory by other strides.

    - An operation with a `HostValue` among its operands reads it at once (``_exec.host_shared``); what is
      recorded, compiled or donated is a copy, or the result. So is everything that makes another storage of
      it.
    - A write computes first, and copies the result into the memory in the one call that publishes it; the
      storage goes on holding the same `HostValue`.
    - What a node saved as an operand is the `HostValue`: its backward reads what is there then, as PyTorch's
      does. What PyTorch saves as a result is computed again from a copy.
    - When nobody else can reach the memory any more, the storage becomes an ordinary one: at once if its
      memory was lent, and where an array was given to us, when this is checked next.

    Becoming the one or the other changes nothing that a tensor shows, so it is none of the stores of
    NOTE [The latest store]. It has a number of its own, for those who go by what storages hold.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Iterable, Sequence
from itertools import chain, count
from operator import call, itemgetter, setitem
from pickle import PickleBuffer
from typing import Any

import numpy as np

from .aval import Aval
from .commit import Overtaken, all_equal, at_epochs, commit_one, commit_results, rows_called
from .device import CPU, resolve
from .unseen import WatchedStorages, written_by_others
from .value import SMALL, Storage, Value, device_array, host_array

#: The number of the latest time that a storage became host-shared or an ordinary one.
CONVERSIONS = [0]
_numbers = count(1)


#: The host-shared storages; changed in the call that converts one.
SHARED = WatchedStorages()


def unconverted(number: int) -> Iterable:
    """The condition that no storage became host-shared or an ordinary one since that number."""
    return all_equal(map(itemgetter(0), (CONVERSIONS,)), (number,))


class _Window:
    """What NumPy makes an array of all bytes of a memory of; keeps who owns it."""

    __slots__ = ("__array_interface__", "owner")

    def __init__(self, address: int, nbytes: int, owner: Any) -> None:
        self.owner = owner
        self.__array_interface__ = {
            "version": 3, "data": (address, False), "shape": (nbytes,), "typestr": "|u1", "strides": None}


def window(address: int, nbytes: int, owner: Any) -> np.ndarray:
    """So many bytes from an address on, which ``owner`` keeps there."""
    return np.asarray(_Window(address, nbytes, owner))


class Memory:
    """The bytes of a host-shared storage, and who else can reach them.

    Attributes:
        storage: a weak reference to the storage.
        lent: references to the arrays that were given out, by their ids; who is gone is taken out.
        before: what the storage held, if it is small: if nobody has written meanwhile it holds that again.

    Each constructor takes the storage that is to hold them, if it is there already.
    """

    __slots__ = ("__weakref__", "_buffer", "_data", "_owner", "_watched", "before", "lent", "storage")

    def __init__(self, buffer: np.ndarray, storage: Storage | None = None, owner: np.ndarray | None = None,
                 watched: bool = True) -> None:
        # Arrays over this keep it, and slices of them do: NumPy looks through arrays and memoryviews only.
        self._buffer = PickleBuffer(buffer)
        self._data: np.ndarray | None = None
        self.storage = None if storage is None else weakref.ref(storage)
        self._owner, self._watched = owner, watched
        self.before: Value | None = None
        self.lent: dict[int, _Lent] = {}

    @classmethod
    def of(cls, array: np.ndarray, watched: bool = True) -> Memory:
        """The bytes of an array, which others may refer to; it may be written to, and lies in a row.

        Not ``watched``, others may reach them who do not refer to it, nor to what it is a view of.
        """
        return cls(array, None, array, watched)

    @classmethod
    def at(cls, address: int, nbytes: int, owner: np.ndarray, storage: Storage | None = None,
           watched: bool = True) -> Memory:
        """As `of`, so many bytes from an address on, which belong to ``owner``, whatever its flags."""
        return cls(window(address, nbytes, owner), storage, owner, watched)

    @classmethod
    def new(cls, nbytes: int, storage: Storage | None = None) -> Memory:
        """So many bytes of our own; many lie where XLA can read them without a copy."""
        return cls(np.empty(nbytes, np.uint8) if nbytes <= SMALL else _allocated(nbytes), storage)

    @property
    def data(self) -> np.ndarray:
        """All bytes, from where the storage begins."""
        data = self._data
        if data is None:
            nbytes = memoryview(self._buffer).nbytes
            data = self._data = np.ndarray((nbytes,), np.uint8, self._buffer)
        return data

    def address(self) -> int:
        """Where the first byte lies; 0 if there is none, unless it is memory that we were given."""
        data = self.data
        return data.__array_interface__["data"][0] if data.nbytes or self._owner is not None else 0

    def shown(self, shape: tuple, dtype: np.dtype, offset: int, stride: tuple[int, ...] | None) -> np.ndarray:
        """The elements that lie there; ``offset`` and ``stride`` count elements."""
        if 0 in shape:
            return np.empty(shape, dtype).view()  # a view, as all are: no result may be this very array
        if stride is None and not offset:
            return np.ndarray(shape, dtype, self._buffer)
        size = dtype.itemsize
        strides = None if stride is None else tuple([s * size for s in stride])
        return np.ndarray(shape, dtype, self._buffer, offset * size, strides)

    def lending(self, array: np.ndarray) -> tuple:
        """The row by which ``array``, which shows these bytes, is noted as given out: see `commit`."""
        lent = _Lent(array, _returned)
        lent.memory = weakref.ref(self)
        return setitem, self.lent, id(lent), lent

    def reachable(self) -> bool:
        """Whether anybody else can reach these bytes, as far as references show."""
        while (lent := _first(self.lent)) is not None:
            if lent() is not None:
                return True
            self.lent.pop(id(lent), None)  # the call that does it was broken off by a signal
        return self._owner is not None and not (self._watched and _solely_ours(self))


def _first(lent: dict[int, _Lent]) -> _Lent | None:
    """One of them; in one call, so that no other thread changes the dictionary meanwhile."""
    return next(map(next, map(iter, (lent.values(),))), None)


class _Lent(weakref.ref):
    """An array over a memory that was lent; when it is gone, the storage may be an ordinary one again."""

    __slots__ = ("memory",)


def _returned(lent: _Lent) -> None:
    memory = lent.memory()
    if memory is not None:
        memory.lent.pop(id(lent), None)
        release(memory)


#: The alignment that XLA on the CPU needs of memory that it is to read where it lies.
ALIGNED = 64


def _allocated(nbytes: int) -> np.ndarray:
    raw = np.empty(nbytes + ALIGNED, np.uint8)
    start = -raw.__array_interface__["data"][0] % ALIGNED
    return raw[start : start + nbytes]


def aligned(array: np.ndarray) -> np.ndarray:
    """A copy of ``array``, which nobody writes to, where XLA can read it without a copy."""
    copy = _allocated(array.nbytes).view(array.dtype).reshape(array.shape)
    copy[...] = array
    copy.flags.writeable = False
    return copy


def _solely_ours(memory: Memory) -> bool:
    """Whether nobody but ``memory`` refers to its owner, nor to what that is a view of."""
    array, ours = memory._owner, _OURS + 1  # one more: its buffer
    while sys.getrefcount(array) <= ours and not weakref.getweakrefcount(array):
        base, ours = array.base, _OURS
        if base is None:
            return array.flags.owndata
        if type(base) is memoryview:  # by which NumPy looks at a buffer
            buffer = base.obj
            return (sys.getrefcount(base) <= _OURS and type(buffer) in BUFFERS
                    and sys.getrefcount(buffer) <= _OURS)
        if type(base) is not np.ndarray:
            return False
        array = base
        del base
    return False


#: Objects with Python's buffer protocol that nobody reaches without a reference to them.
BUFFERS = bytes, bytearray


# What refers to an array there: who holds it, the name, and the argument of ``getrefcount``.
_OURS = 3


class HostValue(Value):
    """A Value that is what lies in a memory at the time when it is read: NOTE [Host-shared storages].

    Attributes:
        live: the elements, as they lie there; written to by who writes to the storage.
        memory: all of it; kept by whoever shows a part.
    """

    __slots__ = ("live", "memory")

    def __init__(self, aval: Aval, live: np.ndarray, memory: Memory) -> None:
        self.aval = aval
        self.live = live
        self.memory = memory
        self.unchecked = self.producer = None
        self.shared = True

    @property
    def array(self) -> np.ndarray:
        """A copy of the elements."""
        copy = self.copied()
        copy.flags.writeable = False
        return copy

    def copied(self) -> np.ndarray:
        """A copy of the elements, in the order of the dimensions."""
        live = self.live
        if live.dtype == np.bool_:  # of which memory may hold any byte, and XLA takes two
            return np.asarray(np.not_equal(live.view(np.uint8), 0, order="C"))
        return np.array(live, order="C")

    def known(self) -> Value:
        """The Value of a copy."""
        copy = self.copied()
        if copy.nbytes <= SMALL:
            copy.flags.writeable = False
            return Value(self.aval, copy)
        return Value(self.aval, host_array(copy))

    def get(self) -> Any:
        """A jax array of a copy."""
        return device_array(self.copied(), resolve(CPU)[1])

    def settled(self) -> np.ndarray:
        """A copy of the elements."""
        return self.array

    def host(self) -> np.ndarray:
        """A copy of the elements."""
        return self.array

    def __repr__(self) -> str:
        return f"<HostValue {self.aval!r}>"


def note(storage: Storage, memory: Memory) -> None:
    """Take note of a fresh storage, which only its maker has, that holds a memory from the beginning."""
    memory.storage = weakref.ref(storage)
    SHARED.note(storage)


def unshared(value: Value) -> Value:
    """``value``, or the Value of a copy where others may write to what it shows."""
    return value.known() if value.__class__ is HostValue else value


# What makes a storage host-shared, and an ordinary one: its Value, its epoch, the table, the latest number.
_SHARING, _ENDING = (setattr, setattr, setitem, setitem), (setattr, setattr, dict.pop, setitem)


def convert(storage: Storage, value: Value, epoch: int, rows: Iterable[tuple] = ()) -> bool:
    """Let a storage that is at ``epoch`` hold what it shows in the other way; False if it is not any more.

    ``rows`` are called in the same call: see `rows_called`.
    """
    key = id(storage.version)
    noted = SHARED.noted(storage) if value.__class__ is HostValue else None
    before = storage.value, SHARED.get(key)  # kept until the call is over
    try:
        commit_one(storage, epoch, chain(map(
            call, _ENDING if noted is None else _SHARING, (storage, storage, SHARED, CONVERSIONS),
            ("value", "epoch", key, 0), (value, epoch + 1, noted, next(_numbers))), rows_called(rows)))
    except Overtaken:
        return False
    finally:
        del before
    return True


def convert_all(changes: Sequence[tuple[Storage, Value, int]]) -> bool:
    """`convert` of several storages to HostValues: each its storage, value and epoch; all, or none."""
    rows: list[tuple] = [(setitem, CONVERSIONS, 0, next(_numbers))]
    before = [s.value for s, _, _ in changes]  # kept until the call is over
    for storage, value, epoch in changes:
        rows += [(setattr, storage, "value", value), (setattr, storage, "epoch", epoch + 1),
                 (setitem, SHARED, id(storage.version), SHARED.noted(storage))]
    try:
        commit_results(at_epochs([s for s, _, _ in changes], [e for _, _, e in changes]), rows_called(rows))
    except Overtaken:
        return False
    finally:
        del before
    return True


def release(memory: Memory) -> None:
    """Make the storage of ``memory`` an ordinary one if nobody else can reach that any more."""
    storage = None if memory.storage is None else memory.storage()
    if storage is None:
        return
    epoch, held = storage.epoch, storage.value  # before the check, so that lending meanwhile is noticed
    if memory.reachable():
        return
    if held.__class__ is not HostValue or held.memory is not memory:
        return
    live, value = held.live, memory.before
    if value is None or np.asarray(value.array).tobytes() != live.tobytes():
        value = Value(held.aval, host_array(held.copied() if _to_copy(live) else live), shared=True)
        if memory._owner is None:  # else who has saved it from before has this memory, as it is now
            written_by_others(storage)
    convert(storage, value, epoch)


def _to_copy(live: np.ndarray) -> bool:
    return live.dtype == np.bool_ or not live.flags.c_contiguous


def any_shared(storages: Iterable[Storage]) -> bool:
    """Whether one of these storages is host-shared, and somebody else can still reach its memory."""
    found = False
    for storage in storages:
        value = storage.value
        if value.__class__ is HostValue:
            release(value.memory)
            found = found or storage.value.__class__ is HostValue
    return found
