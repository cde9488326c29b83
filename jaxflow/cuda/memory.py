"""What memory the GPUs' arrays take."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from typing import Any

from ._gpus import gpus, index_of, needed


def empty_cache() -> None:
    """Accepted; XLA's allocator keeps its memory for the next program.

    Returns:
        None.

    Example:
        >>> torch.cuda.empty_cache()
    """


def _statistic(name: str, key: str, about: str) -> None:
    def call(device: object = None) -> int:
        there = gpus()
        return int((there[index_of(device)].memory_stats() or {}).get(key, 0)) if there else 0

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"""{about}; 0 where there is no GPU.

    Args:
        device: a number, a ``torch.device`` or its name (default: the current GPU).

    Returns:
        Bytes, as XLA's allocator counts them; 0 also where it does not count them.

    Raises:
        AssertionError: for the number of a GPU that is not there.
        ValueError: for a device that is no GPU, where there is a GPU.

    Example:
        >>> count = torch.cuda.{name}()
        >>> count >= 0 if torch.cuda.is_available() else count == 0
        True
    """
    globals()[name] = call


for _row in (
    ("memory_allocated", "bytes_in_use", "Bytes in use on the GPU now"),
    ("max_memory_allocated", "peak_bytes_in_use", "Peak bytes in use on the GPU so far"),
    ("memory_reserved", "pool_bytes", "Bytes that XLA's allocator holds"),
    ("max_memory_reserved", "peak_pool_bytes", "Peak bytes that XLA's allocator held so far"),
):
    _statistic(*_row)


def _renamed(old: str, new: str) -> None:
    def call(device: object = None) -> int:
        warnings.warn(f"`torch.cuda.{old}` has been renamed to `torch.cuda.{new}`", FutureWarning,
                      stacklevel=2)
        return globals()[new](device)

    call.__name__ = call.__qualname__ = old
    call.__doc__ = f"The older name of `{new}`."
    globals()[old] = call


for _row in (("memory_cached", "memory_reserved"), ("max_memory_cached", "max_memory_reserved")):
    _renamed(*_row)

#: What PyTorch calls what XLA's allocator counts.
_COUNTS = {
    "allocated_bytes.all.current": "bytes_in_use", "allocated_bytes.all.peak": "peak_bytes_in_use",
    "reserved_bytes.all.current": "pool_bytes", "reserved_bytes.all.peak": "peak_pool_bytes",
    "allocation.all.allocated": "num_allocs",
}


def memory_stats(device: object = None) -> dict[str, Any]:
    """What XLA's allocator counts on a GPU, by PyTorch's names; empty where there is no GPU.

    Args:
        device: a number, a ``torch.device`` or its name (default: the current GPU).

    Returns:
        A dict from names such as ``"allocated_bytes.all.current"`` to numbers; counts that XLA does not keep
        are not in it.

    Raises:
        AssertionError: for the number of a GPU that is not there.
        ValueError: for a device that is no GPU, where there is a GPU.
    """
    there = gpus()
    found = (there[index_of(device)].memory_stats() or {}) if there else {}
    return OrderedDict((name, int(found[key])) for name, key in sorted(_COUNTS.items()) if key in found)


def memory_stats_as_nested_dict(device: object = None) -> dict[str, Any]:
    """`memory_stats` as dicts in dicts, a level for each part of the names."""
    nested: dict[str, Any] = {}
    for name, count in memory_stats(device).items():
        *path, last = name.split(".")
        inner = nested
        for part in path:
            inner = inner.setdefault(part, {})
        inner[last] = count
    return nested


def memory_summary(device: object = None, abbreviated: bool = False) -> str:
    """`memory_stats` as lines of text. AssertionError without a GPU.

    Args:
        device: a number, a ``torch.device`` or its name (default: the current GPU).
        abbreviated: of no consequence: there are few counts.

    Returns:
        A heading, and a line for each count.
    """
    needed()
    lines = [f"{name:<32}{count:>20,}" for name, count in memory_stats(device).items()]
    return "\n".join((f"Memory of cuda:{index_of(device)}, as XLA's allocator counts it", *lines))


def mem_get_info(device: object = None) -> tuple[int, int]:
    """Bytes that XLA's allocator may still take on a GPU, and all it may. AssertionError without one."""
    found = needed()[index_of(device)].memory_stats() or {}
    total = int(found.get("bytes_limit", 0))
    return total - int(found.get("bytes_in_use", 0)), total


def reset_peak_memory_stats(device: object = None) -> None:
    """Only warns: XLA's peak is that of the whole process. AssertionError without a GPU.

    Args:
        device: not looked at.

    Returns:
        None.

    Raises:
        AssertionError: where there is no GPU.

    Example:
        >>> if torch.cuda.is_available():
        ...     torch.cuda.reset_peak_memory_stats()
        >>> torch.cuda.max_memory_allocated() >= torch.cuda.memory_allocated()
        True
    """
    needed()
    warnings.warn("XLA counts the peak of memory from the start of the process: max_memory_allocated() "
                  "goes on from where it was", stacklevel=2)


def reset_max_memory_allocated(device: object = None) -> None:
    """The older name of `reset_peak_memory_stats`."""
    warnings.warn("torch.cuda.reset_max_memory_allocated now calls torch.cuda.reset_peak_memory_stats, which "
                  "resets /all/ peak memory stats.", FutureWarning, stacklevel=2)
    reset_peak_memory_stats(device)
