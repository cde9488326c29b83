"""Convolution whose kernel takes elements at shifted places (Dai et al., 2017; masks: Zhu et al., 2018)."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from jaxflow._ops._support import wide
from jaxflow._ops.matmul import HIGHEST
from jaxflow._plans.op import op


def _corner(flat, row, column, h, w):
    """The elements at whole places, zero outside; images ``(N, G, C, h * w)``, places ``(N, G, L)``."""
    inside = (row >= 0) & (row < h) & (column >= 0) & (column < w)
    at = jnp.clip(row, 0, h - 1).astype(np.int32) * w + jnp.clip(column, 0, w - 1).astype(np.int32)
    return jnp.where(inside[:, :, None], jnp.take_along_axis(flat, at[:, :, None], 3), 0)


def _sampled(x, rows, columns):
    """Bilinear samples of ``(N, C, h, w)`` at places ``(N, G, L)``, each for its group of channels."""
    n, c, h, w = x.shape
    groups = rows.shape[1]
    flat = x.reshape(n, groups, c // groups, h * w)
    top, left = jnp.floor(rows), jnp.floor(columns)
    down, across = (rows - top)[:, :, None], (columns - left)[:, :, None]
    upper, lower = (
        (1 - across) * _corner(flat, row, left, h, w) + across * _corner(flat, row, left + 1, h, w)
        for row in (top, top + 1))
    inside = (rows > -1) & (rows < h) & (columns > -1) & (columns < w)
    return jnp.where(inside[:, :, None], (1 - down) * upper + down * lower, 0)


def _convolved(input, weight, offset, mask, bias, stride, pad, dilation, groups, offset_groups, use_mask):
    n, c, h, w = input.shape
    c_out, _, kh, kw = weight.shape
    oh, ow = (1 + (size + 2 * p - d * (k - 1) - 1) // s
              for size, p, d, k, s in zip((h, w), pad, dilation, (kh, kw), stride, strict=True))
    shifts = offset.reshape(n, offset_groups, kh, kw, 2, oh, ow)
    rows, columns = (
        jnp.arange(out, dtype=offset.dtype) * s - p + (jnp.arange(k, dtype=offset.dtype) * d)[:, None]
        for out, s, p, k, d in zip((oh, ow), stride, pad, (kh, kw), dilation, strict=True))
    rows, columns = rows[:, None, :, None], columns[:, None]
    place = (n, offset_groups, kh * kw * oh * ow)
    rows = (rows + shifts[:, :, :, :, 0]).reshape(place)
    columns = (columns + shifts[:, :, :, :, 1]).reshape(place)
    taken = _sampled(input, rows, columns)
    if use_mask:
        taken = taken * mask.reshape(n, offset_groups, 1, -1)
    taken = taken.reshape(n, groups, c // groups, kh * kw, oh * ow)
    kernel = weight.reshape(groups, c_out // groups, c // groups, kh * kw)
    result = jnp.einsum("ngckl,gock->ngol", taken, kernel, precision=HIGHEST).reshape(n, c_out, oh, ow)
    return result + bias[:, None, None]


def _check(input, weight, offset, mask, bias, groups, offset_groups, use_mask) -> None:
    if input.ndim != 4 or offset.ndim != 4 or weight.ndim != 4:
        raise RuntimeError("deform_conv2d: expected input, offset and weight of four dimensions, but got "
                           f"{input.ndim}, {offset.ndim} and {weight.ndim}")
    kh, kw = weight.shape[2:]
    if weight.shape[1] * groups != input.shape[1] or weight.shape[0] % groups:
        raise RuntimeError(f"deform_conv2d: weight of shape {list(weight.shape)} does not fit "
                           f"{input.shape[1]} channels in {groups} groups")
    if offset.shape[1] != offset_groups * 2 * kh * kw:
        raise RuntimeError(f"offset.shape[1] is not valid: got: {offset.shape[1]} expected: "
                           f"{offset_groups * 2 * kh * kw}")
    if use_mask and mask.shape[1] != offset_groups * kh * kw:
        raise RuntimeError(f"mask.shape[1] is not valid: got: {mask.shape[1]} expected: "
                           f"{offset_groups * kh * kw}")
    if input.shape[1] % offset_groups:
        raise RuntimeError("input's channels are not divisible by the number of offset groups")


@op(variants="", name="torchvision_deform_conv2d", differentiable=False)
def deform_conv2d(input, weight, offset, mask, bias, /, stride, pad, dilation, groups, offset_groups,
                  use_mask):
    """The convolution; ``(N, C_out, H_out, W_out)``."""
    _check(input, weight, offset, mask, bias, groups, offset_groups, use_mask)
    arrays = [wide(x) for x in (input, weight, offset, mask, bias)]
    return _convolved(*arrays, stride, pad, dilation, groups, offset_groups, use_mask).astype(input.dtype)


@op(variants="", name="torchvision_deform_conv2d_backward", differentiable=False)
def deform_conv2d_backward(grad, input, weight, offset, mask, bias, /, stride, pad, dilation, groups,
                           offset_groups, use_mask):
    """The gradients of all five tensors."""
    def convolved(*arrays):
        return _convolved(*map(wide, arrays), stride, pad, dilation, groups, offset_groups, use_mask)

    result, pull = jax.vjp(convolved, input, weight, offset, mask, bias)
    return pull(grad.astype(result.dtype))
