"""Attention and embedding look-ups as functions."""

from __future__ import annotations

import jax
import numpy as np

from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.composite import composite
from jaxflow._dispatch.door import apply, value_of
from jaxflow._dispatch.op import OPS
from jaxflow._ops.dropout import _dropout_noise

from .nn_functional_random import draw


@composite("function", namespace="nn.functional")
def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None,
    dropout_p: float = 0.0, is_causal: bool = False, scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """``softmax(query @ key.T * scale + mask) @ value`` with dropout on the weights.

    Args:
        query, key, value: ``(..., L, E)``, ``(..., S, E)``, ``(..., S, Ev)``.
        attn_mask: bool (True takes part) or float (added), broadcastable to ``(..., L, S)``.
        is_causal: query i sees keys 0 to i; not together with a mask.
        scale: ``1 / sqrt(E)`` by default.
        enable_gqa: fewer heads of key and value, each serving several of query.

    Raises:
        RuntimeError: for dtypes that differ, or a mask given together with ``is_causal``.
    """
    if is_causal and attn_mask is not None:
        raise RuntimeError(
            "_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True"
        )
    dtype = query._aval.dtype
    if key._aval.dtype is not dtype or value._aval.dtype is not dtype:
        raise RuntimeError(
            "Expected query, key, and value to have the same dtype, but got query.dtype: "
            f"{dtype.scalar_name} key.dtype: {key._aval.dtype.scalar_name} and value.dtype: "
            f"{value._aval.dtype.scalar_name} instead."
        )
    if query._aval.ndim < 2 or key._aval.ndim < 2 or value._aval.ndim < 2:
        raise RuntimeError(
            "Expected query, key, and value to all be  at least 2 dimensional, but got query.dim(): "
            f"{query._aval.ndim}, key.dim(): {key._aval.ndim} and value.dim(): {value._aval.ndim} "
            "instead."
        )
    noise = None
    if dropout_p > 0.0:
        weights = query.new_empty((*query._aval.shape[:-1], key._aval.shape[-2]))
        noise = apply(
            _dropout_noise, (weights, 1.0 - dropout_p, 1.0 / (1.0 - dropout_p), *draw(None)), (False,)
        )
    return apply(
        OPS["_scaled_dot_product_attention"], (query, key, value, attn_mask, noise),
        (bool(is_causal), scale, bool(enable_gqa)),
    )


@composite("function", namespace="nn.functional")
def embedding(input: Tensor, weight: Tensor, padding_idx: int | None = None,
              max_norm: float | None = None, norm_type: float = 2.0,
              scale_grad_by_freq: bool = False, sparse: bool = False) -> Tensor:
    """Rows of ``weight`` at the integers of ``input``: ``(*input.shape, weight.shape[1])``.

    ``max_norm`` first scales down, in place, the rows looked up whose norm is larger. ``sparse`` is
    accepted; gradients are dense.

    Raises:
        IndexError: for an index out of range, when the indices are known at the call.
        AssertionError: for a ``padding_idx`` out of range.
    """
    rows = weight._aval.shape[0]
    if padding_idx is not None:
        if padding_idx >= rows or padding_idx < -rows:
            raise AssertionError("Padding_idx must be within num_embeddings")
        padding_idx %= rows
    _check_range(input, rows)
    if max_norm is not None:
        _renormalize(weight, input, max_norm, norm_type)
    return apply(OPS["_embedding"], (weight, input), (padding_idx, bool(scale_grad_by_freq)))


def _check_range(index: Tensor, rows: int) -> None:
    value = value_of(index)
    if value.place is None and not isinstance(value.array, jax.core.Tracer) and (
        index._aval.device.type == "cpu" and index._aval.numel
    ):
        array = np.asarray(value.array)
        if array.min() < 0 or array.max() >= rows:
            raise IndexError("index out of range in self")


def _renormalize(weight: Tensor, input: Tensor, max_norm: float, norm_type: float) -> None:
    rows = input.detach().reshape(-1)
    table = weight.detach()
    norms = table.norm(norm_type, 1, keepdim=True)
    scale = (norms > max_norm).to(table.dtype) * (max_norm / (norms + 1e-7) - 1) + 1
    used = table.new_zeros((table.shape[0], 1)).index_fill_(0, rows, 1)
    table.mul_(used * scale + (1 - used))
