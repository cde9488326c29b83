"""What is declared of sparse layouts: constructors, conversions, functions of ``torch.sparse``.

A tensor of such a layout is made and computed with in ``jaxflow._sparse``, which is loaded when the first one
is made: NOTE [Layouts other than strided]. What is here is what these functions do with dense tensors.
"""

from __future__ import annotations

import functools
from typing import Any

from jaxflow._api.creation.placing import need_memory
from jaxflow._core.arguments import Number
from jaxflow._core.layout import sparse_bsc, sparse_bsr, sparse_coo, sparse_csc, sparse_csr, strided
from jaxflow._core.layouts import among, handler
from jaxflow._core.tensor import Tensor
from jaxflow._publish.composite import composite


def _refused(name: str, backend: str = "CPU") -> NotImplementedError:
    return NotImplementedError(
        f"Could not run 'aten::{name}' with arguments from the '{backend}' backend: it takes sparse tensors. "
        "Convert the tensor with to_sparse() first")


# ----------------------------------------------------------------------------- what dense tensors do


@composite("method")
def to_dense(self: Tensor, dtype: Any = None, *, masked_grad: bool | None = None) -> Tensor:
    """The tensor itself, or converted to ``dtype``: it is dense already.

    Args:
        dtype: of the result; None for that of ``self``.
        masked_grad: accepted, and of no effect: it concerns sparse layouts.

    Returns:
        ``self`` without another ``dtype``, else a converted copy.

    Example:
        >>> t = torch.tensor([1, 2])
        >>> t.to_dense() is t
        True
        >>> t.to_dense(torch.float32)
        tensor([1., 2.])
    """
    return self if dtype is None else self.to(dtype)


@composite("method")
def sparse_dim(self: Tensor) -> int:
    """0: no dimension of a dense tensor is sparse."""
    return 0


@composite("method")
def dense_dim(self: Tensor) -> int:
    """The number of dimensions, all dense."""
    return self._aval.ndim


# ----------------------------------------------------------------------- what PyTorch refuses as well


_OF_LAYOUT_DOC = """What a tensor of {layout} layout has; RuntimeError for others.

Returns:
    For a tensor of that layout, what its name says; see ``torch.sparse_coo_tensor`` and
    ``torch.sparse_csr_tensor``.

Raises:
    RuntimeError: for tensors of other layouts.

Example:
    >>> torch.ones(2).{name}()
    Traceback (most recent call last):
        ...
    RuntimeError: {name} expected {layout} tensor layout but got Strided
"""


def _of_layout(name: str, layout: str) -> None:
    def method(self: Tensor) -> Tensor:
        raise RuntimeError(f"{name} expected {layout} tensor layout but got Strided")

    method.__name__ = name
    method.__doc__ = _OF_LAYOUT_DOC.format(name=name, layout=layout)
    composite("method")(method)


for _name, _layout in (
    ("coalesce", "sparse coordinate"), ("is_coalesced", "sparse coordinate"),
    ("indices", "sparse coordinate"), ("values", "sparse"),
    ("crow_indices", "sparse row compressed"), ("col_indices", "sparse row compressed"),
    ("ccol_indices", "sparse column compressed"), ("row_indices", "sparse column compressed"),
):
    _of_layout(_name, _layout)


def _of_sparse(name: str, doc: str) -> None:
    def method(self: Tensor) -> Any:
        raise _refused(name)

    method.__name__, method.__doc__ = name, doc
    composite("method", checks=False)(method)


for _name, _doc in (
    ("_nnz", "The number of entries of a sparse tensor."),
    ("_indices", "The indices of a tensor in coordinates, as they are."),
    ("_values", "The values of a tensor in coordinates, as they are, without history."),
):
    _of_sparse(_name, _doc)


@composite("method", checks=False)
def _coalesced_(self: Tensor, coalesced: bool) -> Tensor:
    """Say that a tensor in coordinates is coalesced, or that it is not."""
    raise _refused("_coalesced_")


@composite("method", checks=False)
def sparse_resize_(self: Tensor, size: Any, sparse_dim: int, dense_dim: int) -> Tensor:
    """Give a tensor in coordinates another size, in place; its entries stay.

    Args:
        size: the new size.
        sparse_dim: how many of its dimensions are sparse.
        dense_dim: how many are dense.

    Returns:
        The tensor itself.

    Raises:
        RuntimeError: where a tensor with entries would lose some, or get other kinds of dimensions.
        NotImplementedError: for a dense tensor.

    Example:
        >>> s = torch.sparse_coo_tensor([[0]], [1.0], (2,))
        >>> s.sparse_resize_((4,), 1, 0).to_dense()
        tensor([1., 0., 0., 0.])
    """
    raise _refused("sparse_resize_")


@composite("method", checks=False)
def sparse_resize_and_clear_(self: Tensor, size: Any, sparse_dim: int, dense_dim: int) -> Tensor:
    """Give a tensor in coordinates another size, and no entries, in place."""
    raise _refused("sparse_resize_and_clear_")


@composite("method", checks=False)
def resize_as_sparse_(self: Tensor, the_template: Tensor) -> Tensor:
    """Give a tensor in coordinates the size of another one, in place."""
    raise _refused("resize_as_sparse_")


# ---------------------------------------------------------------------------------------------- making


@composite("function", checks=False)
def sparse_coo_tensor(*args: Any, **kwargs: Any) -> Tensor:
    """A sparse tensor in coordinates: values, and for each the place where it stands.

    Values of the same place count as their sum. ``dense_dim = values.dim() - 1`` dimensions behind the sparse
    ones are dense: each entry is a tensor then. With history: gradients reach ``values``.

    Args:
        args: ``indices``, ``values`` and ``size``, or ``size`` alone for a tensor without entries.
            ``indices`` are integers ``(sparse_dim, nnz)``; ``values`` are ``(nnz, *dense)``; ``size`` is by
            default the smallest that holds all indices.
        kwargs: ``dtype``, ``device``, ``pin_memory``, ``requires_grad``; ``is_coalesced`` says that each
            place comes once, in order; ``check_invariants`` whether indices are looked at.

    Returns:
        A tensor of layout ``torch.sparse_coo``.

    Raises:
        RuntimeError: for indices, values and size that do not go together.
        TypeError: for other arguments.

    Example:
        >>> s = torch.sparse_coo_tensor([[0, 1, 1], [2, 0, 0]], [3.0, 4.0, 5.0], (2, 3))
        >>> s.to_dense()
        tensor([[0., 0., 3.],
                [9., 0., 0.]])
        >>> s.coalesce()
        tensor(indices=tensor([[0, 1],
                               [2, 0]]),
               values=tensor([3., 9.]),
               size=(2, 3), nnz=2, layout=torch.sparse_coo)
    """
    need_memory("sparse_coo_tensor", None, kwargs.get("pin_memory"), kwargs.get("device"))
    return handler("sparse_coo_tensor")(*args, **kwargs)


_COMPRESSED_DOC = """A sparse tensor of layout ``torch.{layout}``: {lines} one behind the other.

Args:
    {compressed}: integers ``(*batch, {count} + 1)``: where the entries of each of the {lines} begin.
    {plain}: integers ``(*batch, nnz)``: the {across} of each entry.
    values: ``(*batch, nnz, {block}*dense)``.
    size: of the tensor; by default the smallest that holds all entries.
    dtype: of the values; None for their own.
    device: where it goes; None for where the values are.
    pin_memory: accepted, and of no effect.
    requires_grad: whether operations on it are recorded.
    check_invariants: whether the indices are looked at; None for what
        ``torch.sparse.check_sparse_tensor_invariants`` says.

Returns:
    A tensor of that layout.

Raises:
    RuntimeError: for parts that do not go together.

Example:
    >>> torch.{layout}_tensor({example}).to_dense()
    tensor([[1., 2.],
            [0., 3.]])
"""

_BLOCKS = "[0, 1], [0], [[[1.0, 2.0], [0.0, 3.0]]], (2, 2)"


def _compressed(layout: Any, by_rows: bool, example: str) -> None:
    names = ("crow_indices", "col_indices") if by_rows else ("ccol_indices", "row_indices")
    lines, across = ("rows", "column") if by_rows else ("columns", "row")
    blocks = layout in (sparse_bsr, sparse_bsc)

    if by_rows:
        def make(crow_indices: Any, col_indices: Any, values: Any, size: Any = None, *, dtype: Any = None,
                 device: Any = None, pin_memory: bool = False, requires_grad: bool = False,
                 check_invariants: bool | None = None) -> Tensor:
            need_memory(make.__name__, None, pin_memory, device)
            return handler("compressed_tensor")(crow_indices, col_indices, values, size, layout, dtype,
                                                device,
                                                requires_grad, check_invariants)
    else:
        def make(ccol_indices: Any, row_indices: Any, values: Any, size: Any = None, *, dtype: Any = None,
                 device: Any = None, pin_memory: bool = False, requires_grad: bool = False,
                 check_invariants: bool | None = None) -> Tensor:
            need_memory(make.__name__, None, pin_memory, device)
            return handler("compressed_tensor")(ccol_indices, row_indices, values, size, layout, dtype,
                                                device,
                                                requires_grad, check_invariants)

    make.__name__ = f"{layout.name}_tensor"
    make.__doc__ = _COMPRESSED_DOC.format(
        layout=layout.name, lines=f"blocks of {lines}" if blocks else lines, compressed=names[0],
        plain=names[1],
        count="blocks" if blocks else lines, across=across, block="height, width, " if blocks else "",
        example=example)
    composite("function", checks=False)(make)


_compressed(sparse_csr, True, "[0, 2, 3], [0, 1, 1], [1.0, 2.0, 3.0], (2, 2)")
_compressed(sparse_csc, False, "[0, 1, 3], [0, 0, 1], [1.0, 2.0, 3.0], (2, 2)")
_compressed(sparse_bsr, True, _BLOCKS)
_compressed(sparse_bsc, False, _BLOCKS)


@composite("function", checks=False)
def sparse_compressed_tensor(compressed_indices: Any, plain_indices: Any, values: Any, size: Any = None, *,
                             dtype: Any = None, layout: Any = None, device: Any = None,
                             pin_memory: bool = False,
                             requires_grad: bool = False, check_invariants: bool | None = None) -> Tensor:
    """A sparse tensor of the compressed layout that ``layout`` names.

    Args:
        compressed_indices: where the entries of each line begin.
        plain_indices: where along its line each entry stands.
        values: of the entries.
        size: of the tensor; by default the smallest that holds all entries.
        dtype: of the values; None for their own.
        layout: one of ``torch.sparse_csr``, ``sparse_csc``, ``sparse_bsr`` and ``sparse_bsc``.
        device: where it goes; None for where the values are.
        pin_memory: accepted, and of no effect.
        requires_grad: whether operations on it are recorded.
        check_invariants: whether the indices are looked at.

    Returns:
        A tensor of that layout.

    Raises:
        RuntimeError: for another layout, or parts that do not go together.

    Example:
        >>> t = torch.sparse_compressed_tensor([0, 1], [1], [5.0], (1, 2), layout=torch.sparse_csr)
        >>> t.to_dense()
        tensor([[0., 5.]])
    """
    need_memory("sparse_compressed_tensor", None, pin_memory, device)
    return handler("compressed_tensor")(compressed_indices, plain_indices, values, size, layout, dtype,
                                        device,
                                        requires_grad, check_invariants)


# --------------------------------------------------------------------------------------- conversions


@composite("method", checks=False)
def to_sparse(self: Tensor, sparse_dim: int | None = None, *, layout: Any = None, blocksize: Any = None,
              dense_dim: int | None = None) -> Tensor:
    """The tensor in a sparse layout: entries where it is not zero.

    Args:
        sparse_dim: how many leading dimensions are sparse, in coordinates; None for all of them.
        layout: the layout; None for coordinates.
        blocksize: ``(height, width)`` of the blocks of layouts that have such.
        dense_dim: how many dimensions at the end are dense, in compressed layouts.

    Returns:
        A sparse tensor, through which gradients flow.

    Raises:
        RuntimeError: for numbers of dimensions or blocks that do not fit.

    Example:
        >>> torch.tensor([[0.0, 2.0], [3.0, 0.0]]).to_sparse()
        tensor(indices=tensor([[0, 1],
                               [1, 0]]),
               values=tensor([2., 3.]),
               size=(2, 2), nnz=2, layout=torch.sparse_coo)
    """
    if layout is None or layout is sparse_coo:
        count = self._aval.ndim if sparse_dim is None else sparse_dim
        return handler("coo_of_dense")(self, count)
    if layout is strided:
        return self
    return handler("compressed_of_dense")(self, layout, blocksize, dense_dim)


@composite("method", checks=False)
def to_sparse_coo(self: Tensor) -> Tensor:
    """The tensor in coordinates: ``to_sparse()``."""
    return self.to_sparse()


_TO_DOC = """The tensor in the layout ``torch.{layout}``.

Args:{blocksize}
    dense_dim: how many dimensions at the end are dense; None for none.

Returns:
    A sparse tensor, through which gradients flow.

Raises:
    RuntimeError: for a tensor that has no such form.

Example:
    >>> torch.eye(2).to_{layout}({example}).to_dense()
    tensor([[1., 0.],
            [0., 1.]])
"""


def _to(layout: Any, blocks: bool) -> None:
    if blocks:
        def convert(self: Tensor, blocksize: Any, dense_dim: int | None = None) -> Tensor:
            return handler("compressed_of_dense")(self, layout, blocksize, dense_dim)
    else:
        def convert(self: Tensor, dense_dim: int | None = None) -> Tensor:
            return handler("compressed_of_dense")(self, layout, None, dense_dim)

    convert.__name__ = f"to_{layout.name}"
    convert.__doc__ = _TO_DOC.format(
        layout=layout.name, example="(2, 1)" if blocks else "",
        blocksize="\n    blocksize: ``(height, width)`` of the blocks, which divide it." if blocks else "")
    composite("method", checks=False)(convert)


for _layout, _blocks in ((sparse_csr, False), (sparse_csc, False), (sparse_bsr, True), (sparse_bsc, True)):
    _to(_layout, _blocks)


@composite("method", checks=False)
def sparse_mask(self: Tensor, mask: Tensor) -> Tensor:
    """The elements of ``self`` where a sparse tensor has entries.

    Args:
        mask: a sparse tensor of the same size; its values are not looked at.

    Returns:
        A sparse tensor of the layout and the indices of ``mask``.

    Raises:
        RuntimeError: for another size.
        NotImplementedError: for a dense mask.

    Example:
        >>> t = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> t.sparse_mask(torch.eye(2).to_sparse()).to_dense()
        tensor([[1., 0.],
                [0., 4.]])
    """
    raise _refused("sparse_mask")


# ------------------------------------------------------------------------------------------- products


@composite("function", namespace="sparse", aliases=(".spmm", ".dsmm"))
def mm(mat1: Tensor, mat2: Tensor, reduce: str | None = None) -> Tensor:
    """The product of two matrices, sparse or dense.

    Args:
        mat1: ``(n, m)``.
        mat2: ``(m, p)``.
        reduce: of a CSR matrix and a dense one: in place of the sum over ``m`` the ``"sum"``, ``"mean"``,
            ``"amax"`` or ``"amin"`` of what is there.

    Returns:
        ``(n, p)``: sparse if both are, else dense.

    Raises:
        RuntimeError: for sizes that do not fit.

    Example:
        >>> s = torch.sparse_coo_tensor([[0, 1], [1, 0]], [2.0, 3.0], (2, 2))
        >>> torch.sparse.mm(s, torch.ones(2, 1))
        tensor([[2.],
                [3.]])
    """
    if reduce is not None:
        return handler("reduced_product")(mat1, mat2, reduce)
    if among((mat1, mat2)):
        return handler("sparse_mm")(mat1, mat2)
    return mat1.mm(mat2)


@composite("function", namespace="sparse")
def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
    """``beta * input + alpha * (mat1 @ mat2)`` of matrices, of which ``mat1`` may be sparse."""
    if among((input, mat1, mat2)):
        return handler("sparse_addmm")(input, mat1, mat2, beta, alpha)
    return input.addmm(mat1, mat2, beta=beta, alpha=alpha)


def _no_out(name: str, out: Tensor | None) -> None:
    if out is not None:
        raise NotImplementedError(f"{name}(): out= is not taken; copy_() the result")


@composite("function", namespace="sparse")
def sampled_addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Number = 1.0, alpha: Number = 1.0,
                  out: Tensor | None = None) -> Tensor:
    """``beta * input + alpha * (mat1 @ mat2)`` where the CSR matrix ``input`` has entries.

    Args:
        input: ``(n, p)`` of layout ``torch.sparse_csr``.
        mat1: dense, ``(n, m)``.
        mat2: dense, ``(m, p)``.
        beta: a factor of ``input``.
        alpha: a factor of the product.
        out: not taken.

    Returns:
        A CSR matrix with the indices of ``input``.

    Raises:
        NotImplementedError: for another layout, or for ``out``.

    Example:
        >>> s = torch.eye(2).to_sparse_csr()
        >>> torch.sparse.sampled_addmm(s, torch.ones(2, 3), torch.ones(3, 2)).values()
        tensor([4., 4.])
    """
    _no_out("sparse.sampled_addmm", out)
    return handler("sampled_addmm")(input, mat1, mat2, beta, alpha)


@composite("function method")
def smm(input: Tensor, mat2: Tensor) -> Tensor:
    """The product of a sparse and a dense matrix, as a sparse tensor."""
    return handler("smm")(input, mat2)


@composite("function method")
def sspaddmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Number = 1, alpha: Number = 1,
             out: Tensor | None = None) -> Tensor:
    """``beta * input + alpha * (mat1 @ mat2)`` of sparse ``input`` and ``mat1``, as a sparse tensor."""
    _no_out("sspaddmm", out)
    return handler("sspaddmm")(input, mat1, mat2, beta=beta, alpha=alpha)


@composite("function")
def hspmm(mat1: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The product of a sparse and a dense matrix, with one sparse dimension: its rows that are not empty."""
    _no_out("hspmm", out)
    return handler("hspmm")(mat1, mat2)


@composite("function")
def hsmm(input: Tensor, mat2: Tensor) -> Tensor:
    """`hspmm`, dense."""
    return handler("hspmm")(input, mat2).to_dense()


@composite("function")
def saddmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Number = 1, alpha: Number = 1,
           out: Tensor | None = None) -> Tensor:
    """`sspaddmm`."""
    _no_out("saddmm", out)
    return handler("sspaddmm")(input, mat1, mat2, beta=beta, alpha=alpha)


# --------------------------------------------------------------------- other functions of torch.sparse


@composite("function", namespace="sparse", name="sum", checks=False)
def sparse_sum(input: Tensor, dim: Any = None, dtype: Any = None) -> Tensor:
    """The sum of a sparse tensor, of all elements or over dimensions.

    Args:
        input: a tensor in coordinates.
        dim: a dimension or several; None for all.
        dtype: of the result; None for that of ``input``.

    Returns:
        A sparse tensor while a sparse dimension is left, else a dense one.

    Raises:
        RuntimeError: for a dense tensor.

    Example:
        >>> s = torch.tensor([[1.0, 0.0], [2.0, 0.0]]).to_sparse()
        >>> torch.sparse.sum(s), torch.sparse.sum(s, 0).to_dense()
        (tensor(3.), tensor([3., 0.]))
    """
    return handler("sum")(input, dim, dtype)


def _softmax(log: bool) -> None:
    def softmax(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
        return handler("softmax")(input, dim, dtype, log)

    softmax.__name__ = "log_softmax" if log else "softmax"
    what = "The logarithm of `softmax`" if log else "Exponentials that sum to 1"
    softmax.__doc__ = f"""{what}, of the entries.

Elements that are not there count as minus infinity, so they stay away.

Args:
    input: a tensor in coordinates.
    dim: the dimension along which entries are normalized.
    dtype: of the result; None for that of ``input``.

Returns:
    A coalesced tensor.

Raises:
    NotImplementedError: for a dense tensor, or integers.

Example:
    >>> s = torch.sparse_coo_tensor([[0, 0], [0, 2]], [1.0, 1.0], (1, 3))
    >>> torch.sparse.{softmax.__name__}(s, 1).to_dense()
    {"tensor([[-0.6931,  0.0000, -0.6931]])" if log else "tensor([[0.5000, 0.0000, 0.5000]])"}
"""
    composite("function", namespace="sparse", checks=False)(softmax)


_softmax(False)
_softmax(True)


@composite("function", namespace="sparse", checks=False)
def spdiags(diagonals: Tensor, offsets: Tensor, shape: Any, layout: Any = None) -> Tensor:
    """A sparse matrix of its diagonals.

    Element ``j`` of the diagonal ``k`` stands in column ``j`` and row ``j - offsets[k]``, if there is one.

    Args:
        diagonals: ``(count, length)``, or one diagonal.
        offsets: int64 ``(count,)``, all different: 0 is the main diagonal, positive ones are above it.
        shape: of the matrix.
        layout: of the result; None for coordinates.

    Returns:
        A sparse matrix.

    Raises:
        RuntimeError: for numbers that do not fit, or a diagonal that is given twice.

    Example:
        >>> torch.sparse.spdiags(torch.tensor([[1.0, 2.0]]), torch.tensor([1]), (2, 2)).to_dense()
        tensor([[0., 2.],
                [0., 0.]])
    """
    rows, columns = shape
    diagonals = diagonals if diagonals._aval.ndim == 2 else diagonals.unsqueeze(0)
    given = offsets.reshape(-1).tolist()
    if diagonals._aval.shape[0] != len(given):
        raise RuntimeError(
            f"Number of diagonals ({diagonals._aval.shape[0]}) does not match the number of offsets "
                           f"({len(given)})")
    if len(set(given)) != len(given):
        raise RuntimeError("Offset tensor contains duplicate values")
    places, numbers = [], []
    for k, offset in enumerate(given):
        for j in range(max(offset, 0), min(diagonals._aval.shape[1], columns, rows + offset)):
            places.append((j - offset, j))
            numbers.append(k * diagonals._aval.shape[1] + j)
    at = offsets.new_tensor(places).reshape(-1, 2).t()
    values = diagonals.reshape(-1).index_select(0, offsets.new_tensor(numbers).reshape(-1).to(at.dtype))
    made = sparse_coo_tensor(at, values, (rows, columns))
    return made if layout is None or layout is sparse_coo else made.to_sparse(layout=layout)


@composite("function", namespace="sparse", checks=False)
def spsolve(input: Tensor, other: Tensor, *, left: bool = True) -> Tensor:
    """Refused, as by PyTorch on the CPU: solve with ``torch.linalg.solve(input.to_dense(), other)``."""
    raise _refused("_spsolve", "SparseCsrCPU")


@composite("function", namespace="sparse", checks=False)
def as_sparse_gradcheck(gradcheck: Any) -> Any:
    """``gradcheck`` for functions of sparse tensors, which are given to it as their values.

    Args:
        gradcheck: ``torch.autograd.gradcheck``.

    Returns:
        A function with the same arguments. ``masked`` is taken, and means what it always does here: only
        values that are there are varied.

    Example:
        >>> check = torch.sparse.as_sparse_gradcheck(torch.autograd.gradcheck)
        >>> s = torch.eye(2, dtype=torch.float64).to_sparse().requires_grad_()
        >>> check(lambda t: t.to_dense() * 3, (s,))
        True
    """

    @functools.wraps(gradcheck)
    def check(func: Any, inputs: Any, **kwargs: Any) -> Any:
        return _values_checked(gradcheck, func, inputs, kwargs)

    return check


def _values_checked(gradcheck: Any, func: Any, inputs: Any, kwargs: dict) -> Any:
    kwargs.pop("masked", None)
    given = inputs if isinstance(inputs, (tuple, list)) else (inputs,)
    sparse = [isinstance(t, Tensor) and t.layout is sparse_coo and t.requires_grad for t in given]
    parts = [t.coalesce() if so else t for t, so in zip(given, sparse)]
    values = [t.detach().values().clone().requires_grad_() if so else t for t, so in zip(parts, sparse)]

    def of_values(*args: Any) -> Any:
        built = [sparse_coo_tensor(p.detach().indices(), a, tuple(p.shape), is_coalesced=True) if so else a
                 for a, p, so in zip(args, parts, sparse)]
        found = func(*built)
        results = found if isinstance(found, (tuple, list)) else (found,)
        return tuple(r.coalesce().values() if isinstance(r, Tensor) and r.layout is sparse_coo else r
                     for r in results)

    return gradcheck(of_values, tuple(values), **kwargs)
