"""Resizing images, and the deprecated names of it."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence

from jaxflow._core import dtype as dtypes
from jaxflow._core.aval import aval_of
from jaxflow._core.memory_errors import check_sizes
from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.dispatch import apply
from jaxflow._ops.resize import _resize
from jaxflow.nn._functional import operations as F

_ALIGNING = ("linear", "bilinear", "bicubic", "trilinear")
_DIMS = {"linear": 3, "bilinear": 4, "bicubic": 4, "trilinear": 5}
_AREA = {3: "adaptive_avg_pool1d", 4: "adaptive_avg_pool2d", 5: "adaptive_avg_pool3d"}


def interpolate(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """Resize the positions of ``(N, C, *sizes)``, one to three dimensions of them.

    The new position ``i`` takes its value at the old position ``(i + 0.5) * old / new - 0.5``, with
    ``align_corners`` at ``i * (old - 1) / (new - 1)``, and ``"nearest"`` at ``floor(i * old / new)``. Where
    a factor is given, ``1 / scale_factor`` stands in place of ``old / new``. ``"area"`` takes means, as
    adaptive pooling.

    Args:
        input: floating point (uint8 too, for the nearest modes, ``"bilinear"`` and ``"bicubic"``).
        size: the new sizes, one number or one a dimension.
        scale_factor: or factors.
        mode: ``"nearest"``, ``"nearest-exact"``, ``"area"``, or by number of dimensions
            ``"linear"``, ``"bilinear"`` or ``"bicubic"``, ``"trilinear"``.
        align_corners: whether first and last positions stay where they are; not for the first
            three.
        recompute_scale_factor: take ``new / old`` for the factor instead of the one given.
        antialias: widen the filter when shrinking, for two dimensions.

    Returns:
        A new tensor of the dtype of ``input``, ``(N, C, *new_sizes)``; a factor makes
        ``floor(old * scale_factor)`` of a size.

    Raises:
        ValueError: for options that exclude each other or numbers that do not go with the
            dimensions.
        NotImplementedError: for a mode that there is not for this number of dimensions, or for this dtype.
        RuntimeError: for empty inputs or outputs.

    Example:
        >>> F.interpolate(torch.tensor([[[1.0, 2.0]]]), scale_factor=2)
        tensor([[[1., 1., 2., 2.]]])
        >>> F.interpolate(torch.tensor([[[0.0, 4.0]]]), size=4, mode="linear")
        tensor([[[0., 1., 3., 4.]]])
        >>> F.interpolate(torch.ones(2, 3, 4, 4), size=(8, 6), mode="bilinear").shape
        torch.Size([2, 3, 8, 6])
    """
    if mode not in _ALIGNING:
        if align_corners is not None:
            raise ValueError(
                "align_corners option can only be set with the interpolating modes: linear | "
                "bilinear | bicubic | trilinear"
            )
    dims = input.dim() - 2
    new, scales = _sizes(input, dims, size, scale_factor, recompute_scale_factor)
    if antialias and not (mode in ("bilinear", "bicubic") and input.dim() == 4):
        raise ValueError(
            "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires "
            "a 4-D tensor as input"
        )
    if mode == "area" and input.dim() in _AREA:
        return getattr(F, _AREA[input.dim()])(input, new if dims > 1 else new[0])
    _check_mode(input, mode)
    aval = input._aval
    if aval.dtype is dtypes.uint8:  # the weights of bytes are worked out while the plan is made
        check_sizes("interpolate", [aval_of((*aval.shape[:2], *new), aval.dtype, aval.device)])
    return apply(_resize, (input,), (new, scales, mode, bool(align_corners), bool(antialias)))


def _sizes(input, dims, size, scale_factor, recompute) -> tuple[tuple, tuple]:
    """The new sizes, and the factors to compute with (None: ``new / old``)."""
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    old = tuple(input.shape[2:])
    if size is not None:
        if isinstance(size, (list, tuple)):
            _check_count("output size of", size, "output size in (o1, o2, ...,oK)", old, dims)
            new = tuple(int(n) for n in size)
        else:
            new = (int(size),) * dims
        if recompute:
            raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
        return new, (None,) * dims
    if scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    if isinstance(scale_factor, (list, tuple)):
        _check_count(
            "scale_factor of shape", scale_factor, "scale_factor in (s1, s2, ...,sK)", old, dims
        )
        factors = tuple(float(f) for f in scale_factor)
    else:
        factors = (float(scale_factor),) * dims
    new = tuple(math.floor(n * f) for n, f in zip(old, factors))
    return new, (None,) * dims if recompute else factors


def _check_count(what: str, given: Sequence, form: str, old: tuple, dims: int) -> None:
    if len(given) != dims:
        noun = "output" if what.startswith("output") else "scale_factor"
        raise ValueError(
            f"Input and {noun} must have the same number of spatial dimensions, but got input with "
            f"spatial dimensions of {list(old)} and {what} {given}. Please provide input tensor in "
            f"(N, C, d1, d2, ...,dK) format and {form} format."
        )


def _check_mode(input: Tensor, mode: str) -> None:
    nearest = mode in ("nearest", "nearest-exact")
    if input.dim() in (3, 4, 5) and (nearest or _DIMS.get(mode) == input.dim()):
        return
    if input.dim() in (3, 4, 5) and mode in ("linear", "bilinear", "trilinear"):
        raise NotImplementedError(
            f"Got {input.dim()}D input, but {mode} mode needs {_DIMS[mode]}D input"
        )
    raise NotImplementedError(
        f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {input.dim()}D) for the "
        "modes: nearest | linear | bilinear | bicubic | trilinear | lanczos | area | nearest-exact "
        f"(got {mode})"
    )


def upsample(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor:
    """Deprecated name of `interpolate`."""
    _warn("upsample")
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
) -> Tensor:
    """Deprecated name of `interpolate` with ``mode="nearest"``."""
    _warn("upsample_nearest")
    return interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
) -> Tensor:
    """Deprecated name of `interpolate` with ``mode="bilinear"`` and aligned corners."""
    _warn("upsample_bilinear")
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)


def _warn(name: str) -> None:
    warnings.warn(
        f"`nn.functional.{name}` is deprecated. Use `nn.functional.interpolate` instead.",
        stacklevel=3,
    )
