"""Shapes: reshaping, joining, padding, and arrays out of nothing."""

from __future__ import annotations

import math
import operator

import numpy as np

from .fallback import is_key
from .lowering import array_shape
from .table import SAME, rule


@rule("reshape", keys=True)
def _reshape(site):
    shape, order = array_shape(site.outs[0]), site.params.get("dimensions")
    if order is not None:
        return None if is_key(site.ins[0]) else lambda x: x.transpose(order).reshape(shape)
    if shape == array_shape(site.ins[0]):
        return SAME
    return lambda x: x.reshape(shape)


@rule("squeeze", "expand_dims", keys=True)
def _squeeze(site):
    shape = array_shape(site.outs[0])
    return lambda x: x.reshape(shape)


@rule("transpose")
def _transpose(site):
    order = tuple(site.params["permutation"])
    if order == tuple(range(len(order))):
        return SAME
    return lambda x: x.transpose(order)


@rule("rev")
def _rev(site):
    key = tuple(slice(None, None, -1) if d in site.params["dimensions"] else slice(None)
                for d in range(len(site.outs[0].shape)))
    return operator.itemgetter(key)


@rule("concatenate")
def _concatenate(site):
    axis, join = site.params["dimension"], np.concatenate
    if len(site.ins) == 1:
        return SAME
    return lambda *arrays: join(arrays, axis)


@rule("stack")
def _stack(site):
    axis, shape, dtype = site.params["axis"], site.outs[0].shape, site.dtype
    if site.outs[0].shape == (len(site.ins),):
        return lambda *scalars: np.array(scalars, dtype)
    if len(site.ins) == 1:
        return lambda x: x.reshape(shape)
    front = (slice(None),) * axis

    def stack(*arrays):
        out = np.empty(shape, dtype)
        for i, x in enumerate(arrays):
            out[(*front, i)] = x
        return out

    return stack


@rule("unstack")
def _unstack(site):
    front = (slice(None),) * site.params["axis"]
    keys = [(*front, i) for i in range(len(site.outs))]
    return lambda x: [x[key] for key in keys]


@rule("split")
def _split(site):
    axis, keys, start = site.params["axis"], [], 0
    for size in site.params["sizes"]:
        keys.append((slice(None),) * axis + (slice(start, start + size),))
        start += size
    return lambda x: [x[key] for key in keys]


@rule("tile")
def _tile(site):
    reps = site.params["reps"]
    return lambda x: np.tile(x, reps)


def padder(shape, config, dtype):
    """A function ``(x, filling)`` that pads; None where nothing is to be done.

    ``config`` says per axis how much goes on at either end (less than none: comes off) and between elements.
    """
    result, source, target = [], [], []
    for size, (low, high, inner) in zip(shape, config):
        step = inner + 1
        spread = (size - 1) * step + 1 if size else 0
        end = max(low + spread + high, 0)
        first = -(low // step) if low < 0 else 0  # the first element at or behind the left edge
        last = min(size - 1, (end - 1 - low) // step)  # the last one before the right edge
        count = max(last + 1 - first, 0)
        source.append(slice(first, first + count))
        at = low + first * step
        target.append(slice(at, at + (count - 1) * step + 1, step) if count else slice(0, 0))
        result.append(end)
    source, target, result = tuple(source), tuple(target), tuple(result)
    if all(tuple(c) == (0, 0, 0) for c in config):
        return None
    if all(low <= 0 and high <= 0 and not inner for low, high, inner in config):
        return lambda x, filling: x[source]

    def pad(x, filling):
        out = np.empty(result, dtype)
        out[...] = filling
        out[target] = x[source]
        return out

    return pad


@rule("pad")
def _pad(site):
    """Edges may be negative, and elements may be pulled apart."""
    return padder(site.ins[0].shape, site.params["padding_config"], site.dtype) or SAME


@rule("iota")
def _iota(site):
    if len(site.ins):
        return None
    shape, axis, dtype = site.outs[0].shape, site.params["dimension"], site.dtype
    spread = tuple(-1 if d == axis else 1 for d in range(len(shape)))
    return lambda: np.broadcast_to(np.arange(shape[axis]).astype(dtype).reshape(spread), shape)


@rule("empty", "empty2")
def _empty(site):
    shape, dtype = site.outs[0].shape, site.dtype
    return lambda *_: np.zeros(shape, dtype)


@rule("bitcast_convert_type")
def _bitcast_convert_type(site):
    """Other sizes split the elements along a new last axis, or join those along the last."""
    dtype, source, shape = site.dtype, site.ins[0].dtype, site.outs[0].shape
    if dtype == source:
        return SAME
    if dtype.itemsize == source.itemsize:
        return lambda x: x.view(dtype)
    if not math.prod(shape):
        return lambda x: np.zeros(shape, dtype)
    return lambda x: np.ascontiguousarray(x).reshape(-1).view(dtype).reshape(shape)


@rule("optimization_barrier", keys=True)
def _optimization_barrier(site):
    return lambda *arrays: arrays


@rule("random_wrap", "random_unwrap", "random_clone", keys=True)
def _key_data(site):
    return SAME
