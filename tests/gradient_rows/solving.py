"""Determinants, inverses, factors and solutions of linear systems."""

import warnings

import jaxflow as torch

from .row import row

L = torch.linalg
A, B = (2, 2), (2, 1)
COMPLEX = dict(low=-1.1, high=1.3, dtype="complex128")


def _regular(x):
    """``x`` with a diagonal that dominates: regular, and no two pivots compete."""
    return x + 3 * torch.eye(x.shape[-1], dtype=x.dtype)


def _positive(x):
    """A Hermitian matrix made of ``x``, positive-definite."""
    return _regular(x) @ _regular(x).mH


def _quietly(call, *args):
    """A deprecated function's result."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call(*args)


def _lu_solve(left, adjoint):
    pivots = torch.tensor([2, 2], dtype=torch.int32)
    return lambda x, y: L.lu_solve(_regular(x), pivots, y, left=left, adjoint=adjoint)



ROWS = {
    "_linalg_det": row(lambda x: torch.det(_regular(x)), A, **COMPLEX),
    # the third row is the sum of the others
    "_linalg_det/singular": row(lambda x: torch.det(torch.cat((x, x.sum(0, True)))), (2, 3)),
    "_linalg_slogdet": row(lambda x: tuple(torch.slogdet(_regular(x))), A),
    "_linalg_slogdet/complex": row(lambda x: tuple(torch.slogdet(_regular(x))), A, **COMPLEX),
    "_linalg_inv_ex": row(lambda x: torch.inverse(_regular(x)), A, **COMPLEX),
    "_linalg_solve_ex": row(lambda x, y: L.solve(_regular(x), y), A, B, **COMPLEX),
    "_linalg_solve_ex/right": row(lambda x, y: L.solve(_regular(x), y, left=False), A, (1, 2), **COMPLEX),
    "_linalg_lu_factor_ex": row(lambda x: L.lu_factor(_regular(x))[0], A),
    "_linalg_lu_factor_ex/tall": row(
        lambda x: L.lu_factor(x + 3 * torch.eye(3, 2, dtype=x.dtype))[0], (3, 2)),
    "_linalg_lu": row(lambda x: tuple(L.lu(_regular(x)))[1:], A, **COMPLEX),
    "_lu_unpack": row(
        lambda x: torch.lu_unpack(x, torch.tensor([2, 2], dtype=torch.int32))[1:], (2, 3)),
    "linalg_lu_solve": row(_lu_solve(True, False), A, B),
    "linalg_lu_solve/adjoint": row(_lu_solve(True, True), A, B, **COMPLEX),
    "linalg_lu_solve/right": row(_lu_solve(False, False), A, (1, 2), **COMPLEX),
    "_linalg_cholesky_ex": row(lambda x: L.cholesky(_positive(x)), A),
    "_linalg_cholesky_ex/upper": row(lambda x: L.cholesky(_positive(x), upper=True), A, **COMPLEX),
    "_cholesky": row(lambda x: _quietly(torch.cholesky, _positive(x)), A),
    "_cholesky_solve": row(lambda x, y: torch.cholesky_solve(x, _regular(y).tril()), B, A, **COMPLEX),
    "_cholesky_solve/upper": row(lambda x, y: torch.cholesky_solve(x, _regular(y).triu(), True), B, A),
    "_cholesky_inverse": row(lambda x: torch.cholesky_inverse(_regular(x).tril()), A, **COMPLEX),
    "_linalg_solve_triangular": row(
        lambda x, y: L.solve_triangular(_regular(x), y, upper=True), A, B, **COMPLEX),
    "_linalg_solve_triangular/right": row(
        lambda x, y: L.solve_triangular(x, y, upper=False, left=False, unitriangular=True), A, (1, 2)),
    "_triangular_solve": row(
        lambda x, y: tuple(_quietly(torch.triangular_solve, x, _regular(y), True, True)), B, A, **COMPLEX),
    "matrix_exp": row(lambda x: torch.matrix_exp(2 * x), A),
    "_linalg_lstsq": row(lambda x, y: L.lstsq(x, y)[0], (3, 2), (3, 1), **COMPLEX),
}
