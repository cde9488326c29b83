"""Intel's GPUs, which jaxflow cannot use: queries say so, other uses are refused."""

from __future__ import annotations


def is_available() -> bool:
    """False."""
    return False


def is_initialized() -> bool:
    """False."""
    return False


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """False: there is no device."""
    return False


def device_count() -> int:
    """None are to be had."""
    return 0


def is_current_stream_capturing() -> bool:
    """False: there is no stream."""
    return False


def manual_seed(seed: int) -> None:
    """Nothing to do: there is no device with a stream of its own."""


manual_seed_all = manual_seed


def empty_cache() -> None:
    """Nothing to do."""


def _nothing(name: str) -> None:
    def call(device: object = None) -> int:
        return 0

    call.__name__ = call.__qualname__ = name
    call.__doc__ = "0 bytes: there is no device."
    globals()[name] = call


for _name in ("memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved"):
    _nothing(_name)


def _refused(name: str) -> None:
    def call(*args: object, **kwargs: object) -> None:
        raise AssertionError("Torch not compiled with XPU enabled")

    call.__name__ = call.__qualname__ = name
    call.__doc__ = "Raises AssertionError: there is no such device."
    globals()[name] = call


for _name in ("synchronize", "current_device", "set_device", "get_device_name", "get_device_properties",
              "get_device_capability", "reset_peak_memory_stats", "mem_get_info", "current_stream"):
    _refused(_name)
