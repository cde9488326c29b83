"""What memory the GPUs' arrays take."""

from __future__ import annotations

import warnings

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
