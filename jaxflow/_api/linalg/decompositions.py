"""Decompositions under their older names, and what takes tolerances or orders in several forms."""

from __future__ import annotations

from typing import Any

import numpy as np

from jaxflow._api.forms import given_out, invalid_combination, refuse_recorded_into
from jaxflow._core.tensor import Tensor
from jaxflow._core.warning import warn_once
from jaxflow._dispatch.dispatch import apply
from jaxflow._plans.op import OPS, castable
from jaxflow._publish.composite import composite
from jaxflow._publish.publish import function_of, return_type
from jaxflow._publish.value_checks import guarded

_SVD, _QR = return_type("svd", ("U", "S", "V")), return_type("qr", ("Q", "R"))


@composite()
def svd(input: Tensor, some: bool = True, compute_uv: bool = True, *, out: Any = None) -> Any:
    """``input = U diag(S) V^H`` by its older name: V itself is returned; see `jaxflow.linalg.svd`.

    Args:
        input: ``(..., m, n)``.
        some: return only as many vectors as there are singular values.
        compute_uv: with False, U and V are zeros.
        out: where to put the three results.
    """
    if input._aval.ndim < 2:
        raise RuntimeError(
            f"linalg.svd: input should have at least 2 dimensions, but has {input._aval.ndim} dimensions "
            "instead"
        )
    if compute_uv:
        u, s, vh = function_of(OPS["svd"])(input, not some)
        v = vh.mT.conj() if vh.is_complex() else vh.mT
    else:
        s = function_of(OPS["svdvals"])(input)
        *batch, m, n = input._aval.shape
        u, v = input.new_zeros((*batch, m, m)), input.new_zeros((*batch, n, n))
    return given_out("svd", out, _SVD([u, s, v]))


@composite()
def qr(input: Tensor, some: bool = True, *, out: Any = None) -> Any:
    """The QR decomposition by its older name; ``some`` is the mode "reduced", False "complete"."""
    warn_once(
        "torch.qr is deprecated in favor of torch.linalg.qr and will be removed in a future PyTorch "
        "release.\nThe boolean parameter 'some' has been replaced with a string parameter 'mode'.\n"
        "Q, R = torch.qr(A, some)\nshould be replaced with\n"
        "Q, R = torch.linalg.qr(A, 'reduced' if some else 'complete')"
    )
    result = apply(OPS["qr"], (input,), ("reduced" if some else "complete",))
    return given_out("qr", out, _QR(list(result)))


# --------------------------------------------------------------------------------------- tolerances


def _tolerances(name: str, A: Tensor, atol: Any, rtol: Any) -> tuple:
    """The absolute and the relative bound, of which one that is given switches the other's default off."""
    for word, bound in (("atol", atol), ("rtol", rtol)):
        if isinstance(bound, Tensor) and bound.is_complex():
            raise RuntimeError(
                f"torch.{name}: {word} tensor of complex type is not supported. Got "
                f"{bound.dtype.scalar_name}"
            )
    if rtol is None:
        rtol = float(np.finfo(A.dtype.np).eps) * max(A._aval.shape[-2:])
        if isinstance(atol, Tensor):
            rtol = (atol <= 0) * rtol
        elif atol is not None and atol > 0:
            rtol = 0.0
    return 0.0 if atol is None else atol, rtol


def _one_form(name: str, A: Tensor, bounds: tuple, given: dict) -> None:
    """Refuse a tensor beside a number, and what is neither."""
    kinds = {isinstance(b, Tensor) for b in bounds if b is not None}
    numbers = all(isinstance(b, (int, float, Tensor)) for b in bounds if b is not None)
    if len(kinds) > 1 or not numbers:
        raise invalid_combination(f"linalg_{name}", (A,), {k: v for k, v in given.items() if v is not None})


@composite("function", namespace="linalg")
def pinv(A: Tensor, rcond: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None,
         out: Tensor | None = None) -> Tensor:
    """The pseudoinverse ``(..., n, m)`` of matrices ``(..., m, n)``.

    Args:
        A: floating point or complex.
        rcond: an older name of ``rtol``.
        hermitian: the matrices equal their conjugate transposes, of which the lower triangle is read.
        atol: singular values up to this count as zero; a number or a tensor of the batch's shape.
        rtol: so do those up to this times the largest one. By default the larger side of the matrix times
            the distance of 1 from the next number, if ``atol`` is not given either.
        out: where to put the result.
    """
    refuse_recorded_into(out, "linalg_pinv", A)
    aval = A._aval
    if aval.ndim < 2 or aval.dtype.category < 2 or aval.dtype.itemsize == 2:
        raise RuntimeError(
            f"linalg.pinv({aval.dtype.scalar_name}{{{list(aval.shape)}}}): expected a tensor with 2 or more "
            "dimensions of float, double, cfloat or cdouble types"
        )
    if rcond is not None:
        if atol is not None or rtol is not None:
            raise invalid_combination("linalg_pinv", (A, rcond), {"atol": atol, "rtol": rtol})
        atol, rtol = None, rcond
    _one_form("pinv", A, (atol, rtol), {"rtol": rtol, "atol": atol})
    bounds = _tolerances("linalg.pinv", A, atol, rtol)
    result = guarded(apply, OPS["_pinv"], (A, *bounds), (bool(hermitian),))
    return given_out("linalg_pinv", out, result, rule=castable("linalg.pinv"))


@composite()
def pinverse(input: Tensor, rcond: float = 1e-15) -> Tensor:
    """The pseudoinverse; singular values up to ``rcond`` times the largest one count as zero."""
    return pinv(input, rcond)


@composite("function", namespace="linalg")
def matrix_rank(A: Tensor, tol: Any = None, hermitian: bool = False, *, atol: Any = None,
                rtol: Any = None, out: Tensor | None = None) -> Tensor:
    """How many singular values of each matrix are not zero; int64. ``tol`` is an older name of ``atol``.

    For the other arguments see `pinv`; with ``hermitian`` the eigenvalues' sizes are counted.
    """
    aval = A._aval
    if aval.ndim < 2:
        raise RuntimeError(
            "torch.linalg.matrix_rank: The input tensor input must have at least 2 dimensions."
        )
    if aval.dtype.category < 2 or aval.dtype.itemsize == 2:
        raise RuntimeError("This function doesn't handle types other than float and double")
    if tol is not None:
        if atol is not None or rtol is not None:
            raise invalid_combination("linalg_matrix_rank", (A, tol), {"atol": atol, "rtol": rtol})
        atol, rtol = tol, 0.0
    else:
        _one_form("matrix_rank", A, (atol, rtol), {"rtol": rtol, "atol": atol})
    bounds = _tolerances("linalg.matrix_rank", A, atol, rtol)
    result = guarded(apply, OPS["_matrix_rank"], (A, *bounds), (bool(hermitian),))
    return given_out("linalg_matrix_rank", out, result, rule=castable("torch.linalg.matrix_rank"))
