"""The stream of random numbers: one generator serves all devices."""

from __future__ import annotations

from collections.abc import Iterable

from jaxflow._core.generator import default_generator as _generator

from ._gpus import gpus, needed


def manual_seed(seed: int) -> None:
    """Start the random stream from ``seed``: one generator serves all devices.

    This is the generator that ``torch.manual_seed`` starts too, so that numbers on the CPU change as well.

    Args:
        seed: an integer from ``-2**63`` to ``2**64 - 1``.

    Returns:
        None.

    Raises:
        ValueError: for a seed that does not fit 64 bits.

    Example:
        >>> torch.cuda.manual_seed_all(7)
        >>> first = torch.rand(3)
        >>> torch.cuda.manual_seed_all(7)
        >>> torch.equal(first, torch.rand(3))
        True
    """
    _generator.manual_seed(seed)


manual_seed_all = manual_seed


def get_rng_state_all() -> list:
    """The state of the generator, of which one serves all devices, for each GPU."""
    return [_generator.get_state() for _ in gpus()]


def set_rng_state_all(new_states: Iterable) -> None:
    """Put back what `get_rng_state_all` returned."""
    for state in new_states:
        _generator.set_state(state)


def get_rng_state(device: object = "cuda") -> object:
    """The state of the generator, of which one serves all devices. AssertionError without a GPU."""
    needed()
    return _generator.get_state()


def set_rng_state(new_state: object, device: object = "cuda") -> None:
    """Put back what `get_rng_state` returned; nothing to do where there is no GPU."""
    if gpus():
        _generator.set_state(new_state)
