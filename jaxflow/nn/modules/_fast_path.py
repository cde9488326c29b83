"""What PyTorch's fast path of attention gives in inference: when it is taken, and zeros at the padding.

PyTorch makes nested tensors of padded ones there, so what comes out is zero at the padding. Here the same
operations run as ever, and the padding is set to zero.
"""

from __future__ import annotations

from typing import Any

from jaxflow import _functions as functions
from jaxflow._core.autocast import is_any_enabled
from jaxflow._core.state import state
from jaxflow._core.tensor import Tensor
from jaxflow.nn import functional as F


class _Switch:
    """Whether the fast path may be taken: ``torch.backends.mha.set_fastpath_enabled``."""

    enabled = True


SWITCH = _Switch()


def layer_refuses(layer: Any, kind: type) -> str:
    """Why an encoder of copies of ``layer`` does not take the fast path; empty if it may.

    Args:
        layer: a layer of an encoder.
        kind: the class of layers that may.
    """
    name = "encoder_layer"
    if not isinstance(layer, kind):
        return f"{name} was not TransformerEncoderLayer"
    attention = layer.self_attn
    activation = layer.activation
    of_two = activation in (F.relu, F.gelu) or type(activation).__name__ in ("ReLU", "GELU")
    for holds, why in (
        (layer.norm_first, f"{name}.norm_first was True"),
        (not attention.batch_first,
         f"{name}.self_attn.batch_first was not True(use batch_first for better inference performance)"),
        (not attention._qkv_same_embed_dim, f"{name}.self_attn._qkv_same_embed_dim was not True"),
        (attention.in_proj_bias is None, f"{name}.self_attn was passed bias=False"),
        (not of_two, f"{name}.activation_relu_or_gelu was not True"),
        (layer.norm1.eps != layer.norm2.eps, f"{name}.norm1.eps was not equal to {name}.norm2.eps"),
        (attention.num_heads % 2 == 1, f"{name}.self_attn.num_heads is odd"),
    ):
        if holds:
            return why
    return ""


def is_taken(encoder: Any, src: Tensor, mask: Tensor | None, padding: Tensor | None) -> bool:
    """Whether an encoder takes the fast path for these arguments."""
    layer = encoder.layers[0]
    return (
        SWITCH.enabled and getattr(encoder, "use_nested_tensor", False) and not layer.training
        and padding is not None and mask is None and src.dim() == 3 and not src.is_nested
        and not is_any_enabled()
        and not (state.grad and any(x.requires_grad for x in (src, *layer.parameters())))
    )


def padding_of(padding: Tensor, checked: bool) -> tuple[Tensor, Tensor]:
    """What the layers get as padding, and where the result is zero, both ``(N, S)``.

    Args:
        padding: True, or a number other than 0, where an element does not count.
        checked: whether the fast path is only taken where what counts comes first; otherwise the first
            elements are taken, as many as count.
    """
    numbers = padding.is_floating_point()
    away = padding != 0 if numbers else padding
    there = ~away
    if checked:
        first = ~(there[:, 1:] & away[:, :-1]).any()
        away = away & first
        if not numbers:
            return padding, away
        return padding.masked_fill(away, float("-inf")), away
    places = functions.arange(padding.shape[1], device=padding.device)
    away = places >= there.sum(1, keepdim=True)
    return away, away
