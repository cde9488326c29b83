"""The float32 pairs of Box and Muller as one compiled program, for many numbers.

XLA's CPU compiler makes a fused multiply-add of a product and a sum that stand side by side, which is what
the bits need here, but it does not promise to. So a program is compared with `normal` in NumPy, bit by bit,
before it is first used, and is not used where they differ. It takes and gives arrays that lie side by side:
with the order of the blocks in it, it takes three times as long.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .cephes import COS, FOUR_OVER_PI, LN2_HIGH, LN2_LOW, LOG, QUARTER, SIN, SQRT_HALF, TWO_PI

#: How many pairs the programs take, from the one for short draws to the one for long ones.
SIZES = (1 << 9, 1 << 12, 1 << 15)


def _single(*numbers: float) -> list[Any]:
    return [np.float32(x) for x in numbers]


# A product and a sum side by side are fused. Where the product has to be rounded first and is not exact, an
# argument of 0 is added to it: the product is fused with that.


def _log_of_rest(u: Any, zero: Any) -> Any:
    """log(1 - u), as `normal` has it."""
    bits = jax.lax.bitcast_convert_type(np.float32(1) - u, jnp.int32)
    exponent = ((bits >> 23) - 0x7E).astype(jnp.float32)
    x = jax.lax.bitcast_convert_type((bits & 0x007FFFFF) | 0x3F000000, jnp.float32)
    small = x < SQRT_HALF
    exponent = exponent - small.astype(jnp.float32)
    x = (x - np.float32(1)) + jnp.where(small, x, np.float32(0))
    square = x * x
    first, *rest = _single(*LOG)
    y = jnp.full_like(x, first)
    for coefficient in rest:
        y = y * x + coefficient
    y = (y * x) * square + (exponent * np.float32(LN2_LOW) + zero)
    y = y - square * np.float32(0.5)
    return exponent * np.float32(LN2_HIGH) + (x + y)


def _turned(u: Any, zero: Any) -> tuple[Any, Any]:
    """Cosine and sine of 2 pi u, as `normal` has them."""
    x = u * TWO_PI + zero
    octant = ((x * FOUR_OVER_PI).astype(jnp.int32) + 1) & ~1
    turns = octant.astype(jnp.float32)
    for part in _single(*QUARTER):
        x = turns * part + x
    square = x * x
    a, b, c = _single(*COS)
    cos = (jnp.full_like(square, a) * square + b) * square + c
    cos = square * (cos * square) + (square * np.float32(-0.5) + zero) + np.float32(1)
    a, b, c = _single(*SIN)
    sin = (jnp.full_like(square, a) * square + b) * square + c
    sin = x * (sin * square) + x
    swapped = (octant & 2) != 0
    cos, sin = (jnp.where(swapped, p, q) + np.float32(0) for p, q in ((sin, cos), (cos, sin)))

    def signed(x: Any, sign: Any) -> Any:
        return jax.lax.bitcast_convert_type(jax.lax.bitcast_convert_type(x, jnp.int32) ^ sign, jnp.float32)

    return signed(cos, (~(octant - 2) & 4) << 29), signed(sin, (octant & 4) << 29)


def _pairs(u: Any, v: Any, mean: Any, std: Any, zero: Any) -> tuple[Any, Any]:
    radius = jnp.sqrt(_log_of_rest(u, zero) * np.float32(-2))
    first, second = _turned(v, zero)
    return (radius * first) * std + mean, (radius * second) * std + mean


Pairs = Callable[[np.ndarray, np.ndarray, float, float], tuple[np.ndarray, np.ndarray]]


@functools.cache
def pairs(size: int, checked: Pairs) -> Pairs | None:
    """The program for ``size`` pairs, a mean and a deviation; None where it gives other bits than
    ``checked``."""
    with jax.default_device(jax.local_devices(backend="cpu")[0]):
        array, number = jax.ShapeDtypeStruct((size,), np.float32), jax.ShapeDtypeStruct((), np.float32)
        program = jax.jit(_pairs).lower(array, array, number, number, number).compile()

    def run(u: np.ndarray, v: np.ndarray, mean: float, std: float) -> tuple[np.ndarray, np.ndarray]:
        return program(u, v, np.float32(mean), np.float32(std), np.float32(0))

    words = np.random.RandomState(0).randint(0, 1 << 24, (2, size))
    words[:, :4] = 0, (1 << 24) - 1, 1 << 23, 1
    u, v = words.astype(np.float32) * np.float32(2.0**-24)
    for mean, std in ((0.0, 1.0), (0.1, 0.02)):
        for made, right in zip(run(u, v, mean, std), checked(u, v, mean, std)):
            if not np.array_equal(np.asarray(made).view(np.int32), right.view(np.int32)):
                return None
    return run
