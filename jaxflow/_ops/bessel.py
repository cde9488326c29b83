"""Bessel and Airy functions, computed in double precision whatever the dtype.

Near zero each is a polynomial (beside its logarithm and pole, if any), far off it is what its asymptotic
expansion has as factors: an amplitude and a shift of phase, or a power and an exponential, as in Abramowitz
and Stegun, 9.2.5, 9.2.6, 9.6.11, 9.6.13 and 10.4.59, 10.4.60. The polynomials stand in `_polynomials.py`,
which `tools/special_tables.py` writes. PyTorch has no derivatives for these functions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import jax.numpy as jnp
import jax.scipy.special as jsp
import numpy as np

from jaxflow._core.dtype import COMPLEX

from . import _polynomials as tables
from ._support import needs_single, refuse
from .pointwise import declare_unary


def polynomial(coefficients: Sequence[float], t):
    """The value at ``t`` of a polynomial, highest power first, by Horner's rule."""
    total = jnp.full_like(t, coefficients[0])
    for c in coefficients[1:]:
        total = total * t + c
    return total


def _ordinary(order: int, second: bool) -> Callable:
    """`J` or (``second``) `Y` of order 0 or 1 at ``x >= 0``."""
    first = (tables.J0, tables.J1)[order]
    rest = (tables.Y0, tables.Y1)[order]
    in_phase, out_of_phase = ((tables.P0, tables.Q0), (tables.P1, tables.Q1))[order]

    def function(x):
        near = jnp.minimum(x, 8)
        power = near if order else 1
        t = near * near / 32 - 1
        small = power * polynomial(first, t)
        if second:
            small = power * polynomial(rest, t) + (2 / math.pi) * (
                jnp.log(near) * small - (1 / near if order else 0))
        far = jnp.maximum(x, 8)
        t = 128 / (far * far) - 1
        p, q = polynomial(in_phase, t), polynomial(out_of_phase, t) * 8 / far
        # cos and sin of x - pi / 4, without rounding the difference; a quarter turn further for order 1
        sine, cosine = jnp.sin(far), jnp.cos(far)
        cosine, sine = (cosine + sine), (sine - cosine)
        if order:
            cosine, sine = sine, -cosine
        wave = p * sine + q * cosine if second else p * cosine - q * sine
        return jnp.where(x <= 8, small, wave / jnp.sqrt(math.pi * far))

    return function


_j0, _j1 = _ordinary(0, False), _ordinary(1, False)
_y0, _y1 = _ordinary(0, True), _ordinary(1, True)


def _from_zero(y: Callable) -> Callable:
    """A second solution: minus infinity at 0, undefined below."""

    def function(x):
        value = y(jnp.where(x > 0, x, 1))
        return jnp.where(x > 0, value, jnp.where(x == 0, -jnp.inf, jnp.nan))

    return function


def _modified(order: int, scaled: bool) -> Callable:
    """`K` of order 0 or 1, times ``exp(x)`` if ``scaled``; infinite at 0, undefined below."""
    first = (tables.I0, tables.I1)[order]
    rest = (tables.K0, tables.K1)[order]
    beyond = (tables.K0_LARGE, tables.K1_LARGE)[order]

    def function(x):
        near = jnp.where(x > 0, jnp.minimum(x, 2), 1)
        t = near * near / 2 - 1
        small, log = polynomial(rest, t), jnp.log(near / 2) * polynomial(first, t)
        small = small / near + log * near if order else small - log
        if scaled:
            small = small * jnp.exp(near)
        far = jnp.maximum(x, 2)
        large = polynomial(beyond, 4 / far - 1) / jnp.sqrt(far)
        if not scaled:
            large = large * jnp.exp(-far)
        value = jnp.where(x <= 2, small, large)
        return jnp.where(x > 0, value, jnp.where(x == 0, jnp.inf, jnp.nan))

    return function


def _airy_ai(x):
    middle = polynomial(tables.AIRY, (jnp.clip(x, -4, 2.25) + 0.875) / 3.125)
    z = jnp.maximum(x, 2.25)
    zeta = 2 / 3 * z * jnp.sqrt(z)
    root = jnp.sqrt(jnp.sqrt(z))
    decay = polynomial(tables.AIRY_DECAY, 4.5 / zeta - 1) * jnp.exp(-zeta) / (2 * math.sqrt(math.pi) * root)
    z = jnp.maximum(-x, 4)
    zeta = 2 / 3 * z * jnp.sqrt(z)
    root = jnp.sqrt(jnp.sqrt(z))
    turn = 16 / 3 / zeta
    angle = zeta + math.pi / 4
    wave = (jnp.sin(angle) * polynomial(tables.AIRY_SIN, 2 * turn * turn - 1)
            - jnp.cos(angle) * polynomial(tables.AIRY_COS, 2 * turn * turn - 1) * turn)
    wave = wave / (math.sqrt(math.pi) * root)
    value = jnp.where(x > 2.25, decay, jnp.where(x < -4, wave, middle))
    return jnp.where(jnp.isinf(x), jnp.nan, value)


def _spherical_j0(x):
    small = jnp.abs(x) < 0.5
    square = x * x
    series = 1 - square / 6 * (1 - square / 20 * (1 - square / 42 * (1 - square / 72 * (1 - square / 110))))
    return jnp.where(jnp.isinf(x), 0, jnp.where(small, series, jnp.sin(x) / jnp.where(small, 1, x)))


def _finite_only(function: Callable) -> Callable:
    """PyTorch's modified functions of the first kind are undefined, not infinite, at infinity."""
    return lambda x: jnp.where(jnp.isinf(x), jnp.nan, function(x))


_ROWS = (
    ("airy_ai", _airy_ai, "The Airy function Ai."),
    ("bessel_j0", lambda x: _j0(jnp.abs(x)), "The Bessel function of the first kind of order 0."),
    ("bessel_j1", lambda x: jnp.copysign(jnp.ones_like(x), x) * _j1(jnp.abs(x)),
     "The Bessel function of the first kind of order 1."),
    ("bessel_y0", _from_zero(_y0), "The Bessel function of the second kind of order 0; nan below 0."),
    ("bessel_y1", _from_zero(_y1), "The Bessel function of the second kind of order 1; nan below 0."),
    ("modified_bessel_i0", _finite_only(jsp.i0),
     "The modified Bessel function of the first kind of order 0."),
    ("modified_bessel_i1", _finite_only(jsp.i1),
     "The modified Bessel function of the first kind of order 1."),
    ("modified_bessel_k0", _modified(0, False),
     "The modified Bessel function of the second kind of order 0; nan below 0."),
    ("modified_bessel_k1", _modified(1, False),
     "The modified Bessel function of the second kind of order 1; nan below 0."),
    ("scaled_modified_bessel_k0", _modified(0, True), "``exp(input)`` times `modified_bessel_k0`."),
    ("scaled_modified_bessel_k1", _modified(1, True), "``exp(input)`` times `modified_bessel_k1`."),
    ("spherical_bessel_j0", _spherical_j0, "``sin(input) / input``, 1 at 0."),
)


def in_double(name: str, function: Callable) -> Callable:
    """``function``, computed in float64 and rounded once; complex numbers are refused."""

    def run(*inputs):
        first = inputs[0]
        refuse(f"{name}_cpu", first, COMPLEX)
        return function(*(x.astype(np.float64) for x in inputs)).astype(first.dtype)

    return run


for _name, _fn, _doc in _ROWS:
    declare_unary(_name, in_double(_name, _fn), _doc, promote="int_to_float", namespace="special",
                  variants="function out", differentiable=False, check=needs_single(f"{_name}_cpu"))
