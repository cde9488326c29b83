"""Tensors for programs: made from a seed, the same numbers on both libraries."""

import contextlib
import math

import numpy as np

#: Kinds of numbers, and how often each is drawn. Quarters are exact in every dtype and full of ties.
KINDS = {"quarters": 9, "normal": 7, "positive": 5, "special": 1}
SPECIAL = (math.nan, math.inf, -math.inf, 0.0, -0.0, 1.0, -2.5, 0.5)


_jitter = None


@contextlib.contextmanager
def jittered(seed):
    """While entered, numbers that are no quarters are off in their last bits of float32."""
    global _jitter
    _jitter = np.random.default_rng(seed)
    try:
        yield
    finally:
        _jitter = None


def new(T, shape, dtype, seed, kind="quarters", grad=False):
    """A tensor of the library ``T``; ``kind`` says which numbers it holds."""
    if 0 in shape:  # of an array without elements PyTorch takes over strides that NumPy has for no one
        made = T.zeros(shape, dtype=getattr(T, dtype))
    else:
        made = T.tensor(_numbers(tuple(shape), dtype, seed, kind), dtype=getattr(T, dtype))
    return made.requires_grad_() if grad else made


def _numbers(shape, dtype, seed, kind):
    rng = np.random.default_rng(seed)
    if kind == "index":
        return rng.integers(0, 2, shape)
    if dtype == "bool":
        return rng.random(shape) < 0.5
    if dtype.startswith("complex"):
        return _floats(rng, shape, kind) + 1j * _floats(rng, shape, kind)
    if "int" not in dtype:
        return _floats(rng, shape, kind)
    low = 0 if kind == "positive" or dtype == "uint8" else -3
    found = rng.integers(low, 4, shape)
    if kind == "special":
        limits = np.iinfo(dtype)
        found = np.where(rng.random(shape) < 0.3, rng.choice((limits.min, limits.max), shape), found)
    return found


def _floats(rng, shape, kind):
    if kind in ("normal", "positive"):
        found = rng.normal(size=shape) if kind == "normal" else rng.uniform(0.1, 2.0, shape)
        return found if _jitter is None else found * (1 + _jitter.normal(size=shape) * 2e-7)
    quarters = rng.integers(-8, 9, shape) / 4
    if kind == "special":
        return np.where(rng.random(shape) < 0.4, rng.choice(SPECIAL, shape), quarters)
    return quarters
