"""Where a new tensor is to lie: its device, its layout, its memory."""

from __future__ import annotations

from typing import Any

from jaxflow._core import device as devices
from jaxflow._core.layout import strided
from jaxflow._core.warning import warn_once


def device_of(device: Any) -> devices.device:
    """A ``device=`` argument as a device; the default device for None."""
    return devices.get_default_device() if device is None else devices.resolve(device)[0]


def need_memory(name: str, layout: Any, pin_memory: Any, device: Any, out: Any = None) -> None:
    """Refuse the layouts that there are not, and pinned memory where there is nothing to pin it for.

    Args:
        name: the factory's.
        layout: as it was given.
        pin_memory: as it was given; with an accelerator of no effect, for XLA manages transfers.
        device: where the new tensor goes; None for the default device.
        out: the tensor that is filled instead, whose memory is there.

    Raises:
        NotImplementedError: for another layout than ``torch.strided``.
        TypeError: if ``pin_memory`` is no bool.
        RuntimeError: for ``pin_memory`` on the host where there is no accelerator.
    """
    if layout is not None and layout is not strided:
        raise NotImplementedError(
            f"{name}(): layout {layout} is not supported; jaxflow has torch.strided tensors only"
        )
    if pin_memory is not False and pin_memory is not None:
        if pin_memory is not True:
            given = type(pin_memory)
            of = "" if given.__module__ == "builtins" else f"{given.__module__}."
            raise TypeError(f"{name}(): argument 'pin_memory' must be bool, not {of}{given.__name__}")
        if device_of(device).type == "cpu" and out is None and devices.accelerator() is None:
            raise RuntimeError(
                "pin_memory=True requires a CUDA or other accelerator backend; no pinned memory allocator "
                "is available on this system.")


def need_accelerator(name: str, where: devices.device, device: Any) -> None:
    """Refuse to pin a ``name`` that lies ``where``, for a ``device`` or the accelerator. RuntimeError."""
    if where.type != "cpu":
        raise RuntimeError(f"cannot pin memory of {where.type}: only dense CPU tensors can be pinned")
    if device is not None:
        warn_device(f"{name}.pin_memory")
        if devices.device(device).type == "cpu":
            raise RuntimeError("CPU device type not an accelerator.")
    if devices.accelerator() is None:
        raise RuntimeError("Cannot access accelerator device when none is available.")


def warn_device(name: str) -> None:
    """Say that the method ``name`` will not take a device any more."""
    warn_once(f"The argument 'device' of {name}() is deprecated. Please do not pass this argument.",
              DeprecationWarning)
