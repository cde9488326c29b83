"""Matrix products with a sparse factor.

A product with a dense matrix gathers the rows that the entries name, scales them and adds those of the same
row. A product of two sparse matrices pairs each entry ``(i, k)`` of the first with all ``(k,
                                                                                           j)`` of the second
(Gustavson, "Two fast algorithms for sparse matrices: multiplication and permuted transposition", 1978).
"""

from __future__ import annotations

from typing import Any

from jaxflow import _functions as F
from jaxflow._core.layout import sparse_coo
from jaxflow._core.layouts import has_parts
from jaxflow._core.tensor import Tensor, make
from jaxflow._views.values import value_of

from .coo import (
    assembled,
    at_places,
    coalesce,
    dense,
    entries,
    merged,
    of_entries,
    parts_of,
    without_grad,
)
from .dispatch import on, refused
from .nodes import recorded


def _check_matrix(t: Tensor, name: str) -> None:
    if t._aval.ndim != 2:
        raise RuntimeError(f"{name}: expected 2-D tensors, got one with {t._aval.ndim} dimensions")
    if has_parts(t) and parts_of(t).indices.shape[0] != 2:
        raise RuntimeError(f"{name}: expected a matrix with two sparse dimensions, got "
                           f"{parts_of(t).indices.shape[0]}")


def _check_inner(a: Tensor, b: Tensor) -> None:
    if a._aval.shape[1] != b._aval.shape[0]:
        raise RuntimeError(
            f"addmm: Argument #3 (dense): Expected dim 0 size {a._aval.shape[1]}, got {b._aval.shape[0]}")
    if a._aval.dtype is not b._aval.dtype:
        raise RuntimeError(f"expected scalar type {a._aval.dtype.scalar_name} but found "
                           f"{b._aval.dtype.scalar_name}")


def times_dense(a: Tensor, b: Tensor, name: str = "SparseAddmm") -> Tensor:
    """``a @ b`` of a sparse matrix and a dense one: dense, ``(a.shape[0], b.shape[1])``.

    The gradient of ``a`` is sparse, at its places. That of a leaf is dense where PyTorch's is: in all nodes
    but ``SparseAddmm``.
    """
    _check_matrix(a, "mm")
    _check_matrix(b, "mm")
    _check_inner(a, b)
    if a._aval.dtype.scalar_name == "Bool":
        raise NotImplementedError("\"addmm_sparse_dense\" not implemented for 'Bool'")
    parts, shape = parts_of(a), a._aval.shape
    found = without_grad(_times_dense, a, b)

    def to_a(grad: Tensor) -> Tensor:
        if a.is_leaf and name != "SparseAddmm":
            return grad.mm(_conj(b).t())
        rows, columns = parts.indices.unbind(0)
        values = (grad.index_select(0, rows) * _conj(b).index_select(0, columns)).sum(1)
        return of_entries(values, parts, shape)

    def to_b(grad: Tensor) -> Tensor:
        return times_dense(_conj(a).transpose(0, 1), grad)

    saved = ([b] if a.requires_grad else []) + ([a] if b.requires_grad else [])
    return recorded(found, name, [(a, to_a), (b, to_b)], saved)


def _conj(t: Tensor) -> Tensor:
    return t.conj() if t._aval.dtype.is_complex else t


def _times_dense(a: Tensor, b: Tensor) -> Tensor:
    rows, columns = parts_of(a).indices.unbind(0)
    found = parts_of(a).values.unsqueeze(1) * b.index_select(0, columns)
    return found.new_zeros((a._aval.shape[0], b._aval.shape[1])).index_add(0, rows, found)


def times_sparse(a: Tensor, b: Tensor) -> Tensor:
    """``a @ b`` of two sparse matrices: sparse, and coalesced."""
    _check_matrix(a, "mm")
    _check_matrix(b, "mm")
    if a._aval.shape[1] != b._aval.shape[0]:
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({a._aval.shape[0]}x{a._aval.shape[1]} and "
            f"{b._aval.shape[0]}x{b._aval.shape[1]})")
    if a._aval.dtype is not b._aval.dtype:
        raise RuntimeError("mat1 dtype and mat2 dtype must be the same, got "
                           f"{a._aval.dtype.scalar_name} and {b._aval.dtype.scalar_name}")
    shape = (a._aval.shape[0], b._aval.shape[1])
    a, b = coalesce(a), coalesce(b)
    rows, inner = parts_of(a).indices.unbind(0)
    their_rows, columns = parts_of(b).indices.unbind(0)
    counts = F.bincount(their_rows, minlength=b._aval.shape[0])
    starts = counts.cumsum(0) - counts
    each = counts.index_select(0, inner)  # how many entries of b each entry of a meets
    ours = F.arange(each.shape[0], device=each.device).repeat_interleave(each)
    first = (each.cumsum(0) - each).index_select(0, ours)
    theirs = starts.index_select(0, inner).index_select(0, ours)
    theirs = theirs + F.arange(ours.shape[0], device=each.device) - first
    indices = F.stack([rows.index_select(0, ours), columns.index_select(0, theirs)])
    values = entries(a).index_select(0, ours) * entries(b).index_select(0, theirs)
    return assembled(*merged(indices, values, shape), shape, True, "SparseSparseMatmul")


def _dense_times(a: Tensor, b: Tensor) -> Tensor:
    """``a @ b`` of a dense matrix and a sparse one: dense. Gradients are as in `times_dense`."""
    _check_matrix(a, "mm")
    _check_matrix(b, "mm")
    if a._aval.shape[1] != b._aval.shape[0]:
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({a._aval.shape[0]}x{a._aval.shape[1]} and "
            f"{b._aval.shape[0]}x{b._aval.shape[1]})")
    parts, shape = parts_of(b), b._aval.shape
    found = without_grad(lambda: times_dense(b.t(), a.t()).t())

    def to_b(grad: Tensor) -> Tensor:
        if b.is_leaf:
            return _conj(a).t().mm(grad)
        rows, columns = parts.indices.unbind(0)
        values = (_conj(a).t().index_select(0, rows) * grad.t().index_select(0, columns)).sum(1)
        return of_entries(values, parts, shape)

    def to_a(grad: Tensor) -> Tensor:
        return _dense_times(grad, _conj(b).transpose(0, 1))

    saved = ([b] if a.requires_grad else []) + ([a] if b.requires_grad else [])
    return recorded(make(value_of(found)), "Mm", [(a, to_a), (b, to_b)], saved)


def product(a: Tensor, b: Tensor) -> Tensor:
    """``a @ b`` of matrices of which at least one is sparse."""
    if has_parts(a) and has_parts(b):
        return times_sparse(a, b)
    if has_parts(a):
        return times_dense(a, b, "Mm")
    return _dense_times(a, b)


@on("mm")
def mm(input: Tensor, mat2: Tensor) -> Tensor:
    """The product of two matrices; sparse if both are."""
    return product(input, mat2)


@on("mv")
def mv(input: Tensor, vec: Tensor) -> Tensor:
    """The product of a sparse matrix and a vector."""
    if not has_parts(input) or has_parts(vec):
        raise refused("mv", "SparseCPU")
    if vec._aval.ndim != 1 or input._aval.ndim != 2:
        raise RuntimeError("mv: two dim tensor self should be 2D, vec should be 1D")
    if input._aval.shape[-1] != vec._aval.shape[-1]:
        raise RuntimeError("mv: expected self.size(-1) == vec.size(-1)")
    return times_dense(input, vec.unsqueeze(1), "Mv").squeeze(1)


@on("matmul", "__matmul__", "__rmatmul__", "linalg.matmul")
def matmul(input: Tensor, other: Tensor) -> Tensor:
    """The product of matrices, or of a matrix and a vector."""
    ranks = input._aval.ndim, other._aval.ndim
    if ranks == (2, 2):
        return product(input, other)
    if ranks == (2, 1):
        return mv(input, other)
    if ranks == (1, 2):
        return mv(other.t(), input)
    if ranks == (1, 1):
        raise refused("dot", "SparseCPU")
    raise RuntimeError("expand is unsupported for Sparse tensors: multiply matrices by torch.bmm()")


@on("bmm")
def bmm(input: Tensor, mat2: Tensor) -> Tensor:
    """The products of the matrices of a sparse batch and a dense one: ``(b, n, m) @ (b, m, p)``."""
    if has_parts(mat2):
        raise RuntimeError("bmm_sparse: Tensor 'mat2' must be dense")
    if input._aval.ndim != 3 or mat2._aval.ndim != 3:
        raise RuntimeError("bmm_sparse: expected 3-D tensors")
    (batch, rows, inner), (other, depth, columns) = input._aval.shape, mat2._aval.shape
    if batch != other or inner != depth:
        raise RuntimeError(
            f"bmm_sparse: sizes {list(input._aval.shape)} and {list(mat2._aval.shape)} do not fit")
    if parts_of(input).indices.shape[0] != 3:
        raise RuntimeError("bmm_sparse: Tensor 'self' must have 3 sparse dimensions")
    number, row, column = parts_of(input).indices.unbind(0)
    found = entries(input).unsqueeze(1) * mat2.reshape(batch * inner, columns).index_select(
        0, number * inner + column)
    total = found.new_zeros((batch * rows, columns)).index_add(0, number * rows + row, found)
    return total.reshape(batch, rows, columns)


@on("addmm")
def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1,
          name: str = "Addmm") -> Tensor:
    """``beta * input + alpha * (mat1 @ mat2)`` of a sparse ``mat1`` and dense others."""
    if has_parts(input):
        raise RuntimeError(
            "addmm_sparse_dense: expected strided result tensor, got tensor with layout Sparse")
    if not has_parts(mat1) or has_parts(mat2):
        kinds = ["Sparse" if has_parts(m) else "Strided" for m in (mat1, mat2)]
        raise RuntimeError(
            "addmm_sparse_dense: expected either 'mat1' to have sparse layout and 'mat2' to have strided "
            "layout, "
            f"got 'mat1' with layout {kinds[0]} and 'mat2' with layout {kinds[1]}")
    return added_product(input, times_dense(mat1, mat2, name), beta, alpha)


def added_product(input: Tensor, product: Tensor, beta: Any, alpha: Any) -> Tensor:
    """``beta * input + alpha * product``, where 0 as ``beta`` leaves ``input`` out, nan and all."""
    if tuple(F.broadcast_shapes(input._aval.shape, product._aval.shape)) != product._aval.shape:
        raise RuntimeError(
            f"The expanded size of the tensor must match the existing size: input of size "
            f"{list(input._aval.shape)} is added to a product of size {list(product._aval.shape)}")
    product = product if alpha == 1 else alpha * product
    return product if not beta else product + (input if beta == 1 else beta * input)


def sparse_addmm(input: Tensor, mat1: Tensor, mat2: Tensor, beta: Any, alpha: Any) -> Tensor:
    """`torch.sparse.addmm`: `addmm`, with a sparse gradient of a sparse factor."""
    if has_parts(mat1) and parts_of(mat1).layout is sparse_coo:
        return addmm(input, mat1, mat2, beta=beta, alpha=alpha, name="SparseAddmm")
    return input.addmm(mat1, mat2, beta=beta, alpha=alpha)


@on("addmm_")
def addmm_(self: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """`addmm` written into ``self``."""
    return self.copy_(addmm(self, mat1, mat2, beta=beta, alpha=alpha))


@on("smm")
def smm(input: Tensor, mat2: Tensor) -> Tensor:
    """The product of a sparse and a dense matrix, as a sparse tensor with all elements of its rows."""
    return sspaddmm(None, input, mat2)


@on("sspaddmm")
def sspaddmm(input: Tensor | None, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """``beta * input + alpha * (mat1 @ mat2)`` as a sparse tensor: the entries of both."""
    if not has_parts(mat1) or has_parts(mat2) or (input is not None and not has_parts(input)):
        raise RuntimeError("sspaddmm: expected 'input' and 'mat1' to be sparse and 'mat2' to be dense")
    total = times_dense(mat1, mat2)
    rows = F.unique(parts_of(mat1).indices[0])
    count, width = rows.shape[0], total.shape[1]
    indices = F.stack([rows.repeat_interleave(width), F.arange(width, device=rows.device).repeat(count)])
    values = alpha * at_places(total, indices)
    if input is not None:
        if input._aval.shape != total._aval.shape:
            raise RuntimeError(f"sspaddmm: Argument #1: Expected size {list(total._aval.shape)}, got "
                               f"{list(input._aval.shape)}")
        indices = F.cat([parts_of(input).indices, indices], 1)
        values = F.cat([beta * entries(input), values])
    return assembled(indices, values, total._aval.shape, False, "Sspaddmm")


@on("hspmm")
def hspmm(mat1: Tensor, mat2: Tensor) -> Tensor:
    """The product of a sparse and a dense matrix, with one sparse dimension: its rows that are not empty."""
    if not has_parts(mat1) or has_parts(mat2):
        raise RuntimeError("hspmm: expected 'mat1' to be sparse and 'mat2' to be dense")
    total = times_dense(mat1, mat2)
    rows = F.unique(parts_of(mat1).indices[0])
    return assembled(rows.unsqueeze(0), total.index_select(0, rows), total._aval.shape, False, "Hspmm")


@on("linear")
def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``input @ weight.T + bias`` of matrices."""
    found = matmul(input, weight.t())
    return found if bias is None else dense(found) + bias
