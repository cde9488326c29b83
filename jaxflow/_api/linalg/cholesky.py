"""Cholesky factors, and the older names of triangular systems."""

from __future__ import annotations

from typing import Any

from jaxflow._api.forms import given_out, refuse_recorded_into
from jaxflow._core.tensor import Tensor
from jaxflow._core.warning import warn_once
from jaxflow._dispatch.dispatch import apply
from jaxflow._plans.op import EXACT, OPS, Out, castable
from jaxflow._publish.composite import composite
from jaxflow._publish.publish import return_type

from .faults import INDEFINITE, SINGULAR, checked
from .forms import with_info

_CHOLESKY_EX = return_type("linalg_cholesky_ex", ("L", "info"))
_FOUND = Out("expected scalar type {result} but found {out}")
_TRIANGULAR_SOLVE = return_type("triangular_solve", ("solution", "cloned_coefficient"))


@composite("function", name="cholesky_ex", namespace="linalg")
def linalg_cholesky_ex(A: Tensor, *, upper: bool = False, check_errors: bool = False,
                       out: Any = None) -> tuple[Tensor, Tensor]:
    """The Cholesky factor, and an int32 for each matrix: 0, or which leading minor is not positive.

    The factor of a matrix that has none is nan. With ``check_errors`` it is an error, as for `cholesky`.
    """
    refuse_recorded_into(out, "linalg_cholesky_ex", A)
    result = apply(OPS["_linalg_cholesky_ex"], (A,), (bool(upper),))
    return with_info("linalg.cholesky_ex", INDEFINITE, _CHOLESKY_EX, result, check_errors, out)


@composite("function", name="cholesky", namespace="linalg")
def linalg_cholesky(A: Tensor, *, upper: bool = False, out: Tensor | None = None) -> Tensor:
    """``L`` with ``A = L L^H`` (``upper``: ``U`` with ``A = U^H U``), for a positive-definite ``A``.

    One triangle of ``A`` is read, the upper one for ``upper``; the gradient is Hermitian all the same.

    Args:
        A: symmetric or Hermitian positive-definite matrices ``(*, n, n)``; float32, float64 or complex.
        upper: give ``U``, an upper triangular matrix, instead of ``L``, a lower one.
        out: where to put the result.

    Returns:
        The triangular matrices, of the shape and dtype of ``A``.

    Raises:
        LinAlgError: for a matrix that is not positive-definite, at the call or, if it is not known then,
            when a number is read.
        RuntimeError: for matrices that are not square, and for integers.
        NotImplementedError: for half precision.

    Example:
        >>> A = torch.tensor([[4.0, 2.0], [2.0, 5.0]])
        >>> torch.linalg.cholesky(A)
        tensor([[2., 0.],
                [1., 2.]])
        >>> torch.linalg.cholesky(A, upper=True)
        tensor([[2., 1.],
                [0., 2.]])
    """
    refuse_recorded_into(out, "linalg_cholesky_ex", A)
    L, info = apply(OPS["_linalg_cholesky_ex"], (A,), (bool(upper),))
    checked("linalg.cholesky", INDEFINITE, info, L)
    return given_out("linalg_cholesky", out, L, rule=EXACT)


@composite()
def cholesky(input: Tensor, upper: bool = False, *, out: Tensor | None = None) -> Tensor:
    """The same as `linalg.cholesky`."""
    refuse_recorded_into(out, "cholesky", input)
    warn_once(
        "torch.cholesky is deprecated in favor of torch.linalg.cholesky and will be removed in a future "
        "PyTorch release.\nL = torch.cholesky(A)\nshould be replaced with\nL = torch.linalg.cholesky(A)\n"
        "and\nU = torch.cholesky(A, upper=True)\nshould be replaced with\n"
        "U = torch.linalg.cholesky(A).mH\n"
        "This transform will produce equivalent results for all valid (symmetric positive definite) inputs."
    )
    L, info = apply(OPS["_cholesky"], (input,), (bool(upper),))
    checked("cholesky", INDEFINITE, info, L)
    if not L._aval.numel:
        L._stride = None  # PyTorch does not come to LAPACK, which would leave columns
    return given_out("cholesky", out, L, rule=castable("cholesky", copied=True))


@composite()
def cholesky_inverse(input: Tensor, upper: bool = False, *, out: Tensor | None = None) -> Tensor:
    """The inverse of the matrix whose Cholesky factor ``input`` is.

    Raises:
        LinAlgError: for a zero on the diagonal, at the call or, if it is not known then, when a number is
            read.
    """
    refuse_recorded_into(out, "cholesky_inverse", input)
    inverse, info = apply(OPS["_cholesky_inverse"], (input,), (bool(upper),))
    checked("cholesky_inverse", SINGULAR, info, inverse)
    return given_out("cholesky_inverse", out, inverse, rule=castable("cholesky_inverse", rows=True))


@composite()
def cholesky_solve(input: Tensor, input2: Tensor, upper: bool = False, *,
                   out: Tensor | None = None) -> Tensor:
    """``X`` with ``A X = input``, where ``input2`` is a Cholesky factor of ``A``; batches broadcast."""
    refuse_recorded_into(out, "cholesky_solve", input, input2)
    X = apply(OPS["_cholesky_solve"], (input, input2), (bool(upper),))
    return given_out("cholesky_solve", out, X, rule=castable("cholesky_solve", copied=True))


@composite("function", namespace="linalg")
def solve_triangular(A: Tensor, B: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False,
                     out: Tensor | None = None) -> Tensor:
    """``X`` with ``A X = B`` (``X A = B`` for ``left=False``) for a triangular ``A``; batches broadcast.

    The other triangle of ``A`` is not read, nor is the diagonal where it is ``unitriangular``. A zero on
    the diagonal makes infinities and nans, no error.
    """
    refuse_recorded_into(out, "linalg_solve_triangular", A, B)
    X = apply(OPS["_linalg_solve_triangular"], (A, B), (bool(upper), bool(left), bool(unitriangular)))
    if B._aval.dtype.is_complex and not A._aval.dtype.is_complex:
        warn_once("Casting complex values to real discards the imaginary part")
    return given_out("linalg_solve_triangular", out, X, rule=_FOUND)


@composite()
def triangular_solve(input: Tensor, A: Tensor, upper: bool = True, transpose: bool = False,
                     unitriangular: bool = False, *, out: Any = None) -> tuple[Tensor, Tensor]:
    """The solution of ``A X = input`` (of ``A^T X = input``) for a triangular ``A``, and a copy of ``A``."""
    refuse_recorded_into(out, "triangular_solve", input, A)
    warn_once(
        "torch.triangular_solve is deprecated in favor of torch.linalg.solve_triangularand will be removed "
        "in a future PyTorch release.\n"
        "torch.linalg.solve_triangular has its arguments reversed and does not return a copy of one of the "
        "inputs.\nX = torch.triangular_solve(B, A).solution\nshould be replaced with\n"
        "X = torch.linalg.solve_triangular(A, B)."
    )
    result = apply(OPS["_triangular_solve"], (input, A), (bool(upper), bool(transpose), bool(unitriangular)))
    return given_out("triangular_solve", out, _TRIANGULAR_SOLVE(result), rule=EXACT)
