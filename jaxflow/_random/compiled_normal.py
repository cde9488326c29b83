"""The float32 pairs of Box and Muller as one compiled program, for many numbers.

XLA's CPU compiler makes a fused multiply-add of a product and a sum that stand side by side, which is what
the bits need here, but it does not promise to. So the program is compared with `normal` in NumPy, bit by
bit, before it is first used, and is not used where they differ.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .cephes import COS, FOUR_OVER_PI, LN2_HIGH, LN2_LOW, LOG, QUARTER, SIN, SQRT_HALF, TWO_PI

#: How many numbers the program takes: one for all draws.
SIZE = 1 << 16


def _alone(a: Any, b: Any) -> Any:
    """A product of float32 that is rounded before it is used."""
    return (jnp.asarray(a, jnp.float64) * jnp.asarray(b, jnp.float64)).astype(jnp.float32)


def _single(*numbers: float) -> list[Any]:
    return [np.float32(x) for x in numbers]


def _log_of_rest(u: Any) -> Any:
    """log(1 - u), as `normal` has it."""
    bits = jax.lax.bitcast_convert_type(np.float32(1) - u, jnp.int32)
    exponent = ((bits >> 23) - 0x7F).astype(jnp.float32) + np.float32(1)
    x = jax.lax.bitcast_convert_type((bits & 0x007FFFFF) | 0x3F000000, jnp.float32)
    small = x < SQRT_HALF
    exponent = exponent - small.astype(jnp.float32)
    x = (x - np.float32(1)) + jnp.where(small, x, np.float32(0))
    square = _alone(x, x)
    first, *rest = _single(*LOG)
    y = jnp.full_like(x, first)
    for coefficient in rest:
        y = y * x + coefficient
    y = _alone(y, x) * square + _alone(exponent, LN2_LOW)
    y = y - _alone(square, 0.5)
    return exponent * np.float32(LN2_HIGH) + (x + y)


def _turned(u: Any) -> tuple[Any, Any]:
    """Cosine and sine of 2 pi u, as `normal` has them."""
    x = _alone(u, TWO_PI)
    octant = (_alone(x, FOUR_OVER_PI).astype(jnp.int32) + 1) & ~1
    turns = octant.astype(jnp.float32)
    for part in _single(*QUARTER):
        x = turns * part + x
    square = _alone(x, x)
    a, b, c = _single(*COS)
    cos = (jnp.full_like(square, a) * square + b) * square + c
    cos = square * _alone(cos, square) + -_alone(square, 0.5) + np.float32(1)
    a, b, c = _single(*SIN)
    sin = (jnp.full_like(square, a) * square + b) * square + c
    sin = x * _alone(sin, square) + x
    swapped = (octant & 2) != 0
    cos, sin = (jnp.where(swapped, p, q) + np.float32(0) for p, q in ((sin, cos), (cos, sin)))

    def signed(x: Any, sign: Any) -> Any:
        return jax.lax.bitcast_convert_type(jax.lax.bitcast_convert_type(x, jnp.int32) ^ sign, jnp.float32)

    return signed(cos, (~(octant - 2) & 4) << 29), signed(sin, (octant & 4) << 29)


def _blocks(u: Any, mean: Any, std: Any) -> Any:
    halves = u.reshape(-1, 2, 8)
    radius = jnp.sqrt(_alone(_log_of_rest(halves[:, 0]), -2.0))
    return jnp.stack([_alone(radius, x) * std + mean for x in _turned(halves[:, 1])], 1).reshape(-1)


@functools.cache
def blocks(checked: Callable[[np.ndarray, float, float], np.ndarray]) -> Callable | None:
    """The program for `SIZE` numbers, a mean and a deviation; None where it gives other bits than
    ``checked``."""
    with jax.default_device(jax.local_devices(backend="cpu")[0]):
        number = jax.ShapeDtypeStruct((), np.float32)
        program = jax.jit(_blocks).lower(jax.ShapeDtypeStruct((SIZE,), np.float32), number, number).compile()

    def run(u: np.ndarray, mean: float, std: float) -> np.ndarray:
        return np.asarray(program(u, np.float32(mean), np.float32(std)))

    u = (np.random.RandomState(0).randint(0, 1 << 24, SIZE).astype(np.float32) * np.float32(2.0**-24))
    u[:4] = 0, 1 - 2.0**-24, 0.5, 2.0**-24
    for mean, std in ((0.0, 1.0), (0.1, 0.02)):
        if not np.array_equal(run(u, mean, std).view(np.int32), checked(u, mean, std).view(np.int32)):
            return None
    return run
