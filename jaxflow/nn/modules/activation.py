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
    """``max(0, x)``.

    Nair and Hinton, "Rectified Linear Units Improve Restricted Boltzmann Machines", 2010.

    The input has any shape; it is floating point, or integers, and the result is like it. The derivative at
    0 is 0.

    Args:
        inplace: overwrite the input and return it.

    Raises:
        RuntimeError: when called with bools.
        NotImplementedError: when called with complex numbers.

    Example:
        >>> nn.ReLU()(torch.tensor([-1.0, 0.0, 2.0]))
        tensor([0., 0., 2.])
        >>> nn.ReLU()(torch.tensor([-1, 2]))
        tensor([0, 2])
    """


class ELU(Row, function=F.elu, alpha=1.0, inplace=False):
    """``x`` where positive, else ``alpha * (exp(x) - 1)``.

    Clevert, Unterthiner and Hochreiter, "Fast and Accurate Deep Network Learning by Exponential Linear
    Units (ELUs)", 2015.

    The input is floating point of any shape; the result is like it.

    Args:
        alpha: minus the value that the result tends to for large negative ``x``.
        inplace: overwrite the input and return it.

    Raises:
        NotImplementedError: when called with other dtypes than floating point.

    Example:
        >>> nn.ELU(alpha=2.0)(torch.tensor([-math.inf, 0.0, 3.0]))
        tensor([-2.,  0.,  3.])
    """


class SELU(Row, function=F.selu, inplace=False):
    """A scaled ELU whose constants keep mean 0 and variance 1 through deep networks.

    ``scale * x`` where positive, else ``scale * alpha * (exp(x) - 1)``, with ``scale = 1.0507009873554805``
    and ``alpha = 1.6732632423543772``: Klambauer, Unterthiner, Mayr and Hochreiter, "Self-Normalizing
    Neural Networks", 2017.

    The input is floating point of any shape; the result is like it. Mean and variance are kept when weights
    are drawn with ``nn.init.kaiming_normal_(weight, nonlinearity="linear")``; `AlphaDropout` is the dropout
    to use with it.

    Args:
        inplace: overwrite the input and return it.

    Raises:
        NotImplementedError: when called with other dtypes than floating point.

    Example:
        >>> x = torch.tensor([-1.0, 0.0, 2.0])
        >>> torch.allclose(nn.SELU()(x), 1.0507009873554805 * nn.ELU(1.6732632423543772)(x))
        True
    """


class CELU(Row, function=F.celu, alpha=1.0, inplace=False):
    """``x`` where positive, else ``alpha * (exp(x / alpha) - 1)``.

    Unlike that of `ELU`, its derivative has no jump at 0, whatever ``alpha`` is: Barron, "Continuously
    Differentiable Exponential Linear Units", 2017.

    The input is floating point of any shape; the result is like it.

    Args:
        alpha: minus the value that the result tends to for large negative ``x``; not 0.
        inplace: overwrite the input and return it.

    Raises:
        RuntimeError: when called with an ``alpha`` of 0.
        NotImplementedError: when called with other dtypes than floating point.

    Example:
        >>> nn.CELU(alpha=2.0)(torch.tensor([-math.inf, 0.0, 3.0]))
        tensor([-2.,  0.,  3.])
    """


class GELU(Row, function=F.gelu, approximate="none"):
    """``x`` times the normal distribution function of ``x``; ``"tanh"`` approximates it.

    ``x * Phi(x) = x / 2 * (1 + erf(x / sqrt(2)))``, or approximately
    ``x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3)))``: Hendrycks and Gimpel, "Gaussian Error
    Linear Units (GELUs)", 2016.

    The input is floating point of any shape; the result is like it.

    Args:
        approximate: ``"none"`` for the exact function, ``"tanh"`` for the approximation.

    Raises:
        RuntimeError: when called with another ``approximate``.
        NotImplementedError: when called with other dtypes than floating point.

    Example:
        >>> x = torch.tensor([-1.0, 0.0, 2.0])
        >>> torch.allclose(nn.GELU()(x), x / 2 * (1 + torch.erf(x / math.sqrt(2))))
        True
        >>> torch.allclose(nn.GELU(approximate="tanh")(x), nn.GELU()(x), atol=0.001)
        True
    """


class SiLU(Row, function=F.silu, inplace=False):
    """``x * sigmoid(x)``, also called swish.

    ``x / (1 + exp(-x))``: Elfwing, Uchibe and Doya, "Sigmoid-Weighted Linear Units for Neural Network
    Function Approximation in Reinforcement Learning", 2017; Ramachandran, Zoph and Le, "Searching for
    Activation Functions", 2017.

    The input is floating point or complex, of any shape; the result is like it.

    Args:
        inplace: overwrite the input and return it.

    Raises:
        NotImplementedError: when called with integers or bools.

    Example:
        >>> x = torch.tensor([-1.0, 0.0, 2.0])
        >>> torch.allclose(nn.SiLU()(x), x / (1 + torch.exp(-x)))
        True
    """


class Mish(Row, function=F.mish, inplace=False):
    """``x * tanh(softplus(x))``.

    With ``softplus(x) = log(1 + exp(x))``: Misra, "Mish: A Self Regularized Non-Monotonic Activation
    Function", 2019.

    The input is floating point of any shape; the result is like it.

    Args:
        inplace: overwrite the input and return it.

    Raises:
        NotImplementedError: when called with other dtypes than floating point.

    Example:
        >>> x = torch.tensor([-1.0, 0.0, 2.0])
        >>> torch.allclose(nn.Mish()(x), x * torch.tanh(torch.log(1 + torch.exp(x))))
        True
    """


class LeakyReLU(Row, function=F.leaky_relu, negative_slope=0.01, inplace=False):
    """``x`` where positive, else ``negative_slope * x``.

    Maas, Hannun and Ng, "Rectifier Nonlinearities Improve Neural Network Acoustic Models", 2013.

    The input is floating point of any shape; the result is like it.

    Args:
        negative_slope: what negative numbers are multiplied with.
        inplace: overwrite the input and return it.

    Raises:
        NotImplementedError: when called with other dtypes than floating point.

    Example:
        >>> nn.LeakyReLU(0.5)(torch.tensor([-2.0, 0.0, 3.0]))
        tensor([-1.,  0.,  3.])
    """


class Hardsigmoid(Row, function=F.hardsigmoid, shows="", inplace=False):
    """``x / 6 + 1 / 2`` kept between 0 and 1.

    A function of straight lines that is close to `Sigmoid`: 0 up to -3 and 1 from 3 on.

    The input is floating point of any shape; the result is like it. The derivative is 1 / 6 between -3 and
    3, and 0 elsewhere.

    Args:
        inplace: overwrite the input and return it.

    Raises:
        NotImplementedError: when called with other dtypes than floating point.

    Example:
        >>> nn.Hardsigmoid()(torch.tensor([-4.0, 0.0, 3.0]))
        tensor([0.0000, 0.5000, 1.0000])
    """


class Hardswish(Row, function=F.hardswish, shows="", inplace=False):
    """``x * hardsigmoid(x)``.

    0 up to -3, ``x`` from 3 on, and ``x * (x + 3) / 6`` between: Howard et al., "Searching for
    MobileNetV3", 2019.

    The input is floating point of any shape; the result is like it.

    Args:
        inplace: overwrite the input and return it.

    Raises:
        NotImplementedError: when called with other dtypes than floating point.

    Example:
        >>> nn.Hardswish()(torch.tensor([0.0, 3.0, 6.0]))
        tensor([0., 3., 6.])
        >>> nn.Hardswish()(torch.tensor([-5.0, -3.0])) == 0
        tensor([True, True])
    """


class Sigmoid(Row, function=F.sigmoid):
    """``1 / (1 + exp(-x))``.

    The input has any shape. Floating point and complex numbers keep their dtype; integers and bools give
    the default dtype.

    Example:
        >>> nn.Sigmoid()(torch.tensor([-math.inf, 0.0, math.inf]))
        tensor([0.0000, 0.5000, 1.0000])
    """


class Tanh(Row, function=F.tanh):
    """Hyperbolic tangent.

    ``(exp(x) - exp(-x)) / (exp(x) + exp(-x))``.

    The input has any shape. Floating point and complex numbers keep their dtype; integers and bools give
    the default dtype.

    Example:
        >>> nn.Tanh()(torch.tensor([-math.inf, 0.0, math.inf]))
        tensor([-1.,  0.,  1.])
    """


class LogSigmoid(Row, function=F.logsigmoid):
    """``log(sigmoid(x))``, accurate on both sides.

    ``-log(1 + exp(-x))``, computed so that nothing overflows.

    The input is floating point of any shape; the result is like it.

    Raises:
        NotImplementedError: when called with other dtypes than floating point.

    Example:
        >>> x = torch.tensor([-200.0])
        >>> nn.LogSigmoid()(x)
        tensor([-200.])
        >>> torch.log(torch.sigmoid(x))
        tensor([-inf])
    """


class Softsign(Row, function=F.softsign):
    """``x / (1 + |x|)``.

    Close to `Tanh` in form, but it tends to -1 and 1 more slowly; compared with it by Glorot and Bengio,
    "Understanding the difficulty of training deep feedforward neural networks", 2010.

    The input has any shape. Floating point and complex numbers keep their dtype; integers give the default
    dtype.

    Raises:
        NotImplementedError: when called with bools.

    Example:
        >>> nn.Softsign()(torch.tensor([-1.0, 0.0, 1.0, 3.0]))
        tensor([-0.5000,  0.0000,  0.5000,  0.7500])
    """


class Tanhshrink(Row, function=F.tanhshrink):
    """``x - tanh(x)``.

    The input has any shape. Floating point and complex numbers keep their dtype; integers give the default
    dtype.

    Raises:
        RuntimeError: when called with bools.

    Example:
        >>> nn.Tanhshrink()(torch.tensor([-100.0, 0.0, 100.0]))
        tensor([-99.,   0.,  99.])
    """


class Softplus(Row, function=F.softplus, beta=1.0, threshold=20.0):
    """``log(1 + exp(beta * x)) / beta``; ``x`` itself where ``beta * x`` passes ``threshold``.

    A smooth form of `ReLU`, never negative: Dugas, Bengio, Belisle, Nadeau and Garcia, "Incorporating
    Second-Order Functional Knowledge for Better Option Pricing", 2000.

    The input is floating point of any shape; the result is like it.

    Args:
        beta: the larger, the closer to `ReLU`.
        threshold: where ``beta * x`` is above it, ``x`` is the result.

    Raises:
        NotImplementedError: when called with other dtypes than floating point.

    Example:
        >>> nn.Softplus(beta=2.0)(torch.tensor([-math.inf, 15.0]))
        tensor([ 0., 15.])
        >>> math.isclose(nn.Softplus()(torch.tensor(0.0)).item(), math.log(2), rel_tol=1e-6)
        True
    """


class _Shrink(Row):
    def extra_repr(self) -> str:
        return str(self.lambd)


class Softshrink(_Shrink, function=F.softshrink, lambd=0.5):
    """``x`` moved towards zero by ``lambd``, zero within that distance.

    ``x - lambd`` where ``x > lambd``, ``x + lambd`` where ``x < -lambd``, else 0: the soft threshold of
    Donoho and Johnstone, "Ideal spatial adaptation by wavelet shrinkage", 1994.

    The input is floating point of any shape; the result is like it.

    Args:
        lambd: the distance, zero or more.

    Raises:
        RuntimeError: when called with a negative ``lambd``.
        NotImplementedError: when called with other dtypes than floating point.

    Example:
        >>> nn.Softshrink(0.5)(torch.tensor([-2.0, 0.25, 2.0]))
        tensor([-1.5000,  0.0000,  1.5000])
    """


class Hardshrink(_Shrink, function=F.hardshrink, lambd=0.5):
    """``x`` further than ``lambd`` from zero, else zero.

    ``x`` where ``x > lambd`` or ``x < -lambd``, else 0: the hard threshold of Donoho and Johnstone, "Ideal
    spatial adaptation by wavelet shrinkage", 1994.

    The input is floating point of any shape; the result is like it.

    Args:
        lambd: the distance.

    Raises:
        NotImplementedError: when called with other dtypes than floating point.

    Example:
        >>> nn.Hardshrink(0.5)(torch.tensor([-2.0, -0.5, 0.25, 2.0]))
        tensor([-2.,  0.,  0.,  2.])
    """


class GLU(Row, function=F.glu, dim=-1):
    """The first half along ``dim`` times the sigmoid of the second: that dimension is halved.

    ``a * sigmoid(b)``, where ``a`` and ``b`` are the two halves: Dauphin, Fan, Auli and Grangier, "Language
    Modeling with Gated Convolutional Networks", 2016.

    The input is floating point, ``(*, 2 * n, *)``, and the result ``(*, n, *)`` of the same dtype.

    Args:
        dim: the dimension that is halved.

    Raises:
        RuntimeError: when called with an odd number of elements along ``dim``.
        NotImplementedError: when called with other dtypes than floating point.

    Example:
        >>> nn.GLU(dim=-1)(torch.tensor([[3.0, 4.0, 0.0, math.inf]]))
        tensor([[1.5000, 4.0000]])
    """


class Softmax(Row, function=F.softmax, dim=None):
    """Exponentials divided by their sum along ``dim``.

    ``exp(x_i) / sum_j exp(x_j)``: numbers between 0 and 1 whose sum along ``dim`` is 1. The largest element
    is subtracted first, so that nothing overflows.

    The input is floating point of any shape; the result is like it.

    Args:
        dim: the dimension. Without it, 0 is taken for an input of 0, 1 or 3 dimensions, else 1, with a
            warning that this is deprecated.

    Raises:
        IndexError: when called with a tensor that has no dimension ``dim``.
        NotImplementedError: when called with other dtypes than floating point.

    Example:
        >>> nn.Softmax(dim=1)(torch.tensor([[1000.0, 1000.0, -math.inf], [0.0, -math.inf, -math.inf]]))
        tensor([[0.5000, 0.5000, 0.0000],
                [1.0000, 0.0000, 0.0000]])
    """


class LogSoftmax(Row, function=F.log_softmax, dim=None):
    """Logarithm of the softmax along ``dim``.

    ``x_i - log(sum_j exp(x_j))``, which is more accurate than the logarithm of `Softmax`.

    The input is floating point of any shape; the result is like it. It is what `NLLLoss` expects.

    Args:
        dim: the dimension. Without it, 0 is taken for an input of 0, 1 or 3 dimensions, else 1, with a
            warning that this is deprecated.

    Raises:
        IndexError: when called with a tensor that has no dimension ``dim``.
        NotImplementedError: when called with other dtypes than floating point.

    Example:
        >>> x = torch.tensor([[0.0, -1000.0]])
        >>> nn.LogSoftmax(dim=1)(x)
        tensor([[    0., -1000.]])
        >>> nn.Softmax(dim=1)(x).log()
        tensor([[0., -inf]])
    """


class Softmin(Row, function=F.softmin, dim=None):
    """Softmax of ``-x`` along ``dim``.

    ``exp(-x_i) / sum_j exp(-x_j)``: the smallest elements get the largest numbers.

    The input is floating point of any shape; the result is like it.

    Args:
        dim: the dimension. Without it, 0 is taken for an input of 0, 1 or 3 dimensions, else 1, with a
            warning that this is deprecated.

    Raises:
        IndexError: when called with a tensor that has no dimension ``dim``.
        NotImplementedError: when called with other dtypes than floating point.

    Example:
        >>> nn.Softmin(dim=0)(torch.tensor([1.0, 1.0, math.inf]))
        tensor([0.5000, 0.5000, 0.0000])
    """


class Softmax2d(Module):
    """Softmax over the channels of ``(N, C, H, W)`` or ``(C, H, W)``.

    ``exp(x[c]) / sum_k exp(x[k])`` at every position of every image.

    The input is floating point; the result is like it.

    Args:
        args: none are taken.
        kwargs: likewise.

    Raises:
        TypeError: when arguments are given.
        ValueError: when called with another number of dimensions than 3 or 4.

    Example:
        >>> m = nn.Softmax2d()
        >>> m(torch.zeros(1, 4, 2, 2))[0, :, 0, 0]
        tensor([0.2500, 0.2500, 0.2500, 0.2500])
    """

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

    ``min(max(x, min_val), max_val)``; the derivative is 1 between the bounds and 0 elsewhere.

    The input has any shape; it is floating point, or integers, and the result is like it.

    Args:
        min_val: lower bound.
        max_val: upper bound.
        inplace: overwrite the input and return it.
        min_value: deprecated name of ``min_val``.
        max_value: deprecated name of ``max_val``.

    Raises:
        AssertionError: unless ``min_val`` is below ``max_val``.
        RuntimeError: when called with bools.
        NotImplementedError: when called with complex numbers.

    Example:
        >>> nn.Hardtanh(-1.0, 2.0)(torch.tensor([-3.0, 0.5, 3.0]))
        tensor([-1.0000,  0.5000,  2.0000])
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
    """``x`` kept between 0 and 6.

    ``min(max(x, 0), 6)``: Krizhevsky, "Convolutional Deep Belief Networks on CIFAR-10", 2010.

    The input has any shape; it is floating point, or integers, and the result is like it.

    Args:
        inplace: overwrite the input and return it.

    Raises:
        RuntimeError: when called with bools.
        NotImplementedError: when called with complex numbers.

    Example:
        >>> nn.ReLU6()(torch.tensor([-1.0, 3.0, 8.0]))
        tensor([0., 3., 6.])
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


class Threshold(Module):
    """``x`` where above ``threshold``, else ``value``.

    The input has any shape; it is floating point, or integers, and the result is like it.

    Args:
        threshold: what ``x`` has to be larger than.
        value: what the other elements become.
        inplace: overwrite the input and return it.

    Raises:
        NotImplementedError: when called with bools or complex numbers.

    Example:
        >>> nn.Threshold(1.0, 20.0)(torch.tensor([-1.0, 1.0, 2.0]))
        tensor([20., 20.,  2.])
    """

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
    """``x`` where positive, else ``x`` times a slope: drawn in training, else their mean.

    In training each element has a slope of its own, uniform between ``lower`` and ``upper``; in evaluation
    the slope is ``(lower + upper) / 2``: Xu, Wang, Chen and Li, "Empirical Evaluation of Rectified
    Activations in Convolutional Network", 2015.

    The input is floating point of any shape; the result is like it.

    Args:
        lower: lowest slope.
        upper: highest slope.
        inplace: overwrite the input and return it.

    Raises:
        RuntimeError: when called with ``lower`` above ``upper``.
        NotImplementedError: when called with other dtypes than floating point, or with float16 in training.

    Example:
        >>> m = nn.RReLU(0.25, 0.75)
        >>> m.eval()(torch.tensor([-2.0, 0.0, 3.0]))
        tensor([-1.,  0.,  3.])
        >>> slopes = -m.train()(-torch.ones(100))
        >>> ((slopes >= 0.25) & (slopes <= 0.75)).all()
        tensor(True)
    """

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

    He, Zhang, Ren and Sun, "Delving Deep into Rectifiers: Surpassing Human-Level Performance on ImageNet
    Classification", 2015. The slopes are the parameter ``weight``, ``(num_parameters,)``.

    The input has its dtype and any shape, or ``(N, num_parameters, *)`` with several slopes; the result is
    like it.

    Args:
        num_parameters: 1, or the number of channels for one slope each.
        init: first value of the slopes.
        device: where to put them.
        dtype: their dtype.

    Raises:
        RuntimeError: when the input's channels are not as many as the slopes, or its dtype is not theirs.

    Example:
        >>> m = nn.PReLU(num_parameters=2, init=0.5)
        >>> with torch.no_grad():
        ...     _ = m.weight[1].fill_(0.25)
        >>> m(torch.tensor([[-4.0, -4.0], [3.0, 3.0]])).tolist()
        [[-2.0, -1.0], [3.0, 3.0]]
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
