"""The regularized incomplete gamma functions."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import digamma, gammaln

from jaxflow._core.dtype import BOOL, COMPLEX, INTEGER
from jaxflow._plans.op import Underived, op

from ._bools import SUBTRACTED, bools_at
from ._support import refuse, with_partials


def _density(a, x):
    """The derivative of the lower function by ``x``."""
    return jnp.exp((a - 1) * jnp.log(x) - x - gammaln(a))


def _again_by_a(out, a, x):
    """The derivative of `_by_a` by ``a``, which has no formula: a central difference of fourth order."""
    weights = {-2: 1 / 12, -1: -2 / 3, 1: 2 / 3, 2: -1 / 12}
    width = a * 1e-3
    near = jnp.stack([a + step * width for step in weights])
    values = _by_a(near, jnp.broadcast_to(x, near.shape))
    return sum(w * v for w, v in zip(weights.values(), values, strict=True)) / width


@with_partials(_again_by_a, lambda out, a, x: _density(a, x) * (jnp.log(x) - digamma(a)))
def _by_a(a, x):
    return jax.lax.igamma_grad_a(a, x)


def _at_limits(value, a, x, at_zero: float):
    """``value`` where both arguments are positive and finite; elsewhere the limits that PyTorch takes."""
    value = jnp.where(jnp.isinf(a), at_zero, jnp.where(jnp.isinf(x), 1 - at_zero, value))
    value = jnp.where(x == 0, at_zero, value)
    undefined = (a < 0) | (x < 0) | ((a == 0) & (x == 0)) | (jnp.isinf(a) & jnp.isinf(x))
    return jnp.where(undefined, jnp.nan, jnp.where((a == 0) & (x > 0), 1 - at_zero, value))


#: Beyond it the series of jax, which need some multiple of the root of ``a`` terms, are not summed.
_LARGE = 1e5
# Of Temme's expansion (SIAM J. Math. Anal. 10, 1979): by powers of eta, without and with one over ``a``.
_FIRST = (-1 / 3, 1 / 12, -2 / 135, 1 / 864, 1 / 2835, -139 / 777600, 1 / 25515, -571 / 261273600)
_SECOND = (-1 / 540, -1 / 288, 1 / 378)


def _series(coefficients, x):
    total = jnp.zeros_like(x)
    for coefficient in reversed(coefficients):
        total = total * x + coefficient
    return total


def _of_large(a, x, side):
    """The upper function for ``side`` 1, the lower for -1, of an ``a`` beyond `_LARGE`."""
    apart = jnp.clip((x - a) / a, -0.2, 0.2)  # beyond, one of the two is 0
    # ``apart - log1p(apart)``, which as a difference would lose its digits
    half = apart * apart * _series([(-1) ** n / (n + 2) for n in range(24)], apart)
    eta = jnp.copysign(jnp.sqrt(2 * half), apart)
    rest = jnp.exp(-a * half) / jnp.sqrt(2 * np.pi * a) * (_series(_FIRST, eta) + _series(_SECOND, eta) / a)
    return 0.5 * jax.lax.erfc(side * eta * jnp.sqrt(a / 2)) + side * rest


def _by_size(function, side, a, x):
    """``function`` of jax where it holds and ends soon, the expansion where ``a`` is large."""
    fine = (a > 0) & (x > 0) & jnp.isfinite(a) & jnp.isfinite(x)
    large = fine & (a > _LARGE)
    usual = fine & ~large
    value = function(jnp.where(usual, a, 1), jnp.where(usual, x, 1))
    beyond = _of_large(jnp.where(large, a, 2 * _LARGE), jnp.where(large, x, 2 * _LARGE), side)
    value = jnp.where(large, beyond, value)
    return jnp.where(jnp.isnan(a) | jnp.isnan(x), jnp.nan, value)


@with_partials(lambda out, a, x: _by_a(a, x), lambda out, a, x: _density(a, x))
def _lower(a, x):
    return _at_limits(_by_size(jax.lax.igamma, -1, a, x), a, x, 0.0)


@with_partials(lambda out, a, x: -_by_a(a, x), lambda out, a, x: -_density(a, x))
def _upper(a, x):
    return _at_limits(_by_size(jax.lax.igammac, 1, a, x), a, x, 1.0)


def _checked(name, function, a, x):
    refuse(f"{name}_cpu", a, BOOL, INTEGER, COMPLEX)
    # In double: the series of single precision end some digits early.
    return function(a.astype(np.float64), x.astype(np.float64)).astype(a.dtype)


def _underived(name):
    return Underived(NotImplementedError, f"the derivative for '{name}: input' is not implemented.",
                     operand=0, forward=f"Trying to use forward AD with {name} that does not support it.",
                     otherwise=bools_at(SUBTRACTED, 0))


@op(promote="default", aliases=("special.gammainc",), underived=_underived("igamma"))
def igamma(input, other, /):
    """The integral of ``t ** (input - 1) exp(-t)`` from 0 to ``other``, over that to infinity.

    Nan for negative arguments. As in PyTorch there is no derivative by ``input``.
    """
    return _checked("igamma", _lower, input, other)


@op(promote="default", aliases=("special.gammaincc",), underived=_underived("igammac"))
def igammac(input, other, /):
    """One minus `igamma`, without its cancellation."""
    return _checked("igammac", _upper, input, other)
