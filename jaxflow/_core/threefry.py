"""The random keys of the ops: jax's own generator, Threefry 2x32, with its rounds written out.

jax rolls the twenty rounds into a loop on the CPU, of kernels that each wait for the one before: some
hundred kernels to make one key. Written out, they are a chain of integer operations that XLA fuses into
what uses the bits. The numbers are those of ``jax.random`` with ``jax.random.key(seed)``, bit for bit.

Source: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (2011), section 4.
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np

from .jax_compat import define_prng_impl

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = np.uint32(0x1BD11BDA)
_WORD = np.uint64(32)


def threefry(k0, k1, x0, x1):
    """Two words from a key of two words and a counter of two words, all uint32."""
    schedule = (k0, k1, k0 ^ k1 ^ _PARITY)
    x0, x1 = x0 + k0, x1 + k1
    for group in range(5):
        for r in _ROTATIONS[group % 2]:
            x0 = x0 + x1
            x1 = (x1 << np.uint32(r)) | (x1 >> np.uint32(32 - r))
            x1 = x1 ^ x0
        x0 = x0 + schedule[(group + 1) % 3]
        x1 = x1 + schedule[(group + 2) % 3] + np.uint32(group + 1)
    return x0, x1


def _words(number):
    """An integer of 64 bits as two words, the higher first."""
    number = jnp.asarray(number).astype(np.uint64)
    return (number >> _WORD).astype(np.uint32), number.astype(np.uint32)


def _counted(key, shape):
    """The two words of each element of ``shape``, whose counter is its place in it."""
    size = math.prod(shape)
    low = jax.lax.iota(np.uint32, size).reshape(shape)
    high = np.uint32(0)
    if isinstance(size, int) and size > 1 << 32:  # not a symbolic dimension
        high, low = _words(jax.lax.iota(np.uint64, size).reshape(shape))
    return threefry(key[0], key[1], high, low)


def _seed(seed):
    return jnp.stack(_words(seed))


def _fold_in(key, data):
    return jnp.stack(threefry(key[0], key[1], np.uint32(0), jnp.asarray(data).astype(np.uint32)))


def _split(key, shape):
    return jnp.stack(_counted(key, shape), -1)


def _random_bits(key, bit_width, shape):
    high, low = _counted(key, shape)
    if bit_width == 64:
        return (high.astype(np.uint64) << _WORD) | low.astype(np.uint64)
    return (high ^ low).astype(f"uint{bit_width}")


_IMPLEMENTATION = define_prng_impl(
    key_shape=(2,), seed=_seed, split=_split, random_bits=_random_bits, fold_in=_fold_in,
    name="threefry2x32_written_out", tag="fry",
)


def key_of(seed, offset):
    """The key of one draw of a Generator: ``fold_in(key(seed), offset)``, of two int64."""
    return jax.random.fold_in(jax.random.key(seed, impl=_IMPLEMENTATION), offset)
