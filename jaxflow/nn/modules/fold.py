"""Windows of images as columns, and back."""

from __future__ import annotations

from jaxflow._core.tensor import Tensor
from jaxflow.nn import functional as F
from jaxflow.nn.modules.module import Module

_Size = int | tuple[int, ...]


class Unfold(Module):
    """Every window of ``(N, C, H, W)`` as a column of ``(N, C * window, windows)``.

    Args:
        kernel_size: size of the window, one number or one a dimension, as the others.
        dilation: steps between the elements of a window.
        padding: zeros added on each side.
        stride: steps from one window to the next.
    """

    def __init__(
        self, kernel_size: _Size, dilation: _Size = 1, padding: _Size = 0, stride: _Size = 1
    ) -> None:
        super().__init__()
        self.kernel_size, self.dilation = kernel_size, dilation
        self.padding, self.stride = padding, stride

    def forward(self, input: Tensor) -> Tensor:
        """``(N, C, H, W)`` or ``(C, H, W)`` to columns."""
        return F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        return (
            f"kernel_size={self.kernel_size}, dilation={self.dilation}, padding={self.padding}, "
            f"stride={self.stride}"
        )


class Fold(Module):
    """Sums the columns that `Unfold` makes back into ``(N, C, *output_size)``.

    Args:
        output_size: height and width of the image.
        kernel_size: size of the window, one number or one a dimension, as the others.
        dilation: steps between the elements of a window.
        padding: zeros that were added on each side.
        stride: steps from one window to the next.
    """

    def __init__(
        self,
        output_size: _Size,
        kernel_size: _Size,
        dilation: _Size = 1,
        padding: _Size = 0,
        stride: _Size = 1,
    ) -> None:
        super().__init__()
        self.output_size, self.kernel_size = output_size, kernel_size
        self.dilation, self.padding, self.stride = dilation, padding, stride

    def forward(self, input: Tensor) -> Tensor:
        """``(N, C * window, windows)`` or without ``N`` to images."""
        return F.fold(
            input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride
        )

    def extra_repr(self) -> str:
        return (
            f"output_size={self.output_size}, kernel_size={self.kernel_size}, "
            f"dilation={self.dilation}, padding={self.padding}, stride={self.stride}"
        )
