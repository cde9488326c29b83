"""Maxima of windows: their values, where they stand, and the gradient, which goes there.

Measured on two cores, in ms, forward / gradient:

- maximum 2x2 of 32x32x32x32: 0.21 as the maximum of strided slices, 0.41 by reduce_window; gradient
  1.6 through the slices, 16 by jax's own rule. One scatter at the indices (0.7) is not much slower by
  itself than what is done here, a comparison with the number of the chosen tap, but in a network it
  needs both its operands and its result in another layout
- maxima of large windows are separable too: on one core 13x13 with stride 1 of 8x64x13x13 is there after
  0.16 s and takes 0.5 then, where a select for each of its 169 elements took 7 s and 11
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np

from ._support import is_float
from ._window import channels_first, channels_last, pad_at, shifted, taps
from ._xla import materialized, on_cpu


def _lowest(dtype):
    return -math.inf if jnp.issubdtype(dtype, np.floating) else np.iinfo(dtype).min


# Of windows with more elements the maxima are found along one dimension after the other.
_MOST_TAPS = 16


def _first_maximum(x, kernel, stride, padding, dilation, out, at):
    """Per window the value and the number of the tap of its first maximum; nan counts as largest.

    Spatial dimensions of ``x`` begin at ``at``.
    """
    spatial = x.shape[at : at + len(kernel)]
    pairs = _window_pads(spatial, kernel, stride, padding, dilation, out)
    count = math.prod(kernel)
    number = np.int8 if count < 128 else np.int32
    if count > _MOST_TAPS:
        return _first_by_dimension(x, pairs, kernel, stride, dilation, out, at, number)
    padded = pad_at(x, pairs, _lowest(x.dtype), at)
    best = chosen = found = None
    for k, tap in enumerate(taps(kernel)):
        seen = shifted(padded, tap, dilation, stride, out, at)
        inside = None
        if any(map(any, pairs)):
            inside = _inside(tap, spatial, stride, padding, dilation, out, at, x.ndim)
        if best is None:
            best, chosen, found = seen, jnp.zeros(seen.shape, number), inside
            continue
        better = (seen > best) | _isnan(seen)
        if found is not None:
            # All of a window may be -inf: its first element inside the input is then meant.
            better = (better | ~found) & inside
            found = found | inside
        best = jnp.where(better, seen, best)
        chosen = jnp.where(better, number(k), chosen)
    return best, chosen


def _first_by_dimension(x, pairs, kernel, stride, dilation, out, at, number):
    """`_first_maximum` along one dimension after the other, the last one first."""
    best, chosen, taps_within = materialized(x), None, 1
    for i in reversed(range(len(kernel))):
        axis = at + i
        inside = np.pad(np.ones(x.shape[axis], np.bool_), pairs[i]) if any(pairs[i]) else None
        best = pad_at(best, pairs[i : i + 1], _lowest(x.dtype), axis)
        if chosen is not None:
            chosen = pad_at(chosen, pairs[i : i + 1], 0, axis)
        best, chosen = _first_along(
            best, chosen, inside, axis, kernel[i], stride[i], dilation[i], out[i], number, taps_within)
        taps_within *= kernel[i]
    return best, chosen


def _first_along(best, chosen, inside, axis, kernel, stride, dilation, out, number, taps_within):
    """The first maxima of windows along one dimension, from those of windows half as wide.

    Two of these overlap in the end, which changes nothing: of equal maxima the first one is taken. A step in
    this dimension adds ``taps_within`` to the numbers ``chosen``, which None says are all zero: as an array
    of zeros XLA would compute with them while it compiles. ``inside`` says, for each place along the
    dimension, whether it is one of the input, or part of it is.

    What lies behind the dimension is taken as one with it: over short last dimensions XLA unrolls its loops,
    which takes it a second to compile.
    """
    before, after = best.shape[:axis], best.shape[axis + 1 :]
    lead, places, rest = math.prod(before), best.shape[axis], math.prod(after)

    def seen(x, start, count, step):
        if step == 1:
            return jax.lax.slice_in_dim(x, start * rest, (start + count) * rest, axis=1)
        x = x.reshape(lead, -1, rest)
        return jax.lax.slice_in_dim(x, start, start + (count - 1) * step + 1, step, 1).reshape(lead, -1)

    def spread(places):
        return jnp.broadcast_to(jnp.asarray(places)[:, None], (len(places), rest)).reshape(-1)

    best = best.reshape(lead, -1)
    chosen = None if chosen is None else chosen.reshape(lead, -1)
    width = 1
    while width < kernel:
        last = 2 * width >= kernel
        gap = kernel - width if last else width
        places, step = (out, stride if out > 1 else 1) if last else (places - gap * dilation, 1)
        left, right = (seen(best, k * dilation, places, step) for k in (0, gap))
        better = (right > left) | _isnan(right)
        if inside is not None:
            one, other = (inside[k * dilation :][: (places - 1) * step + 1 : step] for k in (0, gap))
            better = (better | spread(~one)) & spread(other)
            inside = one | other
        one, other = (
            number(0) if chosen is None else seen(chosen, k * dilation, places, step) for k in (0, gap))
        chosen = jnp.where(better, other + number(gap * taps_within), one)
        best = jnp.where(better, right, left)
        if not last:
            best, chosen = materialized(best), materialized(chosen)
        width += gap
    if kernel == 1:
        best, chosen = (x if x is None else seen(x, 0, out, stride) for x in (best, chosen))
    shape = (*before, out, *after)
    return best.reshape(shape), None if chosen is None else chosen.reshape(shape)


def _window_pads(spatial, kernel, stride, padding, dilation, out):
    """How far the windows reach beyond the input, before and after it; nothing is cropped."""
    return [
        (p, max(0, (m - 1) * s + d * (k - 1) + 1 - n - p))
        for p, m, s, d, k, n in zip(padding, out, stride, dilation, kernel, spatial)
    ]


def _inside(tap, spatial, stride, padding, dilation, out, at, ndim):
    """Whether a tap lies inside the input, in a shape that broadcasts over all outputs."""
    inside = None
    for axis, (k, d, s, p, n, m) in enumerate(zip(tap, dilation, stride, padding, spatial, out), at):
        where = jax.lax.iota(np.int32, m) * s + (k * d - p)
        ok = jnp.expand_dims((where >= 0) & (where < n), [i for i in range(ndim) if i != axis])
        inside = ok if inside is None else inside & ok
    return inside


def _isnan(x):
    return jnp.isnan(x) if is_float(x) else jnp.zeros((), np.bool_)


def take_flat(x, index, dims):
    """Elements of ``x`` at positions ``index`` in its last ``dims`` dimensions taken as one."""
    lead = x.shape[: x.ndim - dims]
    count, area = math.prod(lead), math.prod(x.shape[x.ndim - dims :])
    rows = np.arange(count, dtype=np.int32)[:, None] * np.int32(area)
    picks = math.prod(index.shape[x.ndim - dims :])
    where = rows + index.reshape(count, picks).astype(np.int32)
    found = x.reshape(-1).at[where].get(mode="promise_in_bounds")
    return found.reshape(*lead, *index.shape[x.ndim - dims :])


def max_with_indices(x, kernel, stride, padding, dilation, out):
    """Maxima of the windows and their flat positions; see the module's notes on the gradient."""
    how = (kernel, stride, padding, dilation, out)
    dims = len(kernel)
    if not on_cpu() or 0 in x.shape:
        best, index = _pool_at(x, x.ndim - dims, *how)
        return best, index
    batched = x if x.ndim == dims + 2 else x[None]
    best, index = (channels_first(y) for y in _pool_at(channels_last(batched), 1, *how))
    return (best, index) if x.ndim == dims + 2 else (best[0], index[0])


def _pool_at(x, at, kernel, stride, padding, dilation, out):
    """`max_with_indices` of an array whose spatial dimensions begin at ``at``."""
    how = (kernel, stride, padding, dilation, out, at)

    @jax.custom_jvp
    def pool(x):
        return _first_maximum(x, *how)

    @pool.defjvp
    def tangent(primals, tangents):
        best, chosen = pool(*primals)
        zero = np.zeros(chosen.shape, jax.dtypes.float0)
        return (best, chosen), (_chosen_of(tangents[0], chosen, *how), zero)

    best, chosen = pool(x)
    spatial = x.shape[at : at + len(kernel)]
    return best, _flat_position(chosen, spatial, kernel, stride, padding, dilation, at)


def _flat_position(chosen, spatial, kernel, stride, padding, dilation, at):
    """Where in the input, its spatial dimensions taken as one, the taps numbered ``chosen`` stand."""
    chosen = chosen.astype(np.int32)
    index, number = 0, math.prod(kernel)
    for axis, (k, s, p, d) in enumerate(zip(kernel, stride, padding, dilation), at):
        number //= k
        start = jax.lax.broadcasted_iota(np.int32, chosen.shape, axis) * s - p
        index = index * spatial[axis - at] + start + jax.lax.rem(chosen // number, np.int32(k)) * d
    return index.astype(np.int64)


# More shifts than this, and one scatter is quicker than their sum.
_MOST_SHIFTS = 16


def _chosen_of(x, chosen, kernel, stride, padding, dilation, out, at):
    """The element of each window whose tap has the number ``chosen``.

    It is written for its transpose, the gradient: the padded input as blocks of one stride each, of which a
    window overlaps a few neighbours; in each of these the chosen element is selected by comparison.
    """
    dims = len(kernel)
    spatial = x.shape[at : at + dims]
    blocks = [d * (k - 1) // s + 1 for k, d, s in zip(kernel, dilation, stride)]
    if math.prod(blocks) > _MOST_SHIFTS:
        index = _flat_position(chosen, spatial, kernel, stride, padding, dilation, at)
        last = range(at + dims, x.ndim)
        order = [*range(at), *last, *range(at, at + dims)]
        taken = take_flat(x.transpose(order), index.transpose(order), dims)
        return taken.transpose([order.index(i) for i in range(x.ndim)])
    size = [(m + b - 1) * s for m, b, s in zip(out, blocks, stride)]
    x = pad_at(x, [(p, n - p - have) for p, n, have in zip(padding, size, spatial)], 0, at)
    lead, rest = x.shape[:at], x.shape[at + dims :]
    x = x.reshape(*lead, *(v for n, s in zip(size, stride) for v in (n // s, s)), *rest)
    inner = tuple(range(at + 1, at + 2 * dims, 2))
    chosen = jnp.expand_dims(chosen, inner)
    if math.prod(blocks) > 1:
        # Else XLA looks for the maximum again in each block.
        chosen = materialized(chosen)
    total = 0
    for block in taps(blocks):
        part = x
        for axis, (b, m) in zip(range(at, at + 2 * dims, 2), zip(block, out)):
            part = jax.lax.slice_in_dim(part, b, b + m, axis=axis)
        numbers = jnp.expand_dims(
            _tap_numbers(block, kernel, stride, dilation).astype(chosen.dtype),
            [i for i in range(part.ndim) if i not in inner],
        )
        total = total + jnp.where(chosen == numbers, part, 0).sum(inner, dtype=x.dtype)
    return total


def _tap_numbers(block, kernel, stride, dilation) -> np.ndarray:
    """The numbers of the taps that fall on each place of a block of one stride, -1 where none does."""
    number = np.zeros((1,) * len(kernel), np.int64)
    hit = np.ones_like(number, np.bool_)
    for axis, (b, k, s, d) in enumerate(zip(block, kernel, stride, dilation)):
        offset = b * s + np.arange(s)
        shape = [s if i == axis else 1 for i in range(len(kernel))]
        number = number * k + (offset // d).reshape(shape)
        hit = hit & ((offset % d == 0) & (offset // d < k)).reshape(shape)
    return np.where(hit, number, -1)
