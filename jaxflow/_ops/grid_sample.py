"""Sampling images and volumes at given places, and the places that an affine map gives.

Places are in units of half the input: -1 and 1 are its ends, which are the centres of the outermost elements
where corners are aligned and their outer edges where not. The last dimension of a grid holds the place along
the last spatial dimension first (x, y, z).
"""

from __future__ import annotations

import functools
import itertools
import math
import operator

import jax
import jax.numpy as jnp
import numpy as np

from jaxflow._core.dtype import BOOL, COMPLEX, INTEGER
from jaxflow._plans.op import Integers, op

from ._support import is_float, refuse, scalar_name, wide
from ._window import channels_first, channels_last

#: What the numbers of modes mean, in the order in which PyTorch counts them.
MODES = ("bilinear", "nearest", "bicubic")
PADDINGS = ("zeros", "border", "reflection")

_SLOPE = -0.75  # of the cubic kernel at distance one


def _position(place, n, align_corners):
    """A place as a position along ``n`` elements, whose centres are at 0 to ``n - 1``."""
    return (place + 1) / 2 * (n - 1) if align_corners else ((place + 1) * n - 1) / 2


def _clipped(position, n, nan_last):
    """Moved to the nearest element's centre; beyond the ends, and at them, the derivative is zero.

    What is no number is at the first element, or ``nan_last`` at the last one.
    """
    inside = (position > 0) & (position < n - 1)
    behind = ~(position <= 0) if nan_last else position >= n - 1
    return jnp.where(inside, position, jnp.where(behind, n - 1, 0).astype(position.dtype))


def _reflected(position, n, align_corners, nan_last):
    """Folded back at both ends until it lies between them."""
    low, span = (0.0, n - 1) if align_corners else (-0.5, n)
    if span == 0:
        return jnp.zeros_like(position)
    away = jnp.abs(position - low)
    folds = jnp.floor(away / span)
    rest = away - folds * span
    odd = folds - 2 * jnp.floor(folds / 2) == 1
    return _clipped(jnp.where(odd, span - rest, rest) + low, n, nan_last)


def _padded(position, n, padding, align_corners, nan_last):
    if padding == "border":
        return _clipped(position, n, nan_last)
    if padding == "reflection":
        return _reflected(position, n, align_corners, nan_last)
    return position


def _linear_taps(position):
    """The two neighbours of a position and their weights."""
    first = jnp.floor(position)
    share = position - first
    return [(first, 1 - share), (first + 1, share)]


def _cubic_taps(position):
    """The four neighbours and their weights by cubic convolution (Keys, 1981).

    The outer polynomials, which the kernel has for distances from one to two, are written in the distance
    beyond one: expanded in the distance itself their terms are ten times as large as their sum.
    """
    first = jnp.floor(position)
    share = position - first

    def near(d):
        return ((_SLOPE + 2) * d - (_SLOPE + 3)) * d * d + 1

    def far(beyond):
        return _SLOPE * beyond * (1 - beyond) * (1 - beyond)

    weights = far(share), near(share), near(1 - share), far(1 - share)
    return [(first + k, w) for k, w in zip(range(-1, 3), weights)]


def _taps(place, n, mode, padding, align_corners, nan_last):
    """Along one dimension: the elements that each place looks at, and with which weights."""
    position = _position(place, n, align_corners)
    if mode == "bicubic":  # what is padded here is the input, element by element
        return [(_padded(at, n, padding, align_corners, nan_last), w) for at, w in _cubic_taps(position)]
    position = _padded(position, n, padding, align_corners, nan_last)
    if mode == "nearest":
        return [(jnp.round(position), jnp.ones_like(position))]
    return _linear_taps(position)


def _sample(input, grid, mode, padding, align_corners):
    """``(N, C, *spatial)`` at ``(N, *sizes, D)`` as ``(N, C, *sizes)``."""
    spatial = input.shape[2:]
    x, grid = wide(input), wide(grid)
    rows = channels_last(x).reshape(math.prod((x.shape[0], *spatial)), x.shape[1])
    volume = len(spatial) == 3  # which PyTorch samples element by element, images by instructions on vectors
    taps = [
        _taps(grid[..., -1 - axis], n, mode, padding, align_corners, volume)
        for axis, n in enumerate(spatial)
    ]
    image = jax.lax.broadcasted_iota(np.int32, grid.shape[:-1], 0)
    total = 0
    for corner in itertools.product(*taps):
        inside = functools.reduce(operator.and_, ((at >= 0) & (at <= n - 1)
                                                  for (at, _), n in zip(corner, spatial)))
        where, weight = image, 1
        for (at, w), n in zip(corner, spatial):
            where = where * n + jnp.where(inside, at, 0).astype(np.int32)
            # Each by itself: a product with nan in it would have nan for the derivatives of the others.
            weight = (jnp.where(inside, w, 0) if volume else w) * weight
        seen = rows.at[where].get(mode="promise_in_bounds")
        total = total + jnp.where(inside[..., None], seen, 0) * weight[..., None]
    return channels_first(total).astype(input.dtype)


def _check(input, grid, dims, mode) -> None:
    refuse(("grid_sampler_2d_cpu_kernel_impl", "grid_sampler3d_cpu")[dims - 2], input, BOOL, INTEGER, COMPLEX)
    if input.shape[0] != grid.shape[0]:
        raise RuntimeError(
            "grid_sampler(): expected grid and input to have same batch size, but got input with sizes "
            f"{list(input.shape)} and grid with sizes {list(grid.shape)}"
        )
    if grid.ndim == 0 or grid.shape[-1] != input.ndim - 2:
        raise RuntimeError(
            f"grid_sampler(): expected grid to have size {input.ndim - 2} in last dimension, but got grid "
            f"with sizes {list(grid.shape)}"
        )
    for axis, n in enumerate(input.shape[2:], 2):
        if n == 0:
            raise RuntimeError(
                "grid_sampler(): expected input to have non-empty spatial dimensions, but input has sizes "
                f"{list(input.shape)} with dimension {axis} being empty"
            )
    if input.ndim != dims + 2 or grid.ndim != dims + 2:
        raise RuntimeError(
            f"grid_sampler(): expected {dims + 2}D input and grid with same number of dimensions, but got "
            f"input with sizes {list(input.shape)} and grid with sizes {list(grid.shape)}"
        )
    if dims == 3 and mode == "bicubic":
        raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")
    if input.dtype != grid.dtype:
        raise RuntimeError(f"expected scalar type {scalar_name(input)} but found {scalar_name(grid)}")


def _sampler(input, grid, dims, mode, padding, align_corners):
    for what, number, names in (("interpolation_mode", mode, MODES), ("padding_mode", padding, PADDINGS)):
        if not 0 <= number < len(names):
            raise RuntimeError(f"grid_sampler(): {what} {number} is unknown; 0, 1 and 2 are {names}")
    mode, padding = MODES[mode], PADDINGS[padding]
    _check(input, grid, dims, mode)
    return _sample(input, grid, mode, padding, align_corners)


@op(variants="function", grad_name="GridSampler2DBackward0", saves=("input", "grid"))
def grid_sampler_2d(input, grid, /, interpolation_mode: int, padding_mode: int, align_corners: bool):
    """`nn.functional.grid_sample` of images, modes by number.

    Args:
        input: ``(N, C, H, W)``, floating point.
        grid: ``(N, h, w, 2)`` of the same dtype, places (x, y).
        interpolation_mode: 0 bilinear, 1 nearest, 2 bicubic.
        padding_mode: 0 zeros, 1 border, 2 reflection.
        align_corners: whether -1 and 1 are the centres of the outermost elements, or their edges.

    Raises:
        RuntimeError: when shapes or dtypes do not go together.
    """
    return _sampler(input, grid, 2, interpolation_mode, padding_mode, align_corners)


@op(variants="function", grad_name="GridSampler3DBackward0", saves=("input", "grid"))
def grid_sampler_3d(input, grid, /, interpolation_mode: int, padding_mode: int, align_corners: bool):
    """`nn.functional.grid_sample` of volumes, modes by number; see `grid_sampler_2d`, without bicubic."""
    return _sampler(input, grid, 3, interpolation_mode, padding_mode, align_corners)


def _places(n, dtype, align_corners, axis, dims):
    """The places of ``n`` elements, in a shape that broadcasts along ``axis`` of ``dims``."""
    at = 2 * jax.lax.iota(np.float64, n) - (n - 1)
    at = at / max(n - 1, 1) if align_corners else at / n
    return at.astype(dtype).reshape(*(n if i == axis else 1 for i in range(dims)))


@op(variants="function", saves="none")
def affine_grid_generator(theta, /, size: Integers, align_corners: bool):
    """The places where affine maps send the elements of an output; see `nn.functional.affine_grid`."""
    dims = len(size) - 2
    if not is_float(theta):
        refuse("linspace_cpu", theta, BOOL, INTEGER, COMPLEX)
    if theta.shape != (size[0], dims, dims + 1):
        raise RuntimeError(
            f"Expected a batch of {dims}D affine matrices of shape {size[0]}x{dims}x{dims + 1} for size "
            f"{list(size)}, but got {list(theta.shape)}"
        )
    x = wide(theta).reshape(size[0], *(1,) * dims, dims, dims + 1)
    out = x[..., dims]
    for axis, n in enumerate(size[2:]):
        places = _places(n, theta.dtype, align_corners, axis, dims).astype(x.dtype)
        out = out + x[..., dims - 1 - axis] * places[..., None]
    return out.astype(theta.dtype)
