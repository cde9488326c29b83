"""Counter-based random bits: Threefry-2x32 with 20 rounds (Salmon et al., 2011), bit for bit jax's.

An array of keys is an array of uint32 with one more axis, of two words.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

import jax
import numpy as np

from .fallback import is_key
from .table import rule

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = np.uint32(0x1BD11BDA)
#: Up to this many counters are hashed as lanes of one Python integer; NumPy's hundred calls cost as much as
#: hashing some tens so.
FEW = 32
#: Counters hashed at a time: the two words and the scratch stay in the second cache.
BLOCK = 16384


def threefry2x32(key0, key1, x0, x1):
    """The hash of counters (x0, x1), arrays of one shape, under one key of two words."""
    shape = np.shape(x0)
    if math.prod(shape) <= FEW:
        x0, x1 = _hash_few(int(key0), int(key1), np.ravel(x0).tolist(), np.ravel(x1).tolist())
        return x0.reshape(shape), x1.reshape(shape)
    x0, x1 = (np.array(x, np.uint32).reshape(-1) for x in (x0, x1))
    keys = (key0, key1, key0 ^ key1 ^ _PARITY)
    for start in range(0, x0.size, BLOCK):
        _hash(keys, x0[start:start + BLOCK], x1[start:start + BLOCK])
    return x0.reshape(shape), x1.reshape(shape)


def _hash(keys, x0, x1) -> None:
    """In place."""
    scratch = np.empty_like(x1)
    add, left, right, bit_or, xor = np.add, np.left_shift, np.right_shift, np.bitwise_or, np.bitwise_xor
    add(x0, keys[0], x0)
    add(x1, keys[1], x1)
    for i in range(5):
        for r in _ROTATIONS[i % 2]:
            add(x0, x1, x0)
            left(x1, np.uint32(r), scratch)
            right(x1, np.uint32(32 - r), x1)
            bit_or(x1, scratch, x1)
            xor(x0, x1, x1)
        add(x0, keys[(i + 1) % 3], x0)
        add(x1, keys[(i + 2) % 3] + np.uint32(i + 1), x1)


def _hash_lanes(key0: int, key1: int, x0: int, x1: int, ones: int) -> tuple[int, int]:
    """The same for counters that lie as lanes of 64 bits in two integers; ``ones`` has a 1 in every lane.

    What is shifted or carried out of a lane's lower half ends in an upper half and is masked away.
    """
    mask = ones * 0xFFFFFFFF
    keys = (key0 * ones, key1 * ones, (key0 ^ key1 ^ 0x1BD11BDA) * ones)
    x0, x1 = (x0 + keys[0]) & mask, (x1 + keys[1]) & mask
    for i in range(5):
        for r in _ROTATIONS[i & 1]:
            x0 = (x0 + x1) & mask
            x1 = ((x1 << r | x1 >> 32 - r) & mask) ^ x0
        x0, x1 = (x0 + keys[(i + 1) % 3]) & mask, (x1 + keys[(i + 2) % 3] + (i + 1) * ones) & mask
    return x0, x1


def _hash_few(key0: int, key1: int, x0: list[int], x1: list[int]) -> list[np.ndarray]:
    """The two words of the hashes of a few counters."""
    ones = _ones(len(x0))
    found = _hash_lanes(key0, key1, _packed(x0), _packed(x1), ones)
    return [np.frombuffer(x.to_bytes(8 * len(x0), "little"), np.uint32)[::2] for x in found]


def _packed(words: Sequence[int]) -> int:
    packed = 0
    for word in reversed(words):
        packed = packed << 64 | word
    return packed


@functools.lru_cache(maxsize=64)
def _first(lanes: int) -> int:
    return _packed(range(lanes))


@functools.lru_cache(maxsize=64)
def _ones(lanes: int) -> int:
    return _packed([1] * lanes)


def _is_threefry(aval) -> bool:
    return is_key(aval) and str(aval.dtype) == "key<fry>"


def _words(key):
    return np.uint32(key[0]), np.uint32(key[1])


@rule("threefry2x32")
def _threefry2x32(site):
    shapes = {aval.shape for aval in site.ins[2:]}
    if site.ins[0].shape != () or site.ins[1].shape != () or len(shapes) != 1:
        return None
    return lambda k0, k1, x0, x1: threefry2x32(np.uint32(k0), np.uint32(k1), x0, x1)


def _counters(shape):
    """The 64-bit numbers of the elements, as two words."""
    size = math.prod(shape)
    low = np.arange(size, dtype=np.uint32) if size < 1 << 32 else np.arange(size, dtype=np.uint64)
    high = np.zeros(size, np.uint32) if size < 1 << 32 else (low >> np.uint64(32)).astype(np.uint32)
    return high, low.astype(np.uint32)


def few_words(size: int, key) -> np.ndarray:
    """``size`` random words of 32 bits, no more than `FEW`."""
    x0, x1 = _hash_lanes(int(key[0]), int(key[1]), 0, _first(size), _ones(size))
    return np.frombuffer((x0 ^ x1).to_bytes(8 * size, "little"), np.uint32)[::2]


@rule("random_bits", keys=True)
def _random_bits(site):
    shape, width = tuple(site.params["shape"]), site.params["bit_width"]
    if not _is_threefry(site.ins[0]) or site.ins[0].shape != () or not jax.config.jax_threefry_partitionable:
        return None
    dtype = site.dtype

    def bits(key):
        size = math.prod(shape)
        if size <= FEW and width == 32:
            return few_words(size, key).reshape(shape)
        high, low = threefry2x32(*_words(key), *_counters(shape))
        if width == 64:
            found = (high.astype(np.uint64) << np.uint64(32)) | low
        else:
            found = (high ^ low).astype(dtype)
        return found.reshape(shape)

    return bits


@rule("random_seed", keys=True)
def _random_seed(site):
    if not _is_threefry(site.outs[0]) or site.ins[0].shape != () or site.ins[0].dtype.kind not in "iu":
        return None

    def seed(number):
        return np.array(words_of(int(number), size), np.uint32)

    size = site.ins[0].dtype.itemsize
    return seed


def words_of(number: int, size: int = 8) -> tuple[int, int]:
    """The key of a seed; those of 32 bits and less have no upper word."""
    return (number >> 32) & 0xFFFFFFFF if size == 8 else 0, number & 0xFFFFFFFF


def fold_in(key, number: int) -> tuple[int, int]:
    """The key of ``number`` under ``key``."""
    return _hash_lanes(int(key[0]), int(key[1]), 0, number & 0xFFFFFFFF, 1)


@rule("random_fold_in", keys=True)
def _random_fold_in(site):
    if not _is_threefry(site.ins[0]) or site.ins[0].shape != () or site.ins[1].shape != ():
        return None
    return lambda key, number: np.array(fold_in(key, int(number)), np.uint32)


@rule("random_split", keys=True)
def _random_split(site):
    shape = tuple(site.params["shape"])
    if not _is_threefry(site.ins[0]) or site.ins[0].shape != () or not jax.config.jax_threefry_partitionable:
        return None

    def split(key):
        x0, x1 = threefry2x32(*_words(key), *_counters(shape))
        return np.stack((x0, x1), axis=-1).reshape(*shape, 2)

    return split
