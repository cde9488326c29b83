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

    Args:
        normalized_shape: sizes of those dimensions; one number means the last.
        eps: added to the variance.
        elementwise_affine: whether to learn a scale.
        bias: whether to learn a shift as well.
        device: where to put the parameters.
        dtype: their dtype.
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

    Args:
        normalized_shape: sizes of those dimensions; one number means the last.
        eps: added to the mean square (default: the machine epsilon of the input's dtype).
        elementwise_affine: whether to learn a scale.
        device: where to put it.
        dtype: its dtype.
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

    Args:
        num_groups: how many groups.
        num_channels: how many channels, in dimension 1.
        eps: added to the variance.
        affine: whether to learn a scale.
        device: where to put the parameters.
        dtype: their dtype.
        bias: whether to learn a shift as well.

    Raises:
        ValueError: when the channels cannot be divided into that many groups.
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

    Args:
        size: how many neighbouring channels count.
        alpha: weight of their mean square.
        beta: exponent.
        k: added before the power is taken.
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
