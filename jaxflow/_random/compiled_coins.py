"""Bools of one chance as one compiled program, for many."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

#: How many bools the program makes, of twice as many words.
SIZE = 1 << 17


@functools.cache
def coins() -> Callable[[np.ndarray, int, int], np.ndarray]:
    """The program: it takes words, and the upper 21 and the lower 32 bits of the limit."""
    def draw(words: Any, high: Any, low: Any) -> Any:
        first, second = words.reshape(-1, 2).T
        first = first & jnp.uint32((1 << 21) - 1)
        return (first < high) | ((first == high) & (second < low))

    with jax.default_device(jax.local_devices(backend="cpu")[0]):
        number = jax.ShapeDtypeStruct((), np.uint32)
        words = jax.ShapeDtypeStruct((2 * SIZE,), np.uint32)
        program = jax.jit(draw).lower(words, number, number).compile()
    return lambda words, high, low: np.asarray(program(words, np.uint32(high), np.uint32(low)))
