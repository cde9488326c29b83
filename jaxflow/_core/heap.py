"""What the C library does with freed memory on a CPU.

NOTE [Freed pages stay]
    XLA's CPU backend takes a program's scratch memory, tens of megabytes for a training step, from malloc
    at every run and frees it after. glibc serves a request that large with fresh pages from the kernel and
    returns them at once, so each step pays for faulting in every page again: about 14,000 faults and 30 % of
    the time of the demo's step. If glibc is set to keep what is freed, no page is faulted in after the first
    steps. The price: resident memory stays at the process's peak, until caches let go of what they held
    (NOTE [What is kept]), which is rare, and then free pages are handed back. ``JAXFLOW_KEEP_PAGES=0`` leaves
    the C library as it was.

NOTE [An arena for each thread]
    XLA's threads allocate little things all the time while a program runs. In one arena they wait for its
    lock, and what Python's thread allocates lies scattered among it: the demo's compiled step takes 40 ms
    instead of 32 so, a step of a tiny perceptron 173 us instead of 130. So each thread has an arena of its
    own, as glibc arranges by itself. But only the first thread's may take a block above 64 MB; in others it
    is mapped and unmapped at each run, which made the steps of a ViT and an LSTM a tenth slower than before.
    So XLA is set to start programs in the thread that calls them, which is where it then takes scratch
    memory, and which waits for them: nothing is recorded beside a running step, and a step that another
    thread than the first one runs still has its large blocks mapped each time. Steps of middle size lose by
    that what the arenas gave them, small ones stay quicker, and scratch memory is there once instead of once
    for each of four threads (a small ViT's step: 610 MB instead of 1,000). ``JAXFLOW_ASYNC=1`` has programs
    run beside Python. (XLA can split scratch memory into blocks that fit any arena, which was quickest, but
    such programs cannot be written to the cache on disk.)
"""

from __future__ import annotations

import ctypes
import sys

# From glibc's malloc.h.
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
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
    taken = [mallopt(name, value) for name, value in ((_M_TRIM_THRESHOLD, _MOST), (_M_MMAP_THRESHOLD, _MOST))]
    return all(taken)
