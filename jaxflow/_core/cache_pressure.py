"""Room for programs: what keeps a process that compiles without end alive.

NOTE [Room for programs]
    A compiled program takes several memory mappings (four to ten on the CPU), and Linux allows a process
    some 65,000. Where XLA gets no more of them it ends the process. So now and then, as plans and programs
    are made, the mappings are counted; beyond a share of what is allowed all compiled programs are
    forgotten. What is still needed is compiled again, most of it from the cache on disk.
"""

from __future__ import annotations

import pathlib
from collections.abc import Callable

import jax

from jaxflow._core import heap

#: What forgets the programs that others than jax keep.
on_forget: list[Callable[[], None]] = []

_MAPPINGS = pathlib.Path("/proc/self/maps")
_LIMIT = pathlib.Path("/proc/sys/vm/max_map_count")
_SHARE = 0.6
_EVERY = 200  # counting takes some milliseconds

_made = 0


def made() -> None:
    """A plan or a program was made: see whether there is room for more."""
    global _made
    _made += 1
    if _made % _EVERY == 0 and _crowded():
        forget()


def mappings() -> int:
    """How many memory mappings this process has; 0 where nobody counts them."""
    if not _MAPPINGS.exists():
        return 0
    with _MAPPINGS.open("rb") as lines:
        return sum(1 for _ in lines)


def _crowded() -> bool:
    return _LIMIT.exists() and mappings() > _SHARE * int(_LIMIT.read_text())


def forget() -> None:
    """Forget all compiled programs; those that run at this moment end as usual."""
    for clear in on_forget:
        clear()
    jax.clear_caches()
    heap.hand_back()
