"""Activations: element by element, or along one dimension."""

from __future__ import annotations

import warnings

from jaxflow import _functions as functions
from jaxflow._core.tensor import Tensor
from jaxflow.nn import functional as F
from jaxflow.nn import init
from jaxflow.nn.modules._attention import MultiheadAttention as MultiheadAttention
from jaxflow.nn.modules._rows import Row
from jaxflow.nn.modules.module import Module
from jaxflow.nn.parameter import Parameter

# Each keeps its input's shape and dtype and raises on integers, unless it says otherwise.


class ReLU(Row, function=F.relu, inplace=False):
    """``max(0, x)``."""


class ELU(Row, function=F.elu, alpha=1.0, inplace=False):
    """``x`` where positive, else ``alpha * (exp(x) - 1)``."""


class SELU(Row, function=F.selu, inplace=False):
    """A scaled ELU whose constants keep mean 0 and variance 1 through deep networks."""


class CELU(Row, function=F.celu, alpha=1.0, inplace=False):
    """``x`` where positive, else ``alpha * (exp(x / alpha) - 1)``."""


class GELU(Row, function=F.gelu, approximate="none"):
    """``x`` times the normal distribution function of ``x``; ``"tanh"`` approximates it."""


class SiLU(Row, function=F.silu, inplace=False):
    """``x * sigmoid(x)``, also called swish."""


class Mish(Row, function=F.mish, inplace=False):
    """``x * tanh(softplus(x))``."""


class LeakyReLU(Row, function=F.leaky_relu, negative_slope=0.01, inplace=False):
    """``x`` where positive, else ``negative_slope * x``."""


class Hardsigmoid(Row, function=F.hardsigmoid, shows="", inplace=False):
    """``x / 6 + 1 / 2`` kept between 0 and 1."""


class Hardswish(Row, function=F.hardswish, shows="", inplace=False):
    """``x * hardsigmoid(x)``."""


class Sigmoid(Row, function=F.sigmoid):
    """``1 / (1 + exp(-x))``."""


class Tanh(Row, function=F.tanh):
    """Hyperbolic tangent."""


class LogSigmoid(Row, function=F.logsigmoid):
    """``log(sigmoid(x))``, accurate on both sides."""


class Softsign(Row, function=F.softsign):
    """``x / (1 + |x|)``."""


class Tanhshrink(Row, function=F.tanhshrink):
    """``x - tanh(x)``."""


class Softplus(Row, function=F.softplus, beta=1.0, threshold=20.0):
    """``log(1 + exp(beta * x)) / beta``; ``x`` itself where ``beta * x`` passes ``threshold``."""


class _Shrink(Row):
    def extra_repr(self) -> str:
        return str(self.lambd)


class Softshrink(_Shrink, function=F.softshrink, lambd=0.5):
    """``x`` moved towards zero by ``lambd``, zero within that distance."""


class Hardshrink(_Shrink, function=F.hardshrink, lambd=0.5):
    """``x`` further than ``lambd`` from zero, else zero."""


class GLU(Row, function=F.glu, dim=-1):
    """The first half along ``dim`` times the sigmoid of the second: that dimension is halved."""


class Softmax(Row, function=F.softmax, dim=None):
    """Exponentials divided by their sum along ``dim``."""


class LogSoftmax(Row, function=F.log_softmax, dim=None):
    """Logarithm of the softmax along ``dim``."""


class Softmin(Row, function=F.softmin, dim=None):
    """Softmax of ``-x`` along ``dim``."""


class Softmax2d(Module):
    """Softmax over the channels of ``(N, C, H, W)`` or ``(C, H, W)``."""

    def forward(self, input: Tensor) -> Tensor:
        """Same shape as ``input``.

        Raises:
            ValueError: for other numbers of dimensions.
        """
        if input.dim() not in (3, 4):
            raise ValueError(
                f"Softmax2d: expected input to be 3D or 4D, got {input.dim()}D instead"
            )
        return F.softmax(input, -3)


class Hardtanh(Module):
    """``x`` kept between ``min_val`` and ``max_val``.

    Args:
        min_val: lower bound.
        max_val: upper bound.
        inplace: overwrite the input.
        min_value: deprecated name of ``min_val``.
        max_value: deprecated name of ``max_val``.

    Raises:
        AssertionError: unless ``min_val`` is below ``max_val``.
    """

    def __init__(
        self,
        min_val: float = -1.0,
        max_val: float = 1.0,
        inplace: bool = False,
        min_value: float | None = None,
        max_value: float | None = None,
    ) -> None:
        super().__init__()
        if min_value is not None:
            _warn_renamed("min_value", "min_val")
            min_val = min_value
        if max_value is not None:
            _warn_renamed("max_value", "max_val")
            max_val = max_value
        if min_val >= max_val:
            raise AssertionError(f"max_val ({max_val}) must be greater than min_val ({min_val})")
        self.min_val, self.max_val, self.inplace = min_val, max_val, inplace

    def forward(self, input: Tensor) -> Tensor:
        """Same shape and dtype as ``input``."""
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)

    def extra_repr(self) -> str:
        shown = ", inplace=True" if self.inplace else ""
        return f"min_val={self.min_val}, max_val={self.max_val}{shown}"


class ReLU6(Hardtanh):
    """``x`` kept between 0 and 6."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


class Threshold(Module):
    """``x`` where above ``threshold``, else ``value``."""

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__()
        self.threshold, self.value, self.inplace = threshold, value, inplace

    def forward(self, input: Tensor) -> Tensor:
        """Same shape and dtype as ``input``."""
        return F.threshold(input, self.threshold, self.value, self.inplace)

    def extra_repr(self) -> str:
        shown = ", inplace=True" if self.inplace else ""
        return f"threshold={self.threshold}, value={self.value}{shown}"


class RReLU(Module):
    """``x`` where positive, else ``x`` times a slope: drawn in training, else their mean."""

    def __init__(
        self, lower: float = 1.0 / 8, upper: float = 1.0 / 3, inplace: bool = False
    ) -> None:
        super().__init__()
        self.lower, self.upper, self.inplace = lower, upper, inplace

    def forward(self, input: Tensor) -> Tensor:
        """Same shape and dtype as ``input``."""
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)

    def extra_repr(self) -> str:
        shown = ", inplace=True" if self.inplace else ""
        return f"lower={self.lower}, upper={self.upper}{shown}"


class PReLU(Module):
    """``x`` where positive, else ``x`` times a learned slope.

    Args:
        num_parameters: 1, or the number of channels for one slope each.
        init: first value of the slopes.
        device: where to put them.
        dtype: their dtype.
    """

    def __init__(
        self, num_parameters: int = 1, init: float = 0.25, device=None, dtype=None
    ) -> None:
        super().__init__()
        self.num_parameters, self.init = num_parameters, init
        self.weight = Parameter(functions.empty(num_parameters, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set every slope to ``init``."""
        init.constant_(self.weight, self.init)

    def forward(self, input: Tensor) -> Tensor:
        """Same shape and dtype as ``input``."""
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        return f"num_parameters={self.num_parameters}"


def _warn_renamed(old: str, new: str) -> None:
    warnings.warn(
        f"keyword argument `{old}` is deprecated and renamed to `{new}`",
        FutureWarning,
        stacklevel=3,
    )
