"""``torch.Stream`` and ``torch.Event``, of any kind of device: the order of its work, and a point in it.

XLA runs what it is handed in the order in which it is handed over, so work is ordered as streams and waits
would have it, and all streams of a device are one.
"""

from __future__ import annotations

import time
from typing import Any

import jax

from ._core import device as _devices
from ._exec.waiting import wait_for

__all__ = ["Event", "Stream"]


def _device_of(given: Any) -> _devices.device:
    """The device that is meant: the accelerator, or the CPU where there is none."""
    kind = _devices.accelerator()
    found = _devices.device(given if given is not None else kind or "cpu")
    if found.type not in ("cpu", "meta", kind):
        raise RuntimeError(f"There are no {found.type} devices here")
    return found


def _wait_for(device: _devices.device) -> None:
    """Until what was handed to the device is done."""
    wait_for(() if device.type in ("cpu", "meta") else jax.devices())


def _refuse_events(device: _devices.device) -> None:
    """PyTorch's CPUs have no events; nor have they here."""
    if device.type in ("cpu", "meta"):
        raise RuntimeError(f"{device.type} backend doesn't support events.")


class Stream:
    """The order of a device's work. As a context it changes nothing, as all streams are one.

    Args:
        device: the device; the accelerator by default, or the CPU where there is none.
        priority: of no consequence.

    Raises:
        RuntimeError: for a device that is not there.

    Example:
        >>> stream = torch.Stream("cpu")
        >>> stream.synchronize(), stream.query(), stream.device
        (None, True, device(type='cpu'))
    """

    def __init__(self, device: Any = None, *, priority: int = 0) -> None:
        self.device = _device_of(device)
        self.priority = priority
        self.stream_id = 0

    @property
    def device_index(self) -> int:
        """The number of the device; -1 for the CPU."""
        return -1 if self.device.index is None else self.device.index

    def synchronize(self) -> None:
        """Wait until the device has done what was handed to it."""
        _wait_for(self.device)

    def query(self) -> bool:
        """True, once the device has done what was handed to it."""
        self.synchronize()
        return True

    def wait_stream(self, other: Stream) -> None:
        """Nothing to do: work is ordered. RuntimeError on a CPU, which has no events."""
        _refuse_events(self.device)

    def wait_event(self, event: Event) -> None:
        """Nothing to do: work is ordered."""

    def record_event(self, event: Event | None = None) -> Event:
        """Record ``event``, or a new one. RuntimeError on a CPU, which has no events."""
        event = Event(self.device) if event is None else event
        event.record(self)
        return event

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *raised: object) -> None:
        """Work goes on as before."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and self.device == other.device

    def __hash__(self) -> int:
        return hash(self.device)

    def __repr__(self) -> str:
        return (f"torch.Stream device_type={self.device.type}, device_index={self.device_index}, "
                f"stream_id={self.stream_id}")


class Event:
    """A point in a device's work, recorded by waiting for it.

    Args:
        device: the device; the accelerator by default, or the CPU where there is none.
        enable_timing: whether `elapsed_time` may be called.
        blocking: of no consequence.
        interprocess: of no consequence.

    Raises:
        RuntimeError: for a device that is not there; by `record` on a CPU.

    Example:
        >>> torch.Event("cpu").query()
        True
    """

    def __init__(self, device: Any = None, *, enable_timing: bool = False, blocking: bool = False,
                 interprocess: bool = False) -> None:
        self.device = _device_of(device)
        self.enable_timing = enable_timing
        self.event_id = 0
        self._at: float | None = None

    def record(self, stream: Stream | None = None) -> None:
        """Wait until the device has done what was handed to it, and note the time."""
        _refuse_events(self.device)
        _wait_for(self.device)
        self._at = time.perf_counter()

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds from this event to ``end_event``. ValueError unless both were recorded for that."""
        if not (self.enable_timing and end_event.enable_timing):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        if self._at is None or end_event._at is None:
            raise ValueError("Both events must be recorded before calculating elapsed time.")
        return 1e3 * (end_event._at - self._at)

    def query(self) -> bool:
        """True: what was recorded was waited for."""
        return True

    def synchronize(self) -> None:
        """Nothing to do: what was recorded was waited for."""

    def wait(self, stream: Stream | None = None) -> None:
        """Nothing to do: work is ordered."""

    def __repr__(self) -> str:
        index = -1 if self.device.index is None else self.device.index
        return (f"torch.Event device_type={self.device.type}, device_index={index}, "
                f"event_flag={int(self.enable_timing)}, event_id={self.event_id}")
