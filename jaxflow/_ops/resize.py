"""Resizing by interpolation: in every mode each output is a weighted sum of a few positions."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from jaxflow._core.dtype import BOOL, COMPLEX, INTEGER
from jaxflow._plans.op import op

from ._support import refuse, wide
from ._window import weighted_sums

_NAMES = {"nearest": "Nearest", "nearest-exact": "NearestExact", "linear": "Linear",
          "bilinear": "Bilinear", "bicubic": "Bicubic", "trilinear": "Trilinear"}
# Beyond this many new positions what each takes is computed where the operation runs: no constant of a plan
# is as large as that, and a result that no memory holds is refused before anything is computed for it.
_CONSTANT = 1 << 16


def _grad_name(numbers, size, mode, antialias, **static):
    return f"Upsample{_NAMES[mode]}{len(size)}D{'Aa' if antialias else ''}Backward0"


@op(variants="", saves="none", grad_name=_grad_name, layout="channels")
def _resize(input, /, size, scales, mode, align_corners, antialias):
    """``(N, C, *sizes)`` to ``(N, C, *size)``.

    Args:
        size: the new sizes.
        scales: the requested factor in each dimension, None where it is ``new / old``.
        mode: as in ``nn.functional.interpolate``, except ``"area"``.
        align_corners: whether first and last positions stay where they are.
        antialias: widen the filter when shrinking.
    """
    dims = len(size)
    _check(input, size, dims)
    nearest = mode.startswith("nearest")
    if input.dtype == np.uint8 and mode in ("bilinear", "bicubic"):
        return _resized_bytes(input, size, scales, mode, align_corners, antialias)
    if not (nearest and input.dtype == np.uint8):
        refuse(_kernel(mode, dims), input, BOOL, INTEGER, COMPLEX)
    x = wide(input)
    for axis, new, scale in zip(range(2, 2 + dims), size, scales):
        old = input.shape[axis]
        if nearest:
            x = _take_nearest(x, axis, _nearest(old, new, scale, mode))
        elif old != new or scale not in (None, 1.0):
            taps = _taps(old, new, scale, mode, align_corners, antialias, _library(new))
            x = weighted_sums(x, axis, *taps)
    return x.astype(input.dtype)


def _resized_bytes(x, size, scales, mode, align_corners, antialias):
    """Images of bytes, which PyTorch's kernels resize in fixed point: columns first, rounded, then rows."""
    for axis in (3, 2):
        old, new = x.shape[axis], size[axis - 2]
        if old == new and not antialias and scales[axis - 2] in (None, 1.0):
            continue
        positions, shares, _ = _taps(old, new, scales[axis - 2], mode, align_corners, antialias)
        matrix = _matrix(old, positions, shares)
        bits = _fraction_bits(matrix.max())
        weights = np.trunc(matrix * 2**bits + np.copysign(0.5, matrix)).astype(np.int32)
        total = jax.lax.dot_general(x.astype(np.int32), jnp.asarray(weights), (((axis,), (1,)), ((), ())))
        rounded = jax.lax.shift_right_arithmetic(total + np.int32(1 << (bits - 1)), np.int32(bits))
        x = jnp.moveaxis(jnp.clip(rounded, 0, 255).astype(np.uint8), -1, axis)
    return x


def _fraction_bits(largest) -> int:
    """How many bits of a weight stand behind the point, so that all of it fits in 16."""
    bits = 0
    while bits < 22 and int(0.5 + largest * 2 ** (bits + 1)) < 2**15:
        bits += 1
    return bits


def _check(input, size, dims):
    if min(*size, *input.shape[2:]) <= 0:
        names = ("W", "HW", "DHW")[dims - 1]
        old = ", ".join(f"{n}: {s}" for n, s in zip(names, input.shape[2:]))
        new = ", ".join(f"{n}: {s}" for n, s in zip(names, size))
        raise RuntimeError(
            f"Input and output sizes should be greater than 0, but got input ({old}) output ({new})"
        )
    if input.shape[1] == 0:
        raise RuntimeError(
            f"Non-empty {dims + 2}D data tensor expected but got a tensor with sizes "
            f"{list(input.shape)}"
        )


def _kernel(mode, dims):
    if mode == "bicubic":
        return "compute_indices_weights_cubic"
    if dims != 2:
        return f"compute_indices_weights_{'nearest' if mode.startswith('nearest') else 'linear'}"
    return f"upsample_{mode.replace('-exact', '')}{dims}d_channels_last"


def _step(old, new, scale, align_corners=False):
    """Distance in the input between neighbours of the output."""
    if align_corners:
        return (old - 1) / (new - 1) if new > 1 else 0.0
    return old / new if scale is None else 1.0 / scale


def _nearest(old, new, scale, mode):
    """The position each output takes; in float32, in which PyTorch decides near ties."""
    step = np.float32(_step(old, new, scale))
    offset = np.float32(0.5 if mode == "nearest-exact" else 0.0)
    xp = _library(new)
    positions = xp.floor((xp.arange(new, dtype=np.float32) + offset) * step)
    return xp.minimum(positions.astype(np.int64), old - 1)


def _library(new):
    """Where to compute with as many positions: NumPy's results are constants of the plan."""
    return np if new <= _CONSTANT else jnp


def _take_nearest(x, axis, positions):
    old, new = x.shape[axis], len(positions)
    if new <= _CONSTANT and new % old == 0 and (positions == np.arange(new) // (new // old)).all():
        return jnp.repeat(x, new // old, axis)  # its gradient is a sum, quicker than a scatter
    return jnp.take(x, jnp.asarray(positions), axis=axis, mode="clip")


def _cubic(distance, a):
    """Weight of a position in cubic interpolation; ``a`` is the slope at distance one."""
    xp = np if isinstance(distance, np.ndarray) else jnp
    d = xp.abs(distance)
    near = ((a + 2) * d - (a + 3)) * d * d + 1
    far = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
    return xp.where(d <= 1, near, xp.where(d < 2, far, 0.0))


def _taps(old, new, scale, mode, align_corners, antialias, xp=np):
    """Positions and weights, both ``(new, taps)``, that each output is a sum of, and which of them count."""
    step = _step(old, new, scale, align_corners)
    out = xp.arange(new, dtype=np.float64)
    if antialias:
        return _wide_taps(old, out, step, mode, xp)
    source = step * out if align_corners else step * (out + 0.5) - 0.5
    if mode == "bicubic":
        first = xp.floor(source)
        positions = first[:, None] + xp.arange(-1.0, 3.0)
        weights = _cubic(source[:, None] - positions, -0.75)
    else:
        source = xp.maximum(source, 0.0)
        first = xp.minimum(xp.floor(source), old - 1.0)
        positions = first[:, None] + xp.arange(2.0)
        share = xp.minimum(source - first, 1.0)
        weights = xp.stack([1 - share, share], 1)
    return xp.clip(positions, 0.0, old - 1.0).astype(np.int64), weights, None


def _wide_taps(old, out, step, mode, xp):
    """Taps of a filter as wide as what an output stands for, cut off at the ends."""
    stretch = max(step, 1.0)
    reach = (2.0 if mode == "bicubic" else 1.0) * stretch
    centre = step * (out + 0.5)
    low = xp.maximum((centre - reach + 0.5).astype(np.int64), 0)
    high = xp.minimum((centre + reach + 0.5).astype(np.int64), old)
    most = (high - low).max() if xp is np else int(2 * reach) + 2
    positions = low[:, None] + xp.arange(most)
    distance = (positions.astype(np.float64) - centre[:, None] + 0.5) / stretch
    if mode == "bicubic":
        weights = _cubic(distance, -0.5)
    else:
        weights = xp.maximum(1 - xp.abs(distance), 0.0)
    inside = positions < high[:, None]
    weights = xp.where(inside, weights, 0.0)
    return xp.minimum(positions, old - 1), weights / weights.sum(1, keepdims=True), inside


def _matrix(old, positions, weights):
    """Taps as a matrix ``(new, old)``."""
    matrix = np.zeros((len(positions), old))
    np.add.at(matrix, (np.arange(len(positions))[:, None], positions), weights)
    return matrix
