"""Seeds and states of the default generator, and the Generator methods that speak tensors."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from jaxflow._api.creation.construct import from_array
from jaxflow._api.creation.host_arrays import put
from jaxflow._core.generator import (
    Elsewhere,
    Generator,
    default_generator,
    defaults,
    drawing,
    need_stream,
    streams,
)
from jaxflow._core.modes import Changed
from jaxflow._core.tensor import Tensor
from jaxflow._publish.composite import composite
from jaxflow._views.values import value_of


@composite("function", checks=False)
def manual_seed(seed: int) -> Generator:
    """Start the default generators of all devices from ``seed``; returns that of the CPU.

    Random functions and methods that are given no generator draw from them. After the same seed the same
    calls draw the same numbers, on the CPU those that PyTorch draws (`random.set_stream`).

    Args:
        seed: an integer from ``-2**63`` to ``2**64 - 1``; a negative one means ``seed + 2**64``.

    Returns:
        The default ``torch.Generator`` of the CPU.

    Raises:
        ValueError: for a seed that does not fit 64 bits.

    Example:
        >>> generator = torch.manual_seed(7)
        >>> first = torch.rand(3)
        >>> generator = torch.manual_seed(7)
        >>> torch.equal(first, torch.rand(3))
        True
    """
    for generator in defaults():
        generator.manual_seed(seed)
    return default_generator


@composite("function")
def seed() -> int:
    """Start the default generators from the operating system's entropy; returns the seed."""
    found = default_generator.seed()
    for generator in defaults()[1:]:
        generator.manual_seed(found)
    return found


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
    self.set_state_array(value_of(state).host())


def _from_key(key: Any) -> Generator:
    """A generator whose stream begins at a jax random key, or at an integer seed.

    The key may be an argument of a function under ``jax.jit``: then each call draws from the key it is
    given. The generator counts its draws, so several draws in one call differ.

    Raises:
        TypeError: for what is neither a key (``jax.random.key``, ``jax.random.PRNGKey``) nor an integer.
    """
    if isinstance(key, int):
        return Generator(stream="counter").manual_seed(key)
    array = value_of(key).get() if isinstance(key, Tensor) else key
    if not isinstance(array, jax.Array):
        raise TypeError(f"expected a jax random key or an integer, but got {type(key).__name__}")
    if array.ndim or not jnp.issubdtype(array.dtype, jnp.integer):
        is_key = jnp.issubdtype(array.dtype, jax.dtypes.prng_key) and not array.ndim
        if not is_key and (array.dtype != jnp.uint32 or array.ndim != 1):
            raise TypeError(
                f"expected one jax random key, but got an array of {array.dtype}{list(array.shape)}"
            )
        array = jax.lax.bitcast_convert_type(jax.random.bits(array, (), jnp.uint64), jnp.int64)
    made = Generator(stream="counter")
    made._seed = from_array(array.astype(jnp.int64), shared=True)
    return made


Generator.get_state = _get_state
Generator.set_state = _set_state
Generator.from_key = staticmethod(_from_key)


def drawing_from(source: Any) -> Changed:
    """Random operations of this thread draw from ``source`` inside the block, unless given a generator.

    Args:
        source: a Generator, or what ``Generator.from_key`` takes: a jax random key, also one that is an
            argument of a function under ``jax.jit``, or an integer.
    """
    generator = source if isinstance(source, Generator) else _from_key(source)
    return Changed(drawing, generator, generator=generator)


@composite("function")
def get_rng_state() -> Tensor:
    """The state of the CPU's default generator as a byte tensor.

    Returns:
        A uint8 tensor on the CPU, which `set_rng_state` and PyTorch's take: of 5,056 elements, or of 16 where
        the generator's stream is "counter". A copy, which later draws do not change.

    Example:
        >>> state = torch.get_rng_state()
        >>> first = torch.rand(3)
        >>> torch.set_rng_state(state)
        >>> torch.equal(torch.rand(3), first)
        True
    """
    return default_generator.get_state()


@composite("function")
def set_rng_state(new_state: Tensor) -> None:
    """Restore the state of the CPU's default generator.

    Args:
        new_state: what `get_rng_state` returned, a uint8 tensor; also what PyTorch's returned, unless the
            stream is "counter".

    Returns:
        None.

    Raises:
        TypeError: for what is no tensor, or one of another dtype.
        RuntimeError: for another number of elements.

    Example:
        >>> state = torch.get_rng_state()
        >>> first = torch.randperm(10)
        >>> torch.set_rng_state(state)
        >>> torch.equal(torch.randperm(10), first)
        True
    """
    default_generator.set_state(new_state)


def set_stream(stream: str) -> None:
    """Choose which numbers a seed stands for on CPUs: those of PyTorch, or jaxflow's own.

    The default generator begins the new stream at its seed, and so do generators made from now on. "torch",
    which is so at first, draws on the host what PyTorch draws on x86-64 (Mersenne twister). "counter" draws
    inside of compiled programs by jax's threefry: masks of large attention scores then take no memory.

    Args:
        stream: "torch" or "counter".

    Raises:
        ValueError: for another name.

    Example:
        >>> torch.random.set_stream("counter")
        >>> torch.default_generator.stream
        'counter'
        >>> torch.random.set_stream("torch")
        >>> generator = torch.manual_seed(1337)
        >>> torch.rand(3)
        tensor([0.0783, 0.4956, 0.6231])
    """
    streams.new = need_stream(stream)
    fresh = Generator(stream=stream).manual_seed(default_generator.initial_seed())
    default_generator.go_to(fresh.position())


def fork_rng(devices=None, enabled: bool = True, **_ignored) -> Elsewhere:
    """Restore the states of the default generators when the block ends."""
    return Elsewhere(enabled=enabled)
