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



def bartlett(M: _int, *, sym: _bool = True, dtype: _dtype | None = None, layout: _Any = ..., device: _device | _str | _int | None = None, requires_grad: _bool = False) -> Tensor:
    """A triangle of ``M`` points; ``sym=False`` leaves out the last of a symmetric window that is one point longer."""
def blackman(M: _int, *, sym: _bool = True, dtype: _dtype | None = None, layout: _Any = ..., device: _device | _str | _int | None = None, requires_grad: _bool = False) -> Tensor:
    """Blackman's sum of three cosines, ``M`` points; ``sym=False`` leaves out the last of a symmetric window that is one point longer."""
def cosine(M: _int, *, sym: _bool = True, dtype: _dtype | None = None, layout: _Any = ..., device: _device | _str | _int | None = None, requires_grad: _bool = False) -> Tensor:
    """Half a period of a sine, at ``M`` points; ``sym=False`` leaves out the last of a symmetric window that is one point longer."""
def exponential(M: _int, *, center: _float | None = None, tau: _float = ..., sym: _bool = True, dtype: _dtype | None = None, layout: _Any = ..., device: _device | _str | _int | None = None, requires_grad: _bool = False) -> Tensor:
    """``exp(-|n - center| / tau)``, by default around the middle; ``sym`` as in `hann`."""
def gaussian(M: _int, *, std: _float = ..., sym: _bool = True, dtype: _dtype | None = None, layout: _Any = ..., device: _device | _str | _int | None = None, requires_grad: _bool = False) -> Tensor:
    """A bell of standard deviation ``std`` points; ``sym`` as in `hann`. ValueError for one below 0."""
def general_cosine(M: _int, *, a: _Iterable[_float], sym: _bool = True, dtype: _dtype | None = None, layout: _Any = ..., device: _device | _str | _int | None = None, requires_grad: _bool = False) -> Tensor:
    """The alternating sum of cosines with the coefficients ``a``; ``sym`` as in `hann`."""
def general_hamming(M: _int, *, alpha: _float = ..., sym: _bool = True, dtype: _dtype | None = None, layout: _Any = ..., device: _device | _str | _int | None = None, requires_grad: _bool = False) -> Tensor:
    """``alpha - (1 - alpha) cos`` over one turn; ``sym`` as in `hann`."""
def hamming(M: _int, *, sym: _bool = True, dtype: _dtype | None = None, layout: _Any = ..., device: _device | _str | _int | None = None, requires_grad: _bool = False) -> Tensor:
    """Hamming's raised cosine of ``M`` points; ``sym=False`` leaves out the last of a symmetric window that is one point longer."""
def hann(M: _int, *, sym: _bool = True, dtype: _dtype | None = None, layout: _Any = ..., device: _device | _str | _int | None = None, requires_grad: _bool = False) -> Tensor:
    """A raised cosine of ``M`` points; ``sym=False`` leaves out the last of a symmetric window that is one point longer."""
def kaiser(M: _int, *, beta: _float = ..., sym: _bool = True, dtype: _dtype | None = None, layout: _Any = ..., device: _device | _str | _int | None = None, requires_grad: _bool = False) -> Tensor:
    """Kaiser's window of shape ``beta``; ``sym`` as in `hann`. ValueError for a negative ``beta``."""
def nuttall(M: _int, *, sym: _bool = True, dtype: _dtype | None = None, layout: _Any = ..., device: _device | _str | _int | None = None, requires_grad: _bool = False) -> Tensor:
    """Nuttall's sum of four cosines, ``M`` points; ``sym=False`` leaves out the last of a symmetric window that is one point longer."""
