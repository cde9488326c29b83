"""Pooling over one, two and three dimensions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from jaxflow._core.tensor import Tensor
from jaxflow.nn import functional as F
from jaxflow.nn.modules.module import Module
from jaxflow.nn.modules.utils import _ntuple, _single

_Size = int | tuple[int, ...]


class _Pool(Module):
    """A pooling is one function of the input and the attributes its class declares."""

    _function: Callable
    _dims: int

    def __init_subclass__(cls, function: Callable | None = None, dims: int | None = None) -> None:
        super().__init_subclass__()
        if function is not None:
            cls._function = staticmethod(function)
        if dims is not None:
            cls._dims = dims


class _MaxPoolNd(_Pool):
    """The largest value of each window.

    Args:
        kernel_size: size of the window, one number or one a dimension, as the next three.
        stride: steps from one window to the next (default: the window's size).
        padding: positions added on each side, which never win.
        dilation: steps between the elements of a window.
        return_indices: also return where in its plane each largest value was.
        ceil_mode: keep a last window that reaches over the end.
    """

    def __init__(
        self,
        kernel_size: _Size,
        stride: _Size | None = None,
        padding: _Size = 0,
        dilation: _Size = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride if stride is not None else kernel_size
        self.padding, self.dilation = padding, dilation
        self.return_indices, self.ceil_mode = return_indices, ceil_mode

    def forward(self, input: Tensor) -> Tensor | tuple[Tensor, Tensor]:
        """``(N, C, *sizes)`` or ``(C, *sizes)`` to the same with fewer positions."""
        return self._function(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.dilation,
            ceil_mode=self.ceil_mode,
            return_indices=self.return_indices,
        )

    def extra_repr(self) -> str:
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, "
            f"dilation={self.dilation}, ceil_mode={self.ceil_mode}"
        )


class MaxPool1d(_MaxPoolNd, function=F.max_pool1d):
    """The largest value of each window along one dimension.

    For the length: ``L_out = floor((L + 2 * padding - dilation * (kernel_size - 1) - 1) / stride) + 1``,
    with ``ceil_mode`` rounded up.

    It is called with ``input`` of shape ``(N, C, L)`` or ``(C, L)``, integers or floating point, and
    returns ``(N, C, L_out)``, or without ``N``, of the same dtype. With ``return_indices`` it returns a
    pair: these values, and int64 indices of the same shape.

    Args:
        kernel_size: size of the window, a number, or a tuple of one; the next three likewise.
        stride: steps from one window to the next (default: the window's size).
        padding: positions added on each side, which never win; at most half of a window.
        dilation: steps between the elements of a window.
        return_indices: also return where in its plane each largest value was, as `MaxUnpool1d` takes it.
        ceil_mode: keep a last window that reaches over the end.

    Raises:
        RuntimeError: when called, for another number of dimensions, an argument out of range, or an input
            smaller than the window.

    Example:
        >>> pool = nn.MaxPool1d(2, return_indices=True)
        >>> pool(torch.tensor([[1.0, 3.0, 2.0, 2.0]]))
        (tensor([[3., 2.]]), tensor([[1, 2]]))
        >>> nn.MaxPool1d(2, ceil_mode=True)(torch.tensor([[1.0, 3.0, 2.0, 2.0, 5.0]]))
        tensor([[3., 2., 5.]])
    """


class MaxPool2d(_MaxPoolNd, function=F.max_pool2d):
    """The largest value of each window over two dimensions.

    For each of height and width:
    ``H_out = floor((H + 2 * padding - dilation * (kernel_size - 1) - 1) / stride) + 1``, with ``ceil_mode``
    rounded up.

    It is called with ``input`` of shape ``(N, C, H, W)`` or ``(C, H, W)``, integers or floating point, and
    returns ``(N, C, H_out, W_out)``, or without ``N``, of the same dtype. With ``return_indices`` it
    returns a pair: these values, and int64 indices of the same shape.

    Args:
        kernel_size: size of the window, one number, or two for height and width; the next three likewise.
        stride: steps from one window to the next (default: the window's size).
        padding: positions added on each side, which never win; at most half of a window.
        dilation: steps between the elements of a window.
        return_indices: also return where in its plane each largest value was, as `MaxUnpool2d` takes it.
        ceil_mode: keep a last window that reaches over the end.

    Raises:
        RuntimeError: when called, for another number of dimensions, an argument out of range, or an input
            smaller than the window.

    Example:
        >>> nn.MaxPool2d(2)(torch.arange(16.0).reshape(1, 4, 4))
        tensor([[[ 5.,  7.],
                 [13., 15.]]])
        >>> nn.MaxPool2d(3, stride=2, padding=1)(torch.ones(1, 64, 112, 112)).shape
        torch.Size([1, 64, 56, 56])
    """


class MaxPool3d(_MaxPoolNd, function=F.max_pool3d):
    """The largest value of each window over three dimensions.

    For each of depth, height and width:
    ``D_out = floor((D + 2 * padding - dilation * (kernel_size - 1) - 1) / stride) + 1``, with ``ceil_mode``
    rounded up.

    It is called with ``input`` of shape ``(N, C, D, H, W)`` or ``(C, D, H, W)``, integers or floating
    point, and returns ``(N, C, D_out, H_out, W_out)``, or without ``N``, of the same dtype. With
    ``return_indices`` it returns a pair: these values, and int64 indices of the same shape.

    Args:
        kernel_size: size of the window, one number, or three for depth, height and width; the next three
            likewise.
        stride: steps from one window to the next (default: the window's size).
        padding: positions added on each side, which never win; at most half of a window.
        dilation: steps between the elements of a window.
        return_indices: also return where in its plane each largest value was, as `MaxUnpool3d` takes it.
        ceil_mode: keep a last window that reaches over the end.

    Raises:
        RuntimeError: when called, for another number of dimensions, an argument out of range, or an input
            smaller than the window.

    Example:
        >>> nn.MaxPool3d((1, 2, 2))(torch.ones(2, 3, 4, 8, 8)).shape
        torch.Size([2, 3, 4, 4, 4])
        >>> values, indices = nn.MaxPool3d(2, return_indices=True)(torch.arange(8.0).reshape(1, 2, 2, 2))
        >>> values.item(), indices.item()
        (7.0, 7)
    """


class _MaxUnpoolNd(_Pool):
    """Puts the values of a max pooling back where they were, with zeros elsewhere.

    Args:
        kernel_size: window of that pooling, one number or one a dimension, as the next two.
        stride: its steps (default: the window's size).
        padding: its padding.
    """

    def __init__(
        self, kernel_size: _Size, stride: _Size | None = None, padding: _Size = 0
    ) -> None:
        super().__init__()
        sizes = _ntuple(self._dims)
        self.kernel_size = sizes(kernel_size)
        self.stride = sizes(stride if stride is not None else kernel_size)
        self.padding = sizes(padding)

    def forward(
        self, input: Tensor, indices: Tensor, output_size: Sequence[int] | None = None
    ) -> Tensor:
        """Values and the indices the pooling returned, to the pooling's input size."""
        return self._function(
            input, indices, self.kernel_size, self.stride, self.padding, output_size
        )

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpoolNd, dims=1, function=F.max_unpool1d):
    """Undoes `MaxPool1d` as far as its indices allow.

    Each value goes back to where the pooling found it; all other elements are 0. For the length:
    ``L_out = (L - 1) * stride - 2 * padding + kernel_size``. From Zeiler and Fergus, "Visualizing and
    Understanding Convolutional Networks", 2014.

    It is called with ``input`` of shape ``(N, C, L)`` or ``(C, L)``, ``indices`` of the same shape, int64,
    as ``return_indices`` gave them, and an optional ``output_size``, for where several sizes were pooled to
    this one. It returns ``(N, C, L_out)``, or without ``N``, of the dtype of ``input``.

    Args:
        kernel_size: window of that pooling, a number, or a tuple of one; the next two likewise.
        stride: its steps (default: the window's size).
        padding: its padding.

    Raises:
        ValueError: when called with an ``output_size`` that cannot have been pooled to this one.
        RuntimeError: when called with indices of another shape, or outside the output.

    Example:
        >>> pool = nn.MaxPool1d(2, return_indices=True)
        >>> values, indices = pool(torch.tensor([[1.0, 3.0, 2.0, 2.0, 0.0]]))
        >>> nn.MaxUnpool1d(2)(values, indices)
        tensor([[0., 3., 2., 0.]])
        >>> nn.MaxUnpool1d(2)(values, indices, output_size=(5,))
        tensor([[0., 3., 2., 0., 0.]])
    """


class MaxUnpool2d(_MaxUnpoolNd, dims=2, function=F.max_unpool2d):
    """Undoes `MaxPool2d` as far as its indices allow.

    Each value goes back to where the pooling found it; all other elements are 0. For each of height and
    width: ``H_out = (H - 1) * stride - 2 * padding + kernel_size``. From Zeiler and Fergus, "Visualizing
    and Understanding Convolutional Networks", 2014.

    It is called with ``input`` of shape ``(N, C, H, W)`` or ``(C, H, W)``, ``indices`` of the same shape,
    int64, as ``return_indices`` gave them, and an optional ``output_size``, for where several sizes were
    pooled to this one. It returns ``(N, C, H_out, W_out)``, or without ``N``, of the dtype of ``input``.

    Args:
        kernel_size: window of that pooling, one number, or two for height and width; the next two likewise.
        stride: its steps (default: the window's size).
        padding: its padding.

    Raises:
        ValueError: when called with an ``output_size`` that cannot have been pooled to this one.
        RuntimeError: when called with indices of another shape, or outside the output.

    Example:
        >>> values, indices = nn.MaxPool2d(2, return_indices=True)(torch.arange(16.0).reshape(1, 4, 4))
        >>> nn.MaxUnpool2d(2)(values, indices)
        tensor([[[ 0.,  0.,  0.,  0.],
                 [ 0.,  5.,  0.,  7.],
                 [ 0.,  0.,  0.,  0.],
                 [ 0., 13.,  0., 15.]]])
    """


class MaxUnpool3d(_MaxUnpoolNd, dims=3, function=F.max_unpool3d):
    """Undoes `MaxPool3d` as far as its indices allow.

    Each value goes back to where the pooling found it; all other elements are 0. For each of depth, height
    and width: ``D_out = (D - 1) * stride - 2 * padding + kernel_size``. From Zeiler and Fergus,
    "Visualizing and Understanding Convolutional Networks", 2014.

    It is called with ``input`` of shape ``(N, C, D, H, W)`` or ``(C, D, H, W)``, ``indices`` of the same
    shape, int64, as ``return_indices`` gave them, and an optional ``output_size``, for where several sizes
    were pooled to this one. It returns ``(N, C, D_out, H_out, W_out)``, or without ``N``, of the dtype of
    ``input``.

    Args:
        kernel_size: window of that pooling, one number, or three for depth, height and width; the next two
            likewise.
        stride: its steps (default: the window's size).
        padding: its padding.

    Raises:
        ValueError: when called with an ``output_size`` that cannot have been pooled to this one.
        RuntimeError: when called with indices of another shape, or outside the output.

    Example:
        >>> input = torch.arange(64.0).reshape(1, 4, 4, 4)
        >>> values, indices = nn.MaxPool3d(2, return_indices=True)(input)
        >>> found = nn.MaxUnpool3d(2)(values, indices)
        >>> found.shape, found.count_nonzero()
        (torch.Size([1, 4, 4, 4]), tensor(8))
    """


class _AvgPoolNd(_Pool):
    """The mean of each window.

    Args:
        kernel_size: size of the window, one number or one a dimension, as the next two.
        stride: steps from one window to the next (default: the window's size).
        padding: zeros added on each side.
        ceil_mode: keep a last window that reaches over the end.
        count_include_pad: whether those zeros count.
        divisor_override: divide by this instead of the number of elements.
    """

    def __init__(
        self,
        kernel_size: _Size,
        stride: _Size | None = None,
        padding: _Size = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride if stride is not None else kernel_size
        self.padding, self.ceil_mode = padding, ceil_mode
        self.count_include_pad, self.divisor_override = count_include_pad, divisor_override

    def forward(self, input: Tensor) -> Tensor:
        """``(N, C, *sizes)`` or ``(C, *sizes)`` to the same with fewer positions."""
        return self._function(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
        )

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool1d(_AvgPoolNd, function=F.avg_pool1d):
    """The mean of each window along one dimension.

    For the length: ``L_out = floor((L + 2 * padding - kernel_size) / stride) + 1``, with ``ceil_mode``
    rounded up.

    It is called with ``input`` of shape ``(N, C, L)`` or ``(C, L)``, integers or floating point, and
    returns ``(N, C, L_out)``, or without ``N``, of the same dtype.

    Args:
        kernel_size: size of the window, a number, or a tuple of one; the next two likewise.
        stride: steps from one window to the next (default: the window's size).
        padding: zeros added on each side; at most half of a window.
        ceil_mode: keep a last window that reaches over the end.
        count_include_pad: whether those zeros count as elements of the window.

    Raises:
        RuntimeError: when called, for another number of dimensions, an argument out of range, or an input
            smaller than the window.

    Example:
        >>> input = torch.tensor([[1.0, 3.0, 2.0, 2.0]])
        >>> nn.AvgPool1d(2)(input)
        tensor([[2., 2.]])
        >>> nn.AvgPool1d(2, padding=1)(input)
        tensor([[0.5000, 2.5000, 1.0000]])
        >>> nn.AvgPool1d(2, padding=1, count_include_pad=False)(input)
        tensor([[1.0000, 2.5000, 2.0000]])
    """

    def __init__(
        self,
        kernel_size: _Size,
        stride: _Size | None = None,
        padding: _Size = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__(
            _single(kernel_size),
            _single(stride if stride is not None else kernel_size),
            _single(padding),
            ceil_mode,
            count_include_pad,
        )
        del self.divisor_override

    def forward(self, input: Tensor) -> Tensor:
        """``(N, C, L)`` or ``(C, L)`` to the same with fewer positions."""
        return self._function(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
        )


class AvgPool2d(_AvgPoolNd, function=F.avg_pool2d):
    """The mean of each window over two dimensions.

    For each of height and width: ``H_out = floor((H + 2 * padding - kernel_size) / stride) + 1``, with
    ``ceil_mode`` rounded up.

    It is called with ``input`` of shape ``(N, C, H, W)`` or ``(C, H, W)``, integers or floating point, and
    returns ``(N, C, H_out, W_out)``, or without ``N``, of the same dtype.

    Args:
        kernel_size: size of the window, one number, or two for height and width; the next two likewise.
        stride: steps from one window to the next (default: the window's size).
        padding: zeros added on each side; at most half of a window.
        ceil_mode: keep a last window that reaches over the end.
        count_include_pad: whether those zeros count as elements of the window.
        divisor_override: divide by this instead of the number of elements; not 0.

    Raises:
        RuntimeError: when called, for another number of dimensions, an argument out of range, or an input
            smaller than the window.

    Example:
        >>> nn.AvgPool2d(2)(torch.arange(16.0).reshape(1, 4, 4))
        tensor([[[ 2.5000,  4.5000],
                 [10.5000, 12.5000]]])
        >>> nn.AvgPool2d((3, 1), stride=1)(torch.ones(2, 8, 5, 5)).shape
        torch.Size([2, 8, 3, 5])
    """


class AvgPool3d(_AvgPoolNd, function=F.avg_pool3d):
    """The mean of each window over three dimensions.

    For each of depth, height and width: ``D_out = floor((D + 2 * padding - kernel_size) / stride) + 1``,
    with ``ceil_mode`` rounded up.

    It is called with ``input`` of shape ``(N, C, D, H, W)`` or ``(C, D, H, W)``, integers or floating
    point, and returns ``(N, C, D_out, H_out, W_out)``, or without ``N``, of the same dtype.

    Args:
        kernel_size: size of the window, one number, or three for depth, height and width; the next two
            likewise.
        stride: steps from one window to the next (default: the window's size).
        padding: zeros added on each side; at most half of a window.
        ceil_mode: keep a last window that reaches over the end.
        count_include_pad: whether those zeros count as elements of the window.
        divisor_override: divide by this instead of the number of elements; not 0.

    Raises:
        RuntimeError: when called, for another number of dimensions, an argument out of range, or an input
            smaller than the window.

    Example:
        >>> nn.AvgPool3d(2)(torch.arange(8.0).reshape(1, 2, 2, 2))
        tensor([[[[3.5000]]]])
        >>> nn.AvgPool3d(2, divisor_override=1)(torch.arange(8.0).reshape(1, 2, 2, 2))  # the sum
        tensor([[[[28.]]]])
    """


class _LPPoolNd(_Pool):
    """The root of the sum of powers of each window.

    Args:
        norm_type: the power.
        kernel_size: size of the window, one number or one a dimension, as the next.
        stride: steps from one window to the next (default: the window's size).
        ceil_mode: keep a last window that reaches over the end.
    """

    def __init__(
        self,
        norm_type: float,
        kernel_size: _Size,
        stride: _Size | None = None,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.norm_type, self.kernel_size = norm_type, kernel_size
        self.stride, self.ceil_mode = stride, ceil_mode

    def forward(self, input: Tensor) -> Tensor:
        """``(N, C, *sizes)`` or ``(C, *sizes)`` to the same with fewer positions."""
        return self._function(
            input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode
        )

    def extra_repr(self) -> str:
        return (
            f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, "
            f"ceil_mode={self.ceil_mode}"
        )


class LPPool1d(_LPPoolNd, function=F.lp_pool1d):
    """The norm of each window over one dimension.

    ``output = (sum of x ** p over the window) ** (1 / p)``, with ``p = norm_type``. No absolute values are
    taken: for odd ``p`` a negative sum keeps its sign before the root, which is nan for ``p`` other than 1.

    For the length: ``L_out = floor((L - kernel_size) / stride) + 1``, with ``ceil_mode`` rounded up.

    It is called with ``input`` of shape ``(N, C, L)`` or ``(C, L)``, floating point, and returns
    ``(N, C, L_out)``, or without ``N``, of the same dtype.

    Args:
        norm_type: the power; 1 gives the sum, 2 the Euclidean norm.
        kernel_size: size of the window, a number; the next likewise.
        stride: steps from one window to the next (default: the window's size).
        ceil_mode: keep a last window that reaches over the end.

    Raises:
        RuntimeError: when called, for another number of dimensions, or an input smaller than the window.

    Example:
        >>> nn.LPPool1d(2, kernel_size=2)(torch.tensor([[3.0, 4.0, 0.0, 5.0]]))
        tensor([[5., 5.]])
        >>> nn.LPPool1d(1, kernel_size=2)(torch.tensor([[3.0, 4.0, 0.0, 5.0]]))  # the sum
        tensor([[7., 5.]])
    """


class LPPool2d(_LPPoolNd, function=F.lp_pool2d):
    """The norm of each window over two dimensions.

    ``output = (sum of x ** p over the window) ** (1 / p)``, with ``p = norm_type``. No absolute values are
    taken: for odd ``p`` a negative sum keeps its sign before the root, which is nan for ``p`` other than 1.

    For each of height and width: ``H_out = floor((H - kernel_size) / stride) + 1``, with ``ceil_mode``
    rounded up.

    It is called with ``input`` of shape ``(N, C, H, W)`` or ``(C, H, W)``, floating point, and returns
    ``(N, C, H_out, W_out)``, or without ``N``, of the same dtype.

    Args:
        norm_type: the power; 1 gives the sum, 2 the Euclidean norm.
        kernel_size: size of the window, one number, or two for height and width; the next likewise.
        stride: steps from one window to the next (default: the window's size).
        ceil_mode: keep a last window that reaches over the end.

    Raises:
        RuntimeError: when called, for another number of dimensions, or an input smaller than the window.

    Example:
        >>> nn.LPPool2d(2, kernel_size=2)(torch.full((1, 2, 4), 3.0))  # the root of 4 * 9
        tensor([[[6., 6.]]])
        >>> nn.LPPool2d(2, kernel_size=(3, 1), stride=1)(torch.ones(2, 8, 5, 5)).shape
        torch.Size([2, 8, 3, 5])
    """


class LPPool3d(_LPPoolNd, function=F.lp_pool3d):
    """The norm of each window over three dimensions.

    ``output = (sum of x ** p over the window) ** (1 / p)``, with ``p = norm_type``. No absolute values are
    taken: for odd ``p`` a negative sum keeps its sign before the root, which is nan for ``p`` other than 1.

    For each of depth, height and width: ``D_out = floor((D - kernel_size) / stride) + 1``, with
    ``ceil_mode`` rounded up.

    It is called with ``input`` of shape ``(N, C, D, H, W)`` or ``(C, D, H, W)``, floating point, and
    returns ``(N, C, D_out, H_out, W_out)``, or without ``N``, of the same dtype.

    Args:
        norm_type: the power; 1 gives the sum, 2 the Euclidean norm.
        kernel_size: size of the window, one number, or three for depth, height and width; the next
            likewise.
        stride: steps from one window to the next (default: the window's size).
        ceil_mode: keep a last window that reaches over the end.

    Raises:
        RuntimeError: when called, for another number of dimensions, or an input smaller than the window.

    Example:
        >>> nn.LPPool3d(1, kernel_size=2)(torch.full((1, 2, 2, 2), 3.0))  # the sum of 8 elements
        tensor([[[[24.]]]])
        >>> nn.LPPool3d(2, kernel_size=(1, 2, 2))(torch.ones(2, 3, 4, 8, 8)).shape
        torch.Size([2, 3, 4, 4, 4])
    """


class _AdaptiveAvgPoolNd(_Pool):
    """Means over windows chosen so that the output has a given size.

    Args:
        output_size: that size, one number or one a dimension; None keeps the input's.
    """

    def __init__(self, output_size: int | None | tuple[int | None, ...]) -> None:
        super().__init__()
        self.output_size = output_size

    def forward(self, input: Tensor) -> Tensor:
        """``(N, C, *sizes)`` or ``(C, *sizes)`` to the same with ``output_size`` positions."""
        return self._function(input, self.output_size)

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_AdaptiveAvgPoolNd, function=F.adaptive_avg_pool1d):
    """Means along one dimension, to a given output size.

    Window ``i`` of ``n`` covers the positions from ``floor(i * L / n)`` up to, without it,
    ``ceil((i + 1) * L / n)``; windows may overlap.

    It is called with ``input`` of shape ``(N, C, L)`` or ``(C, L)``, floating point, and returns the same
    with ``output_size`` positions, of the same dtype.

    Args:
        output_size: that size, a number or a tuple of one.

    Raises:
        RuntimeError: when called, for another number of dimensions, or a negative size.
        NotImplementedError: when called with integers.

    Example:
        >>> nn.AdaptiveAvgPool1d(2)(torch.tensor([[1.0, 2.0, 3.0, 4.0, 5.0]]))  # of 1 to 3, and of 3 to 5
        tensor([[2., 4.]])
    """


class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd, function=F.adaptive_avg_pool2d):
    """Means over two dimensions, to a given output size.

    Window ``i`` of ``n`` covers the positions from ``floor(i * H / n)`` up to, without it,
    ``ceil((i + 1) * H / n)``, and so for the other dimensions; windows may overlap.

    It is called with ``input`` of shape ``(N, C, H, W)`` or ``(C, H, W)``, floating point, and returns the
    same with ``output_size`` positions, of the same dtype.

    Args:
        output_size: that size, one number, or two for height and width; None keeps the input's.

    Raises:
        RuntimeError: when called, for another number of dimensions, or a negative size.
        NotImplementedError: when called with integers.

    Example:
        >>> nn.AdaptiveAvgPool2d((None, 1))(torch.arange(8.0).reshape(1, 2, 4))
        tensor([[[1.5000],
                 [5.5000]]])
        >>> nn.AdaptiveAvgPool2d(7)(torch.ones(2, 3, 10, 9)).shape
        torch.Size([2, 3, 7, 7])
    """


class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd, function=F.adaptive_avg_pool3d):
    """Means over three dimensions, to a given output size.

    Window ``i`` of ``n`` covers the positions from ``floor(i * D / n)`` up to, without it,
    ``ceil((i + 1) * D / n)``, and so for the other dimensions; windows may overlap.

    It is called with ``input`` of shape ``(N, C, D, H, W)`` or ``(C, D, H, W)``, floating point, and
    returns the same with ``output_size`` positions, of the same dtype.

    Args:
        output_size: that size, one number, or three for depth, height and width; None keeps the input's.

    Raises:
        RuntimeError: when called, for another number of dimensions, or a negative size.
        NotImplementedError: when called with integers.

    Example:
        >>> nn.AdaptiveAvgPool3d(1)(torch.arange(8.0).reshape(1, 2, 2, 2))
        tensor([[[[3.5000]]]])
        >>> nn.AdaptiveAvgPool3d((2, None, 3))(torch.ones(2, 3, 5, 6, 7)).shape
        torch.Size([2, 3, 2, 6, 3])
    """


class _AdaptiveMaxPoolNd(_Pool):
    """Largest values of windows chosen so that the output has a given size.

    Args:
        output_size: that size, one number or one a dimension; None keeps the input's.
        return_indices: also return where in its plane each largest value was.
    """

    def __init__(
        self, output_size: int | None | tuple[int | None, ...], return_indices: bool = False
    ) -> None:
        super().__init__()
        self.output_size, self.return_indices = output_size, return_indices

    def forward(self, input: Tensor) -> Tensor | tuple[Tensor, Tensor]:
        """``(N, C, *sizes)`` or ``(C, *sizes)`` to the same with ``output_size`` positions."""
        return self._function(input, self.output_size, self.return_indices)

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd, function=F.adaptive_max_pool1d):
    """Largest values along one dimension, to a given output size.

    Window ``i`` of ``n`` covers the positions from ``floor(i * L / n)`` up to, without it,
    ``ceil((i + 1) * L / n)``; windows may overlap.

    It is called with ``input`` of shape ``(N, C, L)`` or ``(C, L)``, floating point, and returns the same
    with ``output_size`` positions, of the same dtype. With ``return_indices`` it returns a pair: these
    values, and int64 indices of the same shape.

    Args:
        output_size: that size, a number or a tuple of one.
        return_indices: also return where in its plane each largest value was.

    Raises:
        RuntimeError: when called, for another number of dimensions.
        NotImplementedError: when called with integers.

    Example:
        >>> pool = nn.AdaptiveMaxPool1d(2, return_indices=True)
        >>> pool(torch.tensor([[1.0, 5.0, 2.0, 4.0, 3.0]]))  # of the elements 0 to 2, and 2 to 4
        (tensor([[5., 4.]]), tensor([[1, 3]]))
    """


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd, function=F.adaptive_max_pool2d):
    """Largest values over two dimensions, to a given output size.

    Window ``i`` of ``n`` covers the positions from ``floor(i * H / n)`` up to, without it,
    ``ceil((i + 1) * H / n)``, and so for the other dimensions; windows may overlap.

    It is called with ``input`` of shape ``(N, C, H, W)`` or ``(C, H, W)``, floating point, and returns the
    same with ``output_size`` positions, of the same dtype. With ``return_indices`` it returns a pair: these
    values, and int64 indices of the same shape.

    Args:
        output_size: that size, one number, or two for height and width; None keeps the input's.
        return_indices: also return where in its plane each largest value was.

    Raises:
        RuntimeError: when called, for another number of dimensions.
        NotImplementedError: when called with integers.

    Example:
        >>> nn.AdaptiveMaxPool2d((2, None))(torch.arange(16.0).reshape(1, 4, 4))
        tensor([[[ 4.,  5.,  6.,  7.],
                 [12., 13., 14., 15.]]])
        >>> nn.AdaptiveMaxPool2d(7)(torch.ones(2, 3, 10, 9)).shape
        torch.Size([2, 3, 7, 7])
    """


class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd, function=F.adaptive_max_pool3d):
    """Largest values over three dimensions, to a given output size.

    Window ``i`` of ``n`` covers the positions from ``floor(i * D / n)`` up to, without it,
    ``ceil((i + 1) * D / n)``, and so for the other dimensions; windows may overlap.

    It is called with ``input`` of shape ``(N, C, D, H, W)`` or ``(C, D, H, W)``, floating point, and
    returns the same with ``output_size`` positions, of the same dtype. With ``return_indices`` it returns a
    pair: these values, and int64 indices of the same shape.

    Args:
        output_size: that size, one number, or three for depth, height and width; None keeps the input's.
        return_indices: also return where in its plane each largest value was.

    Raises:
        RuntimeError: when called, for another number of dimensions.
        NotImplementedError: when called with integers.

    Example:
        >>> pool = nn.AdaptiveMaxPool3d(1, return_indices=True)
        >>> values, indices = pool(torch.arange(8.0).reshape(1, 2, 2, 2))
        >>> values.item(), indices.item()
        (7.0, 7)
        >>> nn.AdaptiveMaxPool3d((2, None, 3))(torch.ones(2, 3, 5, 6, 7)).shape
        torch.Size([2, 3, 2, 6, 3])
    """


class _FractionalMaxPoolNd(_Pool):
    """Largest values of windows whose places are drawn anew at every call.

    Args:
        kernel_size: size of a window, one number or one a dimension.
        output_size: how many windows; or
        output_ratio: a factor between 0 and 1 of the input's size.
        return_indices: also return where in its plane each largest value was.
        _random_samples: numbers in [0, 1) that place the windows, instead of drawn ones.

    Raises:
        ValueError: unless one of size and ratio is given, and for ratios out of range.
    """

    def __init__(
        self,
        kernel_size: int | tuple[int, ...],
        output_size: int | tuple[int, ...] | None = None,
        output_ratio: float | tuple[float, ...] | None = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> None:
        super().__init__()

        def each(value):
            return value if value is None or isinstance(value, (tuple, list)) else (value,) * self._dims

        self.kernel_size, self.return_indices = each(kernel_size), return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size, self.output_ratio = each(output_size), each(output_ratio)
        if output_size is None and output_ratio is None:
            raise ValueError(
                f"{type(self).__name__} requires specifying either an output size, or a pooling ratio")
        if output_size is not None and output_ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        if self.output_ratio is not None and not all(0 < ratio < 1 for ratio in self.output_ratio):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")

    def forward(self, input: Tensor) -> Tensor | tuple[Tensor, Tensor]:
        """``(N, C, *sizes)`` or ``(C, *sizes)`` to the same with fewer positions."""
        return self._function(input, self.kernel_size, self.output_size, self.output_ratio,
                              self.return_indices, _random_samples=self._random_samples)


class FractionalMaxPool2d(_FractionalMaxPoolNd, function=F.fractional_max_pool2d, dims=2):
    """Largest values of windows over two dimensions, drawn anew at every call.

    The steps from one window to the next differ by chance, so that a size can be divided by a number that
    is not whole. From Graham, "Fractional Max-Pooling", 2014.

    It is called with ``input`` of shape ``(N, C, H, W)`` or ``(C, H, W)``, floating point, and returns
    ``(N, C, H_out, W_out)``, or without ``N``, of the same dtype. With ``return_indices`` it returns a
    pair: these values, and int64 indices of the same shape.

    Args:
        kernel_size: size of a window, one number, or two for height and width.
        output_size: how many windows, one number, or two for height and width; or
        output_ratio: a factor between 0 and 1 of the input's size, or one for each dimension; rounded down.
        return_indices: also return where in its plane each largest value was.
        _random_samples: numbers in [0, 1) that place the windows, instead of drawn ones, shape
            ``(N, C, 2)``.

    Raises:
        ValueError: unless one of size and ratio is given, and for ratios out of range.
        RuntimeError: when called, for windows that do not fit into the input.

    Example:
        >>> nn.FractionalMaxPool2d(2, output_ratio=0.5)(torch.ones(1, 3, 8, 6)).shape
        torch.Size([1, 3, 4, 3])
        >>> pool = nn.FractionalMaxPool2d(2, output_size=3, _random_samples=torch.full((1, 1, 2), 0.5))
        >>> pool(torch.arange(36.0).reshape(1, 6, 6))
        tensor([[[ 7.,  9., 11.],
                 [19., 21., 23.],
                 [31., 33., 35.]]])
    """


class FractionalMaxPool3d(_FractionalMaxPoolNd, function=F.fractional_max_pool3d, dims=3):
    """Largest values of windows over three dimensions, drawn anew at every call.

    The steps from one window to the next differ by chance, so that a size can be divided by a number that
    is not whole. From Graham, "Fractional Max-Pooling", 2014.

    It is called with ``input`` of shape ``(N, C, D, H, W)`` or ``(C, D, H, W)``, floating point, and
    returns ``(N, C, D_out, H_out, W_out)``, or without ``N``, of the same dtype. With ``return_indices`` it
    returns a pair: these values, and int64 indices of the same shape.

    Args:
        kernel_size: size of a window, one number, or three for depth, height and width.
        output_size: how many windows, one number, or three for depth, height and width; or
        output_ratio: a factor between 0 and 1 of the input's size, or one for each dimension; rounded down.
        return_indices: also return where in its plane each largest value was.
        _random_samples: numbers in [0, 1) that place the windows, instead of drawn ones, shape
            ``(N, C, 3)``.

    Raises:
        ValueError: unless one of size and ratio is given, and for ratios out of range.
        RuntimeError: when called, for windows that do not fit into the input.

    Example:
        >>> nn.FractionalMaxPool3d(2, output_ratio=(0.5, 0.5, 0.75))(torch.ones(1, 3, 8, 6, 8)).shape
        torch.Size([1, 3, 4, 3, 6])
        >>> pool = nn.FractionalMaxPool3d(2, output_size=(2, 3, 4), return_indices=True)
        >>> values, indices = pool(torch.ones(3, 8, 8, 8))
        >>> values.shape, indices.dtype
        (torch.Size([3, 2, 3, 4]), torch.int64)
    """
