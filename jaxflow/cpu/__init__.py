"""PyTorch's interface to the CPU, for programs that work on any device."""

from __future__ import annotations

import importlib as _importlib
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


def __getattr__(name: str) -> object:
    """The module `amp`, which is loaded when it is first used."""
    if name == "amp":
        return _importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
