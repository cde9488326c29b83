"""Orthogonal polynomials, by the recurrence that each family has, in double precision.

The degree is an operand, another one for each element: all take the steps of the highest, and each stops at
its own. Between -1 and 1 the Chebyshev families are sines and cosines of multiples of an angle (DLMF 18.5),
which need no steps, so that a high degree costs something only where the values soon overflow.
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from jaxflow._plans.op import op

from ._support import needs_single
from .bessel import in_double

#: Up to this degree even the Chebyshev families take steps: their values are exact for simple numbers.
_FEW = 6


def _degree(n):
    """``n`` without its fraction; what no integer can hold counts as negative, as in PyTorch."""
    return jnp.where(jnp.abs(n) < 2.0**63, jnp.trunc(n), -1)


def _stepped(x, n, most, first: Callable, step: Callable):
    """The polynomial of degree ``n`` that follows 1 and ``first(x)`` by ``step(k, x, p_k, p_(k-1))``.

    What exceeds ``most`` is infinite, in what a step begins with as well: in PyTorch, which takes the steps
    in the dtype of the operands, infinities of one sign are subtracted and give nan.
    """

    def limited(value):
        return jnp.where(jnp.abs(value) > most, jnp.copysign(jnp.inf, value), value)

    def more(state):
        k, last, _ = state
        return jnp.any((n > k) & ~jnp.isnan(last))

    def advance(state):
        k, last, before = state
        active = (n > k) & ~jnp.isnan(last)
        next = limited(step(k, limited, x, last, before))
        return k + 1, jnp.where(active, next, last), jnp.where(active, last, before)

    one = jnp.ones_like(x)
    start = (jnp.ones((), x.dtype), jnp.where(n >= 1, limited(first(x)), one), one)
    _, value, _ = jax.lax.while_loop(more, advance, start)
    return jnp.where(n < 0, 0, value)


def _chebyshev(first: Callable, at_one: Callable, at_minus_one: Callable, inside: Callable) -> Callable:
    """A family ``2 x p - q``, its values at 1 and -1 (without the sign that alternates) and between them."""

    def family(x, n, most):
        n = _degree(n)
        known = (jnp.abs(x) <= 1) & (n > _FEW)
        theta = jnp.arccos(jnp.clip(x, -1, 1))
        sign = 1 - 2 * jnp.mod(n, 2)
        edge = jnp.where(x > 0, at_one(n), sign * at_minus_one(n))
        closed = jnp.where(jnp.abs(x) == 1, edge, inside(theta, n))
        stepped = _stepped(x, jnp.where(known, 0, n), most, first,
                           lambda k, limited, x, p, q: limited(2 * x * p) - q)
        return jnp.where(known, closed, stepped)

    return family


def _one(n):
    return jnp.ones_like(n)


def _safe(x):
    return jnp.where(x == 0, 1, x)


_chebyshev_t = _chebyshev(lambda x: x, _one, _one, lambda a, n: jnp.cos(n * a))
_chebyshev_u = _chebyshev(lambda x: 2 * x, lambda n: n + 1, lambda n: n + 1,
                          lambda a, n: jnp.sin((n + 1) * a) / _safe(jnp.sin(a)))
_chebyshev_v = _chebyshev(lambda x: 2 * x - 1, _one, lambda n: 2 * n + 1,
                          lambda a, n: jnp.cos((n + 0.5) * a) / _safe(jnp.cos(a / 2)))
_chebyshev_w = _chebyshev(lambda x: 2 * x + 1, lambda n: 2 * n + 1, _one,
                          lambda a, n: jnp.sin((n + 0.5) * a) / _safe(jnp.sin(a / 2)))


def _shifted(family: Callable) -> Callable:
    """The family on [0, 1] in place of [-1, 1]."""
    return lambda x, n, most: family(2 * x - 1, n, most)


def _plain(first: Callable, step: Callable) -> Callable:
    return lambda x, n, most: _stepped(x, _degree(n), most, first, step)


_hermite_h = _plain(lambda x: 2 * x, lambda k, lim, x, p, q: lim(2 * x * p) - lim(2 * k * q))
_hermite_he = _plain(lambda x: x, lambda k, lim, x, p, q: lim(x * p) - lim(k * q))
_laguerre_l = _plain(lambda x: 1 - x,
                     lambda k, lim, x, p, q: lim(lim((2 * k + 1 - x) * p) - lim(k * q)) / (k + 1))
_legendre_p = _plain(lambda x: x,
                     lambda k, lim, x, p, q: lim(lim((2 * k + 1) * x * p) - lim(k * q)) / (k + 1))

#: Above these degrees PyTorch's Hermite polynomials are nan, in float32 and float64.
_MOST = {np.dtype(np.float32): 128, np.dtype(np.float64): 512}

_ROWS = (
    ("chebyshev_polynomial_t", _chebyshev_t, "The Chebyshev polynomial of the first kind, ``cos n a``"),
    ("chebyshev_polynomial_u", _chebyshev_u, "The Chebyshev polynomial of the second kind"),
    ("chebyshev_polynomial_v", _chebyshev_v, "The Chebyshev polynomial of the third kind"),
    ("chebyshev_polynomial_w", _chebyshev_w, "The Chebyshev polynomial of the fourth kind"),
    ("shifted_chebyshev_polynomial_t", _shifted(_chebyshev_t), "`chebyshev_polynomial_t` of ``2 x - 1``"),
    ("shifted_chebyshev_polynomial_u", _shifted(_chebyshev_u), "`chebyshev_polynomial_u` of ``2 x - 1``"),
    ("shifted_chebyshev_polynomial_v", _shifted(_chebyshev_v), "`chebyshev_polynomial_v` of ``2 x - 1``"),
    ("shifted_chebyshev_polynomial_w", _shifted(_chebyshev_w), "`chebyshev_polynomial_w` of ``2 x - 1``"),
    ("hermite_polynomial_h", _hermite_h, "The Hermite polynomial of the physicists; nan for high degrees"),
    ("hermite_polynomial_he", _hermite_he, "The Hermite polynomial of probability; nan for high degrees"),
    ("laguerre_polynomial_l", _laguerre_l, "The Laguerre polynomial"),
    ("legendre_polynomial_p", _legendre_p, "The Legendre polynomial"),
)


def _declare(name: str, family: Callable, doc: str) -> None:
    def body(x, n, /):
        most = float(np.finfo(np.float32).max) if x.dtype == np.float32 else np.inf
        value = in_double(name, lambda x, n: family(x, n, most))(x, n)
        if name.startswith("hermite"):
            value = jnp.where(_degree(n) > _MOST[x.dtype], jnp.nan, value)
        return value

    body.__name__ = body.__qualname__ = name
    body.__doc__ = f"{doc}, of degree ``n`` without its fraction; 0 for a negative one. No derivative."
    op(promote="int_to_float", namespace="special", variants="function out", differentiable=False,
       numbers="x n", check=needs_single(f"{name}_cpu"))(body)


for _row in _ROWS:
    _declare(*_row)
