"""What the C library does with freed memory on a CPU.

NOTE [Freed pages stay]
    XLA's CPU backend takes a program's scratch memory, tens of megabytes for a training step, from malloc
    at every run and frees it after. glibc answers a request that large with fresh pages from the kernel
    and returns them at once, so each step pays for faulting in every page again: about 14,000 faults
    and 30 % of the time of the demo's step. Told to keep what is freed, in one arena (a block above 64 MB
    fits no other), it faults in nothing after the first steps. The price: resident memory stays at the
    process's peak, until caches let go of what they held (NOTE [What is kept]), which is rare, and then free
    pages are handed back. ``JAXFLOW_KEEP_PAGES=0`` leaves the C library as it was.
"""

from __future__ import annotations

import ctypes
import sys

# From glibc's malloc.h.
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_ARENA_MAX = -1, -3, -8
_MOST = 2**31 - 1


def hand_back() -> None:
    """Give the system the pages of which nothing is in use (glibc only)."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform.startswith("linux") else None
    if trim is not None:
        trim(0)


def keep_pages() -> bool:
    """Have freed memory stay with this process; whether the C library took the setting (glibc only)."""
    if not sys.platform.startswith("linux"):
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return False
    settings = ((_M_TRIM_THRESHOLD, _MOST), (_M_MMAP_THRESHOLD, _MOST), (_M_ARENA_MAX, 1))
    taken = [mallopt(name, value) for name, value in settings]
    return all(taken)
