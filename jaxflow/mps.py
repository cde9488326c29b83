"""Apple's GPUs, which jaxflow cannot use: queries say so, other uses are refused."""

from __future__ import annotations


def is_available() -> bool:
    """False."""
    return False


def device_count() -> int:
    """None are to be had."""
    return 0


def manual_seed(seed: int) -> None:
    """Nothing to do: there is no device with a stream of its own."""


def _refused(name: str, inner: str) -> None:
    def call() -> None:
        raise RuntimeError(f"Cannot execute {inner}() without MPS backend.")

    call.__name__ = call.__qualname__ = name
    call.__doc__ = "Raises RuntimeError: there is no such device."
    globals()[name] = call


for _name, _inner in (
    ("synchronize", "deviceSynchronize"),
    ("empty_cache", "emptyCache"),
    ("current_allocated_memory", "getCurrentAllocatedMemory"),
    ("driver_allocated_memory", "getDriverAllocatedMemory"),
    ("recommended_max_memory", "getRecommendedMaxMemory"),
):
    _refused(_name, _inner)
