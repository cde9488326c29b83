"""Whatever accelerator jax sees, by one set of names."""

from __future__ import annotations

from typing import Any

import jax

from ._core import device as _devices
from ._exec.run import flush


def is_available() -> bool:
    """Whether there is an accelerator."""
    return _devices.accelerator() is not None


def device_count() -> int:
    """How many devices the accelerator has; 0 without one."""
    return len(jax.devices()) if is_available() else 0


def current_accelerator(check_available: bool = False) -> _devices.device | None:
    """The accelerator as a device without a number; None without one."""
    kind = _devices.accelerator()
    return None if kind is None else _devices.device(kind)


def _need() -> str:
    kind = _devices.accelerator()
    if kind is None:
        raise RuntimeError("Cannot access accelerator device when none is available.")
    return kind


def current_device_index() -> int:
    """The number of the device that new tensors go to. RuntimeError without an accelerator."""
    kind, chosen = _need(), _devices.get_default_device()
    return chosen.index or 0 if chosen.type == kind else 0


current_device_idx = current_device_index


def set_device_index(device: Any, /) -> None:
    """Let new tensors go to a device of the accelerator, by number or name. RuntimeError without one."""
    kind = _need()
    _devices.set_default_device(f"{kind}:{device}" if isinstance(device, int) else device)


set_device_idx = set_device_index


def synchronize(device: Any = None, /) -> None:
    """Hand over what was recorded and wait for it. RuntimeError without an accelerator."""
    _need()
    flush()
    for one in jax.devices():
        (jax.device_put(0.0, one) + 0).block_until_ready()


def empty_cache() -> None:
    """Nothing to do: XLA's allocator keeps the memory it has. RuntimeError without an accelerator."""
    _need()


def _statistic(name: str, key: str, doc: str) -> None:
    def ask(device_index: Any = None, /) -> int:
        _need()
        index = device_index if isinstance(device_index, int) else current_device_index()
        return (jax.devices()[index].memory_stats() or {}).get(key, 0)

    ask.__name__ = ask.__qualname__ = name
    ask.__doc__ = f"{doc} RuntimeError without an accelerator."
    globals()[name] = ask


_statistic("memory_allocated", "bytes_in_use", "Bytes that arrays take on a device now.")
_statistic("max_memory_allocated", "peak_bytes_in_use", "The most bytes that arrays took on a device.")
_statistic("memory_reserved", "pool_bytes", "Bytes that XLA holds on a device.")
