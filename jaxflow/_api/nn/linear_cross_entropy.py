"""The cross entropy of a linear map of its input."""

from __future__ import annotations

import math
from typing import Any

from jaxflow._api.linalg.matmul import linear
from jaxflow._core.dtype import bfloat16, float16
from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.held_operands import hold_also
from jaxflow._publish.composite import composite

from .loss_classes import cross_entropy


def _check(input: Tensor, weight: Tensor, target: Tensor, bias: Tensor | None,
           ignore_index: int | None) -> None:
    if input.dim() not in (1, 2):
        raise RuntimeError(f"expected input with dimensionality 1 or 2, got {input.dim()}")
    if weight.dim() < 2:
        raise RuntimeError(f"expected linear_weight with dimensionality at least 2, got {weight.dim()}")
    if input.shape[-1] != weight.shape[-1]:
        raise RuntimeError(
            "expected equal input and linear_weight last dimensions (in_features), got "
            f"{input.shape[-1]} and {weight.shape[-1]}, respectively")
    if target.is_floating_point() and ignore_index is not None:
        raise RuntimeError("ignore_index cannot be specified when target contains probabilities")
    if weight.dim() > 2 and input.dim() == 1:
        raise RuntimeError(
            f"K-dimensional loss defined by linear_weight shape {tuple(weight.shape)} requires batched "
            f"input, (N, {input.shape[-1]}), got unbatched input with shape {tuple(input.shape)}")
    if bias is not None and bias.shape != weight.shape[:-1]:
        raise RuntimeError(
            f"expected linear_bias shape {tuple(weight.shape[:-1])}, got {tuple(bias.shape)}")


@composite("function", namespace="nn.functional")
def linear_cross_entropy(
    input: Tensor, linear_weight: Tensor, target: Tensor, *, linear_bias: Tensor | None = None,
    weight: Tensor | None = None, reduction: str = "mean", ignore_index: int | None = None,
    label_smoothing: float = 0.0, options: Any = None,
) -> Tensor:
    """`cross_entropy` of ``linear(input, linear_weight, linear_bias)``.

    Args:
        input: ``(N, in)`` or ``(in,)``.
        linear_weight: ``(C, in)``, or ``(C, d1, ..., in)`` for a loss at each of many places.
        target: classes, ``(N, d1, ...)``, or their probabilities, ``(N, C, d1, ...)``.
        linear_bias: ``(C, d1, ...)``.
        weight: one factor a class.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        ignore_index: a class that counts for nothing (default: -100); not with probabilities.
        label_smoothing: how much of each target is spread over all classes.
        options: `nn.LinearCrossEntropyOptions`. They say how PyTorch cuts the batch to save memory, which
            changes no result but that half precision is rounded once: what is computed here is the loss of
            the whole batch, which can be differentiated any number of times.

    Raises:
        RuntimeError: when shapes do not fit.
    """
    _check(input, linear_weight, target, linear_bias, ignore_index)
    dtype, shape = input.dtype, linear_weight.shape[:-1]
    chunked = options is not None and not label_smoothing and len(shape) == 1 and (
        not target.is_floating_point())
    unbatched = chunked and input.dim() == 1
    given = (input, linear_weight, target, linear_bias, weight) if chunked and reduction == "none" else ()
    if chunked and reduction != "none":
        # PyTorch computes the gradients at once: what is given may be overwritten before backward.
        input, linear_weight, target, linear_bias, weight = (
            None if x is None else x.clone() for x in (input, linear_weight, target, linear_bias, weight)
        )
    if unbatched:
        input, target = input.unsqueeze(0), target.unsqueeze(0)
    if chunked and dtype in (float16, bfloat16):
        input, linear_weight, target, linear_bias, weight = (
            x.float() if x is not None and x.dtype is dtype else x
            for x in (input, linear_weight, target, linear_bias, weight)
        )
    if len(shape) > 1:
        linear_weight = linear_weight.reshape(math.prod(shape), linear_weight.shape[-1])
        linear_bias = None if linear_bias is None else linear_bias.reshape(-1)
    logits = linear(input, linear_weight, linear_bias)
    if len(shape) > 1:
        logits = logits.reshape(len(input), *shape)
    loss = cross_entropy(logits, target, weight=weight, reduction=reduction, label_smoothing=label_smoothing,
                         ignore_index=-100 if ignore_index is None else ignore_index)
    if chunked:
        loss = loss.to(dtype)
    return hold_also(loss.squeeze(0) if unbatched else loss, *given)
