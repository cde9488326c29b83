"""Streams and events of GPUs, for programs that order their work by hand.

XLA runs what it is handed in the order in which it is handed over, so work is always ordered as streams and
waits would have it, and all streams are one.
"""

from __future__ import annotations

import time
from typing import Any

from ._gpus import gpus, index_of, needed, synchronize


class Stream:
    """The order of a GPU's work. RuntimeError where there is no GPU.

    Args:
        device: the GPU; default the current one.
        priority: of no consequence.
    """

    def __init__(self, device: Any = None, priority: int = 0, **kwargs: Any) -> None:
        if not gpus():
            raise RuntimeError("torch.cuda.Stream requires CUDA support")
        self.device_index = index_of(device)
        self.priority = priority

    def synchronize(self) -> None:
        """Wait until the GPU has done what was handed to it."""
        synchronize()

    def query(self) -> bool:
        """True, once the GPU has done what was handed to it."""
        self.synchronize()
        return True

    def wait_stream(self, stream: Stream) -> None:
        """Nothing to do: work is ordered."""

    def wait_event(self, event: Event) -> None:
        """Nothing to do: work is ordered."""

    def record_event(self, event: Event | None = None) -> Event:
        """Record ``event``, or a new one."""
        event = Event() if event is None else event
        event.record(self)
        return event


class Event:
    """A point in a GPU's work, recorded by waiting for it.

    Args:
        enable_timing: whether `elapsed_time` may be called.
        blocking: of no consequence.
        interprocess: of no consequence.
        external: of no consequence.
    """

    def __init__(self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False,
                 external: bool = False) -> None:
        if not gpus():
            raise RuntimeError("torch.cuda.Event requires CUDA support")
        self.enable_timing = enable_timing
        self._at: float | None = None

    def record(self, stream: Stream | None = None) -> None:
        """Wait until the GPU has done what was handed to it, and note the time."""
        synchronize()
        self._at = time.perf_counter()

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds from this event to ``end_event``. RuntimeError unless both were recorded for that."""
        if not (self.enable_timing and end_event.enable_timing):
            raise RuntimeError("Both events must be created with argument 'enable_timing=True'.")
        if self._at is None or end_event._at is None:
            raise RuntimeError("Both events must be recorded before calculating elapsed time.")
        return 1e3 * (end_event._at - self._at)

    def query(self) -> bool:
        """True: what was recorded was waited for."""
        return True

    def synchronize(self) -> None:
        """Nothing to do: what was recorded was waited for."""

    def wait(self, stream: Stream | None = None) -> None:
        """Nothing to do: work is ordered."""


class StreamContext:
    """Inside, work is handed to ``stream``, as everywhere."""

    def __init__(self, stream: Stream | None) -> None:
        self.stream = stream

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: Any) -> None:
        pass


def stream(stream: Stream | None) -> StreamContext:
    """A context in which work is handed to ``stream``: of no consequence, since all are one.

    Args:
        stream: a `Stream`, or None.

    Returns:
        A context manager that changes nothing.

    Example:
        >>> with torch.cuda.stream(None):
        ...     torch.ones(2) + 1
        tensor([2., 2.])
    """
    return StreamContext(stream)


def current_stream(device: Any = None) -> Stream:
    """The order of a GPU's work. AssertionError where there is no GPU.

    Args:
        device: a number, a ``torch.device`` or a string such as ``"cuda:1"``; None for the current GPU.

    Returns:
        A new `Stream`; all streams of a GPU are one.

    Raises:
        AssertionError: where there is no GPU, or none of that number.
        ValueError: for a device that is no GPU.

    Example:
        >>> torch.cuda.current_stream().query() if torch.cuda.is_available() else True
        True
    """
    needed()
    return Stream(device)


default_stream = current_stream
