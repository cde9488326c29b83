"""Gathers and scatters by index arrays: what ``x[index]`` and ``x[index] = v`` are once views are taken.

Indices count along the dimensions ``dims`` of the input, one array each, and broadcast together. Their
result dimensions stand where the first indexed one was if ``dims`` are neighbours, else in front. Negative
indices count from the end; one out of range (which the caller checks where it can) reads nan or zero and
writes nothing.
"""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from jaxflow._core.cast import cast
from jaxflow._core.dtype import from_numpy_dtype
from jaxflow._core.indexing import gathering
from jaxflow._dispatch.op import op

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


@op(name="_index_put", variants="", grad_name="IndexPutBackward0")
def index_put(*tensors, dims: tuple[int, ...], accumulate: bool):
    """The first tensor with the second written (or added) where the others index along ``dims``."""
    input, values, *indices = tensors
    at = _full_index(input, indices, dims)
    g = gathering(input.shape, dims, tuple(i.shape for i in indices))
    shape = g.size
    if values.ndim > len(shape) and all(n == 1 for n in values.shape[: values.ndim - len(shape)]):
        values = values.reshape(values.shape[values.ndim - len(shape):])
    try:
        values = jnp.broadcast_to(values, shape)
    except ValueError:
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(values.shape)} cannot be broadcast to "
            f"indexing result of shape {list(shape)}"
        ) from None
    if values.dtype != input.dtype:
        raise RuntimeError(
            "Index put requires the source and destination dtypes match, got "
            f"{_word(input)} for the destination and {_word(values)} for the source."
        )
    if accumulate:
        return add(input, at, values)
    return _replaced(input, [at[d] for d in dims], values, g)


def _replaced(input, arrays, values, g):
    """The indexed dimensions in front, where `replace` wants them, and back again."""
    order = (*g.dims, *g.rest)
    ahead = jnp.moveaxis(
        values,
        range(g.position, g.position + len(g.shape)),
        range(len(g.shape)),
    )
    new = replace(jnp.transpose(input, order), tuple(arrays), ahead)
    return jnp.transpose(new, [order.index(d) for d in range(input.ndim)])


def _word(x) -> str:
    return from_numpy_dtype(x.dtype).scalar_name


@op(name="_masked_write", variants="", grad_name="IndexPutBackward0", saves="input")
def masked_write(input, mask, value, /):
    """``input`` with the 0-d ``value`` wherever ``mask`` is true."""
    return jnp.where(jnp.broadcast_to(mask, input.shape), cast(value, input.dtype), input)
