"""What a run is within: NumPy is silent, and its BLAS uses one thread.

NOTE [One thread for products]
    OpenBLAS's threads wait for each other by spinning. Where another thread has the core, and XLA compiling
    in the background is one, a product of 0.1 ms waits for the scheduler, for tens of milliseconds. Programs
    whose products are large enough to gain from threads are compiled anyway. The number of threads belongs to
    the process, so it is put back when the last run ends.
"""

from __future__ import annotations

import ctypes
import os
import pathlib
import threading

import numpy as np

_PREFIXES, _SUFFIXES = ("scipy_openblas", "openblas"), ("64_", "")


def _library():
    """``(get, set)`` of the OpenBLAS that came with NumPy, or None."""
    home = pathlib.Path(np.__file__).parent
    for folder in (home.parent / "numpy.libs", home / ".dylibs"):
        for path in sorted(folder.glob("*openblas*")):
            library = ctypes.CDLL(str(path))
            for prefix in _PREFIXES:
                for suffix in _SUFFIXES:
                    names = [f"{prefix}_{verb}_num_threads{suffix}" for verb in ("get", "set")]
                    if all(hasattr(library, name) for name in names):
                        return tuple(getattr(library, name) for name in names)
    return None


class _Threads:
    """Counts the runs that are under way."""

    def __init__(self) -> None:
        self.library = _library()
        self.begin_again()
        if hasattr(os, "register_at_fork"):  # not on Windows
            os.register_at_fork(after_in_child=self.begin_again)

    def begin_again(self) -> None:
        """No run is under way: so it is at first, and in a child process."""
        self.lock = threading.Lock()
        if self.library is not None and getattr(self, "runs", 0):
            self.library[1](self.usual)
        self.runs = 0
        self.usual = 1

    def enter(self) -> None:
        with self.lock:
            self.runs += 1
            if self.runs == 1 and self.library is not None:
                get, put = self.library
                self.usual = get()
                if self.usual > 1:
                    put(1)

    def leave(self) -> None:
        with self.lock:
            self.runs -= 1
            if self.runs == 0 and self.usual > 1:
                self.library[1](self.usual)


_threads = _Threads()


class interpreting:  # noqa: N801 - reads like the context managers beside it
    """A context for any number of ``run.bare``: NumPy does not warn, and its BLAS uses one thread.

    See NOTE [One thread for products]. It may be entered by several threads at once, and nested.
    """

    __slots__ = ("errors",)

    def __enter__(self) -> None:
        _threads.enter()
        self.errors = np.errstate(all="ignore")
        self.errors.__enter__()

    def __exit__(self, *_) -> None:
        self.errors.__exit__(None, None, None)
        _threads.leave()
