"""The Mersenne twister's words as one compiled program: three vector steps for each 624 words."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

_N, _M = 624, 397


def _mixed(upper: Any, lower: Any) -> Any:
    """The highest bit of one word and the rest of the next, times the twister's matrix."""
    y = (upper & jnp.uint32(0x80000000)) | (lower & jnp.uint32(0x7FFFFFFF))
    return (y >> 1) ^ jnp.where(lower & 1 == 1, jnp.uint32(0x9908B0DF), jnp.uint32(0))


def _next(key: Any) -> Any:
    """The state after a state: word i of it needs word i + 397, which for i >= 227 is a new one."""
    lag = _N - _M
    first = key[_M:] ^ _mixed(key[:lag], key[1:lag + 1])
    second = first ^ _mixed(key[lag:2 * lag], key[lag + 1:2 * lag + 1])
    third = second[:_N - 2 * lag - 1] ^ _mixed(key[2 * lag:-1], key[2 * lag + 1:])
    last = second[_N - 2 * lag - 1:_N - 2 * lag] ^ _mixed(key[-1:], first[:1])
    return jnp.concatenate([first, second, third, last])


def _tempered(y: Any) -> Any:
    y = y ^ (y >> 11)
    y = y ^ ((y << 7) & jnp.uint32(0x9D2C5680))
    y = y ^ ((y << 15) & jnp.uint32(0xEFC60000))
    return y ^ (y >> 18)


@functools.cache
def words(blocks: int) -> Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """The program that gives the words of the ``blocks`` states after a state, and the last of these."""
    def step(key: Any, _: None) -> tuple[Any, Any]:
        key = _next(key)
        return key, _tempered(key)

    def draw(key: Any) -> tuple[Any, Any]:
        key, found = jax.lax.scan(step, key, None, length=blocks)
        return found.reshape(-1), key

    with jax.default_device(jax.local_devices(backend="cpu")[0]):
        program = jax.jit(draw).lower(jax.ShapeDtypeStruct((_N,), np.uint32)).compile()
    return lambda key: tuple(map(np.asarray, program(key)))
