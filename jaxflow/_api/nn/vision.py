"""Sampling by a grid, in its public form: modes by name."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.dispatch import apply
from jaxflow._ops.grid_sample import MODES, PADDINGS
from jaxflow._plans.op import OPS
from jaxflow._publish.composite import composite

_DEFAULT = (
    "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. Please "
    "specify align_corners=True if the old behavior is desired. See the documentation of grid_sample for "
    "details."
)


@composite("function")
def grid_sampler(input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int,
                 align_corners: bool) -> Tensor:
    """`nn.functional.grid_sample` with modes by number; see `grid_sampler_2d` for them."""
    dims = 3 if input._aval.ndim == 5 else 2
    return apply(OPS[f"grid_sampler_{dims}d"], (input, grid),
                 (interpolation_mode, padding_mode, bool(align_corners)))


@composite("function", namespace="nn.functional")
def grid_sample(input: Tensor, grid: Tensor, mode: str = "bilinear", padding_mode: str = "zeros",
                align_corners: bool | None = None) -> Tensor:
    """The input at the places that ``grid`` names, interpolated.

    From Jaderberg, Simonyan, Zisserman and Kavukcuoglu, 2015, "Spatial Transformer Networks".

    Args:
        input: ``(N, C, H, W)`` or ``(N, C, D, H, W)``, floating point.
        grid: ``(N, h, w, 2)`` or ``(N, d, h, w, 3)`` of the same dtype: x, y (and z), -1 to 1 across the
            input.
        mode: ``"bilinear"`` (also for volumes), ``"nearest"``, or ``"bicubic"`` for images.
        padding_mode: what is outside: ``"zeros"``, ``"border"`` elements, or the input's ``"reflection"``.
        align_corners: whether -1 and 1 are the centres of the outermost elements instead of their edges;
            None for False, with a warning.

    Returns:
        Tensor: ``(N, C, h, w)`` or ``(N, C, d, h, w)``.

    Raises:
        ValueError: for an unknown mode.
        RuntimeError: when shapes or dtypes do not go together.

    Example:
        >>> image = torch.tensor([[[[0.0, 1.0], [2.0, 3.0]]]])
        >>> places = torch.tensor([[[[-1.0, -1.0], [0.0, -1.0], [1.0, 1.0]]]])
        >>> F.grid_sample(image, places, align_corners=True)  # (x, y): a corner, an edge's middle, a corner
        tensor([[[[0.0000, 0.5000, 3.0000]]]])
    """
    if mode not in MODES:
        raise ValueError(
            "nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: "
            f"'{mode}'"
        )
    if padding_mode not in PADDINGS:
        raise ValueError(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', "
            f"but got: '{padding_mode}'"
        )
    if align_corners is None:
        warnings.warn(_DEFAULT, stacklevel=2)
    return grid_sampler(input, grid, MODES.index(mode), PADDINGS.index(padding_mode), bool(align_corners))


@composite("function", namespace="nn.functional")
def affine_grid(theta: Tensor, size: Sequence[int], align_corners: bool | None = None) -> Tensor:
    """The grid for `grid_sample` that maps an output of ``size`` into the input by affine maps.

    Args:
        theta: ``(N, 2, 3)`` for images or ``(N, 3, 4)`` for volumes, floating point.
        size: of the output, ``(N, C, H, W)`` or ``(N, C, D, H, W)``.
        align_corners: as in `grid_sample`.

    Returns:
        Tensor: ``(N, H, W, 2)`` or ``(N, D, H, W, 3)``.

    Raises:
        ValueError: when ``theta`` is not floating point or does not go with ``size``.
        NotImplementedError: for sizes of other than 4 or 5 numbers.
    """
    if align_corners is None:
        warnings.warn(_DEFAULT, stacklevel=2)
        align_corners = False
    if not theta.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    if len(size) not in (4, 5):
        raise NotImplementedError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. "
            f"Got size {size}."
        )
    n = len(size) - 2
    if theta.dim() != 3 or tuple(theta.shape[-2:]) != (n, n + 1):
        raise ValueError(
            f"Expected a batch of {n}D affine matrices of shape Nx{n}x{n + 1} for size {size}. Got "
            f"{theta.shape}."
        )
    if align_corners and min(size[2:]) == 1:
        warnings.warn(
            "Since version 1.3.0, affine_grid behavior has changed for unit-size grids when "
            "align_corners=True. This is not an intended use case of affine_grid. See the documentation "
            "of affine_grid for details.",
            stacklevel=2,
        )
    if min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {size}")
    return apply(OPS["affine_grid_generator"], (theta,), (tuple(map(int, size)), bool(align_corners)))
