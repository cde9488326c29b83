"""Maximum pooling over windows whose places are drawn (Graham, 2014)."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np

from jaxflow._core.dtype import BOOL, COMPLEX, INTEGER
from jaxflow._plans.op import op

from ._maxima import take_flat
from ._support import refuse, wide

_AXES = {2: ("height", "width"), 3: ("time", "height", "width")}


def _starts(sample, n, kernel, out):
    """Where ``out`` windows begin along ``n`` elements, the last one at the end; one row a sample."""
    if out <= 1:
        return jnp.full((*sample.shape, out), n - kernel, np.int32)
    step = jnp.asarray((n - kernel) / (out - 1), sample.dtype)
    number = jax.lax.iota(np.int32, out)
    shifted = ((number.astype(sample.dtype) + sample[..., None]) * step).astype(np.int32)
    starts = shifted - (sample * step).astype(np.int32)[..., None]
    return jnp.where(number == out - 1, n - kernel, starts)


def _check(input, samples, kernel, out) -> None:
    dims = len(kernel)
    name = f"fractional_max_pool{dims}d()" if dims == 2 else "fractional_max_pool3d_out()"
    if input.ndim not in (dims + 1, dims + 2):
        raise RuntimeError(
            f"{name}: Expected {dims + 1}D or {dims + 2}D tensor, but got: {list(input.shape)}")
    batched = input.ndim == dims + 2
    for axis in range(int(batched), input.ndim):
        if input.shape[axis] == 0:
            raise RuntimeError(
                f"{name}: Expected input to have non-zero size for non-batch dimensions, but got"
                f"{list(input.shape)} with dimension {axis} being empty.")
    for word, n, k, m in zip(_AXES[dims], input.shape[-dims:], kernel, out):
        if m + k - 1 + (dims == 3) > n:  # for volumes PyTorch needs one more
            raise RuntimeError(f"{name}: pool {word} {k} too large relative to input {word} {n}")
    if min(kernel) <= 0:
        raise RuntimeError(f"{name}: kernel sizes should be greater than zero, but got {kernel}")
    if samples.dtype != input.dtype:
        raise RuntimeError("Expect _random_samples to have the same dtype as input")
    if samples.ndim != 3:
        raise RuntimeError(f"Expect _random_samples to have 3 dimensions, got {samples.ndim}")
    images, channels = (input.shape[0] if batched else 1), input.shape[-dims - 1]
    if samples.shape[0] < images:
        raise RuntimeError("Expect _random_samples.size(0) no less then input batch size.")
    if samples.shape[1] != channels:
        raise RuntimeError(
            f"Expect _random_samples.size(1) equals to input channel size; got {samples.shape[1]} and "
            f"{channels}.")
    if samples.shape[2] != dims:
        raise RuntimeError(f"Expect _random_samples.size(2) equals to {dims}; got {samples.shape[2]}.")
    refuse(f"fractional_max_pool{dims}d_out_frame", input, BOOL, INTEGER, COMPLEX)


def _pool(input, samples, kernel, out):
    _check(input, samples, kernel, out)
    dims = len(kernel)
    lead = input.shape[: input.ndim - dims]
    samples = wide(samples)[: lead[0] if len(lead) == 2 else 1].reshape(*lead, dims)
    if dims == 2:
        samples = samples[..., ::-1]  # of images the first number is for the width
    at = jnp.zeros((1,) * (len(lead) + 2 * dims), np.int32)
    for axis, (n, k, m) in enumerate(zip(input.shape[-dims:], kernel, out)):
        inside = _starts(samples[..., axis], n, k, m)[..., None] + jax.lax.iota(np.int32, k)
        shape = [1] * 2 * dims
        shape[axis], shape[dims + axis] = m, k
        at = at * n + inside.reshape(*lead, *shape)
    at = at.reshape(*lead, *out, math.prod(kernel))
    seen = take_flat(jax.lax.stop_gradient(input), at, dims)
    best = jnp.argmax(seen, -1).astype(np.int32)
    index = jnp.take_along_axis(at, best[..., None], -1)[..., 0]
    return take_flat(input, index, dims), index.astype(np.int64)


_FRACTIONAL = dict(variants="", saves=("input",))


@op(grad_name="FractionalMaxPool2DBackward0", **_FRACTIONAL)
def _fractional_max_pool2d(input, samples, /, kernel, out):
    """Largest element of each window, and where it stands; ``samples`` (N, C, 2) place the windows."""
    return _pool(input, samples, kernel, out)


@op(grad_name="FractionalMaxPool3DBackward0", **_FRACTIONAL)
def _fractional_max_pool3d(input, samples, /, kernel, out):
    """Largest element of each window, and where it stands; ``samples`` (N, C, 3) place the windows."""
    return _pool(input, samples, kernel, out)
