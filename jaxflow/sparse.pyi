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



def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: _Number = 1, alpha: _Number = 1) -> Tensor:
    """``beta * input + alpha * (mat1 @ mat2)`` of matrices, of which ``mat1`` may be sparse."""
def as_sparse_gradcheck(gradcheck: _Any) -> _Any:
    """``gradcheck`` for functions of sparse tensors, which are given to it as their values."""
def log_softmax(input: Tensor, dim: _int, *, dtype: _dtype | None = None) -> Tensor:
    """The logarithm of `softmax`, of the entries."""
def mm(mat1: Tensor, mat2: Tensor, reduce: _str | None = None) -> Tensor:
    """The product of two matrices, sparse or dense."""
def sampled_addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: _Number = ..., alpha: _Number = ..., out: Tensor | None = None) -> Tensor:
    """``beta * input + alpha * (mat1 @ mat2)`` where the CSR matrix ``input`` has entries."""
def softmax(input: Tensor, dim: _int, *, dtype: _dtype | None = None) -> Tensor:
    """Exponentials that sum to 1, of the entries."""
def spdiags(diagonals: Tensor, offsets: Tensor, shape: _Any, layout: _Any = None) -> Tensor:
    """A sparse matrix of its diagonals."""
def spsolve(input: Tensor, other: Tensor, *, left: _bool = True) -> Tensor:
    """Refused, as by PyTorch on the CPU: solve with ``torch.linalg.solve(input.to_dense(), other)``."""
def sum(input: Tensor, dim: _Any = None, dtype: _dtype | None = None) -> Tensor:
    """The sum of a sparse tensor, of all elements or over dimensions."""
