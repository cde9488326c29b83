"""What a run is within: NumPy is silent, and its BLAS uses one thread.

NOTE [One thread for products]
    OpenBLAS's threads wait for each other by spinning. Where another thread has the core, and XLA compiling
    in the background is one, a product of 0.1 ms waits for the scheduler, for tens of milliseconds. Programs
    whose products are large enough to gain from threads are compiled anyway. The number of threads belongs to
    the process, so it is put back when the last run ends. That is done through threadpoolctl where it is
    installed; without it BLAS is left alone.
"""

from __future__ import annotations

import contextlib
import os
import threading
import weakref

import numpy as np

try:
    import threadpoolctl
except ImportError:
    threadpoolctl = None


def _libraries() -> list:
    """The BLAS libraries that are loaded, as threadpoolctl's controllers; none without it."""
    if threadpoolctl is None:
        return []
    return threadpoolctl.ThreadpoolController().select(user_api="blas").lib_controllers


class _Threads:
    """Knows the runs that are under way. One that an interrupt cut off is over when nobody refers to it."""

    def __init__(self) -> None:
        self.libraries = _libraries()
        self.usual: list[int] = []  # threads of each outside of runs
        self.begin_again()
        if hasattr(os, "register_at_fork"):  # not on Windows
            os.register_at_fork(after_in_child=self.begin_again)

    def begin_again(self) -> None:
        """No run is under way: so it is at first, and in a child process."""
        self.lock = threading.RLock()
        self.runs: dict[int, weakref.ref] = {}
        self._put_back()

    def _put_back(self) -> None:
        for library, threads in zip(self.libraries, self.usual):
            library.set_num_threads(threads)
        self.usual = []

    def enter(self, run: interpreting) -> None:
        key = id(run)
        with self.lock:
            self.runs[key] = weakref.ref(run, lambda _: self.leave(key))
            if len(self.runs) == 1:
                usual = [library.get_num_threads() for library in self.libraries]
                if any(threads > 1 for threads in usual):
                    self.usual = usual
                    for library in self.libraries:
                        library.set_num_threads(1)

    def leave(self, key: int) -> None:
        with self.lock:
            if self.runs.pop(key, None) is not None and not self.runs and self.usual:
                self._put_back()


_threads = _Threads()


class interpreting:  # noqa: N801 - reads like the context managers beside it
    """A context for any number of ``run.bare``: NumPy does not warn, and its BLAS uses one thread.

    See NOTE [One thread for products]. It may be entered by several threads at once, and nested.
    """

    __slots__ = ("__weakref__", "errors")

    def __enter__(self) -> None:
        _threads.enter(self)
        self.errors = np.errstate(all="ignore")
        try:
            self.errors.__enter__()
        except BaseException:  # an interrupt, when it had been entered, or before
            with contextlib.suppress(TypeError):  # NumPy's, where it had not
                self.errors.__exit__(None, None, None)
            raise

    def __exit__(self, *_) -> None:
        self.errors.__exit__(None, None, None)
        _threads.leave(id(self))
