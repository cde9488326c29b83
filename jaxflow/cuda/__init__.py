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
from . import nccl as nccl
from . import nvtx as nvtx
from . import random as random
from . import streams as streams
from ._gpus import current_device as current_device
from ._gpus import synchronize as synchronize
from .graphs import CUDAGraph as CUDAGraph
from .graphs import graph as graph
from .graphs import is_current_stream_capturing as is_current_stream_capturing
from .memory import empty_cache as empty_cache
from .memory import max_memory_allocated as max_memory_allocated
from .memory import max_memory_cached as max_memory_cached
from .memory import max_memory_reserved as max_memory_reserved
from .memory import mem_get_info as mem_get_info
from .memory import memory_allocated as memory_allocated
from .memory import memory_cached as memory_cached
from .memory import memory_reserved as memory_reserved
from .memory import memory_stats as memory_stats
from .memory import memory_stats_as_nested_dict as memory_stats_as_nested_dict
from .memory import memory_summary as memory_summary
from .memory import reset_max_memory_allocated as reset_max_memory_allocated
from .memory import reset_peak_memory_stats as reset_peak_memory_stats
from .random import get_rng_state as get_rng_state
from .random import get_rng_state_all as get_rng_state_all
from .random import initial_seed as initial_seed
from .random import manual_seed as manual_seed
from .random import manual_seed_all as manual_seed_all
from .random import seed as seed
from .random import seed_all as seed_all
from .random import set_rng_state as set_rng_state
from .random import set_rng_state_all as set_rng_state_all
from .streams import Event as Event
from .streams import Stream as Stream
from .streams import StreamContext as StreamContext
from .streams import current_stream as current_stream
from .streams import default_stream as default_stream
from .streams import set_stream as set_stream
from .streams import stream as stream

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


def is_initialized() -> bool:
    """Whether there is a GPU: jax makes it ready when it is first looked for."""
    return is_available()


def init() -> None:
    """Nothing to do: jax makes GPUs ready when they are first looked for. AssertionError without one."""
    _gpus.needed()


def ipc_collect() -> None:
    """Nothing to do: no memory of GPUs is shared among processes. AssertionError without a GPU."""
    _gpus.needed()


def is_tf32_supported() -> bool:
    """Whether the current GPU multiplies in TensorFloat-32: from compute capability 8.0 on."""
    return is_available() and get_device_capability() >= (8, 0)


def can_device_access_peer(device: object, peer_device: object) -> bool:
    """Whether two GPUs copy to each other without the host: XLA decides by itself, so False here.

    Args:
        device: a GPU.
        peer_device: another one.

    Raises:
        AssertionError: where there is no GPU, or none of that number.
    """
    _gpus.index_of(device)
    _gpus.index_of(peer_device)
    return False


def set_sync_debug_mode(debug_mode: int | str) -> None:
    """Only the default is accepted: `jaxflow.explain` lists the lines that wait. AssertionError without GPUs.

    Args:
        debug_mode: 0 or ``"default"``.

    Raises:
        NotImplementedError: for the modes that warn and raise.
        RuntimeError: for another value.
    """
    _gpus.needed()
    modes = {"default": 0, "warn": 1, "error": 2}
    mode = modes.get(debug_mode) if isinstance(debug_mode, str) else debug_mode
    if mode not in modes.values():
        raise RuntimeError("invalid value of debug_mode, expected one of `default`, `warn`, `error`")
    if mode:
        raise NotImplementedError("set_sync_debug_mode() of 'warn' and 'error' is not supported: "
                                  "jaxflow.explain() lists the lines that wait for numbers")


def get_sync_debug_mode() -> int:
    """0, the default. AssertionError without a GPU."""
    _gpus.needed()
    return 0


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


class device_of(device):  # noqa: N801 - PyTorch's name
    """Make the GPU of a tensor the current one inside a block; nothing for tensors elsewhere."""

    def __init__(self, obj: object) -> None:
        super().__init__(obj.get_device() if obj.is_cuda else -1)


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


#: GPUs have half precision; MAGMA is none of XLA's libraries.
has_half, has_magma = True, False


def __getattr__(name: str) -> object:
    """The module `amp`, which is loaded when it is first used, and the generators of the GPUs."""
    if name == "amp":
        return _importlib.import_module(f"{__name__}.{name}")
    if name == "default_generators":
        return random.generators()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
