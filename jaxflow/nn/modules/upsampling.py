"""Resizing images."""

from __future__ import annotations

from jaxflow._core.tensor import Tensor
from jaxflow.nn import functional as F
from jaxflow.nn.modules.module import Module


class Upsample(Module):
    """Resizes the positions of ``(N, C, *sizes)`` by interpolation.

    Position ``i`` of ``new`` ones is computed from those around ``(i + 0.5) * old / new - 0.5``, or around
    ``i * (old - 1) / (new - 1)`` with ``align_corners``; ``"nearest"`` takes position
    ``floor(i * old / new)``, ``"nearest-exact"`` ``floor((i + 0.5) * old / new)``. A given factor stands
    for ``new / old`` there, and the new size is ``floor(old * factor)``.

    The input has one to three dimensions after ``N`` and ``C``, and is floating point; uint8 too in the
    modes ``"nearest"``, ``"nearest-exact"``, ``"bilinear"`` and ``"bicubic"``. The result is a new tensor
    of the same dtype.

    Args:
        size: new sizes, one number or one a dimension.
        scale_factor: or factors; either this or ``size`` is given.
        mode: ``"nearest"``, ``"nearest-exact"`` or ``"area"`` (the mean of what a position covers) for one
            to three dimensions, ``"linear"`` for one, ``"bilinear"`` or ``"bicubic"`` for two,
            ``"trilinear"`` for three.
        align_corners: whether corner positions stay where they are; only for the modes whose name ends in
            ``"linear"`` or ``"cubic"``.
        recompute_scale_factor: compute the factors anew from the rounded sizes.

    Raises:
        ValueError: when called and not exactly one of ``size`` and ``scale_factor`` was given, for options
            that exclude each other, and for numbers that are not as many as the dimensions.
        NotImplementedError: when called with a number of dimensions, or a dtype, that the mode is not for.
        RuntimeError: when called and a size is 0.

    Example:
        >>> x = torch.tensor([[[1.0, 3.0]]])
        >>> nn.Upsample(scale_factor=2)(x)
        tensor([[[1., 1., 3., 3.]]])
        >>> nn.Upsample(scale_factor=2, mode="linear")(x)
        tensor([[[1.0000, 1.5000, 2.5000, 3.0000]]])
        >>> nn.Upsample(size=3, mode="linear", align_corners=True)(x)
        tensor([[[1., 2., 3.]]])
    """

    def __init__(
        self,
        size: int | tuple[int, ...] | None = None,
        scale_factor: float | tuple[float, ...] | None = None,
        mode: str = "nearest",
        align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:
        super().__init__()
        self.name = type(self).__name__
        self.size = size
        if isinstance(scale_factor, tuple):
            self.scale_factor = tuple(float(factor) for factor in scale_factor)
        else:
            self.scale_factor = float(scale_factor) if scale_factor else None
        self.mode, self.align_corners = mode, align_corners
        self.recompute_scale_factor = recompute_scale_factor

    def forward(self, input: Tensor) -> Tensor:
        """``(N, C, *sizes)`` to ``(N, C, *new sizes)``."""
        return F.interpolate(
            input,
            self.size,
            self.scale_factor,
            self.mode,
            self.align_corners,
            recompute_scale_factor=self.recompute_scale_factor,
        )

    def extra_repr(self) -> str:
        if self.scale_factor is not None:
            shown = f"scale_factor={self.scale_factor!r}"
        else:
            shown = f"size={self.size!r}"
        return f"{shown}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """Resizes ``(N, C, H, W)`` by taking the nearest position.

    `Upsample` with ``mode="nearest"``:
    ``out[..., i, j] = input[..., floor(i * H / new H), floor(j * W / new W)]``.

    The input is floating point or uint8; the result is a new tensor of the same dtype.

    Args:
        size: new height and width, or one number for both.
        scale_factor: or factors; either this or ``size`` is given.

    Raises:
        ValueError: when called and not exactly one of the two was given.
        NotImplementedError: when called with other dtypes.

    Example:
        >>> nn.UpsamplingNearest2d(size=(2, 3))(torch.tensor([[[[1.0, 2.0], [3.0, 4.0]]]]))
        tensor([[[[1., 1., 2.],
                  [3., 3., 4.]]]])
    """

    def __init__(
        self,
        size: int | tuple[int, int] | None = None,
        scale_factor: float | tuple[float, float] | None = None,
    ) -> None:
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """Resizes ``(N, C, H, W)`` bilinearly, with the corners where they were.

    `Upsample` with ``mode="bilinear"`` and ``align_corners=True``: position ``(i, j)`` is computed from the
    four around ``(i * (H - 1) / (new H - 1), j * (W - 1) / (new W - 1))``.

    The input is floating point or uint8; the result is a new tensor of the same dtype.

    Args:
        size: new height and width, or one number for both.
        scale_factor: or factors; either this or ``size`` is given.

    Raises:
        ValueError: when called and not exactly one of the two was given.
        NotImplementedError: when called with other dtypes or another number of dimensions.

    Example:
        >>> nn.UpsamplingBilinear2d(size=(2, 3))(torch.tensor([[[[1.0, 2.0], [3.0, 4.0]]]]))
        tensor([[[[1.0000, 1.5000, 2.0000],
                  [3.0000, 3.5000, 4.0000]]]])
    """

    def __init__(
        self,
        size: int | tuple[int, int] | None = None,
        scale_factor: float | tuple[float, float] | None = None,
    ) -> None:
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)
