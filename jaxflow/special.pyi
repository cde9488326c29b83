# Written by tools/stubs.py from the records of ops and composites: python -m tools.stubs.
import enum as _enum
from builtins import bool as _bool, bytes as _bytes, complex as _complex, float as _float, int as _int, list as _list, object as _object, str as _str, tuple as _tuple, type as _type
from collections.abc import Callable as _Callable, Iterable as _Iterable, Iterator as _Iterator
from collections.abc import Sequence as _Sequence
from typing import Any as _Any, NamedTuple as _NamedTuple, overload as _overload

import numpy as _np

from jaxflow._core.device import device as _device
from jaxflow._core.dtype import dtype as _dtype
from jaxflow._core.size import Size as _Size
from jaxflow._core.tensor import Tensor as Tensor
from jaxflow._core.generator import Generator as _Generator

_Number = _bool | _int | _float | _complex
from jaxflow._core.tensor import _aminmax_result as _aminmax_result, _cummax_result as _cummax_result, _cummin_result as _cummin_result, _frexp_result as _frexp_result, _geqrf_result as _geqrf_result, _kthvalue_result as _kthvalue_result, _linalg_eig_result as _linalg_eig_result, _linalg_eigh_result as _linalg_eigh_result, _linalg_qr_result as _linalg_qr_result, _linalg_svd_result as _linalg_svd_result, _max_result as _max_result, _median_result as _median_result, _min_result as _min_result, _mode_result as _mode_result, _nanmedian_result as _nanmedian_result, _sort_result as _sort_result, _topk_result as _topk_result



def airy_ai(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The Airy function Ai."""
def bessel_j0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The Bessel function of the first kind of order 0."""
def bessel_j1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The Bessel function of the first kind of order 1."""
def bessel_y0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The Bessel function of the second kind of order 0; nan below 0."""
def bessel_y1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The Bessel function of the second kind of order 1; nan below 0."""
def chebyshev_polynomial_t(x: Tensor | _Number, n: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """The Chebyshev polynomial of the first kind, ``cos n a``, of degree ``n`` without its fraction; 0 for a negative one. No derivative."""
def chebyshev_polynomial_u(x: Tensor | _Number, n: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """The Chebyshev polynomial of the second kind, of degree ``n`` without its fraction; 0 for a negative one. No derivative."""
def chebyshev_polynomial_v(x: Tensor | _Number, n: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """The Chebyshev polynomial of the third kind, of degree ``n`` without its fraction; 0 for a negative one. No derivative."""
def chebyshev_polynomial_w(x: Tensor | _Number, n: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """The Chebyshev polynomial of the fourth kind, of degree ``n`` without its fraction; 0 for a negative one. No derivative."""
def digamma(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The logarithmic derivative of the gamma function."""
def digamma_(input: Tensor) -> Tensor:
    """The logarithmic derivative of the gamma function."""
def entr(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Minus ``x log(x)``, 0 at 0 and minus infinity below."""
def erf(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The error function."""
def erf_(input: Tensor) -> Tensor:
    """The error function."""
def erfc(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """One minus the error function."""
def erfc_(input: Tensor) -> Tensor:
    """One minus the error function."""
def erfcx(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``exp(input ** 2)`` times `erfc`, without underflow."""
def erfinv(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse of the error function."""
def erfinv_(input: Tensor) -> Tensor:
    """The inverse of the error function."""
def exp2(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Two to the power of each element."""
def exp2_(input: Tensor) -> Tensor:
    """Two to the power of each element."""
def expit(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``1 / (1 + exp(-input))``."""
def expit_(input: Tensor) -> Tensor:
    """``1 / (1 + exp(-input))``."""
def expm1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``exp(input) - 1``, accurate near zero."""
def expm1_(input: Tensor) -> Tensor:
    """``exp(input) - 1``, accurate near zero."""
def gammainc(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The integral of ``t ** (input - 1) exp(-t)`` from 0 to ``other``, over that to infinity."""
def gammainc_(input: Tensor, other: Tensor) -> Tensor:
    """The integral of ``t ** (input - 1) exp(-t)`` from 0 to ``other``, over that to infinity."""
def gammaincc(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """One minus `igamma`, without its cancellation."""
def gammaincc_(input: Tensor, other: Tensor) -> Tensor:
    """One minus `igamma`, without its cancellation."""
def gammaln(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The logarithm of the gamma function's absolute value."""
def gammaln_(input: Tensor) -> Tensor:
    """The logarithm of the gamma function's absolute value."""
def hermite_polynomial_h(x: Tensor | _Number, n: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """The Hermite polynomial of the physicists; nan for high degrees, of degree ``n`` without its fraction; 0 for a negative one. No derivative."""
def hermite_polynomial_he(x: Tensor | _Number, n: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """The Hermite polynomial of probability; nan for high degrees, of degree ``n`` without its fraction; 0 for a negative one. No derivative."""
def i0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the first kind of order 0."""
def i0_(input: Tensor) -> Tensor:
    """The modified Bessel function of the first kind of order 0."""
def i0e(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``exp(-|x|)`` times the Bessel function `i0`."""
def i1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the first kind of order 1."""
def i1e(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``exp(-|x|)`` times the Bessel function `i1`."""
def laguerre_polynomial_l(x: Tensor | _Number, n: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """The Laguerre polynomial, of degree ``n`` without its fraction; 0 for a negative one. No derivative."""
def legendre_polynomial_p(x: Tensor | _Number, n: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """The Legendre polynomial, of degree ``n`` without its fraction; 0 for a negative one. No derivative."""
def log1p(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``log(1 + input)``, accurate near zero."""
def log1p_(input: Tensor) -> Tensor:
    """``log(1 + input)``, accurate near zero."""
def log_ndtr(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The logarithm of `ndtr`, accurate in the tail."""
def log_softmax(input: Tensor, dim: _int | None = None, dtype: _dtype | None = None) -> Tensor:
    """The logarithm of `softmax` along ``dim``, without its loss of precision."""
def logit(input: Tensor, eps: _float | None = None, *, out: Tensor | None = None) -> Tensor:
    """``log(p / (1 - p))``, with ``input`` first limited to ``[eps, 1 - eps]`` if given."""
def logit_(input: Tensor, eps: _float | None = None) -> Tensor:
    """``log(p / (1 - p))``, with ``input`` first limited to ``[eps, 1 - eps]`` if given."""
def logsumexp(input: Tensor, dim: _int | _Sequence[_int], keepdim: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """``log(sum(exp(input)))`` over ``dim`` without overflow; minus infinity over nothing."""
def modified_bessel_i0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the first kind of order 0."""
def modified_bessel_i1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the first kind of order 1."""
def modified_bessel_k0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the second kind of order 0; nan below 0."""
def modified_bessel_k1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the second kind of order 1; nan below 0."""
def multigammaln(input: Tensor, p: _int, *, out: Tensor | None = None) -> Tensor:
    """The logarithm of the multivariate gamma function of dimension ``p``."""
def multigammaln_(input: Tensor, p: _int) -> Tensor:
    """The logarithm of the multivariate gamma function of dimension ``p``."""
def ndtr(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The cumulative distribution of the standard normal."""
def ndtri(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse of `ndtr`."""
def polygamma(n: _int, input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The derivative of order ``n`` of the digamma function."""
def psi(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The logarithmic derivative of the gamma function."""
def psi_(input: Tensor) -> Tensor:
    """The logarithmic derivative of the gamma function."""
def round(input: Tensor, *, decimals: _int = 0, out: Tensor | None = None) -> Tensor:
    """Each element rounded to ``decimals`` decimals, halves to even: the same as `round`."""
def scaled_modified_bessel_k0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``exp(input)`` times `modified_bessel_k0`."""
def scaled_modified_bessel_k1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``exp(input)`` times `modified_bessel_k1`."""
def shifted_chebyshev_polynomial_t(x: Tensor | _Number, n: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """`chebyshev_polynomial_t` of ``2 x - 1``, of degree ``n`` without its fraction; 0 for a negative one. No derivative."""
def shifted_chebyshev_polynomial_u(x: Tensor | _Number, n: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """`chebyshev_polynomial_u` of ``2 x - 1``, of degree ``n`` without its fraction; 0 for a negative one. No derivative."""
def shifted_chebyshev_polynomial_v(x: Tensor | _Number, n: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """`chebyshev_polynomial_v` of ``2 x - 1``, of degree ``n`` without its fraction; 0 for a negative one. No derivative."""
def shifted_chebyshev_polynomial_w(x: Tensor | _Number, n: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """`chebyshev_polynomial_w` of ``2 x - 1``, of degree ``n`` without its fraction; 0 for a negative one. No derivative."""
def sinc(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``sin(pi x) / (pi x)``, 1 at 0."""
def sinc_(input: Tensor) -> Tensor:
    """``sin(pi x) / (pi x)``, 1 at 0."""
def softmax(input: Tensor, dim: _int | None = None, dtype: _dtype | None = None) -> Tensor:
    """Exponentials along ``dim``, scaled to add up to 1; ``dtype`` is converted to first."""
def spherical_bessel_j0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``sin(input) / input``, 1 at 0."""
def xlog1py(input: Tensor | _Number, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """``input * log1p(other)``, 0 where ``input`` is 0 and nan where ``other`` is."""
def xlogy(input: Tensor | _Number, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """``input * log(other)``, 0 where ``input`` is 0 and nan where ``other`` is."""
def xlogy_(input: Tensor | _Number, other: Tensor | _Number) -> Tensor:
    """``input * log(other)``, 0 where ``input`` is 0 and nan where ``other`` is."""
def zeta(input: Tensor | _Number, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """The Hurwitz zeta function of exponent ``input`` and offset ``other``."""
