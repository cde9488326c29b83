"""Whether functions can be compiled."""

from __future__ import annotations

from typing import Any

from jaxflow._core.device import device


def is_compile_supported(device_type: Any) -> bool:
    """Whether `jaxflow.compile` compiles for a type of devices: for the CPU, and for what JAX has.

    Args:
        device_type: its name, or a device.

    Returns:
        A bool.

    Raises:
        RuntimeError: for a name that is no type of devices.

    Example:
        >>> torch._dynamo.utils.is_compile_supported("cpu")
        True
    """
    return device(device_type).type in ("cpu", "cuda", "tpu")
