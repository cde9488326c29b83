"""Reading elements at index tensors along one dimension.

An index out of range is refused at the call where its values are known by then, else when a number of
the Program that computes them has run; NOTE [Faults found late].
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from jaxflow._core.geometry import broadcast_shapes, view_strides
from jaxflow._plans.op import EXACT, Tensor, op

from ._support import at_least_1d, scalar_name, wrap_dim

_INDEX_DTYPES = (np.dtype(np.int32), np.dtype(np.int64))


def need_index_dtype(name: str, index, words: str = "int32/int64") -> None:
    """Refuse an index that is neither int32 nor int64."""
    if index.dtype not in _INDEX_DTYPES:
        raise RuntimeError(f"{name}(): Expected dtype {words} for index")


def extent(x, dim: int) -> int:
    """The size of ``x`` along ``dim``; 1 for a 0-d array."""
    return x.shape[dim] if x.ndim else 1


def in_range(error, message: str = "", misfit=lambda shape, at, dim: False, *, from_end: bool = False):
    """A guard: every element of ``index`` lies in ``[0, size along dim)``.

    With ``from_end`` negative ones count from the end. ``error`` is an exception type for ``message``, or
    gives both for the dimension and the shape. ``misfit`` says when the shapes do not go together, which is
    the body's to refuse.
    """

    def guard(watch, dynamic, static):
        input, index = dynamic[0], getattr(dynamic[1], "_aval", None)
        rank = max(input.ndim, 1)
        if index is None or index.numel == 0 or not -rank <= static[0] < rank:
            return
        dim = static[0] % max(input.ndim, 1)
        if misfit(input.shape, index.shape, dim) or index.dtype.np.kind not in "iu":
            return
        size = extent(input, dim)
        kind, text = (error, message) if isinstance(error, type) else error(dim, input.shape)
        watch.within(
            dynamic[1:2], ((-size if from_end else 0, size - 1),),
            lambda value, _: kind(text.format(index=value, dim=dim, size=size)),
        )

    return guard


def lines_misfit(shape, at, dim):
    """Whether an index of `gather` does not fit along the lines of a tensor."""
    if max(len(shape), 1) != max(len(at), 1):
        return True
    return any(n > m for d, (n, m) in enumerate(zip(at, shape)) if d != dim)


OUT_OF_BOUNDS = "index {index} is out of bounds for dimension {dim} with size {size}"


def fit_index(name, what, x, index, dim):
    """Check an index of `gather` and `scatter` against ``x``, which its lines must lie in."""
    if index.size == 0:
        return
    need_index_dtype(name, index)
    if max(index.ndim, 1) != max(x.ndim, 1):
        raise RuntimeError(
            f"Index tensor must have the same number of dimensions as {what} tensor"
        )


def lines(x, index, axis):
    """The part of ``x`` whose other dimensions the index covers."""
    part = tuple(slice(None) if d == axis else slice(n) for d, n in enumerate(index.shape))
    return x[part]


@op(guard=in_range(RuntimeError, OUT_OF_BOUNDS, lines_misfit), out=EXACT, apart=True,
    saves=("input", "index"))
def gather(input, /, dim: int, index: Tensor, *, sparse_grad: bool = False):
    """``input[i][index[i][j]][k]`` for ``dim`` 1, and likewise for others; shaped like ``index``.

    Args:
        input: a tensor of any shape and dtype.
        dim: the dimension along which ``index`` points; negative ones count from the last.
        index: an int64 or int32 tensor with as many dimensions as ``input`` and, except along ``dim``, no
            larger extents; its elements are from 0 to the extent of ``dim`` less 1.
        sparse_grad: taken and not looked at: the gradient is dense.

    Returns:
        A new tensor of the shape of ``index`` and the dtype of ``input``. The gradients of an element that
        is read several times add up.

    Raises:
        RuntimeError: for an index out of range or of another dtype, and if the shapes do not fit.
        IndexError: if there is no such dimension.

    Example:
        >>> x = torch.tensor([[1, 2], [3, 4]])
        >>> torch.gather(x, 1, torch.tensor([[0, 0, 1], [1, 0, 1]]))
        tensor([[1, 1, 2],
                [4, 3, 4]])
        >>> torch.gather(x, 0, torch.tensor([[1, 0]]))
        tensor([[3, 2]])
    """
    axis = wrap_dim(dim, input.ndim)
    fit_index("gather", "input", input, index, axis)
    if index.size == 0:
        return jnp.zeros(index.shape, input.dtype)
    x, at = at_least_1d(input), at_least_1d(index)
    if any(n > x.shape[d] for d, n in enumerate(at.shape) if d != axis):
        d = next(d for d, n in enumerate(at.shape) if d != axis and n > x.shape[d])
        raise RuntimeError(
            f"Size does not match at dimension {d} expected index {list(index.shape)} to be no larger "
            f"than self {list(input.shape)} apart from dimension {axis}"
        )
    return jnp.take_along_axis(lines(x, at, axis), at, axis).reshape(index.shape)


def select_error(dim, shape):
    """What PyTorch raises for an index of slices of a tensor of this shape: a type and a text."""
    # Its kernels for the second dimension and for tensors without elements have words of their own.
    if len(shape) > 1 and not shape[dim]:
        return RuntimeError, "index_select(): self indexing axis dim should be positive"
    if dim == 1 or (len(shape) > 1 and 0 in shape):
        return RuntimeError, "INDICES element is out of DATA bounds, id={index} axis_dim={size}"
    return IndexError, "index out of range in self"


def need_slices(x, axis, index) -> None:
    """Refuse to look up slices where there are none, whatever the index says."""
    if index.size and not x.shape[axis]:
        kind, text = select_error(axis, x.shape)
        raise kind(text)


@op(guard=in_range(select_error), apart=True, saves=("index",),
    out="index_select(): self and result must have the same scalar type")
def index_select(input, /, dim: int, index: Tensor):
    """The slices of ``input`` along ``dim`` that a vector of indices names, in its order.

    Args:
        input: a tensor of any shape and dtype.
        dim: the dimension along which ``index`` points; negative ones count from the last.
        index: a vector of int64 or int32 (or one without dimensions, for one slice) with elements from 0 to
            the extent of ``dim`` less 1; the same slice may be named several times.

    Returns:
        A new tensor of the dtype of ``input`` with the length of ``index`` for the extent of ``dim``; a
        copy and no view.

    Raises:
        IndexError: if there is no such dimension, ``index`` is no vector, or one of its elements is out of
            range (a RuntimeError along dimension 1).
        RuntimeError: for an index of another dtype.

    Example:
        >>> x = torch.tensor([[1, 2], [3, 4], [5, 6]])
        >>> torch.index_select(x, 0, torch.tensor([2, 0, 2]))
        tensor([[5, 6],
                [1, 2],
                [5, 6]])
        >>> torch.index_select(x, 1, torch.tensor([1])).shape
        torch.Size([3, 1])
    """
    axis = wrap_dim(dim, input.ndim)
    if index.ndim > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    need_index_dtype("index_select", index, "int32 or int64")
    if input.ndim == 0:
        if index.size != 1:
            raise RuntimeError(
                f"index_select(): Index to scalar can have only 1 value, got {index.size} value(s)"
            )
        return input
    need_slices(input, axis, index)
    return jnp.take(input, index.reshape(-1), axis, mode="fill")


def flat_range(watch, dynamic, static):
    """A guard: every element of ``index`` names a place in the flattened ``input``."""
    index = getattr(dynamic[1], "_aval", None)
    if index is None or index.numel == 0 or index.dtype.np != np.int64:
        return
    size = dynamic[0]._aval.numel
    if not size:
        return  # the body's to refuse
    watch.within(dynamic[1:2], ((-size, size - 1),), lambda value, _: IndexError(
        f"out of range: tried to access index {value} on a tensor of {size} elements."
    ))


@op(guard=flat_range, apart=True, saves=("input", "index"),
    out="take(): self and out expected to have the same dtype, but got self.dtype = {result} and "
        "out.dtype = {out}")
def take(input, index, /):
    """Elements by their position in the flattened ``input``; negative ones count from the end."""
    if index.dtype != np.int64:
        raise RuntimeError(f"take(): Expected a long tensor for index, but got {scalar_name(index)}")
    if input.size == 0:
        if index.size:
            raise IndexError("take(): tried to take from an empty tensor")
        return jnp.zeros(index.shape, input.dtype)
    flat = input.reshape(-1)
    at = jnp.where(index < 0, index + input.size, index)
    return jnp.take(flat, at, mode="fill")


def _along_saves(kinds, dim):
    return ("input", "indices") if dim is None else ("input",)


def _along_range(watch, dynamic, static):
    # Along a dimension an index is taken modulo the size; only in a flat tensor can it be out of range.
    index = getattr(dynamic[1], "_aval", None)
    if static[0] is not None or index is None:
        return
    for t in dynamic[:2]:  # PyTorch views them as flat ones
        if t._stride is not None:
            view_strides(t._aval.shape, t._stride, (t._aval.numel,))
    if index.dtype.np not in _INDEX_DTYPES:
        return
    size = dynamic[0]._aval.numel
    watch.within(dynamic[1:2], ((0, size - 1),), lambda value, _: RuntimeError(
        OUT_OF_BOUNDS.format(index=value, dim=0, size=size)))


@op(variants="function method out", grad_name="GatherBackward0", saves=_along_saves, out=EXACT,
    guard=_along_range)
def take_along_dim(input, indices, /, dim: int = None):
    """Like `gather`, the other dimensions broadcast, indices modulo the size; flat without ``dim``."""
    if dim is None:
        need_index_dtype("gather", indices)
        return jnp.take_along_axis(input.reshape(-1), indices.reshape(-1), 0)
    name = "torch.take_along_dim()"
    if input.ndim != indices.ndim:
        raise RuntimeError(
            f"{name}: input and indices should have the same number of dimensions, but got "
            f"{input.ndim} dimensions for input, and {indices.ndim} dimensions for indices"
        )
    if indices.dtype != np.int64:
        raise RuntimeError(
            f"{name}: dtype of indices should be Long but got {scalar_name(indices)}"
        )
    if input.ndim == 0:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    axis = wrap_dim(dim, input.ndim)
    covered = input.shape[:axis] + (indices.shape[axis],) + input.shape[axis + 1 :]
    shape = broadcast_shapes(covered, indices.shape)
    if input.shape[axis] == 0:
        if indices.size:
            raise RuntimeError("ZeroDivisionError")
        return jnp.zeros(shape, input.dtype)
    at = jnp.broadcast_to(jnp.mod(indices, input.shape[axis]), shape)
    whole = jnp.broadcast_to(input, shape[:axis] + (input.shape[axis],) + shape[axis + 1 :])
    return jnp.take_along_axis(whole, at, axis)


@op(variants="", grad_name="MaskedSelectBackward0", apart=True, saves=("input", "mask"),
    out="masked_select(): self and result must have the same scalar type")
def take_positions(input, positions, mask, /, *, shape):
    """Elements of ``input``, broadcast to ``shape``, at the flat ``positions`` where ``mask`` holds."""
    return jnp.take(jnp.broadcast_to(input, shape).reshape(-1), positions, unique_indices=True)


@op(variants="", grad_name="Unique2Backward0", differentiable=False)
def take_unique(input, positions, /):
    """Elements at flat ``positions``; PyTorch has no derivative for what they come from."""
    return jax.lax.stop_gradient(jnp.take(input.reshape(-1), positions))


@op(differentiable=False)
def nonzero_static(input, /, *, size: int, fill_value: int = -1):
    """The indices of the first ``size`` nonzero elements, a row each; ``fill_value`` where there are fewer.

    Unlike those of `nonzero` its shape is known beforehand, so that nothing has to be waited for.
    """
    if size < 0:
        raise RuntimeError("nonzero_static: 'size' must be an non-negative integer")
    if not input.ndim or not size:
        return jnp.zeros((size, input.ndim), np.int64)
    if not input.size:
        return jnp.full((size, input.ndim), fill_value, np.int64)
    found = jnp.nonzero(input, size=size, fill_value=fill_value)
    return jnp.stack(found, -1).astype(np.int64)
