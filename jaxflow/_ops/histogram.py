"""Histograms of points in any number of dimensions."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from jaxflow._core.dtype import from_numpy_dtype
from jaxflow._dispatch.op import op

from ._support import is_complex, is_integral, scalar_name
from ._xla import largest, smallest
from .creation import _line


@op(variants="", differentiable=False)
def _histogram_edges(points, /, *, bins, range):
    """Per dimension of ``points``, ``(N, D)``, the edges of so many equal bins.

    They go from the smallest to the largest number, or over ``range`` (low and high of each dimension in
    turn); by half a unit to each side of a range of no width.
    """
    edges, dtype = [], from_numpy_dtype(points.dtype)
    for d, count in enumerate(bins):
        if range is not None:
            low, high = (jnp.asarray(r, points.dtype) for r in range[2 * d:2 * d + 2])
        elif points.shape[0]:
            low, high = smallest(points[:, d]), largest(points[:, d])
        else:
            low, high = jnp.zeros((), points.dtype), jnp.ones((), points.dtype)
        same = low == high
        half = jnp.asarray(0.5, points.dtype)
        low, high = jnp.where(same, low - half, low), jnp.where(same, high + half, high)
        edges.append(_line(low, high, count + 1, dtype, dtype.np))
    return tuple(edges)


@op(variants="", differentiable=False)
def _histogram(points, weight, /, *edges, density):
    """How many ``points``, ``(N, D)``, or what sum of their weights, lie between the edges of each dimension.

    A bin has its lower edge and the last one both; ``density`` divides by the sum and the bins' volumes.
    """
    _check_kernel(points)
    inside = jnp.ones(points.shape[:1], np.bool_)
    place = []
    for d, edge in enumerate(edges):
        x = points[:, d]
        inside &= (x >= edge[0]) & (x <= edge[-1])
        found = jnp.searchsorted(edge, x, side="right") - 1
        place.append(jnp.clip(found, 0, edge.shape[0] - 2))
    sizes = tuple(edge.shape[0] - 1 for edge in edges)
    amount = jnp.ones(points.shape[:1], points.dtype) if weight is None else weight.reshape(-1)
    amount = jnp.where(inside, amount, 0)
    counts = jnp.zeros(sizes, points.dtype).at[tuple(place)].add(amount)
    if not density:
        return counts
    counts = counts / jnp.sum(counts)
    for d, edge in enumerate(edges):
        shape = [1] * len(edges)
        shape[d] = sizes[d]
        counts = counts / jnp.diff(edge).reshape(shape)
    return counts


def _check_kernel(points):
    if is_integral(points) or is_complex(points) or points.dtype.itemsize == 2:
        raise NotImplementedError(f"\"histogramdd\" not implemented for '{scalar_name(points)}'")
