"""Convolutions and transposed convolutions over one, two and three dimensions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from jaxflow import _functions as functions
from jaxflow._core.tensor import Tensor
from jaxflow.nn import functional as F
from jaxflow.nn import init
from jaxflow.nn.modules.lazy import Waiting
from jaxflow.nn.modules.module import Module
from jaxflow.nn.modules.utils import _ntuple, _reverse_repeat_tuple
from jaxflow.nn.parameter import Parameter, UninitializedParameter

_PADDING_MODES = {"zeros", "reflect", "replicate", "circular"}
_PADDING_NAMES = {"same", "valid"}


class _ConvNd(Module):
    """Weight, bias and sizes of every convolution."""

    _dims: int
    _function: Callable

    def __init_subclass__(cls, dims: int | None = None, function: Callable | None = None) -> None:
        super().__init_subclass__()
        if dims is not None:
            cls._dims, cls._function = dims, staticmethod(function)

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: tuple[int, ...],
        stride: tuple[int, ...],
        padding: str | tuple[int, ...],
        dilation: tuple[int, ...],
        transposed: bool,
        output_padding: tuple[int, ...],
        groups: int,
        bias: bool,
        padding_mode: str,
        device=None,
        dtype=None,
    ) -> None:
        super().__init__()
        _check(in_channels, out_channels, groups, padding, stride, padding_mode)
        self.in_channels, self.out_channels = in_channels, out_channels
        self.kernel_size, self.stride = kernel_size, stride
        self.padding, self.dilation = padding, dilation
        self.transposed, self.output_padding = transposed, output_padding
        self.groups, self.padding_mode = groups, padding_mode
        self._reversed_padding_repeated_twice = _explicit_padding(padding, kernel_size, dilation)
        shape = (
            (in_channels, out_channels // groups, *kernel_size)
            if transposed
            else (out_channels, in_channels // groups, *kernel_size)
        )
        self.weight = Parameter(functions.empty(shape, device=device, dtype=dtype))
        self.register_parameter(
            "bias",
            Parameter(functions.empty(out_channels, device=device, dtype=dtype)) if bias else None,
        )
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw both parameters uniformly within ``1 / sqrt(inputs of one output)`` of zero."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
            if fan_in != 0:
                bound = 1 / math.sqrt(fan_in)
                init.uniform_(self.bias, -bound, bound)

    def extra_repr(self) -> str:
        none = (0,) * len(self.kernel_size)
        one = (1,) * len(self.kernel_size)
        shown = [
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, "
            f"stride={self.stride}"
        ]
        if self.padding != none:
            shown.append(f"padding={self.padding}")
        if self.dilation != one:
            shown.append(f"dilation={self.dilation}")
        if self.output_padding != none:
            shown.append(f"output_padding={self.output_padding}")
        if self.groups != 1:
            shown.append(f"groups={self.groups}")
        if self.bias is None:
            shown.append("bias=False")
        if self.padding_mode != "zeros":
            shown.append(f"padding_mode={self.padding_mode}")
        return ", ".join(shown)

    def __setstate__(self, state: dict) -> None:
        super().__setstate__(state)
        self.__dict__.setdefault("padding_mode", "zeros")


def _check(in_channels, out_channels, groups, padding, stride, padding_mode) -> None:
    if groups <= 0:
        raise ValueError("groups must be a positive integer")
    if in_channels % groups != 0:
        raise ValueError("in_channels must be divisible by groups")
    if out_channels % groups != 0:
        raise ValueError("out_channels must be divisible by groups")
    if isinstance(padding, str):
        if padding not in _PADDING_NAMES:
            raise ValueError(
                f"Invalid padding string {padding!r}, should be one of {_PADDING_NAMES}"
            )
        if padding == "same" and any(s != 1 for s in stride):
            raise ValueError("padding='same' is not supported for strided convolutions")
    if padding_mode not in _PADDING_MODES:
        raise ValueError(
            f"padding_mode must be one of {_PADDING_MODES}, but got padding_mode='{padding_mode}'"
        )


def _explicit_padding(padding, kernel_size, dilation) -> list[int]:
    """Padding as `F.pad` takes it: two numbers a dimension, the last dimension first."""
    if not isinstance(padding, str):
        return list(_reverse_repeat_tuple(padding, 2))
    pairs = [0, 0] * len(kernel_size)
    if padding == "same":
        for i, (d, k) in enumerate(zip(reversed(dilation), reversed(kernel_size))):
            total = d * (k - 1)
            pairs[2 * i] = total // 2
            pairs[2 * i + 1] = total - total // 2
    return pairs


class _Conv(_ConvNd):
    """The constructor and ``forward`` of convolutions."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | tuple[int, ...],
        stride: int | tuple[int, ...] = 1,
        padding: str | int | tuple[int, ...] = 0,
        dilation: int | tuple[int, ...] = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device=None,
        dtype=None,
    ) -> None:
        sizes = _ntuple(self._dims)
        super().__init__(
            in_channels,
            out_channels,
            sizes(kernel_size),
            sizes(stride),
            padding if isinstance(padding, str) else sizes(padding),
            sizes(dilation),
            False,
            sizes(0),
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        padding = self.padding
        if self.padding_mode != "zeros":
            pairs = self._reversed_padding_repeated_twice
            input = F.pad(input, pairs, mode=self.padding_mode)
            padding = 0
        return self._function(
            input, weight, bias, self.stride, padding, self.dilation, self.groups
        )

    def forward(self, input: Tensor) -> Tensor:
        """``(N, in_channels, *sizes)``, or without ``N``, to ``(N, out_channels, *new sizes)``."""
        return self._conv_forward(input, self.weight, self.bias)


class Conv1d(_Conv, dims=1, function=F.conv1d):
    """Cross-correlation over one dimension.

    ``output[n, o] = bias[o] + sum over i of correlate(input[n, i], weight[o, i])``, where ``i`` counts the
    input channels of the group of ``o``. For the length:
    ``L_out = floor((L + 2 * padding - dilation * (kernel_size - 1) - 1) / stride) + 1``. These sizes are
    explained in Dumoulin and Visin, "A guide to convolution arithmetic for deep learning", 2016.

    It is called with ``input`` of shape ``(N, in_channels, L)``, or without ``N``, of the dtype of the
    parameters, and returns ``(N, out_channels, L_out)``, or without ``N``, of the same dtype. The
    parameters are ``weight`` of shape ``(out_channels, in_channels / groups, k)`` and ``bias`` of shape
    ``(out_channels,)``. Both start uniform within ``1 / sqrt(f)`` of zero, where ``f`` is how many inputs
    one output is computed from.

    Args:
        in_channels: channels of the input.
        out_channels: channels of the output.
        kernel_size: size of the window, one number, as the next three.
        stride: steps from one window to the next.
        padding: positions added on each side; or ``"same"``, so many that the output has the input's size;
            or ``"valid"``, none.
        dilation: steps between the elements of a window.
        groups: how many parts the channels are divided into, each convolved by itself.
        bias: whether to learn a bias.
        padding_mode: what is added: ``"zeros"``, ``"reflect"``, ``"replicate"`` or ``"circular"``.
        device: where to put the parameters.
        dtype: their dtype, floating point or complex.

    Raises:
        ValueError: when the groups do not divide the channels, for an unknown padding, or for ``"same"``
            with a stride above 1.
        RuntimeError: when called, for another number of dimensions or channels, another dtype, or an input
            smaller than the window.

    Example:
        >>> conv = nn.Conv1d(1, 1, kernel_size=2, bias=False)
        >>> _ = nn.init.ones_(conv.weight)
        >>> conv(torch.tensor([[1.0, 2.0, 4.0]])).tolist()
        [[3.0, 6.0]]
    """


class Conv2d(_Conv, dims=2, function=F.conv2d):
    """Cross-correlation over two dimensions.

    ``output[n, o] = bias[o] + sum over i of correlate(input[n, i], weight[o, i])``, where ``i`` counts the
    input channels of the group of ``o``. For each of height and width:
    ``H_out = floor((H + 2 * padding - dilation * (kernel_size - 1) - 1) / stride) + 1``. These sizes are
    explained in Dumoulin and Visin, "A guide to convolution arithmetic for deep learning", 2016.

    It is called with ``input`` of shape ``(N, in_channels, H, W)``, or without ``N``, of the dtype of the
    parameters, and returns ``(N, out_channels, H_out, W_out)``, or without ``N``, of the same dtype. The
    parameters are ``weight`` of shape ``(out_channels, in_channels / groups, kH, kW)`` and ``bias`` of
    shape ``(out_channels,)``. Both start uniform within ``1 / sqrt(f)`` of zero, where ``f`` is how many
    inputs one output is computed from.

    Args:
        in_channels: channels of the input.
        out_channels: channels of the output.
        kernel_size: size of the window, one number or one for each dimension, as the next three.
        stride: steps from one window to the next.
        padding: positions added on each side; or ``"same"``, so many that the output has the input's size;
            or ``"valid"``, none.
        dilation: steps between the elements of a window.
        groups: how many parts the channels are divided into, each convolved by itself.
        bias: whether to learn a bias.
        padding_mode: what is added: ``"zeros"``, ``"reflect"``, ``"replicate"`` or ``"circular"``.
        device: where to put the parameters.
        dtype: their dtype, floating point or complex.

    Raises:
        ValueError: when the groups do not divide the channels, for an unknown padding, or for ``"same"``
            with a stride above 1.
        RuntimeError: when called, for another number of dimensions or channels, another dtype, or an input
            smaller than the window.

    Example:
        >>> conv = nn.Conv2d(3, 8, kernel_size=3, stride=2, padding=1)
        >>> conv(torch.ones(1, 3, 8, 8)).shape
        torch.Size([1, 8, 4, 4])
        >>> nn.Conv2d(8, 8, kernel_size=3, groups=8).weight.shape  # each channel by itself
        torch.Size([8, 1, 3, 3])
    """


class Conv3d(_Conv, dims=3, function=F.conv3d):
    """Cross-correlation over three dimensions.

    ``output[n, o] = bias[o] + sum over i of correlate(input[n, i], weight[o, i])``, where ``i`` counts the
    input channels of the group of ``o``. For each of depth, height and width:
    ``D_out = floor((D + 2 * padding - dilation * (kernel_size - 1) - 1) / stride) + 1``. These sizes are
    explained in Dumoulin and Visin, "A guide to convolution arithmetic for deep learning", 2016.

    It is called with ``input`` of shape ``(N, in_channels, D, H, W)``, or without ``N``, of the dtype of
    the parameters, and returns ``(N, out_channels, D_out, H_out, W_out)``, or without ``N``, of the same
    dtype. The parameters are ``weight`` of shape ``(out_channels, in_channels / groups, kD, kH, kW)`` and
    ``bias`` of shape ``(out_channels,)``. Both start uniform within ``1 / sqrt(f)`` of zero, where ``f`` is
    how many inputs one output is computed from.

    Args:
        in_channels: channels of the input.
        out_channels: channels of the output.
        kernel_size: size of the window, one number or one for each dimension, as the next three.
        stride: steps from one window to the next.
        padding: positions added on each side; or ``"same"``, so many that the output has the input's size;
            or ``"valid"``, none.
        dilation: steps between the elements of a window.
        groups: how many parts the channels are divided into, each convolved by itself.
        bias: whether to learn a bias.
        padding_mode: what is added: ``"zeros"``, ``"reflect"``, ``"replicate"`` or ``"circular"``.
        device: where to put the parameters.
        dtype: their dtype, floating point or complex.

    Raises:
        ValueError: when the groups do not divide the channels, for an unknown padding, or for ``"same"``
            with a stride above 1.
        RuntimeError: when called, for another number of dimensions or channels, another dtype, or an input
            smaller than the window.

    Example:
        >>> conv = nn.Conv3d(2, 4, kernel_size=(1, 3, 3), padding="same")
        >>> conv(torch.ones(1, 2, 4, 6, 6)).shape
        torch.Size([1, 4, 4, 6, 6])
        >>> conv.weight.shape
        torch.Size([4, 2, 1, 3, 3])
    """


class _ConvTransposeNd(_ConvNd):
    """The constructor and ``forward`` of transposed convolutions."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | tuple[int, ...],
        stride: int | tuple[int, ...] = 1,
        padding: int | tuple[int, ...] = 0,
        output_padding: int | tuple[int, ...] = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: int | tuple[int, ...] = 1,
        padding_mode: str = "zeros",
        device=None,
        dtype=None,
    ) -> None:
        if padding_mode != "zeros":
            raise ValueError(
                f'Only "zeros" padding mode is supported for {type(self).__name__}'
            )
        sizes = _ntuple(self._dims)
        super().__init__(
            in_channels,
            out_channels,
            sizes(kernel_size),
            sizes(stride),
            sizes(padding),
            sizes(dilation),
            True,
            sizes(output_padding),
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        """``(N, in_channels, *sizes)``, or without ``N``, to ``(N, out_channels, *new sizes)``.

        Args:
            input: as said.
            output_size: which of the possible output sizes to make.

        Raises:
            ValueError: when ``output_size`` is not one of them.
        """
        return self._function(
            input,
            self.weight,
            self.bias,
            self.stride,
            self.padding,
            self._output_padding(input, output_size),
            self.groups,
            self.dilation,
        )

    def _output_padding(
        self, input: Tensor, output_size: Sequence[int] | None
    ) -> tuple[int, ...]:
        if output_size is None:
            return self.output_padding
        n = self._dims
        wanted = list(output_size)
        batched = input.dim() == n + 2
        if len(wanted) == n + (2 if batched else 1):
            wanted = wanted[-n:]
        if len(wanted) != n:
            raise ValueError(
                f"ConvTranspose{n}D: for {input.dim()}D input, output_size must have {n} or "
                f"{n + (2 if batched else 1)} elements (got {len(wanted)})"
            )
        smallest = [
            (input.size(i - n) - 1) * self.stride[i]
            - 2 * self.padding[i]
            + self.dilation[i] * (self.kernel_size[i] - 1)
            + 1
            for i in range(n)
        ]
        largest = [low + s - 1 for low, s in zip(smallest, self.stride)]
        if not all(low <= w <= high for low, w, high in zip(smallest, wanted, largest)):
            raise ValueError(
                f"requested an output size of {output_size}, but valid sizes range from {smallest} "
                f"to {largest} (for an input of {input.size()[2:]})"
            )
        return tuple(w - low for w, low in zip(wanted, smallest))


class ConvTranspose1d(_ConvTransposeNd, dims=1, function=F.conv_transpose1d):
    """Transposed convolution over one dimension: the gradient of a convolution, as a layer.

    Each element of the input adds the window, times its value, to the output; the windows lie ``stride``
    apart. For the length:
    ``L_out = (L - 1) * stride - 2 * padding + dilation * (kernel_size - 1) + output_padding + 1``. From
    Zeiler et al., "Deconvolutional Networks", 2010; these sizes are explained in Dumoulin and Visin, "A
    guide to convolution arithmetic for deep learning", 2016.

    It is called with ``input`` of shape ``(N, in_channels, L)``, or without ``N``, of the dtype of the
    parameters, and an optional ``output_size``: with a stride, a convolution takes several sizes to that of
    the input, and this says which one to make. It returns ``(N, out_channels, L_out)``, or without ``N``,
    of the same dtype. The parameters are ``weight`` of shape ``(in_channels, out_channels / groups, k)``
    and ``bias`` of shape ``(out_channels,)``.

    Args:
        in_channels: channels of the input.
        out_channels: channels of the output.
        kernel_size: size of the window, one number, as the others.
        stride: steps between the windows that the input's elements spread over.
        padding: positions removed on each side of the output.
        output_padding: positions added at one side of the output; less than ``stride`` or ``dilation``.
        groups: how many parts the channels are divided into, each treated by itself.
        bias: whether to learn a bias.
        dilation: steps between the elements of a window.
        padding_mode: only ``"zeros"``.
        device: where to put the parameters.
        dtype: their dtype, floating point or complex.

    Raises:
        ValueError: when the groups do not divide the channels, or for another padding mode; when called,
            for an ``output_size`` that cannot be.
        RuntimeError: when called, for another number of dimensions or channels, another dtype, or too large
            an ``output_padding``.

    Example:
        >>> conv = nn.ConvTranspose1d(1, 1, kernel_size=3, stride=2, bias=False)
        >>> _ = nn.init.ones_(conv.weight)
        >>> conv(torch.tensor([[1.0, 2.0]])).tolist()  # both windows reach the middle element
        [[1.0, 1.0, 3.0, 2.0, 2.0]]
    """


class ConvTranspose2d(_ConvTransposeNd, dims=2, function=F.conv_transpose2d):
    """Transposed convolution over two dimensions: the gradient of a convolution, as a layer.

    Each element of the input adds the window, times its value, to the output; the windows lie ``stride``
    apart. For each of height and width:
    ``H_out = (H - 1) * stride - 2 * padding + dilation * (kernel_size - 1) + output_padding + 1``. From
    Zeiler et al., "Deconvolutional Networks", 2010; these sizes are explained in Dumoulin and Visin, "A
    guide to convolution arithmetic for deep learning", 2016.

    It is called with ``input`` of shape ``(N, in_channels, H, W)``, or without ``N``, of the dtype of the
    parameters, and an optional ``output_size``: with a stride, a convolution takes several sizes to that of
    the input, and this says which one to make. It returns ``(N, out_channels, H_out, W_out)``, or without
    ``N``, of the same dtype. The parameters are ``weight`` of shape
    ``(in_channels, out_channels / groups, kH, kW)`` and ``bias`` of shape ``(out_channels,)``.

    Args:
        in_channels: channels of the input.
        out_channels: channels of the output.
        kernel_size: size of the window, one number or one for each dimension, as the others.
        stride: steps between the windows that the input's elements spread over.
        padding: positions removed on each side of the output.
        output_padding: positions added at one side of the output; less than ``stride`` or ``dilation``.
        groups: how many parts the channels are divided into, each treated by itself.
        bias: whether to learn a bias.
        dilation: steps between the elements of a window.
        padding_mode: only ``"zeros"``.
        device: where to put the parameters.
        dtype: their dtype, floating point or complex.

    Raises:
        ValueError: when the groups do not divide the channels, or for another padding mode; when called,
            for an ``output_size`` that cannot be.
        RuntimeError: when called, for another number of dimensions or channels, another dtype, or too large
            an ``output_padding``.

    Example:
        >>> conv = nn.ConvTranspose2d(16, 8, kernel_size=3, stride=2, padding=1)
        >>> conv(torch.ones(1, 16, 4, 4)).shape
        torch.Size([1, 8, 7, 7])
        >>> conv(torch.ones(1, 16, 4, 4), output_size=(8, 8)).shape
        torch.Size([1, 8, 8, 8])
    """


class ConvTranspose3d(_ConvTransposeNd, dims=3, function=F.conv_transpose3d):
    """Transposed convolution over three dimensions: the gradient of a convolution, as a layer.

    Each element of the input adds the window, times its value, to the output; the windows lie ``stride``
    apart. For each of depth, height and width:
    ``D_out = (D - 1) * stride - 2 * padding + dilation * (kernel_size - 1) + output_padding + 1``. From
    Zeiler et al., "Deconvolutional Networks", 2010; these sizes are explained in Dumoulin and Visin, "A
    guide to convolution arithmetic for deep learning", 2016.

    It is called with ``input`` of shape ``(N, in_channels, D, H, W)``, or without ``N``, of the dtype of
    the parameters, and an optional ``output_size``: with a stride, a convolution takes several sizes to
    that of the input, and this says which one to make. It returns
    ``(N, out_channels, D_out, H_out, W_out)``, or without ``N``, of the same dtype. The parameters are
    ``weight`` of shape ``(in_channels, out_channels / groups, kD, kH, kW)`` and ``bias`` of shape
    ``(out_channels,)``.

    Args:
        in_channels: channels of the input.
        out_channels: channels of the output.
        kernel_size: size of the window, one number or one for each dimension, as the others.
        stride: steps between the windows that the input's elements spread over.
        padding: positions removed on each side of the output.
        output_padding: positions added at one side of the output; less than ``stride`` or ``dilation``.
        groups: how many parts the channels are divided into, each treated by itself.
        bias: whether to learn a bias.
        dilation: steps between the elements of a window.
        padding_mode: only ``"zeros"``.
        device: where to put the parameters.
        dtype: their dtype, floating point or complex.

    Raises:
        ValueError: when the groups do not divide the channels, or for another padding mode; when called,
            for an ``output_size`` that cannot be.
        RuntimeError: when called, for another number of dimensions or channels, another dtype, or too large
            an ``output_padding``.

    Example:
        >>> conv = nn.ConvTranspose3d(4, 2, kernel_size=(1, 2, 2), stride=(1, 2, 2))
        >>> conv(torch.ones(1, 4, 3, 5, 5)).shape
        torch.Size([1, 2, 3, 10, 10])
        >>> conv.weight.shape
        torch.Size([4, 2, 1, 2, 2])
    """


class _LazyConvNd(Waiting):
    """How convolutions take their ``in_channels`` from the first input."""

    _size = "in_channels"

    def _wait(self, out_channels: int, bias: bool, device, dtype) -> None:
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_channels = out_channels
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def _size_of(self, input: Tensor) -> int:
        alone = self._dims + 1
        if input.dim() not in (alone, alone + 1):
            raise RuntimeError(f"Expected {alone}D (unbatched) or {alone + 1}D (batched) input to "
                               f"{type(self).__name__}, but got input of size: {input.shape}")
        return input.shape[input.dim() - alone]

    def _shapes(self, size: int) -> dict[str, tuple[int, ...]]:
        if size % self.groups != 0:
            raise ValueError("in_channels must be divisible by groups")
        channels = (
            (size, self.out_channels // self.groups)
            if self.transposed
            else (self.out_channels, size // self.groups)
        )
        shapes = {"weight": (*channels, *self.kernel_size)}
        return shapes if self.bias is None else {**shapes, "bias": (self.out_channels,)}


class _LazyConv(_LazyConvNd):
    """The constructor of lazy convolutions."""

    def __init__(
        self,
        out_channels: int,
        kernel_size: int | tuple[int, ...],
        stride: int | tuple[int, ...] = 1,
        padding: str | int | tuple[int, ...] = 0,
        dilation: int | tuple[int, ...] = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device=None,
        dtype=None,
    ) -> None:
        super().__init__(0, 0, kernel_size, stride, padding, dilation, groups, False, padding_mode, device,
                         dtype)
        self._wait(out_channels, bias, device, dtype)


class _LazyConvTranspose(_LazyConvNd):
    """The constructor of lazy transposed convolutions."""

    def __init__(
        self,
        out_channels: int,
        kernel_size: int | tuple[int, ...],
        stride: int | tuple[int, ...] = 1,
        padding: int | tuple[int, ...] = 0,
        output_padding: int | tuple[int, ...] = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: int | tuple[int, ...] = 1,
        padding_mode: str = "zeros",
        device=None,
        dtype=None,
    ) -> None:
        super().__init__(
            0, 0, kernel_size, stride, padding, output_padding, groups, False, dilation, padding_mode, device,
            dtype
        )
        self._wait(out_channels, bias, device, dtype)


class LazyConv1d(_LazyConv, Conv1d):
    """A `Conv1d` that takes its ``in_channels`` from the first input, ``(N, in_channels, L)`` or without
    ``N``.

    Until it is called its parameters are `UninitializedParameter`; the first call gives them shapes and
    values and makes the module a `Conv1d`. A checkpoint can be loaded before.

    Args:
        out_channels: channels of the output.
        kernel_size: size of the window.
        stride: steps from one window to the next.
        padding: positions added on each side, ``"same"`` or ``"valid"``.
        dilation: steps between the elements of a window.
        groups: how many parts the channels are divided into.
        bias: whether to learn a bias.
        padding_mode: ``"zeros"``, ``"reflect"``, ``"replicate"`` or ``"circular"``.
        device: where to put the parameters.
        dtype: their dtype, floating point or complex.

    Raises:
        ValueError: as `Conv1d`; when first called, for channels that the groups do not divide.
        RuntimeError: when first called, for another number of dimensions.

    Example:
        >>> conv = nn.LazyConv1d(4, kernel_size=3)
        >>> conv(torch.ones(1, 3, 8)).shape
        torch.Size([1, 4, 6])
        >>> type(conv).__name__, conv.in_channels
        ('Conv1d', 3)
    """

    cls_to_become = Conv1d


class LazyConv2d(_LazyConv, Conv2d):
    """A `Conv2d` that takes its ``in_channels`` from the first input, ``(N, in_channels, H, W)`` or without
    ``N``.

    Until it is called its parameters are `UninitializedParameter`; the first call gives them shapes and
    values and makes the module a `Conv2d`. A checkpoint can be loaded before.

    Args:
        out_channels: channels of the output.
        kernel_size: size of the window.
        stride: steps from one window to the next.
        padding: positions added on each side, ``"same"`` or ``"valid"``.
        dilation: steps between the elements of a window.
        groups: how many parts the channels are divided into.
        bias: whether to learn a bias.
        padding_mode: ``"zeros"``, ``"reflect"``, ``"replicate"`` or ``"circular"``.
        device: where to put the parameters.
        dtype: their dtype, floating point or complex.

    Raises:
        ValueError: as `Conv2d`; when first called, for channels that the groups do not divide.
        RuntimeError: when first called, for another number of dimensions.

    Example:
        >>> conv = nn.LazyConv2d(4, kernel_size=3)
        >>> conv(torch.ones(1, 3, 8, 8)).shape
        torch.Size([1, 4, 6, 6])
        >>> type(conv).__name__, conv.in_channels
        ('Conv2d', 3)
    """

    cls_to_become = Conv2d


class LazyConv3d(_LazyConv, Conv3d):
    """A `Conv3d` that takes its ``in_channels`` from the first input, ``(N, in_channels, D, H, W)`` or
    without ``N``.

    Until it is called its parameters are `UninitializedParameter`; the first call gives them shapes and
    values and makes the module a `Conv3d`. A checkpoint can be loaded before.

    Args:
        out_channels: channels of the output.
        kernel_size: size of the window.
        stride: steps from one window to the next.
        padding: positions added on each side, ``"same"`` or ``"valid"``.
        dilation: steps between the elements of a window.
        groups: how many parts the channels are divided into.
        bias: whether to learn a bias.
        padding_mode: ``"zeros"``, ``"reflect"``, ``"replicate"`` or ``"circular"``.
        device: where to put the parameters.
        dtype: their dtype, floating point or complex.

    Raises:
        ValueError: as `Conv3d`; when first called, for channels that the groups do not divide.
        RuntimeError: when first called, for another number of dimensions.

    Example:
        >>> conv = nn.LazyConv3d(4, kernel_size=3)
        >>> conv(torch.ones(1, 3, 8, 8, 8)).shape
        torch.Size([1, 4, 6, 6, 6])
        >>> type(conv).__name__, conv.in_channels
        ('Conv3d', 3)
    """

    cls_to_become = Conv3d


class LazyConvTranspose1d(_LazyConvTranspose, ConvTranspose1d):
    """A `ConvTranspose1d` that takes its ``in_channels`` from the first input, ``(N, in_channels, L)``.

    The input may be without ``N``. Until the module is called its parameters are `UninitializedParameter`;
    the first call gives them shapes and values and makes it a `ConvTranspose1d`. A checkpoint can be loaded
    before.

    Args:
        out_channels: channels of the output.
        kernel_size: size of the window.
        stride: steps from one window to the next.
        padding: positions left out on each side.
        output_padding: positions added on one side of the output.
        groups: how many parts the channels are divided into.
        bias: whether to learn a bias.
        dilation: steps between the elements of a window.
        padding_mode: ``"zeros"``.
        device: where to put the parameters.
        dtype: their dtype, floating point or complex.

    Raises:
        ValueError: as `ConvTranspose1d`; when first called, for channels that the groups do not divide.
        RuntimeError: when first called, for another number of dimensions.

    Example:
        >>> conv = nn.LazyConvTranspose1d(4, kernel_size=3)
        >>> conv(torch.ones(1, 3, 8)).shape
        torch.Size([1, 4, 10])
        >>> type(conv).__name__, conv.in_channels
        ('ConvTranspose1d', 3)
    """

    cls_to_become = ConvTranspose1d


class LazyConvTranspose2d(_LazyConvTranspose, ConvTranspose2d):
    """A `ConvTranspose2d` that takes its ``in_channels`` from the first input, ``(N, in_channels, H, W)``.

    The input may be without ``N``. Until the module is called its parameters are `UninitializedParameter`;
    the first call gives them shapes and values and makes it a `ConvTranspose2d`. A checkpoint can be loaded
    before.

    Args:
        out_channels: channels of the output.
        kernel_size: size of the window.
        stride: steps from one window to the next.
        padding: positions left out on each side.
        output_padding: positions added on one side of the output.
        groups: how many parts the channels are divided into.
        bias: whether to learn a bias.
        dilation: steps between the elements of a window.
        padding_mode: ``"zeros"``.
        device: where to put the parameters.
        dtype: their dtype, floating point or complex.

    Raises:
        ValueError: as `ConvTranspose2d`; when first called, for channels that the groups do not divide.
        RuntimeError: when first called, for another number of dimensions.

    Example:
        >>> conv = nn.LazyConvTranspose2d(4, kernel_size=3)
        >>> conv(torch.ones(1, 3, 8, 8)).shape
        torch.Size([1, 4, 10, 10])
        >>> type(conv).__name__, conv.in_channels
        ('ConvTranspose2d', 3)
    """

    cls_to_become = ConvTranspose2d


class LazyConvTranspose3d(_LazyConvTranspose, ConvTranspose3d):
    """A `ConvTranspose3d` that takes its ``in_channels`` from the first input, ``(N, in_channels, D, H, W)``.

    The input may be without ``N``. Until the module is called its parameters are `UninitializedParameter`;
    the first call gives them shapes and values and makes it a `ConvTranspose3d`. A checkpoint can be loaded
    before.

    Args:
        out_channels: channels of the output.
        kernel_size: size of the window.
        stride: steps from one window to the next.
        padding: positions left out on each side.
        output_padding: positions added on one side of the output.
        groups: how many parts the channels are divided into.
        bias: whether to learn a bias.
        dilation: steps between the elements of a window.
        padding_mode: ``"zeros"``.
        device: where to put the parameters.
        dtype: their dtype, floating point or complex.

    Raises:
        ValueError: as `ConvTranspose3d`; when first called, for channels that the groups do not divide.
        RuntimeError: when first called, for another number of dimensions.

    Example:
        >>> conv = nn.LazyConvTranspose3d(4, kernel_size=3)
        >>> conv(torch.ones(1, 3, 8, 8, 8)).shape
        torch.Size([1, 4, 10, 10, 10])
        >>> type(conv).__name__, conv.in_channels
        ('ConvTranspose3d', 3)
    """

    cls_to_become = ConvTranspose3d
