"""Named ranges of a program, which profilers of GPUs show: those of ``jax.profiler``."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

import jax

from ._gpus import gpus


class _Open(threading.local):
    """The ranges that a thread is in."""

    def __init__(self) -> None:
        self.ranges: list = []


_open = _Open()


def _needed() -> None:
    if not gpus():
        raise RuntimeError("NVTX functions not installed. Are you sure you have a CUDA build?")


def range_push(msg: str) -> int:
    """Begin a range of this name, inside those that are open. RuntimeError without a GPU.

    Args:
        msg: the name.

    Returns:
        How many ranges were open before.
    """
    _needed()
    begun = jax.profiler.TraceAnnotation(msg)
    begun.__enter__()
    _open.ranges.append(begun)
    return len(_open.ranges) - 1


def range_pop() -> int:
    """End the range that was begun last. RuntimeError without a GPU.

    Returns:
        How many ranges are still open; -1 where none was.
    """
    _needed()
    if not _open.ranges:
        return -1
    _open.ranges.pop().__exit__(None, None, None)
    return len(_open.ranges)


def mark(msg: str) -> None:
    """Show a name at this moment. RuntimeError without a GPU."""
    _needed()
    with jax.profiler.TraceAnnotation(msg):
        pass


@contextlib.contextmanager
def range(msg: str, *args: Any, **kwargs: Any) -> Iterator[None]:  # noqa: A001 - PyTorch's name
    """A block as a range; ``msg.format(*args, **kwargs)`` is its name. RuntimeError without a GPU."""
    range_push(msg.format(*args, **kwargs))
    try:
        yield
    finally:
        range_pop()
