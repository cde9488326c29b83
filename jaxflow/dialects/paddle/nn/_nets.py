"""Layers as functions, where Paddle's meaning takes more than one call."""

from __future__ import annotations

from typing import Any

import jaxflow
from jaxflow import Tensor
from jaxflow.nn import functional as F


def channels_first(data_format: str, *known: str) -> None:
    """Refuse a layout that jaxflow's operations do not have. ValueError."""
    if data_format not in ("NCL", "NCHW", "NCDHW", "NC", *known):
        raise ValueError(
            f"data_format {data_format!r} is not supported: transpose to channels first (NCHW) and back"
        )


def first(x: Tensor, data_format: str) -> Tensor:
    """``x``, once its layout is known to be channels first."""
    channels_first(data_format)
    return x


def sizes(padding: Any) -> Any:
    """A ``padding=`` argument: an int, a text, or one number for each dimension."""
    if isinstance(padding, (list, tuple)):
        if any(isinstance(p, (list, tuple)) for p in padding):
            padding = [tuple(p) for p in padding[-(len(padding) - 2) :]]
            if any(a != b for a, b in padding):
                raise ValueError("padding that differs at both ends is not supported: use nn.functional.pad")
            return tuple(a for a, _ in padding)
        return tuple(padding)
    return padding.lower() if isinstance(padding, str) else padding


def conv(
    fn: Any, x: Tensor, weight: Tensor, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int,
    data_format: str,
) -> Tensor:
    channels_first(data_format)
    return fn(x, weight, bias, stride, sizes(padding), dilation, groups)


def conv_transpose(
    fn: Any, x: Tensor, weight: Tensor, bias: Any, stride: Any, padding: Any, output_padding: Any,
    groups: int, dilation: Any, data_format: str,
) -> Tensor:
    channels_first(data_format)
    return fn(x, weight, bias, stride, sizes(padding), output_padding, groups, dilation)


def max_pool(
    fn: Any, x: Tensor, kernel: Any, stride: Any, padding: Any, return_mask: bool, ceil_mode: bool,
    data_format: str,
) -> Any:
    channels_first(data_format)
    found = fn(x, kernel, stride, sizes(padding), 1, ceil_mode, return_mask)
    return tuple(found) if return_mask else found


def avg_pool(
    fn: Any, x: Tensor, kernel: Any, stride: Any, padding: Any, ceil_mode: bool, exclusive: bool,
    divisor_override: Any, data_format: str,
) -> Tensor:
    channels_first(data_format)
    rest = () if fn is F.avg_pool1d else (divisor_override,)
    return fn(x, kernel, stride, sizes(padding), ceil_mode, not exclusive, *rest)


def linear(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """``x @ weight + bias``; the weight is ``[in, out]``."""
    out = x @ weight
    return out if bias is None else out + bias


def dropout(x: Tensor, p: float, axis: Any, training: bool, mode: str) -> Tensor:
    """Elements (or, with ``axis``, whole slices) set to 0 with probability ``p``."""
    if mode not in ("upscale_in_train", "downscale_in_infer"):
        raise ValueError("mode argument should be 'downscale_in_infer' or 'upscale_in_train'")
    if not training:
        return x if mode == "upscale_in_train" else x * (1 - p)
    if axis is None:
        out = F.dropout(x, p, True)
    else:
        kept = (axis,) if isinstance(axis, int) else tuple(axis)
        mask = jaxflow.ones(tuple(n if d in kept else 1 for d, n in enumerate(x.shape)), dtype=x.dtype)
        out = x * F.dropout(mask, p, True)
    return out if mode == "upscale_in_train" else out * (1 - p)


def cross_entropy(
    input: Tensor, label: Tensor, weight: Tensor | None, ignore_index: int, reduction: str, soft_label: bool,
    axis: int, use_softmax: bool, label_smoothing: float,
) -> Tensor:
    """Paddle's: classes along ``axis``, labels with or without a dimension of extent 1 there."""
    axis %= input.ndim
    scores = input.movedim(axis, -1)
    logs = scores.log_softmax(-1) if use_softmax else scores.log()
    classes = scores.shape[-1]
    if not soft_label:
        column = label.ndim == input.ndim and label.shape[axis] == 1
        index = label.movedim(axis, -1).squeeze(-1) if column else label
        kept = index != ignore_index
        target = F.one_hot(jaxflow.where(kept, index, 0), classes).to(logs.dtype)
    else:
        target, kept, column = label.movedim(axis, -1), None, True
    if label_smoothing:
        target = target * (1 - label_smoothing) + label_smoothing / classes
    losses = -(target * logs).sum(-1)
    scale = None
    if weight is not None:
        scale = (target * weight).sum(-1)
        losses = losses * scale
    if kept is not None:
        losses = jaxflow.where(kept, losses, 0.0)
        scale = kept.to(logs.dtype) if scale is None else jaxflow.where(kept, scale, 0.0)
    if reduction == "none":
        return losses.unsqueeze(axis) if column else losses
    if reduction == "sum":
        return losses.sum()
    if scale is None:
        return losses.mean()
    total = scale.sum()
    return losses.sum() / (total + (total == 0))  # Paddle gives 0 where every label is ignored


def normalize(x: Tensor, p: float, axis: int, epsilon: float) -> Tensor:
    """``x`` divided by its p-norm along ``axis``, which is taken to be at least ``epsilon``."""
    return F.normalize(x, p, axis, epsilon)


def batch_norm(
    x: Tensor, mean: Tensor, var: Tensor, weight: Any, bias: Any, training: bool, momentum: float,
    epsilon: float, data_format: str, use_global_stats: Any,
) -> Tensor:
    """``momentum`` is the share of the old statistics, and the running variance is the biased one."""
    channels_first(data_format, "NLC" if x.ndim == 2 else "NCL")
    if use_global_stats if use_global_stats is not None else not training:
        return F.batch_norm(x, mean, var, weight, bias, False, 0.0, epsilon)
    dims = [d for d in range(x.ndim) if d != 1]
    with jaxflow.no_grad():
        mean.mul_(momentum).add_(x.mean(dims) * (1 - momentum))
        var.mul_(momentum).add_(x.var(dims, correction=0) * (1 - momentum))
    return F.batch_norm(x, None, None, weight, bias, True, 0.0, epsilon)


def pad(x: Tensor, pad: Any, mode: str, value: float, data_format: str) -> Tensor:
    """``pad`` holds pairs from the last dimension, or for all dimensions from the first."""
    channels_first(data_format)
    pad = pad.tolist() if isinstance(pad, Tensor) else list(pad)
    if mode == "constant" and len(pad) == 2 * x.ndim:
        pad = [n for d in reversed(range(x.ndim)) for n in pad[2 * d : 2 * d + 2]]
    return F.pad(x, pad, mode, value if mode == "constant" else None)


def interpolate(
    x: Tensor, size: Any, scale_factor: Any, mode: str, align_corners: bool, data_format: str
) -> Tensor:
    channels_first(data_format)
    size = size.tolist() if isinstance(size, Tensor) else size
    linear = mode in ("linear", "bilinear", "trilinear", "bicubic")
    return F.interpolate(x, size, scale_factor, mode, align_corners if linear else None)


def attention(
    query: Tensor, key: Tensor, value: Tensor, attn_mask: Any, dropout_p: float, is_causal: bool,
    training: bool,
) -> Tensor:
    """Scaled dot-product attention on ``[batch, sequence, heads, features]``."""
    q, k, v = (t.transpose(1, 2) for t in (query, key, value))
    out = F.scaled_dot_product_attention(q, k, v, attn_mask, dropout_p if training else 0.0, is_causal)
    return out.transpose(1, 2)


def reduced(losses: Tensor, reduction: str) -> Tensor:
    """All losses, their sum, or their mean."""
    if reduction not in ("none", "sum", "mean"):
        raise ValueError(
            "The value of 'reduction' in a loss should be 'sum', 'mean' or 'none', but received "
            f"{reduction}, which is not allowed."
        )
    return losses if reduction == "none" else losses.sum() if reduction == "sum" else losses.mean()
