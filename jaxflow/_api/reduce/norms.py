"""Norms of vectors and matrices, under ``torch.linalg``'s names."""

from __future__ import annotations

import math
from typing import Any

from jaxflow._api.forms import given_out, invalid_combination, refuse_recorded_into
from jaxflow._core import dtype as dtypes
from jaxflow._core import promotion
from jaxflow._core.geometry import wrap_dim
from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.dispatch import apply
from jaxflow._plans.op import OPS, Number, Out
from jaxflow._publish.bind import freeze
from jaxflow._publish.composite import composite
from jaxflow._publish.value_checks import guarded

_NUMBERS = (int, float, complex)


def check_dtypes(name: str, have: dtypes.dtype, wanted: dtypes.dtype | None) -> None:
    """Refuse an input that is not floating, and a ``dtype`` argument that loses something of it."""
    if have.category < dtypes.FLOATING:
        raise RuntimeError(
            f"{name}: Expected a floating point or complex tensor as input. Got {have.scalar_name}"
        )
    if wanted is None:
        return
    if wanted.category < dtypes.FLOATING:
        raise RuntimeError(
            f"{name}: dtype should be floating point or complex, but got {wanted.scalar_name}"
        )
    if wanted.is_complex is not have.is_complex:
        kind = "complex" if have.is_complex else "real"
        raise RuntimeError(
            f"{name}: dtype should be {kind} for {kind} inputs, but got {wanted.scalar_name}"
        )
    if promotion.promote_types(have, wanted) is not wanted:
        raise RuntimeError(
            f"{name}: the dtype of the input ({have.scalar_name}) should be convertible without "
            f"narrowing to the specified dtype ({wanted.scalar_name})"
        )


@composite("function", namespace="linalg")
def vector_norm(x: Tensor, ord: Number = 2, dim: Any = None, keepdim: bool = False, *,
                dtype: Any = None, out: Tensor | None = None) -> Tensor:
    """The norm of order ``ord`` over ``dim``, or of all elements as one vector.

    ``sum(abs(x) ** ord) ** (1 / ord)``; for ``inf`` the largest absolute value, for ``-inf`` the smallest,
    and for 0 how many elements are not 0.

    Args:
        x: floating point or complex, of any shape.
        ord: the order, a number, also negative or infinite.
        dim: the dimension or the dimensions that a vector lies in; None for all elements as one vector.
        keepdim: keep these dimensions, with size 1.
        dtype: the type to compute in; it must hold all values of the type of ``x``.
        out: where to put the result.

    Returns:
        The norms, in the dtype of ``x`` or ``dtype``; real also for complex ``x``. The shape is that of
        ``x`` without ``dim``.

    Raises:
        RuntimeError: for integers and bools, for a ``dtype`` that is narrower or of another kind, and for
            the infinite and negative orders of no elements.
        TypeError: when ``ord`` is no number.
        IndexError: for a dimension that is not there.

    Example:
        >>> x = torch.tensor([[3.0, -4.0], [0.0, 8.0]])
        >>> torch.linalg.vector_norm(x, dim=1)
        tensor([5., 8.])
        >>> torch.linalg.vector_norm(x, math.inf), torch.linalg.vector_norm(x, 0)
        (tensor(8.), tensor(3.))
    """
    refuse_recorded_into(out, "linalg_vector_norm", x)
    if not isinstance(ord, _NUMBERS):
        raise TypeError(
            f"linalg_vector_norm(): argument 'ord' (position 2) must be Number, not {type(ord).__name__}"
        )
    dtype = dtypes.given_dtype(dtype)
    check_dtypes("linalg.vector_norm", x._aval.dtype, dtype)
    if dim is None and keepdim:
        dim = tuple(range(x._aval.ndim))
    op = OPS["_vector_norm" if ord else "_vector_norm_count"]
    result = apply(op, (x,), (freeze(ord), freeze(dim), bool(keepdim), dtype))
    return given_out("linalg_vector_norm", out, result, (), op)


#: PyTorch computes these anew and then copies them into ``out=``.
_MATRIX_OUT, _NORM_OUT = (
    Out(name + " expected out tensor dtype {result} but got: {out}", recorded=True, copied=True)
    for name in ("linalg.matrix_norm", "linalg.norm"))


def _two_dims(dim: Any, ndim: int) -> tuple[int, int]:
    """The two dimensions of the matrices, as non-negative numbers."""
    dims = (dim,) if isinstance(dim, int) else tuple(freeze(dim))
    if len(dims) != 2:
        raise RuntimeError(
            f"linalg.matrix_norm: dim must be a 2-tuple. Got {' '.join(map(str, dims))}"
        )
    rows, columns = (wrap_dim(d, ndim) for d in dims)
    if rows == columns:
        raise RuntimeError(f"linalg.matrix_norm: dims must be different. Got ({dims[0]}, {dims[1]})")
    return rows, columns


def _check_order(ord: Any) -> None:
    if isinstance(ord, complex):
        raise RuntimeError("linalg.matrix_norm: Expected a non-complex scalar as the order of norm.")
    known = ("fro", "nuc") if isinstance(ord, str) else (1, 2, math.inf)
    if (ord if isinstance(ord, str) else abs(ord)) not in known:
        shown = ord if isinstance(ord, str) else f"{ord:g}"
        raise RuntimeError(f"linalg.matrix_norm: Order {shown} not supported.")


@composite("function", namespace="linalg")
def matrix_norm(input: Tensor, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False, *,
                dtype: Any = None, out: Tensor | None = None) -> Tensor:
    """The norm of matrices in the two dimensions ``dim``; a batch of them has one each.

    Args:
        input: floating point or complex, with at least two dimensions.
        ord: ``"fro"`` (root of the sum of squares), ``"nuc"`` (sum of the singular values), 2 or -2
            (the largest or smallest of them), 1 or -1 (of the columns' sums of absolute values), ``inf``
            or ``-inf`` (of the rows').
        dim: rows, then columns.
        keepdim: keep both dimensions, of size one.
        dtype: compute in this type.
        out: where to put the result.
    """
    name = "linalg.matrix_norm"
    have, dtype = input._aval.dtype, dtypes.given_dtype(dtype)
    _check_order(ord)
    if input._aval.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor A must have at least 2 dimensions.")
    check_dtypes(name, have, None)
    by_values = ord == "nuc" or not isinstance(ord, str) and abs(ord) == 2
    if by_values and have.itemsize == 2:
        raise RuntimeError(f"{name}: Low precision dtypes not supported. Got {have.scalar_name}")
    rows, columns = _two_dims(dim, input._aval.ndim)
    check_dtypes(name, have, dtype)
    if ord == "fro":
        result = vector_norm(input, 2, (rows, columns), keepdim, dtype=dtype)
    else:
        input = input if dtype is None else input.to(dtype)
        norm = _by_singular_values if by_values else _by_sums
        result = norm(input, ord, rows, columns, keepdim)
    return given_out("linalg_matrix_norm", out, result, rule=_MATRIX_OUT)


def _by_singular_values(A: Tensor, ord: Any, rows: int, columns: int, keepdim: bool) -> Tensor:
    others = [d for d in range(A._aval.ndim) if d not in (rows, columns)]
    order = [*others, rows, columns]
    values = guarded(apply, OPS["svdvals"], (A.permute(order),), (None,))
    result = values.sum(-1, keepdim) if ord == "nuc" else _extreme(values, ord, -1, keepdim)
    if keepdim:
        result = result.unsqueeze(-1).permute([order.index(d) for d in range(len(order))])
    return result


def _by_sums(A: Tensor, ord: float, rows: int, columns: int, keepdim: bool) -> Tensor:
    """The extreme of the columns' (order 1) or the rows' sums of absolute values."""
    summed, left = (rows, columns) if abs(ord) == 1 else (columns, rows)
    if left > summed and not keepdim:
        left -= 1
    return _extreme(vector_norm(A, 1, summed, keepdim), ord, left, keepdim)


def _extreme(x: Tensor, ord: float, dim: int, keepdim: bool) -> Tensor:
    if ord < 0:
        return x.amin(dim, keepdim)
    # Of nothing the largest is 0: no norm is less, and nothing has a part in it.
    return x.amax(dim, keepdim) if x._aval.shape[dim] else x.detach().sum(dim, keepdim)


@composite("function", namespace="linalg")
def norm(input: Tensor, ord: Any = None, dim: Any = None, keepdim: bool = False, *,
         out: Tensor | None = None, dtype: Any = None) -> Tensor:
    """A vector's or a matrix's norm, by the number of dimensions in ``dim`` (or of ``input``).

    Without ``ord`` the root of the sum of squares over ``dim``, which are one or two, or over all.

    Args:
        input: floating point or complex, of any shape.
        ord: the order: with one dimension a number, as in `vector_norm`; with two ``"fro"``, ``"nuc"``,
            1, -1, 2, -2, ``inf`` or ``-inf``, as in `matrix_norm`.
        dim: one dimension for vectors, two for matrices; None for all, which must be one or two if ``ord``
            is given.
        keepdim: keep these dimensions, with size 1.
        out: where to put the result.
        dtype: the type to compute in; it must hold all values of the input's type.

    Returns:
        The norms, in the dtype of ``input`` or ``dtype``; real also for complex ``input``. The shape is
        that of ``input`` without ``dim``.

    Raises:
        RuntimeError: for integers and bools, for more than two dimensions (with ``ord``, or in ``dim``),
            and for an order that matrices have not.
        IndexError: for a dimension that is not there.

    Example:
        >>> x = torch.tensor([[3.0, 4.0], [6.0, 8.0]])
        >>> torch.linalg.norm(x, dim=1)
        tensor([ 5., 10.])
        >>> torch.linalg.norm(x, 1), torch.linalg.norm(x, math.inf)  # of columns, of rows
        (tensor(12.), tensor(14.))
    """
    if not isinstance(input, Tensor):
        raise invalid_combination("linalg_norm", (input, ord), {})
    dims = (dim,) if isinstance(dim, int) else dim if dim is None else tuple(freeze(dim))
    if dims is not None and len(dims) not in (1, 2):
        raise RuntimeError(
            f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {list(dims)}"
        )
    if dims is None and ord is not None and input._aval.ndim not in (1, 2):
        raise RuntimeError(
            "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got "
            f"{input._aval.ndim}D."
        )
    how = dict(keepdim=keepdim, dtype=dtype)
    wide = input._aval.ndim if dims is None else len(dims)
    if isinstance(ord, str) or (ord is not None and wide == 2):
        result = matrix_norm(input, ord, (-2, -1) if dims is None else dims, **how)
    else:
        result = vector_norm(input, 2 if ord is None else ord, dims, **how)
    return given_out("linalg_norm", out, result, rule=_NORM_OUT)
