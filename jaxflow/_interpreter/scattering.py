"""Writing at computed places: ``scatter`` and its combining forms."""

from __future__ import annotations

import numpy as np
from jax.lax import GatherScatterMode

from .indexing import MODES
from .table import rule

_COMBINE = {"scatter": None, "scatter-add": np.add, "scatter_add": np.add, "scatter-sub": np.subtract,
            "scatter_sub": np.subtract, "scatter-mul": np.multiply, "scatter_mul": np.multiply,
            "scatter-min": np.minimum, "scatter_min": np.minimum, "scatter-max": np.maximum,
            "scatter_max": np.maximum}

#: The dtypes in which the order of a sum may be another one; halves are rounded after each step, as by XLA.
_SUMMED = tuple(map(np.dtype, (np.float32, np.float64, np.complex64, np.complex128)))


@rule(*_COMBINE)
def _scatter(site):
    """As advanced indexing, one window of updates for each element of the batch.

    A window that does not lie inside as a whole is dropped, or with CLIP moved inside. Several updates of an
    element are combined one after the other; of those that replace it the last one stays.
    """
    numbers, mode = site.params["dimension_numbers"], site.params["mode"]
    operand, indices, updates = site.ins
    combine = _COMBINE[site.name]
    if mode not in MODES:
        return None
    if operand.dtype.kind == "c" and combine in (np.minimum, np.maximum, np.multiply):
        return None
    rank = len(operand.shape)
    inserted, batching = set(numbers.inserted_window_dims), numbers.operand_batching_dims
    dims = numbers.scatter_dims_to_operand_dims
    window_dims = [d for d in range(rank) if d not in inserted and d not in batching]
    sizes = [1] * rank
    for d, at in zip(window_dims, numbers.update_window_dims):
        sizes[d] = updates.shape[at]
    whole = [d for d in window_dims if d not in dims and sizes[d] == operand.shape[d]]
    windowed = [d for d in window_dims if d not in whole]
    indexed = [d for d in range(rank) if d not in whole]
    batch_shape = indices.shape[:-1]
    nbatch, ndim = len(batch_shape), len(batch_shape) + len(windowed)
    order = (*indexed, *whole)
    back = tuple(np.argsort(order))
    turned = order != tuple(range(rank))
    # Updates in the order batch, windows, whole axes.
    at_of = dict(zip(window_dims, numbers.update_window_dims))
    batch_axes = [a for a in range(len(updates.shape)) if a not in numbers.update_window_dims]
    update_order = (*batch_axes, *(at_of[d] for d in windowed), *(at_of[d] for d in whole))
    tops = np.array([operand.shape[d] - sizes[d] for d in dims], np.int64)
    if any(top < 0 for top in tops):
        return None
    wholes = tuple(operand.shape[d] for d in whole)
    full = (*batch_shape, *(sizes[d] for d in windowed))
    count = int(np.prod(full))

    def along(axis, size):
        return np.arange(size).reshape([size if a == axis else 1 for a in range(ndim)])

    fixed = dict.fromkeys(inserted, 0)
    for d, axis in zip(batching, numbers.scatter_indices_batching_dims):
        fixed[d] = along(axis, operand.shape[d])
    for i, d in enumerate(windowed):
        fixed[d] = along(nbatch + i, sizes[d])
    batch_full = (*batch_shape, *(1,) * len(windowed))
    clips = mode == GatherScatterMode.CLIP
    known = site.known[1]
    inside_known = known is not None and bool(np.all((known >= 0) & (known <= tops)))
    strides = np.cumprod([1, *[operand.shape[d] for d in reversed(indexed)]])[:-1][::-1]
    rows = int(np.prod([operand.shape[d] for d in indexed]))
    unique = site.params.get("unique_indices", False)

    def scatter(x, index, update):
        index = index.astype(np.int64, copy=False)
        inside = None
        if clips:
            index = np.minimum(np.maximum(index, 0), tops)
        elif not inside_known:
            inside = (index >= 0) & (index <= tops)
            if np.count_nonzero(inside) == inside.size:
                inside = None
            else:
                inside = inside.all(-1)
                index = np.where(inside[..., None], index, 0)
        # The flat number, among the indexed axes, of each element written to.
        key = dict(fixed)
        for i, d in enumerate(dims):
            at = index[..., i].reshape(batch_full)
            key[d] = at + fixed.get(d, 0)
        flat = 0
        for d, stride in zip(indexed, strides):
            flat = flat + key[d] * stride
        flat = np.broadcast_to(flat, full).reshape(count)
        update = update.transpose(update_order).reshape(count, *wholes)
        if inside is not None:
            taken = np.broadcast_to(inside.reshape(batch_full), full).reshape(count)
            flat, update = flat[taken], update[taken]
        out = np.array(x.transpose(order) if turned else x, order="C").reshape(rows, *wholes)
        _write(out, flat, update, combine, unique)
        out = out.reshape([operand.shape[d] for d in order])
        return out.transpose(back) if turned else out

    return scatter


def _write(out, rows, update, combine, unique) -> None:
    """Combine ``update[i]`` into ``out[rows[i]]``."""
    if combine is None:
        out[rows] = update
    elif unique:
        out[rows] = combine(out[rows], update)
    elif combine is np.add and out.ndim > 1 and len(rows) > 1 and out.dtype in _SUMMED:
        # Rows: sorted by where they go, summed run by run, each run added at once.
        order = np.argsort(rows, kind="stable")
        rows = rows[order]
        firsts = np.flatnonzero(np.concatenate(([True], rows[1:] != rows[:-1])))
        out[rows[firsts]] += np.add.reduceat(update[order], firsts, axis=0)
    else:
        combine.at(out, rows, update)
