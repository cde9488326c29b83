"""Losses as functions: PyTorch's arguments, checks and warnings around the ops of
``_ops/loss.py``.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

from jaxflow._api.forms import expect_tensor, invalid_combination
from jaxflow._api.shape.views import broadcast_tensors
from jaxflow._core import dtype as dtypes
from jaxflow._core import promotion
from jaxflow._core.geometry import broadcast_shapes
from jaxflow._core.state import state
from jaxflow._core.tensor import Tensor
from jaxflow._core.warning import user_level
from jaxflow._dispatch.dispatch import apply
from jaxflow._ops._bools import NEGATED, SUBTRACTED_TWO
from jaxflow._plans.op import OPS
from jaxflow._publish.composite import composite
from jaxflow._publish.value_checks import Watch


def _functional(fn: Callable) -> Callable:
    return composite("function", namespace="nn.functional")(fn)


def reduction_of(size_average: bool | None, reduce: bool | None, reduction: str) -> str:
    """The reduction that the arguments stand for, the deprecated ones included."""
    if size_average is None and reduce is None:
        if reduction not in ("none", "mean", "sum"):
            raise ValueError(f"{reduction} is not a valid value for reduction")
        return reduction
    averages = size_average is None or size_average
    chosen = "none" if reduce is False else "mean" if averages else "sum"
    warnings.warn(
        f"size_average and reduce args will be deprecated, please use reduction='{chosen}' "
        "instead.",
        stacklevel=user_level(),
    )
    return chosen


def _warn_of_broadcast(input: Tensor, target: Tensor) -> None:
    if target._aval.shape != input._aval.shape:
        warnings.warn(
            f"Using a target size ({target.shape}) that is different to the input size "
            f"({input.shape}). "
            "This will likely lead to incorrect results due to broadcasting. Please ensure they "
            "have the "
            "same size.",
            stacklevel=user_level(),
        )


def mean_or_sum(loss: Tensor, reduction: str) -> Tensor:
    return loss.mean() if reduction == "mean" else loss.sum() if reduction == "sum" else loss


def not_differentiable(function: str, **arguments: Any) -> None:
    """Refuse arguments that require grad where PyTorch has no derivative for them."""
    for name, t in arguments.items():
        if isinstance(t, Tensor) and t.requires_grad and state.grad:
            raise RuntimeError(
                f"The function '{function}' is not differentiable with respect to argument "
                f"'{name}'. This input cannot have requires_grad True."
            )


def _weighted(function: Callable, input: Tensor, target: Tensor, weight: Tensor, size_average: Any,
              reduce: Any, reduction: str, by_weights: bool = True) -> Tensor:
    """The loss ``function`` of the two, expanded, times ``weight``: each step in a dtype of its own."""
    if size_average is not None or reduce is not None:
        reduction = reduction_of(size_average, reduce, reduction)
    input, target, shape = *broadcast_tensors(input, target), input.shape
    if weight.shape != shape:
        raise ValueError("Weights and input must have the same size.")
    loss = function(input, target) * weight
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"Invalid reduction mode: {reduction}. Expected one of 'none', 'mean', 'sum'.")
    if reduction == "mean" and by_weights:
        return loss.sum() / weight.sum()
    return mean_or_sum(loss, reduction)


@_functional
def mse_loss(
    input: Tensor, target: Tensor, size_average: Any = None, reduce: Any = None,
    reduction: str = "mean", weight: Tensor | None = None,
) -> Tensor:
    """The mean squared difference.

    ``mean((input - target) ** 2)``; with weights ``sum(weight * (input - target) ** 2) / sum(weight)``.

    Args:
        input: floating point, of any shape; with weights of any dtype but bool.
        target: of the same shape; another that broadcasts is accepted with a warning.
        size_average: deprecated, as is ``reduce``.
        reduce: deprecated.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        weight: factors of the elements, of the input's shape; the mean is then over the weights.

    Returns:
        A tensor without dimensions; with ``reduction="none"`` the squared differences, of the input's
        shape.

    Raises:
        ValueError: for another reduction, and for weights of another shape.
        RuntimeError: for shapes that do not broadcast.

    Example:
        >>> x, y = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 2.0])
        >>> F.mse_loss(x, y)
        tensor(2.)
        >>> F.mse_loss(x, y, reduction="none")
        tensor([4., 0.])
        >>> F.mse_loss(x, y, weight=torch.tensor([3.0, 1.0]))
        tensor(3.)
    """
    _warn_of_broadcast(input, target)
    if weight is not None:
        return _weighted(lambda x, t: (x - t).pow(2), input, target, weight, size_average, reduce, reduction)
    reduction = reduction_of(size_average, reduce, reduction)
    return apply(OPS["_mse_loss"], (input, target), (reduction, None))


@_functional
def l1_loss(
    input: Tensor, target: Tensor, size_average: Any = None, reduce: Any = None,
    reduction: str = "mean", weight: Tensor | None = None,
) -> Tensor:
    """The mean absolute difference; arguments as in `mse_loss`.

    ``mean(abs(input - target))``, with weights ``sum(weight * abs(input - target)) / sum(weight)``.

    Args:
        input: floating point or complex, of any shape; for ``"sum"`` and ``"none"`` also integers.
        target: of the same shape; another one is broadcast, with a warning.
        size_average: deprecated, as is ``reduce``.
        reduce: deprecated.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        weight: factors of the elements, of the input's shape; the mean is then over the weights.

    Returns:
        A tensor of no dimensions, or with ``"none"`` one of the shape of ``input``. Its dtype is the one
        that both promote to, real for complex numbers.

    Raises:
        ValueError: for another reduction, and weights of another shape.
        RuntimeError: for shapes that do not broadcast, and the mean of integers.

    Example:
        >>> input, target = torch.tensor([1.0, 2.0, 5.0]), torch.tensor([2.0, 4.0, 5.0])
        >>> F.l1_loss(input, target)
        tensor(1.)
        >>> F.l1_loss(input, target, reduction="none")
        tensor([1., 2., 0.])
    """
    _warn_of_broadcast(input, target)
    if weight is not None:
        return _weighted(lambda x, t: (x - t).abs(), input, target, weight, size_average, reduce, reduction)
    reduction = reduction_of(size_average, reduce, reduction)
    if input.dtype is not target.dtype:  # without dimensions it would promote otherwise
        input, target = broadcast_tensors(input, target)
    return mean_or_sum((input - target).abs(), reduction)


@_functional
def smooth_l1_loss(
    input: Tensor, target: Tensor, size_average: Any = None, reduce: Any = None,
    reduction: str = "mean", beta: float = 1.0,
) -> Tensor:
    """``0.5 d ** 2 / beta`` where the difference is below ``beta``, ``|d| - 0.5 beta`` above."""
    reduction = reduction_of(size_average, reduce, reduction)
    _warn_of_broadcast(input, target)
    if beta == 0:
        return mean_or_sum((input - target).abs(), reduction)
    if not beta >= 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    return apply(OPS["_smooth_l1_loss"], (input, target), (reduction, float(beta)))


@_functional
def huber_loss(
    input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0,
    weight: Tensor | None = None,
) -> Tensor:
    """``0.5 d ** 2`` up to ``delta``, ``delta (|d| - 0.5 delta)`` above; see `mse_loss`."""
    _warn_of_broadcast(input, target)
    if weight is None:
        return _huber(input, target, reduction_of(None, None, reduction), delta)
    return _weighted(lambda x, t: _huber(x, t, "none", delta), input, target, weight, None, None, reduction,
                     by_weights=False)


def _huber(input: Tensor, target: Tensor, reduction: str, delta: float) -> Tensor:
    if target._aval.shape != input._aval.shape:
        broadcast_shapes(input._aval.shape, target._aval.shape)
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    if target._aval.dtype is not input._aval.dtype:
        # The result has the input's dtype, which has to hold what the two promote to.
        wanted = promotion.promote_types(input._aval.dtype, target._aval.dtype)
        if not promotion.can_cast(wanted, input._aval.dtype):
            raise RuntimeError(
                f"result type {wanted.scalar_name} can't be cast to the desired output type "
                f"{input._aval.dtype.scalar_name}"
            )
    return apply(OPS["_huber_loss"], (input, target), (reduction, float(delta)))


@_functional
def binary_cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None = None,
                         size_average: Any = None, reduce: Any = None,
                         reduction: str = "mean") -> Tensor:
    """Cross entropy of probabilities with targets between 0 and 1, element by element."""
    reduction = reduction_of(size_average, reduce, reduction)
    if target._aval.shape != input._aval.shape:
        raise ValueError(
            f"Using a target size ({target.shape}) that is different to the input size "
            f"({input.shape}) is "
            "deprecated. Please ensure they have the same size."
        )
    loss = apply(OPS["_binary_cross_entropy"], (input, target, weight), (reduction,))
    not_differentiable("binary_cross_entropy", weight=weight)
    watch = Watch()
    for name, t in (("input", input), ("target", target)):
        if t._aval.numel:
            watch.within((t,), ((0, 1),), lambda *_, name=name: RuntimeError(
                f"all elements of {name} should be between 0 and 1"))
    return watch.over(loss)


@_functional
def binary_cross_entropy_with_logits(
    input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: Any = None,
    reduce: Any = None, reduction: str = "mean", pos_weight: Tensor | None = None,
) -> Tensor:
    """``binary_cross_entropy(sigmoid(input), target)``, stable for large inputs.

    For each element
    ``-weight * (pos_weight * target * log(sigmoid(input)) + (1 - target) * log(1 - sigmoid(input)))``.

    Args:
        input: logits, floating point, of any shape.
        target: floating point, of the same shape, usually between 0 and 1.
        weight: factors of the elements, broadcast to the input's shape (default 1).
        size_average: deprecated, as is ``reduce``.
        reduce: deprecated.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        pos_weight: factors of the first term, broadcast to the input's shape, for instance one for each
            class in the last dimension (default 1).

    Returns:
        A tensor without dimensions; with ``reduction="none"`` the losses, of the input's shape.

    Raises:
        ValueError: for another reduction, and for a target of another shape.
        RuntimeError: for factors that do not broadcast, or that require a gradient.

    Example:
        >>> x = torch.tensor([1000.0, -1000.0])
        >>> F.binary_cross_entropy_with_logits(x, torch.ones(2), reduction="none")
        tensor([   0., 1000.])
        >>> F.binary_cross_entropy_with_logits(x, torch.ones(2), pos_weight=torch.tensor(2.0))
        tensor(1000.)
    """
    reduction = reduction_of(size_average, reduce, reduction)
    if target._aval.shape != input._aval.shape:
        raise ValueError(
            f"Target size ({target.shape}) must be the same as input size ({input.shape})"
        )
    return cross_entropy_of_logits(input, target, weight, pos_weight, reduction)


def cross_entropy_of_logits(input: Tensor, target: Tensor, weight: Tensor | None, pos_weight: Tensor | None,
                            reduction: str) -> Tensor:
    """`binary_cross_entropy_with_logits` of a target that may be larger than ``input``."""
    name = "binary_cross_entropy_with_logits"
    for position, what, t in ((3, "weight", weight), (4, "pos_weight", pos_weight)):
        if t is not None:
            expect_tensor(name, what, t, position)
    not_differentiable(name, weight=weight, pos_weight=pos_weight)
    return apply(OPS["_" + name], (input, target, weight, pos_weight), (reduction,))


@_functional
def kl_div(input: Tensor, target: Tensor, size_average: Any = None, reduce: Any = None,
           reduction: str = "mean", log_target: bool = False) -> Tensor:
    """Kullback-Leibler divergence of log-probabilities ``input`` from probabilities ``target``."""
    if size_average is not None or reduce is not None:
        reduction = reduction_of(size_average, reduce, reduction)
    elif reduction == "mean":
        warnings.warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support size."
            "'batchmean' divides only by the batch size, and aligns with the KL div math "
            "definition."
            "'mean' will be changed to behave the same as 'batchmean' in the next major release.",
            stacklevel=user_level(),
        )
    elif reduction not in ("batchmean", "sum", "none"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    if input._aval.dtype.is_complex or target._aval.dtype.is_complex:
        raise RuntimeError("kl_div: Complex inputs not supported.")
    if not (input._aval.dtype.is_floating_point and target._aval.dtype.is_floating_point):
        raise RuntimeError("kl_div: Integral inputs not supported.")
    inner = "sum" if reduction == "batchmean" else reduction
    if target._aval.dtype is input._aval.dtype:
        loss = apply(OPS["_kl_div"], (target, input), (inner, bool(log_target)))
    elif log_target:  # each step rounds in its own dtype
        loss = mean_or_sum(target.exp() * (target - input), inner)
    else:
        loss = mean_or_sum(target.xlogy(target) - target * input, inner)
    if reduction == "batchmean" and input.dim():
        return loss / input.shape[0]
    return loss


@_functional
def poisson_nll_loss(input: Tensor, target: Tensor, log_input: bool = True, full: bool = False,
                     size_average: Any = None, eps: float = 1e-8, reduce: Any = None,
                     reduction: str = "mean") -> Tensor:
    """Negative log-likelihood of counts under a Poisson distribution of (log-)rate ``input``."""
    reduction = reduction_of(size_average, reduce, reduction)
    if log_input:
        loss = input.exp() - target * input
    else:
        loss = input - target * (input + eps).log()
    if full:
        # In the order of PyTorch's graph, which decides how gradients in half precision add up.
        last = 0.5 * (2 * math.pi * target).log()
        stirling = target * target.log() - target + last
        loss = loss.add_(stirling.masked_fill(target <= 1, 0))  # in the dtype that the loss has without
    return mean_or_sum(loss, reduction)


@_functional
def gaussian_nll_loss(input: Tensor, target: Tensor, var: Any, full: bool = False,
                      eps: float = 1e-6, reduction: str = "mean") -> Tensor:
    """Negative log-likelihood under a normal distribution of mean ``input`` and variance
    ``var``.
    """
    if not isinstance(var, Tensor):
        if not isinstance(var, float):
            raise invalid_combination("any", (var < 0,), {})
        if var < 0:
            raise ValueError("var has negative entry/entries")
        var = var * input.new_ones(input.shape)
    elif (var < 0).any():
        raise ValueError("var has negative entry/entries")
    if var.shape != input.shape:
        # One variance a sample, with or without its dimension; anything else fits nothing.
        if input.shape[:-1] == var.shape:
            var = var.unsqueeze(-1)
        elif not _one_or_equal(input.shape, var.shape):
            raise ValueError("var is of incorrect size")
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not valid")
    held = var.clone()
    held.detach().clamp_(min=eps)
    loss = 0.5 * (held.log() + (input - target) ** 2 / held)
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    return mean_or_sum(loss, reduction)


def _one_or_equal(shape: tuple, other: tuple) -> bool:
    unequal = [(a, b) for a, b in zip(shape, other) if a != b]
    return len(shape) == len(other) and len(unequal) == 1 and unequal[0][1] == 1


@_functional
def soft_margin_loss(input: Tensor, target: Tensor, size_average: Any = None, reduce: Any = None,
                     reduction: str = "mean") -> Tensor:
    """``log(1 + exp(-target * input))`` for targets 1 and -1."""
    reduction = reduction_of(size_average, reduce, reduction)
    not_differentiable("soft_margin_loss", target=target)
    if input._aval.dtype is dtypes.bool:
        raise RuntimeError(NEGATED)
    computed = promotion.promote_types(input._aval.dtype, target._aval.dtype)
    computed = computed if computed.category >= dtypes.FLOATING else dtypes.get_default_dtype()
    if not promotion.can_cast(computed, input._aval.dtype):
        raise RuntimeError(
            f"result type {computed.scalar_name} can't be cast to the desired output type "
            f"{input._aval.dtype.scalar_name}"
        )
    shape = broadcast_shapes(input.shape, target.shape)
    if shape != input.shape:
        raise RuntimeError(
            f"output with shape {list(input.shape)} doesn't match the broadcast shape {list(shape)}")
    if computed.is_complex and state.grad and input.requires_grad:
        raise RuntimeError(
            "soft_margin_loss does not support automatic differentiation for outputs with complex dtype.")
    return apply(OPS["_soft_margin_loss"], (input, target), (reduction,))


@_functional
def margin_ranking_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0,
                        size_average: Any = None, reduce: Any = None,
                        reduction: str = "mean") -> Tensor:
    """``max(0, -target * (input1 - input2) + margin)``."""
    reduction = reduction_of(size_average, reduce, reduction)
    if input1.dim() != input2.dim() or input1.dim() != target.dim():
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
            "input1: "
            f"{input1.size()}, input2: {input2.size()}, target: {target.size()} "
        )
    difference = input1 - input2  # PyTorch computes it first
    loss = (-target * difference + _as_float(margin, "margin_ranking_loss", 4)).clamp_min(0)
    return mean_or_sum(loss, reduction)


def _as_float(margin: Any, name: str, position: int) -> float:
    """A margin as the float that PyTorch takes it for, so that no integer is added to integers."""
    if not hasattr(margin, "__float__"):
        raise TypeError(f"{name}(): argument 'margin' (position {position}) must be float, not "
                        f"{type(margin).__name__}")
    return float(margin)


@_functional
def hinge_embedding_loss(input: Tensor, target: Tensor, margin: float = 1.0,
                         size_average: Any = None, reduce: Any = None,
                         reduction: str = "mean") -> Tensor:
    """``input`` where the target is 1, ``max(0, margin - input)`` where it is -1, in its dtype."""
    zero, dtype = input.new_zeros(()), input._aval.dtype
    if dtype is dtypes.bool:
        raise RuntimeError(SUBTRACTED_TWO)
    if dtype.category == dtypes.INTEGER:
        margin = int(margin)
    loss = (margin - input).clamp(min=0).where(target != 1, zero) + input.where(target != -1, zero)
    return mean_or_sum(loss, reduction_of(size_average, reduce, reduction))


@_functional
def cosine_embedding_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0,
                          size_average: Any = None, reduce: Any = None,
                          reduction: str = "mean") -> Tensor:
    """``1 - cos`` where the target is 1, ``max(0, cos - margin)`` where it is -1."""
    reduction = reduction_of(size_average, reduce, reduction)
    if target.dim() > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if not input1.dim() == input2.dim() == target.dim() + 1:
        raise RuntimeError(
            f"{target.dim()}D target tensor expects {target.dim() + 1}D input tensors, but found "
            f"inputs with sizes {list(input1.shape)} and {list(input2.shape)}."
        )
    epsilon = 1e-12
    product = (input1 * input2).sum(-1)
    norms = ((input1 * input1).sum(-1) + epsilon) * ((input2 * input2).sum(-1) + epsilon)
    cosine = product / norms.sqrt()
    zero = cosine.new_zeros(())
    loss = (1 - cosine).where(target == 1, zero) + (cosine - margin).clamp(min=0).where(
        target == -1, zero)
    return mean_or_sum(loss, reduction_of(size_average, reduce, reduction))


@_functional
def multilabel_soft_margin_loss(input: Tensor, target: Tensor, weight: Tensor | None = None,
                                size_average: Any = None, reduce: Any = None,
                                reduction: str = "mean") -> Tensor:
    """Binary cross entropy of each class, averaged over the classes."""
    if size_average is not None or reduce is not None:
        reduction = reduction_of(size_average, reduce, reduction)
    present = apply(OPS["logsigmoid"], (input,))
    absent = apply(OPS["logsigmoid"], (-input,))
    loss = -(target * present + (1 - target) * absent)
    if weight is not None:
        loss = loss * weight
    classes = input.dim() - 1
    loss = loss.sum(classes) / input.size(classes)
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not valid")
    return mean_or_sum(loss, reduction)
