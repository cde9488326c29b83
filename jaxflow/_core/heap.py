"""What the C library does with freed memory on a CPU.

NOTE [Freed pages stay]
    XLA's CPU backend takes a program's scratch memory, tens of megabytes for a training step, from malloc
    at every run and frees it after. glibc answers a request that large with fresh pages from the kernel
    and returns them at once, so each step pays for faulting in every page again: about 14,000 faults
    and 30 % of the time of the demo's step. Told to keep what is freed, it faults in nothing after the first
    steps. The price: resident memory stays at the process's peak, until caches let go of what they held
    (NOTE [What is kept]), which is rare, and then free pages are handed back. ``JAXFLOW_KEEP_PAGES=0`` leaves
    the C library as it was.

NOTE [An arena for each thread]
    XLA's threads allocate little things all the time while a program runs. In one arena they wait for its
    lock, and what Python's thread allocates lies scattered among it: the demo's compiled step takes 40 ms
    instead of 31 so, a step of a tiny perceptron 173 us instead of 130. So each thread has an arena of its
    own, as glibc arranges by itself. But such an arena is made of pieces of 64 MB at most: what does not fit
    into one is mapped and unmapped at each run, and a piece of which nothing is in use any more is unmapped as
    well. Therefore XLA is asked to split scratch memory into blocks that fit well (``BLOCK``), and from the
    first program on that needs more than one block, pieces are kept, too. Before that they are not, for a
    small step is a tenth slower where so much more memory is at hand.
"""

from __future__ import annotations

import ctypes
import sys

# From glibc's malloc.h.
_M_TRIM_THRESHOLD, _M_TOP_PAD, _M_MMAP_THRESHOLD = -1, -2, -3
_MOST = 2**31 - 1
_PIECE = 1 << 26  # HEAP_MAX_SIZE, where a long has 64 bits

#: The largest block of scratch memory that a program should take at once, unless one array is larger.
BLOCK = _PIECE // 2


def hand_back() -> None:
    """Give the system the pages of which nothing is in use (glibc only)."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform.startswith("linux") else None
    if trim is not None:
        trim(0)


def keep_pages() -> bool:
    """Have freed memory stay with this process; whether the C library took the setting (glibc only)."""
    return _set((_M_TRIM_THRESHOLD, _MOST), (_M_MMAP_THRESHOLD, _MOST))


def keep_pieces() -> bool:
    """Have the arenas of threads keep the pieces that they are made of, in addition; as `keep_pages`."""
    return _set((_M_TOP_PAD, _PIECE))


def _set(*settings: tuple[int, int]) -> bool:
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform.startswith("linux") else None
    return mallopt is not None and all([mallopt(name, value) for name, value in settings])
