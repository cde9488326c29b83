"""Whether what a compiled program needs is free: looked at before its arguments are given away.

NOTE [Looked at before the hand-over]
    What a program donates is gone when it was handed over, and where it then gets no memory its results are
    gone too. So a program that needs much is held against what is free before it starts, and refused while
    nothing is lost: it is then run operation by operation, and the operation that does not fit raises
    `OutOfMemoryError` (NOTE [What a failed run leaves]).

    What a program needs (its scratch memory and its results, without those that take an argument's place)
    is what XLA planned when it compiled it; a small program counts as needing nothing, and is not checked.
    Nothing that might fit is refused: on the host swap counts as free, and so does what the C library keeps
    of freed memory, which goes to the next program (NOTE [Freed pages stay]). An accelerator's allocator
    says what it has left. That free memory may lie in pieces is left to it. With ``JAXFLOW_CHECK_MEMORY=0``
    everything is handed over without this check.
"""

from __future__ import annotations

import ctypes
import functools
import gc
import os
import pathlib
from collections.abc import Callable, Iterable
from typing import Any

import jax

from jaxflow._core import flags
from jaxflow._core.aval import Aval
from jaxflow._core.device import CPU, resolve
from jaxflow._core.device import device as Device
from jaxflow._core.memory_errors import OutOfMemoryError

# What needs less is not worth the question: to touch so much memory takes 10 ms.
LEAST = 1 << 26

_MEMORY = pathlib.Path("/proc/meminfo")
_GROUPS = pathlib.Path("/proc/self/cgroup")
_MOUNT = pathlib.Path("/sys/fs/cgroup")


def need_of(compiled: Any) -> int:
    """The bytes that a run of a compiled program takes beyond its arguments; 0 if few or unknown."""
    found = compiled.memory_analysis()
    if found is None:
        return 0
    need = found.temp_size_in_bytes + found.output_size_in_bytes - found.alias_size_in_bytes
    return need if need >= LEAST else 0


def need_alone(avals: Iterable[Aval]) -> int:
    """The same of one operation with these results."""
    need = sum(aval.nbytes for aval in avals)
    return need if need >= LEAST and flags.CHECK_MEMORY else 0


def check(need: int, device: Device, arguments: Any = ()) -> None:
    """Refuse what needs ``need`` bytes on ``device`` if they cannot be had there. OutOfMemoryError.

    Before that the programs that compute its ``arguments`` may end, and what only cycles of garbage hold is
    freed.
    """
    if _exceeds(need, device):
        jax.block_until_ready(arguments)
        gc.collect()
        if _exceeds(need, device):
            raise OutOfMemoryError(_text(need, device))


def _exceeds(need: int, device: Device) -> bool:
    if device is CPU and not _groups() and need <= _untouched():
        return False
    free = free_of(device)
    return free is not None and need > free


def free_of(device: Device) -> int | None:
    """The bytes that can still be had on a device; None where nobody says."""
    if device is CPU:
        return _free_of_host()
    stats = resolve(device)[1].memory_stats() or {}
    limit, used = stats.get("bytes_limit"), stats.get("bytes_in_use")
    return None if not limit or used is None else limit - used


def _untouched() -> int:
    """Less than what is free on the host: a question that takes 2 us where the true one takes 200."""
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 0


def _free_of_host() -> int | None:
    try:
        lines = dict(line.split(":") for line in _MEMORY.read_text("ascii").splitlines())
        free, swap = (int(lines[name].split()[0]) << 10 for name in ("MemAvailable", "SwapFree"))
    except (OSError, KeyError, ValueError):
        return None  # not Linux
    return min([free, *map(_left, _groups())]) + swap + _kept_by_malloc()


_NO_LIMIT = 1 << 60

# The files of a control group: its limit, what it uses, and what of that is of files, which go when memory is
# needed; of version 2 and of version 1.
_FILES = (("memory.max", "memory.current", "file"),
          ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_cache"))


def _left(group: pathlib.Path) -> int:
    """The bytes that a control group may still take; more than any machine has if it has no limit."""
    for limit, used, of_files in _FILES:
        try:
            most = int((group / limit).read_text("ascii"))
            about = dict(line.split() for line in (group / "memory.stat").read_text("ascii").splitlines())
            return most - int((group / used).read_text("ascii")) + int(about[of_files])
        except (OSError, KeyError, ValueError):  # the other version, or "max", or no such controller
            continue
    return _NO_LIMIT


@functools.cache
def _groups() -> tuple[pathlib.Path, ...]:
    """Folders of control groups: those with a limit of what this process is in. Looked for once."""
    try:
        lines = [line.split(":", 2) for line in _GROUPS.read_text("utf-8").splitlines()]
    except OSError:
        return ()
    found = []
    for number, controllers, path in lines:
        top = _MOUNT if number == "0" else _MOUNT / "memory"
        if number == "0" or "memory" in controllers.split(","):
            folder = top / path.strip("/")
            found += [folder for folder in (folder, *folder.parents) if folder.is_relative_to(top)]
    return tuple(folder for folder in found if _left(folder) < _NO_LIMIT)


class _Malloc(ctypes.Structure):
    """glibc's ``struct mallinfo2``: ``fordblks`` are the bytes in free blocks."""

    _fields_ = [(name, ctypes.c_size_t) for name in (
        "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks",
        "keepcost",
    )]


def _kept_by_malloc() -> int:
    """The bytes that were freed in this process and that the C library keeps for it."""
    asked = _mallinfo()
    if asked is not None:
        return asked().fordblks
    try:  # another C library: it keeps no more than the process has
        status = pathlib.Path("/proc/self/statm").read_text("ascii")
    except OSError:
        return 0
    return int(status.split()[1]) * 4096


@functools.cache
def _mallinfo() -> Callable | None:
    found = getattr(ctypes.CDLL(None), "mallinfo2", None)
    if found is not None:
        found.restype, found.argtypes = _Malloc, ()
    return found


def _text(need: int, device: Device) -> str:
    free = f"{(free_of(device) or 0) / (1 << 30):.2f} GiB"
    if device is CPU:
        return (f"DefaultCPUAllocator: can't allocate memory: you tried to allocate {need} bytes at once, "
                f"and {free} are free. Error code 12 (Cannot allocate memory)")
    name = "CUDA" if device.type == "cuda" else device.type.upper()
    return (f"{name} out of memory. Tried to allocate {need / (1 << 30):.2f} GiB at once. "
            f"{'GPU' if name == 'CUDA' else name} {device.index} has {free} free")
