"""Norms that have names of their own at the top level, from before ``torch.linalg``."""

from __future__ import annotations

from typing import Any

from jaxflow._api.forms import given_out
from jaxflow._core import dtype as dtypes
from jaxflow._core.tensor import Tensor
from jaxflow._core.warning import warn_once
from jaxflow._dispatch.dispatch import apply
from jaxflow._plans.op import EXACT, OPS
from jaxflow._publish.bind import freeze
from jaxflow._publish.composite import composite

from .norms import matrix_norm


@composite("function")
def frobenius_norm(input: Tensor, dim: Any, keepdim: bool = False, *, out: Tensor | None = None) -> Tensor:
    """The root of the sum of squares over one or two dimensions, or over all for none.

    Raises:
        RuntimeError: for more than two dimensions.
    """
    _deprecated("frobenius_norm", "linalg.vector_norm(A, 2., dim, keepdim)")
    dims = (dim,) if isinstance(dim, int) else tuple(freeze(dim))
    if len(dims) > 2:
        raise RuntimeError(f"Expected at most 2 dimensions, but got {len(dims)} dimensions instead.")
    return given_out("norm", out, norm_over(input, 2, dims, keepdim), (input,), rule=EXACT)


def _deprecated(name: str, instead: str) -> None:
    warn_once(f"at::{name} is deprecated and it is just left for JIT compatibility. It will be removed in a "
              f"future PyTorch release. Please use `{instead}` instead")


def norm_over(x: Tensor, p: Any, dims: Any, keepdim: bool) -> Tensor:
    """The norm of order ``p``; over all dimensions for none."""
    if x._aval.dtype.category < dtypes.FLOATING:
        raise RuntimeError("norm(): input dtype should be either floating point or complex. Got "
                           f"{x._aval.dtype.scalar_name} instead.")
    return apply(OPS["_norm" if p else "_norm_count"], (x,), (p, dims, bool(keepdim), None))


@composite("function")
def nuclear_norm(input: Tensor, dim: Any = None, keepdim: bool = False, *,
                 out: Tensor | None = None) -> Tensor:
    """The sums of the singular values of matrices, by default in the last two dimensions."""
    if isinstance(dim, bool):  # nuclear_norm(input, keepdim)
        dim, keepdim = None, dim
    _deprecated("nuclear_norm", "linalg.matrix_norm(A, 'nuc', dim, keepdim)")
    return matrix_norm(input, "nuc", (-2, -1) if dim is None else dim, keepdim, out=out)


@composite("function")
def norm_except_dim(v: Tensor, pow: int = 2, dim: int = 0) -> Tensor:
    """The norms over all dimensions but ``dim``, which keep their dimensions, of size one; -1: over all."""
    if dim == -1:
        return norm_over(v, pow, None, False)
    last = v.dim() - 1
    if dim not in (0, last):
        return norm_except_dim(v.transpose(0, dim), pow).transpose(0, dim)
    size = v.size(dim)
    shape = [1] * v.dim()
    shape[dim] = size
    rows = v.contiguous().view((size, -1) if dim == 0 else (-1, size))
    return norm_over(rows, pow, (1 if dim == 0 else 0,), False).view(shape)
