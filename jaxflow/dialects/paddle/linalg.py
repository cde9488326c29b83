"""Linear algebra, under Paddle's names."""

from jaxflow._dialect import missing as _missing

from . import _table
from ._rows import rows as _rows

FUNCTIONS = _rows("linalg", """
norm(x, p=None, axis=None, keepdim=False) = C.norm(x, p, axis, keepdim)
vector_norm(x, p=2.0, axis=None, keepdim=False) = J.linalg.vector_norm(x, p, axes(axis), keepdim)
matrix_norm(x, p='fro', axis=[-2, -1], keepdim=False) = J.linalg.matrix_norm(x, p, axes(axis), keepdim)
matmul(x, y, transpose_x=False, transpose_y=False) = C.matmul(x, y, transpose_x, transpose_y)
multi_dot(x) = J.linalg.multi_dot(x)
cross(x, y, axis=9) = C.cross(x, y, axis)
qr(x, mode='reduced') = tuple(J.linalg.qr(x, mode)) if mode != 'r' else J.linalg.qr(x, mode)[1]
svdvals(x) = J.linalg.svdvals(x)
cov(x, rowvar=True, ddof=True, fweights=None, aweights=None) =
    J.cov(x if rowvar else x.T, correction=int(ddof), fweights=fweights, aweights=aweights)
corrcoef(x, rowvar=True) = J.corrcoef(x if rowvar else x.T)
""", _table.NAMES)

globals().update(FUNCTIONS)

_MISSING = frozenset("""
    cholesky cholesky_solve cond det eig eigh eigvals eigvalsh householder_product inv lstsq lu lu_unpack
    matrix_exp matrix_power matrix_rank matrix_transpose ormqr pca_lowrank pinv slogdet solve svd svd_lowrank
    triangular_solve
""".split())


def __getattr__(name: str) -> object:
    raise _missing("Paddle", "paddle.linalg", _MISSING, name)
