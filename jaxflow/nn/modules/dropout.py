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
    """Zeroes each element with probability ``p``; the others grow by ``1 / (1 - p)``.

    In training ``y = x * m / (1 - p)``, where each element of ``m`` is drawn: 0 with probability ``p``,
    else 1. So the mean stays what it was: Hinton, Srivastava, Krizhevsky, Sutskever and Salakhutdinov,
    "Improving neural networks by preventing co-adaptation of feature detectors", 2012. In evaluation, and
    with ``p = 0``, the input itself is returned.

    The input is floating point of any shape; the result is like it.

    Args:
        p: probability of a zero.
        inplace: overwrite the input and return it.

    Raises:
        ValueError: when ``p`` is no probability.
        RuntimeError: when called with integers or bools in training.

    Example:
        >>> m = nn.Dropout(0.5)
        >>> y = m(torch.ones(100))
        >>> ((y == 0) | (y == 2)).all()
        tensor(True)
        >>> m.eval()(torch.ones(3))
        tensor([1., 1., 1.])
    """


class Dropout1d(_DropoutNd, function=F.dropout1d):
    """Zeroes whole channels of ``(N, C, L)`` or ``(C, L)``; the others grow by ``1 / (1 - p)``.

    In training each channel of each sample is zeroed or kept as a whole, because neighbours in it are
    alike: Tompson, Goroshin, Jain, LeCun and Bregler, "Efficient Object Localization Using Convolutional
    Networks", 2015. In evaluation, and with ``p = 0``, the result is the input, unchanged, or a view of it.

    The input is floating point; the result is like it.

    Args:
        p: probability that a channel becomes zero.
        inplace: overwrite the input and return it.

    Raises:
        ValueError: when ``p`` is no probability.
        RuntimeError: when called with another number of dimensions than 2 or 3, or with integers or bools
            in training.

    Example:
        >>> y = nn.Dropout1d(0.5)(torch.ones(4, 3, 5))
        >>> ((y == 0) | (y == 2)).all()
        tensor(True)
        >>> (y == y[:, :, :1]).all()
        tensor(True)
    """


class Dropout2d(_DropoutNd, function=F.dropout2d):
    """Zeroes whole channels of ``(N, C, H, W)``; the others grow by ``1 / (1 - p)``.

    In training each channel of each sample is zeroed or kept as a whole, because neighbours in it are
    alike: Tompson, Goroshin, Jain, LeCun and Bregler, "Efficient Object Localization Using Convolutional
    Networks", 2015. In evaluation, and with ``p = 0``, the result is the input, unchanged, or a view of it.

    The input is floating point; the result is like it. One of 3 dimensions is taken for ``(N, C, L)``, and
    other numbers of dimensions than 4 give a warning.

    Args:
        p: probability that a channel becomes zero.
        inplace: overwrite the input and return it.

    Raises:
        ValueError: when ``p`` is no probability.
        RuntimeError: when called with integers or bools in training.

    Example:
        >>> y = nn.Dropout2d(0.5)(torch.ones(4, 3, 5, 5))
        >>> ((y == 0) | (y == 2)).all()
        tensor(True)
        >>> (y == y[:, :, :1, :1]).all()
        tensor(True)
    """


class Dropout3d(_DropoutNd, function=F.dropout3d):
    """Zeroes whole channels of ``(N, C, D, H, W)``; the others grow by ``1 / (1 - p)``.

    In training each channel of each sample is zeroed or kept as a whole, because neighbours in it are
    alike: Tompson, Goroshin, Jain, LeCun and Bregler, "Efficient Object Localization Using Convolutional
    Networks", 2015. In evaluation, and with ``p = 0``, the result is the input, unchanged, or a view of it.

    The input is floating point; the result is like it. It may be ``(C, D, H, W)`` too, and other numbers of
    dimensions than 4 and 5 give a warning.

    Args:
        p: probability that a channel becomes zero.
        inplace: overwrite the input and return it.

    Raises:
        ValueError: when ``p`` is no probability.
        RuntimeError: when called with integers or bools in training.

    Example:
        >>> y = nn.Dropout3d(0.5)(torch.ones(4, 3, 2, 2, 2))
        >>> ((y == 0) | (y == 2)).all()
        tensor(True)
        >>> (y == y[:, :, :1, :1, :1]).all()
        tensor(True)
    """


class AlphaDropout(_DropoutNd, function=F.alpha_dropout):
    """Dropout that goes with SELU: mean and variance stay what they were.

    In training ``y = a * (x * m + s * (1 - m)) + b``, where each element of ``m`` is drawn: 0 with
    probability ``p``, else 1; ``s = -1.7580993408473766`` is what `SELU` tends to for large negative
    numbers, ``a = 1 / sqrt((1 - p) * (1 + p * s**2))`` and ``b = -a * p * s``. Of an input with mean 0 and
    variance 1 both stay: Klambauer, Unterthiner, Mayr and Hochreiter, "Self-Normalizing Neural Networks",
    2017. With ``p = 1`` the result is 0. In evaluation, and with ``p = 0``, the input itself is returned.

    The input is floating point of any shape; the result is like it.

    Args:
        p: probability that an element is replaced.
        inplace: overwrite the input and return it.

    Raises:
        ValueError: when ``p`` is no probability.
        RuntimeError: when called with integers or bools in training.

    Example:
        >>> y = nn.AlphaDropout(0.5)(torch.zeros(100))
        >>> len(y.unique()) <= 2
        True
        >>> nn.AlphaDropout(0.5).eval()(torch.tensor([-1.0, 2.0]))
        tensor([-1.,  2.])
    """


class FeatureAlphaDropout(_DropoutNd, function=F.feature_alpha_dropout):
    """`AlphaDropout` of whole channels.

    In training ``y = a * (x * m + s * (1 - m)) + b``, where ``m``, one number for each channel of each
    sample, is drawn: 0 with probability ``p``, else 1; ``s = -1.7580993408473766`` is what `SELU` tends to
    for large negative numbers, ``a = 1 / sqrt((1 - p) * (1 + p * s**2))`` and ``b = -a * p * s``. Of an
    input with mean 0 and variance 1 both stay: Klambauer, Unterthiner, Mayr and Hochreiter,
    "Self-Normalizing Neural Networks", 2017. With ``p = 1`` the result is 0. In evaluation, and with
    ``p = 0``, the input itself is returned.

    The input is ``(N, C, *)``, floating point; the result is like it.

    Args:
        p: probability that a channel is replaced.
        inplace: overwrite the input and return it.

    Raises:
        ValueError: when ``p`` is no probability.
        RuntimeError: when called with fewer than 2 dimensions, or with integers or bools, in training.

    Example:
        >>> y = nn.FeatureAlphaDropout(0.5)(torch.ones(4, 3, 5))
        >>> (y == y[:, :, :1]).all()
        tensor(True)
        >>> nn.FeatureAlphaDropout(0.5).eval()(torch.tensor([[-1.0, 2.0]]))
        tensor([[-1.,  2.]])
    """
