"""Functions of ``nn.functional`` that draw: the dropout family, `rrelu` and `gumbel_softmax`."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from jaxflow._api.creation.creation import strides_like
from jaxflow._api.random.torch_stream import draw_slopes, from_words
from jaxflow._core import dtype as dtypes
from jaxflow._core.generator import source_of
from jaxflow._core.numbers import check_fits
from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.dispatch import apply
from jaxflow._ops.activation import computed_in, real_of
from jaxflow._ops.dropout import _dropout_noise, _rrelu, _rrelu_slope, _scaled_and_shifted
from jaxflow._plans.op import OPS, Number
from jaxflow._publish.bind import draw
from jaxflow._publish.composite import composite
from jaxflow._publish.value_checks import guarded
from jaxflow._writes.inplace import apply_drawn, apply_inplace

# What SELU tends to for large negative inputs: minus its scale times its alpha.
_SELU_FLOOR = -1.7580993408473766


def _functional(fn: Callable) -> Callable:
    return composite("function", namespace="nn.functional")(fn)


def noise_of(
    size: tuple[int, ...], like: Tensor, p: float, scale: float | None = None, generator: Any = None,
    strides: tuple[int, ...] | None = None
) -> Tensor:
    """0 with probability ``p`` and ``scale`` (default ``1 / (1 - p)``) otherwise.

    ``strides`` say in which order of memory PyTorch would draw; None for one element after another.

    Raises:
        NotImplementedError: when ``like``, whose dtype and device the noise has, is complex.
        RuntimeError: when it holds integers or bools.
    """
    dtype = like._aval.dtype
    if dtype.is_complex:
        raise NotImplementedError(
            f"\"bernoulli_scalar_cpu_\" not implemented for '{dtype.scalar_name}'"
        )
    if not dtype.is_floating_point:
        raise RuntimeError(
            f"result type Float can't be cast to the desired output type {dtype.scalar_name}"
        )
    keep, static, source = 1.0 - p, (size, dtype, like._aval.device), source_of(generator, like._aval.device)
    if source.stream == "torch":
        kept = from_words(source, "_coins", (keep,), (size, dtypes.bool, like._aval.device), strides)
        return _scaled(kept, like, keep, scale)
    scale = 1.0 / keep if scale is None else scale
    return apply(_dropout_noise, (keep, scale, *draw(source)), static)


def _scaled(kept: Tensor, like: Tensor, keep: float, scale: float | None) -> Tensor:
    """Bools as 0 and ``scale``, by default 1 divided by ``keep`` in the dtype's arithmetic."""
    dtype = like._aval.dtype
    noise = kept.to(dtype)
    if scale is None:
        kind = np.float64 if dtype is dtypes.float64 else np.float32
        scale = float(kind(1) / kind(keep))
    return noise if scale == 1.0 else noise * scale


def _noise_size(input: Tensor, features: bool) -> tuple[int, ...]:
    """One number an element, or one for each of the first two dimensions."""
    shape = input._aval.shape
    if not features:
        return shape
    if len(shape) < 2:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
    return shape[:2] + (1,) * (len(shape) - 2)


def _dropout(
    input: Tensor, p: float, training: bool, inplace: bool, features: bool = False, alpha: bool = False
) -> Tensor:
    _check(p)
    if not training or p == 0 or input.numel() == 0:
        return input
    if p == 1:
        noise = input.new_zeros(())
        return input.mul_(noise) if inplace else input * noise
    size = _noise_size(input, features)

    def drawn(generator: Any) -> tuple:
        strides = None if features else strides_like(input)
        noise = noise_of(size, input, p, 1.0 if alpha else None, generator, strides)
        if not alpha:
            return (noise,)
        # Dropped elements become SELU's floor; an affine map then restores mean and variance.
        a = 1.0 / math.sqrt((_SELU_FLOOR**2 * p + 1.0) * (1.0 - p))
        return noise * a, (1 - noise) * (_SELU_FLOOR * a) - _SELU_FLOOR * a * p

    if inplace:
        return apply_drawn(_scaled_and_shifted if alpha else OPS["mul"], input, drawn)
    if not alpha:
        return input * drawn(None)[0]
    noise, shift = drawn(None)
    return input * noise + shift


def _check(p: float) -> None:
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


@_functional
def dropout(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Zero each element with probability ``p``, and scale the others by ``1 / (1 - p)``.

    So the mean of each element stays the same. From Srivastava, Hinton, Krizhevsky, Sutskever and
    Salakhutdinov, 2014, "Dropout: a simple way to prevent neural networks from overfitting".

    Args:
        input: any floating point tensor.
        p: probability of a zero.
        training: without it ``input`` itself is returned.
        inplace: overwrite ``input``.

    Returns:
        A new tensor of the shape and dtype of ``input``, or ``input`` itself (see above).

    Raises:
        ValueError: when ``p`` is no probability.

    Example:
        >>> F.dropout(torch.ones(200), p=0.5).unique()
        tensor([0., 2.])
        >>> x = torch.tensor([1.0, 2.0])
        >>> F.dropout(x, training=False) is x
        True
    """
    return _dropout(input, p, training, inplace)


@_functional
def alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """Dropout that goes with SELU: mean and variance stay; arguments as in `dropout`."""
    return _dropout(input, p, training, inplace, alpha=True)


@_functional
def feature_alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """`alpha_dropout` of whole channels, those of dimension 1."""
    return _dropout(input, p, training, inplace, features=True, alpha=True)


@_functional
def dropout1d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Zero whole channels of ``(N, C, L)`` or ``(C, L)``; arguments as in `dropout`.

    Raises:
        RuntimeError: for other numbers of dimensions.
    """
    _check(p)
    if input.dim() not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {input.dim()}D input. Note that "
            "dropout1d exists to provide channel-wise dropout on inputs with 1 spatial dimension, "
            "a channel dimension, and an optional batch dimension (i.e. 2D or 3D inputs)."
        )
    return _channels(input, p, training, inplace, batched=input.dim() == 3)


@_functional
def dropout2d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Zero whole channels of ``(N, C, H, W)``; arguments as in `dropout`."""
    _check(p)
    if input.dim() not in (3, 4):
        _warn_dimensions(2, input)
    if input.dim() == 3:
        warnings.warn(_DROPOUT2D_3D, stacklevel=2)
    return _dropout(input, p, training, inplace, features=True)


@_functional
def dropout3d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Zero whole channels of ``(N, C, D, H, W)`` or ``(C, D, H, W)``; arguments as in `dropout`."""
    _check(p)
    if input.dim() not in (4, 5):
        _warn_dimensions(3, input)
    # As in PyTorch, whatever has not five dimensions is taken for an input without a batch.
    return _channels(input, p, training, inplace, batched=input.dim() == 5)


def _channels(
    input: Tensor, p: float, training: bool, inplace: bool, batched: bool
) -> Tensor:
    if batched:
        return _dropout(input, p, training, inplace, features=True)
    if not inplace:
        return _dropout(input.unsqueeze(0), p, training, False, features=True).squeeze(0)
    input.unsqueeze_(0)
    try:
        return _dropout(input, p, training, True, features=True)
    finally:
        input.squeeze_(0)  # what is refused keeps its shape, too


def _warn_dimensions(n: int, input: Tensor) -> None:
    warnings.warn(
        f"dropout{n}d: Received a {input.dim()}-D input to dropout{n}d, which is deprecated and "
        "will result in an error in a future release. To retain the behavior and silence this "
        f"warning, please use dropout instead. Note that dropout{n}d exists to provide "
        f"channel-wise dropout on inputs with {n} spatial dimensions, a channel dimension, and an "
        f"optional batch dimension (i.e. {n + 1}D or {n + 2}D inputs).",
        stacklevel=3,
    )


_DROPOUT2D_3D = (
    "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout "
    "behavior is desired - input is interpreted as shape (N, C, L), where C is the channel dim. "
    "This behavior will change in a future release to interpret the input as one without a batch "
    "dimension, i.e. shape (C, H, W). To maintain the 1D channel-wise dropout behavior, please "
    "switch to using dropout1d instead."
)


# ------------------------------------------------------------------- the forms of the top namespace


def _public(name: str, features: bool, alpha: bool) -> None:
    """``torch.<name>(input, p, train)`` and its in-place form."""

    def form(suffix: str, inplace: bool) -> None:
        def dropout(input: Tensor, p: float, train: bool) -> Tensor:
            if not 0 <= p <= 1:
                raise RuntimeError(
                    f"dropout probability has to be between 0 and 1, but got {p:g}"
                )
            return _dropout(input, p, train, inplace, features, alpha)

        dropout.__name__ = dropout.__qualname__ = name + suffix
        dropout.__doc__ = f"`nn.functional.{name}` with every argument given."
        composite("function")(dropout)

    form("", False)
    form("_", True)


_public("dropout", False, False)
_public("feature_dropout", True, False)
_public("alpha_dropout", False, True)
_public("feature_alpha_dropout", True, True)


# ------------------------------------------------------------------------ other functions that draw


@composite("function", name="rrelu")
def _rrelu_drawing(
    input: Tensor, lower: Number = 1.0 / 8, upper: Number = 1.0 / 3, training: bool = False,
    generator: Any = None,
) -> Tensor:
    """`nn.functional.rrelu` with slopes from ``generator``."""
    return _rrelu_of(input, lower, upper, training, False, generator)


@_functional
def rrelu(
    input: Tensor,
    lower: float = 1.0 / 8,
    upper: float = 1.0 / 3,
    training: bool = False,
    inplace: bool = False,
) -> Tensor:
    """``input`` where positive, else ``input`` times a slope.

    Args:
        input: any floating point tensor.
        lower: lowest slope.
        upper: highest slope.
        training: draw a slope for every element; otherwise it is the mean of the bounds.
        inplace: overwrite ``input``.

    Raises:
        RuntimeError: when the bounds are the wrong way round, or not finite.
    """
    return _rrelu_of(input, lower, upper, training, inplace, None)


@composite("function", aliases=("nn.functional.rrelu_",))
def rrelu_(input: Tensor, lower: Number = 1.0 / 8, upper: Number = 1.0 / 3, training: bool = False,
           generator: Any = None) -> Tensor:
    """`rrelu` that overwrites ``input``."""
    return _rrelu_of(input, lower, upper, training, True, generator)


def _check_slopes(kind: dtypes.dtype, lower: float, upper: float) -> None:
    """Refuse what `_rrelu_slope` refuses: dtypes without a kernel, and bounds too large for one's numbers."""
    if kind.category != dtypes.FLOATING or kind is dtypes.float16:
        raise NotImplementedError(f"\"rrelu_with_noise_out_cpu\" not implemented for '{kind.scalar_name}'")
    for bound in (lower, upper):
        check_fits(bound, computed_in(kind))


def _rrelu_of(input: Tensor, lower: float, upper: float, training: bool, inplace: bool,
              generator: Any) -> Tensor:
    for name, bound in (("lower", lower), ("upper", upper)):
        check_fits(bound, dtypes.float64)
        if not math.isfinite(real_of(bound)):
            raise RuntimeError(f"rrelu: {name} bound must be finite, got {bound}")
    lower, upper = real_of(lower), real_of(upper)
    if lower > upper:
        raise RuntimeError("Lower bound should be less than or equal to the upper bound")
    slope: Tensor | float = (lower + upper) / 2

    def drawn(generator: Any) -> tuple:
        source = source_of(generator, input._aval.device)
        if source.stream == "torch":
            _check_slopes(input._aval.dtype, lower, upper)
            return (draw_slopes(source, input, lower, upper),)
        return (guarded(apply, _rrelu_slope, (input, lower, upper, *draw(source)), ()),)

    if training and inplace:
        return apply_drawn(_rrelu, input, drawn, generator=generator)
    if training:
        (slope,) = drawn(generator)
    return guarded(apply_inplace if inplace else apply, _rrelu, (input, slope), ())


@_functional
def gumbel_softmax(
    logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1
) -> Tensor:
    """A softmax of ``logits`` with random noise: a differentiable draw from the categories.

    Args:
        logits: unnormalised log probabilities.
        tau: temperature.
        hard: return one-hot vectors, with the gradient of the soft ones.
        eps: deprecated, without effect.
        dim: dimension of the categories.
    """
    if eps != 1e-10:
        warnings.warn("`eps` parameter is deprecated and has no effect.", stacklevel=2)
    noise = -logits.new_empty(logits.shape).exponential_().log()
    soft = ((logits + noise) / tau).softmax(dim)
    if not hard:
        return soft
    index = soft.argmax(dim, keepdim=True)
    one_hot = logits.new_zeros(logits.shape).scatter_(dim, index, 1.0)
    return one_hot - soft.detach() + soft
