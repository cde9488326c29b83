"""Reductions that select: largest, smallest, middle and most frequent elements, and where they are.

An op that returns values and indices computes the indices without derivative and then gathers the
values, so the whole gradient goes to the returned index, as PyTorch has it. Reductions without
indices (``amax``, ``max()``, ``median()``) share it among tied elements.
"""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np

from jaxflow._core.dtype import BOOL, COMPLEX
from jaxflow._plans.op import EXACT, Always, Integers, Out, op, uncastable

from ._layouts import ranks_in_front
from ._support import (
    at_least_1d,
    blend,
    is_bool,
    is_complex,
    is_float,
    refuse,
    scalar_name,
    wide,
    wrap_dim,
    wrap_dims,
)
from ._xla import largest, smallest
from .order import argsort, orderable

_SAME = Out(
    "Expected the dtype for input and out to match, but got {result} for input's dtype and {out} for "
    "out's dtype.", first=True)


def _need_elements(name: str, x, dim, *, error=RuntimeError, hint: bool = True) -> None:
    """Refuse to select from nothing, in PyTorch's words."""
    if x.size:
        return
    if dim is None or dim == ():
        more = " Specify the reduction dim with the 'dim' argument." if hint else ""
        raise error(
            f"{name}(): Expected reduction dim to be specified for input.numel() == 0.{more}"
        )
    # Where several dimensions may be given, the message has the one that is at fault as it was given.
    several = name in ("amax", "amin")
    given = (dim,) if isinstance(dim, int) else dim
    for d, shown in zip((wrap_dim(d, x.ndim) for d in given), given):
        if x.ndim and x.shape[d] == 0:
            at = shown if several else d
            raise IndexError(f"{name}(): Expected reduction dim {at} to have non-zero size.")


def along(select, input, dim, keepdim):
    """Values and int64 indices of one element of each line along ``dim``.

    ``select(x, axis)`` returns the indices with the axis kept.
    """
    axis = wrap_dim(dim, input.ndim)
    x = at_least_1d(input)
    indices = select(jax.lax.stop_gradient(x), axis).astype(np.int64)
    values = jnp.take_along_axis(x, indices, axis)
    if input.ndim == 0:
        return values.reshape(()), indices.reshape(())
    if keepdim:
        return values, indices
    return jnp.squeeze(values, axis), jnp.squeeze(indices, axis)


def _unread(input, axis, keepdim):
    """Values and indices of `along` where there is nothing to select: one element, or no lines."""
    shape = input.shape
    if input.ndim:
        shape = shape[:axis] + (1,) * keepdim + shape[axis + 1:]
    return input.reshape(shape), jnp.zeros(shape, np.int64)


def _refuse_complex(name, input):
    if is_complex(input):
        raise RuntimeError(f"{name}(): does not support complex input")


def _arg(fn, x, axis):
    return fn(orderable(x), axis, keepdims=True)


_argmax_along = functools.partial(_arg, jnp.argmax)
_argmin_along = functools.partial(_arg, jnp.argmin)


@op(name="max_dim", method_name="max", variants="", returns=("values", "indices"),
    grad_name="MaxBackward0", saves="own", out=EXACT, apart="input")
def max_dim(input, /, dim, keepdim=False):
    """The largest elements along ``dim`` and where they first are; nan counts as largest."""
    _need_elements("max", input, dim)
    wrap_dim(dim, input.ndim)
    _refuse_complex("max", input)
    return along(_argmax_along, input, dim, keepdim)


@op(name="min_dim", method_name="min", variants="", returns=("values", "indices"),
    grad_name="MinBackward0", saves="own", out=EXACT, apart="input")
def min_dim(input, /, dim, keepdim=False):
    """The smallest elements along ``dim`` and where they first are; nan counts as smallest."""
    _need_elements("min", input, dim)
    wrap_dim(dim, input.ndim)
    _refuse_complex("min", input)
    return along(_argmin_along, input, dim, keepdim)


@jax.custom_jvp
def _shared(x, value):
    """``value``, whose derivative is shared by all elements of ``x`` that equal it, nan among them."""
    return value


@_shared.defjvp
def _shared_jvp(primals, tangents):
    x, value = primals
    same = (x == value) | (jnp.isnan(x) & jnp.isnan(value))
    count = jnp.sum(same).astype(x.dtype)
    return value, jnp.sum(jnp.where(same, tangents[0], 0)) / count


def _shared_by_all(of_whole, select, x):
    return _shared(x, select(jax.lax.stop_gradient(x))) if is_float(x) else of_whole(x)


def _shared_along(of_whole, select, x, dims, keepdim):
    """The largest or smallest elements over ``dims``; where it is nan no element equals it.

    The derivative is shared by the elements that equal the result, and 0 / 0 where there are none.
    """
    if not is_float(x):
        return of_whole(x, dims, keepdims=keepdim)

    @jax.custom_jvp
    def selected(x):
        return select(x, dims, keepdims=keepdim)

    @selected.defjvp
    def tangent(primals, tangents):
        value = selected(*primals)
        same = primals[0] == (value if keepdim else jnp.expand_dims(value, dims))
        count = jnp.sum(same, dims, keepdims=True, dtype=wide(value).dtype)
        # Written out: XLA makes a selection of a product with 0 or 1, and a selection hides a nan.
        share = jnp.where(count == 0, jnp.nan, jnp.where(same, 1 / count, 0)).astype(value.dtype)
        return value, jnp.sum(share * tangents[0], dims, keepdims=keepdim)

    return selected(x)


_CAST_OUT = Out(
    "Expected canCast( typeMetaToScalarType(self.dtype()), typeMetaToScalarType(out.dtype())) to be true, "
    "but got false.  (Could this error message be improved?  If so, please report an enhancement request to "
    "PyTorch.)", refuses=uncastable)


@op(name="max_all", variants="", saves="both", grad_name="MaxBackward1", out=_CAST_OUT)
def max_all(input, /):
    """The largest element, nan if there is one."""
    _need_elements("max", input, None)
    refuse("max_all", input, COMPLEX)
    return _shared_by_all(jnp.max, largest, input)


@op(name="min_all", variants="", saves="both", grad_name="MinBackward1", out=_CAST_OUT)
def min_all(input, /):
    """The smallest element, nan if there is one."""
    _need_elements("min", input, None)
    refuse("min_all", input, COMPLEX)
    return _shared_by_all(jnp.min, smallest, input)


@op(saves="both", out=_SAME)
def amax(input, /, dim: Integers = (), keepdim: bool = False):
    """The largest elements over ``dim``; tied elements share the gradient.

    Args:
        input: a tensor of any shape and dtype but complex; where an element is nan, so is the result.
        dim: the dimension, or a tuple of dimensions, over which elements are compared; negative ones count
            from the last. An empty tuple means all dimensions.
        keepdim: whether these dimensions stay in the result, with extent 1.

    Returns:
        A new tensor of the dtype of ``input``, with its shape without ``dim``.

    Raises:
        IndexError: if there is no such dimension, or one without elements.
        RuntimeError: if a dimension is named twice, and for no elements without ``dim``.
        NotImplementedError: for complex numbers.

    Example:
        >>> x = torch.tensor([[1.0, 4.0], [4.0, 3.0]], requires_grad=True)
        >>> torch.amax(x, 1).tolist()
        [4.0, 4.0]
        >>> torch.amax(x).backward()
        >>> x.grad
        tensor([[0.0000, 0.5000],
                [0.5000, 0.0000]])
    """
    _need_elements("amax", input, dim)
    dims = wrap_dims(dim, input.ndim)
    if input.size:
        refuse("max_values_cpu", input, COMPLEX)
    return _shared_along(jnp.max, largest, input, dims, keepdim)


@op(saves="both", out=_SAME)
def amin(input, /, dim: Integers = (), keepdim: bool = False):
    """The smallest elements over ``dim``; tied elements share the gradient.

    Args:
        input: a tensor of any shape and dtype but complex; where an element is nan, so is the result.
        dim: the dimension, or a tuple of dimensions, over which elements are compared; negative ones count
            from the last. An empty tuple means all dimensions.
        keepdim: whether these dimensions stay in the result, with extent 1.

    Returns:
        A new tensor of the dtype of ``input``, with its shape without ``dim``.

    Raises:
        IndexError: if there is no such dimension, or one without elements.
        RuntimeError: if a dimension is named twice, and for no elements without ``dim``.
        NotImplementedError: for complex numbers.

    Example:
        >>> x = torch.tensor([[1, 4], [2, 3]])
        >>> torch.amin(x, 0)
        tensor([1, 3])
        >>> torch.amin(x, (0, 1), keepdim=True)
        tensor([[1]])
    """
    _need_elements("amin", input, dim)
    dims = wrap_dims(dim, input.ndim)
    if input.size:
        refuse("min_values_cpu", input, COMPLEX)
    return _shared_along(jnp.min, smallest, input, dims, keepdim)


@op(returns=("min", "max"), out=EXACT, apart="input")
def aminmax(input, /, *, dim: int = None, keepdim: bool = False):
    """The smallest and the largest elements, over all or along one dimension."""
    if input.size == 0:
        if dim is None:
            raise RuntimeError(
                "aminmax(): cannot compute aminmax over an empty dimension as the operation has no "
                "identity."
            )
        axis = wrap_dim(dim, input.ndim)
        if input.shape[axis] == 0:
            raise IndexError(f"aminmax: Expected reduction dim {axis} to have non-zero size.")
    if dim is not None and not input.ndim and is_complex(input):
        raise RuntimeError(f"aminmax not implemented for {scalar_name(input)}")
    dims = wrap_dims(dim, input.ndim)
    refuse("aminmax_cpu", input, COMPLEX)
    return (_shared_along(jnp.min, smallest, input, dims, keepdim),
            _shared_along(jnp.max, largest, input, dims, keepdim))


def _arg_reduce(name, fn, input, dim, keepdim):
    for bad, word in ((is_complex(input), "complex"), (is_bool(input), "bool")):
        if bad:
            raise RuntimeError(f"{name}(): does not support {word} input")
    _need_elements(name, input, dim, error=IndexError, hint=False)
    if dim is None:
        found = fn(input.reshape(-1))
        return found.reshape((1,) * input.ndim) if keepdim else found
    axis = wrap_dim(dim, input.ndim)
    found = fn(at_least_1d(input), axis, keepdims=keepdim)
    return found.reshape(()) if input.ndim == 0 else found


@op(differentiable=False, out=EXACT)
def argmax(input, /, dim: int = None, keepdim: bool = False):
    """Where the largest element first is, in all or along ``dim``; int64.

    Args:
        input: a tensor of any shape, of integers or floating point; nan counts as largest.
        dim: the dimension along which elements are compared, negative ones count from the last; None means
            the flattened tensor.
        keepdim: whether this dimension (without ``dim``, each one) stays in the result, with extent 1.

    Returns:
        A new int64 tensor of indices along ``dim``, with the shape of ``input`` without it; without ``dim``
        one index into the flattened tensor. Of elements that are equal it is the index of the first.

    Raises:
        IndexError: if there is no such dimension, or no element to choose from.
        RuntimeError: for bools and complex numbers.

    Example:
        >>> x = torch.tensor([[3, 7, 7], [9, 2, 1]])
        >>> torch.argmax(x)
        tensor(3)
        >>> torch.argmax(x, dim=1)
        tensor([1, 0])
    """
    return _arg_reduce("argmax", jnp.argmax, input, dim, keepdim)


@op(differentiable=False, out=EXACT)
def argmin(input, /, dim: int = None, keepdim: bool = False):
    """Where the smallest element first is, in all or along ``dim``; int64.

    Args:
        input: a tensor of any shape, of integers or floating point; nan counts as smallest.
        dim: the dimension along which elements are compared, negative ones count from the last; None means
            the flattened tensor.
        keepdim: whether this dimension (without ``dim``, each one) stays in the result, with extent 1.

    Returns:
        A new int64 tensor of indices along ``dim``, with the shape of ``input`` without it; without ``dim``
        one index into the flattened tensor. Of elements that are equal it is the index of the first.

    Raises:
        IndexError: if there is no such dimension, or no element to choose from.
        RuntimeError: for bools and complex numbers.

    Example:
        >>> x = torch.tensor([[3, 7, 7], [9, 2, 1]])
        >>> torch.argmin(x)
        tensor(5)
        >>> torch.argmin(x, dim=1, keepdim=True)
        tensor([[0],
                [2]])
    """
    return _arg_reduce("argmin", jnp.argmin, input, dim, keepdim)


# ------------------------------------------------------------------------------- order statistics


def _ranked(x, axis, rank):
    """The index of the element of a rank (an integer, or an array with the axis kept)."""
    order = argsort(x, axis)
    if isinstance(rank, int):
        return jax.lax.slice_in_dim(order, rank, rank + 1, axis=axis)
    return jnp.take_along_axis(order, rank, axis)


def _first_nan_or(x, axis, index):
    """PyTorch's median is nan as soon as one element is, and points at the first."""
    if not is_float(x):
        return index
    bad = jnp.isnan(x)
    return jnp.where(jnp.any(bad, axis, keepdims=True), _argmax_along(bad, axis), index)


def _median_index(x, axis):
    return _first_nan_or(x, axis, _ranked(x, axis, (x.shape[axis] - 1) // 2))


def _nanmedian_index(x, axis):
    if not is_float(x):
        return _median_index(x, axis)
    # Nan sorts last, so the middle of the others is found by counting them.
    count = jnp.sum(~jnp.isnan(x), axis, keepdims=True, dtype=np.int64)
    return _ranked(x, axis, jnp.maximum(count - 1, 0) // 2)


def _nothing(input):
    """What the median of no elements is: nan, which integers of 32 and 64 bits alone have a number for."""
    if is_float(input) or is_complex(input):
        return jnp.nan
    if is_bool(input):
        return True
    return jnp.iinfo(input.dtype).min if input.dtype.itemsize > 2 else 0


def _middle(select, input):
    if input.size == 0:
        return jnp.full((), _nothing(input), input.dtype)
    refuse("median_cpu", input, BOOL, COMPLEX)
    flat = input.reshape(-1)
    fixed = jax.lax.stop_gradient(flat)
    value = fixed[select(fixed, 0)[0]]
    return _shared(flat, value) if is_float(input) else value


@op(name="median_all", variants="", saves="both", grad_name="MedianBackward0")
def median_all(input, /):
    """The lower median of all elements, nan if there is one."""
    return _middle(_median_index, input)


@op(name="nanmedian_all", variants="", saves="both", grad_name="NanmedianBackward0")
def nanmedian_all(input, /):
    """The lower median of all elements that are not nan."""
    return _middle(_nanmedian_index, input)


_MEDIAN_OUT = (
    Out("Expected tensor for 'values' to have the same type as tensor for argument #2 'self'; but type "
        "torch.{out}Tensor does not equal torch.{result}Tensor (while checking arguments for median)"),
    Out("Expected tensor for argument #1 'indices' to have scalar type {result}; but got torch.{out}Tensor "
        "instead (while checking arguments for median)"))


@op(name="median_dim", method_name="median", variants="", returns=("values", "indices"),
    grad_name="MedianBackward1", saves="own", apart=True, out=_MEDIAN_OUT)
def median_dim(input, /, dim, keepdim=False):
    """The lower median along ``dim`` and where it is."""
    _need_elements("median", input, dim)
    wrap_dim(dim, input.ndim)
    refuse("median_out", input, BOOL, COMPLEX)
    return along(_median_index, input, dim, keepdim)


@op(name="nanmedian_dim", method_name="nanmedian", variants="", returns=("values", "indices"),
    grad_name="NanmedianBackward1", saves="own", apart=True, out=_MEDIAN_OUT)
def nanmedian_dim(input, /, dim, keepdim=False):
    """The lower median along ``dim`` of the elements that are not nan, and where it is."""
    _need_elements("median", input, dim)
    wrap_dim(dim, input.ndim)
    refuse("median_out", input, BOOL, COMPLEX)
    return along(_nanmedian_index, input, dim, keepdim)


@op(returns=("values", "indices"), saves="own", apart=True, out=(
    Out("output values must be of same type as input"),
    Out("output indices must be of scalar type {result}")))
def kthvalue(input, /, k: int, dim: int = -1, keepdim: bool = False):
    """The ``k``-th smallest element along ``dim``, counted from 1, and where it is."""
    axis = wrap_dim(dim, input.ndim)
    _need_elements("kthvalue", input, axis)
    size = input.shape[axis] if input.ndim else 1
    if not 1 <= k <= size:
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {axis}")
    if not input.ndim:
        return _unread(input, axis, keepdim)
    refuse("kthvalue_cpu", input, BOOL, COMPLEX)
    return along(lambda x, a: _ranked(x, a, k - 1), input, axis, keepdim)


def _mode_index(x, axis):
    order = argsort(x, axis)
    line = jnp.take_along_axis(orderable(x), order, axis)
    position = jax.lax.broadcasted_iota(np.int64, x.shape, axis)
    before = jnp.roll(line, 1, axis)
    starts = (position == 0) | (line != before)
    start = jax.lax.cummax(jnp.where(starts, position, 0), axis=axis)
    # The end of the first longest run: the smallest of the most frequent elements, at its last place.
    end = jnp.argmax(position - start, axis, keepdims=True)
    return jnp.take_along_axis(order, end, axis)


@op(returns=("values", "indices"), saves="own", apart="input",
    out=tuple(Out(f"expected scalar type '{{result}}' but got '{{out}}' for {which} output")
              for which in ("values", "indices")))
def mode(input, /, dim: int = -1, keepdim: bool = False):
    """The most frequent element along ``dim`` (the smallest of several) and where it last is."""
    axis = wrap_dim(dim, input.ndim)
    _need_elements("mode", input, axis)
    if not input.ndim:
        return _unread(input, axis, keepdim)
    if input.size:
        refuse("mode_cpu", input, COMPLEX)
    return along(_mode_index, input, axis, keepdim)


# ----------------------------------------------------------------------------------------- quantile

_INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")


def check_interpolation(name: str) -> None:
    """Refuse what is no interpolation of quantiles. RuntimeError."""
    if name not in _INTERPOLATIONS:
        raise RuntimeError(
            "quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, "
            f"but got {name}"
        )


def check_quantile(x, q, dim) -> None:
    """Refuse arrays, or their shapes and dtypes, that have no quantiles along ``dim``. RuntimeError."""
    if 0 in x.shape:
        raise RuntimeError("quantile() input tensor must be non-empty")
    if q.ndim > 1:
        raise RuntimeError("quantile() q must be a scalar or 1D tensor")
    if x.dtype not in (np.float32, np.float64):
        raise RuntimeError("quantile() input tensor must be either float or double dtype")
    if q.dtype != x.dtype:
        raise RuntimeError("quantile() q tensor must be same dtype as the input tensor")
    wrap_dims(dim, x.ndim)


def _quantile(x, q, dim, keepdim, interpolation, skip_nan):
    check_interpolation(interpolation)
    check_quantile(x, q, dim)
    kept = (1,) * x.ndim
    if dim is None:
        line = x.reshape(-1)
    else:
        axis = wrap_dim(dim, x.ndim)
        line = jnp.moveaxis(at_least_1d(x), axis, -1)
        kept = x.shape[:axis] + (1,) + x.shape[axis + 1 :] if x.ndim else ()
    ordered = jnp.take_along_axis(
        line, argsort(jax.lax.stop_gradient(line), line.ndim - 1), -1
    )
    bad = jnp.isnan(ordered)
    if skip_nan:
        last = jnp.maximum(jnp.sum(~bad, -1, keepdims=True) - 1, 0).astype(x.dtype)
    else:
        # A line with a nan has only nans: all ranks point at its end.
        last = jnp.asarray(line.shape[-1] - 1, x.dtype)
    rank = q.reshape(-1) * last
    if skip_nan:  # of nothing but nan it does not depend on q
        rank = jnp.where(jnp.all(bad, -1, keepdims=True), 0, rank)
    else:
        rank = jnp.where(jnp.any(bad, -1, keepdims=True), last, rank)
    rank = jnp.broadcast_to(rank, (*line.shape[:-1], q.size))
    if interpolation == "nearest":
        rank = jnp.round(rank)
    elif interpolation == "lower":
        rank = jnp.floor(rank)
    elif interpolation == "higher":
        rank = jnp.ceil(rank)
    below = rank.astype(np.int64)
    low = jnp.take_along_axis(ordered, below, -1)
    if interpolation in ("linear", "midpoint"):
        high = jnp.take_along_axis(ordered, jnp.ceil(rank).astype(np.int64), -1)
        weight = rank - jnp.floor(rank)
        weight = jnp.full_like(weight, 0.5) if interpolation == "midpoint" else weight
        low = blend(low, high, weight)
    out = jnp.moveaxis(low, -1, 0)
    shape = kept if keepdim else line.shape[:-1]
    return out.reshape(q.shape + tuple(shape))


_QUANTILE_OUT = Out("quantile() out tensor must be same dtype as the input tensor", recorded=True,
                    copied=True)


@op(variants="", grad_name="SqueezeBackward4", saves="own", layout=Always(ranks_in_front), out=_QUANTILE_OUT)
def quantile(input, q, /, *, dim: int = None, keepdim: bool = False, interpolation="linear"):
    """The quantiles ``q`` over all elements or along ``dim``, by the named interpolation."""
    return _quantile(input, q, dim, keepdim, interpolation, False)


@op(variants="", grad_name="SqueezeBackward4", saves="own", layout=Always(ranks_in_front), out=_QUANTILE_OUT)
def nanquantile(input, q, /, *, dim: int = None, keepdim: bool = False, interpolation="linear"):
    """The quantiles ``q`` of the elements that are not nan."""
    return _quantile(input, q, dim, keepdim, interpolation, True)
