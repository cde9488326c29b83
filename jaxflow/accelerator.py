"""Whatever accelerator jax sees, by one set of names."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from typing import Any

import jax

from ._core import device as _devices
from ._exec.waiting import wait_for
from ._streams import Stream


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
    wait_for(jax.devices())


def empty_cache() -> None:
    """Nothing to do: XLA's allocator keeps the memory it has. RuntimeError without an accelerator."""
    _need()


def empty_host_cache() -> None:
    """Nothing to do: XLA's allocator keeps the memory it has. RuntimeError without an accelerator."""
    _need()


def _index(device: Any) -> int:
    """The number of a device of the accelerator, given by number or name. RuntimeError for another."""
    kind = _need()
    if device is None or isinstance(device, int):
        return current_device_index() if device is None else device
    found = _devices.device(device)
    if found.type != kind:
        raise RuntimeError(f"{found.type} doesn't match the current accelerator {kind}.")
    return current_device_index() if found.index is None else found.index


class device_index:  # noqa: N801 - PyTorch's name
    """Make a device of the accelerator the current one inside a block; nothing for None.

    Args:
        device: its number, or None.
    """

    def __init__(self, device: int | None, /) -> None:
        self.idx = device
        self._before = 0

    def __enter__(self) -> None:
        if self.idx is not None:
            self._before = current_device_index()
            set_device_index(self.idx)

    def __exit__(self, *raised: object) -> None:
        if self.idx is not None:
            set_device_index(self._before)


def current_stream(device: Any = None, /) -> Stream:
    """The order of a device's work, a `torch.Stream`. RuntimeError without an accelerator."""
    return Stream(_devices.device(_need(), _index(device)))


def set_stream(stream: Stream) -> None:
    """Hand work to ``stream`` from now on: of no consequence, since all streams of a device are one.

    Raises:
        RuntimeError: without an accelerator.
    """
    _need()


def _counted(device: Any) -> dict[str, int]:
    return jax.devices()[_index(device)].memory_stats() or {}


def memory_stats(device_index: Any = None, /) -> OrderedDict[str, Any]:
    """What XLA's allocator counts on a device, by its own names. RuntimeError without an accelerator."""
    return OrderedDict(sorted(_counted(device_index).items()))


def get_memory_info(device_index: Any = None, /) -> tuple[int, int]:
    """Bytes that XLA may still take on a device, and all it may. RuntimeError without an accelerator."""
    found = _counted(device_index)
    total = int(found.get("bytes_limit", 0))
    return total - int(found.get("bytes_in_use", 0)), total


def _statistic(name: str, key: str, doc: str) -> None:
    def count(device_index: Any = None, /) -> int:
        return _counted(device_index).get(key, 0)

    count.__name__ = count.__qualname__ = name
    count.__doc__ = f"{doc} RuntimeError without an accelerator."
    globals()[name] = count


for _row in (
    ("memory_allocated", "bytes_in_use", "Bytes that arrays take on a device now."),
    ("max_memory_allocated", "peak_bytes_in_use", "The most bytes that arrays took on a device."),
    ("memory_reserved", "pool_bytes", "Bytes that XLA holds on a device."),
    ("max_memory_reserved", "peak_pool_bytes", "The most bytes that XLA held on a device."),
):
    _statistic(*_row)


def _kept(name: str, what: str) -> None:
    def reset(device_index: Any = None, /) -> None:
        _index(device_index)
        warnings.warn(f"XLA counts {what} from the start of the process: {name}() changes nothing",
                      stacklevel=2)

    reset.__name__ = reset.__qualname__ = name
    reset.__doc__ = f"Only warns: XLA counts {what} of the process. RuntimeError without an accelerator."
    globals()[name] = reset


for _row in (("reset_peak_memory_stats", "the peak of memory"),
             ("reset_accumulated_memory_stats", "allocations")):
    _kept(*_row)
