"""Gathers and scatters by index arrays: what ``x[index]`` and ``x[index] = v`` are once views are taken.

Indices count along the dimensions ``dims`` of the input, one array each, and broadcast together. Their
result dimensions stand where the first indexed one was if ``dims`` are neighbours, else in front. Negative
indices count from the end; one out of range, which the caller refuses, reads nan or zero and writes nothing.
"""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from jaxflow._core.cast import cast
from jaxflow._core.dtype import from_numpy_dtype
from jaxflow._core.geometry import broadcast_shapes
from jaxflow._core.indexing import NONZERO, gathering
from jaxflow._plans.op import Scalar, op

from ._support import is_complex, is_integral, number_fits, truth
from .scatter import add, replace


def _full_index(input, indices, dims):
    at: list = [slice(None)] * input.ndim
    for d, i in zip(dims, indices, strict=True):
        i = i.astype(np.int64)
        at[d] = jnp.where(i < 0, i + input.shape[d], i)
    return tuple(at)


@op(name="_index", variants="", grad_name="IndexBackward0")
def index(*tensors, dims: tuple[int, ...]):
    """``input[..., i, j, ...]``: the first tensor indexed along ``dims`` by the others."""
    input, *indices = tensors
    at = _full_index(input, indices, dims)
    fill = jnp.nan if jnp.issubdtype(input.dtype, np.inexact) else 0
    return input.at[at].get(mode="fill", fill_value=fill)


def _spread(values, shape):
    """``values`` in the shape of what is indexed. RuntimeError if they do not go into it."""
    if values.ndim > len(shape) and all(n == 1 for n in values.shape[: values.ndim - len(shape)]):
        values = values.reshape(values.shape[values.ndim - len(shape):])
    try:
        return jnp.broadcast_to(values, shape)
    except ValueError:
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(values.shape)} cannot be broadcast to "
            f"indexing result of shape {list(shape)}"
        ) from None


@op(name="_index_put", variants="", grad_name="IndexPutBackward0", saves=("indices",))
def index_put(input, values, /, *indices, dims: tuple[int, ...], accumulate: bool):
    """``input`` with ``values`` written (or added) where the others index along ``dims``."""
    at = _full_index(input, indices, dims)
    g = gathering(input.shape, dims, tuple(i.shape for i in indices))
    values = _spread(values, g.size)
    if accumulate:
        return add(input, at, values)
    return _replaced(input, [at[d] for d in dims], values, g)


def _replaced(input, arrays, values, g):
    """The indexed dimensions in front, where `replace` expects them, and back again."""
    order = (*g.dims, *g.rest)
    ahead = jnp.moveaxis(
        values,
        range(g.position, g.position + len(g.shape)),
        range(len(g.shape)),
    )
    new = replace(jnp.transpose(input, order), tuple(arrays), ahead)
    return jnp.transpose(new, [order.index(d) for d in range(input.ndim)])


def _clamped(input, indices):
    """The indices moved inside, and the shape of what they show."""
    for i in indices:
        if i.dtype not in (np.dtype(np.int32), np.dtype(np.int64)):
            raise RuntimeError(f"_unsafe_masked_index found unexpected index type {_word(i)}")
    if len(indices) > input.ndim:
        raise IndexError(f"too many indices for tensor of dimension {input.ndim} (got {len(indices)})")
    g = gathering(input.shape, tuple(range(len(indices))), tuple(i.shape for i in indices))
    return tuple(jnp.clip(i.astype(np.int64), 0, n - 1) for i, n in zip(indices, input.shape)), g.size


@op(name="_unsafe_masked_index", variants="", grad_name="UnsafeMaskedIndexBackward0", guard=number_fits)
def unsafe_masked_index(*tensors, fill: Scalar):
    """The first tensor at the indices after the second, a mask; ``fill`` where the mask is false.

    Indices out of range are moved to the nearest element: they are there for the mask to hide.
    """
    input, mask, *indices = tensors
    if input.size == 0:
        shape = jnp.broadcast_shapes(mask.shape, *(i.shape for i in indices), input.shape[len(indices):])
        return jnp.broadcast_to(cast(jnp.asarray(fill), input.dtype), shape)
    at, _ = _clamped(input, indices)
    found = input[at]
    return jnp.where(_fitted(mask, found), found, cast(jnp.asarray(fill), input.dtype))


def _fitted(mask, values):
    shape = broadcast_shapes(mask.shape, values.shape)
    return jnp.broadcast_to(truth(mask), shape)


@op(name="_unsafe_masked_index_put_accumulate", variants="",
    grad_name="UnsafeMaskedIndexPutAccumulateBackward0", layout="like", saves=("mask for values", "indices"))
def unsafe_masked_index_put_accumulate(input, mask, values, /, *indices):
    """``input`` with ``values`` added at the indices, where ``mask`` is true."""
    if input.size == 0:
        return input
    at, shape = _clamped(input, indices)
    if values.dtype != input.dtype:
        raise RuntimeError("Index put requires the source and destination dtypes match, got "
                           f"{_word(input)} for the destination and {_word(values)} for the source.")
    shown = jnp.where(_fitted(mask, values), values, jnp.zeros_like(values))
    return add(input, at, _spread(shown, shape))


def _word(x) -> str:
    return from_numpy_dtype(x.dtype).scalar_name


@op(name="_masked_write", variants="", grad_name="IndexPutBackward0", saves="input", guard=number_fits)
def masked_write(input, mask, value, /):
    """``input`` with the 0-d ``value`` wherever ``mask`` is true."""
    return jnp.where(jnp.broadcast_to(mask, input.shape), cast(value, input.dtype), input)


@op(name="_first_outside", variants="", differentiable=False)
def first_outside(*tensors, bounds, spared=None):
    """Whether an element lies outside its bounds; if so, of which tensor, and its value: three int64.

    The first position counts, in the shape that all broadcast to; ``spared`` is never wrong. Outside of
    ``NONZERO`` is zero alone; what lies outside of bounds with ``FINITE`` behind them is finite. Of complex
    numbers the larger part counts, without its sign. The value that is given is 0 where it is no integer.
    """
    wrong, values = [], []
    for x, (low, high, *which) in zip(tensors, bounds, strict=True):
        x = x.astype(np.int64) if is_integral(x) else x
        x = jnp.maximum(jnp.abs(x.real), jnp.abs(x.imag)) if is_complex(x) else x
        bad = x == 0 if (low, high) == NONZERO else ~((x >= low) & (x <= high))
        bad = bad & jnp.isfinite(x) if which else bad
        wrong.append(bad if spared is None else bad & (x != spared))
        values.append(x if x.dtype == np.int64 else jnp.zeros(x.shape, np.int64))
    several = len(wrong) > 1
    if several:
        wrong, values = jnp.broadcast_arrays(*wrong), jnp.broadcast_arrays(*values)
    spread = (jnp.stack(wrong, -1) if several else wrong[0]).reshape(-1)
    # A minimum is quicker than argmax, which carries two numbers along.
    count = jnp.zeros((), np.int64) + spread.size
    place = jnp.min(jnp.where(spread, jnp.arange(spread.size), count))
    if several:
        position, k = place // len(wrong), place % len(wrong)
        value = jnp.stack([v.reshape(-1)[position] for v in values])[k]
    else:
        k, value = jnp.zeros((), np.int64), values[0].reshape(-1)[place]
    return jnp.stack([(place < count).astype(np.int64), k, value])


@op(name="_first_nonzero", variants="", differentiable=False)
def first_nonzero(input, /):
    """The first integer that is not 0, and its place: the place times ``2 ** 32``, plus the integer; or 0."""
    flat = input.reshape(-1).astype(np.int64)
    if not flat.size:
        return jnp.zeros((), np.int64)
    place = jnp.argmax(flat != 0)
    found = flat[place]
    return jnp.where(found == 0, found, found + (place << 32))
