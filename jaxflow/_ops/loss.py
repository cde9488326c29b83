"""Losses: how far a prediction is from a target, as one op each.

``reduction`` is ``"none"``, ``"mean"`` or ``"sum"``. Half precision is computed in float32.
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np

from jaxflow._core.dtype import from_numpy_dtype
from jaxflow._dispatch.op import op

from ._support import as_dtype, is_complex, wide, with_partials


def reduced(x, reduction: str, dtype=None):
    """``x``, its mean or its sum, rounded to ``dtype``."""
    if reduction == "mean":
        x = jnp.mean(x)
    elif reduction == "sum":
        x = jnp.sum(x)
    elif reduction != "none":
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return x if dtype is None else as_dtype(x, dtype)


# ------------------------------------------------------------------------------------- elementwise


@with_partials(lambda out, x: jnp.sign(x))
def _abs(x):
    """``abs`` whose derivative at 0 is 0, as PyTorch's."""
    return jnp.abs(x)


def _l1(difference):
    if is_complex(difference):
        return jnp.abs(difference)
    return _abs(difference)


def _smooth_l1(difference, beta):
    size = _abs(difference)
    if beta == 0:
        return size
    return jnp.where(size < beta, 0.5 * difference * difference / beta, size - 0.5 * beta)


def _huber(difference, delta):
    size = _abs(difference)
    return jnp.where(size <= delta, 0.5 * difference * difference, delta * (size - 0.5 * delta))


def _of_difference(name: str, grad_name: str, fn, doc: str) -> None:
    """Declare a loss that depends on ``input - target`` alone."""

    def body(input, target, /, *, reduction, parameter=None):
        difference = wide(input) - wide(target)
        loss = fn(difference) if parameter is None else fn(
            difference, np.asarray(parameter, difference.dtype)
        )
        return reduced(loss, reduction, input.dtype if not is_complex(input) else None)

    body.__name__ = body.__qualname__ = name
    body.__doc__ = doc
    op(promote="no_opmath", broadcast=True, name=name, variants="", grad_name=grad_name,
       layout="contiguous")(body)


_of_difference("_mse_loss", "MseLossBackward0", lambda d: d * d, "The squared difference.")
_of_difference("_l1_loss", "AbsBackward0", _l1, "The absolute difference.")
_of_difference("_smooth_l1_loss", "SmoothL1LossBackward0", _smooth_l1,
               "Squared below ``beta`` (over ``2 beta``), absolute above.")
_of_difference("_huber_loss", "HuberLossBackward0", _huber,
               "Half the square up to ``delta``, then ``delta`` times the absolute difference.")


@op(name="_binary_cross_entropy", variants="", grad_name="BinaryCrossEntropyBackward0")
def binary_cross_entropy(input, target, weight=None, /, *, reduction):
    """``-(t log x + (1 - t) log(1 - x))`` with the logarithms held above -100, as PyTorch does."""
    x, t = wide(input), wide(target)
    loss = -(t * _log_above(x) + (1 - t) * _log_above(1 - x))
    if weight is not None:
        loss = loss * as_dtype(weight, loss.dtype)
    return reduced(loss, reduction, input.dtype)


@with_partials(lambda out, x: 1 / jnp.maximum(x, 1e-12))
def _log_above(x):
    return jnp.maximum(jnp.log(x), -100)


@op(name="_binary_cross_entropy_with_logits", variants="",
    grad_name="BinaryCrossEntropyWithLogitsBackward0")
def binary_cross_entropy_with_logits(input, target, weight=None, pos_weight=None, /, *, reduction):
    """Binary cross entropy of ``sigmoid(input)``, stable for large inputs."""
    x, t = wide(input), wide(target)
    log_sigmoid_of_minus = -jax.nn.softplus(x)  # log(1 - sigmoid(x))
    if pos_weight is None:
        loss = (1 - t) * x - (log_sigmoid_of_minus + x)
    else:
        positive = as_dtype(pos_weight, x.dtype)
        loss = (1 - t) * x - ((positive - 1) * t + 1) * (log_sigmoid_of_minus + x)
    if weight is not None:
        loss = loss * as_dtype(weight, loss.dtype)
    return reduced(loss, reduction, input.dtype)


@op(name="_kl_div", variants="", grad_name="KlDivBackward0")
def kl_div(input, target, /, *, reduction, log_target):
    """``t (log t - input)``, zero where ``t`` is; ``log_target`` says that ``target`` is ``log t``."""
    x, t = wide(input), wide(target)
    if log_target:
        loss = jnp.exp(t) * (t - x)
    else:
        positive = t > 0
        safe = jnp.where(positive, t, 1)
        loss = jnp.where(positive, t * jnp.log(safe), jnp.where(jnp.isnan(t), t, 0)) - t * x
    if reduction == "batchmean":
        return as_dtype(jnp.sum(loss) / max(input.shape[0], 1), input.dtype)
    return reduced(loss, reduction, input.dtype)


@op(name="_soft_margin_loss", variants="", grad_name="SoftMarginLossBackward0")
def soft_margin_loss(input, target, /, *, reduction):
    """``log(1 + exp(-t x))``."""
    loss = jax.nn.softplus(-wide(target) * wide(input))
    return reduced(loss, reduction, input.dtype)


@op(name="_poisson_nll_loss", variants="", grad_name="MeanBackward0")
def poisson_nll_loss(input, target, /, *, log_input, full, eps, reduction):
    """``exp(x) - t x`` (or ``x - t log x``), with Stirling's term for ``log t!`` if ``full``."""
    x, t = wide(input), wide(target)
    loss = jnp.exp(x) - t * x if log_input else x - t * jnp.log(x + np.asarray(eps, x.dtype))
    if full:
        large = jnp.where(t > 1, t, 2)
        stirling = large * jnp.log(large) - large + 0.5 * jnp.log(2 * math.pi * large)
        loss = loss + jnp.where(t > 1, stirling, 0)
    return reduced(loss, reduction, input.dtype)


# ----------------------------------------------------------------------------------------- classes


def _check_classes(input, target, weight):
    if input.ndim < 1:
        raise RuntimeError("input tensor should be 1D or 2D")
    classes = input.shape[0] if input.ndim == 1 else input.shape[1]
    expected = input.shape[:0] if input.ndim == 1 else (input.shape[0], *input.shape[2:])
    if target.shape != expected:
        if input.ndim <= 2:
            if input.ndim == 2 and target.ndim == 1:
                raise ValueError(
                    f"Expected input batch_size ({input.shape[0]}) to match target batch_size "
                    f"({target.shape[0]})."
                )
            raise RuntimeError(
                "0D or 1D target tensor expected, multi-target not supported"
                if target.ndim > 1 else
                f"size mismatch (got input: {list(input.shape)}, target: {list(target.shape)})"
            )
        raise RuntimeError(
            f"Expected target size {list(expected)}, got {list(target.shape)}"
        )
    if weight is not None and weight.shape != (classes,):
        raise RuntimeError(
            "weight tensor should be defined either for all "
            f"{classes} classes or no classes but got weight tensor of shape: {list(weight.shape)}"
        )
    return classes


def _class_axis(input):
    return 0 if input.ndim == 1 else 1


def _pick(scores, target, weight, ignore_index):
    """``-scores`` of the target class, its weight, and where the target counts."""
    axis = _class_axis(scores)
    classes = scores.shape[axis]
    counts = target != ignore_index
    index = jnp.where(counts, target, 0).astype(np.int32)
    picked = jnp.squeeze(jnp.take_along_axis(scores, jnp.expand_dims(index, axis), axis), axis)
    w = counts.astype(scores.dtype)
    if weight is not None:
        w = w * as_dtype(weight, scores.dtype)[jnp.clip(index, 0, classes - 1)]
    return -jnp.where(counts, picked, 0), w, counts


def _weighted(loss, w, reduction, dtype):
    if reduction == "mean":
        return as_dtype(jnp.sum(loss) / jnp.sum(w), dtype)
    return reduced(loss, reduction, dtype)


def _need_class_indices(target):
    if target.dtype not in (np.dtype(np.int64), np.dtype(np.uint8)):
        raise RuntimeError(
            f"expected scalar type Long but found {from_numpy_dtype(target.dtype).scalar_name}"
        )


@op(name="_nll_loss", variants="",
    grad_name="NllLossBackward0")
def nll_loss(input, target, weight=None, /, *, ignore_index, reduction):
    """The negated score of each target class, weighted; the mean is over the weights."""
    _need_class_indices(target)
    _check_classes(input, target, weight)
    loss, w, _ = _pick(wide(input), target, weight, ignore_index)
    return _weighted(loss * w, w, reduction, input.dtype)


@op(name="_cross_entropy", variants="", grad_name="NllLossBackward0")
def cross_entropy(input, target, weight=None, /, *, ignore_index, reduction, label_smoothing):
    """``nll_loss(log_softmax(input))`` for class indices; the smoothed part weighs all classes alike."""
    _need_class_indices(target)
    classes = _check_classes(input, target, weight)
    axis = _class_axis(input)
    scores = jax.nn.log_softmax(wide(input), axis)
    loss, w, counts = _pick(scores, target, weight, ignore_index)
    loss = loss * w
    if label_smoothing:
        smooth = -scores if weight is None else -scores * _along(weight, scores, axis)
        smooth = jnp.where(counts, jnp.sum(smooth, axis), 0)
        if reduction == "mean":
            total = jnp.sum(w) if weight is not None else jnp.sum(counts)
            part = jnp.sum(smooth) / total.astype(scores.dtype)
            return as_dtype(
                (1 - label_smoothing) * (jnp.sum(loss) / jnp.sum(w))
                + label_smoothing / classes * part, input.dtype)
        return reduced(
            (1 - label_smoothing) * loss + label_smoothing / classes * smooth, reduction,
            input.dtype)
    return _weighted(loss, w, reduction, input.dtype)


def _along(weight, scores, axis):
    shape = [1] * scores.ndim
    shape[axis] = -1
    return as_dtype(weight, scores.dtype).reshape(shape)


@op(name="_cross_entropy_of_probabilities", variants="", grad_name="DivBackward1")
def cross_entropy_of_probabilities(input, target, weight=None, /, *, reduction, label_smoothing):
    """``-sum(target * log_softmax(input))`` over the classes; the mean is over the samples."""
    axis = _class_axis(input)
    classes = input.shape[axis]
    if input.shape != target.shape:
        raise RuntimeError("Expected floating point type for target with class probabilities, got "
                           f"{list(target.shape)}")
    t = wide(target)
    if label_smoothing:
        t = t * (1 - label_smoothing) + label_smoothing / classes
    scores = jax.nn.log_softmax(wide(input), axis)
    terms = -scores * t
    if weight is not None:
        terms = terms * _along(weight, scores, axis)
    loss = jnp.sum(terms, axis)
    if reduction == "mean":
        return as_dtype(jnp.sum(loss) / max(input.size // classes, 1), input.dtype)
    return reduced(loss, reduction, input.dtype)


@op(name="_multi_margin_loss", variants="", grad_name="MultiMarginLossBackward0")
def multi_margin_loss(input, target, weight=None, /, *, p, margin, reduction):
    """Hinge of every wrong class against the right one, averaged over the classes."""
    x = wide(input) if input.ndim == 2 else wide(input)[None]
    t = target.reshape(-1)
    right = jnp.take_along_axis(x, t[:, None], 1)
    hinge = jnp.maximum(0, margin - right + x) ** p
    if weight is not None:
        hinge = hinge * as_dtype(weight, x.dtype)[t][:, None]
    wrong = jnp.arange(x.shape[1]) != t[:, None]
    loss = jnp.sum(jnp.where(wrong, hinge, 0), 1) / x.shape[1]
    return reduced(loss if input.ndim == 2 else loss[0], reduction, input.dtype)


@op(name="_multilabel_margin_loss", variants="", grad_name="MultilabelMarginLossBackward0")
def multilabel_margin_loss(input, target, /, *, reduction):
    """Hinge of every class not in the target list (ended by -1) against every class in it."""
    x = wide(input) if input.ndim == 2 else wide(input)[None]
    t = target if target.ndim == 2 else target[None]
    listed = jnp.cumsum(t < 0, 1) == 0
    index = jnp.where(listed, t, 0)
    rows = jnp.arange(x.shape[0])[:, None]
    is_target = jnp.zeros(x.shape, bool).at[rows, index].max(listed)
    picked = jnp.take_along_axis(x, index, 1)
    hinge = jnp.maximum(0, 1 - (picked[:, :, None] - x[:, None, :]))
    counted = listed[:, :, None] & ~is_target[:, None, :]
    loss = jnp.sum(jnp.where(counted, hinge, 0), (1, 2)) / x.shape[1]
    return reduced(loss if input.ndim == 2 else loss[0], reduction, input.dtype)
