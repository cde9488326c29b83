"""Determinants, inverses and solutions of linear systems."""

from __future__ import annotations

import math
from typing import Any

from jaxflow._api.forms import expect_tensor, given_out, refuse_recorded_into
from jaxflow._core.tensor import Tensor
from jaxflow._core.warning import warn_once
from jaxflow._dispatch.dispatch import apply
from jaxflow._plans.op import EXACT, OPS, Out, castable
from jaxflow._publish.composite import composite
from jaxflow._publish.publish import return_type

from .faults import SINGULAR, UNSOLVED, ZERO_PIVOT, checked
from .forms import with_info

_SLOGDET = return_type("slogdet", ("sign", "logabsdet"))
_LINALG_SLOGDET = return_type("linalg_slogdet", ("sign", "logabsdet"))
_INV_EX = return_type("linalg_inv_ex", ("inverse", "info"))
_SOLVE_EX = return_type("linalg_solve_ex", ("result", "info"))

# ------------------------------------------------------------------------------------- determinants


@composite()
def det(input: Tensor) -> Tensor:
    """Determinants of square matrices; see `linalg.det`."""
    return linalg_det(input)


@composite("function", name="det", namespace="linalg")
def linalg_det(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Determinants of square matrices, real or complex: ``(*, n, n)`` gives ``(*)``.

    The gradient of a singular matrix is its adjugate's, right to rounding.
    """
    refuse_recorded_into(out, "_linalg_det", A)
    return given_out("linalg_det", out, apply(OPS["_linalg_det"], (A,))[0], rule=EXACT)


def _slogdet(A: Tensor, name: str) -> tuple[Tensor, Tensor]:
    return apply(OPS["_linalg_slogdet"], (A,), (name,))[:2]


@composite()
def slogdet(input: Tensor, *, out: Any = None) -> tuple[Tensor, Tensor]:
    """Signs and logarithms of the absolute values of determinants; see `linalg.slogdet`."""
    refuse_recorded_into(out, "_linalg_slogdet", input)
    return given_out("slogdet", out, _SLOGDET(_slogdet(input, "linalg.slogdet")), rule=EXACT)


@composite("function", name="slogdet", namespace="linalg")
def linalg_slogdet(A: Tensor, *, out: Any = None) -> tuple[Tensor, Tensor]:
    """Signs and logarithms of the absolute values of determinants, of large matrices too.

    A complex determinant's sign is its quotient by its absolute value. A singular matrix has sign 0 and
    logarithm ``-inf``.
    """
    refuse_recorded_into(out, "_linalg_slogdet", A)
    result = _LINALG_SLOGDET(_slogdet(A, "linalg.slogdet"))
    return given_out("linalg_slogdet", out, result, rule=EXACT)


@composite()
def logdet(input: Tensor) -> Tensor:
    """Logarithms of determinants; nan where a real one is negative."""
    sign, logabs = _slogdet(input, "logdet")
    if sign._aval.dtype.is_complex:
        return sign.log() + logabs
    return apply(OPS["where"], (sign == -1.0, math.nan, logabs))


# ------------------------------------------------------------------------------------------ inverses


@composite("function", namespace="linalg")
def inv_ex(A: Tensor, *, check_errors: bool = False, out: Any = None) -> tuple[Tensor, Tensor]:
    """Inverses, and for each matrix an int32: 0, or the number of its first zero pivot.

    With ``check_errors`` a singular matrix is an error, as for `inv`.
    """
    refuse_recorded_into(out, "linalg_inv_ex", A)
    result = apply(OPS["_linalg_inv_ex"], (A,))
    return with_info("linalg.inv_ex", SINGULAR, _INV_EX, result, check_errors, out)


@composite("function", namespace="linalg")
def inv(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Inverses of square matrices, real or complex.

    Raises:
        LinAlgError: for a singular matrix, at the call or, if it is not known then, when a number is read.
    """
    refuse_recorded_into(out, "linalg_inv_ex", A)
    inverse, info = apply(OPS["_linalg_inv_ex"], (A,))
    checked("linalg.inv", SINGULAR, info, inverse)
    return given_out("linalg_inv", out, inverse, rule=EXACT)


@composite()
def inverse(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The same as `linalg.inv`.

    ``inverse(input) @ input`` is the identity matrix. To solve equations, `linalg.solve` is quicker and
    more exact.

    Args:
        input: square matrices ``(*, n, n)``; float32, float64 or complex.
        out: where to put the result.

    Returns:
        The inverses, of the shape and dtype of ``input``.

    Raises:
        LinAlgError: for a singular matrix, at the call or, if it is not known then, when a number is read.
        RuntimeError: for matrices that are not square, and for other dtypes.

    Example:
        >>> torch.inverse(torch.tensor([[2.0, 0.0], [0.0, 4.0]]))
        tensor([[0.5000, 0.0000],
                [0.0000, 0.2500]])
        >>> torch.inverse(torch.eye(2).expand(3, 2, 2)).shape
        torch.Size([3, 2, 2])
    """
    return inv(input, out=out)


# ----------------------------------------------------------------------------------------- solutions


def _solved(A: Tensor, B: Tensor, left: bool) -> tuple[Tensor, Tensor]:
    X, _, _, info = apply(OPS["_linalg_solve_ex"], (A, B), (bool(left),))
    return X, info


@composite("function", namespace="linalg")
def solve_ex(A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False,
             out: Any = None) -> tuple[Tensor, Tensor]:
    """`solve`, and for each matrix an int32: 0, or the number of its first zero pivot."""
    refuse_recorded_into(out, "_linalg_solve_ex", A, B)
    result = _solved(A, B, left)
    return with_info("torch.linalg.solve_ex", UNSOLVED, _SOLVE_EX, result, check_errors, out)


@composite("function", namespace="linalg")
def solve(A: Tensor, B: Tensor, *, left: bool = True, out: Tensor | None = None) -> Tensor:
    """``X`` with ``A X = B``, or ``X A = B`` for ``left=False``; batches broadcast.

    Args:
        A: square matrices ``(*, n, n)``; float32, float64 or complex.
        B: matrices ``(*, n, k)``, a vector ``(n,)``, or vectors ``(*, n)`` for the batch of ``A``; of the
            dtype of ``A``.
        left: on which side of the unknown ``A`` stands; if it stands right, ``B`` is ``(*, k, n)``.
        out: where to put the result.

    Returns:
        ``X``, of the shape of ``B`` with the batch that both broadcast to, in their dtype.

    Raises:
        LinAlgError: for a singular matrix, at the call or, if it is not known then, when a number is read.
        RuntimeError: for matrices that are not square, and for shapes or dtypes that do not fit.
        NotImplementedError: for half precision.

    Example:
        >>> A = torch.tensor([[2.0, 0.0], [0.0, 4.0]])
        >>> torch.linalg.solve(A, torch.tensor([2.0, 8.0]))
        tensor([1., 2.])
        >>> torch.linalg.solve(A, torch.ones(5, 2, 3)).shape
        torch.Size([5, 2, 3])
    """
    refuse_recorded_into(out, "_linalg_solve_ex", A, B)
    X, info = _solved(A, B, left)
    checked("torch.linalg.solve", UNSOLVED, info, X)
    return given_out("linalg_solve", out, X, rule=EXACT)


@composite("function", namespace="linalg")
def tensorinv(A: Tensor, ind: int = 2, *, out: Tensor | None = None) -> Tensor:
    """The inverse of ``A`` as a map from its last dimensions to its first ``ind``: that of a matrix."""
    if ind <= 0:
        raise RuntimeError(f"Expected a strictly positive integer for 'ind', but got {ind}")
    shape = tuple(A.shape)
    rows, columns = math.prod(shape[:ind]), math.prod(shape[ind:])
    if rows != columns:
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), "
            f"but got {columns} != {rows}"
        )
    inverse, info = apply(OPS["_linalg_inv_ex"], (A.reshape(rows, columns),))
    checked("inv", SINGULAR, info, inverse)
    result = inverse.reshape(*shape[ind:], *shape[:ind])
    return given_out("linalg_tensorinv", out, result, rule=castable("tensorinv", copied=True, recorded=True))


@composite("function", namespace="linalg")
def tensorsolve(A: Tensor, B: Tensor, dims: Any = None, *, out: Tensor | None = None) -> Tensor:
    """``X`` with ``tensordot(A, X, X.ndim) = B``; the dimensions ``dims`` of ``A`` are moved to its end."""
    if dims is not None:
        A = A.movedim(tuple(dims), tuple(range(-len(dims), 0)))
    shape = tuple(A.shape)
    rows, left = math.prod(shape[:B.dim()]), shape[B.dim():]
    columns = math.prod(left)
    if rows != columns:
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == "
            f"prod(self.shape[:other.ndim]), but got {columns} != {rows}"
        )
    X = solve(A.reshape(columns, columns), B.reshape(-1))
    rule = castable("tensorsolve", copied=True, recorded=True)
    return given_out("linalg_tensorsolve", out, X.reshape(left), rule=rule)


# ------------------------------------------------------------------------------------------- factors

_COPIED = Out(casts=True, resizes=True, copied=True)
_LU_FACTOR = return_type("linalg_lu_factor", ("LU", "pivots"))
_LU_FACTOR_EX = return_type("linalg_lu_factor_ex", ("LU", "pivots", "info"))
_LU_WITH_INFO = return_type("_lu_with_info", ("LU", "pivots", "info"))
_LINALG_LU = return_type("linalg_lu", ("P", "L", "U"))
_LU_UNPACK = return_type("lu_unpack", ("P", "L", "U"))


def _lu_factored(A: Tensor, pivot: bool) -> tuple[Tensor, Tensor, Tensor]:
    return apply(OPS["_linalg_lu_factor_ex"], (A,), (bool(pivot),))[:3]


@composite("function", namespace="linalg")
def lu_factor_ex(A: Tensor, *, pivot: bool = True, check_errors: bool = False,
                 out: Any = None) -> tuple[Tensor, Tensor, Tensor]:
    """`lu_factor`, and for each matrix an int32: 0, or the number of its first zero pivot."""
    refuse_recorded_into(out, "linalg_lu_factor_ex", A)
    result = _lu_factored(A, pivot)
    return with_info("torch.linalg.lu_factor_ex", ZERO_PIVOT, _LU_FACTOR_EX, result, check_errors, out,
                     RuntimeError)


@composite("function", namespace="linalg")
def lu_factor(A: Tensor, *, pivot: bool = True, out: Any = None) -> tuple[Tensor, Tensor]:
    """LU factors with exchanged rows, packed in one matrix, and the exchanges (int32, from 1).

    Raises:
        RuntimeError: where a pivot is zero, at the call or, if it is not known then, when a number is read.
    """
    refuse_recorded_into(out, "linalg_lu_factor_ex", A)
    LU, pivots, info = _lu_factored(A, pivot)
    checked("torch.linalg.lu_factor", ZERO_PIVOT, info, (LU, pivots), RuntimeError)
    return given_out("linalg_lu_factor", out, _LU_FACTOR((LU, pivots)), rule=EXACT)


@composite("function", name="lu", namespace="linalg")
def linalg_lu(A: Tensor, *, pivot: bool = True, out: Any = None) -> tuple[Tensor, Tensor, Tensor]:
    """``A = P L U``: a permutation, a unit lower and an upper triangular matrix, for ``A`` of any shape."""
    refuse_recorded_into(out, "linalg_lu", A)
    result = _LINALG_LU(apply(OPS["_linalg_lu"], (A,), (bool(pivot),)))
    return given_out("linalg_lu", out, result, rule=EXACT)


@composite()
def lu(A: Tensor, pivot: bool = True, get_infos: bool = False, out: Any = None) -> tuple:
    """The factors of `linalg.lu_factor`; with ``get_infos`` also those of `linalg.lu_factor_ex`."""
    warn_once(
        "torch.lu is deprecated in favor of torch.linalg.lu_factor / torch.linalg.lu_factor_ex and will be "
        "removed in a future PyTorch release.\n"
        "LU, pivots = torch.lu(A, compute_pivots)\nshould be replaced with\n"
        "LU, pivots = torch.linalg.lu_factor(A, compute_pivots)\n"
        "and\nLU, pivots, info = torch.lu(A, compute_pivots, get_infos=True)\nshould be replaced with\n"
        "LU, pivots, info = torch.linalg.lu_factor_ex(A, compute_pivots)"
    )
    *result, _ = apply(OPS["_linalg_lu_factor_ex"], (A,), (bool(pivot),))
    if get_infos:
        return given_out("lu", out, _LU_WITH_INFO(result), rule=_COPIED)
    return given_out("lu", out, tuple(result[:2]), rule=_COPIED)


@composite("function")
def lu_unpack(LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True, *,
              out: Any = None) -> tuple[Tensor, Tensor, Tensor]:
    """``P``, ``L`` and ``U`` of what `linalg.lu_factor` returned; what is not requested is empty."""
    refuse_recorded_into(out, "lu_unpack", LU_data)
    result = apply(OPS["_lu_unpack"], (LU_data, LU_pivots), (bool(unpack_data), bool(unpack_pivots)))
    return given_out("lu_unpack", out, _LU_UNPACK(result), rule=EXACT)


@composite("function", name="lu_solve", namespace="linalg")
def linalg_lu_solve(LU: Tensor, pivots: Tensor, B: Tensor, *, left: bool = True, adjoint: bool = False,
                    out: Tensor | None = None) -> Tensor:
    """``X`` with ``A X = B`` given the factors of ``A`` from `lu_factor`; ``X A = B`` for ``left=False``.

    With ``adjoint`` the conjugate transpose of ``A`` stands in its place. Batches broadcast.
    """
    op = OPS["linalg_lu_solve"]
    for at, (letter, x) in enumerate((("LU", LU), ("pivots", pivots), ("B", B)), 1):
        expect_tensor("linalg_lu_solve", letter, x, at)
    X = apply(op, (LU, pivots, B), (bool(left), bool(adjoint)))
    return given_out("linalg_lu_solve", out, X, (LU, pivots, B), op)


@composite()
def lu_solve(input: Tensor, LU_data: Tensor, LU_pivots: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`linalg.lu_solve` with its arguments in another order."""
    warn_once(
        "torch.lu_solve is deprecated in favor of torch.linalg.lu_solveand will be removed in a future "
        "PyTorch release.\nNote that torch.linalg.lu_solve has its arguments reversed.\n"
        "X = torch.lu_solve(B, LU, pivots)\nshould be replaced with\n"
        "X = torch.linalg.lu_solve(LU, pivots, B)"
    )
    return linalg_lu_solve(LU_data, LU_pivots, input, out=out)
