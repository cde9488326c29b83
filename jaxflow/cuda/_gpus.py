"""The GPUs that jax sees."""

from __future__ import annotations

import jax

from jaxflow._core import device as _devices
from jaxflow._exec.waiting import wait_for


def gpus() -> list:
    """jax's devices that are GPUs."""
    return [d for d in jax.devices() if d.platform in ("gpu", "cuda", "rocm")]


def needed() -> list:
    """`gpus`. AssertionError where there is none."""
    found = gpus()
    if not found:
        raise AssertionError("Torch not compiled with CUDA enabled")
    return found


def current_device() -> int:
    """The index of the current GPU. Raises AssertionError where there is none.

    Returns:
        The number of the default device if that is a GPU, else 0.

    Raises:
        AssertionError: where there is no GPU.

    Example:
        >>> torch.cuda.current_device() if torch.cuda.is_available() else 0
        0
    """
    needed()
    chosen = _devices.get_default_device()
    return chosen.index or 0 if chosen.type == "cuda" else 0


def index_of(device: object = None) -> int:
    """The number of the GPU that an argument means. AssertionError without a GPU, or of that number."""
    there = needed()
    if device is None:
        return current_device()
    chosen = _devices.device("cuda", device) if isinstance(device, int) else _devices.device(device)
    if chosen.type != "cuda":
        raise ValueError(f"Expected a cuda device, but got: {chosen}")
    found = chosen.index if chosen.index is not None else current_device()
    if found >= len(there):
        raise AssertionError("Invalid device id")
    return found


def synchronize(device: object = None) -> None:
    """Hand over what was recorded and wait for it; nothing to wait for where there is no GPU.

    Operations return before a GPU has computed them: call this before the end of a time is taken.

    Args:
        device: accepted; all GPUs are waited for.

    Returns:
        None.

    Example:
        >>> x = torch.ones(3) * 2
        >>> torch.cuda.synchronize()
        >>> x
        tensor([2., 2., 2.])
    """
    wait_for(gpus())
