"""LDL factors of symmetric matrices, and solutions by them."""

from __future__ import annotations

from typing import Any

from jaxflow._api.forms import expect_tensor, given_out
from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.dispatch import apply
from jaxflow._dispatch.not_derived import without_derivative
from jaxflow._plans.op import EXACT, OPS
from jaxflow._publish.composite import composite
from jaxflow._publish.publish import return_type

from .faults import checked
from .forms import with_info

_LDL_FACTOR = return_type("linalg_ldl_factor", ("LD", "pivots"))
_LDL_FACTOR_EX = return_type("linalg_ldl_factor_ex", ("LD", "pivots", "info"))
_ZERO = "The diagonal element {} of D is zero, so it cannot be used to solve a system."


def _factor(A: Tensor, hermitian: bool) -> tuple[Tensor, Tensor, Tensor]:
    LD, pivots, info = apply(OPS["_linalg_ldl_factor_ex"], (A,), (bool(hermitian),))
    return without_derivative(LD, "aten::linalg_ldl_factor_ex", A), pivots, info


@composite("function", namespace="linalg")
def ldl_factor_ex(A: Tensor, *, hermitian: bool = False, check_errors: bool = False,
                  out: Any = None) -> tuple[Tensor, Tensor, Tensor]:
    """`ldl_factor`, and for each matrix an int32: 0, or the number of its first zero pivot.

    Runs on the host; as in PyTorch it has no derivative.
    """
    result = _factor(A, hermitian)
    return with_info("torch.linalg.ldl_factor_ex", _ZERO, _LDL_FACTOR_EX, result, check_errors, out,
                     RuntimeError)


@composite("function", namespace="linalg")
def ldl_factor(A: Tensor, *, hermitian: bool = False, out: Any = None) -> tuple[Tensor, Tensor]:
    """L and D of symmetric matrices (``hermitian``: of Hermitian ones) in one matrix, and pivots (int32).

    The lower triangle is read. Runs on the host; as in PyTorch it has no derivative.

    Raises:
        RuntimeError: where a pivot is zero, at the call or, if it is not known then, when a number is read.
    """
    LD, pivots, info = _factor(A, hermitian)
    checked("torch.linalg.ldl_factor", _ZERO, info, (LD, pivots), RuntimeError)
    return given_out("linalg_ldl_factor", out, _LDL_FACTOR((LD, pivots)), rule=EXACT)


@composite("function", namespace="linalg")
def ldl_solve(LD: Tensor, pivots: Tensor, B: Tensor, *, hermitian: bool = False,
              out: Tensor | None = None) -> Tensor:
    """``X`` with ``A X = B``, given what `ldl_factor` returned for ``A``; batches broadcast.

    Runs on the host; as in PyTorch it has no derivative.
    """
    for at, (letter, x) in enumerate((("LD", LD), ("pivots", pivots), ("B", B)), 1):
        expect_tensor("linalg_ldl_solve", letter, x, at)
    X = apply(OPS["linalg_ldl_solve"], (LD, pivots, B), (bool(hermitian),))
    without_derivative(X, "aten::linalg_ldl_solve", LD, B)
    return given_out("linalg_ldl_solve", out, X, rule=EXACT)
