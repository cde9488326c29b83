"""Joining tensors: along a dimension that is there, or along a new one."""

from __future__ import annotations

import math

import jax.numpy as jnp
import numpy as np

from jaxflow._plans.op import Out, Underived, op, uncastable

from ._layouts import stacked
from ._support import wrap_dim

_JOIN_OUT = Out("torch.cat(): input types can't be cast to the desired output type {out}", error=TypeError,
                refuses=uncastable)
_JOIN = dict(promote="no_opmath", broadcast=False, variants="function out", saves="none", apart=True,
             out=_JOIN_OUT)
_STACKED = dict(_JOIN, promote="reshaped", layout="joined", grad_name="CatBackward0")


def _some(error, message):
    """A check that refuses an empty list."""

    def check(*operands):
        if not operands:
            raise error(message)

    return check


def concatenate(tensors, dim):
    """``jnp.concatenate`` with PyTorch's errors; an empty vector fits anything, as it always has."""
    for i, t in enumerate(tensors):
        if t.ndim == 0:
            raise RuntimeError(
                f"zero-dimensional tensor (at position {i}) cannot be concatenated"
            )
    counted = [(i, t) for i, t in enumerate(tensors) if t.shape != (0,)]
    if not counted:
        # PyTorch looks at no dimension then, and gives such a vector a gradient that depends on nothing.
        return jnp.zeros(0, tensors[0].dtype)
    first = counted[0][1]
    axis = wrap_dim(dim, first.ndim)
    for i, t in counted[1:]:
        if t.ndim != first.ndim:
            raise RuntimeError(
                "Tensors must have same number of dimensions: "
                f"got {first.ndim} and {t.ndim}"
            )
        for d, (expected, got) in enumerate(zip(first.shape, t.shape)):
            if d != axis and expected != got:
                raise RuntimeError(
                    f"Sizes of tensors must match except in dimension {axis}. Expected size "
                    f"{expected} but got size {got} for tensor number {i} in the list."
                )
    return jnp.concatenate([t for _, t in counted], axis)


def _cat_shape(shapes, dim):
    first = shapes[0]
    if not -len(first) <= dim < len(first):
        return None
    axis = dim % len(first)
    before, after = first[:axis], first[axis + 1:]
    total = 0
    for shape in shapes:
        if len(shape) != len(first) or shape[:axis] != before or shape[axis + 1:] != after or shape == (0,):
            return None
        total += shape[axis]
    return (*before, total, *after)


def _stack_shape(shapes, dim):
    first, ndim = shapes[0], len(shapes[0]) + 1
    if not -ndim <= dim < ndim or any(shape != first for shape in shapes):
        return None
    return (*first[:dim % ndim], len(shapes), *first[dim % ndim:])


@op(**_JOIN, layout="joined", aliases=("concat", "concatenate"), moves=_cat_shape,
    check=_some(ValueError, "torch.cat(): expected a non-empty list of Tensors"))
def cat(*tensors, dim: int = 0):
    """The tensors joined along ``dim``; all other extents must agree.

    Args:
        tensors: a list or tuple of tensors with at least one dimension and the same number of them; their
            dtypes are promoted. A vector without elements is left out, whatever the others' shapes are.
        dim: the dimension along which they follow one another; negative ones count from the last.

    Returns:
        A new tensor whose extent along ``dim`` is the sum of theirs; it shares no memory with them.

    Raises:
        ValueError: if there are no tensors.
        RuntimeError: if another extent or the number of dimensions differs, and for tensors without
            dimensions.
        IndexError: if there is no such dimension.

    Example:
        >>> x, y = torch.tensor([[1, 2], [3, 4]]), torch.tensor([[5, 6]])
        >>> torch.cat([x, y])
        tensor([[1, 2],
                [3, 4],
                [5, 6]])
        >>> torch.cat([x, x], dim=1).shape
        torch.Size([2, 4])
    """
    return concatenate(tensors, dim)


@op(**_JOIN, layout=stacked, moves=_stack_shape,
    check=_some(RuntimeError, "stack expects a non-empty TensorList"))
def stack(*tensors, dim: int = 0):
    """Tensors of one shape joined along a new dimension ``dim``.

    Args:
        tensors: a list or tuple of tensors of the same shape; their dtypes are promoted.
        dim: where the new dimension is in the result; negative ones count from its last dimension.

    Returns:
        A new tensor with one dimension more, whose extent is the number of tensors; it shares no memory
        with them.

    Raises:
        RuntimeError: if there are no tensors, or their shapes differ.
        IndexError: if there can be no such dimension.

    Example:
        >>> x, y = torch.tensor([1, 2]), torch.tensor([3, 4])
        >>> torch.stack([x, y])
        tensor([[1, 2],
                [3, 4]])
        >>> torch.stack([x, y], dim=1)
        tensor([[1, 3],
                [2, 4]])
    """
    first = tensors[0].shape
    axis = wrap_dim(dim, len(first) + 1)
    for i, t in enumerate(tensors):
        if t.shape != first:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(first)} at entry 0 and "
                f"{list(t.shape)} at entry {i}"
            )
    return jnp.stack(tensors, axis)


@op(**_STACKED,
    check=_some(RuntimeError, "hstack expects a non-empty TensorList"))
def hstack(*tensors):
    """Tensors joined column by column: along dimension 1, or 0 for vectors.

    Args:
        tensors: a list or tuple of tensors with the same number of dimensions, which agree in all extents
            but that of dimension 1; vectors may be of different lengths. A tensor without dimensions counts
            as a vector of one element, and dtypes are promoted.

    Returns:
        A new tensor with the elements of all of them; it shares no memory with them.

    Raises:
        RuntimeError: if there are no tensors, or their shapes do not fit.

    Example:
        >>> torch.hstack([torch.tensor([1, 2]), torch.tensor([3])])
        tensor([1, 2, 3])
        >>> torch.hstack([torch.tensor([[1], [2]]), torch.tensor([[3, 4], [5, 6]])])
        tensor([[1, 3, 4],
                [2, 5, 6]])
    """
    lines = [jnp.atleast_1d(t) for t in tensors]
    return concatenate(lines, 0 if lines[0].ndim == 1 else 1)


@op(**_STACKED, aliases=("row_stack",),
    check=_some(RuntimeError, "vstack expects a non-empty TensorList"))
def vstack(*tensors):
    """Tensors joined row by row, along dimension 0; vectors are rows.

    Args:
        tensors: a list or tuple of tensors that agree in all extents but that of dimension 0. A vector
            counts as a matrix of one row, a tensor without dimensions as one of one element, and dtypes are
            promoted.

    Returns:
        A new tensor of at least two dimensions with the rows of all of them; it shares no memory with them.

    Raises:
        RuntimeError: if there are no tensors, or their shapes do not fit.

    Example:
        >>> torch.vstack([torch.tensor([1, 2]), torch.tensor([[3, 4], [5, 6]])])
        tensor([[1, 2],
                [3, 4],
                [5, 6]])
    """
    return concatenate([jnp.atleast_2d(t) for t in tensors], 0)


@op(**_STACKED,
    check=_some(RuntimeError, "dstack expects a non-empty TensorList"))
def dstack(*tensors):
    """Tensors joined along dimension 2."""
    return concatenate([jnp.atleast_3d(t) for t in tensors], 2)


@op(**_STACKED,
    check=_some(RuntimeError, "column_stack expects a non-empty TensorList"))
def column_stack(*tensors):
    """Tensors joined as columns: along dimension 1; vectors are columns."""
    return concatenate([t.reshape(-1, 1) if t.ndim < 2 else t for t in tensors], 1)


@op(**{**_JOIN, "variants": ""})
def block_diag(*tensors):
    """A matrix with the given matrices along its diagonal, and 0 elsewhere."""
    for i, t in enumerate(tensors):
        if t.ndim > 2:
            raise RuntimeError(
                "torch.block_diag: Input tensors must have 2 or fewer dimensions. Input "
                f"{i} has {t.ndim} dimensions"
            )
    blocks = [jnp.atleast_2d(t) for t in tensors]
    width = np.sum([b.shape[1] for b in blocks], dtype=int)
    rows, left = [], 0
    for b in blocks:
        rows.append(jnp.pad(b, ((0, 0), (left, int(width) - left - b.shape[1]))))
        left += b.shape[1]
    return jnp.concatenate(rows, 0)


@op(name="_chunk_cat", variants="function out", grad_name="NotImplemented", saves="none",
    out=Out(_JOIN_OUT.text, error=TypeError, refuses=uncastable, lost=True),
    underived=Underived(RuntimeError, "derivative for aten::_chunk_cat is not implemented"))
def chunk_cat(*tensors, dim: int, num_chunks: int):
    """Tensors cut into ``num_chunks`` along ``dim``, filled up with zeros, and joined chunk by chunk.

    The result has the dimensions before ``dim``, then one of ``num_chunks``, then what each chunk holds of
    all tensors in a row. It is how sharded parameters are put side by side.
    """
    if not tensors:
        raise RuntimeError("_chunk_cat expects a non-empty input tensor list")
    if num_chunks <= 0:
        raise RuntimeError("_chunk_cat expects positive num_chunks")
    first = tensors[0]
    if any(t.dtype != first.dtype for t in tensors):
        raise RuntimeError("_chunk_cat expects all input tensors with the same dtype")
    if not all(t.size for t in tensors):
        raise RuntimeError("_chunk_cat expects non-empty tensor")
    if any(t.ndim != first.ndim for t in tensors):
        if dim < 0:
            raise RuntimeError(
                "_chunk_cat expects non-negative dim when input tensors have different ndims"
            )
        axis = dim
        if any(axis >= t.ndim for t in tensors):
            raise RuntimeError("_chunk_cat expects dim < ndim for all input tensors")
    else:
        axis = wrap_dim(dim, first.ndim)
    ahead = first.shape[:axis]
    if any(t.shape[:axis] != ahead for t in tensors):
        raise RuntimeError("_chunk_cat expects same sizes of 0,...,dim-1 dimensions for all tensors")
    parts = []
    for t in tensors:
        pad = -t.shape[axis] % num_chunks
        widths = [(0, pad if d == axis else 0) for d in range(t.ndim)]
        each = math.prod(t.shape[axis:]) // t.shape[axis] * ((t.shape[axis] + pad) // num_chunks)
        parts.append(jnp.pad(t, widths).reshape(*ahead, num_chunks, each))
    return jnp.concatenate(parts, axis + 1)
