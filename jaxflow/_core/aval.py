"""Aval: the interned (shape, dtype, device) of a value.

Interning makes a plan's key cheap: comparing two avals is comparing two pointers.
"""

from __future__ import annotations

import math

import jax
import numpy as np

from .device import device as Device
from .dtype import dtype as DType


class Aval:
    """What is known of a value before it is computed. One object for each distinct triple."""

    __slots__ = ("device", "dtype", "ndim", "numel", "roots", "shape")

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


_interned: dict[tuple, Aval] = {}


def aval_of(shape: tuple[int, ...], dtype: DType, device: Device) -> Aval:
    """The one Aval of this shape, dtype and device."""
    key = (shape, dtype, device)
    found = _interned.get(key)
    if found is None:
        found = _interned.setdefault(key, Aval(shape, dtype, device))
    return found
