"""The condition number of matrices."""

from __future__ import annotations

import math
from typing import Any

from jaxflow._api.forms import given_out
from jaxflow._api.reduce.norms import matrix_norm
from jaxflow._core import dtype as dtypes
from jaxflow._core.numbers import check_fits
from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.dispatch import apply
from jaxflow._plans.op import OPS, Out
from jaxflow._publish.composite import composite
from jaxflow._publish.value_checks import guarded

from .solve import inv_ex

_ORDERS = ("fro", "nuc", 1, -1, math.inf, -math.inf)


@composite("function", namespace="linalg")
def cond(A: Tensor, p: Any = None, *, out: Tensor | None = None) -> Tensor:
    """The norm of matrices times that of their inverses; infinite for singular ones, 0 for empty ones; real.

    Args:
        A: ``(..., n, n)``; ``(..., m, n)`` for the orders that need no inverse.
        p: which norm: None or 2 (the largest singular value by the smallest), -2 (the other way round),
            "fro", "nuc", 1, -1, ``inf`` or ``-inf``: see `jaxflow.linalg.matrix_norm`.
        out: where to put the result.

    Raises:
        RuntimeError: for fewer than two dimensions, matrices that are not square, and another order.
    """
    if A._aval.ndim < 2:
        raise RuntimeError("linalg.cond: The input tensor must have at least 2 dimensions.")
    if isinstance(p, complex):
        check_fits(p, dtypes.float64)
    if p is None or (not isinstance(p, str) and abs(p) == 2):
        result = _by_singular_values(A, p)
    else:
        result = _by_inverse(A, p)
    if out is not None:
        _check_out(result, out)
    return given_out("linalg_cond", out, result, rule=Out(recorded=True))


def _check_out(result: Tensor, out: Tensor) -> None:
    if not (out.is_floating_point() or out.is_complex()):
        raise RuntimeError(
            f"linalg.cond: Expected result to be safely castable from {result.dtype.scalar_name} dtype, but "
            f"got result with dtype {out.dtype.scalar_name}"
        )


def _empty(A: Tensor) -> Tensor:
    return A.detach().abs().new_zeros(A._aval.shape[:-2])


def _by_singular_values(A: Tensor, p: Any) -> Tensor:
    values = guarded(apply, OPS["svdvals"], (A,), (None,))
    if not A._aval.numel:
        return _empty(A)
    largest, smallest = values.narrow(-1, 0, 1), values.narrow(-1, values._aval.shape[-1] - 1, 1)
    return (smallest / largest if p == -2 else largest / smallest).squeeze(-1)


def _by_inverse(A: Tensor, p: Any) -> Tensor:
    if p not in _ORDERS:
        raise RuntimeError(f"linalg.cond got an invalid norm type: {p}")
    rows, columns = A._aval.shape[-2:]
    if not A._aval.numel and (rows == columns or not isinstance(p, str)):
        return _empty(A)
    if rows != columns:
        shown = p if isinstance(p, str) else f"{p:g}"
        raise RuntimeError(
            f"linalg.cond(ord={shown}): A must be batches of square matrices, but they are {rows} by "
            f"{columns} matrices"
        )
    if p == "nuc":
        values = guarded(apply, OPS["svdvals"], (A,), (None,))
        return values.sum(-1) * values.reciprocal().sum(-1)
    inverse, info = inv_ex(A)
    inverse = inverse.masked_fill((info > 0)[..., None, None], math.inf)
    return (matrix_norm(A, p) * matrix_norm(inverse, p)).nan_to_num(math.inf, math.inf, -math.inf)
