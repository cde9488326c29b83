"""Complex functions where a part is infinite, nan, a zero of either sign, tiny or huge, in every executor.

PyTorch computes a tensor of a few elements, or the last few of a long one, by other code than whole vectors.
Where its answers differ by that, either is right; for complex64 so is what it gives for the same numbers in
double precision.
"""

import functools

import numpy as np
import pytest
import torch

import jaxflow
from compat_tests.fuzz.machine import running

UNARY = ("exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh "
         "sqrt rsqrt reciprocal sigmoid sgn abs angle sinc square").split()
NUMBERS = (0, 0.5, 1, 2, 3, -0.5, -1, -2, 1.5, 4, 2j, 1 + 1j)
#: A number beside the tensor, on either side.
WITH_NUMBERS = {
    "silu": lambda T, x: T.nn.functional.silu(x),
    "x / 2": lambda T, x: x / 2,
    "1 / x": lambda T, x: 1 / x,
    "x * 2": lambda T, x: x * 2,
    "x * 1j": lambda T, x: x * 1j,
    **{f"x ** {k}": lambda T, x, k=k: x ** k for k in NUMBERS},
    **{f"{k} ** x": lambda T, x, k=k: k ** x for k in (0, 1, 2, -1, 0.5, 2j)},
}
BINARY = ("mul", "div", "pow", "float_power", "logaddexp", "ldexp", "eq", "logical_and", "isclose")
EDGES = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan]
MORE = {"complex64": [1e-30, 1e30, 0.5, -2.0], "complex128": [1e-200, 1e200, 0.5, -2.0]}
EXECUTORS = ("interpreter", "compiled", "eager")
#: Where PyTorch's answer is none. Its log1p has nan beside some infinite parts; its acos of complex128, other
#: than that of complex64, is a difference, in which small parts and the signs of zeros are lost; the angle of
#: a huge power is rounding error. Sums with infinite parts (add, sub, addcmul) are missing: it multiplies an
#: operand by 1 + 0j there.
LEFT_OUT = {
    "log1p": lambda z: np.isinf(z) & ~np.isin(z.real, [0, 1, -1, 0.5, -2]),
    "acos": lambda z: (np.abs(z.imag) < 1e-100) | (np.abs(z) > 2),
    "pow": lambda base, exponent: np.isfinite(exponent) & (np.abs(exponent) > 2.5),
}
LEFT_OUT["float_power"] = LEFT_OUT["pow"]


def grid(dtype):
    """Every pair of the edges as one number."""
    parts = np.array(EDGES + MORE[dtype])
    real, imag = np.meshgrid(parts, parts, indexing="ij")
    found = np.empty(real.size, dtype)
    found.real, found.imag = real.ravel(), imag.ravel()
    return found


def pairs(dtype):
    """Every number of the grid beside every other."""
    z = grid(dtype)
    return np.repeat(z, len(z)), np.tile(z, len(z))


def call(T, name, *operands):
    if name in WITH_NUMBERS:
        return WITH_NUMBERS[name](T, *operands)
    return getattr(T, name)(*operands)


def by_torch(name, *operands):
    """What PyTorch gives for whole vectors, and for one element at a time."""
    long = call(torch, name, *(torch.from_numpy(np.repeat(x, 16)) for x in operands))[::16]
    # Two apart lie no whole vectors: those too go one by one.
    short = call(torch, name, *(torch.from_numpy(np.repeat(x, 2))[::2] for x in operands))
    return [long.numpy(), short.numpy()]


@functools.cache
def answers(name, dtype):
    """The operands of a function, and all that is right."""
    operands = (grid(dtype),) if name in UNARY or name in WITH_NUMBERS else pairs(dtype)
    right = by_torch(name, *operands)
    if dtype == "complex64":
        with np.errstate(all="ignore"):
            doubled = by_torch(name, *(x.astype("complex128") for x in operands))
            right += [x.astype(right[0].dtype) for x in doubled]
    return operands, right


def parts_of(x):
    return np.stack([x.real, x.imag] if x.dtype.kind == "c" else [x]).astype(np.float64)


def alike(found, expected, tolerance, least, signed):
    """Where all parts are the same; signs of zeros count if ``signed``, or beside what is not finite."""
    with np.errstate(all="ignore"):
        size = np.abs(np.where(np.isfinite(expected), expected, 0)).max(0)
        close = np.isfinite(found) & (np.abs(found - expected) <= tolerance * size + least)
    zeros = (found == 0) & (expected == 0)
    close &= ~zeros if signed else True
    zeros &= np.signbit(found) == np.signbit(expected)
    same = close | zeros | (found == expected) & np.isinf(expected) | np.isnan(found) & np.isnan(expected)
    return same.all(0)


def wrong(name, dtype, found):
    """Where ``found`` is none of the right answers."""
    operands, right = answers(name, dtype)
    tolerance = 1e-5 if dtype == "complex64" else 1e-12
    found, right = parts_of(found), [parts_of(x) for x in right]
    signed = name in UNARY and name not in ("sinc", "square", "sigmoid", "rsqrt", "reciprocal")
    # XLA has zeros for numbers below the least normal one.
    least = np.finfo(dtype).tiny
    ok = np.any([alike(found, x, tolerance, least, signed) for x in right], axis=0)
    if name in LEFT_OUT:
        ok |= LEFT_OUT[name](*operands)
    return [(*(x[i] for x in operands), right[0][:, i], found[:, i]) for i in np.flatnonzero(~ok)]


@pytest.mark.parametrize("mode", EXECUTORS)
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", [*UNARY, *WITH_NUMBERS, *BINARY])
def test_complex_functions_at_their_edges(name, dtype, mode):
    operands, _ = answers(name, dtype)
    with running(mode):
        found = call(jaxflow, name, *map(jaxflow.tensor, operands)).numpy()
    assert not wrong(name, dtype, found)[:10]
