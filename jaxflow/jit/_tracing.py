"""Whether a function runs as a trace."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from jaxflow._core.modes import Changed


class _Tracing(threading.local):
    """A thread's answer to `is_tracing`."""

    on = False


_tracing = _Tracing()


def is_tracing() -> bool:
    """Whether the code that calls this is being traced, or runs as part of what was traced.

    Returns:
        True inside a function or module that `trace` made, also while an archive of it is written; False
        elsewhere, also inside a function that `jaxflow.compile` runs.

    Example:
        >>> def double(x):
        ...     return x if torch.jit.is_tracing() else 2 * x
        >>> torch.jit.trace(double, torch.ones(2), check_trace=False)(torch.ones(2))
        tensor([1., 1.])
        >>> double(torch.ones(2))
        tensor([2., 2.])
    """
    return _tracing.on


def as_trace(function: Callable, *args: Any, **kwargs: Any) -> Any:
    """What ``function`` returns where `is_tracing` is true."""
    return Changed(_tracing, on=True).run(function, *args, **kwargs)
