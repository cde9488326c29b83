"""How many threads compute: programs may set the number and read it back, but XLA decides."""

from __future__ import annotations

import os

from jaxflow._publish.composite import composite


def _available() -> int:
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


_asked: dict[str, int] = {}


def _set(name: str, num: int) -> None:
    if isinstance(num, bool) or not isinstance(num, int):
        raise RuntimeError(f"{name} expects an int, but got {type(num).__name__}")
    if num <= 0:
        raise RuntimeError(f"{name} expects a positive integer")
    _asked[name] = num


@composite("function", checks=False)
def set_num_threads(num: int, /) -> None:
    """Accepted and remembered; XLA keeps its own pool of one thread a core, fixed at start.

    To compute with fewer cores, limit the process (``taskset``, a container) before it starts.

    Args:
        num: a number of threads, at least one; `get_num_threads` says it from then on.

    Returns:
        None.

    Raises:
        RuntimeError: for what is no int, and for a number below one.

    Example:
        >>> before = torch.get_num_threads()
        >>> torch.set_num_threads(3)
        >>> torch.get_num_threads()
        3
        >>> torch.set_num_threads(before)
    """
    _set("set_num_threads", num)


@composite("function")
def get_num_threads() -> int:
    """What ``set_num_threads`` was given last, at first the number of cores of this process."""
    return _asked.get("set_num_threads") or _available()


@composite("function", checks=False)
def set_num_interop_threads(num: int, /) -> None:
    """Accepted and remembered, as ``set_num_threads`` is. Raises as that does."""
    _set("set_num_interop_threads", num)


@composite("function")
def get_num_interop_threads() -> int:
    """What ``set_num_interop_threads`` was given last, at first the number of cores of this process."""
    return _asked.get("set_num_interop_threads") or _available()
