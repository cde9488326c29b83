"""Dropout: zeros at random while training."""

from __future__ import annotations

from collections.abc import Callable

from jaxflow._core.tensor import Tensor
from jaxflow.nn import functional as F
from jaxflow.nn.modules.module import Module


class _DropoutNd(Module):
    """What the dropouts share: they differ in what they zero.

    Args:
        p: probability of a zero.
        inplace: overwrite the input.

    Raises:
        ValueError: when ``p`` is no probability.
    """

    _function: Callable
    p: float
    inplace: bool

    def __init_subclass__(cls, function: Callable | None = None) -> None:
        super().__init_subclass__()
        if function is not None:
            cls._function = staticmethod(function)

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if p < 0 or p > 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p, self.inplace = p, inplace

    def forward(self, input: Tensor) -> Tensor:
        """Same shape and dtype as ``input``; in evaluation ``input`` itself."""
        return self._function(input, self.p, self.training, self.inplace)

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_DropoutNd, function=F.dropout):
    """Zeroes each element with probability ``p``; the others grow by ``1 / (1 - p)``."""


class Dropout1d(_DropoutNd, function=F.dropout1d):
    """Zeroes whole channels of ``(N, C, L)`` or ``(C, L)``; the others grow by ``1 / (1 - p)``."""


class Dropout2d(_DropoutNd, function=F.dropout2d):
    """Zeroes whole channels of ``(N, C, H, W)``; the others grow by ``1 / (1 - p)``."""


class Dropout3d(_DropoutNd, function=F.dropout3d):
    """Zeroes whole channels of ``(N, C, D, H, W)``; the others grow by ``1 / (1 - p)``."""


class AlphaDropout(_DropoutNd, function=F.alpha_dropout):
    """Dropout that goes with SELU: mean and variance stay what they were."""


class FeatureAlphaDropout(_DropoutNd, function=F.feature_alpha_dropout):
    """`AlphaDropout` of whole channels."""
