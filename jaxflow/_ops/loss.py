"""Losses that compare element by element: how far a prediction is from a target, as one op each.

``reduction`` is ``"none"``, ``"mean"`` or ``"sum"``. Half precision is computed in float32.
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from jaxflow._core.dtype import BOOL, COMPLEX, INTEGER, from_numpy_dtype
from jaxflow._core.geometry import broadcast_shapes
from jaxflow._core.promotion import can_cast, promote_types
from jaxflow._plans.op import Underived, op

from ._bools import NEGATED, SUBTRACTED, SUBTRACTED_TWO, bools_at
from ._layouts import divergence, negated_first, of_first, one_less_target
from ._support import as_dtype, category, is_bool, is_complex, refuse, scalar_name, wide, with_partials
from .binary import x_log_y


def reduced(x, reduction: str, dtype=None):
    """``x``, its mean or its sum, rounded to ``dtype``."""
    if reduction == "mean":
        x = jnp.mean(x)
    elif reduction == "sum":
        x = jnp.sum(x)
    return x if dtype is None else as_dtype(x, dtype)


def by_reduction(none: str, mean: str = "MeanBackward0", sum: str = "SumBackward0") -> Callable:
    """A ``grad_name`` that depends on the reduction, as where PyTorch composes the loss of ops."""
    names = {"none": none, "mean": mean, "sum": sum, "batchmean": "DivBackward0"}

    def grad_name(numbers, reduction, **static):
        return names[reduction]

    return grad_name


# ---------------------------------------------------------------------------------- of a difference


@with_partials(lambda out, x: (x > 0).astype(x.dtype) - (x < 0).astype(x.dtype))
def _abs(x):
    """``abs`` whose derivative at 0 is 0, as PyTorch's."""
    return jnp.abs(x)


def _smooth_l1(difference, beta):
    size = _abs(difference)
    linear = size >= beta
    near = jnp.where(linear, 0, difference)  # an infinite one makes no nan of the slope
    return jnp.where(linear, size - 0.5 * beta, 0.5 * near * near / beta)


def _huber(difference, delta):
    size = _abs(difference)
    linear = size > delta
    near = jnp.where(linear, 0, difference)
    slope = jnp.where(linear, delta, 0)  # an infinite one makes no nan of the other slope
    return jnp.where(linear, slope * (size - 0.5 * slope), 0.5 * near * near)


def _of_difference(name: str, grad_name: str, kernel: str, fn: Callable, doc: str,
                   promote: str | None = "reshaped", layout: Callable | None = None,
                   underived: Underived | None = None) -> None:
    """Declare a loss that depends on ``input - target`` alone; PyTorch mostly expands both first."""

    def body(input, target, /, *, reduction, parameter=None):
        dtype = _promoted(input, target).np
        x, t = as_dtype(input, dtype), as_dtype(target, dtype)
        refuse(kernel, x, BOOL, INTEGER, COMPLEX)
        difference = wide(x) - wide(t)
        if parameter is not None:
            parameter = np.asarray(parameter, difference.dtype)
        return reduced(fn(difference, parameter), reduction, input.dtype)

    body.__name__ = body.__qualname__ = name
    body.__doc__ = doc
    op(promote=promote, broadcast=True, name=name, variants="", grad_name=grad_name, layout=layout,
       underived=underived)(body)


def _of_one_dtype(of: int, other: int, otherwise: Underived | None = None) -> Underived:
    """The gradient of one operand, whose kernel in PyTorch needs the ``other`` in the same dtype."""

    def formula(found, result):
        if found[of] is found[other]:
            return ""
        return f"Found dtype {found[other].scalar_name} but expected {found[of].scalar_name}"

    return Underived(RuntimeError, "", operand=of, formula=formula, otherwise=otherwise)


_of_difference("_mse_loss", "MseLossBackward0", "mse_cpu", lambda d, _: d * d,
               "The squared difference.")
_of_difference("_smooth_l1_loss", "SmoothL1LossBackward0", "smooth_l1_cpu", _smooth_l1,
               "Squared below ``beta`` (over ``2 beta``), absolute above.")
_of_difference("_huber_loss", "HuberLossBackward0", "huber_cpu", _huber,
               "Half the square up to ``delta``, then ``delta`` times the absolute difference.",
               None, of_first, _of_one_dtype(0, 1, _of_one_dtype(1, 0)))


@op(broadcast=True, name="_soft_margin_loss", variants="", grad_name="SoftMarginLossBackward0",
    layout=negated_first, underived=bools_at(NEGATED, 1))
def soft_margin_loss(input, target, /, *, reduction):
    """``log(1 + exp(-target * input))``, of the input's dtype whatever it is computed in."""
    dtype = _promoted(input, target).np
    x, t = (wide(as_dtype(v, dtype)) for v in (input, target))
    loss = jnp.log(1 + jnp.exp(-t * x)) if is_complex(x) else jax.nn.softplus(-t * x)
    return reduced(loss, reduction, input.dtype)


# --------------------------------------------------------------------------------- of probabilities


# Only the value holds the logarithms above -100; the first derivative's divisor has a bound of its own.
@with_partials(lambda out, x, t: (x - t) / jnp.maximum((1 - x) * x, 1e-12),
               lambda out, x, t: jnp.log1p(-x) - jnp.log(x))
def _cross_entropy(x, t):
    """The cross entropy of the probability ``x`` and the target ``t``."""
    return (t - 1) * jnp.maximum(jnp.log1p(-x), -100) - t * jnp.maximum(jnp.log(x), -100)


@op(name="_binary_cross_entropy", variants="", grad_name="BinaryCrossEntropyBackward0", layout="like",
    saves=("input", "target", "weight"))
def binary_cross_entropy(input, target, weight=None, /, *, reduction):
    """``-(t log x + (1 - t) log(1 - x))`` with the logarithms held above -100."""
    if target.dtype != input.dtype:
        raise RuntimeError(f"Found dtype {scalar_name(target)} but expected {scalar_name(input)}")
    refuse("binary_cross_entropy", input, BOOL, INTEGER, COMPLEX)
    x, t = wide(input), wide(target)
    loss = _cross_entropy(x, t)
    if weight is not None:
        _check_weight(weight.shape, input.shape)
        if category(weight) == COMPLEX:
            raise RuntimeError(f"result type {scalar_name(weight)} can't be cast to the desired output type "
                               f"{scalar_name(input)}")
        loss = loss * as_dtype(weight, loss.dtype)
    return reduced(loss, reduction, input.dtype)


def _check_weight(shape, expected) -> None:
    for d in range(-1, -1 - min(len(shape), len(expected)), -1):
        if shape[d] not in (1, expected[d]):
            raise RuntimeError(
                f"Attempting to broadcast a dimension of length {shape[d]} at {d}! Mismatching "
                f"argument at index 1 had torch.Size({list(shape)}); but expected shape should be "
                f"broadcastable to {list(expected)}"
            )


# One factor a gradient, so that an infinite one is not taken from itself.
@with_partials(lambda out, x, t: jax.nn.sigmoid(x) - t, lambda out, x, t: -x)
def _logits_loss(x, t):
    """``-t * log(sigmoid(x)) - (1 - t) * log(1 - sigmoid(x))``."""
    return (1 - t) * x + jax.nn.softplus(-x)


@with_partials(
    lambda out, x, t, p: (p * t + 1 - t) * jax.nn.sigmoid(x) - p * t,
    lambda out, x, t, p: p * jax.nn.softplus(-x) - jax.nn.softplus(x),
    lambda out, x, t, p: t * jax.nn.softplus(-x),
)
def _weighted_logits_loss(x, t, p):
    """`_logits_loss` with the first term times ``p``."""
    return (1 - t) * x + ((p - 1) * t + 1) * jax.nn.softplus(-x)


@op(name="_binary_cross_entropy_with_logits", variants="",
    grad_name="BinaryCrossEntropyWithLogitsBackward0", layout=one_less_target,
    saves=("input", "target", "weight", "pos_weight"), complex_grad=False)
def binary_cross_entropy_with_logits(
    input, target, weight=None, pos_weight=None, /, *, reduction
):
    """Binary cross entropy of ``sigmoid(input)``, stable for large inputs; in the dtype of ``target``.

    PyTorch computes it in place, step by step: in what is made of ``input``, then of ``target``.
    """
    refuse("log_sigmoid_cpu", input, BOOL, INTEGER, COMPLEX)
    if pos_weight is not None:
        if is_bool(pos_weight):
            raise RuntimeError(SUBTRACTED)  # one, of integers
        broadcast_shapes(pos_weight.shape, target.shape)
        _check_written(input, input.shape, _promoted(pos_weight, target), pos_weight.shape, target.shape)
    if is_bool(target):
        raise RuntimeError(SUBTRACTED_TWO)  # from ones of its dtype
    _check_written(target, target.shape, from_numpy_dtype(input.dtype), input.shape)
    if weight is not None:
        _check_written(target, target.shape, from_numpy_dtype(weight.dtype), weight.shape)
    dtype = _promoted(input, target).np
    x, t = (wide(as_dtype(v, dtype)) for v in (input, target))
    if pos_weight is None:
        loss = _logits_loss(x, t)
    else:
        loss = _weighted_logits_loss(x, t, jnp.broadcast_to(as_dtype(pos_weight, x.dtype), x.shape))
    if weight is not None:
        loss = loss * as_dtype(weight, loss.dtype)
    return reduced(loss, reduction, target.dtype)


def _promoted(*arrays):
    """The dtype that PyTorch computes arrays of at least one dimension in."""
    return promote_types(*(from_numpy_dtype(v.dtype) for v in arrays))


def _check_written(into, size, dtype, *shapes) -> None:
    """Refuse what cannot be written into the memory of ``into``, by PyTorch's rule of a product in place."""
    dtype = promote_types(dtype, from_numpy_dtype(into.dtype))
    if not can_cast(dtype, from_numpy_dtype(into.dtype)):
        raise RuntimeError(f"result type {dtype.scalar_name} can't be cast to the desired output type "
                           f"{scalar_name(into)}")
    shape = broadcast_shapes(size, broadcast_shapes(*shapes))
    if shape != tuple(size):
        raise RuntimeError(
            f"output with shape {list(size)} doesn't match the broadcast shape {list(shape)}"
        )


def _kl_name(numbers, reduction, log_target):
    return by_reduction("MulBackward0" if log_target else "SubBackward0")(numbers, reduction)


def _kl_saves(kinds, reduction, log_target):
    return "own" if log_target else "input"


@op(promote="no_opmath", broadcast=True, name="_kl_div", variants="", grad_name=_kl_name,
    layout=divergence, saves=_kl_saves)
def kl_div(target, input, /, *, reduction, log_target):
    """``t (log t - input)``, zero where ``t`` is; ``log_target`` says that ``target`` is ``log
    t``.
    """
    # Half precision is rounded after each of PyTorch's steps, which may overflow.
    if log_target:
        loss = jnp.exp(target) * (target - input)
    else:
        loss = x_log_y(target, target) - target * input
    return reduced(wide(loss), reduction, input.dtype)
