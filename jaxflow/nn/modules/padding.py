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
    """Pads the last dimension with a constant."""


class ConstantPad2d(_ConstantPadNd, dims=2):
    """Pads the last two dimensions with a constant."""


class ConstantPad3d(_ConstantPadNd, dims=3):
    """Pads the last three dimensions with a constant."""


class _Zero:
    def __init__(self, padding: _Padding) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ZeroPad1d(_Zero, ConstantPad1d):
    """Pads the last dimension with zeros."""


class ZeroPad2d(_Zero, ConstantPad2d):
    """Pads the last two dimensions with zeros."""


class ZeroPad3d(_Zero, ConstantPad3d):
    """Pads the last three dimensions with zeros."""


class _ReflectionPadNd(_PadNd, mode="reflect"):
    pass


class ReflectionPad1d(_ReflectionPadNd, dims=1):
    """Pads the last dimension with its own reflection."""


class ReflectionPad2d(_ReflectionPadNd, dims=2):
    """Pads the last two dimensions with their own reflection."""


class ReflectionPad3d(_ReflectionPadNd, dims=3):
    """Pads the last three dimensions with their own reflection."""


class _ReplicationPadNd(_PadNd, mode="replicate"):
    pass


class ReplicationPad1d(_ReplicationPadNd, dims=1):
    """Pads the last dimension by repeating its ends."""


class ReplicationPad2d(_ReplicationPadNd, dims=2):
    """Pads the last two dimensions by repeating their ends."""


class ReplicationPad3d(_ReplicationPadNd, dims=3):
    """Pads the last three dimensions by repeating their ends."""


class _CircularPadNd(_PadNd, mode="circular"):
    pass


class CircularPad1d(_CircularPadNd, dims=1):
    """Pads the last dimension by wrapping around."""


class CircularPad2d(_CircularPadNd, dims=2):
    """Pads the last two dimensions by wrapping around."""


class CircularPad3d(_CircularPadNd, dims=3):
    """Pads the last three dimensions by wrapping around."""
