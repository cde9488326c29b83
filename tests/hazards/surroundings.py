"""What a run happens in: an executor, a thread of its own, no garbage collection; and what a deadlock is."""

from __future__ import annotations

import contextlib
import gc
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import jaxflow as torch
from jaxflow._core import flags
from jaxflow.compiler import _capture, _steady

# A run takes milliseconds, or a compilation. A time in which the process hardly computes tells a deadlock,
# a loop without end by what it has computed: neither says anything false where the machine is busy.
PATIENCE = 15.0  # seconds
AT_WORK = 0.5  # seconds of CPU time in that time
ENDLESS = 120.0  # seconds of CPU time


def _nobody_else() -> bool:
    return True


class Hung(Exception):
    """A thread did not come to an end: it waits for a lock that nobody will release, or repeats itself."""


@contextlib.contextmanager
def executing(mode: str, *, beside: bool = False) -> Iterator[None]:
    """The executor of a mode; ``compiled`` and ``compile`` are the deferred one with nothing interpreted.

    Without others ``beside`` it, the caller's compiled calls take the way that they take where there is no
    other thread; the one that waits for it looks at nothing.
    """
    interpret, flags.INTERPRET = flags.INTERPRET, mode == "deferred"
    alone = _steady.alone
    if not beside:
        _steady.alone = _capture.alone = _nobody_else
    try:
        with torch.execution("eager" if mode == "eager" else "deferred"):
            yield
    finally:
        flags.INTERPRET = interpret
        _steady.alone = _capture.alone = alone


def in_thread(function: Callable, *arguments: Any) -> Any:
    """Call in a thread of its own, so that what a thread owns (modes, pending operations) is always fresh."""
    result, failure = [], []

    def run() -> None:
        try:
            result.append(function(*arguments))
        except BaseException as error:
            failure.append(error)

    thread = threading.Thread(target=run, daemon=True)
    begun = spent = time.process_time()
    thread.start()
    thread.join(PATIENCE)
    while thread.is_alive():
        before, spent = spent, time.process_time()
        if spent - before < AT_WORK or spent - begun > ENDLESS:
            raise Hung(_waiting_at(thread))
        thread.join(PATIENCE)
    if failure:
        raise failure[0]
    return result[0]


def _waiting_at(thread: threading.Thread) -> str:
    frame = sys._current_frames().get(thread.ident)
    shown = traceback.extract_stack(frame)[-4:] if frame is not None else []
    return " < ".join(f"{at.name} {os.path.basename(at.filename)}:{at.lineno}" for at in shown[::-1])


@contextlib.contextmanager
def quiet() -> Iterator[list[str]]:
    """No garbage collection, and a list of the exceptions that Python ignores: those of finalizers."""
    ignored: list[str] = []
    hook, sys.unraisablehook = sys.unraisablehook, lambda u: ignored.append(u.exc_type.__name__)
    gc.disable()
    try:
        yield ignored
    finally:
        gc.enable()
        sys.unraisablehook = hook
