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
    """The largest value of each window along one dimension."""


class MaxPool2d(_MaxPoolNd, function=F.max_pool2d):
    """The largest value of each window over two dimensions."""


class MaxPool3d(_MaxPoolNd, function=F.max_pool3d):
    """The largest value of each window over three dimensions."""


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
    """Undoes `MaxPool1d` as far as its indices tell."""


class MaxUnpool2d(_MaxUnpoolNd, dims=2, function=F.max_unpool2d):
    """Undoes `MaxPool2d` as far as its indices tell."""


class MaxUnpool3d(_MaxUnpoolNd, dims=3, function=F.max_unpool3d):
    """Undoes `MaxPool3d` as far as its indices tell."""


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

    Args:
        kernel_size: size of the window.
        stride: steps from one window to the next (default: the window's size).
        padding: zeros added on each side.
        ceil_mode: keep a last window that reaches over the end.
        count_include_pad: whether those zeros count.
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
    """The mean of each window over two dimensions."""


class AvgPool3d(_AvgPoolNd, function=F.avg_pool3d):
    """The mean of each window over three dimensions."""


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
    """The norm of each window over one dimension."""


class LPPool2d(_LPPoolNd, function=F.lp_pool2d):
    """The norm of each window over two dimensions."""


class LPPool3d(_LPPoolNd, function=F.lp_pool3d):
    """The norm of each window over three dimensions."""


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
    """Means along one dimension, to a given output size."""


class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd, function=F.adaptive_avg_pool2d):
    """Means over two dimensions, to a given output size."""


class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd, function=F.adaptive_avg_pool3d):
    """Means over three dimensions, to a given output size."""


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
    """Largest values along one dimension, to a given output size."""


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd, function=F.adaptive_max_pool2d):
    """Largest values over two dimensions, to a given output size."""


class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd, function=F.adaptive_max_pool3d):
    """Largest values over three dimensions, to a given output size."""


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
    """Largest values of windows over two dimensions, drawn anew at every call."""


class FractionalMaxPool3d(_FractionalMaxPoolNd, function=F.fractional_max_pool3d, dims=3):
    """Largest values of windows over three dimensions, drawn anew at every call."""
