"""Functions that PyTorch has removed and whose names it keeps, to say what to call instead."""

from __future__ import annotations

from typing import Any

from jaxflow._core.tensor import Tensor
from jaxflow._publish.composite import composite

_GONE = "This function was deprecated since version 1.9 and is now removed."


@composite(checks=False)
def solve(input: Tensor, A: Tensor, *, out: Any = None) -> tuple[Tensor, Tensor]:
    """Removed; raises RuntimeError. Use `linalg.solve`."""
    raise RuntimeError(
        f"{_GONE} `torch.solve` is deprecated in favor of `torch.linalg.solve`. `torch.linalg.solve` has its "
        "arguments reversed and does not return the LU factorization.\n\n"
        "To get the LU factorization see `torch.lu`, which can be used with `torch.lu_solve` or "
        "`torch.lu_unpack`.\nX = torch.solve(B, A).solution should be replaced with:\n"
        "X = torch.linalg.solve(A, B)"
    )


@composite(checks=False)
def lstsq(input: Tensor, A: Tensor, *, out: Any = None) -> tuple[Tensor, Tensor]:
    """Removed; raises RuntimeError. Use `linalg.lstsq`."""
    raise RuntimeError(
        f"{_GONE} `torch.lstsq` is deprecated in favor of `torch.linalg.lstsq`.\n"
        "Its arguments stand the other way round, and residuals are a result of their own:\n"
        "X = torch.linalg.lstsq(A, B).solution"
    )


@composite(checks=False)
def symeig(input: Tensor, eigenvectors: bool = False, upper: bool = True, *,
           out: Any = None) -> tuple[Tensor, Tensor]:
    """Removed; raises RuntimeError. Use `linalg.eigh`."""
    raise RuntimeError(
        f"{_GONE} The default behavior has changed from using the upper triangular portion of the matrix by "
        "default to using the lower triangular portion.\n\n"
        "L, V = torch.linalg.eigh(A, UPLO='U' if upper else 'L')"
    )


@composite(checks=False)
def eig(self: Tensor, eigenvectors: bool = False, *, e: Any = None, v: Any = None) -> tuple[Tensor, Tensor]:
    """Removed; raises RuntimeError. Use `linalg.eig`."""
    raise RuntimeError(
        f"{_GONE} `torch.linalg.eig` returns complex tensors of dtype `cfloat` or `cdouble` rather than real "
        "tensors mimicking complex tensors.\n\nL, V = torch.linalg.eig(A)"
    )


@composite("function")
def matrix_rank(input: Tensor, tol: float | None = None, symmetric: bool = False, *,
                out: Any = None) -> Tensor:
    """Removed; raises RuntimeError. Use `linalg.matrix_rank`."""
    raise RuntimeError(
        f"{_GONE}\nPlease use the `torch.linalg.matrix_rank` function instead. The parameter 'symmetric' "
        "was renamed in `torch.linalg.matrix_rank()` to 'hermitian'."
    )
