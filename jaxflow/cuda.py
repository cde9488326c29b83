"""GPUs as programs ask about them. Work is ordered by XLA: there are no streams to manage."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import NamedTuple

import jax

from ._api.legacy_types import CUDA_TYPES as _CUDA_TYPES
from ._core import device as _devices
from ._dispatch.generator import default_generator as _generator

globals().update(_CUDA_TYPES)


def _gpus() -> list:
    return [d for d in jax.devices() if d.platform in ("gpu", "cuda", "rocm")]


def is_available() -> bool:
    """Whether jax sees a GPU."""
    return bool(_gpus())


def device_count() -> int:
    """How many GPUs jax sees."""
    return len(_gpus())


def _need() -> list:
    gpus = _gpus()
    if not gpus:
        raise AssertionError("Torch not compiled with CUDA enabled")
    return gpus


def current_device() -> int:
    """The index of the current GPU. Raises AssertionError where there is none."""
    _need()
    chosen = _devices.get_default_device()
    return chosen.index or 0 if chosen.type == "cuda" else 0


def get_device_name(device: object = None) -> str:
    """The GPU's product name."""
    return _need()[_index(device)].device_kind


def synchronize(device: object = None) -> None:
    """Wait until the GPUs have done what was handed to them; nothing to do where there is none."""
    for gpu in _gpus():
        (jax.device_put(0.0, gpu) + 0).block_until_ready()


def manual_seed(seed: int) -> None:
    """Start the random stream from ``seed``: one generator serves all devices."""
    _generator.manual_seed(seed)


manual_seed_all = manual_seed


def empty_cache() -> None:
    """Accepted; XLA's allocator keeps its memory for the next program."""


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Whether bfloat16 arithmetic runs: XLA has it on every GPU."""
    return is_available()


def _statistic(name: str, about: str) -> None:
    key = {"max_memory": "peak_bytes_in_use", "memory": "bytes_in_use"}[name.rpartition("_")[0]]

    def call(device: object = None) -> int:
        gpus = _gpus()
        if not gpus:
            return 0
        found = gpus[_index(device)].memory_stats() or {}
        return int(found.get("pool_bytes" if name == "memory_reserved" else key, 0))

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"{about}; 0 where there is no GPU."
    globals()[name] = call


for _name, _about in (
    ("memory_allocated", "Bytes in use on the GPU now"),
    ("max_memory_allocated", "Peak bytes in use on the GPU so far"),
    ("memory_reserved", "Bytes that XLA's allocator holds"),
    ("max_memory_reserved", "Peak bytes in use on the GPU so far"),
):
    _statistic(_name, _about)


def _index(device: object = None) -> int:
    """The number of the GPU that an argument means. AssertionError without a GPU, or of that number."""
    gpus = _need()
    if device is None:
        return current_device()
    chosen = _devices.device(device)
    if chosen.type != "cuda":
        raise ValueError(f"Expected a cuda device, but got: {chosen}")
    found = chosen.index if chosen.index is not None else current_device()
    if found >= len(gpus):
        raise AssertionError("Invalid device id")
    return found


def set_device(device: object) -> None:
    """Accepted for the GPU that ``"cuda"`` means anyhow, the first. NotImplementedError for another."""
    if isinstance(device, int) and device < 0:
        return
    found = _index(device)
    if found:
        raise NotImplementedError(
            f"set_device({device!r}): 'cuda' always means GPU 0 here; name the GPU 'cuda:{found}', or let "
            "the process see that one alone (CUDA_VISIBLE_DEVICES)"
        )


class _CudaDeviceProperties(NamedTuple):
    """What is known of a GPU."""

    name: str
    major: int
    minor: int
    total_memory: int
    multi_processor_count: int


def get_device_properties(device: object = None) -> _CudaDeviceProperties:
    """Name, compute capability, memory in bytes and multiprocessors of a GPU. AssertionError without one."""
    gpu = _need()[_index(device)]
    major, _, minor = str(getattr(gpu, "compute_capability", "0.0")).partition(".")
    total = (gpu.memory_stats() or {}).get("bytes_limit", 0)
    return _CudaDeviceProperties(gpu.device_kind, int(major), int(minor or 0), int(total),
                                 int(getattr(gpu, "core_count", 0)))


def get_device_capability(device: object = None) -> tuple[int, int]:
    """The compute capability of a GPU. AssertionError without one."""
    found = get_device_properties(device)
    return found.major, found.minor


def mem_get_info(device: object = None) -> tuple[int, int]:
    """Bytes that XLA's allocator may still take on a GPU, and all it may. AssertionError without one."""
    found = _need()[_index(device)].memory_stats() or {}
    total = int(found.get("bytes_limit", 0))
    return total - int(found.get("bytes_in_use", 0)), total


def reset_peak_memory_stats(device: object = None) -> None:
    """Only warns: XLA's peak is that of the whole process. AssertionError without a GPU."""
    _need()
    warnings.warn("XLA counts the peak of memory from the start of the process: max_memory_allocated() "
                  "goes on from where it was", stacklevel=2)


def get_rng_state_all() -> list:
    """The state of the generator, of which one serves all devices, for each GPU."""
    return [_generator.get_state() for _ in _gpus()]


def set_rng_state_all(new_states: Iterable) -> None:
    """Put back what `get_rng_state_all` returned."""
    for state in new_states:
        _generator.set_state(state)


def get_rng_state(device: object = "cuda") -> object:
    """The state of the generator, of which one serves all devices. AssertionError without a GPU."""
    _need()
    return _generator.get_state()


def set_rng_state(new_state: object, device: object = "cuda") -> None:
    """Put back what `get_rng_state` returned; nothing to do where there is no GPU."""
    if _gpus():
        _generator.set_state(new_state)
