"""Operations on compressed sparse tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jaxflow import _functions as F
from jaxflow._core import dtype as dtypes
from jaxflow._core.geometry import wrap_dim
from jaxflow._core.layout import sparse_bsc, sparse_bsr, sparse_coo, sparse_csc, sparse_csr
from jaxflow._core.layouts import has_parts
from jaxflow._core.tensor import Tensor, make
from jaxflow._views.values import value_of

from . import invariants, products
from .compressed import (
    COMPRESSED_LAYOUTS,
    Compressed,
    built,
    compressed_of,
    coo_of,
    dense_of,
    entries_of,
    places,
    shape_of,
    with_values,
)
from .coo import without_grad
from .dispatch import COMPRESSED, COO, on, refused
from .inplace import again
from .make import as_tensor
from .nodes import recorded

_BACKEND = "SparseCsrCPU"


def csr(*names: str) -> Callable[[Callable], Callable]:
    """`on`, of compressed tensors."""
    return on(*names, table=COMPRESSED)


# ---------------------------------------------------------------------------------------------- making


def compressed_tensor(compressed: Any, plain: Any, values: Any, size: Any, layout: Any, dtype: Any,
                      device: Any,
                      requires_grad: bool, check: bool | None) -> Tensor:
    """`torch.sparse_compressed_tensor` and its like."""
    if layout not in COMPRESSED_LAYOUTS.values():
        raise RuntimeError(f"sparse_compressed_tensor: expected a compressed sparse layout, got {layout}")
    values = as_tensor(values, dtype, device)
    compressed, plain = (x if isinstance(x, Tensor) else F.tensor(x, dtype=dtypes.int64, device=values.device)
                         for x in (compressed, plain))
    for part, name in zip((compressed, plain), _names(layout)):
        if part.dtype not in (dtypes.int32, dtypes.int64):
            raise RuntimeError(f"{name} must be int32 or int64 tensors, but got {part.dtype.scalar_name}")
    if plain.dim() < 1 or values.dim() < 1:
        raise RuntimeError("compressed and plain indices and values must have at least one dimension")
    shape = tuple(size) if size is not None else shape_of(compressed, plain, values, layout)
    parts = Compressed(compressed, plain, values, layout)
    batch, (high, wide) = plain.dim() - 1, parts.block
    if len(shape) < batch + 2:
        raise RuntimeError(f"size must have dimensionality at least {batch + 2} but got {len(shape)}")
    if invariants.wanted(check):
        rows, columns = shape[batch] // high, shape[batch + 1] // wide
        lines = (rows, columns) if parts.by_rows else (columns, rows)
        invariants.check_compressed(compressed, plain, values, lines, _names(layout), parts.by_rows)
    made = built(compressed, plain, values, shape, layout)
    if requires_grad and made._aval.dtype.category < 2:
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
    return made.requires_grad_() if requires_grad and not made.requires_grad else made


def _names(layout: Any) -> tuple[str, str]:
    return ("crow_indices", "col_indices") if layout in (sparse_csr, sparse_bsr) else (
        "ccol_indices", "row_indices")


# ------------------------------------------------------------------------------------------- attributes


def _part(name: str, field: str, layouts: tuple, kind: str) -> None:
    def read(self: Tensor) -> Tensor:
        parts = self._storage.parts
        if parts.layout not in layouts:
            shown = "".join(word.capitalize() for word in parts.layout.name.split("_"))
            raise RuntimeError(f"{name} expected {kind} tensor layout but got {shown}")
        return getattr(parts, field)

    csr(name)(read)


for _args in (("crow_indices", "compressed", (sparse_csr, sparse_bsr), "sparse row compressed"),
              ("col_indices", "plain", (sparse_csr, sparse_bsr), "sparse row compressed"),
              ("ccol_indices", "compressed", (sparse_csc, sparse_bsc), "sparse column compressed"),
              ("row_indices", "plain", (sparse_csc, sparse_bsc), "sparse column compressed"),
              ("indices", "", (), "sparse coordinate"), ("coalesce", "", (), "sparse coordinate"),
              ("is_coalesced", "", (), "sparse coordinate")):
    _part(*_args)


def _not_compressed(name: str, kind: str) -> None:
    def refuse(self: Tensor) -> Tensor:
        raise RuntimeError(f"{name} expected {kind} tensor layout but got Sparse")

    on(name)(refuse)


for _name in ("crow_indices", "col_indices"):
    _not_compressed(_name, "sparse row compressed")
for _name in ("ccol_indices", "row_indices"):
    _not_compressed(_name, "sparse column compressed")


@csr("values")
def values(self: Tensor) -> Tensor:
    """The values, with their history."""
    return entries_of(self)


@csr("_nnz")
def nnz(self: Tensor) -> int:
    """The number of entries, of one tensor of a batch."""
    return self._storage.parts.plain.shape[-1]


@csr("sparse_dim")
def sparse_dim(self: Tensor) -> int:
    """2: rows and columns."""
    return 2


@csr("dense_dim")
def dense_dim(self: Tensor) -> int:
    """The number of dimensions behind those of batches, rows and columns."""
    return self._aval.ndim - 2 - (self._storage.parts.plain.dim() - 1)


@csr("to_dense")
def to_dense(self: Tensor, dtype: Any = None, *, masked_grad: bool | None = None) -> Tensor:
    """The dense tensor of the same elements."""
    if dtype is not None:
        raise RuntimeError("dtype argument is not supported by sparse_csr_to_dense")
    return dense_of(self)


# ------------------------------------------------------------------------------------------ elementwise

_MAPPED = ("abs absolute asin arcsin asinh arcsinh atan arctan atanh arctanh ceil deg2rad erf erfinv expm1 "
           "floor frac isinf isnan isneginf isposinf log1p nan_to_num neg negative rad2deg relu round sgn "
           "sign "
           "signbit sin sinh sqrt tan tanh trunc fix conj_physical positive")


def _mapped(name: str) -> None:
    function, shown = getattr(F, name), "".join(word.capitalize() for word in name.split("_"))

    def compute(input: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        return with_values(input, function(entries_of(input), *args, **kwargs), shown)

    def write(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        return again(self, lambda: compute(self, *args, **kwargs))

    csr(name, *{"neg": ("__neg__",), "abs": ("__abs__",)}.get(name, ()))(compute)
    if name not in ("isinf", "isnan", "isneginf", "isposinf", "positive"):
        csr(f"{name}_")(write)


for _name in _MAPPED.split():
    _mapped(_name)


@csr("conj")
def conj(input: Tensor) -> Tensor:
    """The complex conjugate; a real tensor itself."""
    return COMPRESSED["conj_physical"](input) if input._aval.dtype.is_complex else input


def _back(t: Tensor, layout: Any) -> Tensor:
    return compressed_of(t, layout)


def _elements(name: str, *layouts: Any) -> None:
    for layout in layouts:
        if layout in (sparse_bsr, sparse_bsc):
            raise NotImplementedError(f"{name} of layout {layout}: convert it with to_sparse_csr() first")


@csr("add", "__add__", "__radd__")
def add(input: Any, other: Any, *, alpha: Any = 1) -> Tensor:
    """``input + alpha * other``: dense if one of them is."""
    if not (has_parts(input) and has_parts(other)):
        if not (isinstance(input, Tensor) and isinstance(other, Tensor)):
            raise refused("add.Scalar", _BACKEND)
        return F.add(*(dense_of(t) if has_parts(t) else t for t in (input, other)), alpha=alpha)
    layouts = [t._storage.parts.layout for t in (input, other)]
    if layouts[0] is not layouts[1]:
        raise RuntimeError(f"add: cannot add tensors of layouts {layouts[0]} and {layouts[1]}")
    _elements("add", *layouts)
    return _back(COO["add"](coo_of(input), coo_of(other), alpha=alpha), layouts[0])


@csr("mul", "multiply", "__mul__", "__rmul__")
def mul(input: Any, other: Any) -> Tensor:
    """The product of each element: with a number, a dense or a sparse tensor."""
    if not has_parts(input):
        input, other = other, input
    if not isinstance(other, Tensor) or (not has_parts(other) and not other._aval.ndim):
        return with_values(input, entries_of(input) * other, "Mul")
    layout = input._storage.parts.layout
    _elements("mul", layout)
    if has_parts(other):
        other = coo_of(other)
    return _back(COO["mul"](coo_of(input), other), layout)


def _written(names: str, compute: Callable) -> None:
    def write(self: Tensor, other: Any, **kwargs: Any) -> Tensor:
        if not has_parts(self):
            return self.copy_(compute(self, other, **kwargs).to_dense())
        return again(self, lambda: compute(self, other, **kwargs))

    csr(*names.split())(write)


_written("add_ __iadd__", add)
_written("mul_ multiply_ __imul__", mul)


@csr("copy_")
def copy_(self: Tensor, src: Tensor, non_blocking: bool = False) -> Tensor:
    """Let a compressed tensor have the parts of another one of its layout and size."""
    if not (has_parts(self) and has_parts(src)) or self.layout is not src.layout:
        raise RuntimeError(
            f"copy_: tensors of layouts {self.layout} and {src.layout} are not copied into each "
                           "other")
    return again(self, lambda: src.clone().to(self._aval.dtype))


@csr("sum")
def sum_(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Sums of all elements, or over rows or columns with ``keepdim``."""
    if dim is None or (not isinstance(dim, int) and not len(dim)):
        shape, kind = input._aval.shape, input._aval.dtype
        if not input.is_leaf or not input.requires_grad:
            return entries_of(input).sum(dtype=dtype)
        total = input._storage.parts.values.sum(dtype=dtype)
        return recorded(total, "Sum", [(input, lambda grad: grad.to(kind).expand(shape))])
    if not keepdim:
        raise RuntimeError("reduction operations on CSR tensors with keepdim=False is unsupported")
    return _back(COO["sum"](coo_of(input), dim, True, dtype=dtype), input._storage.parts.layout)


@csr("sparse_mask")
def sparse_mask(self: Tensor, mask: Tensor) -> Tensor:
    """The elements of ``self`` where ``mask`` has entries."""
    if not has_parts(mask):
        raise refused("sparse_mask", "CPU")
    source = self.to_dense() if has_parts(self) else self
    layout = mask._storage.parts.layout
    if layout is sparse_coo:
        return COO["sparse_mask"](source, mask)
    _elements("sparse_mask", layout)
    return _back(COO["sparse_mask"](source, coo_of(mask)), layout)


@csr("zeros_like")
def zeros_like(input: Tensor, *, dtype: Any = None, layout: Any = None, device: Any = None,
               pin_memory: bool = False,
               requires_grad: bool = False, memory_format: Any = None) -> Tensor:
    """A tensor of the same size and layout without entries."""
    parts = input._storage.parts
    _elements("zeros_like", parts.layout)
    made = built(parts.compressed * 0, parts.plain[..., :0], parts.values[...,
                                                                          :0].to(dtype or parts.values.dtype),
                 input._aval.shape, parts.layout)
    return made.requires_grad_() if requires_grad else made


@csr("full_like")
def full_like(input: Tensor, fill_value: Any, *, dtype: Any = None, layout: Any = None, device: Any = None,
              pin_memory: bool = False, requires_grad: bool = False, memory_format: Any = None) -> Tensor:
    """A tensor of the same layout and indices, whose values are all the same number."""
    t = input.detach()
    made = with_values(t, F.full_like(entries_of(t), fill_value, dtype=dtype), "Full")
    return made.requires_grad_() if requires_grad else made


@csr("ones_like")
def ones_like(input: Tensor, **options: Any) -> Tensor:
    """`full_like` of ones."""
    return full_like(input, 1, **options)


@csr("fill_")
def fill_(self: Tensor, value: Any) -> Tensor:
    """Let all values that are there be one number, in place."""
    return again(self, lambda: full_like(self, value))


@csr("zero_")
def zero_(self: Tensor) -> Tensor:
    """Take all entries away, in place."""
    return again(self, lambda: zeros_like(self))


# ----------------------------------------------------------------------------------------------- shapes


_OTHER_WAY = {sparse_csr: sparse_csc, sparse_csc: sparse_csr, sparse_bsr: sparse_bsc, sparse_bsc: sparse_bsr}


@csr("transpose", "swapaxes", "swapdims")
def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Rows and columns exchanged: what was compressed by rows is by columns then."""
    parts, rank = input._storage.parts, input._aval.ndim
    batch = parts.plain.dim() - 1
    a, b = sorted((wrap_dim(dim0, rank), wrap_dim(dim1, rank)))
    if a == b:
        return input
    if (a, b) != (batch, batch + 1):
        raise RuntimeError(
            f"transpose(): can only transpose the two sparse dimensions of a {parts.layout} tensor")
    shape = list(input._aval.shape)
    shape[a], shape[b] = shape[b], shape[a]
    values = entries_of(input)
    if parts.layout in (sparse_bsr, sparse_bsc):
        values = values.transpose(batch + 1, batch + 2)
    return built(parts.compressed, parts.plain, values, tuple(shape), _OTHER_WAY[parts.layout], "Transpose")


@csr("t")
def t_(input: Tensor) -> Tensor:
    """The transposed matrix."""
    return transpose(input, 0, 1)


@csr("permute")
def permute(input: Tensor, *dims: Any) -> Tensor:
    """`transpose`, where that is the order."""
    order = list(dims[0]) if len(dims) == 1 and not isinstance(dims[0], int) else list(dims)
    if order != [1, 0] or input._aval.ndim != 2:
        raise refused("permute", _BACKEND)
    return transpose(input, 0, 1)


@csr("select")
def select(input: Tensor, dim: int, index: int) -> Tensor:
    """The elements of a row or a column, in coordinates."""
    return COO["select"](coo_of(input), dim, index)


@csr("__getitem__")
def item_of(self: Tensor, index: Any) -> Tensor:
    """Indexing with integers."""
    return COO["__getitem__"](coo_of(self), index)


@csr("__len__")
def length(self: Tensor) -> int:
    """The extent of the first dimension."""
    return self._aval.shape[0]


# --------------------------------------------------------------------------------------------- products


def _coo(t: Tensor) -> Tensor:
    return coo_of(t) if has_parts(t) and t._storage.parts.layout is not sparse_coo else t


@csr("mm")
def mm(input: Tensor, mat2: Tensor) -> Tensor:
    """The product of two matrices: of compressed ones CSR, else dense."""
    if has_parts(input) and has_parts(mat2):
        if sparse_coo in (input._storage.parts.layout, mat2._storage.parts.layout):
            raise RuntimeError(
                "addmm: computation on CPU is not implemented for a product of a compressed tensor "
                               "and one in coordinates: convert one of them")
        return _back(products.times_sparse(_coo(input), _coo(mat2)), sparse_csr)
    if has_parts(input) and input.requires_grad and input.is_leaf:
        return _dense_gradient(input, mat2)
    return products.product(_coo(input), _coo(mat2))


def _dense_gradient(a: Tensor, b: Tensor) -> Tensor:
    """``a @ b`` of a leaf, whose gradient is dense as in PyTorch; by `sparse_mm` it is sparse."""
    found = without_grad(lambda: products.product(coo_of(a), b))
    saved = [b, *([a] if b.requires_grad else [])]
    return recorded(make(value_of(found)), "Mm", [
        (a, lambda grad: grad.mm(b.t().conj().resolve_conj())),
        (b, lambda grad: mm(conj(transpose(a, 0, 1)), grad)),
    ], saved)


def sparse_mm(mat1: Tensor, mat2: Tensor) -> Tensor:
    """`torch.sparse.mm`: `mm`, with a sparse gradient of a sparse factor."""
    if has_parts(mat1) and not has_parts(mat2):
        return products.times_dense(_coo(mat1), mat2)
    return mat1.mm(mat2)


@csr("mv")
def mv(input: Tensor, vec: Tensor) -> Tensor:
    """The product of a sparse matrix and a vector."""
    return products.mv(_coo(input), vec)


@csr("matmul", "__matmul__", "__rmatmul__")
def matmul(input: Tensor, other: Tensor) -> Tensor:
    """The product of matrices, or of a matrix and a vector."""
    if input._aval.ndim == other._aval.ndim == 2:
        return mm(input, other)
    return products.matmul(_coo(input), _coo(other))


@csr("addmm")
def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """``beta * input + alpha * (mat1 @ mat2)``, of a dense ``input``."""
    if has_parts(input):
        raise NotImplementedError("addmm: the tensor that is added to has to be dense; use to_dense()")
    found = mm(mat1, mat2)
    found = found.to_dense() if has_parts(found) else found
    return products.added_product(input, found, beta, alpha)


@csr("linear")
def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``input @ weight.T + bias`` of matrices."""
    found = matmul(input, weight.t())
    return found if bias is None else found + bias


def sampled_addmm(input: Tensor, mat1: Tensor, mat2: Tensor, beta: Any, alpha: Any) -> Tensor:
    """`torch.sparse.sampled_addmm`."""
    if not has_parts(input) or input._storage.parts.layout is not sparse_csr:
        backend = "SparseCPU" if has_parts(input) else "CPU"
        raise refused("sparse_sampled_addmm", backend)
    (rows, inner), (depth, columns) = mat1._aval.shape[-2:], mat2._aval.shape[-2:]
    if mat1._aval.ndim != 2 or mat2._aval.ndim != 2 or input._aval.ndim != 2:
        raise NotImplementedError("sampled_addmm of batches: call it for each matrix")
    if inner != depth:
        raise RuntimeError(
            f"sampled_addmm: mat1 and mat2 shapes cannot be multiplied ({rows}x{inner} and "
            f"{depth}x{columns})")
    if input._aval.shape != (rows, columns):
        raise RuntimeError(f"sampled_addmm: Expected size of input {list(input._aval.shape)} to be "
                           f"{[rows, columns]}")
    row, column = places(input._storage.parts)
    found = (mat1.index_select(0, row) * mat2.t().index_select(0, column)).sum(1)
    values = alpha * found if not beta else beta * entries_of(input) + alpha * found
    return with_values(input, values, "SparseSampledAddmm")


_REDUCED = dict(sum="sum", mean="mean", amax="amax", amin="amin")


def reduced_product(input: Tensor, other: Tensor, reduce: str) -> Tensor:
    """``torch.sparse.mm(input, other, reduce)``: what is added in a product is reduced so."""
    if not has_parts(input) or input._storage.parts.layout is not sparse_csr:
        raise refused("_sparse_mm_reduce_impl", "SparseCPU" if has_parts(input) else "CPU")
    if reduce not in _REDUCED:
        raise RuntimeError("reduce argument must be either sum, mean, amax or amin, got " + reduce)
    if input._aval.shape[1] != other._aval.shape[0]:
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({input._aval.shape[0]}x"
                           f"{input._aval.shape[1]} and {other._aval.shape[0]}x{other._aval.shape[1]})")
    row, column = places(input._storage.parts)
    found = entries_of(input).unsqueeze(1) * other.index_select(0, column)
    where = row.unsqueeze(1).expand(found.shape)
    zero = found.new_zeros((input._aval.shape[0], found.shape[1]))
    return zero.scatter_reduce(0, where, found, _REDUCED[reduce], include_self=False)

