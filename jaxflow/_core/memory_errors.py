"""Memory that cannot be had: `OutOfMemoryError`, and results refused before anything is computed.

NOTE [Results that no memory holds]
    The memory of a recorded operation is allocated much later than in PyTorch, and then together with that of
    a whole program. A result that this machine could never hold is refused nevertheless where PyTorch refuses
    it, at the operation that would make it: when its plan is made, once for each shape, so that a plan which
    exists needs no check. Views need no memory and pass. So do backward passes, whose results are mostly as
    large as what went in, and may be broadcast gradients that no array is ever made of.
"""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Iterable

import jax
import numpy as np

from jaxflow._core.aval import Aval
from jaxflow._core.device import device as Device
from jaxflow._core.device import resolve

_MOST = (1 << 63) - 1


class OutOfMemoryError(RuntimeError):
    """Raised where memory, of the host or of a device, is not enough."""


OutOfMemoryError.__module__ = "jaxflow"  # where it is found


def as_memory_error(error: BaseException) -> BaseException:
    """An error that says that memory was not enough as an OutOfMemoryError; any other one as it is.

    The new error has the notes of the old one, which is its cause.
    """
    if isinstance(error, OutOfMemoryError) or not _is_of_memory(error):
        return error
    said = str(error) or "out of memory"
    if isinstance(error, MemoryError):
        said = f"DefaultCPUAllocator: can't allocate memory: {said}"
    found = OutOfMemoryError(said)
    for note in getattr(error, "__notes__", ()):
        found.add_note(note)
    found.__cause__ = error
    return found


def _is_of_memory(error: BaseException) -> bool:
    if isinstance(error, MemoryError):
        return True
    # The status is the beginning of XLA's message; its Python class is the same for all failures.
    return isinstance(error, jax.errors.JaxRuntimeError) and str(error).startswith("RESOURCE_EXHAUSTED")


def check_sizes(name: str, avals: Iterable[Aval], computed: bool = False) -> None:
    """Refuse results of the operation ``name`` that no memory could hold.

    Raises:
        OutOfMemoryError: if they are larger than all of the device's memory.
        RuntimeError: if 64 bits do not hold their number of bytes, or an extent that was ``computed``.
        TypeError: if 64 bits do not hold an extent that was given.
    """
    together = 0
    for aval in avals:
        # XLA ends the process where the product of the other extents of an empty array overflows.
        size = math.prod(n for n in aval.shape if n) * np.dtype(aval.dtype.np).itemsize
        if size > _MOST:
            wrapped = [(n + _MOST + 1) % (1 << 64) - _MOST - 1 for n in aval.shape]
            if computed and min(wrapped) < 0:
                raise RuntimeError(
                    f"Trying to create tensor with negative dimension {min(wrapped)}: {wrapped}"
                )
            for k, n in enumerate(aval.shape):
                if n > _MOST and not computed:
                    raise TypeError(
                        f"{name.strip('_')}(): argument 'size' failed to unpack the object at pos {k + 1} "
                        'with error "Overflow when unpacking long long"'
                    )
            raise RuntimeError(f"Storage size calculation overflowed with sizes={list(aval.shape)}")
        together += aval.nbytes
        if together > _LEAST and together > memory_of(aval.device):
            raise _refused(aval)


# No machine has less, so for small results the memory of this one is not looked up.
_LEAST = 1 << 28


@functools.cache
def memory_of(where: Device) -> int:
    """The bytes that a device could hold if nothing else were on it; swap counts. Read once."""
    if where.type == "meta":
        return _MOST
    if where.type == "cpu":
        return _host_memory()
    stats = resolve(where)[1].memory_stats() or {}
    return stats.get("bytes_limit") or stats.get("bytes_reservable_limit") or _MOST


def _host_memory() -> int:
    try:
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return _MOST  # a system that does not report it
    return memory + _swap() if memory > 0 else _MOST


def _swap() -> int:
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("SwapTotal:"):
                    return int(line.split()[1]) << 10
    except OSError:
        return 0  # not Linux
    return 0


def _refused(aval: Aval) -> OutOfMemoryError:
    if aval.device.type == "cpu":
        return OutOfMemoryError(
            "[enforce fail at alloc_cpu.cpp] err == 0. DefaultCPUAllocator: can't allocate memory: you tried "
            f"to allocate {aval.nbytes} bytes. Error code 12 (Cannot allocate memory)"
        )
    name = "CUDA" if aval.device.type == "cuda" else aval.device.type.upper()
    kind = "GPU" if aval.device.type == "cuda" else name
    return OutOfMemoryError(
        f"{name} out of memory. Tried to allocate {aval.nbytes / (1 << 30):.2f} GiB. {kind} "
        f"{aval.device.index} has a total capacity of {memory_of(aval.device) / (1 << 30):.2f} GiB"
    )
