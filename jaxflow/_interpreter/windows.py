"""Sliding windows: convolutions as one product of matrices, and pools as combinations of strided slices."""

from __future__ import annotations

import itertools
import math

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from .numbers import BOOL, COMPLEX, HALVES, wide_of
from .reductions import greatest_of, least_of
from .shaping import padder
from .table import rule

#: Along one axis, windows longer than this are reduced as views, not as the combination of their slices.
LONG = 64
#: Elements of the windows of a convolution that are laid out at a time: with the kernel they stay in cache.
AT_A_TIME = 1 << 19
#: With fewer positions than this the windows of all images are the rows of one product.
FEW_COLUMNS = 64


# ----- convolution --------------------------------------------------------------------------------


@rule("conv_general_dilated")
def _conv_general_dilated(site):
    """The windows of the input as rows (im2col), times the kernel as a matrix; group by group.

    Without groups they are columns, and a part at a time: `_planar`. Groups of features, and groups of the
    batch (gradients of the former), are one more axis of both. Where a group has one input feature
    (depthwise) nothing is summed but the window: the products are added up offset by offset.
    """
    params, (lhs, rhs) = site.params, site.ins
    lhs_spec, rhs_spec, out_spec = params["dimension_numbers"]
    feature_groups, batch_groups = params["feature_group_count"], params["batch_group_count"]
    strides, dilation = params["window_strides"], params["rhs_dilation"]
    dtype, shape = site.dtype, site.outs[0].shape
    if 0 in lhs.shape or 0 in rhs.shape or 0 in shape or dtype == BOOL:
        return None
    wide = wide_of(dtype)
    if feature_groups == batch_groups == 1 and wide.kind == "f":
        return _planar(site, wide)
    spatial = range(2, len(lhs.shape))
    # Layouts inside: input (batch, *space, features), kernel (*space, in, out).
    lhs_order = (lhs_spec[0], *(lhs_spec[d] for d in spatial), lhs_spec[1])
    rhs_order = (*(rhs_spec[d] for d in spatial), rhs_spec[1], rhs_spec[0])
    batch, features = lhs.shape[lhs_spec[0]], lhs.shape[lhs_spec[1]]
    kernel = tuple(rhs.shape[rhs_spec[d]] for d in spatial)
    inner, outer = rhs.shape[rhs_spec[1]], rhs.shape[rhs_spec[0]]
    space = tuple(shape[out_spec[d]] for d in spatial)
    arranged = tuple(lhs.shape[d] for d in lhs_order)
    edges = zip(params["padding"], params["lhs_dilation"])
    config = [(0, 0, 0), *((low, high, gap - 1) for (low, high), gap in edges), (0, 0, 0)]
    pad = padder(arranged, config, wide)
    groups = max(feature_groups, batch_groups)
    rest_batch, rest_outer = batch // batch_groups, outer // groups
    out_order = [0] * len(shape)  # from (batch, *space, features)
    for position, axis in enumerate((out_spec[0], *(out_spec[d] for d in spatial), out_spec[1])):
        out_order[axis] = position
    out_order = tuple(out_order)
    extent = tuple((k - 1) * d + 1 for k, d in zip(kernel, dilation))
    axes = tuple(range(1, 1 + len(kernel)))
    pick = (slice(None), *(slice(0, (n - 1) * s + 1, s) for n, s in zip(space, strides)), slice(None),
            *(slice(None, None, d) for d in dilation))
    dot_size = math.prod(kernel) * inner

    def columns(x):
        """(group, batch and space, window and features)"""
        if kernel != (1,) * len(kernel):
            view = sliding_window_view(x, extent, axes)[pick]  # batch, *space, features, *window
            view = np.moveaxis(view, 1 + len(kernel), -1)
        else:
            view = x[pick[:2 + len(kernel)]].reshape(batch, *space, *kernel, features)
        if groups == 1:
            return view.reshape(1, batch * math.prod(space), dot_size)
        if feature_groups > 1:
            view = np.moveaxis(view.reshape(*view.shape[:-1], groups, inner), -2, 0)
        else:
            view = view.reshape(groups, *(rest_batch, *view.shape[1:]))
        return view.reshape(groups, rest_batch * math.prod(space), dot_size)

    def matrices(w):
        """(group, window and features, features)"""
        w = w.reshape(dot_size, groups, rest_outer)
        return w.transpose(1, 0, 2)

    def by_offsets(x, w):
        """One input feature a group: those of the output are the input's, each ``rest_outer`` times."""
        w = w.reshape(*kernel, groups, rest_outer)
        out = np.zeros((batch, *space, groups, rest_outer), wide)
        for offset in itertools.product(*map(range, kernel)):
            part = x[(slice(None), *(slice(o * d, o * d + (n - 1) * s + 1, s)
                                     for o, d, n, s in zip(offset, dilation, space, strides)))]
            out += part[..., None] * w[offset]
        return out.reshape(batch, *space, outer)

    depthwise = feature_groups > 1 and inner == 1

    def conv(x, w):
        x = x.transpose(lhs_order)
        w = w.transpose(rhs_order)
        if x.dtype != wide:
            x = x.astype(wide)
        if w.dtype != wide:
            w = w.astype(wide)
        if pad is not None:
            x = pad(x, wide.type(0))
        if depthwise:
            out = by_offsets(x, w)
        else:
            out = np.matmul(columns(x), matrices(w))  # group, batch and space, features
            if groups == 1:
                out = out.reshape(batch, *space, outer)
            else:
                out = np.moveaxis(out, 0, 1).reshape(rest_batch, *space, outer)
        out = out.transpose(out_order)
        return out.astype(dtype) if dtype != wide else out

    return conv


def _planar(site, wide):
    """A convolution without groups, on operands that lie feature by feature: space goes last.

    So nothing is transposed but what the dimension numbers move. A part of the windows is laid out as the
    right matrix of a product with the kernel, or as the left one where the window is larger than the result
    (the gradients of kernels) or the results are many and small.
    """
    params, (lhs, rhs) = site.params, site.ins
    (lhs_spec, rhs_spec, out_spec), dtype, shape = params["dimension_numbers"], site.dtype, site.outs[0].shape
    strides, dilation, rank = params["window_strides"], params["rhs_dilation"], len(lhs.shape)
    batch = lhs.shape[lhs_spec[0]]
    outer, inner, *kernel = (rhs.shape[d] for d in rhs_spec)
    space = tuple(shape[d] for d in out_spec[2:])
    edges = zip(params["padding"], params["lhs_dilation"])
    config = [(0, 0, 0), (0, 0, 0), *((low, high, gap - 1) for (low, high), gap in edges)]
    pad = padder(tuple(lhs.shape[d] for d in lhs_spec), config, wide)
    extent = tuple((k - 1) * d + 1 for k, d in zip(kernel, dilation))
    pick = (slice(None), slice(None), *(slice(0, (n - 1) * s + 1, s) for n, s in zip(space, strides)),
            *(slice(None, None, d) for d in dilation))
    axes = tuple(range(2, rank))
    windows_in_front = (0, 1, *range(rank, 2 * rank - 2), *axes)
    dot_size, positions = inner * math.prod(kernel), math.prod(space)
    back = [0] * rank
    for position, axis in enumerate(out_spec):
        back[axis] = position
    back = tuple(back)
    pointwise = math.prod(kernel) == 1

    def laid_out(x):
        x = x.transpose(lhs_spec)
        if x.dtype != wide:
            x = x.astype(wide)
        if pad is not None:
            x = pad(x, wide.type(0))
        if pointwise:  # a view that takes no time to make
            return x[pick[:rank]].reshape(batch, inner, *(1,) * (rank - 2), *space)
        return sliding_window_view(x, extent, axes)[pick].transpose(windows_in_front)

    def matrix(w):
        w = w.transpose(rhs_spec).reshape(outer, dot_size)
        return w.astype(wide) if w.dtype != wide else w

    def by_columns(x, w):
        windows, w = laid_out(x), matrix(w)
        out = np.empty((batch, outer, positions), wide)
        lines = space[0] if rank > 2 and not pointwise else 1
        line = positions // lines
        step = max(1, AT_A_TIME // (dot_size * line)) if lines > 1 else 1
        whole = (slice(None),) * (rank - 1)
        for image in range(batch):
            if lines == 1:
                np.matmul(w, windows[image].reshape(dot_size, positions), out=out[image])
                continue
            for first in range(0, lines, step):
                part = windows[image][(*whole, slice(first, first + step))].reshape(dot_size, -1)
                np.matmul(w, part, out=out[image, :, first * line:(first + step) * line])
        return out.reshape(batch, outer, *space)

    def by_rows(x, w):
        windows, w = laid_out(x), matrix(w).T
        windows = windows.transpose(0, *range(rank, 2 * rank - 2), *range(1, rank))
        out = np.empty((batch, positions, outer), wide)
        step = max(1, AT_A_TIME // (dot_size * positions))
        for first in range(0, batch, step):
            part = windows[first:first + step].reshape(-1, dot_size)
            np.matmul(part, w, out=out[first:first + step].reshape(-1, outer))
        return np.moveaxis(out.reshape(batch, *space, outer), -1, 1)

    # Many products of few columns each take longer than one of all their rows.
    few_columns = batch > 4 and positions < FEW_COLUMNS
    run = by_rows if few_columns or math.prod(kernel) > positions else by_columns

    def conv(x, w):
        out = run(x, w).transpose(back)
        return out.astype(dtype) if dtype != wide else out

    return conv


# ----- windows that are reduced -------------------------------------------------------------------

_WINDOWED = {"reduce_window_sum": np.add, "reduce_window_max": np.maximum, "reduce_window_min": np.minimum}


@rule(*_WINDOWED)
def _reduce_window(site):
    """Axis by axis: the strided slices at each offset, combined."""
    params, ufunc, dtype = site.params, _WINDOWED[site.name], site.dtype
    if dtype in COMPLEX and ufunc is not np.add or 0 in site.ins[0].shape or 0 in site.outs[0].shape:
        return None
    if ufunc is np.add:
        filling, wide = 0, wide_of(dtype)
    else:
        filling, wide = (least_of if ufunc is np.maximum else greatest_of)(dtype), dtype
    if dtype in HALVES:
        wide = np.dtype(np.float32)
    filling = np.array(filling).astype(wide)[()]
    config = [(low, high, base - 1) for (low, high), base in zip(params["padding"], params["base_dilation"])]
    pad = padder(site.ins[0].shape, config, wide)
    passes = [(axis, size, stride, gap, count) for axis, (size, stride, gap, count) in enumerate(zip(
        params["window_dimensions"], params["window_strides"], params["window_dilation"], site.outs[0].shape))
        if size > 1 or stride > 1]

    def along(x, axis, size, stride, gap, count):
        front = (slice(None),) * axis
        if size > LONG:
            view = sliding_window_view(x, (size - 1) * gap + 1, axis)
            view = view[(*front, slice(0, (count - 1) * stride + 1, stride))]
            return ufunc.reduce(view[..., ::gap], -1, wide)
        parts = [x[(*front, slice(i * gap, i * gap + (count - 1) * stride + 1, stride))] for i in range(size)]
        if size == 1:
            return parts[0]
        found = ufunc(parts[0], parts[1])
        for part in parts[2:]:
            ufunc(found, part, out=found)
        return found

    def reduce_window(x):
        if x.dtype != wide:
            x = x.astype(wide)
        if pad is not None:
            x = pad(x, filling)
        for one in passes:
            x = along(x, *one)
        return x.astype(dtype) if dtype != wide else x

    return reduce_window
