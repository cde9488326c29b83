"""Special functions with a rational approximation as accurate as XLA's; the others run through XLA."""

from __future__ import annotations

import math

import numpy as np

from .numbers import HALVES
from .table import rule

#: How many elements are worked on at a time: what the polynomial reads and writes stays in the second cache.
BLOCK = 16384
#: Up to this many float64 are computed one by one.
FEW = 4096

# erf(x) = x p(x^2) / q(x^2) up to where it rounds to 1: the minimax fit for float32 that Eigen and XLA use.
_ERF_P = tuple(map(np.float32, (2.2905065861350646e-4, 3.4082910107109506e-3, 5.0955695062380861e-2,
                                1.8520832239976145e-1, 1.128379143519084)))
_ERF_Q = tuple(map(np.float32, (-1.1791602954361697e-7, 2.3547966471313185e-5, 1.0179625278914885e-3,
                                1.4070470171167667e-2, 1.1098505178285362e-1, 4.9746925110067538e-1, 1.0)))
_ERF_EDGE = np.float32(3.7439211627767994565)
_ERF_FAR = _ERF_EDGE * _ERF_EDGE


def _erf_block(x, out) -> None:
    x = np.minimum(np.maximum(x, -_ERF_EDGE), _ERF_EDGE)
    square = x * x
    p = square * _ERF_P[0]
    p += _ERF_P[1]
    for c in _ERF_P[2:]:
        p *= square
        p += c
    q = square * _ERF_Q[0]
    q += _ERF_Q[1]
    for c in _ERF_Q[2:]:
        q *= square
        q += c
    p *= x
    np.divide(p, q, out)
    # The fit ends two roundings below 1, and 1 + erf must not be more than nothing times a large number.
    far = square >= _ERF_FAR
    if far.any():
        np.copysign(np.float32(1), x, out=out, where=far)


# M. Giles, "Approximating the erfinv function" (GPU Computing Gems, 2011): polynomials in -log(1 - x^2), for
# the middle and for the ends.
_INVERSE_MIDDLE = tuple(map(np.float32, (
    2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087, -0.00125372503,
    -0.00417768164, 0.246640727, 1.50140941)))
_INVERSE_ENDS = tuple(map(np.float32, (
    -0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773, -0.0076224613,
    0.00943887047, 1.00167406, 2.83297682)))


def _polynomial(x, coefficients):
    found = x * coefficients[0]
    found += coefficients[1]
    for c in coefficients[2:]:
        found *= x
        found += c
    return found


def erf_inv(x):
    """The inverse of the error function, of float32."""
    x = np.asarray(x)
    w = -np.log1p(-x * x)
    middle = _polynomial(w - np.float32(2.5), _INVERSE_MIDDLE)
    far = w >= 5
    if far.any():
        middle = np.where(far, _polynomial(np.sqrt(w) - np.float32(3), _INVERSE_ENDS), middle)
    return np.where(np.abs(x) == 1, np.copysign(np.float32(np.inf), x), middle * x)


@rule("erf_inv", compact=True)
def _erf_inv(site):
    return erf_inv if site.dtype == np.float32 else None


# erfc(x) = t exp(-x^2 + p(t)) with t = 1 / (1 + x / 2) for x >= 0: the fit of W. Press et al. ("Numerical
# Recipes", erfcc), whose relative error is 1.2e-7 everywhere. Here in t / 2, to save two steps.
_FIT = (0.17087277, -0.82215223, 1.48851587, -1.13520398, 0.27886807, -0.18628806, 0.09678418, 0.37409196,
        1.00002368, -1.26551223 + math.log(2.0))
_COMPLEMENT = tuple(np.float32(c * 2.0**power) for power, c in zip(range(9, -1, -1), _FIT))
_ONE, _TWO = np.float32(1), np.float32(2)


def _erfc_block(x, out) -> None:
    t = np.abs(x)
    t += _TWO
    np.reciprocal(t, t)
    power = _polynomial(t, _COMPLEMENT)
    power -= x * x
    np.exp(power, power)
    power *= t
    sign = np.copysign(_ONE, x)  # arithmetic: to choose by a mask takes as long as all the rest
    np.subtract(_ONE, sign, out)
    sign *= power
    out += sign


def _blockwise(block):
    """A function of float32 arrays of any shape from one that fills a flat block."""

    def run(x):
        x = np.asarray(x)
        out = np.empty(x.shape, np.float32)
        flat, result = x.reshape(-1), out.reshape(-1)
        for start in range(0, flat.size, BLOCK):
            block(flat[start:start + BLOCK], result[start:start + BLOCK])
        return out

    return run


erf, erfc = _blockwise(_erf_block), _blockwise(_erfc_block)


def _by_dtype(single, name, site):
    """float32 and halves by polynomials; float64 by the C library if there are few, else by XLA."""
    dtype = site.dtype
    if dtype == np.float32:
        return single
    if dtype in HALVES:
        return lambda x: single(x.astype(np.float32)).astype(dtype)
    shape = np.broadcast_shapes(*site.shapes)
    if math.prod(shape) > FEW:
        return None
    function = getattr(math, name)
    return lambda x: np.array([function(v) for v in np.ravel(x).tolist()], np.float64).reshape(shape)


@rule("erf", compact=True)
def _erf(site):
    return _by_dtype(erf, "erf", site)


@rule("erfc", compact=True)
def _erfc(site):
    return _by_dtype(erfc, "erfc", site)


#: Up to this many logarithms of the gamma function are computed one by one; a call of XLA takes as long.
FEW_GAMMAS = 256


def _log_gamma(v: float) -> float:
    try:
        return math.lgamma(v)
    except (ValueError, OverflowError):  # at the poles, and where it is too large
        return math.inf


@rule("lgamma", compact=True)
def _lgamma(site):
    dtype, shape = site.dtype, np.broadcast_shapes(*site.shapes)
    if math.prod(shape) > FEW_GAMMAS:
        return None
    def run(x):
        found = np.array([_log_gamma(v) for v in np.ravel(x).tolist()], np.float64)
        return found.astype(dtype).reshape(shape)

    return run
