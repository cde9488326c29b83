"""Histograms of points in any number of dimensions."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from jaxflow._core.dtype import BOOL, COMPLEX, INTEGER, from_numpy_dtype
from jaxflow._plans.op import op

from ._support import as_dtype, is_integral, refuse, wide
from ._xla import largest, smallest
from .creation import _line


def _finite(watch, dynamic, static):
    if static[1] is None:
        check_finite(watch, dynamic[0], "torch.histogramdd: dimension {d}'s ")


def check_finite(watch, points, words, of="") -> None:
    """Refuse what is no range in the last dimension, or with ``of`` in all of them. RuntimeError."""
    found = watch.known(points, wait=True)
    if found is None or not found.size:
        return
    for d, column in enumerate([found] if of else np.moveaxis(found, -1, 0)):
        low, high = float(column.min()), float(column.max())
        if not (np.isfinite(low) and np.isfinite(high)):
            raise RuntimeError(f"{words.format(d=d)}range{of} [{low:g}, {high:g}] is not finite")


@op(variants="", differentiable=False, guard=_finite)
def _histogram_edges(points, /, *, bins, range):
    """Per dimension of ``points``, ``(N, D)``, the edges of so many equal bins.

    They go from the smallest to the largest number, or over ``range`` (low and high of each dimension in
    turn); by half a unit to each side of a range of no width.
    """
    edges, dtype = [], from_numpy_dtype(points.dtype)
    for d, count in enumerate(bins):
        if range is not None:
            low, high = (as_dtype(jnp.asarray(r, np.float64), points.dtype) for r in range[2 * d:2 * d + 2])
        elif points.shape[0]:
            low, high = smallest(points[:, d]), largest(points[:, d])
        else:
            low, high = jnp.zeros((), points.dtype), jnp.ones((), points.dtype)
        refuse("linspace_cpu", points, BOOL)
        same = low == high
        half = jnp.asarray(0.5, points.dtype)
        low, high = jnp.where(same, low - half, low), jnp.where(same, high + half, high)
        kind = np.float64 if is_integral(points) else wide(points).dtype
        edges.append(as_dtype(_line(low, high, count + 1, dtype, kind), points.dtype))
    return tuple(edges)


@op(variants="", differentiable=False)
def _histogram(points, weight, /, *edges, density):
    """How many ``points``, ``(N, D)``, or what sum of their weights, lie between the edges of each dimension.

    A bin has its lower edge and the last one both; ``density`` divides by the sum and the bins' volumes.
    """
    refuse("histogram_cpu", points, BOOL, INTEGER, COMPLEX)
    inside = jnp.ones(points.shape[:1], np.bool_)
    place = []
    for d, edge in enumerate(edges):
        x = points[:, d]
        inside &= (x >= edge[0]) & (x <= edge[-1])
        found = jnp.searchsorted(edge, x, side="right") - 1
        place.append(jnp.clip(found, 0, edge.shape[0] - 2))
    sizes = tuple(edge.shape[0] - 1 for edge in edges)
    kind = wide(points).dtype
    amount = jnp.ones(points.shape[:1], kind) if weight is None else weight.reshape(-1).astype(kind)
    amount = jnp.where(inside, amount, 0)
    counts = jnp.zeros(sizes, kind).at[tuple(place)].add(amount)
    if not density:
        return counts.astype(points.dtype)
    counts = counts / jnp.sum(counts)
    for d, edge in enumerate(edges):
        shape = [1] * len(edges)
        shape[d] = sizes[d]
        counts = counts / jnp.diff(edge).astype(kind).reshape(shape)
    return counts.astype(points.dtype)
