"""Windows of images as columns, and back."""

from __future__ import annotations

from jaxflow._core.tensor import Tensor
from jaxflow.nn import functional as F
from jaxflow.nn.modules.module import Module

_Size = int | tuple[int, ...]


class Unfold(Module):
    """Every window of ``(N, C, H, W)`` as a column of ``(N, C * window, windows)``.

    ``window`` is the product of ``kernel_size``, and ``windows`` the product over both dimensions of
    ``floor((size + 2 * padding - dilation * (kernel_size - 1) - 1) / stride) + 1``. The windows stand in
    the order of rows, those of one row from left to right; in a column the channels follow each other, each
    in the order of its rows.

    The input is floating point, complex or bool, and ``(C, H, W)`` gives ``(C * window, windows)``. The
    result is a new tensor of the same dtype.

    Args:
        kernel_size: size of the window, one number or one a dimension, as the others.
        dilation: steps between the elements of a window.
        padding: zeros added on each side.
        stride: steps from one window to the next.

    Raises:
        RuntimeError: when called with an image smaller than the window; and for numbers that are not
            positive (``padding``: negative), or more than two of them.
        NotImplementedError: when called with integers.

    Example:
        >>> x = torch.arange(9.0).reshape(1, 1, 3, 3)
        >>> nn.Unfold(kernel_size=2)(x)
        tensor([[[0., 1., 3., 4.],
                 [1., 2., 4., 5.],
                 [3., 4., 6., 7.],
                 [4., 5., 7., 8.]]])
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

    Every element of a column is added to the position it was taken from, so ``Fold(Unfold(x))`` is ``x``
    times the number of windows that each position is in.

    The input is ``(N, C * window, windows)`` or ``(C * window, windows)``, where ``window`` and ``windows``
    are as in `Unfold`; it is floating point, complex or bool. The result is a new tensor of the same dtype.

    Args:
        output_size: height and width of the image.
        kernel_size: size of the window, one number or one a dimension, as the others.
        dilation: steps between the elements of a window.
        padding: zeros that were added on each side.
        stride: steps from one window to the next.

    Raises:
        RuntimeError: when called with a shape that `Unfold` does not make of such an image.
        NotImplementedError: when called with integers.

    Example:
        >>> x = torch.ones(1, 1, 3, 3)
        >>> nn.Fold(output_size=(3, 3), kernel_size=2)(nn.Unfold(kernel_size=2)(x))
        tensor([[[[1., 2., 1.],
                  [2., 4., 2.],
                  [1., 2., 1.]]]])
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
