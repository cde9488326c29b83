"""Normalisation over the features of each sample."""

from __future__ import annotations

import numbers
from collections.abc import Sequence

from jaxflow import _functions as functions
from jaxflow._core.tensor import Tensor
from jaxflow.nn import functional as F
from jaxflow.nn import init
from jaxflow.nn.modules.module import Module
from jaxflow.nn.parameter import Parameter


def _sizes(normalized_shape: int | Sequence[int]) -> tuple[int, ...]:
    if isinstance(normalized_shape, numbers.Integral):
        return (normalized_shape,)
    return tuple(normalized_shape)


class LayerNorm(Module):
    """Mean 0 and variance 1 over the last dimensions, then a learned scale and shift.

    ``output = (input - mean) / sqrt(var + eps) * weight + bias``, where mean and variance (divided by the
    number of elements) are those over the last dimensions, for each position of the others. From Ba, Kiros
    and Hinton, "Layer Normalization", 2016.

    It is called with ``input`` of shape ``(*, *normalized_shape)``, floating point, and returns the same
    shape and dtype. ``weight`` and ``bias`` have the shape ``normalized_shape`` and start as 1 and 0.

    Args:
        normalized_shape: sizes of those dimensions; one number means the last.
        eps: added to the variance.
        elementwise_affine: whether to learn a scale.
        bias: whether to learn a shift as well; only with ``elementwise_affine``.
        device: where to put the parameters.
        dtype: their dtype.

    Raises:
        RuntimeError: when called, for an input whose last sizes are others, or of a dtype that does not fit
            that of the parameters.

    Example:
        >>> norm = nn.LayerNorm(2)
        >>> norm(torch.tensor([[1.0, 3.0], [8.0, 0.0]])).round().tolist()
        [[-1.0, 1.0], [1.0, -1.0]]
        >>> nn.LayerNorm((3, 4), bias=False).weight.shape
        torch.Size([3, 4])
    """

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device=None,
        dtype=None,
    ) -> None:
        super().__init__()
        self.normalized_shape = _sizes(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        _add_affine(self, self.normalized_shape, elementwise_affine, bias, device, dtype)

    def reset_parameters(self) -> None:
        """Scale 1 and shift 0."""
        _reset_affine(self)

    def forward(self, input: Tensor) -> Tensor:
        """Same shape and dtype as ``input``."""
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, "
            f"elementwise_affine={self.elementwise_affine}, bias={self.bias is not None}"
        )


class RMSNorm(Module):
    """Mean square 1 over the last dimensions, then a learned scale.

    ``output = input / sqrt(mean(input ** 2) + eps) * weight``, with the mean over the last dimensions. From
    Zhang and Sennrich, "Root Mean Square Layer Normalization", 2019.

    It is called with ``input`` of shape ``(*, *normalized_shape)``, floating point or complex, and returns
    the same shape and dtype. ``weight`` has the shape ``normalized_shape`` and starts as 1.

    Args:
        normalized_shape: sizes of those dimensions; one number means the last.
        eps: added to the mean square (default: the machine epsilon of the input's dtype).
        elementwise_affine: whether to learn a scale.
        device: where to put it.
        dtype: its dtype.

    Raises:
        RuntimeError: when called, for an input whose last sizes are others.

    Example:
        >>> norm = nn.RMSNorm(2)
        >>> norm(torch.tensor([[3.0, -3.0], [5.0, 5.0]])).round().tolist()
        [[1.0, -1.0], [1.0, 1.0]]
    """

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float | None = None,
        elementwise_affine: bool = True,
        device=None,
        dtype=None,
    ) -> None:
        super().__init__()
        self.normalized_shape = _sizes(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        if elementwise_affine:
            values = functions.empty(self.normalized_shape, device=device, dtype=dtype)
            self.weight = Parameter(values)
        else:
            self.register_parameter("weight", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Scale 1."""
        if self.elementwise_affine:
            init.ones_(self.weight)

    def forward(self, x: Tensor) -> Tensor:
        """Same shape and dtype as ``x``."""
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
        )


class GroupNorm(Module):
    """Mean 0 and variance 1 over groups of channels, then a learned scale and shift per channel.

    ``output = (input - mean) / sqrt(var + eps) * weight + bias``, where mean and variance (divided by the
    number of elements) are those over all channels of a group and all positions, for each sample. From Wu
    and He, "Group Normalization", 2018.

    It is called with ``input`` of shape ``(N, num_channels, ...)``, floating point, and returns the same
    shape and dtype. ``weight`` and ``bias`` have the shape ``(num_channels,)`` and start as 1 and 0.

    Args:
        num_groups: how many groups.
        num_channels: how many channels, in dimension 1.
        eps: added to the variance.
        affine: whether to learn a scale.
        device: where to put the parameters.
        dtype: their dtype.
        bias: whether to learn a shift as well; only with ``affine``.

    Raises:
        ValueError: when the channels cannot be divided into that many groups; when called, for one sample
            with one value per group.
        RuntimeError: when called, for another number of channels.

    Example:
        >>> norm = nn.GroupNorm(2, 4)
        >>> norm(torch.tensor([[1.0, 3.0, 80.0, 40.0]])).round().tolist()
        [[-1.0, 1.0, 1.0, -1.0]]
        >>> norm(torch.ones(2, 4, 8, 8)).shape
        torch.Size([2, 4, 8, 8])
    """

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device=None,
        dtype=None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if num_channels % num_groups != 0:
            raise ValueError(
                f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})"
            )
        self.num_groups, self.num_channels = num_groups, num_channels
        self.eps, self.affine = eps, affine
        _add_affine(self, (num_channels,), affine, bias, device, dtype)

    def reset_parameters(self) -> None:
        """Scale 1 and shift 0."""
        _reset_affine(self)

    def forward(self, input: Tensor) -> Tensor:
        """``(N, num_channels, ...)``, same shape and dtype."""
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
            f"bias={self.bias is not None}"
        )


class LocalResponseNorm(Module):
    """Divides each channel by a power of the mean square of its neighbours.

    ``output[c] = input[c] / (k + alpha * mean(input[c'] ** 2)) ** beta``, where ``c'`` goes from
    ``c - size // 2`` to ``c + (size - 1) // 2``; channels that do not exist count as 0. From Krizhevsky,
    Sutskever and Hinton, "ImageNet Classification with Deep Convolutional Neural Networks", 2012, where the
    sum stands for the mean.

    It is called with ``input`` of shape ``(N, C, ...)``, of three or more dimensions, floating point, and
    returns the same shape and dtype.

    Args:
        size: how many neighbouring channels count.
        alpha: weight of their mean square.
        beta: exponent.
        k: added before the power is taken.

    Raises:
        ValueError: when called, for fewer than three dimensions.

    Example:
        >>> norm = nn.LocalResponseNorm(2, alpha=6.0, beta=1.0)
        >>> norm(torch.tensor([[[1.0], [2.0], [1.0]]])).flatten()  # 1 / 4, 2 / 16 and 1 / 16
        tensor([0.2500, 0.1250, 0.0625])
    """

    def __init__(
        self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
    ) -> None:
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, input: Tensor) -> Tensor:
        """``(N, C, ...)``, same shape and dtype."""
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


class CrossMapLRN2d(Module):
    """Divides each channel by a power of a sum over as many channels before it as behind it.

    ``output[c] = input[c] / (k + alpha / size * sum(input[c'] ** 2)) ** beta``, where ``c'`` goes from
    ``c - w`` to ``c + w`` and ``w = (size - 1) // 2``. As in PyTorch, the first channel counts for all that
    follow as well; `LocalResponseNorm` is the function of Krizhevsky, Sutskever and Hinton (2012), where it
    does not. The gradient is that of this function, which PyTorch's is not.

    It is called with ``input`` of shape ``(N, C, H, W)``, floating point, and returns the same shape and
    dtype.

    Args:
        size: how many neighbouring channels count, where it is odd; for an even number one less.
        alpha: weight of the sum.
        beta: exponent.
        k: added before the power is taken.

    Raises:
        ValueError: when called, for other than four dimensions.

    Example:
        >>> norm = nn.CrossMapLRN2d(3, alpha=3.0, beta=1.0)
        >>> norm(torch.tensor([1.0, 2.0, 1.0]).reshape(1, 3, 1, 1)).flatten()  # 1 / 6, 2 / 7 and 1 / 7
        tensor([0.1667, 0.2857, 0.1429])
    """

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1) -> None:
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, input: Tensor) -> Tensor:
        """``(N, C, H, W)``, same shape and dtype."""
        if input.dim() != 4:
            raise ValueError(f"CrossMapLRN2d: Expected input to be 4D, got {input.dim()}D instead.")
        squares, reach = input.square(), (self.size - 1) // 2
        sums = F.pad(squares, (0, 0, 0, 0, reach, reach)).unfold(1, 2 * reach + 1, 1).sum(-1)
        far = functions.arange(input.shape[1], device=input.device)[:, None, None] > reach
        sums = sums + squares[:, :1] * far
        return input * (self.k + self.alpha / self.size * sums) ** -self.beta

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


def _add_affine(
    module: Module, shape: tuple[int, ...], affine: bool, bias: bool, device, dtype
) -> None:
    """Register ``weight`` and ``bias`` of ``shape``, or None where they are not wanted."""
    for name, wanted in (("weight", affine), ("bias", affine and bias)):
        values = Parameter(functions.empty(shape, device=device, dtype=dtype)) if wanted else None
        module.register_parameter(name, values)
    _reset_affine(module)


def _reset_affine(module: Module) -> None:
    if module.weight is not None:
        init.ones_(module.weight)
    if module.bias is not None:
        init.zeros_(module.bias)
