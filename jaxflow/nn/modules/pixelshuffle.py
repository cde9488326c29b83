"""Trading channels for resolution, and mixing channels."""

from __future__ import annotations

from jaxflow._core.tensor import Tensor
from jaxflow.nn import functional as F
from jaxflow.nn.modules.module import Module


class PixelShuffle(Module):
    """``(..., C * r * r, H, W)`` to ``(..., C, H * r, W * r)`` for ``r = upscale_factor``."""

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input: Tensor) -> Tensor:
        """The elements of ``input``, rearranged."""
        return F.pixel_shuffle(input, self.upscale_factor)

    def extra_repr(self) -> str:
        return f"upscale_factor={self.upscale_factor}"


class PixelUnshuffle(Module):
    """``(..., C, H * r, W * r)`` to ``(..., C * r * r, H, W)`` for ``r = downscale_factor``."""

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input: Tensor) -> Tensor:
        """The elements of ``input``, rearranged."""
        return F.pixel_unshuffle(input, self.downscale_factor)

    def extra_repr(self) -> str:
        return f"downscale_factor={self.downscale_factor}"
