"""Reading parts of arrays: slices, at fixed and at computed places, and ``gather``."""

from __future__ import annotations

import operator

import numpy as np
from jax.lax import GatherScatterMode

from .table import SAME, rule

MODES = (GatherScatterMode.CLIP, GatherScatterMode.FILL_OR_DROP, GatherScatterMode.PROMISE_IN_BOUNDS)


@rule("slice", keys=True)
def _slice(site):
    strides = site.params["strides"] or (1,) * len(site.ins[0].shape)
    starts, limits = site.params["start_indices"], site.params["limit_indices"]
    if site.outs[0].shape == site.ins[0].shape:
        return SAME
    key = [slice(*bounds) for bounds in zip(starts, limits, strides)]
    whole = [slice(0, n, 1) for n in site.ins[0].shape]
    while key and key[-1] == whole[len(key) - 1]:
        key.pop()
    return operator.itemgetter(tuple(key))


def _window(starts, sizes, shape) -> tuple:
    """The key of a window; its start is moved inside."""
    return tuple([slice(s := min(max(int(start), 0), room), s + size)
                  for start, size, room in zip(starts, sizes, shape)])


@rule("dynamic_slice")
def _dynamic_slice(site):
    sizes = site.params["slice_sizes"]
    if len(site.ins) != 1 + len(sizes):
        return None
    room = [n - size for n, size in zip(site.ins[0].shape, sizes)]
    return lambda x, *starts: x[_window(starts, sizes, room)]


@rule("dynamic_update_slice")
def _dynamic_update_slice(site):
    sizes = site.ins[1].shape
    room = [n - size for n, size in zip(site.ins[0].shape, sizes)]

    def update(x, part, *starts):
        out = np.array(x)
        out[_window(starts, sizes, room)] = part
        return out

    return update


# ----- gather -------------------------------------------------------------------------------------


def _always_inside(site, dims, limits) -> bool:
    """Whether all indices are known and in range."""
    indices = site.known[1]
    return indices is not None and bool(np.all((indices >= 0) & (indices <= np.array(limits))))


@rule("gather")
def _gather(site):
    """As advanced indexing.

    The operand's axes that are read as a whole go last; the others are indexed by arrays of the batch's
    shape, those of which more than one element is read by a further axis each.
    """
    numbers, sizes, mode = (site.params[k] for k in ("dimension_numbers", "slice_sizes", "mode"))
    if mode not in MODES:
        return None
    operand, out = site.ins[0], site.outs[0]
    starts = numbers.start_index_map
    limits = [operand.shape[d] - sizes[d] for d in starts]
    fill = None
    if mode == GatherScatterMode.FILL_OR_DROP and not _always_inside(site, starts, limits):
        fill = _filling(site)
    if 0 in operand.shape:
        return (lambda x, indices: np.full(out.shape, fill, out.dtype)) if fill is not None else None
    simple = _take(site, numbers, sizes, limits, fill)
    if simple is not None:
        return simple

    collapsed, batching = set(numbers.collapsed_slice_dims), numbers.operand_batching_dims
    rank = len(operand.shape)
    whole = [d for d in range(rank) if d not in starts and d not in collapsed and d not in batching]
    windowed = [d for d in starts if d not in collapsed]
    indexed = [d for d in range(rank) if d not in whole]
    batch_shape = site.ins[1].shape[:-1]
    ndim = len(batch_shape) + len(windowed)

    def along(axis, size):
        return np.arange(size).reshape([size if a == axis else 1 for a in range(ndim)])

    fixed = dict.fromkeys(collapsed, 0)
    for d, axis in zip(batching, numbers.start_indices_batching_dims):
        fixed[d] = along(axis, operand.shape[d])
    offsets = {d: along(len(batch_shape) + i, sizes[d]) for i, d in enumerate(windowed)}
    order = (*indexed, *whole)
    turned = order != tuple(range(rank))
    batch_full = (*batch_shape, *(1,) * len(windowed))
    # The result has the batch, then the windows, then the whole axes; offset_dims come in the operand's
    # order.
    kept = [d for d in range(rank) if d not in collapsed and d not in batching]
    place = {d: len(batch_shape) + i for i, d in enumerate((*windowed, *whole))}
    target = [None] * len(out.shape)
    for at, d in zip(numbers.offset_dims, kept):
        target[at] = place[d]
    rest = iter(range(len(batch_shape)))
    target = tuple(next(rest) if t is None else t for t in target)
    moved = target != tuple(range(len(target)))
    wholes = tuple(operand.shape[d] for d in whole)
    tops = np.array(limits)
    batch_in_out = tuple(1 if at in numbers.offset_dims else n for at, n in enumerate(out.shape))

    def gather(x, indices):
        indices = indices.astype(np.int64)
        inside = None
        if fill is not None:
            inside = ((indices >= 0) & (indices <= tops)).all(-1)
        indices = np.minimum(np.maximum(indices, 0), tops)
        key = dict(fixed)
        for i, d in enumerate(starts):
            at = indices[..., i].reshape(batch_full)
            key[d] = at + offsets[d] if d in offsets else at
        if turned:
            x = x.transpose(order)
        if indexed:
            index = tuple([key[d] for d in indexed])
            found = x[index]
            if found.shape[:ndim] != (*batch_shape, *(sizes[d] for d in windowed)):
                found = np.broadcast_to(found, (*batch_shape, *(sizes[d] for d in windowed), *wholes))
        else:
            found = np.broadcast_to(x, (*batch_shape, *wholes))
        if moved:
            found = found.transpose(target)
        if inside is not None and not inside.all():
            found = np.where(inside.reshape(batch_in_out), found, fill)
        return found

    if sorted(numbers.offset_dims) != list(numbers.offset_dims) or any(
            d in starts for d in batching) or any(sizes[d] != operand.shape[d] for d in whole):
        return None
    return gather


def _filling(site):
    """What is read out of range, as a scalar of the dtype."""
    dtype, value = site.dtype, site.params["fill_value"]
    if value is None:
        if dtype.kind in "iu":
            info = np.iinfo(dtype)
            value = info.min if dtype.kind == "i" else info.max
        else:
            value = True if dtype.kind == "b" else np.nan
    return np.array(value).astype(dtype)[()]


def _take(site, numbers, sizes, limits, fill):
    """Rows of one axis (embedding, ``x[i]``, ``index_select``):

    `ndarray.take`. None where it is more than that.
    """
    operand, indices = site.ins
    rank = len(operand.shape)
    if len(numbers.start_index_map) != 1 or numbers.operand_batching_dims:
        return None
    axis = numbers.start_index_map[0]
    if numbers.collapsed_slice_dims != (axis,):
        return None
    if any(sizes[d] != operand.shape[d] for d in range(rank) if d != axis):
        return None
    batch = indices.shape[:-1]
    # take puts the batch where the axis was; the result needs it around the offset dimensions.
    around = tuple(range(axis)) + tuple(range(axis + len(batch), axis + len(batch) + rank - 1 - axis))
    batch_axes = tuple(range(axis, axis + len(batch)))
    target, offsets, batches = [], iter(around), iter(batch_axes)
    for at in range(len(site.outs[0].shape)):
        target.append(next(offsets) if at in numbers.offset_dims else next(batches))
    target = tuple(target)
    moved = target != tuple(range(len(target)))
    top = limits[0]
    batch_in_out = tuple(1 if at in numbers.offset_dims else n for at, n in enumerate(site.outs[0].shape))

    def take(x, i):
        i = i.reshape(batch)
        inside = None
        if fill is not None:
            inside = (i >= 0) & (i <= top)
        found = x.take(i, axis, None, "clip")
        if moved:
            found = found.transpose(target)
        if inside is not None and np.count_nonzero(inside) != inside.size:
            found = np.where(inside.reshape(batch_in_out), found, fill)
        return found

    return take
