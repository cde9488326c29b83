"""Whether a module is being exported."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from jaxflow._core.modes import Changed


class _Exporting(threading.local):
    """A thread's answer to `is_exporting`."""

    on = False


_exporting = _Exporting()


def is_exporting() -> bool:
    """Whether the caller runs because `jaxflow.export.export` makes a program of it."""
    return _exporting.on


def as_export(function: Callable, *args: Any, **kwargs: Any) -> Any:
    """What ``function`` returns where `is_exporting` is true."""
    return Changed(_exporting, on=True).run(function, *args, **kwargs)
