"""Work done beside the program's own thread: compiling what will be needed."""

from __future__ import annotations

import _thread
import atexit
import contextlib
import queue
import threading
from collections.abc import Callable
from typing import Any


class Job:
    """A call made in the background; ``result`` waits for it and returns or raises what it did.

    One that was ``dropped`` is made by who wants its result.
    """

    __slots__ = ("call", "done", "dropped", "error", "value")

    def __init__(self, call: Callable[[], Any]) -> None:
        self.call: Callable[[], Any] | None = call
        self.done = threading.Event()
        self.dropped = False
        self.value: Any = None
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            self.value = self.call()
        except BaseException as error:  # noqa: BLE001 - `result` raises it
            self.error = error
        finally:
            self.call = None
            self.done.set()

    def result(self) -> Any:
        if self.dropped:
            with _lock:
                if not self.done.is_set():
                    self.run()
        self.done.wait()
        if self.error is not None:
            raise self.error
        return self.value


_jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
_lock = threading.RLock()
_worker: threading.Thread | None = None
_ending = False
_idle = threading.Event()  # whether the worker makes no call
_idle.set()
# All threads that Python started; `threading` lists only its own, and keeps those of C that are over.
_started = _thread._count


def submit(call: Callable[[], Any]) -> Job:
    """Have ``call`` made by the one worker, after what was submitted before; where the process ends, at once
    when its result is wanted."""
    global _worker
    job = Job(call)
    with _lock:
        if _ending:
            job.dropped = True
            return job
        if _worker is None:
            _worker = threading.Thread(target=_work, name="jaxflow-compile", daemon=True)
            _worker.start()
            # A thread caught inside XLA when the interpreter ends aborts the process.
            atexit.register(stop)
    _jobs.put(job)
    return job


def alone() -> bool:
    """Whether the caller's is Python's only thread, but for the one that compiles."""
    others = _started()
    return not others or (others == 1 and _worker is not None and _worker.is_alive())


def _work() -> None:
    while (job := _jobs.get()) is not None:
        _idle.clear()
        try:
            job.run()
        finally:
            _idle.set()


def busy() -> bool:
    """Whether a call is being made."""
    return _worker is not None and _worker.is_alive() and not _idle.is_set()


def drop() -> None:
    """Drop what has not begun, and take nothing more, as the process ends and nobody waits any more."""
    global _ending
    with _lock:
        _ending = True
        with contextlib.suppress(queue.Empty):  # the worker takes from it meanwhile
            while True:
                job = _jobs.get_nowait()
                if job is not None:
                    job.dropped = True
        _jobs.put(None)


def stop() -> None:
    """Drop what has not begun, and wait for what has."""
    drop()
    _worker.join()
