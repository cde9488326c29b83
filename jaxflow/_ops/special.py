"""Special functions of one tensor."""

from __future__ import annotations

import functools
import math

import jax
import jax.numpy as jnp
import jax.scipy.special as jsp
import numpy as np

from jaxflow._core import dtype as dtypes
from jaxflow._core.dtype import BOOL, COMPLEX
from jaxflow._core.numbers import check_fits
from jaxflow._plans.op import Out, Underived, op

from ._bools import NEGATED, bools_at
from ._complex import inverse
from ._complex_functions import cos, exp, sin
from ._polynomials import ERFCX
from ._support import (
    added_to_zero,
    divide,
    is_complex,
    needs_single,
    numbered_of_two,
    refuse,
    wide,
    with_partials,
)
from .bessel import in_double, polynomial
from .pointwise import declare_unary


@with_partials(lambda out, x: 2 / math.sqrt(math.pi) * jnp.exp(-(x * x)))
def _erf(x):
    return jax.lax.erf(x)


@with_partials(lambda out, x: -2 / math.sqrt(math.pi) * jnp.exp(-(x * x)))
def _erfc(x):
    return jax.lax.erfc(x)


@with_partials(lambda out, x: 0.5 * math.sqrt(math.pi) * jnp.exp(out * out))
def _erfinv(x):
    # In double: the slope near 1 multiplies every rounding error of the value.
    return jax.lax.erf_inv(x.astype(np.float64)).astype(x.dtype)


def _d_sinc(out, x):
    product = x * np.pi
    safe = jnp.where(product == 0, 1, product)
    slope = divide(np.pi * (cos(safe) - divide(sin(safe), safe)), safe)  # the square may be too small
    return product != 0, slope


@with_partials(_d_sinc)
def _sinc(x):
    product = x * np.pi
    safe = jnp.where(product == 0, 1, product)
    return jnp.where(product == 0, 1, divide(sin(safe), safe))


def _polygamma(n, x):
    """The derivative of order ``n`` of the digamma function, on both sides of zero."""
    if n == 0:
        return _digamma(x)
    return _polygamma_of_order(n)(x)


@functools.cache
def _polygamma_of_order(n):
    """A function, so that its derivative can be the next one."""

    @with_partials(lambda out, x: _polygamma(n + 1, x))
    def polygamma(x):
        # The zeta function has no negative offsets; reflection about 1/2 leads to positive ones, by a
        # difference of large numbers that needs double precision.
        given, narrow, x = x.dtype, x, x.astype(np.float64)
        below = x < 0
        whole = x == jnp.floor(x)
        turned = jnp.where(below, 1 - x, x)
        order = jnp.asarray(n + 1, x.dtype)
        value = (-1) ** (n + 1) * math.factorial(n) * jsp.zeta(order, turned)
        turned_value = value
        angle = jnp.where(below, x - jnp.round(x), 0.25) * np.pi
        cotangent, slope = jnp.cos(angle) / jnp.sin(angle), 0.0
        for coefficient in _cotangent_slope(n):
            slope = slope * cotangent + coefficient
        value = jnp.where(below, (-1) ** n * value - np.pi ** (n + 1) * slope, value)
        if n == 1:
            # PyTorch's reflection divides by the sine of a rounded multiple of pi, which is not 0.
            rounded = (wide(narrow) * jnp.asarray(np.pi, wide(narrow).dtype)).astype(np.float64)
            value = jnp.where(below & whole, (np.pi / jnp.sin(rounded)) ** 2 - turned_value, value)
            value = jnp.where(x == jnp.inf, 0, jnp.where(x == -jnp.inf, jnp.nan, value))
        else:
            # Poles wherever an offset of the zeta function may be one, and none of its values at infinity.
            value = jnp.where((x <= 0) & whole, (-1) ** (n + 1) * jnp.inf, value)
            value = jnp.where(x == jnp.inf, jnp.nan, value)
        return value.astype(given)

    return polygamma


def _cotangent_slope(n):
    """The n-th derivative of the cotangent, as the coefficients of a polynomial in the cotangent."""
    coefficients = [1.0, 0.0]
    for _ in range(n):
        coefficients = np.polymul([-1.0, 0.0, -1.0], np.polyder(coefficients))
    return [float(c) for c in coefficients]


@with_partials(lambda out, x: _polygamma(1, x))
def _digamma(x):
    pole = jnp.abs(x) < jnp.finfo(x.dtype).tiny  # XLA takes numbers below for 0, or has nan of them
    value = jsp.digamma(jnp.where(pole, 1, x))
    # Minus infinity at 0, plus at -0, as the limits from either side say.
    return jnp.where(pole, jnp.copysign(jnp.asarray(jnp.inf, x.dtype), -x), value)


@with_partials(lambda out, x: _digamma(x))
def _lgamma(x):
    # XLA's is off by a few roundings of 1 at its zeros, which are equal numbers then no more.
    return jnp.where((x == 1) | (x == 2), 0, jsp.gammaln(x))


# The slopes of the Bessel functions, written out: jax's are nan at 0.
@with_partials(lambda out, x: _i1(x))
def _i0(x):
    return jsp.i0(x)


@with_partials(lambda out, x: _i1e(x) - jnp.sign(x) * out)
def _i0e(x):
    return jsp.i0e(x)


def _over(y, x):
    return jnp.where(x == 0, 0.5, y / jnp.where(x == 0, 1, x))


@with_partials(lambda out, x: _i0(x) - _over(out, x))
def _i1(x):
    return jnp.where(x == 0, 0, jsp.i1(x))  # PyTorch's loses the sign of -0


@with_partials(lambda out, x: _i0e(x) - jnp.sign(x) * out - _over(out, x))
def _i1e(x):
    return jnp.where(x == 0, 0, jsp.i1e(x))


def _normal_hazard(x):
    """The normal density over its integral. In float64: two large logarithms are subtracted."""
    wide = x.astype(jnp.float64)
    slope = jnp.exp(-0.5 * wide * wide - jsp.log_ndtr(wide)) / math.sqrt(2 * math.pi)
    # Far below 0 the difference loses every digit; Mills' ratio has a series there.
    return jnp.where(wide < -1e3, -wide - 1 / wide, slope).astype(x.dtype)


@with_partials(lambda out, x: _normal_hazard(x))
def _log_ndtr(x):
    """By `erfcx` far below 0; else by `erfc`, for 1 less a little keeps few digits of it."""
    t = x / math.sqrt(2)
    low = jnp.minimum(t, 0)
    far = jnp.log(_erfcx(-low.astype(np.float64)) / 2).astype(x.dtype) - low * low
    return jnp.where(x < -1, far, jnp.log1p(-jax.lax.erfc(t) / 2))


@with_partials(lambda out, x: 2 * x * out - 2 / math.sqrt(math.pi))
def _erfcx(x):
    """Above 0 by one polynomial (Shepherd and Laframboise, Math. Comp. 36, 1981), below by reflection."""
    above = jnp.abs(x)
    # of (above - 3.75) / (above + 3.75), which must not be inf / inf
    value = polynomial(ERFCX, 1 - 7.5 / (above + 3.75)) / (1 + 2 * above)
    return jnp.where(x < 0, 2 * jnp.exp(x * x) - value, value)


# name, function, kernel that refuses complex numbers, where published, other names, sentence
_ROWS = (
    ("erf", _erf, "erf_vml_cpu", "special.erf", "The error function."),
    ("erfc", _erfc, "erfc_vml_cpu", "special.erfc", "One minus the error function."),
    ("erfinv", _erfinv, "erfinv_vml_cpu", "special.erfinv", "The inverse of the error function."),
    ("lgamma", _lgamma, "lgamma_vml_cpu", "special.gammaln",
     "The logarithm of the gamma function's absolute value."),
    ("digamma", _digamma, "digamma", "special.digamma special.psi",
     "The logarithmic derivative of the gamma function."),
    ("i0", _i0, "i0_vml_cpu", "special.i0",
     "The modified Bessel function of the first kind of order 0."),
)

for _name, _fn, _kernel, _aliases, _doc in _ROWS:
    declare_unary(_name, _fn, _doc, complex_kernel=_kernel, promote="int_to_float",
                  aliases=_aliases.split())

declare_unary("sinc", _sinc, "``sin(pi x) / (pi x)``, 1 at 0.", promote="int_to_float",
              aliases=("special.sinc",))


@op(promote="int_to_float", saves="result", aliases=("special.expit",))
def sigmoid(input, /):
    """``1 / (1 + exp(-input))``.

    Args:
        input: a tensor of any shape and dtype; integers and bools are converted to the default dtype.

    Returns:
        A new floating point or complex tensor of the shape of ``input``; between 0 and 1 for real numbers.

    Example:
        >>> torch.sigmoid(torch.tensor([-math.inf, 0.0, math.inf]))
        tensor([0.0000, 0.5000, 1.0000])
    """
    if is_complex(input):
        return inverse(1 + exp(-input))
    return jax.nn.sigmoid(input)


def _d_logit(out, p):
    edge = jnp.where(p == 0, jnp.copysign(jnp.asarray(jnp.inf, p.dtype), p), jnp.inf)
    slope = jnp.where((p == 0) | (p == 1), edge, 1 / (p * (1 - p)))
    return jnp.where((p < 0) | (p > 1), jnp.nan, slope)


@with_partials(_d_logit)
def _logit(p):
    return jnp.log(p / (1 - p))


def _eps_fits(watch, dynamic, static):
    (eps,), own = static, dynamic[0]._aval.dtype
    if eps is not None and not own.is_complex:
        watch.early = True  # there is nothing else to say, and the body would warn when it casts
        check_fits(eps, own if own.category >= dtypes.FLOATING else dtypes.get_default_dtype())


@op(promote="int_to_float", aliases=("special.logit",), guard=_eps_fits)
def logit(input, /, eps: float = None):
    """``log(p / (1 - p))``, with ``input`` first limited to ``[eps, 1 - eps]`` if given.

    The derivative is 0 where the limit acts, and nan outside ``[0, 1]``.
    """
    refuse("logit_cpu", input, COMPLEX)
    if eps is None or eps < 0:
        return _logit(input)
    low, high = (jnp.asarray(edge, input.dtype) for edge in (eps, 1 - eps))
    p = jnp.where(input < low, low, jnp.where(input > high, high, input))
    return _logit(p)


@op(promote="int_to_float", variants="", grad_name="PolygammaBackward0",
    inplace_grad_name="PolygammaBackward1")
def polygamma(input, /, n: int):
    """The derivative of order ``n`` of the digamma function."""
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    refuse("polygamma", input, COMPLEX)
    return _polygamma(n, input)


def _no_bool(input):
    if input[0].category == BOOL:
        raise RuntimeError("The input tensor may not be a boolean tensor.")


@op(promote="int_to_float", aliases=("special.multigammaln",), check=_no_bool, layout="contiguous")
def mvlgamma(input, /, p: int):
    """The logarithm of the multivariate gamma function of dimension ``p``."""
    if p < 1:
        raise RuntimeError("p has to be greater than or equal to 1")
    refuse("arange_cpu", input, COMPLEX)
    total = sum(_lgamma(added_to_zero(input - 0.5 * i)) for i in range(p))
    return total + 0.25 * p * (p - 1) * math.log(math.pi)


@with_partials(lambda out, x: jnp.where(x == 0, jnp.inf, -jnp.log(x) - 1))
def _entr(x):
    safe = jnp.where(x > 0, x, 1)
    value = jnp.where(x == 0, 0, -jnp.inf)
    return jnp.where(x > 0, -safe * jnp.log(safe), jnp.where(jnp.isnan(x), x, value.astype(x.dtype)))


@with_partials(lambda out, x: jnp.exp(-0.5 * (x * x + math.log(2 * math.pi))))
def _ndtr(x):
    return 0.5 * jax.lax.erfc(-x * math.sqrt(0.5))


_ndtri = with_partials(lambda out, x: math.sqrt(2 * math.pi) * jnp.exp(0.5 * out * out))(jsp.ndtri)


_BOTH = ("input", "result")
_SPECIAL_ROWS = (
    ("entr", _entr, "input", "Minus ``x log(x)``, 0 at 0 and minus infinity below."),
    ("ndtr", _ndtr, "own", "The cumulative distribution of the standard normal."),
    ("ndtri", _ndtri, "result", "The inverse of `ndtr`."),
    ("log_ndtr", _log_ndtr, _BOTH, "The logarithm of `ndtr`, accurate in the tail."),
    ("i0e", _i0e, _BOTH, "``exp(-|x|)`` times the Bessel function `i0`."),
    ("i1", _i1, _BOTH, "The modified Bessel function of the first kind of order 1."),
    ("i1e", _i1e, _BOTH, "``exp(-|x|)`` times the Bessel function `i1`."),
)
#: PyTorch makes this one of others, and copies it into ``out=``.
_COPIED = Out(recorded=True)
# What PyTorch computes last of those that have no node of their own.
_NODES = {"ndtr": "MulBackward1"}


def _not_of_halves(kernel):
    """No derivative of halves, for which PyTorch has no kernel."""
    refusal = None
    for dtype in (dtypes.float16, dtypes.bfloat16):
        refusal = Underived(NotImplementedError, f"\"{kernel}\" not implemented for '{dtype.scalar_name}'",
                            of=((0, dtype),), otherwise=refusal)
    return refusal


# Of these PyTorch has no kernels for half precision.
_SINGLE = ("ndtri", "log_ndtr")
# Of these it has none for the derivative of halves.
_NOT_DERIVED_OF_HALVES = ("i1", "i1e")

for _name, _fn, _saves, _doc in _SPECIAL_ROWS:
    declare_unary(_name, _fn, _doc, complex_kernel=f"{_name}_cpu", promote="int_to_float",
                  check=needs_single(f"{_name}_cpu") if _name in _SINGLE else None, namespace="special",
                  underived=_not_of_halves(f"{_name}_backward") if _name in _NOT_DERIVED_OF_HALVES else None,
                  variants="function out", saves=_saves, out=_COPIED if _name == "ndtr" else None,
                  grad_name=_NODES.get(_name, f"Special{_name.title().replace('_', '')}Backward0"))

declare_unary("erfcx", in_double("erfcx", _erfcx), "``exp(input ** 2)`` times `erfc`, without underflow.",
              promote="int_to_float", namespace="special", variants="function out", saves=_BOTH,
              grad_name="SpecialErfcxBackward0", check=needs_single("erfcx_cpu"))


def _zeta(exponent, offset):
    """Of offsets above 0. Of a large exponent two terms are all, and jax's remainder is inf times 0."""
    large = (exponent > 500) & (offset > 0) & (offset < jnp.inf)
    value = jsp.zeta(jnp.where(large, 2, exponent), offset)
    power = jnp.where(large, -exponent, -1)
    base = jnp.where(large, offset, 1)
    return jnp.where(large, base**power + (base + 1) ** power, value)


@op(promote="int_to_float", namespace="special", variants="function out",
    grad_name=numbered_of_two("SpecialZeta"), numbers="input other", check=needs_single("zeta_cpu"),
    underived=Underived(NotImplementedError, "the derivative for 'zeta' is not implemented.", operand=0,
                        forward="Trying to use forward AD with special_zeta that does not support it.",
                        otherwise=Underived(
                            RuntimeError, "torch boolean negative, the `-` operator, is not supported.",
                            which=lambda inputs, inplace: inputs[0].__class__ is bool,
                            otherwise=bools_at(NEGATED, 0))))
def zeta(input, other, /):
    """The Hurwitz zeta function of exponent ``input`` and offset ``other``."""
    refuse("zeta_cpu", input, COMPLEX)
    return _hurwitz(input, other)


@with_partials(None, lambda out, input, other: -input * _hurwitz(input + 1, other))
def _hurwitz(input, other):
    pole = (other <= 0) & (other == jnp.floor(other))
    below = (other < 0) & ~pole
    # Of a whole exponent the terms before 0 are those of two other sums, up to the sign of each.
    part = jnp.where(below, other - jnp.floor(other), other)
    value = _zeta(input, part)
    before = _zeta(input, jnp.where(below, 1 - part, 1)) - _zeta(input, jnp.where(below, 1 - other, 2))
    odd = jnp.floor(input / 2) * 2 != input
    value = jnp.where(below, value + jnp.where(odd, -before, before), value)
    undefined = (input < 1) | ((other <= 0) & (input != jnp.floor(input)) & ~pole)
    value = jnp.where(undefined, jnp.nan, jnp.where(pole, jnp.inf, value))
    # As in PyTorch, at infinity: the limits for offsets up to 1, and nan beyond, where the sum would be 0.
    last = jnp.where(other < 1, jnp.inf, jnp.where(other == 1, 1, jnp.nan))
    value = jnp.where((input == jnp.inf) & ~pole, last, value)
    return jnp.where(input == 1, jnp.inf, value)
