"""Paddle's functions whose meaning takes more than one call: what the table's expressions use."""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable, Sequence
from typing import Any

import jaxflow
from jaxflow import Tensor
from jaxflow.autograd import Function

from ._places import dtype_of

_INTEGER = 1


# --------------------------------------------------------------------------------------- arguments


def ints(shape: Any) -> tuple[int, ...]:
    """A ``shape=`` or ``axis=`` argument as a tuple of ints: an int, a tensor, or a sequence of either."""
    if isinstance(shape, Tensor):
        shape = shape.tolist()
    if isinstance(shape, (list, tuple)):
        return tuple(operator.index(n.item() if isinstance(n, Tensor) else n) for n in shape)
    return (operator.index(shape),)


def axes(axis: Any) -> Any:
    """An ``axis=`` argument as ``dim``: None, an int, or a tuple of ints."""
    if axis is None or isinstance(axis, int):
        return axis
    if isinstance(axis, Tensor) and not axis.ndim:
        return int(axis)
    return ints(axis) or None


def every(axis: Any, x: Tensor) -> Any:
    """``axis`` for functions that need the dimensions spelled out: all of them for None."""
    found = axes(axis)
    return tuple(range(x.ndim)) if found is None else found


def number(value: Any) -> Any:
    """A tensor of one element as a Python number; numbers as they are."""
    return value.item() if isinstance(value, Tensor) else value


def inexact(x: Tensor) -> Tensor:
    """Integers and bools as the default floating type; others as they are."""
    return x if x.dtype.category > _INTEGER else x.to(jaxflow.get_default_dtype())


def is_flat(axis: Any, x: Tensor) -> tuple[Tensor, int]:
    """For ``axis=None`` the flattened tensor and 0, else both as they are."""
    return (x.reshape(-1), 0) if axis is None else (x, axis)


# ---------------------------------------------------------------------------------------- creation


def to_tensor(data: Any, dtype: Any = None, place: Any = None, stop_gradient: bool = True) -> Tensor:
    """A new tensor with a copy of ``data``; it takes no gradient unless ``stop_gradient`` is False."""
    if isinstance(data, (list, tuple)) and any(isinstance(d, Tensor) for d in data):
        data = jaxflow.stack([to_tensor(d) for d in data])
    new = (
        data.detach().clone().to(place, dtype) if isinstance(data, Tensor) and place is not None
        else data.detach().clone().to(dtype or data.dtype) if isinstance(data, Tensor)
        else jaxflow.tensor(data, dtype=dtype, device=place)
    )
    return new if stop_gradient else opened(new)


def opened(t: Tensor) -> Tensor:
    """``t`` with ``stop_gradient=False``, which integers only show."""
    if t.dtype.category > _INTEGER:
        return t.requires_grad_()
    t.__dict__["_open"] = True
    return t


def randint(low: Any, high: Any, shape: Any, dtype: Any) -> Tensor:
    low, high = (0, low) if high is None else (low, high)
    return jaxflow.randint(number(low), number(high), ints(shape), dtype=dtype_of(dtype) or jaxflow.int64)


def normal(mean: Any, std: Any, shape: Any) -> Tensor:
    if isinstance(mean, Tensor) or isinstance(std, Tensor):
        return jaxflow.normal(mean, std)
    return jaxflow.randn(ints([1] if shape is None else shape)) * std + mean


def assign(x: Any, output: Tensor | None) -> Tensor:
    copy = x.clone() if isinstance(x, Tensor) else jaxflow.tensor(x)
    return copy if output is None else output.copy_(copy)


# -------------------------------------------------------------------------------------- reductions


class _GradientToAll(Function):
    """``amax`` or ``amin`` whose gradient goes in full to every element that is the extreme one."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, reduce: Callable, dims: Any) -> Tensor:
        out = reduce(x, dims, keepdim=True)
        ctx.save_for_backward(x, out)
        return out

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple:
        x, out = ctx.saved_tensors
        return g * (x == out), None, None


def extreme(reduce: Callable, x: Tensor, axis: Any, keepdim: bool) -> Tensor:
    """``max`` or ``min`` of Paddle: unlike ``amax`` it hands each of several extremes the whole gradient."""
    dims = every(axis, x)
    if not x.requires_grad:
        return reduce(x, dims, keepdim)
    out = _GradientToAll.apply(x, reduce, dims)
    return out if keepdim else squeeze(out, dims)


def median(x: Tensor, axis: Any, keepdim: bool, mode: str, quantile: Callable) -> Any:
    """The middle value; the mean of the two middle ones unless ``mode`` is "min"."""
    if mode == "min":
        whole = jaxflow.nanmedian if quantile is jaxflow.nanquantile else jaxflow.median
        return tuple(whole(x, axis, keepdim)) if axis is not None else whole(x)
    if mode != "avg":
        raise ValueError(f"Mode {mode} is not supported. Must be avg or min.")
    return quantiles(quantile, inexact(x), 0.5, axis, keepdim)


def quantiles(quantile: Callable, x: Tensor, q: Any, axis: Any, keepdim: bool) -> Tensor:
    """Quantiles over one dimension, several, or all."""
    if isinstance(q, (list, tuple)):
        q = jaxflow.tensor(q, dtype=x.dtype)
    dims = axes(axis)
    if not isinstance(dims, tuple):
        return quantile(x, q, dims, keepdim)
    dims = tuple(d % x.ndim for d in dims)
    rest = [d for d in range(x.ndim) if d not in dims]
    out = quantile(x.permute(*rest, *dims).flatten(len(rest)), q, -1)
    for d in sorted(dims) if keepdim else ():
        out = out.unsqueeze(d + (out.ndim > len(rest) and isinstance(q, Tensor) and q.ndim))
    return out


def deviation(reduce: Callable, x: Tensor, axis: Any, unbiased: bool, keepdim: bool) -> Tensor:
    """``std`` or ``var``."""
    return reduce(x, axes(axis), correction=int(unbiased), keepdim=keepdim)


def norm(x: Tensor, p: Any, axis: Any, keepdim: bool) -> Tensor:
    """The p-norm over one dimension, several or all; the nuclear norm over two."""
    dims = axes(axis)
    p = "fro" if p is None else p
    if p == "nuc":
        return jaxflow.linalg.matrix_norm(x, p, dims, keepdim)
    return jaxflow.linalg.vector_norm(x, 2.0 if p == "fro" else float(p), dims, keepdim)


def dot(x: Tensor, y: Tensor) -> Tensor:
    """The inner product of vectors, or of each row of two matrices."""
    return (x * y).sum(-1)


# ------------------------------------------------------------------------------------- manipulation


def reshape_to(x: Tensor, shape: Any) -> tuple[int, ...]:
    """Paddle's shape for ``reshape``: 0 is the extent that ``x`` has there."""
    wanted = enumerate(ints(shape))
    return tuple(x.shape[i] if n == 0 and i < x.ndim and x.numel() else n for i, n in wanted)


def squeeze(x: Tensor, axis: Any) -> Tensor:
    """Without the given dimensions of extent 1, or without all of them."""
    dims = axes(axis)
    return x.squeeze() if dims is None else x.squeeze(dims)


def unsqueeze(x: Tensor, axis: Any) -> Tensor:
    """With dimensions of extent 1, put in one after the other."""
    for d in ints(axis):
        x = x.unsqueeze(d)
    return x


def split(x: Tensor, num_or_sections: Any, axis: Any) -> list[Tensor]:
    """So many equal parts, or parts of the given extents, of which one may be -1."""
    axis = int(number(axis))
    extent = x.shape[axis]
    if isinstance(num_or_sections, int):
        if extent % num_or_sections:
            raise ValueError(
                f"The input's size along the split dimension must be evenly divisible by num: {extent} is "
                f"not by {num_or_sections}"
            )
        return list(x.split(extent // num_or_sections, axis))
    sizes = list(ints(num_or_sections))
    if -1 in sizes:
        sizes[sizes.index(-1)] = extent - sum(sizes) - 1
    return list(x.split(sizes, axis))


def expand_to(x: Tensor, shape: Any) -> Tensor:
    return x.expand(*ints(shape))


def parts(input: Tensor, dims: Any, starts: Any, ends: Any, strides: Any = None) -> Tensor:
    """``input[start:end:stride]`` along each of several dimensions."""
    dims = ints(dims)
    strides = (1,) * len(dims) if strides is None else ints(strides)
    for d, start, end, stride in zip(dims, ints(starts), ints(ends), strides, strict=True):
        taken = range(input.shape[d])[start:end:stride]
        if stride > 0:
            kept = slice(taken.start, taken.stop, stride)
            input = input[(slice(None),) * (d % input.ndim) + (kept,)]
        else:
            input = input.index_select(d, jaxflow.tensor(list(taken), dtype=jaxflow.int64))
    return input


def coordinates(index: Tensor) -> tuple[Tensor, ...]:
    """The last dimension of ``index`` as indices of the first dimensions."""
    return tuple(index[..., i] for i in range(index.shape[-1]))


def scatter(x: Tensor, index: Tensor, updates: Tensor, overwrite: bool) -> Tensor:
    """``x`` with rows written, or summed up from zero where an index occurs."""
    index = index.reshape(-1)
    if overwrite:
        return x.index_put((index,), updates)
    return x.index_fill(0, index, 0).index_add(0, index, updates)


def scatter_nd(index: Tensor, updates: Tensor, shape: Any) -> Tensor:
    zeros = jaxflow.zeros(ints(shape), dtype=updates.dtype, device=updates.device)
    return zeros.index_put(coordinates(index), updates, accumulate=True)


_REDUCTIONS = dict(add="sum", mul="prod", multiply="prod", amin="amin", amax="amax", mean="mean")


def put_along_axis(
    arr: Tensor, indices: Tensor, values: Any, axis: int, reduce: str, include_self: bool, broadcast: bool
) -> Tensor:
    """``arr`` with values written, added or multiplied in at indices along a dimension."""
    if broadcast:
        indices = indices.expand(*(
            n if d != axis % arr.ndim else indices.shape[d] for d, n in enumerate(arr.shape)
        ))
    values = values.expand(*indices.shape) if isinstance(values, Tensor) else jaxflow.full(
        indices.shape, values, dtype=arr.dtype)
    if reduce == "assign":
        return arr.scatter(axis, indices, values)
    return arr.scatter_reduce(axis, indices, values, _REDUCTIONS[reduce], include_self=include_self)


def take_along_axis(arr: Tensor, indices: Tensor, axis: int, broadcast: bool) -> Tensor:
    if broadcast:
        axis %= arr.ndim
        wanted = [max(a, i) if d != axis else i for d, (a, i) in enumerate(zip(arr.shape, indices.shape))]
        indices = indices.expand(*wanted)
        arr = arr.expand(*(n if d != axis else arr.shape[d] for d, n in enumerate(wanted)))
    return arr.gather(axis, indices)


def repeat_interleave(x: Tensor, repeats: Any, axis: int | None) -> Tensor:
    return jaxflow.repeat_interleave(x, repeats, axis)


def where(condition: Tensor, x: Any, y: Any) -> Any:
    """Elements of ``x`` or ``y``; without them the indices where the condition holds, one column each."""
    if x is None and y is None:
        return tuple(i.unsqueeze(1) for i in condition.nonzero(as_tuple=True))
    if x is None or y is None:
        raise ValueError("either both or neither of x and y should be given")
    return jaxflow.where(condition, x, y)


def nonzero(x: Tensor, as_tuple: bool) -> Any:
    """Indices of what is not zero: one row each, or a column for each dimension."""
    found = x.nonzero()
    return tuple(found[:, i : i + 1] for i in range(x.ndim)) if as_tuple else found


def unique(
    x: Tensor, return_index: bool, return_inverse: bool, return_counts: bool, axis: Any, dtype: Any
) -> Any:
    """The sorted distinct elements, and, where requested, where and how often they occur."""
    values, inverse, counts = jaxflow.unique(
        x, sorted=True, return_inverse=True, return_counts=True, dim=axes(axis)
    )
    flat = inverse.reshape(-1)
    places = jaxflow.arange(flat.numel() - 1, -1, -1)
    first = jaxflow.zeros(counts.numel(), dtype=jaxflow.int64).index_put((flat.flip(0),), places)
    extra = [(return_index, first), (return_inverse, flat), (return_counts, counts)]
    found = [values, *(t.to(dtype_of(dtype)) for asked, t in extra if asked)]
    return found[0] if len(found) == 1 else tuple(found)


def sum_of(inputs: Any) -> Tensor:
    """The sum of several tensors."""
    return inputs.clone() if isinstance(inputs, Tensor) else functools.reduce(operator.add, inputs)


def affine(x: Tensor, scale: Any, bias: float, bias_after_scale: bool) -> Tensor:
    """``scale * x + bias``, or ``scale * (x + bias)``."""
    return x * scale + bias if bias_after_scale else (x + bias) * scale


def histogram(input: Tensor, bins: int, min: float, max: float) -> Tensor:
    counts = jaxflow.histc(inexact(input), bins, min, max)
    return counts.to(jaxflow.int64)


def matmul(x: Tensor, y: Tensor, transpose_x: bool, transpose_y: bool) -> Tensor:
    """The matrix product; either factor may be transposed first."""
    if transpose_x and x.ndim > 1:
        x = x.transpose(-1, -2)
    if transpose_y and y.ndim > 1:
        y = y.transpose(-1, -2)
    return x @ y


def cross(x: Tensor, y: Tensor, axis: int) -> Tensor:
    """The cross product along ``axis``; 9, Paddle's default, is the first dimension of extent 3."""
    if axis == 9:
        axis = next((d for d, n in enumerate(x.shape) if n == 3), -1)
    return jaxflow.linalg.cross(x, y, dim=axis)


def broadcast_shape(x_shape: Sequence[int], y_shape: Sequence[int]) -> list[int]:
    return list(jaxflow.broadcast_shapes(tuple(x_shape), tuple(y_shape)))


def stacked(pieces: Any) -> list:
    """A list of tensors from varargs that may be one list."""
    return list(itertools.chain.from_iterable(p if isinstance(p, (list, tuple)) else [p] for p in pieces))


def no_history(name: str) -> Tensor:
    """Refuse an in-place change of shape that the graph would have to follow."""
    raise RuntimeError(
        f"{name} of a tensor with stop_gradient=False is not supported: use {name[:-1]} instead"
    )
