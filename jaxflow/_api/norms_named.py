"""Norms that have names of their own at the top level, from before ``torch.linalg``."""

from __future__ import annotations

from typing import Any

from jaxflow._core.geometry import wrap_dim
from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.bind import freeze
from jaxflow._dispatch.composite import composite

from .forms import given_out
from .norms import matrix_norm, vector_norm


@composite("function")
def frobenius_norm(input: Tensor, dim: Any, keepdim: bool = False, *, out: Tensor | None = None) -> Tensor:
    """The root of the sum of squares over one or two dimensions, or over all for none.

    Raises:
        RuntimeError: for more than two dimensions.
    """
    dims = (dim,) if isinstance(dim, int) else tuple(freeze(dim))
    if len(dims) > 2:
        raise RuntimeError(f"Expected at most 2 dimensions, but got {len(dims)} dimensions instead.")
    return given_out("frobenius_norm", out, vector_norm(input, 2, dims or None, keepdim))


@composite("function")
def nuclear_norm(input: Tensor, dim: Any = None, keepdim: bool = False, *,
                 out: Tensor | None = None) -> Tensor:
    """The sums of the singular values of matrices, by default in the last two dimensions."""
    if isinstance(dim, bool):  # nuclear_norm(input, keepdim)
        dim, keepdim = None, dim
    return matrix_norm(input, "nuc", (-2, -1) if dim is None else dim, keepdim, out=out)


@composite("function")
def norm_except_dim(v: Tensor, pow: int = 2, dim: int = 0) -> Tensor:
    """The norms over all dimensions but ``dim``, which keep their dimensions, of size one; -1: over all."""
    if dim == -1:
        return vector_norm(v, pow)
    at = wrap_dim(dim, v.dim())
    if not v._aval.shape[at]:
        shape = "[-1, 0]" if at and at == v.dim() - 1 else "[0, -1]"
        raise RuntimeError(f"cannot reshape tensor of 0 elements into shape {shape} because the unspecified "
                           "dimension size -1 can be any value and is ambiguous")
    others = tuple(d for d in range(v.dim()) if d != at)
    return vector_norm(v, pow, others, True) if others else v.abs()
