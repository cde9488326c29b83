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



def fft(input: Tensor, n: _int | None = None, dim: _int = -1, norm: _str | None = None, *, axis: _int | None = None, out: Tensor | None = None) -> Tensor:
    """The discrete Fourier transform of one dimension; ``n`` cuts it off or fills it up with zeros before."""
def fft2(input: Tensor, s: _int | _Sequence[_int] | None = None, dim: _int | _Sequence[_int] = ..., norm: _Any = None, *, out: Tensor | None = None) -> Tensor:
    """The discrete Fourier transform of two dimensions; ``s`` cuts them off or fills them up with zeros before."""
def fftfreq(n: _int, d: _float = ..., *, out: Tensor | None = None, dtype: _dtype | None = None, layout: _Any = ..., device: _device | _str | _int | None = None, requires_grad: _bool = False, pin_memory: _bool = False) -> Tensor:
    """The frequencies of the ``n`` numbers that `fft` returns, of samples ``d`` apart; floating."""
def fftn(input: Tensor, s: _int | _Sequence[_int] | None = None, dim: _int | _Sequence[_int] | None = None, norm: _Any = None, *, out: Tensor | None = None) -> Tensor:
    """The discrete Fourier transform of several dimensions (all, or the last ``len(s)``); ``s`` cuts them off or fills them up with zeros before, -1 leaves one."""
def fftshift(input: Tensor, dim: _Any = None) -> Tensor:
    """A spectrum in the order of `fft` with frequency zero moved to the middle of ``dim`` (all)."""
def hfft(input: Tensor, n: _int | None = None, dim: _int = -1, norm: _Any = None, *, out: Tensor | None = None) -> Tensor:
    """The real spectrum of a Hermitian signal, from the half that is given, in one dimension; ``n`` cuts it off or fills it up with zeros before."""
def hfft2(input: Tensor, s: _int | _Sequence[_int] | None = None, dim: _int | _Sequence[_int] = ..., norm: _Any = None, *, out: Tensor | None = None) -> Tensor:
    """The real spectrum of a Hermitian signal, from the half that is given, in two dimensions; ``s`` cuts them off or fills them up with zeros before."""
def hfftn(input: Tensor, s: _int | _Sequence[_int] | None = None, dim: _int | _Sequence[_int] | None = None, norm: _Any = None, *, out: Tensor | None = None) -> Tensor:
    """The real spectrum of a Hermitian signal, from the half that is given, in several dimensions (all, or the last ``len(s)``); ``s`` cuts them off or fills them up with zeros before, -1 leaves one."""
def ifft(input: Tensor, n: _int | None = None, dim: _int = -1, norm: _str | None = None, *, axis: _int | None = None, out: Tensor | None = None) -> Tensor:
    """The inverse discrete Fourier transform of one dimension; ``n`` cuts it off or fills it up with zeros before."""
def ifft2(input: Tensor, s: _int | _Sequence[_int] | None = None, dim: _int | _Sequence[_int] = ..., norm: _Any = None, *, out: Tensor | None = None) -> Tensor:
    """The inverse discrete Fourier transform of two dimensions; ``s`` cuts them off or fills them up with zeros before."""
def ifftn(input: Tensor, s: _int | _Sequence[_int] | None = None, dim: _int | _Sequence[_int] | None = None, norm: _Any = None, *, out: Tensor | None = None) -> Tensor:
    """The inverse discrete Fourier transform of several dimensions (all, or the last ``len(s)``); ``s`` cuts them off or fills them up with zeros before, -1 leaves one."""
def ifftshift(input: Tensor, dim: _Any = None) -> Tensor:
    """What `fftshift` did, undone."""
def ihfft(input: Tensor, n: _int | None = None, dim: _int = -1, norm: _str | None = None, *, axis: _int | None = None, out: Tensor | None = None) -> Tensor:
    """Half of the Hermitian signal with a given real spectrum, from one dimension; ``n`` cuts it off or fills it up with zeros before."""
def ihfft2(input: Tensor, s: _Any = None, dim: _Any = ..., norm: _str | None = None, *, axis: _Any = None, out: Tensor | None = None) -> Tensor:
    """Half of the Hermitian signal with a given real spectrum, from two dimensions; ``s`` cuts them off or fills them up with zeros before."""
def ihfftn(input: Tensor, s: _Any = None, dim: _Any = None, norm: _str | None = None, *, axis: _Any = None, out: Tensor | None = None) -> Tensor:
    """Half of the Hermitian signal with a given real spectrum, from several dimensions (all, or the last ``len(s)``); ``s`` cuts them off or fills them up with zeros before, -1 leaves one."""
def irfft(input: Tensor, n: _int | None = None, dim: _int = -1, norm: _Any = None, *, out: Tensor | None = None) -> Tensor:
    """The real signal with a given half of its spectrum, from one dimension; ``n`` cuts it off or fills it up with zeros before."""
def irfft2(input: Tensor, s: _int | _Sequence[_int] | None = None, dim: _int | _Sequence[_int] = ..., norm: _Any = None, *, out: Tensor | None = None) -> Tensor:
    """The real signal with a given half of its spectrum, from two dimensions; ``s`` cuts them off or fills them up with zeros before."""
def irfftn(input: Tensor, s: _int | _Sequence[_int] | None = None, dim: _int | _Sequence[_int] | None = None, norm: _Any = None, *, out: Tensor | None = None) -> Tensor:
    """The real signal with a given half of its spectrum, from several dimensions (all, or the last ``len(s)``); ``s`` cuts them off or fills them up with zeros before, -1 leaves one."""
def rfft(input: Tensor, n: _int | None = None, dim: _int = -1, norm: _Any = None, *, out: Tensor | None = None) -> Tensor:
    """The half of the spectrum that a real signal has, from one dimension; ``n`` cuts it off or fills it up with zeros before."""
def rfft2(input: Tensor, s: _int | _Sequence[_int] | None = None, dim: _int | _Sequence[_int] = ..., norm: _Any = None, *, out: Tensor | None = None) -> Tensor:
    """The half of the spectrum that a real signal has, from two dimensions; ``s`` cuts them off or fills them up with zeros before."""
def rfftfreq(n: _int, d: _float = ..., *, out: Tensor | None = None, dtype: _dtype | None = None, layout: _Any = ..., device: _device | _str | _int | None = None, requires_grad: _bool = False, pin_memory: _bool = False) -> Tensor:
    """The frequencies of the ``n // 2 + 1`` numbers that `rfft` returns, of samples ``d`` apart."""
def rfftn(input: Tensor, s: _int | _Sequence[_int] | None = None, dim: _int | _Sequence[_int] | None = None, norm: _Any = None, *, out: Tensor | None = None) -> Tensor:
    """The half of the spectrum that a real signal has, from several dimensions (all, or the last ``len(s)``); ``s`` cuts them off or fills them up with zeros before, -1 leaves one."""
