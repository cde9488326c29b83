"""Aval: the interned (shape, dtype, device) of a value.

Interning makes a plan's key cheap: comparing two avals is comparing two pointers.

NOTE [One aval for each triple]
    The table refers to avals weakly: one that nothing else refers to goes, so a process that uses new shapes
    all the time does not keep them all. As long as anything refers to an aval, there is no other of its
    triple, in whatever order threads, finalizers and signal handlers call `aval_of`: an entry is only ever
    put where there is none (``dict.setdefault``), and only taken away if its aval is dead. Both are single C
    calls; the latter is the one by which ``weakref.WeakValueDictionary`` forgets, none of whose methods does
    the former in one call.
"""

from __future__ import annotations

import math
import weakref
from _weakref import _remove_dead_weakref
from collections import deque

import jax
import numpy as np

from .device import device as Device
from .dtype import dtype as DType


class Aval:
    """What is known of a value before it is computed. One object for each distinct triple."""

    __slots__ = ("__weakref__", "device", "dtype", "ndim", "numel", "roots", "shape")

    def __init__(self, shape: tuple[int, ...], dtype: DType, device: Device) -> None:
        self.shape = shape
        self.dtype = dtype
        self.device = device
        self.ndim = len(shape)
        self.numel = math.prod(shape)
        self.roots: dict = {}  # strides -> the identity view of a base so laid out

    def __repr__(self) -> str:
        return f"{self.dtype.name}[{','.join(map(str, self.shape))}]"

    def __reduce__(self):
        return aval_of, (self.shape, self.dtype, self.device)

    @property
    def struct(self) -> jax.ShapeDtypeStruct:
        """The same description in jax's words."""
        return jax.ShapeDtypeStruct(self.shape, self.dtype.np)

    @property
    def nbytes(self) -> int:
        """Bytes of a dense array of this aval."""
        return self.numel * np.dtype(self.dtype.np).itemsize


class _Entry(weakref.ref):
    __slots__ = ("key",)


_interned: dict[tuple, _Entry] = {}

# The avals made last: where tensors of a shape come and go in a loop, each would make it anew.
_latest: deque[Aval] = deque(maxlen=1024)


def _gone(entry: _Entry, table: dict = _interned, remove=_remove_dead_weakref) -> None:
    """An aval died: its entry goes, unless there is a living one in its place by now."""
    remove(table, entry.key)


def aval_of(shape: tuple[int, ...], dtype: DType, device: Device) -> Aval:
    """The one Aval of this shape, dtype and device."""
    key = (shape, dtype, device)
    entry = _interned.get(key)
    if entry is not None:
        found = entry()
        if found is not None:
            return found
    return _new(key)


def _new(key: tuple) -> Aval:
    made = Aval(*key)
    _latest.append(made)
    mine = _Entry(made, _gone)
    mine.key = key
    while True:
        found = _interned.setdefault(key, mine)()
        if found is not None:
            return found
        _remove_dead_weakref(_interned, key)  # it died just now


def alive() -> list[Aval]:
    """Every aval that something refers to."""
    found = [entry() for entry in list(_interned.values())]
    return [aval for aval in found if aval is not None]
