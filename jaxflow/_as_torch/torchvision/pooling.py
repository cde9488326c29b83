"""Pooling of the regions of images that boxes show, into grids of bins.

A bilinear sample is the product of one weight for its row and one for its column, and so is a mean over a
grid of samples. So a region's bins are ``rows @ image @ columns``, with the weights of all rows for each row
of bins, and of all columns for each column of bins. Where the number of samples is known beforehand, most of
those weights are zero: then only the rows and columns beside a sample are read.
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np

from jaxflow._ops._support import wide
from jaxflow._ops.matmul import HIGHEST
from jaxflow._plans.op import op

#: How many elements of an intermediate result regions are pooled at once for.
_AT_ONCE = 1 << 24
#: The same where parts of the image are gathered, which is quickest in the second cache or not far from it.
_GATHERED = 1 << 20


def check(input, rois) -> None:
    """Raise RuntimeError unless they have four and two dimensions, one dtype, and five numbers a region."""
    if rois.ndim != 2 or rois.shape[1] != 5:
        raise RuntimeError("rois must have shape as Tensor[K, 5]")
    if input.ndim != 4:
        raise RuntimeError(f"Expected a four-dimensional input, but got one of {input.ndim} dimensions")
    if input.dtype != rois.dtype:
        raise RuntimeError(f"Expected tensor for input to have the same type as tensor for rois; but type "
                           f"{input.dtype} does not equal {rois.dtype}")


def check_sensitive(input, rois, bins) -> None:
    """The same, and that each bin has its channels."""
    check(input, rois)
    if input.shape[1] % (bins[0] * bins[1]):
        raise RuntimeError("input channels must be a multiple of pooling height * pooling width")


def _by_chunks(fn, regions, each, most=_AT_ONCE):
    """``fn`` of arrays with a row a region, which takes ``each`` elements inside: as many at once as fit."""
    count = len(regions[0])
    at_once = max(1, most // max(each, 1))
    return fn(regions) if count <= at_once else _mapped(fn, regions, at_once)


def _mapped(fn, regions, at_once):
    """``fn`` of parts of the regions, one after the other. Rows of zeros fill up the last part."""
    count = len(regions[0])
    parts = -(-count // at_once)
    more = parts * at_once - count
    filled = [jnp.concatenate([r, jnp.zeros((more, *r.shape[1:]), r.dtype)]) for r in regions]
    result = jax.lax.map(fn, tuple(f.reshape(parts, at_once, *f.shape[1:]) for f in filled))
    return jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:])[:count], result)


def sample_weights(start, size, samples, bins, n, most=None):
    """What each of ``n`` rows counts for in each of ``bins`` bins: the sum over samples; ``(K, bins, n)``.

    Args:
        start: where the first bin begins, ``(K,)``.
        size: of one bin, ``(K,)``.
        samples: how many there are in a bin, ``(K,)``.
        bins: their number.
        n: the number of rows.
        most: the largest number of samples, if it does not hang on the regions.
    """
    first = start[:, None] + jnp.arange(bins, dtype=start.dtype) * size[:, None]
    rows = jnp.arange(n, dtype=start.dtype)

    def with_sample(i, total):
        at = first + (i + 0.5) * (size / samples)[:, None]
        inside = (at >= -1) & (at <= n) & (i < samples[:, None])
        at = jnp.clip(at, 0, n - 1)[..., None]
        return total + jnp.where(inside[..., None], jnp.maximum(0, 1 - jnp.abs(at - rows)), 0)

    weights = jnp.zeros((*first.shape, n), start.dtype)
    if most is not None and most <= 4:
        for i in range(most):
            weights = with_sample(i, weights)
        return weights
    most = jnp.max(samples, initial=0).astype(np.int32) if most is None else most
    return jax.lax.fori_loop(0, most, lambda i, total: with_sample(i.astype(start.dtype), total), weights)


def _extents(rois, scale, bins, offset, shape, least):
    """Where regions start and what size they have, the number of bins and of elements: of rows, of columns.

    ``least`` is the smallest size of a region, None for any.
    """
    for low, n_bins, n in ((2, bins[0], shape[0]), (1, bins[1], shape[1])):
        start, end = rois[:, low] * scale - offset, rois[:, low + 2] * scale - offset
        yield start, end - start if least is None else jnp.maximum(end - start, least), n_bins, n


def align_weights(rois, scale, bins, ratio, offset, shape, least):
    """The weights of rows and of columns; ``least`` is the smallest size of a region, None for any."""
    found = []
    for start, extent, n_bins, n in _extents(rois, scale, bins, offset, shape, least):
        samples = jnp.full_like(extent, ratio) if ratio > 0 else jnp.ceil(extent / n_bins)
        most = ratio if ratio > 0 else None
        weights = sample_weights(start, extent / n_bins, samples, n_bins, n, most)
        found.append(weights / samples[:, None, None])
    return found


def beside_samples(start, size, samples, bins, n):
    """The rows beside each sample of each bin, and what each counts for: two of ``(K, bins, 2 samples)``.

    The arguments are those of `sample_weights`, but ``samples`` is one number; it divides the weights.
    """
    step = (size / samples)[:, None, None]
    first = start[:, None, None] + jnp.arange(bins, dtype=start.dtype)[:, None] * size[:, None, None]
    at = first + (jnp.arange(samples, dtype=start.dtype) + 0.5) * step
    inside = (at >= -1) & (at <= n)
    at = jnp.clip(jnp.where(inside, at, 0), 0, n - 1)
    low = jnp.floor(at)
    part = at - low
    rows = jnp.concatenate([low, jnp.minimum(low + 1, n - 1)], -1).astype(np.int32)
    weights = jnp.concatenate([jnp.where(inside, 1 - part, 0), jnp.where(inside, part, 0)], -1)
    return rows, weights / samples


def gathered(input, images, rows, columns):
    """Each region's bins of all channels, ``(K, C, rows, columns)``, from the elements beside its samples.

    ``rows`` and ``columns`` are what `beside_samples` returns.
    """
    n, c, h, w = input.shape
    pixels = jnp.moveaxis(input, 1, -1).reshape(n * h * w, c)
    bins = rows[0].shape[1], columns[0].shape[1]
    taps = rows[0].shape[2] * columns[0].shape[2]

    def of(regions):
        images, y, y_weights, x, x_weights = regions
        at = (images[:, None, None] * h + y)[:, :, None, :, None] * w + x[:, None, :, None, :]
        weights = y_weights[:, :, None, :, None] * x_weights[:, None, :, None, :]
        found = pixels.at[at.reshape(-1, *bins, taps)].get(mode="clip")
        return jnp.einsum("kpqt,kpqtc->kpqc", weights.reshape(-1, *bins, taps), found, precision=HIGHEST)

    images = jnp.clip(images, 0, n - 1)
    bins_last = _by_chunks(of, (images, *rows, *columns), math.prod(bins) * taps * c, _GATHERED)
    return jnp.moveaxis(bins_last, -1, 1)


def weighted(input, images, rows, columns):
    """Each region's bins of all channels, ``(K, C, rows, columns)``."""
    n, c, h, w = input.shape

    def of(regions):
        images, rows, columns = regions
        if n == 1:
            partly = jnp.einsum("kph,chw->kcpw", rows, input[0], precision=HIGHEST)
        else:
            partly = jnp.einsum("kph,kchw->kcpw", rows, input[images], precision=HIGHEST)
        return jnp.einsum("kcpw,kqw->kcpq", partly, columns, precision=HIGHEST)

    return _by_chunks(of, (images, rows, columns), c * w * (rows.shape[1] + h * (n > 1)))


def weighted_sensitive(input, images, rows, columns):
    """The same where each bin has channels of its own, ``(K, C / bins, rows, columns)``."""
    n, c, h, w = input.shape
    p, q = rows.shape[1], columns.shape[1]
    apart = input.reshape(n, c // (p * q), p, q, h, w)

    def of(regions):
        images, rows, columns = regions
        partly = jnp.einsum("kph,kcpqhw->kcpqw", rows, apart[images], precision=HIGHEST)
        return jnp.einsum("kcpqw,kqw->kcpq", partly, columns, precision=HIGHEST)

    return _by_chunks(of, (images, rows, columns), c * w * (h + 1))


def _roi_align(input, rois, scale, bins, ratio, aligned):
    # Samples are at least one here: a region of no size counts as one sample of weight zero.
    where, images = wide(rois), rois[:, 0].astype(np.int32)
    about = where, scale, bins
    move, least = (0.5, None) if aligned else (0.0, 1.0)
    if 0 < ratio and 4 * ratio * ratio * math.prod(bins) <= math.prod(input.shape[2:]):
        rows, columns = (beside_samples(start, extent / n_bins, ratio, n_bins, n) for start, extent, n_bins, n
                         in _extents(*about, move, input.shape[2:], least))
        return gathered(wide(input), images, rows, columns).astype(input.dtype)
    rows, columns = align_weights(*about, ratio, move, input.shape[2:], least)
    rows, columns = (jnp.where(jnp.isfinite(x), x, 0) for x in (rows, columns))
    return weighted(wide(input), images, rows, columns).astype(input.dtype)


def _ps_roi_align(input, rois, scale, bins, ratio):
    rows, columns = align_weights(wide(rois), scale, bins, ratio, 0.5, input.shape[2:], None)
    return weighted_sensitive(wide(input), rois[:, 0].astype(np.int32), rows, columns).astype(input.dtype)


def _rounded(x):
    """The nearest integer, of two the one away from zero."""
    return (jnp.sign(x) * jnp.floor(jnp.abs(x) + 0.5)).astype(np.int32)


def bin_ends(low, high, bins, n, dtype, ends_included):
    """Where each bin of regions begins and ends, in whole rows from ``0`` to ``n``: two of ``(K, bins)``."""
    extent = jnp.maximum(high - low + ends_included, 1)
    size = extent.astype(dtype) / jnp.asarray(bins, dtype)
    number = jnp.arange(bins, dtype=dtype)
    first = jnp.floor(number * size[:, None]).astype(np.int32) + low[:, None]
    last = jnp.ceil((number + 1) * size[:, None]).astype(np.int32) + low[:, None]
    return jnp.clip(first, 0, n), jnp.clip(last, 0, n)


def _ps_roi_pool(input, rois, scale, bins):
    # Bins end before the last row and column, as torchvision's do.
    place = wide(rois)
    found = []
    for low, n_bins, n in ((2, bins[0], input.shape[2]), (1, bins[1], input.shape[3])):
        ends = _rounded(place[:, low] * scale), _rounded(place[:, low + 2] * scale)
        first, last = bin_ends(*ends, n_bins, n - 1, place.dtype, 0)
        row = jnp.arange(n, dtype=np.int32)
        inside = (row >= first[..., None]) & (row < last[..., None])
        found.append(inside.astype(place.dtype) / jnp.maximum(last - first, 1)[..., None].astype(place.dtype))
    return weighted_sensitive(wide(input), rois[:, 0].astype(np.int32), *found).astype(input.dtype)


def _channels(count, channels, bins):
    """Which channel each bin shows, ``(K, C / bins, rows, columns)``."""
    one = jnp.arange(channels, dtype=np.int32).reshape(1, -1, *bins)
    return jnp.broadcast_to(one, (count, *one.shape[1:]))


def _vjp(pooled, grad, shape):
    """The gradient of the input, of that shape, of a function that is linear in it."""
    return jax.vjp(pooled, jnp.zeros(shape, grad.dtype))[1](grad)[0]


@op(variants="", name="torchvision_roi_align", differentiable=False)
def roi_align(input, rois, /, scale, bins, ratio, aligned):
    """Means of bilinear samples in the bins of regions (He et al., 2017); ``(K, C, *bins)``."""
    check(input, rois)
    return _roi_align(input, rois, scale, bins, ratio, aligned)


@op(variants="", name="torchvision_roi_align_backward", differentiable=False)
def roi_align_backward(grad, rois, /, scale, bins, shape, ratio, aligned):
    """The gradient of `roi_align`'s input."""
    return _vjp(lambda x: _roi_align(x, rois, scale, bins, ratio, aligned), grad, shape)


@op(variants="", name="torchvision_ps_roi_align", differentiable=False)
def ps_roi_align(input, rois, /, scale, bins, ratio):
    """`roi_align` where each bin has its channels, and the channels (Dai et al., 2016; Li et al., 2017)."""
    check_sensitive(input, rois, bins)
    return _ps_roi_align(input, rois, scale, bins, ratio), _channels(len(rois), input.shape[1], bins)


@op(variants="", name="torchvision_ps_roi_align_backward", differentiable=False)
def ps_roi_align_backward(grad, rois, /, scale, bins, shape, ratio):
    """The gradient of `ps_roi_align`'s input."""
    return _vjp(lambda x: _ps_roi_align(x, rois, scale, bins, ratio), grad, shape)


@op(variants="", name="torchvision_ps_roi_pool", differentiable=False)
def ps_roi_pool(input, rois, /, scale, bins):
    """Means over the bins of regions where each bin has its channels, and the channels (Dai et al., 2016)."""
    check_sensitive(input, rois, bins)
    return _ps_roi_pool(input, rois, scale, bins), _channels(len(rois), input.shape[1], bins)


@op(variants="", name="torchvision_ps_roi_pool_backward", differentiable=False)
def ps_roi_pool_backward(grad, rois, /, scale, bins, shape):
    """The gradient of `ps_roi_pool`'s input, also at the last row and column: of what it computes."""
    return _vjp(lambda x: _ps_roi_pool(x, rois, scale, bins), grad, shape)


@op(variants="", name="torchvision_roi_pool", differentiable=False)
def roi_pool(input, rois, /, scale, bins):
    """The largest elements in the bins of regions (Girshick, 2015), and where they are in their images.

    A bin without elements has zero, and the place -1.
    """
    check(input, rois)
    n, c, h, w = input.shape
    place = wide(rois)
    ends = []
    for low, n_bins, size in ((2, bins[0], h), (1, bins[1], w)):
        edges = _rounded(place[:, low] * scale), _rounded(place[:, low + 2] * scale)
        ends += bin_ends(*edges, n_bins, size, place.dtype, 1)

    def of(regions):
        images, top, bottom, left, right = regions
        x = input[images]
        at, over = jnp.arange(w, dtype=np.int32), jnp.arange(h, dtype=np.int32)
        best, columns = [], []
        for q in range(bins[1]):  # over columns first: so of equal elements the first row by row is found
            inside = (at >= left[:, q, None]) & (at < right[:, q, None])
            masked = jnp.where(inside[:, None, None], x, -jnp.inf)
            columns.append(jnp.argmax(masked, -1).astype(np.int32))
            best.append(jnp.max(masked, -1))
        best, columns = jnp.stack(best, -1), jnp.stack(columns, -1)
        values, places = [], []
        for p in range(bins[0]):
            inside = (over >= top[:, p, None]) & (over < bottom[:, p, None])
            masked = jnp.where(inside[:, None, :, None], best, -jnp.inf)
            row = jnp.argmax(masked, 2).astype(np.int32)[:, :, None]
            values.append(jnp.max(masked, 2))
            places.append((row * np.int32(w) + jnp.take_along_axis(columns, row, 2))[:, :, 0])
        empty = ((bottom <= top)[:, None, :, None]) | ((right <= left)[:, None, None])
        values, places = jnp.stack(values, 2), jnp.stack(places, 2)
        return jnp.where(empty, 0, values).astype(input.dtype), jnp.where(empty, -1, places).astype(np.int32)

    return _by_chunks(of, (rois[:, 0].astype(np.int32), *ends), c * h * (w + 2 * bins[1]))


@op(variants="", name="torchvision_roi_pool_backward", differentiable=False)
def roi_pool_backward(grad, rois, argmax, /, shape):
    """The gradient of `roi_pool`'s input."""
    n, c, h, w = shape
    images = rois[:, 0].astype(np.int32)[:, None, None, None]
    channels = jnp.arange(c, dtype=np.int32)[:, None, None]
    there = argmax >= 0
    flat = jnp.zeros((n, c, h * w), grad.dtype)
    at = jnp.where(there, argmax, 0)
    return flat.at[images, channels, at].add(jnp.where(there, grad, 0)).reshape(shape)
