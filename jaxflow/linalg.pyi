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

from jaxflow._C import _LinAlgError as LinAlgError


def cholesky(A: Tensor, *, upper: _bool = False, out: Tensor | None = None) -> Tensor:
    """``L`` with ``A = L L^H`` (``upper``: ``U`` with ``A = U^H U``), for a positive-definite ``A``."""
def cholesky_ex(A: Tensor, *, upper: _bool = False, check_errors: _bool = False, out: _Any = None) -> _tuple[Tensor, Tensor]:
    """The Cholesky factor, and an int32 for each matrix: 0, or which leading minor is not positive."""
def cond(A: Tensor, p: _Any = None, *, out: Tensor | None = None) -> Tensor:
    """The norm of matrices times that of their inverses; infinite for singular ones, 0 for empty ones; real."""
def cross(input: Tensor, other: Tensor, *, dim: _int = -1, out: Tensor | None = None) -> Tensor:
    """The cross product of vectors of three along ``dim``; other dimensions are broadcast."""
def det(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Determinants of square matrices, real or complex: ``(*, n, n)`` gives ``(*)``."""
def diagonal(A: Tensor, *, offset: _int = 0, dim1: _int = -2, dim2: _int = -1) -> Tensor:
    """A view of the diagonals of matrices, by default those in the last two dimensions."""
def eig(A: Tensor, *, out: _tuple[Tensor, ...] | None = None) -> _linalg_eig_result:
    """Eigenvalues and eigenvectors of square matrices; complex, in no particular order."""
def eigh(A: Tensor, UPLO: _str = 'L', *, out: _tuple[Tensor, ...] | None = None) -> _linalg_eigh_result:
    """Eigenvalues, rising, and orthonormal eigenvectors of Hermitian matrices; one triangle is read."""
def eigvals(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The eigenvalues ``(..., n)`` of square matrices; complex, in no particular order."""
def eigvalsh(A: Tensor, UPLO: _str = 'L', *, out: Tensor | None = None) -> Tensor:
    """The eigenvalues ``(..., n)`` of Hermitian matrices, rising; real. One triangle is read: see `eigh`."""
def householder_product(input: Tensor, tau: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The first ``n`` columns of the product of the reflections that `geqrf` packed."""
def inner(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Sums of products over the last dimensions of both; a plain product where one is 0-d."""
def inv(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Inverses of square matrices, real or complex."""
def inv_ex(A: Tensor, *, check_errors: _bool = False, out: _Any = None) -> _tuple[Tensor, Tensor]:
    """Inverses, and for each matrix an int32: 0, or the number of its first zero pivot."""
def ldl_factor(A: Tensor, *, hermitian: _bool = False, out: _Any = None) -> _tuple[Tensor, Tensor]:
    """L and D of symmetric matrices (``hermitian``: of Hermitian ones) in one matrix, and pivots (int32)."""
def ldl_factor_ex(A: Tensor, *, hermitian: _bool = False, check_errors: _bool = False, out: _Any = None) -> _tuple[Tensor, Tensor, Tensor]:
    """`ldl_factor`, and for each matrix an int32: 0, or the number of its first zero pivot."""
def ldl_solve(LD: Tensor, pivots: Tensor, B: Tensor, *, hermitian: _bool = False, out: Tensor | None = None) -> Tensor:
    """``X`` with ``A X = B``, given what `ldl_factor` returned for ``A``; batches broadcast."""
def lstsq(input: Tensor, b: Tensor, rcond: _float | None = None, *, driver: _str | None = None, out: _Any = None) -> _tuple[Tensor, Tensor, Tensor, Tensor]:
    """``X`` that makes ``|input X - b|`` least, of those the one of least norm; computed by singular values."""
def lu(A: Tensor, *, pivot: _bool = True, out: _Any = None) -> _tuple[Tensor, Tensor, Tensor]:
    """``A = P L U``: a permutation, a unit lower and an upper triangular matrix, for ``A`` of any shape."""
def lu_factor(A: Tensor, *, pivot: _bool = True, out: _Any = None) -> _tuple[Tensor, Tensor]:
    """LU factors with exchanged rows, packed in one matrix, and the exchanges (int32, from 1)."""
def lu_factor_ex(A: Tensor, *, pivot: _bool = True, check_errors: _bool = False, out: _Any = None) -> _tuple[Tensor, Tensor, Tensor]:
    """`lu_factor`, and for each matrix an int32: 0, or the number of its first zero pivot."""
def lu_solve(LU: Tensor, pivots: Tensor, B: Tensor, *, left: _bool = True, adjoint: _bool = False, out: Tensor | None = None) -> Tensor:
    """``X`` with ``A X = B`` given the factors of ``A`` from `lu_factor`; ``X A = B`` for ``left=False``."""
def matmul(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Product of vectors, matrices and broadcast stacks of matrices, as the ``@`` operator."""
def matrix_exp(input: Tensor) -> Tensor:
    """``exp(A)`` of square matrices, by a polynomial of ``A / 2**s`` that is squared ``s`` times."""
def matrix_norm(input: Tensor, ord: _Any = 'fro', dim: _Any = ..., keepdim: _bool = False, *, dtype: _dtype | None = None, out: Tensor | None = None) -> Tensor:
    """The norm of matrices in the two dimensions ``dim``; a batch of them has one each."""
def matrix_power(A: Tensor, n: _int, *, out: Tensor | None = None) -> Tensor:
    """``A`` to the power ``n``, by repeated squaring; of the inverse for a negative ``n``."""
def matrix_rank(A: Tensor, tol: _Any = None, hermitian: _bool = False, *, atol: _Any = None, rtol: _Any = None, out: Tensor | None = None) -> Tensor:
    """How many singular values of each matrix are not zero; int64. ``tol`` is an older name of ``atol``."""
def multi_dot(tensors: _Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Product of two or more matrices (the first and last may be vectors) in the cheapest order."""
def norm(input: Tensor, ord: _Any = None, dim: _Any = None, keepdim: _bool = False, *, out: Tensor | None = None, dtype: _dtype | None = None) -> Tensor:
    """A vector's or a matrix's norm, by the number of dimensions in ``dim`` (or of ``input``)."""
def pinv(A: Tensor, rcond: _Any = None, hermitian: _bool = False, *, atol: _Any = None, rtol: _Any = None, out: Tensor | None = None) -> Tensor:
    """The pseudoinverse ``(..., n, m)`` of matrices ``(..., m, n)``."""
def qr(A: Tensor, mode: _str = 'reduced', *, out: _tuple[Tensor, ...] | None = None) -> _linalg_qr_result:
    """``A = Q R`` with orthonormal columns in Q and an upper triangular R; batches of matrices."""
def slogdet(A: Tensor, *, out: _Any = None) -> _tuple[Tensor, Tensor]:
    """Signs and logarithms of the absolute values of determinants, of large matrices too."""
def solve(A: Tensor, B: Tensor, *, left: _bool = True, out: Tensor | None = None) -> Tensor:
    """``X`` with ``A X = B``, or ``X A = B`` for ``left=False``; batches broadcast."""
def solve_ex(A: Tensor, B: Tensor, *, left: _bool = True, check_errors: _bool = False, out: _Any = None) -> _tuple[Tensor, Tensor]:
    """`solve`, and for each matrix an int32: 0, or the number of its first zero pivot."""
def solve_triangular(A: Tensor, B: Tensor, *, upper: _bool, left: _bool = True, unitriangular: _bool = False, out: Tensor | None = None) -> Tensor:
    """``X`` with ``A X = B`` (``X A = B`` for ``left=False``) for a triangular ``A``; batches broadcast."""
def svd(A: Tensor, full_matrices: _bool = True, *, driver: _Any = None, out: _tuple[Tensor, ...] | None = None) -> _linalg_svd_result:
    """``A = U diag(S) Vh`` with orthonormal U and V, and S real and falling."""
def svdvals(A: Tensor, *, driver: _Any = None, out: Tensor | None = None) -> Tensor:
    """The singular values of matrices, largest first; real."""
def tensorinv(A: Tensor, ind: _int = 2, *, out: Tensor | None = None) -> Tensor:
    """The inverse of ``A`` as a map from its last dimensions to its first ``ind``: that of a matrix."""
def tensorsolve(A: Tensor, B: Tensor, dims: _Any = None, *, out: Tensor | None = None) -> Tensor:
    """``X`` with ``tensordot(A, X, X.ndim) = B``; the dimensions ``dims`` of ``A`` are moved to its end."""
def vander(x: Tensor, *, N: _int | None = None) -> Tensor:
    """For each number of ``x`` a row of its powers from 0 to ``N - 1``: ``(*, n)`` gives ``(*, n, N)``."""
def vecdot(x: Tensor, y: Tensor, *, dim: _int = -1, out: Tensor | None = None) -> Tensor:
    """Sums along ``dim`` of the products of two tensors that broadcast, the first one conjugated."""
def vector_norm(x: Tensor, ord: _Number = 2, dim: _Any = None, keepdim: _bool = False, *, dtype: _dtype | None = None, out: Tensor | None = None) -> Tensor:
    """The norm of order ``ord`` over ``dim``, or of all elements as one vector."""
