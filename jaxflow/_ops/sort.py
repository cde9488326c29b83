"""Sorting, the largest few, and searching in what is sorted."""

from __future__ import annotations

import functools
import math

import jax
import jax.numpy as jnp
import numpy as np

from jaxflow._core import dtype as dtypes
from jaxflow._core.dtype import BOOL, COMPLEX, INTEGER
from jaxflow._core.promotion import TENSOR, ZERODIM, result_type
from jaxflow._plans.op import EXACT, Out, Scalar, Tensor, op, overload

from ._support import at_least_1d, is_bool, is_complex, refuse, scalar_name, wrap_dim
from ._xla import largest, smallest
from .histogram import check_finite
from .order import argsort as order_of
from .order import first_few


def _sorted_with(input, axis, pick):
    """Values and indices of ``pick(order)``; the gradient goes to the returned indices."""
    x = at_least_1d(input)
    indices = pick(jax.lax.stop_gradient(x))
    values = jnp.take_along_axis(x, indices, axis)
    return (values, indices) if input.ndim else (values.reshape(()), indices.reshape(()))


@op(name="sort", variants="", layout="like", returns=("values", "indices"), saves="own", out=EXACT,
    apart="input")
def sort(input, /, *, dim: int = -1, descending: bool = False):
    """The elements in order along ``dim``, and where they were; ties keep their order."""
    axis = wrap_dim(dim, input.ndim)
    if is_complex(input):
        raise RuntimeError(" Sort does not support complex dtypes on CPU")
    return _sorted_with(input, axis, lambda x: order_of(x, axis, descending))


overload(sort, "_sort_stable", "SortBackward1")


@op(variants="function method out", returns=("values", "indices"), saves="own", out=EXACT,
    apart="input")
def topk(input, /, k: int, dim: int = -1, largest: bool = True, sorted: bool = True):
    """The ``k`` largest (or smallest) elements along ``dim``, in order, and where they are.

    Args:
        input: a tensor of any shape, of integers or floating point; nan counts as largest.
        k: how many, from 0 to the extent of ``dim``.
        dim: the dimension along which elements are compared; negative ones count from the last.
        largest: True for the largest elements, the largest first; False for the smallest, the smallest
            first.
        sorted: taken and not looked at: they are always in order.

    Returns:
        ``(values, indices)``, new tensors with the shape of ``input`` and ``k`` for the extent of ``dim``:
        the elements in its dtype, and int64 indices along ``dim``.

    Raises:
        RuntimeError: if ``k`` is out of range, and for bools and complex numbers.
        IndexError: if there is no such dimension.

    Example:
        >>> x = torch.tensor([[1, 5, 3], [9, 8, 7]])
        >>> values, indices = torch.topk(x, 2)
        >>> values
        tensor([[5, 3],
                [9, 8]])
        >>> indices
        tensor([[1, 2],
                [0, 1]])
        >>> torch.topk(x, 1, dim=0, largest=False).values
        tensor([[1, 5, 3]])
    """
    axis = wrap_dim(dim, input.ndim)
    size = input.shape[axis] if input.ndim else 1
    if not 0 <= k <= size:
        raise RuntimeError("selected index k out of range")
    if is_complex(input):
        raise RuntimeError(" topk does not support complex dtypes on CPU")
    if is_bool(input):
        raise RuntimeError("topk does not support bool dtypes on CPU")
    if not input.ndim:
        return input, jnp.zeros((), np.int64)  # for no element too
    return _sorted_with(input, axis, lambda x: first_few(x, axis, k, largest))


# ------------------------------------------------------------------------------------------ search


def _check_search(boundaries, values, right, side, sorter):
    name = "torch.searchsorted()"
    if side is not None and side not in ("left", "right"):
        raise RuntimeError(f"{name}: side can only be 'left' or 'right' but got {side}")
    if side == "left" and right:
        raise RuntimeError(
            f"{name}: side and right can't be set to opposites, got side of left while right was True"
        )
    if sorter is not None:
        if sorter.shape != boundaries.shape:
            raise RuntimeError(
                f"{name}: boundary and sorter must have the same size, but got boundary tensor "
                f"{list(boundaries.shape)}and got sorter tensor {list(sorter.shape)}"
            )
        if sorter.dtype != np.int64:
            raise RuntimeError(
                f"{name}: sorter must be a tensor of long dtype but got dtype {scalar_name(sorter)}"
            )
    if values.ndim == 0 and boundaries.ndim != 1:
        raise RuntimeError(
            f"{name}: input value can be a scalar only when boundaries tensor dimension is 1, but we "
            f"got boundaries tensor dim({boundaries.ndim}) and input value's dim(0) numel(1)"
        )
    if boundaries.ndim == 0:
        raise RuntimeError(
            f"{name}: boundaries tensor should have positive dimension, but got 0 dimension"
        )
    if boundaries.ndim != 1 and boundaries.shape[:-1] != values.shape[:-1]:
        raise RuntimeError(
            f"{name}: boundaries tensor should be 1 dimension or the first N-1 dimensions of "
            "boundaries tensor and input value tensor must match, but we got boundaries tensor "
            f"{list(boundaries.shape)} and input value tensor {list(values.shape)}"
        )


def _common(*arrays):
    """The dtype that arrays promote to; of one without dimensions no more than the category counts."""
    return result_type([(dtypes.from_numpy_dtype(x.dtype), TENSOR if x.ndim else ZERODIM) for x in arrays])


def _halved(boundaries, values, right):
    """Where values would go, found by halving: of unsorted boundaries too it is where PyTorch's search ends.

    ``jnp.searchsorted`` halves other intervals and puts nan at the end, which are the same places only
    where the boundaries are sorted.
    """
    size = boundaries.shape[0]
    if not size:
        return jnp.zeros(values.shape, np.int32)
    places = np.int32 if size <= np.iinfo(np.int32).max // 2 else np.int64

    def look(middle):
        found = boundaries.at[middle].get(mode="promise_in_bounds")
        return found > values if right else found >= values  # false of nan

    def halve(_, ends):
        start, end = ends
        middle = jax.lax.div(start + end, places(2))
        before = look(middle)
        return jnp.where(before, start, middle + 1), jnp.where(before, middle, end)

    ends = jnp.zeros(values.shape, places), jnp.full(values.shape, size, places)
    always = (size + 1).bit_length() - 1  # so often every interval can be halved, some of them once more
    start, end = jax.lax.fori_loop(0, always, halve, ends)
    left = (start < end) & ~look(jnp.minimum(start, size - 1))
    return start + left.astype(places)


def _search(boundaries, values, right, dtype):
    if values.size:  # PyTorch has no kernel for these
        refuse("searchsorted_out_cpu", boundaries if is_complex(boundaries) else values, COMPLEX)
    common = _common(boundaries, values).np
    boundaries, values = boundaries.astype(common), values.astype(common)
    if values.size:
        refuse("searchsorted_out_cpu", values, BOOL)
    find = functools.partial(_halved, right=right)
    if boundaries.ndim == 1:
        return find(boundaries, values).astype(dtype)
    lead = math.prod(values.shape[:-1])
    rows = boundaries.reshape(lead, boundaries.shape[-1])
    wanted = values.reshape(lead, values.shape[-1])
    return jax.vmap(find)(rows, wanted).reshape(values.shape).astype(dtype)


_SEARCH_OUT = Out(
    "torch.searchsorted(): output tensor's dtype is wrong, it can only be Int(int32) or Long(int64) "
    "depending on whether out_int32 flag is True, but we got output tensor's dtype {out} and out_int32 "
    "flag is {result_is_int}",
    dtype=lambda own, out_int32, **others: dtypes.int32 if out_int32 else dtypes.int64)


def _sorter_in_range(watch, dynamic, static):
    boundaries, _, sorter = dynamic
    if hasattr(sorter, "_aval") and sorter._aval.ndim:
        most = boundaries._aval.shape[-1] - 1
        watch.within((sorter,), ((0, most),),
                     lambda *_: RuntimeError("torch.searchsorted(): sorter index out of range"))


@op(variants="function out", differentiable=False, out=_SEARCH_OUT, guard=_sorter_in_range)
def searchsorted(sorted_sequence, input, /, *, out_int32: bool = False, right: bool = False, side=None,
                 sorter: Tensor = None):
    """Where each value would go in the sorted last dimension: before (``right``: after) equals."""
    _check_search(sorted_sequence, input, right, side, sorter)
    if sorter is not None:
        sorted_sequence = jnp.take_along_axis(sorted_sequence, sorter, -1)
    return _search(sorted_sequence, input, right or side == "right",
                   np.int32 if out_int32 else np.int64)


@op(variants="function out", differentiable=False, out=_SEARCH_OUT)
def bucketize(input, boundaries, /, *, out_int32: bool = False, right: bool = False):
    """The bucket of each value between sorted ``boundaries``."""
    if boundaries.ndim != 1:
        raise RuntimeError(
            f"boundaries tensor must be 1 dimension, but got dim({boundaries.ndim})"
        )
    return _search(boundaries, input, right, np.int32 if out_int32 else np.int64)


# ---------------------------------------------------------------------------------------- counting


@op(variants="", differentiable=False)
def bincount(input, weights=None, /, *, length):
    """How often each of the numbers below ``length`` occurs, or the sum of its weights."""
    if weights is None:
        return jnp.zeros((length,), np.int64).at[input].add(1, mode="drop")
    kind = weights.dtype if weights.dtype == np.float32 else np.float64
    return jnp.zeros((length,), kind).at[input].add(weights.astype(kind), mode="drop")


def _check_range(watch, dynamic, static):
    low, high = dynamic[1:]
    low, high = 0 if low is None else low, 0 if high is None else high
    if isinstance(low, (int, float)) and isinstance(high, (int, float)):
        watch.early = static[0] > 0  # the kernel is looked for when the range is known
        if not (math.isfinite(low) and math.isfinite(high)):
            raise RuntimeError(f"torch.histc: range of [{low:g}, {high:g}] is not finite")
        if low > high:
            raise RuntimeError("torch.histc: max must be larger than min")
        if low == high and dynamic[0]._aval.numel:
            if dynamic[0]._aval.dtype.is_complex:
                raise NotImplementedError(
                    f"\"aminmax_cpu\" not implemented for '{dynamic[0]._aval.dtype.scalar_name}'")
            check_finite(watch, dynamic[0], "torch.histc: ", " of")


@op(variants="function method out", differentiable=False, guard=_check_range,
    out="torch.histogram: input tensor and hist tensor should have the same dtype, but got input {result_c} "
        "and hist {out_c}")
def histc(input, /, bins: int = 100, min: Scalar = 0, max: Scalar = 0):
    """How many elements fall into each of ``bins`` equal bins between ``min`` and ``max``.

    With ``min`` equal to ``max``, between the smallest and the largest element.
    """
    if bins <= 0:
        raise RuntimeError(
            f"torch.histogram(): bins must be > 0, but got {bins} for dimension 0"
        )
    refuse("linspace_cpu", input, BOOL)
    refuse("histogram_cpu", input, INTEGER, COMPLEX)
    x = input.reshape(-1).astype(np.float64)
    low, high = (jnp.asarray(edge).astype(np.float64) for edge in (min, max))
    if input.size:
        same = low == high
        low, high = jnp.where(same, smallest(x), low), jnp.where(same, largest(x), high)
    same = low == high
    low, high = jnp.where(same, low - 1, low), jnp.where(same, high + 1, high)
    inside = (x >= low) & (x <= high)
    place = jnp.floor((x - low) / (high - low) * bins)
    place = jnp.where(inside, jnp.clip(place, 0, bins - 1), bins).astype(np.int64)
    counts = jnp.zeros((bins,), np.float64).at[place].add(1.0, mode="drop")
    return counts.astype(input.dtype)


@op(variants="function", differentiable=False, out=EXACT)
def isin(elements, test_elements, /, *, assume_unique: bool = False, invert: bool = False):
    """Which elements occur in ``test_elements``; bool."""
    for x in (elements, test_elements):
        if is_bool(x) or is_complex(x):
            raise RuntimeError(f"Unsupported input type encountered for isin(): {scalar_name(x)}")
    common = _common(elements, test_elements).np
    a, b = elements.astype(common), jnp.sort(test_elements.reshape(-1).astype(common))
    if b.size == 0:
        found = jnp.zeros(a.shape, np.bool_)
    else:
        place = jnp.clip(jnp.searchsorted(b, a), 0, b.size - 1)
        found = b[place] == a
    return ~found if invert else found
