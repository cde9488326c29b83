"""PyTorch's interface to GPUs: devices, memory, streams, random state."""

from __future__ import annotations

import importlib as _importlib
from typing import NamedTuple

from jaxflow._api.legacy.types import CUDA_TYPES as _CUDA_TYPES
from jaxflow._api.storage.legacy import CUDA_STORAGES as _CUDA_STORAGES
from jaxflow._core.memory_errors import OutOfMemoryError as OutOfMemoryError

from . import _gpus
from . import graphs as graphs
from . import memory as memory
from . import random as random
from ._gpus import current_device as current_device
from ._gpus import synchronize as synchronize
from ._streams import Event as Event
from ._streams import Stream as Stream
from ._streams import StreamContext as StreamContext
from ._streams import current_stream as current_stream
from ._streams import default_stream as default_stream
from ._streams import stream as stream
from .graphs import CUDAGraph as CUDAGraph
from .graphs import graph as graph
from .graphs import is_current_stream_capturing as is_current_stream_capturing
from .memory import empty_cache as empty_cache
from .memory import max_memory_allocated as max_memory_allocated
from .memory import max_memory_reserved as max_memory_reserved
from .memory import mem_get_info as mem_get_info
from .memory import memory_allocated as memory_allocated
from .memory import memory_reserved as memory_reserved
from .memory import reset_max_memory_allocated as reset_max_memory_allocated
from .memory import reset_peak_memory_stats as reset_peak_memory_stats
from .random import get_rng_state as get_rng_state
from .random import get_rng_state_all as get_rng_state_all
from .random import manual_seed as manual_seed
from .random import manual_seed_all as manual_seed_all
from .random import set_rng_state as set_rng_state
from .random import set_rng_state_all as set_rng_state_all

globals().update(_CUDA_TYPES)
globals().update(_CUDA_STORAGES)


def is_available() -> bool:
    """Whether jax sees a GPU.

    Returns:
        True if there is at least one; tensors can be moved to ``"cuda"`` then.

    Example:
        >>> device = "cuda" if torch.cuda.is_available() else "cpu"
        >>> torch.ones(2, device=device).sum().item()
        2.0
    """
    return bool(_gpus.gpus())


def device_count() -> int:
    """How many GPUs jax sees.

    Returns:
        Their number; 0 where there is none.

    Example:
        >>> torch.cuda.is_available() == (torch.cuda.device_count() > 0)
        True
    """
    return len(_gpus.gpus())


def get_device_name(device: object = None) -> str:
    """The GPU's product name.

    Args:
        device: a number, a ``torch.device`` or a string such as ``"cuda:1"``; None for the current GPU.

    Returns:
        A string, as jax calls the kind of device.

    Raises:
        AssertionError: where there is no GPU, or none of that number.
        ValueError: for a device that is no GPU.

    Example:
        >>> name = torch.cuda.get_device_name() if torch.cuda.is_available() else "no GPU"
        >>> isinstance(name, str)
        True
    """
    return _gpus.needed()[_gpus.index_of(device)].device_kind


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Whether bfloat16 arithmetic runs: XLA has it on every GPU.

    Args:
        including_emulation: not looked at.

    Returns:
        True if there is a GPU.

    Example:
        >>> torch.cuda.is_bf16_supported() == torch.cuda.is_available()
        True
    """
    return is_available()


def set_device(device: object) -> None:
    """Accepted for the GPU that ``"cuda"`` means anyhow, the first. NotImplementedError for another.

    Args:
        device: a number, a ``torch.device`` or its name. A negative number changes nothing.

    Returns:
        None.

    Raises:
        NotImplementedError: for another GPU than the first; its name, as ``"cuda:1"``, is used instead.
        AssertionError: where there is no GPU, or none of that number.
        ValueError: for a device that is no GPU.

    Example:
        >>> if torch.cuda.is_available():
        ...     torch.cuda.set_device(0)
    """
    if isinstance(device, int) and device < 0:
        return
    found = _gpus.index_of(device)
    if found:
        raise NotImplementedError(
            f"set_device({device!r}): 'cuda' always means GPU 0 here; name the GPU 'cuda:{found}', or let "
            "the process see that one alone (CUDA_VISIBLE_DEVICES)"
        )


class device:  # noqa: N801 - PyTorch's name
    """Make a GPU the current one inside a block; nothing for None and negative numbers, as in PyTorch.

    The block refuses what `set_device` does.
    """

    def __init__(self, device: object) -> None:
        self.idx = device if device is None or device == -1 else _gpus.index_of(device)

    def __enter__(self) -> None:
        if self.idx is not None and self.idx >= 0:
            set_device(self.idx)

    def __exit__(self, *exc: object) -> bool:
        return False


class _CudaDeviceProperties(NamedTuple):
    """What is known of a GPU."""

    name: str
    major: int
    minor: int
    total_memory: int
    multi_processor_count: int


def get_device_properties(device: object = None) -> _CudaDeviceProperties:
    """Name, compute capability, memory in bytes and multiprocessors of a GPU. AssertionError without one.

    Args:
        device: a number, a ``torch.device`` or a string such as ``"cuda:1"``; None for the current GPU.

    Returns:
        A named tuple ``(name, major, minor, total_memory, multi_processor_count)``. ``total_memory`` is
        what XLA's allocator may take; numbers that jax does not give are 0.

    Raises:
        AssertionError: where there is no GPU, or none of that number.
        ValueError: for a device that is no GPU.

    Example:
        >>> gpus = [torch.cuda.get_device_properties(i) for i in range(torch.cuda.device_count())]
        >>> all(gpu.total_memory >= 0 for gpu in gpus)
        True
    """
    gpu = _gpus.needed()[_gpus.index_of(device)]
    major, _, minor = str(getattr(gpu, "compute_capability", "0.0")).partition(".")
    total = (gpu.memory_stats() or {}).get("bytes_limit", 0)
    return _CudaDeviceProperties(gpu.device_kind, int(major), int(minor or 0), int(total),
                                 int(getattr(gpu, "core_count", 0)))


def get_device_capability(device: object = None) -> tuple[int, int]:
    """The compute capability of a GPU. AssertionError without one.

    Args:
        device: a number, a ``torch.device`` or a string such as ``"cuda:1"``; None for the current GPU.

    Returns:
        Two ints, the major and the minor number: (9, 0) for 9.0.

    Raises:
        AssertionError: where there is no GPU, or none of that number.
        ValueError: for a device that is no GPU.

    Example:
        >>> version = torch.cuda.get_device_capability() if torch.cuda.is_available() else (0, 0)
        >>> len(version)
        2
    """
    found = get_device_properties(device)
    return found.major, found.minor




def __getattr__(name: str) -> object:
    """The module `amp`, which is loaded when it is first used."""
    if name == "amp":
        return _importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
