"""Pooling over windows.

Averages are separable, so each dimension is summed by itself: as strided slices, whose gradient is as many
paddings, or from the positions of its elements where the windows are uneven.
"""

from __future__ import annotations

import functools
import math

import jax
import jax.numpy as jnp
import numpy as np

from jaxflow._core.dtype import BOOL, COMPLEX, INTEGER
from jaxflow._plans.op import Integers, Underived, op

from ._layouts import of_volumes
from ._maxima import max_with_indices, take_flat
from ._support import is_integral, refuse, scalar_name
from ._window import channels_first, channels_last, weighted_sums, window_sums

# --------------------------------------------------------------------------------------- maximum


def pooled_size(n, kernel, stride, padding, dilation, ceil_mode) -> int:
    """Number of windows; with ``ceil_mode`` also one that starts inside but sticks out."""
    span = n + 2 * padding - dilation * (kernel - 1) - 1
    count = (span + stride - 1) // stride + 1 if ceil_mode else span // stride + 1
    if ceil_mode and (count - 1) * stride >= n + padding:
        count -= 1
    return count


def _check_window(kernel, stride, padding, dilation) -> None:
    if any(s == 0 for s in stride):
        raise RuntimeError("stride should not be zero")
    for p in padding:
        if p < 0:
            raise RuntimeError(f"pad must be non-negative, but got pad: {p}")
    for k, p, d in zip(kernel, padding, dilation):
        if k > 0 and d > 0 and p > ((k - 1) * d + 1) // 2:
            raise RuntimeError(
                "pad should be at most half of effective kernel size, but got "
                f"pad={p}, kernel_size={k} and dilation={d}"
            )
    for what, short, values in (("kernel size", "k", kernel), ("dilation", "dilation", dilation)):
        if any(v <= 0 for v in values):
            axes = "HW" if len(values) == 2 else "THW"
            named = " ".join(f"{short}{axis}: {v}" for axis, v in zip(axes, values))
            raise RuntimeError(f"{what} should be greater than zero, but got {named}")


def _check_size(input, out) -> None:
    if any(n < 1 for n in out):
        channels_at = input.ndim - len(out) - 1
        channels = input.shape[channels_at]
        sizes = ("x".join(map(str, (channels, *s))) for s in (input.shape[channels_at + 1 :], out))
        raise RuntimeError(
            "Given input size: ({}). Calculated output size: ({}). Output size is too "
            "small".format(*sizes)
        )


def _refuse_empty_volume(name, input):
    # Where PyTorch means to say which dimension it is, it says how long that is.
    raise RuntimeError(
        f"{name}: Expected input's non-batch dimensions to have positive length, but input has a shape of "
        f"{list(input.shape)} and non-batch dimension 0 has length zero!"
    )


def _check_batch(input, dims, maximum=False) -> None:
    """An empty batch is fine, an empty image is not."""
    shape = input.shape
    skip = 1 if len(shape) == dims + 2 else 0
    if len(shape) not in (dims + 1, dims + 2):
        raise RuntimeError(
            f"non-empty {dims + 1}D or {dims + 2}D (batch mode) tensor expected for input"
        )
    if 0 in shape[skip:]:
        if dims == 3 and maximum:
            _refuse_empty_volume("max_pool3d_with_indices_out_cpu_template()", input)
        raise RuntimeError(
            f"Expected {dims + 1}D or {dims + 2}D (batch mode) tensor with optional 0 dim batch "
            f"size for input, but got:{list(shape)}"
        )


def _max_pool(input, dims, kernel, stride, padding, dilation, ceil_mode):
    _check_window(kernel, stride, padding, dilation)
    _check_batch(input, dims, maximum=True)
    refuse(f"max_pool{dims}d", input, BOOL, COMPLEX)
    out = tuple(
        pooled_size(n, k, s, p, d, ceil_mode)
        for n, k, s, p, d in zip(input.shape[-dims:], kernel, stride, padding, dilation)
    )
    _check_size(input, out)
    return max_with_indices(input, kernel, stride, padding, dilation, out)


_MAX = dict(variants="", saves="input")


@op(name="_max_pool2d", grad_name="MaxPool2DWithIndicesBackward0", layout="channels", **_MAX)
def max_pool2d(input, /, kernel=(), stride=(), padding=(), dilation=(), ceil_mode=False):
    """Largest element of each window of the last two dimensions, and where it stands."""
    return _max_pool(input, 2, kernel, stride, padding, dilation, ceil_mode)


@op(name="_max_pool3d", grad_name="MaxPool3DWithIndicesBackward0", layout=of_volumes, **_MAX)
def max_pool3d(input, /, kernel=(), stride=(), padding=(), dilation=(), ceil_mode=False):
    """Largest element of each window of the last three dimensions, and where it stands."""
    return _max_pool(input, 3, kernel, stride, padding, dilation, ceil_mode)


def _adaptive_bounds(n: int, out: int):
    """Where the windows of adaptive pooling start and end."""
    i = np.arange(out)
    return (i * n) // out, -((-(i + 1) * n) // out)


def _adaptive_max(input, sizes):
    dims = len(sizes)
    if 0 in input.shape or 0 in sizes:
        shape = (*input.shape[: input.ndim - dims], *sizes)
        return jnp.zeros(shape, input.dtype), jnp.zeros(shape, np.int64)
    spatial = input.shape[-dims:]
    if all(n % m == 0 for n, m in zip(spatial, sizes)):
        window, none = tuple(n // m for n, m in zip(spatial, sizes)), (0,) * dims
        return max_with_indices(input, window, window, none, (1,) * dims, sizes)
    # Windows of several sizes are padded by repeating their last element.
    bounds = [_adaptive_bounds(n, m) for n, m in zip(spatial, sizes)]
    widest = [int((stop - start).max()) if len(start) else 1 for start, stop in bounds]
    at = np.zeros((1,) * 2 * dims, np.int64)
    for axis, ((start, stop), w, n) in enumerate(zip(bounds, widest, spatial)):
        where = start[:, None] + np.minimum(np.arange(w), (stop - start)[:, None] - 1)
        shape = [1] * 2 * dims
        shape[axis], shape[dims + axis] = where.shape
        at = at * n + where.reshape(shape)
    at = at.reshape(*sizes, -1)

    @jax.custom_jvp
    def pool(x):
        lead = x.shape[: x.ndim - dims]
        windows = x.reshape(*lead, -1)[..., at]
        pick = jnp.argmax(windows, -1)
        # Of several nan PyTorch takes the last here, of numbers the first.
        bad = jnp.isnan(windows)
        last = windows.shape[-1] - 1 - jnp.argmax(bad[..., ::-1], -1)
        pick = jnp.where(jnp.any(bad, -1), last, pick)
        index = jnp.take_along_axis(
            jnp.broadcast_to(at, windows.shape), pick[..., None], -1
        )[..., 0]
        return take_flat(x, index, dims), index

    @pool.defjvp
    def tangent(primals, tangents):
        best, index = pool(*primals)
        zero = np.zeros(index.shape, jax.dtypes.float0)
        return (best, index), (take_flat(tangents[0], index, dims), zero)

    return pool(input)


def check_not_empty(name, input, dims, whole=True) -> None:
    """Refuse an array (or aval) of which one of the ``dims`` spatial dimensions is empty.

    ``whole``: any dimension but the first, which are the channels where there is no batch.
    """
    for d in range(1 if whole else input.ndim - dims, input.ndim):
        if input.shape[d] == 0:
            raise RuntimeError(
                f"{name}(): Expected input to have non-zero size for non-batch dimensions, but "
                f"input has sizes {list(input.shape)} with dimension {d} being empty"
            )


def _check_adaptive(name, input, dims, skip, sizes=(), whole=True) -> None:
    """``whole``: channels that are none are refused as well."""
    if input.ndim not in (dims + 1, dims + 2):
        raise RuntimeError(
            f"{name}(): Expected {dims + 1}D or {dims + 2}D tensor, but got{skip} "
            f"{list(input.shape)}"
        )
    check_not_empty(name, input, dims, whole)
    if sizes and min(sizes) < 0:
        raise RuntimeError(
            f"Trying to create tensor with negative dimension {min(sizes)}: "
            f"{[*input.shape[: input.ndim - dims], *sizes]}"
        )


def _no_gradient_of_nothing(name):
    """PyTorch's backward of adaptive pooling takes no gradient without elements but that of no examples."""

    def formula(found, result):
        empty = [d for d, n in enumerate(result.shape) if d and n == 0]
        if not empty:
            return ""
        return (f"{name}_backward(): Expected grad_output to have non-zero size for non-batch dimensions, "
                f"but grad_output has sizes {{sizes}} with dimension {empty[0]} being empty")

    return Underived(RuntimeError, "", operand=0, formula=formula)


@op(name="_adaptive_max_pool2d", grad_name="AdaptiveMaxPool2DBackward0", layout="channels", **_MAX,
    underived=_no_gradient_of_nothing("adaptive_max_pool2d"))
def adaptive_max_pool2d(input, /, output_size=()):
    """Largest elements of ``output_size`` windows, and where they stand."""
    _check_adaptive("adaptive_max_pool2d", input, 2, ":", output_size)
    refuse("adaptive_max_pool2d", input, BOOL, INTEGER, COMPLEX)
    return _adaptive_max(input, output_size)


@op(name="_adaptive_max_pool3d", grad_name="AdaptiveMaxPool3DBackward0", **_MAX,
    underived=_no_gradient_of_nothing("adaptive_max_pool3d"))
def adaptive_max_pool3d(input, /, output_size=()):
    """Largest elements of ``output_size`` windows, and where they stand."""
    _check_adaptive("adaptive_max_pool3d", input, 3, ":", output_size)
    refuse("adaptive_max_pool3d_cpu", input, BOOL, INTEGER, COMPLEX)
    return _adaptive_max(input, output_size)


def _unpool(input, indices, size):
    dims = len(size)
    lead = input.shape[: input.ndim - dims]
    rows, area = math.prod(lead), math.prod(size)
    picks = math.prod(input.shape[input.ndim - dims :])
    where = (np.arange(rows)[:, None] * area + indices.reshape(rows, picks)).reshape(-1)

    # Where positions repeat, the last one counts, and the gradient still goes to all of them.
    @jax.custom_jvp
    def put(x):
        return jnp.zeros(rows * area, x.dtype).at[where].set(x.reshape(-1), mode="drop")

    @put.defjvp
    def tangent(primals, tangents):
        spread = jnp.zeros(rows * area, input.dtype)
        return put(*primals), spread.at[where].add(tangents[0].reshape(-1), mode="drop")

    return put(input).reshape(*lead, *size)


def _check_unpool(input, indices, dims) -> None:
    if indices.dtype != np.int64:
        raise RuntimeError(f"elements in indices should be type int64 but got: {scalar_name(indices)}")
    if input.ndim not in (dims + 1, dims + 2):
        has = f"with {input.ndim} dimensions." if dims == 2 else f"with dim: {input.ndim}"
        raise RuntimeError(
            f"Input to max_unpooling{dims}d should be a {dims + 1}d or {dims + 2}d Tensor, but got "
            f"a tensor {has}"
        )
    if input.shape != indices.shape:
        raise RuntimeError(
            "Expected shape of indices to be same as that of the input tensor "
            f"({list(input.shape)}) but got indices tensor with shape: {list(indices.shape)}"
        )
    for d in range(1, input.ndim):  # the channels of one example count as a batch
        if input.shape[d] == 0:
            raise RuntimeError(
                f"max_unpooling{dims}d_forward_out_cpu(): Expected input to have non-zero size for non-batch "
                f"dimensions, but got {list(input.shape)} with dimension {d} being empty."
            )
    if input.size:
        refuse(f"max_unpool{dims}d", input, BOOL, INTEGER, COMPLEX)


def _places_exist(watch, dynamic, static) -> None:
    """A guard: each index is a position of the result."""
    size = static[0]
    if dynamic[1]._aval.dtype.name == "int64" and min(size, default=-1) >= 0:
        volume = "x".join(map(str, size))
        watch.within(dynamic[1:], ((0, math.prod(size) - 1),), lambda value, _: RuntimeError(
            f"Found an invalid max index: {value} (output volumes are of size {volume})"))


@op(name="_max_unpool2d", variants="", grad_name="MaxUnpool2DBackward0", layout="channels",
    guard=_places_exist)
def max_unpool2d(input, indices, /, output_size=()):
    """Elements put where ``indices`` says, zeros elsewhere."""
    _check_unpool(input, indices, 2)
    return _unpool(input, indices, output_size)


@op(name="_max_unpool3d", variants="", grad_name="MaxUnpool3DBackward0", guard=_places_exist)
def max_unpool3d(input, indices, /, output_size=()):
    """Elements put where ``indices`` says, zeros elsewhere."""
    _check_unpool(input, indices, 3)
    return _unpool(input, indices, output_size)


# -------------------------------------------------------------------------------------- averages


def _window_count(n, out, kernel, stride, padding, include_pad) -> np.ndarray:
    """How many elements each window counts as having."""
    start = np.arange(out) * stride - padding
    stop = np.minimum(start + kernel, n + padding)
    if not include_pad:
        start, stop = np.maximum(start, 0), np.minimum(stop, n)
    return stop - start


def _check_volume(input, kernel) -> None:
    """What PyTorch checks for volumes alone."""
    if input.ndim not in (4, 5):
        raise RuntimeError("non-empty 4D or 5D (batch mode) tensor expected for input")
    if 0 in input.shape[input.ndim - 4 :]:
        _refuse_empty_volume("avg_pool3d()", input)
    if any(n < k for n, k in zip(input.shape[-3:], kernel)):
        sizes, windows = (" ".join(f"{name}: {n}" for name, n in zip(names, numbers)) for names, numbers in (
            (("T", "H", "W"), input.shape[-3:]), (("kT", "kH", "kW"), kernel)))
        raise RuntimeError(f"input image ({sizes}) smaller than kernel size ({windows})")


def _avg_pool(input, dims, kernel, stride, padding, ceil_mode, count_include_pad, divisor):
    if dims == 2 and input.ndim == 2:
        raise IndexError("Dimension out of range (expected to be in range of [-2, 1], but got -3)")
    ones = (1,) * dims
    _check_window(kernel, stride, padding, ones)
    if dims == 3:
        _check_volume(input, kernel)
    if divisor == 0:
        raise RuntimeError("divisor must be not zero")
    # Of the integer dtypes PyTorch's kernels support the widest only.
    refused = (BOOL, COMPLEX) if input.dtype == np.int64 else (BOOL, INTEGER, COMPLEX)
    refuse("avg_pool2d" if dims == 2 else "avg_pool3d_out_frame", input, *refused)
    _check_batch(input, dims)
    spatial = input.shape[-dims:]
    out = tuple(
        pooled_size(n, k, s, p, 1, ceil_mode)
        for n, k, s, p in zip(spatial, kernel, stride, padding)
    )
    _check_size(input, out)
    windows = list(zip(spatial, out, kernel, stride, padding))
    whole = kernel == stride and not any(padding) and all(n == m * k for n, m, k, *_ in windows)
    if whole and not is_integral(input):
        return _tile_sums(input, kernel) * (1.0 / (divisor or math.prod(kernel)))
    total = input
    for axis, (_, m, k, s, p) in enumerate(windows, input.ndim - dims):
        total = window_sums(total, axis, k, s, p, m)
    counts = functools.reduce(
        np.multiply.outer, [_window_count(*w, count_include_pad) for w in windows]
    )
    if divisor is not None:
        counts = np.full_like(counts, divisor)
    if is_integral(input):
        return jax.lax.div(total, jnp.broadcast_to(jnp.asarray(counts, total.dtype), total.shape))
    return total / jnp.asarray(counts, total.dtype)


def _tile_sums(x, kernel):
    """Sums over windows that tile the last dimensions; channels last inside where there is a batch."""
    dims = len(kernel)
    batched = x.ndim == dims + 2
    x = channels_last(x) if batched else x
    at = 1 if batched else x.ndim - dims
    spatial, rest = x.shape[at : at + dims], x.shape[at + dims :]
    pairs = (v for n, k in zip(spatial, kernel) for v in (n // k, k))
    sums = x.reshape(*x.shape[:at], *pairs, *rest).sum(range(at + 1, at + 2 * dims, 2))
    return channels_first(sums) if batched else sums


_AVG = dict(promote="default", broadcast=False, variants="", saves=("input",))


@op(name="_avg_pool2d", grad_name="AvgPool2DBackward0", layout="channels", **_AVG)
def avg_pool2d(
    input, /, kernel=(), stride=(), padding=(), ceil_mode=False, count_include_pad=True,
    divisor_override=None,
):
    """Mean of each window of the last two dimensions."""
    return _avg_pool(
        input, 2, kernel, stride, padding, ceil_mode, count_include_pad, divisor_override
    )


@op(name="_avg_pool3d", grad_name="AvgPool3DBackward0", layout="contiguous", **_AVG)
def avg_pool3d(
    input, /, kernel=(), stride=(), padding=(), ceil_mode=False, count_include_pad=True,
    divisor_override=None,
):
    """Mean of each window of the last three dimensions."""
    return _avg_pool(
        input, 3, kernel, stride, padding, ceil_mode, count_include_pad, divisor_override
    )


def _adaptive_avg(input, sizes):
    dims = len(sizes)
    if 0 in input.shape or 0 in sizes:
        return jnp.zeros((*input.shape[:-dims], *sizes), input.dtype)
    if all(n % m == 0 for n, m in zip(input.shape[-dims:], sizes)):
        kernel = tuple(n // m for n, m in zip(input.shape[-dims:], sizes))
        return _tile_sums(input, kernel) * (1.0 / math.prod(kernel))
    for axis, (n, m) in enumerate(zip(input.shape[-dims:], sizes), input.ndim - dims):
        start, stop = _adaptive_bounds(n, m)
        size = (stop - start)[:, None]
        positions = start[:, None] + np.arange(size.max(initial=1))
        shares = np.broadcast_to(1 / np.maximum(size, 1), positions.shape)
        input = weighted_sums(input, axis, np.minimum(positions, n - 1), shares, positions < stop[:, None])
    return input


@op(name="_adaptive_avg_pool2d", grad_name="AdaptiveAvgPool2DBackward0", layout="channels", **_AVG,
    complex_grad="_adaptive_avg_pool2d", underived=_no_gradient_of_nothing("adaptive_avg_pool2d"))
def adaptive_avg_pool2d(input, /, output_size: Integers = ()):
    """Means over ``output_size`` windows of the last two dimensions."""
    _check_adaptive("adaptive_avg_pool2d", input, 2, "", whole=False)
    if input.size and 0 not in output_size:  # for none PyTorch needs no kernel
        refuse("adaptive_avg_pool2d", input, BOOL, INTEGER, COMPLEX)
    return _adaptive_avg(input, output_size)


@op(name="_adaptive_avg_pool3d", grad_name="AdaptiveAvgPool3DBackward0", layout="contiguous", **_AVG,
    underived=_no_gradient_of_nothing("adaptive_avg_pool3d"))
def adaptive_avg_pool3d(input, /, output_size: Integers = ()):
    """Means over ``output_size`` windows of the last three dimensions."""
    _check_adaptive("adaptive_avg_pool3d", input, 3, "")
    refuse("adaptive_avg_pool3d_cpu", input, BOOL, INTEGER, COMPLEX)
    return _adaptive_avg(input, output_size)
