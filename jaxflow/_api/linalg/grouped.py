"""Products of matrices in groups, in their public form."""

from __future__ import annotations

from typing import Any

from jaxflow._core import dtype as dtypes
from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.dispatch import apply
from jaxflow._plans.op import OPS
from jaxflow._publish.composite import composite

_DTYPES = (dtypes.float32, dtypes.bfloat16, dtypes.float16)


def _check(mat_a: Tensor, mat_b: Tensor, offs: Tensor | None, bias: Tensor | None, out_dtype: Any) -> None:
    for name, x in (("mat_a", mat_a), ("mat_b", mat_b)):
        if x.dtype not in _DTYPES:
            raise RuntimeError(
                f"Expected {name} to be Float32, BFloat16 or Float16 matrix, got {x.dtype.scalar_name}")
    if mat_a.dtype is not mat_b.dtype:
        names = (d.c_name for d in (mat_a.dtype, mat_b.dtype))
        raise RuntimeError("expected m1 and m2 to have the same dtype, but got: {} != {}".format(*names))
    for name, x in (("mat_a", mat_a), ("mat_b", mat_b)):
        if x.dim() not in (2, 3):
            raise RuntimeError(f"{name} has to be 2 or 3d")
    flat = mat_a.dim() == 2 or mat_b.dim() == 2
    if flat is (offs is None):
        raise RuntimeError(
            "Have to provide offsets if there is a 2d matrix, or no offset if both matrices are 3d")
    if mat_a.shape[-1] != mat_b.shape[-2]:
        raise RuntimeError("contraction dimension of mat_a and mat_b must match")
    groups = [x.shape[0] for x in (mat_a, mat_b) if x.dim() == 3]
    if offs is not None:
        if offs.dim() != 1:
            raise RuntimeError("offs has to be 1D")
        if offs.dtype is not dtypes.int32:
            raise RuntimeError("Offsets have to be int32")
        groups.append(offs.shape[0])
    if len(set(groups)) > 1:
        raise RuntimeError("matrix batch sizes have to match")
    if bias is not None:
        raise RuntimeError("Bias not supported yet")
    if out_dtype not in (None, mat_a.dtype):
        raise RuntimeError("Grouped gemm output dtype must match `mat_a` dtype")


@composite("function", namespace="nn.functional")
def grouped_mm(mat_a: Tensor, mat_b: Tensor, *, offs: Tensor | None = None, bias: Tensor | None = None,
               out_dtype: Any = None) -> Tensor:
    """Products of matrices group by group.

    Args:
        mat_a: ``(G, M, K)``, or ``(M, K)``.
        mat_b: ``(G, K, N)``, or ``(K, N)``.
        offs: int32, where each group ends, unless both have a dimension of groups. If only ``mat_b`` has one,
            the rows of ``mat_a`` are in groups and the result is ``(M, N)``; if only ``mat_a``, the columns
            of ``mat_b``; if neither, what is summed over, and the result is ``(G, M, N)``.
        bias: not supported, as in PyTorch.
        out_dtype: the matrices' dtype.

    Raises:
        RuntimeError: for dtypes other than float32, bfloat16 and float16, and shapes that do not fit.
    """
    _check(mat_a, mat_b, offs, bias, out_dtype)
    return apply(OPS["_grouped_mm"], (mat_a, mat_b, offs))


@composite("function")
def _grouped_mm(self: Tensor, mat2: Tensor, offs: Tensor | None = None, bias: Tensor | None = None,
                out_dtype: Any = None) -> Tensor:
    """`nn.functional.grouped_mm` by the operator library's name."""
    return grouped_mm(self, mat2, offs=offs, bias=bias, out_dtype=out_dtype)
