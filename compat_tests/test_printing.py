"""The text of seeded random tensors, compared with PyTorch's character for character."""

import contextlib

import jax.numpy as jnp
import numpy as np
import pytest
import torch

from jaxflow._core import dtype as dtypes
from jaxflow._core import printing

TYPES = sorted({d.name for d in dtypes.ALL.values()})
DEFAULTS = ["float32", "float64", "bfloat16", "float16"]
SPECIAL = [0.0, -0.0, np.nan, np.inf, -np.inf]
LENGTHS = [0, 1, 1, 2, 3, 4, 5, 7, 12, 40]
CHOICES = {
    "precision": [0, 1, 2, 4, 8],
    "threshold": [0, 5, 50, 1000],
    "edgeitems": [0, 1, 2, 3, 5],
    "linewidth": [0, 10, 40, 80, 200],
    "profile": ["default", "short", "full"],
    "sci_mode": [None, True, False],
}
CASES_OF_A_TYPE = 300


def pick(rng, values):
    return values[rng.integers(len(values))]


def random_shape(rng):
    rank = pick(rng, [0, 1, 1, 2, 2, 3, 4])
    shape = [pick(rng, LENGTHS) for _ in range(rank)]
    if 0 < rank < 3 and rng.random() < 0.2:
        shape[rng.integers(rank)] = pick(rng, [150, 1300])
    return tuple(shape) if np.prod(shape) < 20000 else shape[-1:]


def random_reals(rng, shape):
    """Numbers of one magnitude, of many, or integral, with zeros, infinities and nans strewn in."""
    values = np.asarray(rng.standard_normal(shape)) * 10.0 ** rng.integers(-6, 7)
    style = pick(rng, ["plain", "plain", "integral", "small integral", "spread"])
    if style == "integral":
        values = np.round(values)
    elif style == "small integral":
        values = np.round(rng.standard_normal(shape) * 5)
    elif style == "spread":
        values = values * 10.0 ** rng.integers(-5, 6, shape)
    values = np.asarray(values)
    if rng.random() < 0.3:
        for special in SPECIAL:
            values = np.where(rng.random(shape) < pick(rng, [0, 0, 0.2]), special, values)
    return values


def random_array(rng, dtype):
    shape = random_shape(rng)
    values = random_reals(rng, shape)
    if dtype.is_complex:
        values = np.stack([values, random_reals(rng, shape)], -1).view(np.complex128)[..., 0]
    elif not dtype.is_floating_point:
        values = np.nan_to_num(values, posinf=5, neginf=3)
        values = values if dtype.is_signed else np.abs(values)
    with np.errstate(all="ignore"):
        return np.asarray(values).astype(dtype.np)


def to_torch(array, dtype):
    """The same bits as a torch tensor; NumPy has no types of its own for the short floats."""
    bits = array.view({1: "u1", 2: "u2"}[dtype.itemsize]) if dtype.np.num >= 24 else array
    return torch.from_numpy(bits.copy()).view(getattr(torch, dtype.name))


def random_options(rng):
    if rng.random() < 0.5:
        return {}
    return {name: pick(rng, values) for name, values in CHOICES.items() if rng.random() < 0.4}


SIDES = [(torch, torch.set_printoptions), (dtypes, printing.set_printoptions)]


@contextlib.contextmanager
def settings(options, default):
    for module, set_options in SIDES:
        set_options(**options)
        module.set_default_dtype(getattr(module, default))
    try:
        yield
    finally:
        for module, set_options in SIDES:
            set_options(profile="default")
            module.set_default_dtype(module.float32)


@pytest.mark.parametrize("name", TYPES)
def test_random_arrays(name):
    dtype = dtypes.ALL[name]
    rng = np.random.default_rng(TYPES.index(name))
    for _ in range(CASES_OF_A_TYPE):
        array = random_array(rng, dtype)
        options = random_options(rng)
        requires_grad = bool(rng.random() < 0.2) and dtype.category >= dtypes.FLOATING
        with settings(options, pick(rng, DEFAULTS) if rng.random() < 0.3 else "float32"):
            expected = repr(to_torch(array, dtype).requires_grad_(requires_grad))
            actual = printing.tensor_repr(array, dtype, requires_grad=requires_grad)
        assert actual == expected, (array.shape, options)


@pytest.mark.parametrize("name", ["float32", "bfloat16", "int64", "complex64", "float8_e5m2"])
def test_jax_arrays_are_summarised_alike(name):
    dtype = dtypes.ALL[name]
    rng = np.random.default_rng(0)
    for shape in [(1001,), (30, 40), (4, 300), (11, 10, 10), (2, 3, 4, 50)]:
        array = rng.standard_normal(shape).astype(dtype.np)
        expected = repr(to_torch(array, dtype))
        assert printing.tensor_repr(jnp.asarray(array), dtype) == expected
