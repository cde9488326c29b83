"""Reductions of segments: neighbouring elements along an axis, of lengths that a tensor gives."""

from __future__ import annotations

import functools
import math

import jax
import jax.numpy as jnp
import numpy as np

from jaxflow._core.dtype import BOOL, COMPLEX, INTEGER
from jaxflow._plans.op import op

from ._support import refuse, scalar_name, wide, wrap_dim

REDUCTIONS = ("sum", "mean", "max", "min", "prod")


_MISFIT = (
    "segment_reduce(): Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1) when "
    "!unsafe.")
_ASSERTED = (
    "Expected segment_length >= 0 to be true, but got false.  (Could this error message be improved?  If so, "
    "please report an enhancement request to PyTorch.)")


def _segments(where, start, length):
    """For each position the number of its segment; ``length.shape[-1]`` for one in none.

    ``start`` and ``length`` are ``(rows, segments)``, ``where`` the positions of a row.
    """
    count = length.shape[1]
    find = jax.vmap(lambda starts: jnp.searchsorted(starts, where, side="right"))
    # Of segments that start at one place the last one is found; all before it are empty.
    found = find(start).astype(np.int32) - 1
    if count == 0:
        return jnp.zeros_like(found)
    safe = jnp.clip(found, 0, count - 1)
    ends = jnp.take_along_axis(start + length, safe, 1)
    return jnp.where((found >= 0) & (where < ends), safe, count)


@functools.partial(jax.custom_jvp, nondiff_argnums=(2,))
def _prod(x, number, count):
    """Products of segments. The derivative takes the product of all other elements, zeros and nan too."""
    return jax.ops.segment_prod(x, number, count)


@_prod.defjvp
def _prod_jvp(count, primals, tangents):
    (x, number), (dx, _) = primals, tangents
    nan = jnp.isnan(x)
    apart = (x == 0) | nan
    rest = _prod(jnp.where(apart, 1, x), number, count)
    at = jnp.minimum(number, count - 1)

    def among_others(found):
        one = found.astype(np.int32)
        return jax.ops.segment_sum(one, number, count)[at] != one

    # With neither zero nor nan among the others, the product of all that are none, less the element itself.
    others = jnp.where(among_others(apart), 0, rest[at] / jnp.where(apart, 1, x))
    others = jnp.where(among_others(nan), np.nan, others)
    return _prod(x, number, count), jax.ops.segment_sum(dx * others, number, count)


@functools.partial(jax.custom_jvp, nondiff_argnums=(2, 3, 4))
def _extreme(x, number, count, largest, initial):
    """Largest or smallest elements; equal ones (or nan) share the derivative, ``initial`` has none."""
    found = (jax.ops.segment_max if largest else jax.ops.segment_min)(x, number, count)
    if initial is None:
        return found
    return (jnp.maximum if largest else jnp.minimum)(found, jnp.asarray(initial, x.dtype))


@_extreme.defjvp
def _extreme_jvp(count, largest, initial, primals, tangents):
    (x, number), (dx, _) = primals, tangents
    best = _extreme(x, number, count, largest, initial)
    hit = (x == best[jnp.minimum(number, count - 1)]) | jnp.isnan(x)
    hits = jax.ops.segment_sum(hit.astype(x.dtype), number, count)
    # A selection: where infinity or nan arrives the others still get 0.
    return best, jax.ops.segment_sum(jnp.where(hit, dx, 0), number, count) / jnp.maximum(hits, 1)


def _guard(watch, dynamic, static):
    data, lengths, offsets = dynamic
    _, axis, unsafe, _ = static
    if lengths is None:
        return
    negative = _ASSERTED if unsafe else "lengths contains negative value!"
    watch.within((lengths,), ((0, 2**62),), lambda value, _: RuntimeError(negative))
    if unsafe:
        return
    rows, known = data.shape[axis], watch.known(lengths)
    if known is None:
        watch.within((lengths.sum(-1),), ((rows, rows),), lambda value, _: RuntimeError(_MISFIT))
    elif known.size and (known.sum(-1) != rows).any():
        raise RuntimeError(_MISFIT)


@op(variants="", grad_name="SegmentReduceBackward0", guard=_guard,
    saves=("data", "lengths", "offsets", "result"))
def _segment_reduce(data, lengths=None, offsets=None, /, *, reduce, axis, unsafe, initial):
    """``reduce`` of each segment along ``axis``; see `segment_reduce`."""
    refuse("_segment_reduce_cpu", data, BOOL, INTEGER, COMPLEX)
    axis = wrap_dim(axis, data.ndim)
    which, given = ("offsets", offsets) if lengths is None else ("lengths", lengths)
    if given.ndim - 1 != axis:
        raise RuntimeError(
            f"segment_reduce(): Expected axis to be the last dimension of {which} but got {axis}.")
    _check_shapes(data, given, axis, offsets, unsafe)
    if given.dtype not in (np.int32, np.int64):
        raise NotImplementedError(
            f"\"_segment_reduce_{which}_cpu_kernel1\" not implemented for '{scalar_name(given)}'")
    rows = math.prod(data.shape[:axis])
    given = given.reshape(rows, given.shape[-1]).astype(np.int32)
    if lengths is None:
        start, length = given[:, :-1], given[:, 1:] - given[:, :-1]
    else:
        start, length = jnp.cumsum(given, 1) - given, given
    n, segments = data.shape[axis], length.shape[1]
    rest = data.shape[axis + 1 :]
    where = jax.lax.iota(np.int32, n)
    number = _segments(where, start, length)
    total = rows * segments
    row = jax.lax.broadcasted_iota(np.int32, number.shape, 0)
    number = jnp.where(number < segments, row * segments + number, total).reshape(rows * n)
    x = wide(data).reshape(rows * n, *rest)
    out = _reduced(x, number, total, length.reshape(total, *(1 for _ in rest)), reduce, initial)
    return out.reshape(*data.shape[:axis], segments, *rest).astype(data.dtype)


def _check_shapes(data, given, axis, offsets, unsafe):
    """Refuse what has other dimensions than ``data``, offsets without an end, and no lengths to check."""
    if data.ndim < given.ndim:
        raise RuntimeError(
            "Expected data.dim() >= lengths_value.dim() to be true, but got false.  (Could this error "
            "message be improved?  If so, please report an enhancement request to PyTorch.)")
    if given.shape[:-1] != data.shape[:axis]:  # PyTorch would read memory of something else
        raise RuntimeError(f"segment_reduce(): Expected rows as in data of shape {list(data.shape)} but got "
                           f"shape {list(given.shape)}")
    if given is offsets and given.shape[-1] == 0:
        shape = [*data.shape[:axis], -1, *data.shape[axis + 1 :]]
        raise RuntimeError(f"Trying to create tensor with negative dimension -1: {shape}")
    if given is not offsets and not unsafe and given.size == 0:
        raise RuntimeError(
            "min(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim "
            "with the 'dim' argument.")


def _reduced(x, number, count, length, reduce, initial):
    if count == 0:
        return jnp.zeros((0, *x.shape[1:]), x.dtype)
    if reduce in ("max", "min"):
        return _extreme(x, number, count, reduce == "max", initial)
    if reduce == "prod":
        out = _prod(x, number, count)
        return out if initial is None else out * jnp.asarray(initial, x.dtype)
    out = jax.ops.segment_sum(x, number, count)
    if initial is not None:
        out = out + jnp.asarray(initial, x.dtype)
    if reduce == "sum":
        return out
    mean = out / jnp.maximum(length, 1).astype(x.dtype)
    return mean if initial is not None else jnp.where(length > 0, mean, np.nan)
