"""The generators of GPUs: each has one of its own, whose stream is "counter"."""

from __future__ import annotations

from collections.abc import Iterable

from jaxflow._core.device import device as _device
from jaxflow._core.generator import Generator, default_of

from ._gpus import current_device, gpus, needed


def manual_seed(seed: int) -> None:
    """Start the generator of the current GPU from ``seed``; nothing to do without a GPU.

    Numbers on the CPU are drawn from a generator of its own, which ``torch.manual_seed`` starts, too.

    Args:
        seed: an integer from ``-2**63`` to ``2**64 - 1``.

    Returns:
        None.

    Raises:
        ValueError: for a seed that does not fit 64 bits.

    Example:
        >>> torch.cuda.manual_seed(7)
        >>> g = torch.manual_seed(7)
        >>> torch.rand(3)
        tensor([0.5349, 0.1988, 0.6592])
    """
    if gpus():
        _of(current_device()).manual_seed(seed)


def manual_seed_all(seed: int) -> None:
    """Start the generators of all GPUs from ``seed``; nothing to do without a GPU.

    Args:
        seed: an integer from ``-2**63`` to ``2**64 - 1``.

    Returns:
        None.

    Raises:
        ValueError: for a seed that does not fit 64 bits.

    Example:
        >>> torch.cuda.manual_seed_all(7)
    """
    for generator in generators():
        generator.manual_seed(seed)


def initial_seed() -> int:
    """The seed that the generator of the current GPU was started from. AssertionError without a GPU."""
    needed()
    return _of(current_device()).initial_seed()


def seed() -> None:
    """Start the generator of the current GPU from the system's entropy; nothing to do without a GPU."""
    if gpus():
        _of(current_device()).seed()


def seed_all() -> None:
    """Start the generators of all GPUs from one number of the system's entropy; nothing to do without one."""
    if gpus():
        manual_seed_all(_of(0).seed())


def get_rng_state_all() -> list:
    """The states of the generators of all GPUs, of 16 bytes each."""
    return [generator.get_state() for generator in generators()]


def set_rng_state_all(new_states: Iterable) -> None:
    """Put back what `get_rng_state_all` returned."""
    for index, state in enumerate(new_states):
        set_rng_state(state, index)


def get_rng_state(device: object = "cuda") -> object:
    """The state of a GPU's generator. AssertionError without a GPU."""
    needed()
    return _of(device).get_state()


def set_rng_state(new_state: object, device: object = "cuda") -> None:
    """Put back what `get_rng_state` returned; nothing to do where there is no GPU."""
    if gpus():
        _of(device).set_state(new_state)


def generators() -> tuple[Generator, ...]:
    """The default generators of all GPUs."""
    return tuple(_of(index) for index in range(len(gpus())))


def _of(device: object) -> Generator:
    """The default generator of a GPU, given by its number, name or device; the current one for "cuda"."""
    where = _device("cuda", device) if isinstance(device, int) else _device(device)
    return default_of(_device("cuda", current_device() if where.index is None else where.index))
