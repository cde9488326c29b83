"""PyTorch's interface to the CPU, for programs that work on any device."""

from __future__ import annotations

import importlib as _importlib
from contextlib import AbstractContextManager
from typing import Any


def is_available() -> bool:
    """True."""
    return True


def is_initialized() -> bool:
    """True."""
    return True


def device_count() -> int:
    """The number of CPUs that PyTorch counts: one."""
    return 1


def current_device() -> str:
    """The name of the device."""
    return "cpu"


def set_device(device: Any) -> None:
    """Nothing to do: there is one."""


def synchronize(device: Any = None) -> None:
    """Nothing to do: what is read is waited for."""


class Stream:
    """A stream of a CPU, whose work is in order anyhow.

    Args:
        priority: of no consequence.
    """

    def __init__(self, priority: int = -1) -> None:
        pass

    def wait_stream(self, stream: object) -> None:
        """Nothing to do: work is in order."""

    def record_event(self) -> None:
        """Nothing to do: work is in order."""

    def wait_event(self, event: object) -> None:
        """Nothing to do: work is in order."""


class Event:
    """A point in the work of a CPU, which is always reached."""

    def query(self) -> bool:
        """True."""
        return True

    def record(self, stream: object = None) -> None:
        """Nothing to do: work is in order."""

    def synchronize(self) -> None:
        """Nothing to do: work is in order."""

    def wait(self, stream: object = None) -> None:
        """Nothing to do: work is in order."""


class StreamContext:
    """Inside, work is done in order, as everywhere."""

    def __init__(self, stream: Stream | None) -> None:
        self.stream = stream

    def __enter__(self) -> None:
        pass

    def __exit__(self, *raised: object) -> None:
        pass


def stream(stream: Stream | None) -> AbstractContextManager:
    """A context that changes nothing: work is in order.

    Args:
        stream: a `Stream`, or None.

    Example:
        >>> with torch.cpu.stream(torch.cpu.current_stream()):
        ...     torch.ones(2) + 1
        tensor([2., 2.])
    """
    return StreamContext(stream)


def current_stream(device: Any = None) -> Stream:
    """The order of the CPU's work, a `Stream`."""
    return Stream()


def __getattr__(name: str) -> object:
    """The module `amp`, which is loaded when it is first used."""
    if name == "amp":
        return _importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
