"""Repeating, shifting, mirroring, and triangles and diagonals of matrices; none of these is a view."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from jaxflow._plans.op import EXACT, Always, Integers, op

from ._layouts import rolled, rotated
from ._support import wrap_dim, wrap_dims


def _tile(x, repeats):
    shape = (1,) * (len(repeats) - x.ndim) + x.shape
    size = [r * n for r, n in zip(repeats, shape)]
    for n in size:
        if n < 0:
            raise RuntimeError(f"Trying to create tensor with negative dimension {n}: {size}")
    # What is nothing may be repeated less than 0 times.
    return jnp.tile(x.reshape(shape), [0 if r < 0 else r for r in repeats])


@op(variants="method", saves="none")
def repeat(input, /, repeats: Integers):
    """The tensor repeated ``repeats[i]`` times along dimension ``i``; new dimensions come first.

    Args:
        input: a tensor of any shape and dtype.
        repeats: how many times for each dimension, as several ints or one tuple; at least as many as
            ``input`` has dimensions. Where there are more, the first ones are for new dimensions.

    Returns:
        A new tensor of the dtype of ``input``, a copy: `expand` repeats without one.

    Raises:
        RuntimeError: for fewer numbers than dimensions, and for negative ones.

    Example:
        >>> torch.tensor([1, 2]).repeat(3)
        tensor([1, 2, 1, 2, 1, 2])
        >>> torch.tensor([1, 2]).repeat(2, 2)
        tensor([[1, 2, 1, 2],
                [1, 2, 1, 2]])
    """
    if len(repeats) < input.ndim:
        raise RuntimeError(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor"
        )
    return _tile(input, repeats)


@op(variants="function method", grad_name="RepeatBackward0", saves="none")
def tile(input, /, dims: Integers):
    """The tensor repeated ``dims[i]`` times, counted from the last dimension.

    Args:
        input: a tensor of any shape and dtype.
        dims: how many times for each dimension, as several ints or one tuple. Fewer numbers than dimensions
            are for the last ones; where there are more, the first ones are for new dimensions.

    Returns:
        A new tensor of the dtype of ``input``, a copy.

    Raises:
        RuntimeError: for negative numbers.

    Example:
        >>> torch.tile(torch.tensor([[1, 2], [3, 4]]), (2,))
        tensor([[1, 2, 1, 2],
                [3, 4, 3, 4]])
        >>> torch.tile(torch.tensor([1, 2]), (2, 1))
        tensor([[1, 2],
                [1, 2]])
    """
    return _tile(input, (1,) * (input.ndim - len(dims)) + tuple(dims))


@op(variants="", grad_name="CloneBackward0", saves="none")
def repeat_interleave_int(input, /, repeats, dim=None):
    """Each element (or slice along ``dim``) ``repeats`` times, in a dimension of their own after ``dim``."""
    if repeats < 0:
        raise RuntimeError("Repeats must be non-negative")
    axis = 0 if dim is None else wrap_dim(dim, input.ndim)
    if dim is None or input.ndim == 0:
        input = input.reshape(-1)
    shape = (*input.shape[: axis + 1], repeats, *input.shape[axis + 1 :])
    return jnp.broadcast_to(jnp.expand_dims(input, axis + 1), shape)


@op(saves="none", variants="function method", layout=rolled)
def roll(input, /, shifts: Integers, dims: Integers = ()):
    """The elements shifted along ``dims``, those pushed out coming in again; flat without ``dims``.

    Args:
        input: a tensor of any shape and dtype.
        shifts: by how many places, towards higher indices where positive: an int, or one for each of
            ``dims``.
        dims: the dimension, or a tuple of dimensions; negative ones count from the last. An empty tuple
            shifts the flattened tensor, which then takes its shape again.

    Returns:
        A new tensor of the shape and dtype of ``input``.

    Raises:
        RuntimeError: if there are not as many shifts as dimensions, or none.
        IndexError: if there is no such dimension.

    Example:
        >>> x = torch.tensor([[1, 2, 3], [4, 5, 6]])
        >>> torch.roll(x, 1)
        tensor([[6, 1, 2],
                [3, 4, 5]])
        >>> torch.roll(x, (1, -1), (0, 1))
        tensor([[5, 6, 4],
                [2, 3, 1]])
    """
    shifts = (shifts,) if isinstance(shifts, int) else shifts
    dims = (dims,) if isinstance(dims, int) else () if dims is None else dims
    if not shifts:
        raise RuntimeError("`shifts` required")
    if len(shifts) != len(dims):
        if not dims and len(shifts) == 1:
            return jnp.roll(input.reshape(-1), shifts[0]).reshape(input.shape)
        raise RuntimeError(
            f"shifts and dimensions must align. shifts: {len(shifts)}, dims:{len(dims)}"
        )
    if 0 in input.shape:
        return input
    if input.ndim == 0:
        raise IndexError(f"Dimension specified as {dims[0]} but tensor has no dimensions")
    axes = [wrap_dim(d, input.ndim) for d in dims]
    for shift, axis in zip(shifts, axes):
        input = jnp.roll(input, shift, axis)
    return input


@op(saves="none", layout="like", variants="function method")
def flip(input, /, dims: Integers):
    """The elements in reverse order along ``dims``.

    Args:
        input: a tensor of any shape and dtype.
        dims: the dimensions, as several ints or one tuple; negative ones count from the last. An empty
            tuple reverses nothing.

    Returns:
        A new tensor of the shape and dtype of ``input``, a copy and no view.

    Raises:
        IndexError: if there is no such dimension.
        RuntimeError: if a dimension is named twice.

    Example:
        >>> x = torch.tensor([[1, 2], [3, 4]])
        >>> torch.flip(x, (0,))
        tensor([[3, 4],
                [1, 2]])
        >>> x.flip(0, 1)
        tensor([[4, 3],
                [2, 1]])
    """
    dims = (dims,) if isinstance(dims, int) else dims
    if not dims:
        return input
    return jnp.flip(input, wrap_dims(dims, input.ndim))


@op(variants="function method", grad_name="FlipBackward0", saves="none", layout="like")
def fliplr(input, /):
    """The columns in reverse order."""
    if input.ndim < 2:
        raise RuntimeError("Input must be >= 2-d.")
    return jnp.flip(input, 1)


@op(variants="function method", grad_name="FlipBackward0", saves="none", layout="like")
def flipud(input, /):
    """The rows in reverse order."""
    if input.ndim < 1:
        raise RuntimeError("Input must be >= 1-d.")
    return jnp.flip(input, 0)


@op(saves="none", variants="function method", layout=Always(rotated))
def rot90(input, /, k: int = 1, dims: Integers = (0, 1)):
    """The plane of ``dims`` turned by ``k`` quarters, from the first dimension to the second."""
    if len(dims) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    if input.ndim < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {input.ndim}")
    first, second = (wrap_dim(d, input.ndim) for d in dims)
    if first == second:
        raise RuntimeError(
            f"expected rotation dims to be different, but got dim0 = {dims[0]} and dim1 = {dims[1]}"
        )
    return jnp.rot90(input, k, (first, second))


def _triangle(name, fn, input, diagonal):
    if input.ndim < 2:
        raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")
    return fn(input, diagonal)


@op(variants="function method inplace out", saves="none", out=EXACT)
def tril(input, /, diagonal: int = 0):
    """The matrices with 0 above a diagonal.

    An element in row ``i`` and column ``j`` is kept where ``j - i <= diagonal``.

    Args:
        input: matrices ``(..., n, m)`` of any dtype.
        diagonal: the last diagonal that is kept: 0 is the main one, positive ones lie above it, negative
            below.

    Returns:
        A new tensor of the shape and dtype of ``input``.

    Raises:
        RuntimeError: for fewer than two dimensions.

    Example:
        >>> x = torch.tensor([[1, 2, 3], [4, 5, 6]])
        >>> torch.tril(x)
        tensor([[1, 0, 0],
                [4, 5, 0]])
        >>> torch.tril(x, diagonal=-1)
        tensor([[0, 0, 0],
                [4, 0, 0]])
    """
    return _triangle("tril", jnp.tril, input, diagonal)


@op(variants="function method inplace out", saves="none", out=EXACT)
def triu(input, /, diagonal: int = 0):
    """The matrices with 0 below a diagonal.

    An element in row ``i`` and column ``j`` is kept where ``j - i >= diagonal``.

    Args:
        input: matrices ``(..., n, m)`` of any dtype.
        diagonal: the first diagonal that is kept: 0 is the main one, positive ones lie above it, negative
            below.

    Returns:
        A new tensor of the shape and dtype of ``input``.

    Raises:
        RuntimeError: for fewer than two dimensions.

    Example:
        >>> x = torch.tensor([[1, 2, 3], [4, 5, 6]])
        >>> torch.triu(x)
        tensor([[1, 2, 3],
                [0, 5, 6]])
        >>> torch.triu(x, diagonal=1)
        tensor([[0, 2, 3],
                [0, 0, 6]])
    """
    return _triangle("triu", jnp.triu, input, diagonal)


def _embed(x, offset, dim1, dim2):
    """The last dimension of ``x`` as the diagonal of new matrices over ``dim1`` and ``dim2``."""
    ndim = x.ndim + 1
    first, second = wrap_dim(dim1, ndim), wrap_dim(dim2, ndim)
    if first == second:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    size = x.shape[-1] + (offset if offset > 0 else -offset)
    row = jnp.arange(size, dtype=np.int64)[:, None]
    column = jnp.arange(size, dtype=np.int64)[None, :]
    on = (column - row) == offset
    place = jnp.clip(row if offset >= 0 else column, 0, x.shape[-1] - 1)
    if x.shape[-1]:
        spread = jnp.where(on, jnp.take(x, place, -1), jnp.zeros((), x.dtype))
        spread = spread.reshape(*x.shape[:-1], size, size)
    else:
        spread = jnp.zeros((*x.shape[:-1], size, size), x.dtype)
    return jnp.moveaxis(spread, (-2, -1), (first, second))


@op(saves="none", variants="function method")
def diag_embed(input, /, offset: int = 0, dim1: int = -2, dim2: int = -1):
    """The last dimension as the diagonal of new matrices, 0 elsewhere.

    Args:
        input: a tensor ``(..., n)`` of any dtype, with at least one dimension.
        offset: which diagonal: 0 is the main one, positive ones lie above it, negative below.
        dim1: where the rows of the matrices are in the result; negative ones count from its last dimension.
        dim2: where their columns are.

    Returns:
        A new tensor of the dtype of ``input`` with one dimension more. The matrices have ``n +
        abs(offset)`` rows and as many columns.

    Raises:
        IndexError: if there is no such dimension.
        RuntimeError: if ``dim1`` and ``dim2`` are the same dimension.

    Example:
        >>> torch.diag_embed(torch.tensor([1, 2]), offset=1)
        tensor([[0, 1, 0],
                [0, 0, 2],
                [0, 0, 0]])
        >>> torch.diag_embed(torch.ones(4, 2), dim1=0, dim2=2).shape
        torch.Size([2, 4, 2])
    """
    return _embed(input, offset, dim1, dim2)


@op(variants="function method", grad_name="DiagEmbedBackward0", saves="none")
def diagflat(input, /, offset: int = 0):
    """All elements as the diagonal of one matrix."""
    return _embed(input.reshape(-1), offset, -2, -1)


@op(variants="", grad_name="DiagonalBackward0_copy", saves="none", out=EXACT)
def diag_of(input, /, diagonal=0):
    """A diagonal of a matrix, copied."""
    if input.ndim != 2:
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {input.ndim}D")
    return jnp.diagonal(input, diagonal)


@op(variants="", differentiable=False)
def one_hot(input, /, num_classes: int):
    """A last dimension of zeros with a one at each class index; int64."""
    classes = jnp.arange(num_classes, dtype=input.dtype)
    return (input[..., None] == classes).astype(np.int64)
