"""What LAPACK refuses, a singular or an indefinite matrix, as PyTorch's errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jaxflow._core.linalg_error import _LinAlgError
from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.dispatch import apply
from jaxflow._plans.op import OPS
from jaxflow._publish.value_checks import Watch

SINGULAR = ("The diagonal element {} is zero, the inversion could not be completed because the input "
            "matrix is singular.")
UNSOLVED = "The solver failed because the input matrix is singular."
INDEFINITE = ("The factorization could not be completed because the input is not positive-definite (the "
              "leading minor of order {} is not positive-definite).")
ZERO_PIVOT = ("U[{0},{0}] is zero and using it on lu_solve would result in a division by zero. If you still "
              "want to perform the factorization, consider calling linalg.lu(A, pivot) or "
              "linalg.lu_factor_ex(A, pivot)")


def checked(name: str, words: str, info: Tensor, results: Any,
            error: Callable[[str], Exception] = _LinAlgError) -> Any:
    """``results`` of an operation, unless ``info``, one integer for each matrix, has one that is not 0.

    The error for the first such matrix is raised here if ``info`` is known, else when a number is read;
    see NOTE [Faults found late].

    Args:
        name: how the error begins.
        words: what it says; ``{}`` stands for the integer.
        info: LAPACK's verdicts; 0-d for a single matrix.
        results: a tensor or a tuple of tensors.
        error: the class of the error.
    """
    batched = info._aval.ndim > 0

    def refusal(code: int, _: int) -> Exception:
        place = f"(Batch element {code >> 32}): " if batched else ""
        return error(f"{name}: {place}{words.format(code & 0xFFFFFFFF)}")

    watch = Watch()
    watch.within((apply(OPS["_first_nonzero"], (info.detach(),)),), ((0, 0),), refusal)
    watch.over(tuple(results) if isinstance(results, tuple) else results)
    return results
