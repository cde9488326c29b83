"""`nn.MultiheadAttention` of nested tensors of the strided layout: self-attention, in inference."""

from __future__ import annotations

from typing import Any

from jaxflow import _functions as F
from jaxflow._core.autocast import is_any_enabled
from jaxflow._core.state import state
from jaxflow._core.tensor import Tensor

from .parts import is_jagged, is_nested, parts_of
from .strided import dense, gathered


def _refused(module: Any, query: Tensor, key: Tensor, value: Tensor, masks: tuple) -> str:
    """Why PyTorch has no form of it; empty where it has one."""
    weights = (module.in_proj_weight, module.in_proj_bias, module.out_proj.weight, module.out_proj.bias)
    for holds, why in (
        (not (query is key is value),
         "non-self attention was used (query, key, and value are not the same Tensor)"),
        (module.in_proj_weight is None, "in_proj_weight was None"),
        (module.training, "training is enabled"),
        (module.num_heads % 2 == 1, "self.num_heads is not even"),
        (not module.batch_first, "batch_first was not True"),
        (module.bias_k is not None, "self.bias_k was not None"),
        (module.bias_v is not None, "self.bias_v was not None"),
        (module.add_zero_attn, "add_zero_attn was enabled"),
        (not module._qkv_same_embed_dim, "_qkv_same_embed_dim was not True"),
        (any(m is not None for m in masks), "supplying both src_key_padding_mask and src_mask at the same "
                                            "time, or one of them with a nested tensor, is not supported"),
        (is_any_enabled(), "autocast is enabled"),
        (is_jagged(query), "some Tensor argument has_torch_function"),
        (state.grad and any(t is not None and t.requires_grad for t in (query, *weights)),
         "grad is enabled and at least one of query or the input/output projection weights or biases "
         "requires_grad"),
    ):
        if holds:
            return why
    return ""


def self_attention(module: Any, query: Tensor, key: Tensor, value: Tensor, masks: tuple, need_weights: bool,
                   average: bool) -> tuple[Tensor, Tensor | None]:
    """The outputs, nested, and the weights, padded with zeros: ``(B, S, S)``, or ``(B, heads, S, S)``.

    Raises:
        AssertionError: outside of what PyTorch calls its fast path.
    """
    why = _refused(module, query, key, value, masks)
    if why or not is_nested(query):
        raise AssertionError(
            "MultiheadAttention does not support NestedTensor outside of its fast path. "
            f"The fast path was not hit because {why or 'some inputs were not nested'}")
    sizes = parts_of(query).sizes
    x = dense(query, 0)
    lengths = F.tensor([size[0] for size in sizes], device=x.device)
    missing = F.arange(x.shape[1], device=x.device) >= lengths.unsqueeze(1)
    found, weights = module(x, x, x, key_padding_mask=missing, need_weights=need_weights,
                            average_attn_weights=average)
    if weights is not None:
        rows = missing.unsqueeze(-1) if average else missing.unsqueeze(-1).unsqueeze(1)
        weights = weights.masked_fill(rows, 0.0)
    return gathered(found, sizes), weights
