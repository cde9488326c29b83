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

from jaxflow._api.reduce.masked_tensor import MaskedTensor as MaskedTensor


def amax(input: Tensor, dim: _Any = None, *, keepdim: _bool | None = False, dtype: _dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """The largest unmasked element over ``dim``; the dtype's lowest value where there is none."""
def amin(input: Tensor, dim: _Any = None, *, keepdim: _bool | None = False, dtype: _dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """The smallest unmasked element over ``dim``; the dtype's highest value where there is none."""
def argmax(input: Tensor, dim: _int | None = None, *, keepdim: _bool | None = False, dtype: _dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """Where the largest unmasked element is; in ``dtype``, by default that of ``input``."""
def argmin(input: Tensor, dim: _int | None = None, *, keepdim: _bool | None = False, dtype: _dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """Where the smallest unmasked element is; in ``dtype``, by default that of ``input``."""
def as_masked_tensor(data: _Any, mask: _Any) -> _Any:
    """A `MaskedTensor` through which gradients pass to ``data``, where they are masked."""
def cumprod(input: Tensor, dim: _int, *, dtype: _dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """The product of the unmasked elements up to each one along ``dim``."""
def cumsum(input: Tensor, dim: _int, *, dtype: _dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """The sum of the unmasked elements up to each one along ``dim``."""
def is_masked_tensor(obj: _Any, /) -> _bool:
    """Whether ``obj`` is a `MaskedTensor`."""
def log_softmax(input: Tensor, dim: _int, *, dtype: _dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """The logarithm of the softmax of the unmasked elements along ``dim``; minus infinity at masked ones."""
def logaddexp(input: Tensor, other: Tensor, *, dtype: _dtype | None = None, input_mask: Tensor | None = None, other_mask: Tensor | None = None) -> Tensor:
    """``log(exp(input) + exp(other))``, each masked by its own mask: a masked element adds nothing."""
def logsumexp(input: Tensor, dim: _Any = None, *, keepdim: _bool = False, dtype: _dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """``log(sum(exp(input)))`` of the unmasked elements over ``dim``; minus infinity where there are none."""
def masked_tensor(data: _Any, mask: _Any, requires_grad: _bool = False) -> _Any:
    """A `MaskedTensor` of copies of data and mask: a leaf."""
def mean(input: Tensor, dim: _Any = None, *, keepdim: _bool | None = False, dtype: _dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """The mean of the unmasked elements over ``dim``; nan where there are none."""
def median(input: Tensor, dim: _int = -1, *, keepdim: _bool = False, dtype: _dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """The lower median of the unmasked elements along ``dim``; nan where there are none."""
def norm(input: Tensor, ord: _float | None = ..., dim: _Any = None, *, keepdim: _bool | None = False, dtype: _dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """The vector norm of order ``ord`` of the unmasked elements over ``dim``."""
def normalize(input: Tensor, ord: _float, dim: _int, *, eps: _float = ..., dtype: _dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """The unmasked elements over their norm of order ``ord`` along ``dim``, or over ``eps`` where less."""
def prod(input: Tensor, dim: _Any = None, *, keepdim: _bool | None = False, dtype: _dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """The product of the unmasked elements over ``dim``; 1 where there are none."""
def softmax(input: Tensor, dim: _int, *, dtype: _dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """The softmax of the unmasked elements along ``dim``; 0 at masked ones."""
def softmin(input: Tensor, dim: _int, *, dtype: _dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """The softmax of the negated unmasked elements along ``dim``; 0 at masked ones."""
def std(input: Tensor, dim: _Any = None, unbiased: _bool | None = None, *, correction: _float | None = None, keepdim: _bool | None = False, dtype: _dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """The standard deviation of the unmasked elements over ``dim``; nan where there are too few."""
def sum(input: Tensor, dim: _Any = None, *, keepdim: _bool | None = False, dtype: _dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """The sum of the unmasked elements over ``dim``; 0 where there are none. Integers add up in int64."""
def var(input: Tensor, dim: _Any = None, unbiased: _bool | None = None, *, correction: _float | None = None, keepdim: _bool | None = False, dtype: _dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """The variance of the unmasked elements over ``dim``; nan where there are too few."""
