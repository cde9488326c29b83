"""Trading channels for resolution, and mixing channels."""

from __future__ import annotations

from jaxflow._core.tensor import Tensor
from jaxflow.nn import functional as F
from jaxflow.nn.modules.module import Module


class PixelShuffle(Module):
    """``(..., C * r * r, H, W)`` to ``(..., C, H * r, W * r)`` for ``r = upscale_factor``.

    ``out[..., c, h * r + i, w * r + j] = input[..., c * r * r + i * r + j, h, w]``: Shi et al., "Real-Time
    Single Image and Video Super-Resolution Using an Efficient Sub-Pixel Convolutional Neural Network",
    2016.

    The input has 3 or more dimensions and any dtype; the result is a new tensor of the same dtype.

    Args:
        upscale_factor: what height and width are multiplied with.

    Raises:
        RuntimeError: when called with fewer than 3 dimensions, or with a number of channels that ``r * r``
            does not divide; and for an ``upscale_factor`` that is not positive.

    Example:
        >>> nn.PixelShuffle(2)(torch.arange(8).reshape(1, 4, 1, 2))
        tensor([[[[0, 2, 1, 3],
                  [4, 6, 5, 7]]]])
    """

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input: Tensor) -> Tensor:
        """The elements of ``input``, rearranged."""
        return F.pixel_shuffle(input, self.upscale_factor)

    def extra_repr(self) -> str:
        return f"upscale_factor={self.upscale_factor}"


class PixelUnshuffle(Module):
    """``(..., C, H * r, W * r)`` to ``(..., C * r * r, H, W)`` for ``r = downscale_factor``.

    ``out[..., c * r * r + i * r + j, h, w] = input[..., c, h * r + i, w * r + j]``: the inverse of
    `PixelShuffle`.

    The input has 3 or more dimensions and any dtype; the result is a new tensor of the same dtype.

    Args:
        downscale_factor: what height and width are divided by.

    Raises:
        RuntimeError: when called with fewer than 3 dimensions, or with a height or width that
            ``downscale_factor`` does not divide; and for one that is not positive.

    Example:
        >>> nn.PixelUnshuffle(2)(torch.arange(8).reshape(1, 1, 2, 4)).reshape(4, 2)
        tensor([[0, 2],
                [1, 3],
                [4, 6],
                [5, 7]])
    """

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input: Tensor) -> Tensor:
        """The elements of ``input``, rearranged."""
        return F.pixel_unshuffle(input, self.downscale_factor)

    def extra_repr(self) -> str:
        return f"downscale_factor={self.downscale_factor}"
