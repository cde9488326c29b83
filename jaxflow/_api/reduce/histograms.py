"""Histograms, whose bins are given by number or by their edges."""

from __future__ import annotations

import math
from typing import Any

from jaxflow._api.forms import given_out, invalid_combination
from jaxflow._core import dtype as dtypes
from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.dispatch import apply
from jaxflow._dispatch.not_derived import without_derivative
from jaxflow._plans.op import OPS, Out
from jaxflow._publish.bind import freeze
from jaxflow._publish.composite import composite
from jaxflow._publish.publish import return_type
from jaxflow._publish.value_checks import guarded

_FIELDS = ("hist", "bin_edges")
_ONE, _MANY = return_type("histogram", _FIELDS), return_type("histogramdd", _FIELDS)


@composite()
def histogram(input: Tensor, bins: Any = 100, *, range: Any = None, weight: Tensor | None = None,
              density: bool = False, out: Any = None) -> Any:
    """How many elements fall into each bin, and the bins' edges; both in the dtype of ``input``.

    Args:
        input: float32 or float64, of any shape.
        bins: how many equal bins, or a rising sequence of edges. The last bin contains both its edges.
        range: where the equal bins begin and end; by default at the smallest and the largest element.
        weight: count each element this often; of the shape of ``input``.
        density: divide by the sum of all counts and by the bins' widths.
        out: where to put the two results.
    """
    by_edges = isinstance(bins, Tensor)
    if not (by_edges or type(bins) is int) or (by_edges and range is not None):
        raise invalid_combination("histogram", (input, bins), {})
    points = input.reshape(-1, 1)
    if weight is not None and weight._aval.shape == input._aval.shape:
        weight = weight.reshape(-1)
    for what, place, o in zip(("hist", "bin_edges"), ("", " for dimension 0"), () if out is None else out):
        if o.dtype is not input.dtype:
            raise RuntimeError(
                f"torch.histogram: input tensor and {what} tensor should have the same dtype, but got input "
                f"{input.dtype.c_name} and {what} {o.dtype.c_name}{place}"
            )
    counts, edges = _histogram(points, [bins], range, weight, density)
    # The edges that were given come back as a copy, whose derivative PyTorch does not have either.
    edges = bins.detach().clone() if by_edges else edges[0]
    operands = [t for t in (input, bins if by_edges else None, weight) if t is not None]
    results = [without_derivative(t, "aten::histogram", *operands) for t in (counts, edges)]
    return given_out("histogram", out, _ONE(results), tuple(operands), rule=Out(lost=True))


@composite("function")
def histogramdd(input: Tensor, bins: Any, range: Any = None, weight: Tensor | None = None,
                density: bool = False) -> Any:
    """How many points fall into each box of a grid, and the edges along each dimension.

    Args:
        input: points ``(..., D)``, float32 or float64.
        bins: how many equal bins, for all dimensions or for each, or the edges along each dimension.
        range: where the equal bins begin and end, two numbers for each dimension in turn.
        weight: count each point this often; of the shape of ``input`` without its last dimension.
        density: divide by the sum of all counts and by the boxes' volumes.
    """
    if input._aval.ndim < 2:
        raise RuntimeError("torch.histogramdd: input tensor should have at least 2 dimensions")
    size = input._aval.shape[-1]
    if isinstance(bins, Tensor):
        raise invalid_combination("histogramdd", (input, bins), {})
    bins = [bins] * size if isinstance(bins, int) else list(bins)
    by_edges = bool(bins) and isinstance(bins[0], Tensor)
    if len(bins) != size:
        if by_edges:
            raise RuntimeError(
                f"torch.histogramdd: expected {size} sequences of bin edges for a {size}-dimensional "
                f"histogram but got {len(bins)}"
            )
        raise RuntimeError(
            "histogramdd: The size of bins must be equal to the innermost dimension of the input."
        )
    points = input.reshape(-1, size)
    _check_weight(input._aval.shape, input, weight)
    weight = None if weight is None else weight.reshape(-1)
    counts, edges = _histogram(points, bins, range, weight, density)
    operands = [input, *(bins if by_edges else ()), *(() if weight is None else (weight,))]
    kind = "tensors" if by_edges else "cts"
    counts = without_derivative(counts, f"aten::_histogramdd_from_bin_{kind}", *operands)
    if not by_edges:
        edges = [without_derivative(t, "aten::_histogramdd_bin_edges", *operands) for t in edges]
    return _MANY([counts, tuple(edges)])


def _histogram(points: Tensor, bins: list, range: Any, weight: Tensor | None,
               density: bool) -> tuple[Tensor, list[Tensor]]:
    """The counts and the edges of points ``(N, D)``."""
    if isinstance(bins[0], Tensor):
        _check_weight(points._aval.shape, points, weight)
        _check_edges(points, bins)
        edges = bins
    else:
        edges = _equal(points, bins, range)
        _check_weight(points._aval.shape, points, weight)
    return apply(OPS["_histogram"], (points, weight, *edges), (bool(density),)), list(edges)


def _check_weight(shape: tuple, points: Tensor, weight: Tensor | None) -> None:
    if weight is None:
        return
    if weight._aval.shape != shape[:-1]:
        raise RuntimeError(
            "torch.histogramdd: if weight tensor is provided it should have the same shape as the input "
            "tensor excluding its innermost dimension, but got input with shape "
            f"{list(shape)} and weight with shape {list(weight._aval.shape)}"
        )
    if weight.dtype is not points.dtype:
        raise RuntimeError(
            "torch.histogramdd: if weight tensor is provided, input tensor and weight tensor should have the "
            f"same dtype, but got input({points.dtype.c_name}), and weight({weight.dtype.c_name})"
        )


def _check_edges(points: Tensor, edges: list[Tensor]) -> None:
    for d, edge in enumerate(edges):
        if edge.dtype is not points.dtype:
            raise RuntimeError(
                "torch.histogramdd: input tensor and bins tensors should have the same dtype, but got input "
                f"with dtype {points.dtype.c_name} and bins for dimension {d} with dtype {edge.dtype.c_name}"
            )
        if edge._aval.ndim != 1:
            raise RuntimeError(
                "torch.histogramdd: bins tensor should have one dimension, but got "
                f"{edge._aval.ndim} dimensions in the bins tensor for dimension {d}"
            )
        if not edge._aval.numel:
            raise RuntimeError(
                "torch.histogramdd: bins tensor should have at least 1 element, but got 0 elements in the "
                f"bins tensor for dimension {d}"
            )
        _check_count(edge._aval.numel - 1, d)


def _check_count(count: int, d: int) -> None:
    if count <= 0:
        raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {count} for dimension {d}")


def _equal(points: Tensor, bins: list[int], interval: Any) -> tuple[Tensor, ...]:
    """The edges of equal bins over a range, which is checked, or over the data."""
    size = len(bins)
    for d, count in enumerate(bins):
        _check_count(count, d)
    if interval is not None:
        interval = tuple(float(r) for r in freeze(interval))
        if len(interval) != 2 * size:
            raise RuntimeError(
                f"torch.histogramdd: for a {size}-dimensional histogram range should have {2 * size} "
                f"elements, but got {len(interval)}"
            )
        for d in range(size):
            low, high = interval[2 * d:2 * d + 2]
            if not (math.isfinite(low) and math.isfinite(high)):
                raise RuntimeError(
                    f"torch.histogramdd: dimension {d}'s range [{low:g}, {high:g}] is not finite"
                )
            if low > high:
                raise RuntimeError(
                    f"torch.histogramdd: min should not exceed max, but got min {low:g} max {high:g} for "
                    f"dimension {d}"
                )
    elif points._aval.numel and points.dtype not in (dtypes.float32, dtypes.float64):
        raise NotImplementedError(f"\"histogramdd\" not implemented for '{points.dtype.scalar_name}'")
    edges = guarded(apply, OPS["_histogram_edges"], (points,), (tuple(bins), interval))
    return edges if isinstance(edges, tuple) else (edges,)
