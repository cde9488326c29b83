"""Losses as functions: PyTorch's arguments, checks and warnings around the ops of ``_ops/loss.py``."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.composite import composite
from jaxflow._dispatch.door import apply
from jaxflow._dispatch.op import OPS


def _functional(fn: Callable) -> Callable:
    return composite("function", namespace="nn.functional")(fn)


def _reduction(size_average: bool | None, reduce: bool | None, reduction: str) -> str:
    """The reduction asked for, the deprecated arguments included."""
    if size_average is None and reduce is None:
        if reduction not in ("none", "mean", "sum"):
            raise ValueError(f"{reduction} is not a valid value for reduction")
        return reduction
    averages = size_average is None or size_average
    chosen = "none" if reduce is False else "mean" if averages else "sum"
    warnings.warn(
        f"size_average and reduce args will be deprecated, please use reduction='{chosen}' instead.",
        stacklevel=3,
    )
    return chosen


def _warn_of_broadcast(input: Tensor, target: Tensor) -> None:
    if target._aval.shape != input._aval.shape:
        warnings.warn(
            f"Using a target size ({target.shape}) that is different to the input size ({input.shape}). "
            "This will likely lead to incorrect results due to broadcasting. Please ensure they have the "
            "same size.",
            stacklevel=3,
        )


def _mean_or_sum(loss: Tensor, reduction: str) -> Tensor:
    return loss.mean() if reduction == "mean" else loss.sum() if reduction == "sum" else loss


def _difference(name: str, parameter: str | None, default: float, doc: str) -> None:
    """The losses of ``input - target``: they differ in the op and one parameter's name."""

    def run(input: Tensor, target: Tensor, reduction: str, value: Any, weight: Tensor | None) -> Tensor:
        _warn_of_broadcast(input, target)
        if weight is None:
            return apply(OPS["_" + name], (input, target), (reduction, value))
        loss = apply(OPS["_" + name], (input, target), ("none", value)) * weight
        if reduction == "mean":
            return loss.sum() / weight.sum()
        return _mean_or_sum(loss, reduction)

    if parameter == "beta":
        def call(input: Tensor, target: Tensor, size_average: Any = None, reduce: Any = None,
                 reduction: str = "mean", beta: float = default) -> Tensor:
            if beta < 0:
                raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
            return run(input, target, _reduction(size_average, reduce, reduction), float(beta), None)
    elif parameter == "delta":
        def call(input: Tensor, target: Tensor, reduction: str = "mean", delta: float = default,
                 weight: Tensor | None = None) -> Tensor:
            if delta <= 0:
                raise RuntimeError("huber_loss does not support non-positive values for delta.")
            return run(input, target, _reduction(None, None, reduction), float(delta), weight)
    else:
        def call(input: Tensor, target: Tensor, size_average: Any = None, reduce: Any = None,
                 reduction: str = "mean", weight: Tensor | None = None) -> Tensor:
            return run(input, target, _reduction(size_average, reduce, reduction), None, weight)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = doc
    _functional(call)


_difference("mse_loss", None, 0.0, "The mean squared difference.")
_difference("l1_loss", None, 0.0, "The mean absolute difference.")
_difference("smooth_l1_loss", "beta", 1.0, "Squared below ``beta``, absolute above; see SmoothL1Loss.")
_difference("huber_loss", "delta", 1.0, "Squared up to ``delta``, absolute above; see HuberLoss.")


@_functional
def nll_loss(input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: Any = None,
             ignore_index: int = -100, reduce: Any = None, reduction: str = "mean") -> Tensor:
    """The negated log-probability of each target class: input ``(N, C, ...)``, target ``(N, ...)``."""
    reduction = _reduction(size_average, reduce, reduction)
    return apply(OPS["_nll_loss"], (input, target, weight), (int(ignore_index), reduction))


@_functional
def cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None = None,
                  size_average: Any = None, ignore_index: int = -100, reduce: Any = None,
                  reduction: str = "mean", label_smoothing: float = 0.0) -> Tensor:
    """Cross entropy of logits ``(N, C, ...)`` with classes ``(N, ...)`` or probabilities ``(N, C, ...)``.

    Raises:
        RuntimeError: for shapes or dtypes that do not fit, or ``label_smoothing`` outside [0, 1].
    """
    reduction = _reduction(size_average, reduce, reduction)
    if not 0.0 <= label_smoothing <= 1.0:
        raise RuntimeError(
            f"label_smoothing must be between 0.0 and 1.0. Got: {float(label_smoothing)}"
        )
    if target._aval.dtype.is_floating_point:
        return apply(OPS["_cross_entropy_of_probabilities"], (input, target, weight),
                     (reduction, float(label_smoothing)))
    return apply(OPS["_cross_entropy"], (input, target, weight),
                 (int(ignore_index), reduction, float(label_smoothing)))


@_functional
def binary_cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None = None,
                         size_average: Any = None, reduce: Any = None,
                         reduction: str = "mean") -> Tensor:
    """Cross entropy of probabilities with targets between 0 and 1, element by element."""
    reduction = _reduction(size_average, reduce, reduction)
    if target._aval.shape != input._aval.shape:
        raise ValueError(
            f"Using a target size ({target.shape}) that is different to the input size ({input.shape}) is "
            "deprecated. Please ensure they have the same size."
        )
    return apply(OPS["_binary_cross_entropy"], (input, target, weight), (reduction,))


@_functional
def binary_cross_entropy_with_logits(
    input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: Any = None,
    reduce: Any = None, reduction: str = "mean", pos_weight: Tensor | None = None,
) -> Tensor:
    """``binary_cross_entropy(sigmoid(input), target)``, stable for large inputs."""
    reduction = _reduction(size_average, reduce, reduction)
    if target._aval.shape != input._aval.shape:
        raise ValueError(
            f"Target size ({target.shape}) must be the same as input size ({input.shape})"
        )
    return apply(OPS["_binary_cross_entropy_with_logits"], (input, target, weight, pos_weight),
                 (reduction,))


@_functional
def kl_div(input: Tensor, target: Tensor, size_average: Any = None, reduce: Any = None,
           reduction: str = "mean", log_target: bool = False) -> Tensor:
    """Kullback-Leibler divergence of log-probabilities ``input`` from probabilities ``target``."""
    if reduction != "batchmean":
        reduction = _reduction(size_average, reduce, reduction)
        if reduction == "mean":
            warnings.warn(
                "reduction: 'mean' divides the total loss by both the batch size and the support "
                "size.'batchmean' divides only by the batch size, and aligns with the KL div math "
                "definition.'mean' will be changed to behave the same as 'batchmean' in the next major "
                "release.",
                stacklevel=2,
            )
    return apply(OPS["_kl_div"], (input, target), (reduction, bool(log_target)))


@_functional
def poisson_nll_loss(input: Tensor, target: Tensor, log_input: bool = True, full: bool = False,
                     size_average: Any = None, eps: float = 1e-8, reduce: Any = None,
                     reduction: str = "mean") -> Tensor:
    """Negative log-likelihood of counts under a Poisson distribution of (log-)rate ``input``."""
    reduction = _reduction(size_average, reduce, reduction)
    return apply(OPS["_poisson_nll_loss"], (input, target),
                 (bool(log_input), bool(full), float(eps), reduction))


@_functional
def gaussian_nll_loss(input: Tensor, target: Tensor, var: Any, full: bool = False,
                      eps: float = 1e-6, reduction: str = "mean") -> Tensor:
    """Negative log-likelihood under a normal distribution of mean ``input`` and variance ``var``."""
    if not isinstance(var, Tensor):
        var = input.new_full((), float(var)).expand_as(input)
    elif var.shape != input.shape and var.dim() == input.dim() - 1:
        var = var.unsqueeze(-1)
    if (var < 0).any():
        raise ValueError("var has negative entry/entries")
    held = var.clone()
    held.data.clamp_(min=eps)
    loss = 0.5 * (held.log() + (input - target) ** 2 / held)
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    return _mean_or_sum(loss, _reduction(None, None, reduction))


@_functional
def soft_margin_loss(input: Tensor, target: Tensor, size_average: Any = None, reduce: Any = None,
                     reduction: str = "mean") -> Tensor:
    """``log(1 + exp(-target * input))`` for targets 1 and -1."""
    return apply(OPS["_soft_margin_loss"], (input, target),
                 (_reduction(size_average, reduce, reduction),))


@_functional
def margin_ranking_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0,
                        size_average: Any = None, reduce: Any = None,
                        reduction: str = "mean") -> Tensor:
    """``max(0, -target * (input1 - input2) + margin)``."""
    if input1.dim() != input2.dim() or input1.dim() != target.dim():
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: input1: "
            f"{input1.size()}, input2: {input2.size()}, target: {target.size()} "
        )
    loss = (-target * (input1 - input2) + margin).clamp(min=0)
    return _mean_or_sum(loss, _reduction(size_average, reduce, reduction))


@_functional
def hinge_embedding_loss(input: Tensor, target: Tensor, margin: float = 1.0,
                         size_average: Any = None, reduce: Any = None,
                         reduction: str = "mean") -> Tensor:
    """``input`` where the target is 1, ``max(0, margin - input)`` where it is -1."""
    zero = input.new_zeros(())
    loss = (margin - input).clamp(min=0).where(target != 1, zero) + input.where(target != -1, zero)
    return _mean_or_sum(loss, _reduction(size_average, reduce, reduction))


@_functional
def cosine_embedding_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0,
                          size_average: Any = None, reduce: Any = None,
                          reduction: str = "mean") -> Tensor:
    """``1 - cos`` where the target is 1, ``max(0, cos - margin)`` where it is -1."""
    epsilon = 1e-12
    product = (input1 * input2).sum(-1)
    norms = ((input1 * input1).sum(-1) + epsilon) * ((input2 * input2).sum(-1) + epsilon)
    cosine = product / norms.sqrt()
    zero = cosine.new_zeros(())
    loss = (1 - cosine).where(target == 1, zero) + (cosine - margin).clamp(min=0).where(
        target == -1, zero)
    return _mean_or_sum(loss, _reduction(size_average, reduce, reduction))


@_functional
def multi_margin_loss(input: Tensor, target: Tensor, p: int = 1, margin: float = 1.0,
                      weight: Tensor | None = None, size_average: Any = None, reduce: Any = None,
                      reduction: str = "mean") -> Tensor:
    """Hinge of the wrong classes against the right one. Raises ValueError unless ``p`` is 1 or 2."""
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    return apply(OPS["_multi_margin_loss"], (input, target, weight),
                 (int(p), float(margin), _reduction(size_average, reduce, reduction)))


@_functional
def multilabel_margin_loss(input: Tensor, target: Tensor, size_average: Any = None,
                           reduce: Any = None, reduction: str = "mean") -> Tensor:
    """Hinge of the classes not in each target list (ended by -1) against those in it."""
    return apply(OPS["_multilabel_margin_loss"], (input, target),
                 (_reduction(size_average, reduce, reduction),))


@_functional
def multilabel_soft_margin_loss(input: Tensor, target: Tensor, weight: Tensor | None = None,
                                size_average: Any = None, reduce: Any = None,
                                reduction: str = "mean") -> Tensor:
    """Binary cross entropy of each class, averaged over the classes."""
    loss = apply(OPS["_binary_cross_entropy_with_logits"], (input, target, None, None), ("none",))
    if weight is not None:
        loss = loss * weight
    return _mean_or_sum(loss.mean(-1), _reduction(size_average, reduce, reduction))
