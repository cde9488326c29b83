"""GPUs as programs ask about them. Work is ordered by XLA: there are no streams to manage."""

from __future__ import annotations

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
    return _need()[0].device_kind


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


def max_memory_allocated(device: object = None) -> int:
    """Peak bytes in use on the GPU so far; 0 where there is none."""
    gpus = _gpus()
    return int((gpus[0].memory_stats() or {}).get("peak_bytes_in_use", 0)) if gpus else 0


def memory_allocated(device: object = None) -> int:
    """Bytes in use on the GPU now; 0 where there is none."""
    gpus = _gpus()
    return int((gpus[0].memory_stats() or {}).get("bytes_in_use", 0)) if gpus else 0
