"""Seeds and states of the default generator, and the Generator methods that speak tensors."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import numpy as np

from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.composite import composite
from jaxflow._dispatch.door import value_of
from jaxflow._dispatch.generator import Generator, default_generator

from .construct import put


@composite("function")
def manual_seed(seed: int) -> Generator:
    """Start the default generator from ``seed``; returns it. Raises RuntimeError beyond 64 bits."""
    return default_generator.manual_seed(seed)


@composite("function")
def seed() -> int:
    """Start the default generator from the operating system's entropy; returns the seed."""
    return default_generator.seed()


@composite("function")
def initial_seed() -> int:
    """The seed the default generator started from."""
    return default_generator.initial_seed()


def _get_state(self: Generator) -> Tensor:
    """Seed and position as a byte tensor, for ``set_state``."""
    return put(self.state_array(), "cpu")


def _set_state(self: Generator, state: Tensor) -> None:
    """Go where ``get_state`` was taken. Raises TypeError or RuntimeError for other data."""
    if not isinstance(state, Tensor):
        raise TypeError(f"expected a torch.ByteTensor, but got {type(state).__name__}")
    self.set_state_array(np.asarray(value_of(state).get()))


Generator.get_state = _get_state
Generator.set_state = _set_state


@composite("function")
def get_rng_state() -> Tensor:
    """The default generator's state as a byte tensor."""
    return default_generator.get_state()


@composite("function")
def set_rng_state(new_state: Tensor) -> None:
    """Restore the default generator's state."""
    default_generator.set_state(new_state)


@contextlib.contextmanager
def fork_rng(devices=None, enabled: bool = True, **_ignored) -> Iterator[None]:
    """Restore the default generator's state when the block ends."""
    state = default_generator.state_array()
    try:
        yield
    finally:
        if enabled:
            default_generator.set_state_array(state)
