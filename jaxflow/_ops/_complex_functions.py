"""Functions of complex numbers from those of their parts, with the results that C has at its edges.

XLA's own functions are right where both parts are finite and no zero is negative. Elsewhere annex G of C says
what the result is, which PyTorch (and NumPy) take from the C library.
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp

from ._complex import inverse_root
from ._quotients import complex_quotient
from ._support import divide, is_complex, with_partials

_join = jax.lax.complex


def _sign(x):
    return jnp.copysign(jnp.ones_like(x), x)


def _times_i(z):
    return _join(-z.imag, z.real)


def _by_minus_i(z):
    return _join(z.imag, -z.real)


def _split(x):
    """Two factors of ``exp(x)``; the second is 1 unless the first alone would overflow."""
    limit = float(int(math.log(jnp.finfo(x.dtype).max)) - 1)
    return jnp.minimum(x, limit), jnp.exp(jnp.maximum(x - limit, 0))


def _exp(z):
    x, y = z.real, z.imag
    first, rest = _split(x)
    first = jnp.exp(first)
    real, imag = jnp.cos(y) * first * rest, jnp.sin(y) * first * rest
    # An exponential that vanishes has no direction, of one that is infinite it is unknown.
    nowhere = ~jnp.isfinite(y)
    vanishes, grows = nowhere & (x == -jnp.inf), nowhere & (x == jnp.inf)
    real = jnp.where(vanishes, 0.0, jnp.where(grows, jnp.inf, real))
    imag = jnp.where(vanishes, jnp.copysign(0.0, y), jnp.where(y == 0, y, imag))
    return _join(real, imag)


def _hyperbolic(z):
    """``sinh`` and ``cosh`` part by part."""
    x, y = z.real, z.imag
    first, rest = _split(jnp.abs(x))
    # XLA's own of a large number takes its rounding error for an exponent.
    grown, shrunk = 0.5 * jnp.exp(first), 0.5 * jnp.exp(-first)
    sinh = jnp.where(first < 1, jnp.sinh(jnp.minimum(first, 1)), grown - shrunk) * _sign(x)
    cosh = grown + shrunk
    sin, cos = jnp.sin(y), jnp.cos(y)
    nowhere, far = ~jnp.isfinite(y), jnp.isinf(x)
    odd = _join(jnp.where(nowhere & far, jnp.inf, jnp.where(nowhere & (x == 0), x, sinh * cos * rest)),
                jnp.where(y == 0, y, cosh * sin * rest))
    flat = jnp.where(jnp.isnan(x), y, jnp.copysign(0.0, _sign(x) * _sign(y)))
    even = _join(jnp.where(nowhere & far, jnp.inf, cosh * cos * rest),
                 jnp.where(y == 0, flat, jnp.where(nowhere & (x == 0), 0.0, sinh * sin * rest)))
    return odd, even


def _tanh(z):
    x, y = z.real, z.imag
    # It is odd, and turns with the conjugate: from the first quadrant, signs that zeros have included.
    first = jnp.tanh(_join(jnp.abs(x), jnp.abs(y)))
    real, imag = first.real * _sign(x), first.imag * _sign(y)
    far, nowhere = jnp.isinf(x), ~jnp.isfinite(y)
    real = jnp.where(far, _sign(x), jnp.where(nowhere & (x == 0), x, real))
    turned = jnp.where(nowhere, y, jnp.sin(y) * jnp.cos(y))
    imag = jnp.where(far, jnp.copysign(0.0, turned), jnp.where(y == 0, y, imag))
    return _join(real, imag)


def _atanh(z):
    """After W. Kahan (1987), "Branch cuts for complex elementary functions"."""
    x, y = jnp.abs(z.real), jnp.abs(z.imag)
    limits = jnp.finfo(x.dtype)
    # Far away it is 1 / z but for pi / 2.
    far = jnp.maximum(x, y) > 1 / limits.eps
    inverse = complex_quotient(jnp.ones_like(z), _join(jnp.where(far, x, 1.0), jnp.where(far, y, 1.0)))
    a, b = jnp.where(far, 0.5, x), jnp.where(far, 0.5, y)
    gap = 1 - a
    near = (gap == 0) & (b < math.sqrt(limits.tiny))  # so close to 1 that the square of the distance vanishes
    square = jnp.where(near, 1.0, gap * gap + b * b)
    real = jnp.where(near, 0.5 * (math.log(2) - jnp.log(jnp.where(near, b, 1.0))),
                     0.25 * jnp.log1p(4 * a / square))
    imag = jnp.where(far, math.pi / 2, 0.5 * jnp.arctan2(2 * b, gap * (1 + a) - b * b))
    real = jnp.where(far, inverse.real, real)
    upright, unknown = jnp.isinf(y), jnp.isnan(x) | jnp.isnan(y)
    nothing = upright | jnp.isinf(x) | (unknown & (x == 0))
    real = jnp.where(nothing, 0.0, jnp.where(unknown, jnp.nan, real))
    imag = jnp.where(upright, math.pi / 2, jnp.where(unknown, jnp.nan, imag))
    return _join(real * _sign(z.real), imag * _sign(z.imag))


def _asin(z):
    x, y = z.real, z.imag
    first = jnp.arcsin(_join(jnp.abs(x), jnp.abs(y)))
    high, wide, unknown = jnp.isinf(y), jnp.isinf(x), jnp.isnan(y)
    half = jnp.where(unknown, jnp.nan, jnp.where(high, math.pi / 4, math.pi / 2))
    lost = jnp.isnan(x) | unknown
    real = jnp.where(wide, half, jnp.where(high & ~lost, 0.0, jnp.where(lost, jnp.nan, first.real)))
    real = jnp.where(unknown & (x == 0), 0.0, real)
    imag = jnp.where(wide | high, jnp.inf, jnp.where(lost, jnp.nan, first.imag))
    imag = jnp.where((y == 0) & jnp.isnan(x), jnp.nan, imag)
    return _join(real * _sign(x), imag * _sign(y))


def _acos(z):
    x, y = z.real, z.imag
    first = jnp.arccos(_join(jnp.abs(x), jnp.abs(y)))
    high, wide, unknown = jnp.isinf(y), jnp.isinf(x), jnp.isnan(y)
    half = jnp.where(unknown, jnp.nan, jnp.where(high, math.pi / 4, 0.0))
    lost = jnp.isnan(x) | unknown
    real = jnp.where(wide, half, jnp.where(high & ~lost | unknown & (x == 0), math.pi / 2, jnp.where(
        lost, jnp.nan, first.real)))
    imag = jnp.where(wide | high, jnp.inf, jnp.where(lost, jnp.nan, jnp.abs(first.imag)))
    return _join(jnp.where(jnp.signbit(x), math.pi - real, real), imag * -_sign(y))


def _acosh(z):
    found = _acos(z)
    return _join(jnp.abs(found.imag), jnp.copysign(found.real, z.imag))


def _log(z):
    found = jnp.log(z)
    infinite = jnp.isinf(z.real) | jnp.isinf(z.imag)
    return _join(jnp.where(infinite, jnp.inf, found.real), jnp.arctan2(z.imag, z.real))


def _log1p(z):
    """Near 0 from the square of ``abs(1 + z)`` without its 1."""
    x, y = z.real, z.imag
    near = jnp.hypot(x, y) < 0.5
    a, b = jnp.where(near, x, 0.0), jnp.where(near, y, 0.0)
    size = _log(_join(jnp.where(near, 1.0, x + 1), y)).real
    gain = a * (2 + a) + b * b
    close = jnp.where((x == 0) & (y == 0), x, 0.5 * jnp.log1p(gain))
    return _join(jnp.where(near, close, size), jnp.arctan2(y, x + 1))


def _expm1(z):
    x, y = z.real, z.imag
    half = jnp.sin(y / 2)
    return _join(jnp.expm1(x) * jnp.cos(y) - 2 * half * half, jnp.exp(x) * jnp.sin(y))


def _scaled(by, fn):
    def scaled(z):
        found = fn(z)
        return _join(found.real * by, found.imag * by)

    return scaled


def _turned(fn):
    """``-i f(i z)``: what is a hyperbolic function of ``z`` as a trigonometric one."""
    return lambda z: _by_minus_i(fn(_times_i(z)))


def _product(z, by):
    return _join(z.real * by, z.imag * by)


def _c_product(p, q):
    """The product by annex G of C: an infinite factor outweighs nan beside it."""
    a, b, c, d = p.real, p.imag, q.real, q.imag
    real, imag = a * c - b * d, a * d + b * c
    one, other = jnp.isinf(a) | jnp.isinf(b), jnp.isinf(c) | jnp.isinf(d)
    lost = (one | other) & jnp.isnan(real) & jnp.isnan(imag)
    a, b = (jnp.where(one, _corner(x), _unless_nan(x)) for x in (a, b))
    c, d = (jnp.where(other, _corner(x), _unless_nan(x)) for x in (c, d))
    return _join(jnp.where(lost, jnp.inf * (a * c - b * d), real),
                 jnp.where(lost, jnp.inf * (a * d + b * c), imag))


def _corner(x):
    return jnp.copysign(jnp.where(jnp.isinf(x), 1.0, 0.0).astype(x.dtype), x)


def _unless_nan(x):
    return jnp.where(jnp.isnan(x), jnp.copysign(0.0, x), x)


def complex_power(base, exponent):
    """``exp(exponent * log(base))``; the powers of 0 follow from its infinite logarithm."""
    return _exp(_c_product(exponent, _log(base)))


def _sin(z):
    found = _by_minus_i(_hyperbolic(_times_i(z))[0])
    return _join(found.real, jnp.where(jnp.isinf(z.imag) & ~jnp.isfinite(z.real), jnp.inf, found.imag))


def _of_kind(real, of_complex, slope):
    """``real`` of real numbers; of complex ones another function with its derivative."""
    of_complex = with_partials(slope)(of_complex)

    def fn(x):
        return of_complex(x) if is_complex(x) else real(x)

    return fn


def _one_over(x):
    return divide(jnp.ones_like(x), x)


exp = _of_kind(jnp.exp, _exp, lambda out, x: out)
exp2 = _of_kind(jnp.exp2, lambda z: _exp(_product(z, math.log(2))), lambda out, x: out * math.log(2))
expm1 = _of_kind(jnp.expm1, _expm1, lambda out, x: out + 1)
log = _of_kind(jnp.log, _log, lambda out, x: _one_over(x))
log2 = _of_kind(jnp.log2, _scaled(1 / math.log(2), _log), lambda out, x: _one_over(x * math.log(2)))
log10 = _of_kind(jnp.log10, _scaled(1 / math.log(10), _log), lambda out, x: _one_over(x * math.log(10)))
log1p = _of_kind(jnp.log1p, _log1p, lambda out, x: _one_over(x + 1))
sin = _of_kind(jnp.sin, _sin, lambda out, x: cos(x))
cos = _of_kind(jnp.cos, lambda z: _hyperbolic(_times_i(z))[1], lambda out, x: -sin(x))
tan = _of_kind(jnp.tan, _turned(_tanh), lambda out, x: out * out + 1)
sinh = _of_kind(jnp.sinh, lambda z: _hyperbolic(z)[0], lambda out, x: cosh(x))
cosh = _of_kind(jnp.cosh, lambda z: _hyperbolic(z)[1], lambda out, x: sinh(x))
# The derivative of jnp.tanh multiplies what arrives by 1 + tanh first, which may be too large a number.
tanh = _of_kind(with_partials(lambda out, x: 1 - out * out)(jnp.tanh), _tanh, lambda out, x: 1 - out * out)
asin = _of_kind(jnp.arcsin, _asin, lambda out, x: inverse_root(1 - x * x))
acos = _of_kind(jnp.arccos, _acos, lambda out, x: -inverse_root(1 - x * x))
atan = _of_kind(jnp.arctan, _turned(_atanh), lambda out, x: _one_over(x * x + 1))
asinh = _of_kind(jnp.arcsinh, lambda z: _times_i(_asin(_by_minus_i(z))),
                 lambda out, x: inverse_root(x * x + 1))
acosh = _of_kind(jnp.arccosh, _acosh, lambda out, x: inverse_root(x - 1) * inverse_root(x + 1))
atanh = _of_kind(jnp.arctanh, _atanh, lambda out, x: _one_over(1 - x * x))
