"""Padding: constants, reflections, repetitions and wrapping around."""

from __future__ import annotations

from jaxflow._core.tensor import Tensor
from jaxflow.nn import functional as F
from jaxflow.nn.modules.module import Module
from jaxflow.nn.modules.utils import _ntuple

_Padding = int | tuple[int, ...]


class _PadNd(Module):
    """Adds positions on each side of the last dimensions.

    Args:
        padding: how many, one number or two a dimension, starting with the last; negative ones
            crop.
    """

    _mode: str
    _dims: int

    def __init_subclass__(cls, dims: int | None = None, mode: str | None = None) -> None:
        super().__init_subclass__()
        if dims is not None:
            cls._dims = dims
        if mode is not None:
            cls._mode = mode

    def __init__(self, padding: _Padding) -> None:
        super().__init__()
        self.padding = _ntuple(2 * self._dims)(padding)

    def forward(self, input: Tensor) -> Tensor:
        """``(N, C, *sizes)`` or ``(C, *sizes)`` to the same with more positions."""
        return F.pad(input, self.padding, self._mode)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _ConstantPadNd(_PadNd, mode="constant"):
    """Adds positions of one value on each side of the last dimensions.

    Args:
        padding: how many, one number or two a dimension, starting with the last; negative ones
            crop.
        value: the value.
    """

    def __init__(self, padding: _Padding, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        """``(..., *sizes)`` to the same with more positions."""
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPadNd, dims=1):
    """Pads the last dimension with a constant.

    The input is ``(*, W)`` of any dtype; ``W`` becomes ``left + W + right``. The result is a new tensor of
    the same dtype.

    Args:
        padding: how many positions are added, one number for all sides or ``(left, right)``; negative ones
            crop.
        value: the number that is added; it is cast to the input's dtype.

    Raises:
        RuntimeError: when called with fewer dimensions than are padded, or when more is cropped than there
            is.

    Example:
        >>> nn.ConstantPad1d((1, 2), 7)(torch.tensor([[1, 2, 3]]))
        tensor([[7, 1, 2, 3, 7, 7]])
        >>> nn.ConstantPad1d((-1, 1), 7)(torch.tensor([[1, 2, 3]]))
        tensor([[2, 3, 7]])
    """


class ConstantPad2d(_ConstantPadNd, dims=2):
    """Pads the last two dimensions with a constant.

    The input is ``(*, H, W)`` of any dtype; ``H`` becomes ``top + H + bottom``, and ``W``
    ``left + W + right``. The result is a new tensor of the same dtype.

    Args:
        padding: how many positions are added, one number for all sides or ``(left, right, top, bottom)``;
            negative ones crop.
        value: the number that is added; it is cast to the input's dtype.

    Raises:
        RuntimeError: when called with fewer dimensions than are padded, or when more is cropped than there
            is.

    Example:
        >>> nn.ConstantPad2d((1, 0, 0, 1), 7)(torch.tensor([[1, 2], [3, 4]]))
        tensor([[7, 1, 2],
                [7, 3, 4],
                [7, 7, 7]])
    """


class ConstantPad3d(_ConstantPadNd, dims=3):
    """Pads the last three dimensions with a constant.

    The input is ``(*, D, H, W)`` of any dtype; ``D`` becomes ``front + D + back``, ``H``
    ``top + H + bottom``, and ``W`` ``left + W + right``. The result is a new tensor of the same dtype.

    Args:
        padding: how many positions are added, one number for all sides or
            ``(left, right, top, bottom, front, back)``; negative ones crop.
        value: the number that is added; it is cast to the input's dtype.

    Raises:
        RuntimeError: when called with fewer dimensions than are padded, or when more is cropped than there
            is.

    Example:
        >>> m = nn.ConstantPad3d((1, 1, 0, 2, 3, 0), 0.5)
        >>> m(torch.ones(2, 4, 5, 6)).shape
        torch.Size([2, 7, 7, 8])
        >>> m(torch.ones(2, 4, 5, 6))[0, 0, 0, 0].item()
        0.5
    """


class _Zero:
    def __init__(self, padding: _Padding) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ZeroPad1d(_Zero, ConstantPad1d):
    """Pads the last dimension with zeros.

    The input is ``(*, W)`` of any dtype; ``W`` becomes ``left + W + right``. The result is a new tensor of
    the same dtype.

    Args:
        padding: how many positions are added, one number for all sides or ``(left, right)``; negative ones
            crop.

    Raises:
        RuntimeError: when called with fewer dimensions than are padded, or when more is cropped than there
            is.

    Example:
        >>> nn.ZeroPad1d((1, 2))(torch.tensor([[1, 2, 3]]))
        tensor([[0, 1, 2, 3, 0, 0]])
        >>> nn.ZeroPad1d(-1)(torch.tensor([[1, 2, 3]]))
        tensor([[2]])
    """


class ZeroPad2d(_Zero, ConstantPad2d):
    """Pads the last two dimensions with zeros.

    The input is ``(*, H, W)`` of any dtype; ``H`` becomes ``top + H + bottom``, and ``W``
    ``left + W + right``. The result is a new tensor of the same dtype.

    Args:
        padding: how many positions are added, one number for all sides or ``(left, right, top, bottom)``;
            negative ones crop.

    Raises:
        RuntimeError: when called with fewer dimensions than are padded, or when more is cropped than there
            is.

    Example:
        >>> nn.ZeroPad2d((1, 0, 0, 1))(torch.tensor([[1, 2], [3, 4]]))
        tensor([[0, 1, 2],
                [0, 3, 4],
                [0, 0, 0]])
    """


class ZeroPad3d(_Zero, ConstantPad3d):
    """Pads the last three dimensions with zeros.

    The input is ``(*, D, H, W)`` of any dtype; ``D`` becomes ``front + D + back``, ``H``
    ``top + H + bottom``, and ``W`` ``left + W + right``. The result is a new tensor of the same dtype.

    Args:
        padding: how many positions are added, one number for all sides or
            ``(left, right, top, bottom, front, back)``; negative ones crop.

    Raises:
        RuntimeError: when called with fewer dimensions than are padded, or when more is cropped than there
            is.

    Example:
        >>> nn.ZeroPad3d((1, 1, 0, 2, 3, 0))(torch.ones(2, 4, 5, 6)).shape
        torch.Size([2, 7, 7, 8])
    """


class _ReflectionPadNd(_PadNd, mode="reflect"):
    pass


class ReflectionPad1d(_ReflectionPadNd, dims=1):
    """Pads the last dimension with its own reflection.

    What is added is the input seen in a mirror at its first and last position, which are not repeated.

    The input is ``(N, C, W)`` or ``(C, W)`` of any dtype but bool; ``W`` becomes ``left + W + right``. The
    result is a new tensor of the same dtype.

    Args:
        padding: how many positions are added, one number for all sides or ``(left, right)``; each smaller
            than the size of its dimension; negative ones crop.

    Raises:
        RuntimeError: when called with a dimension that is not larger than its padding, or of which nothing
            is left after cropping.
        NotImplementedError: for other numbers of dimensions, and for bools.

    Example:
        >>> nn.ReflectionPad1d(2)(torch.tensor([[1, 2, 3]]))
        tensor([[3, 2, 1, 2, 3, 2, 1]])
    """


class ReflectionPad2d(_ReflectionPadNd, dims=2):
    """Pads the last two dimensions with their own reflection.

    What is added is the input seen in a mirror at its first and last position, which are not repeated.

    The input is ``(N, C, H, W)`` or ``(C, H, W)`` of any dtype but bool; ``H`` becomes
    ``top + H + bottom``, and ``W`` ``left + W + right``. The result is a new tensor of the same dtype.

    Args:
        padding: how many positions are added, one number for all sides or ``(left, right, top, bottom)``;
            each smaller than the size of its dimension; negative ones crop.

    Raises:
        RuntimeError: when called with a dimension that is not larger than its padding, or of which nothing
            is left after cropping.
        NotImplementedError: for other numbers of dimensions, and for bools.

    Example:
        >>> nn.ReflectionPad2d((1, 0, 0, 1))(torch.tensor([[[1, 2], [3, 4]]]))
        tensor([[[2, 1, 2],
                 [4, 3, 4],
                 [2, 1, 2]]])
    """


class ReflectionPad3d(_ReflectionPadNd, dims=3):
    """Pads the last three dimensions with their own reflection.

    What is added is the input seen in a mirror at its first and last position, which are not repeated.

    The input is ``(N, C, D, H, W)`` or ``(C, D, H, W)`` of any dtype but bool; ``D`` becomes
    ``front + D + back``, ``H`` ``top + H + bottom``, and ``W`` ``left + W + right``. The result is a new
    tensor of the same dtype.

    Args:
        padding: how many positions are added, one number for all sides or
            ``(left, right, top, bottom, front, back)``; each smaller than the size of its dimension;
            negative ones crop.

    Raises:
        RuntimeError: when called with a dimension that is not larger than its padding, or of which nothing
            is left after cropping.
        NotImplementedError: for other numbers of dimensions, and for bools.

    Example:
        >>> x = torch.arange(8).reshape(1, 2, 2, 2)
        >>> y = nn.ReflectionPad3d((0, 0, 0, 0, 1, 0))(x)
        >>> y.shape
        torch.Size([1, 3, 2, 2])
        >>> torch.equal(y[:, 0], x[:, 1])
        True
    """


class _ReplicationPadNd(_PadNd, mode="replicate"):
    pass


class ReplicationPad1d(_ReplicationPadNd, dims=1):
    """Pads the last dimension by repeating its ends.

    What is added on a side are copies of the position at that side.

    The input is ``(N, C, W)`` or ``(C, W)`` of any dtype but bool; ``W`` becomes ``left + W + right``. The
    result is a new tensor of the same dtype.

    Args:
        padding: how many positions are added, one number for all sides or ``(left, right)``; negative ones
            crop.

    Raises:
        RuntimeError: when called with a dimension of which nothing is left after cropping.
        NotImplementedError: for other numbers of dimensions, and for bools.

    Example:
        >>> nn.ReplicationPad1d((1, 3))(torch.tensor([[1, 2, 3]]))
        tensor([[1, 1, 2, 3, 3, 3, 3]])
    """


class ReplicationPad2d(_ReplicationPadNd, dims=2):
    """Pads the last two dimensions by repeating their ends.

    What is added on a side are copies of the position at that side.

    The input is ``(N, C, H, W)`` or ``(C, H, W)`` of any dtype but bool; ``H`` becomes
    ``top + H + bottom``, and ``W`` ``left + W + right``. The result is a new tensor of the same dtype.

    Args:
        padding: how many positions are added, one number for all sides or ``(left, right, top, bottom)``;
            negative ones crop.

    Raises:
        RuntimeError: when called with a dimension of which nothing is left after cropping.
        NotImplementedError: for other numbers of dimensions, and for bools.

    Example:
        >>> nn.ReplicationPad2d((1, 0, 0, 1))(torch.tensor([[[1, 2], [3, 4]]]))
        tensor([[[1, 1, 2],
                 [3, 3, 4],
                 [3, 3, 4]]])
    """


class ReplicationPad3d(_ReplicationPadNd, dims=3):
    """Pads the last three dimensions by repeating their ends.

    What is added on a side are copies of the position at that side.

    The input is ``(N, C, D, H, W)`` or ``(C, D, H, W)`` of any dtype but bool; ``D`` becomes
    ``front + D + back``, ``H`` ``top + H + bottom``, and ``W`` ``left + W + right``. The result is a new
    tensor of the same dtype.

    Args:
        padding: how many positions are added, one number for all sides or
            ``(left, right, top, bottom, front, back)``; negative ones crop.

    Raises:
        RuntimeError: when called with a dimension of which nothing is left after cropping.
        NotImplementedError: for other numbers of dimensions, and for bools.

    Example:
        >>> x = torch.arange(8).reshape(1, 2, 2, 2)
        >>> y = nn.ReplicationPad3d((0, 0, 0, 0, 1, 0))(x)
        >>> y.shape
        torch.Size([1, 3, 2, 2])
        >>> torch.equal(y[:, 0], x[:, 0])
        True
    """


class _CircularPadNd(_PadNd, mode="circular"):
    pass


class CircularPad1d(_CircularPadNd, dims=1):
    """Pads the last dimension by wrapping around.

    What is added before the first position are the last ones, and after the last the first ones.

    The input is ``(N, C, W)`` or ``(C, W)`` of any dtype; ``W`` becomes ``left + W + right``. The result is
    a new tensor of the same dtype.

    Args:
        padding: how many positions are added, one number for all sides or ``(left, right)``; none larger
            than the size of its dimension; negative ones crop.

    Raises:
        RuntimeError: when called with a dimension smaller than its padding, or when more is cropped than
            there is.
        NotImplementedError: for other numbers of dimensions.

    Example:
        >>> nn.CircularPad1d((1, 2))(torch.tensor([[1, 2, 3]]))
        tensor([[3, 1, 2, 3, 1, 2]])
    """


class CircularPad2d(_CircularPadNd, dims=2):
    """Pads the last two dimensions by wrapping around.

    What is added before the first position are the last ones, and after the last the first ones.

    The input is ``(N, C, H, W)`` or ``(C, H, W)`` of any dtype; ``H`` becomes ``top + H + bottom``, and
    ``W`` ``left + W + right``. The result is a new tensor of the same dtype.

    Args:
        padding: how many positions are added, one number for all sides or ``(left, right, top, bottom)``;
            none larger than the size of its dimension; negative ones crop.

    Raises:
        RuntimeError: when called with a dimension smaller than its padding, or when more is cropped than
            there is.
        NotImplementedError: for other numbers of dimensions.

    Example:
        >>> nn.CircularPad2d((1, 0, 0, 1))(torch.tensor([[[1, 2], [3, 4]]]))
        tensor([[[2, 1, 2],
                 [4, 3, 4],
                 [2, 1, 2]]])
    """


class CircularPad3d(_CircularPadNd, dims=3):
    """Pads the last three dimensions by wrapping around.

    What is added before the first position are the last ones, and after the last the first ones.

    The input is ``(N, C, D, H, W)`` or ``(C, D, H, W)`` of any dtype; ``D`` becomes ``front + D + back``,
    ``H`` ``top + H + bottom``, and ``W`` ``left + W + right``. The result is a new tensor of the same
    dtype.

    Args:
        padding: how many positions are added, one number for all sides or
            ``(left, right, top, bottom, front, back)``; none larger than the size of its dimension;
            negative ones crop.

    Raises:
        RuntimeError: when called with a dimension smaller than its padding, or when more is cropped than
            there is.
        NotImplementedError: for other numbers of dimensions.

    Example:
        >>> x = torch.arange(12).reshape(1, 3, 2, 2)
        >>> y = nn.CircularPad3d((0, 0, 0, 0, 1, 0))(x)
        >>> y.shape
        torch.Size([1, 4, 2, 2])
        >>> torch.equal(y[:, 0], x[:, 2])
        True
    """
