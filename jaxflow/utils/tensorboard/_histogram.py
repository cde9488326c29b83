"""Histograms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ._messages import HistogramProto


def default_bins() -> list[float]:
    """TensorFlow's edges: from 1e-12 to 1e20 by factors of 1.1, the same below zero, and zero."""
    edges, edge = [], 1e-12
    while edge < 1e20:
        edges.append(edge)
        edge *= 1.1
    return [-edge for edge in reversed(edges)] + [0] + edges


def make_histogram(values: np.ndarray, bins: str | int | Sequence[float], max_bins: int | None = None) -> Any:
    """The message of a histogram: its numbers from the first bin that is not empty to the last.

    TensorBoard reads the upper edge of each bin. So an empty bin comes first, whose upper edge is the lower
    one of the next.

    Args:
        values: the values.
        bins: edges, or what `numpy.histogram` takes.
        max_bins: join neighbouring bins until there are about so many; None to join none.

    Raises:
        ValueError: for no values, and for values that lie in no bin.
    """
    if values.size == 0:
        raise ValueError("The input has no element.")
    values = values.reshape(-1)
    counts, edges = np.histogram(values, bins=bins)
    if max_bins is not None and len(counts) > max_bins:
        joined = len(counts) // max_bins
        starts = np.arange(0, len(counts), joined)
        counts, edges = np.add.reduceat(counts, starts), np.append(edges[starts], edges[-1])
    filled = np.flatnonzero(counts)
    if filled.size == 0:
        raise ValueError("The histogram is empty: no value lies in a bin.")
    first, last = filled[0], filled[-1]
    return HistogramProto(
        min=values.min(), max=values.max(), num=len(values), sum=values.sum(), sum_squares=values.dot(values),
        bucket_limit=edges[first:last + 2].tolist(), bucket=[int(counts[first - 1]) if first else 0,
                                                            *counts[first:last + 1].tolist()])
