"""Grids and combinations of vectors, cross products, and integrals of samples."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from jaxflow._api.creation.creation import filled
from jaxflow._api.creation.host_arrays import put
from jaxflow._api.forms import expect_int, given_out, listed
from jaxflow._core import device as devices
from jaxflow._core import dtype as dtypes
from jaxflow._core.aval import aval_of
from jaxflow._core.geometry import wrap_dim
from jaxflow._core.layout import preserve_format
from jaxflow._core.memory_errors import check_sizes
from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.dispatch import apply, share
from jaxflow._dispatch.held_operands import hold_also
from jaxflow._ops.products import cross_shape
from jaxflow._plans.op import EXPECTED, OPS, Out
from jaxflow._publish.composite import composite
from jaxflow._publish.out import check_dtype, dtype_into, refuse_recorded
from jaxflow._publish.publish import function_of

from .copies import strides_of_copy


def by_number(name: str, x: Tensor, number: Any) -> Tensor:
    """``x`` times (``"mul"``) or over (``"div"``) a number, as PyTorch's composites compute it."""
    return apply(OPS[f"_{name}_number"], (x, number), () if name == "mul" else (None,))


@composite("function")
def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Tensor, ...]:
    """Grids of the coordinates that vectors span: views, one for each vector.

    ``indexing`` is ``"ij"`` (the default, with a warning) or ``"xy"``, which swaps the first two.

    With ``"ij"`` grid ``k`` at ``[i0, i1, ...]`` is ``tensors[k][ik]``.

    Args:
        tensors: vectors (or 0-d tensors) of one dtype and device: one by one, or a list of them.
        indexing: ``"ij"`` for shapes ``(n0, n1, ...)``, as of a matrix; ``"xy"`` for ``(n1, n0, ...)``, as
            of an image.

    Returns:
        A tuple with as many grids as vectors, all of one shape, which show the memory of the vectors.

    Raises:
        RuntimeError: for no tensors, more than one dimension, dtypes or devices that differ, or another
            ``indexing``.

    Example:
        >>> x, y = torch.tensor([1, 2]), torch.tensor([3, 4, 5])
        >>> rows, columns = torch.meshgrid(x, y, indexing="ij")
        >>> rows
        tensor([[1, 1, 1],
                [2, 2, 2]])
        >>> columns
        tensor([[3, 4, 5],
                [3, 4, 5]])
        >>> torch.meshgrid(x, y, indexing="xy")[0].shape
        torch.Size([3, 2])
    """
    tensors = listed(tensors)
    if indexing is None:
        warnings.warn(
            "torch.meshgrid: in an upcoming release, it will be required to pass the indexing argument.",
            stacklevel=2,
        )
        indexing = "ij"
    if indexing not in ("ij", "xy"):
        raise RuntimeError(
            f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}'
        )
    if not tensors:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    first = tensors[0]
    for t in tensors:
        if t.dim() > 1:
            raise RuntimeError(
                "torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: "
                f"{t.dim()}D tensor"
            )
        if t.dtype is not first.dtype:
            raise RuntimeError("meshgrid expects all tensors to have the same dtype")
        if t.device != first.device:
            raise RuntimeError("meshgrid expects all tensors to have the same device")
    swap = indexing == "xy" and len(tensors) > 1
    order = [1, 0, *range(2, len(tensors))] if swap else list(range(len(tensors)))
    shape = [tensors[i].numel() for i in order]
    grids = []
    for i, t in enumerate(tensors):
        at = order.index(i)
        line = [1] * len(tensors)
        line[at] = t.numel()
        grids.append(t.reshape(line).expand(shape))
    return tuple(grids)


@composite("function")
def block_diag(*tensors: Any) -> Tensor:
    """A matrix with the given matrices (vectors as rows) along its diagonal, and 0 elsewhere."""
    tensors = listed(tensors)
    if not tensors:
        return filled((1, 0), 0, dtypes.get_default_dtype(), devices.get_default_device())
    return apply(OPS["block_diag"], tensors)


def _need_vector(t: Tensor) -> None:
    if t.dim() != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {list(t.shape)}")


@composite("function")
def cartesian_prod(*tensors: Any) -> Tensor:
    """All combinations of one element from each vector, a row each."""
    tensors = listed(tensors)
    for t in tensors:
        _need_vector(t)
    if len(tensors) == 1:
        return tensors[0]
    grids = meshgrid(*tensors, indexing="ij")
    return apply(OPS["stack"], tuple(g.flatten() for g in grids), (1,))


def _choices(n: int, r: int, again: bool) -> list[np.ndarray]:
    """The choices of ``r`` of ``n`` positions in order, a column for each of the ``r``."""
    columns = [np.arange(n)]
    for _ in range(1, r):
        first = columns[-1] if again else columns[-1] + 1  # of those that may come next
        counts = n - first
        before = np.cumsum(counts) - counts
        columns = [np.repeat(column, counts) for column in columns]
        columns.append(np.arange(counts.sum()) - np.repeat(before - first, counts))
    return columns


@composite("function")
def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """All choices of ``r`` elements of a vector, a row each, in order of position."""
    _need_vector(input)
    if r < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}")
    if r == 0:
        return input.new_empty(0)
    n = input.numel()
    count = math.comb(n + r - 1, r) if with_replacement and n else math.comb(n, r)
    check_sizes("combinations", [aval_of((count, r), input.dtype, input.device)])
    columns = [  # PyTorch selects by a mask, for which its node holds the vector
        hold_also(input.index_select(0, put(column, input.device)), input)
        for column in _choices(n, r, with_replacement)
    ]
    return apply(OPS["stack"], tuple(columns), (1,))


@composite("function")
def vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Tensor:
    """The powers of a vector's elements as columns, from the highest unless ``increasing``."""
    if x.dim() != 1:
        raise RuntimeError("x must be a one-dimensional tensor.")
    count = x.numel() if N is None else N
    if count < 0:
        raise RuntimeError("N must be non-negative.")
    kind = x.dtype if x.dtype.is_floating_point or x.dtype.is_complex else None
    powers = x.new_ones((x.numel(), count), dtype=kind or dtypes.int64)
    if count > 1:
        powers[:, 1:] = x.unsqueeze(1)
        powers[:, 1:] = powers[:, 1:].cumprod(1)
    return powers if increasing else powers.flip(1)


@composite()
def ger(input: Tensor, vec2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`outer`, by its old name."""
    if out is not None:
        warnings.warn("torch.ger is deprecated and will be removed in a future PyTorch release. Use "
                      "torch.outer instead.", stacklevel=2)
    return function_of(OPS["outer"])(input, vec2, out=out)


# ------------------------------------------------------------------------------------ cross product


@composite()
def cross(input: Tensor, other: Tensor, dim: int | None = None, *, axis: int | None = None,
          out: Tensor | None = None) -> Tensor:
    """The cross product of vectors of three along ``dim`` (the first dimension of size 3)."""
    dim = axis if dim is None else dim
    if dim is None:
        if out is None:
            warnings.warn(
                "Using torch.cross without specifying the dim arg is deprecated.\nPlease either pass the "
                "dim explicitly or simply use torch.linalg.cross.\nThe default value of dim will change to "
                "agree with that of linalg.cross in a future release.", stacklevel=2,
            )
        dim = next((d for d, n in enumerate(input.shape) if n == 3), None)
        if dim is None:
            raise RuntimeError("no dimension of size 3 in input")
    return _crossed(input, other, dim, out)


def _crossed(input: Tensor, other: Tensor, dim: int, out: Tensor | None) -> Tensor:
    op = OPS["linalg_cross"]
    if out is not None:
        refuse_recorded(op, out, (input, other), {})
        cross_shape(input._aval, other._aval, dim)
        check_dtype(op.out, input._aval.dtype, dtype_into("linalg_cross", out), ())
    return given_out(op.name, out, apply(op, (input, other), (dim,)), (input, other), op)


@composite("function", name="cross", namespace="linalg")
def _linalg_cross(input: Tensor, other: Tensor, *, dim: int = -1,
                  out: Tensor | None = None) -> Tensor:
    """The cross product of vectors of three along ``dim``; other dimensions are broadcast."""
    return _crossed(input, other, dim, out)


# ---------------------------------------------------------------------------- differences, integrals


#: Differences taken no times are a copy.
_COPIED = Out(EXPECTED.text, copied=True, recorded=True)


@composite()
def diff(input: Tensor, n: int = 1, dim: int = -1, prepend: Tensor | None = None,
         append: Tensor | None = None, *, axis: int | None = None, out: Tensor | None = None) -> Tensor:
    """The differences of neighbours along ``dim``, taken ``n`` times; exclusive or for bools.

    ``prepend`` and ``append`` are put before and behind first.

    Once: ``out[i] = input[i + 1] - input[i]``.

    Args:
        input: a tensor of any dtype with one dimension at least.
        n: how many times; with 0 the result is a copy.
        dim: along which dimension; negative counts from the last.
        prepend: a tensor of the shape of ``input``, but for ``dim``.
        append: such a tensor, too.
        axis: another name of ``dim``.
        out: a tensor that the result is written into.

    Returns:
        A new tensor with ``n`` elements fewer along ``dim``, 0 at least.

    Raises:
        RuntimeError: for a 0-d ``input``, a negative ``n``, or shapes that do not fit.
        TypeError: for ``prepend`` or ``append`` that is no tensor.

    Example:
        >>> t = torch.tensor([1, 4, 9, 16])
        >>> t.diff()
        tensor([3, 5, 7])
        >>> t.diff(n=2)
        tensor([2, 2])
        >>> t.diff(prepend=torch.tensor([0]))
        tensor([1, 3, 5, 7])
    """
    for what, piece in (("prepend", prepend), ("append", append)):
        if piece is not None and not isinstance(piece, Tensor):
            raise TypeError(f"diff(): argument '{what}' must be Tensor, not {type(piece).__name__}")
    n = expect_int("diff", "n", n, 2)
    axis = expect_int("diff", "dim", dim if axis is None else axis, 3)
    ndim = input._aval.ndim
    if ndim == 0:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    axis = wrap_dim(axis, ndim)
    for piece in (prepend, append):
        if piece is not None and piece._aval.ndim != ndim:
            raise RuntimeError("diff expects prepend or append to be the same dimension as input")
    for piece in (prepend, append):
        for d, size in enumerate(() if piece is None else piece._aval.shape):
            if d != axis and size != input._aval.shape[d]:
                raise RuntimeError(
                    "diff expects the shape of tensor to prepend or append to match that of input except "
                    f"along the differencing dimension; input.size({d}) = {input._aval.shape[d]}, but got "
                    f"tensor.size({d}) = {size}"
                )
    if n == 0:
        same = share(OPS["_copied"], input)
        same._stride = strides_of_copy(input, preserve_format)
        return given_out("diff", out, same, rule=_COPIED)
    parts = tuple(x for x in (prepend, input, append) if x is not None)
    x = apply(OPS["cat"], parts, (axis,)) if len(parts) > 1 else input
    size = x._aval.shape[axis]
    if out is not None and not size:
        raise IndexError("start out of range (expected to be in range of [0, 0], but got 1)")
    read = ()
    if out is not None and x is input and min(n, size) == 1:  # else PyTorch's last step reads other memory
        read = x.narrow(axis, 1, size - 1), x.narrow(axis, 0, size - 1)
    if size:
        x = apply(OPS["_diff"], (x,), (min(n, size), axis))
    return given_out("sub", out, x, read)


def _refuse_samples(name: str, y: Tensor, x: Tensor | None, dx: Any) -> None:
    if x is not None:
        if y._aval.dtype is dtypes.bool or x._aval.dtype is dtypes.bool:
            raise RuntimeError(f"{name}: received a bool input for `x` or `y`, but bool is not supported")
    elif y._aval.dtype is dtypes.bool:
        raise RuntimeError(f"{name}: received a bool input for `y`, but bool is not supported")
    elif isinstance(dx, (bool, complex)):
        raise RuntimeError(f"{name}: Currently, we only support dx as a real number.")


def _ends(y: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    """All samples along ``dim`` but the last, and all but the first."""
    count = max(y.shape[dim] - 1, 0)
    return y.narrow(dim, 0, count), y.narrow(dim, min(1, y.shape[dim]), count)


def _widths(name: str, y: Tensor, x: Tensor, dim: int) -> Tensor:
    """How far apart the samples are, in a shape that goes with theirs."""
    if x.dim() == 1:
        if x.numel() != y.shape[dim]:
            raise RuntimeError(f"{name}: There must be one `x` value for each sample point")
        shape = [1] * y.dim()
        shape[dim] = x.numel()
        x = x.view(shape)
    elif x.dim() < y.dim():
        x = x.view([1] * (y.dim() - x.dim()) + list(x.shape))
    left, right = _ends(x, dim)
    return right - left


def _areas(name: str, y: Tensor, x: Tensor, dim: int) -> Tensor:
    """Twice the area between each pair of neighbouring samples at ``x``."""
    left, right = _ends(y, dim)
    return (left + right) * _widths(name, y, x, dim)


@composite("function", aliases=("trapz",))
def trapezoid(y: Tensor, x: Tensor | None = None, *, dx: Any = 1, dim: int = -1,
              axis: int | None = None) -> Tensor:
    """The integral of samples along ``dim`` by the trapezoidal rule, at ``x`` or ``dx`` apart."""
    dim = dim if axis is None else axis
    if y.dim() == 0:
        shown = dim if x is None else wrap_dim(dim, 0)
        raise IndexError(f"Dimension specified as {shown} but tensor has no dimensions")
    dim = wrap_dim(dim, y.dim())
    if y.shape[dim] == 0:
        return y.new_zeros(y.shape[:dim] + y.shape[dim + 1:])
    _refuse_samples("trapezoid", y, x, dx)
    if x is None:
        # Between equal steps every sample counts in full, but the first and the last by half.
        both_ends = y.select(dim, 0) + y.select(dim, -1)
        return by_number("mul", y.sum(dim) - by_number("mul", both_ends, 0.5), dx)
    return by_number("div", _areas("trapezoid", y, x, dim).sum(dim), 2.0)


@composite("function")
def cumulative_trapezoid(y: Tensor, x: Tensor | None = None, *, dx: Any = 1,
                         dim: int = -1, axis: int | None = None) -> Tensor:
    """The integrals up to each sample along ``dim`` by the trapezoidal rule."""
    dim = dim if axis is None else axis
    if x is None:  # else PyTorch looks at the dimension first
        _refuse_samples("cumulative_trapezoid", y, x, dx)
    dim = wrap_dim(dim, y.dim())
    _refuse_samples("cumulative_trapezoid", y, x, dx)
    if y.dim() == 0:
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    if x is None:
        left, right = _ends(y, dim)
        return by_number("mul", left + right, dx / 2.0).cumsum(dim)
    return by_number("div", _areas("cumulative_trapezoid", y, x, dim).cumsum(dim), 2.0)
