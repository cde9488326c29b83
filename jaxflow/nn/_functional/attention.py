"""Multi-head attention as a function: checks, masks, projections, attention, output projection."""

from __future__ import annotations

import math
import warnings

from jaxflow import _functions as functions
from jaxflow._core import dtype as dtypes
from jaxflow._core.tensor import Tensor
from jaxflow.nn._functional import operations as F


def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """Attention in several heads between learned projections; `nn.MultiheadAttention` as a
    function.

    Args:
        query: ``(L, N, E)`` or ``(L, E)``.
        key: ``(S, N, E_k)`` or ``(S, E_k)``.
        value: ``(S, N, E_v)`` or ``(S, E_v)``.
        embed_dim_to_check: what ``E`` has to be.
        num_heads: how many heads.
        in_proj_weight: ``(3 E, E)``, the three projections.
        in_proj_bias: ``(3 E,)``.
        bias_k: ``(1, 1, E)``, a position appended to the keys.
        bias_v: likewise, to the values.
        add_zero_attn: append a position of zeros to both.
        dropout_p: probability of dropping an attention weight in training.
        out_proj_weight: ``(E, E)``.
        out_proj_bias: ``(E,)``.
        training: whether weights are dropped.
        key_padding_mask: ``(N, S)``, True or minus infinity where a key does not count.
        need_weights: also return the attention weights.
        attn_mask: ``(L, S)`` or ``(N * heads, L, S)``, True or an amount added to the score.
        use_separate_proj_weight: use the next three instead of ``in_proj_weight``.
        q_proj_weight: ``(E, E)``.
        k_proj_weight: ``(E, E_k)``.
        v_proj_weight: ``(E, E_v)``.
        static_k: ``(N * heads, S, E / heads)``, keys that are projected already.
        static_v: likewise, values.
        average_attn_weights: return the weights averaged over heads.
        is_causal: a hint that ``attn_mask`` is the causal mask.

    Returns:
        The output, shaped like ``query``, and the weights ``(N, L, S)`` (with heads in dimension 1
        when they are not averaged) or None.

    Raises:
        AssertionError: for shapes that do not go together, or masks of other dtypes.
        RuntimeError: for a mask of the wrong shape, or the hint without the mask.
    """
    batched = _check_shapes(query, key, value, key_padding_mask, attn_mask, num_heads)
    if not batched:
        query, key, value = (x.unsqueeze(1) for x in (query, key, value))
        if key_padding_mask is not None:
            key_padding_mask = key_padding_mask.unsqueeze(0)
    length, batch, size = query.shape
    source = key.shape[0]
    key_padding_mask = _as_scores(
        key_padding_mask, "key_padding_mask", attn_mask, query.dtype
    )
    if is_causal and attn_mask is None:
        raise RuntimeError(
            "Need attn_mask if specifying the is_causal hint. You may use the Transformer module "
            "method `generate_square_subsequent_mask` to create this mask."
        )
    if is_causal and key_padding_mask is None and not need_weights:
        attn_mask = None  # the attention below makes this mask itself
    else:
        attn_mask = _as_scores(attn_mask, "attn_mask", None, query.dtype)
        is_causal = False
    _require(
        size == embed_dim_to_check,
        f"was expecting embedding dimension of {embed_dim_to_check}, but got {size}",
    )
    head_size = size // num_heads
    _require(
        head_size * num_heads == size, f"embed_dim {size} not divisible by num_heads {num_heads}"
    )
    if use_separate_proj_weight:
        _require(
            key.shape[:2] == value.shape[:2],
            f"key's sequence and batch dims {key.shape[:2]} do not match value's {value.shape[:2]}",
        )
        weights = (q_proj_weight, k_proj_weight, v_proj_weight)
        biases = (None,) * 3 if in_proj_bias is None else in_proj_bias.chunk(3)
        q, k, v = (F.linear(x, w, b) for x, w, b in zip((query, key, value), weights, biases))
    else:
        _require(
            key.shape == value.shape,
            f"key shape {key.shape} does not match value shape {value.shape}",
        )
        q, k, v = _project(query, key, value, in_proj_weight, in_proj_bias)
    attn_mask = _check_mask_shape(attn_mask, length, source, batch * num_heads)

    if bias_k is not None and bias_v is not None:
        k = functions.cat([k, bias_k.repeat(1, batch, 1)])
        v = functions.cat([v, bias_v.repeat(1, batch, 1)])
        attn_mask, key_padding_mask = _one_wider(attn_mask), _one_wider(key_padding_mask)

    def heads(x: Tensor) -> Tensor:
        return x.reshape(x.shape[0], batch * num_heads, head_size).transpose(0, 1)

    q = heads(q)
    k = heads(k) if static_k is None else static_k
    v = heads(v) if static_v is None else static_v
    if add_zero_attn:
        zeros = (batch * num_heads, 1, head_size)
        k = functions.cat([k, k.new_zeros(zeros)], dim=1)
        v = functions.cat([v, v.new_zeros(zeros)], dim=1)
        attn_mask, key_padding_mask = _one_wider(attn_mask), _one_wider(key_padding_mask)
    source = k.shape[1]
    if key_padding_mask is not None:
        every_head = key_padding_mask.reshape(batch, 1, 1, source).expand(-1, num_heads, -1, -1)
        every_head = every_head.reshape(batch * num_heads, 1, source)
        attn_mask = every_head if attn_mask is None else attn_mask + every_head
    if not training:
        dropout_p = 0.0

    if need_weights:
        q, k = q * math.sqrt(1.0 / head_size), k.transpose(-2, -1)
        scores = q @ k if attn_mask is None else functions.baddbmm(attn_mask, q, k)
        shares = scores.softmax(-1)
        if dropout_p > 0.0:
            shares = F.dropout(shares, p=dropout_p)
        output = (shares @ v).transpose(0, 1)
    else:
        if attn_mask is not None:
            attn_mask = attn_mask.reshape(batch, num_heads, *attn_mask.shape[1:]) if (
                attn_mask.shape[0] != 1
            ) else attn_mask.unsqueeze(0)
        shares = None
        q, k, v = (x.reshape(batch, num_heads, x.shape[1], head_size) for x in (q, k, v))
        output = F.scaled_dot_product_attention(q, k, v, attn_mask, dropout_p, is_causal)
        output = output.permute(2, 0, 1, 3)
    output = output.reshape(length * batch, size)
    output = F.linear(output, out_proj_weight, out_proj_bias).reshape(length, batch, out_proj_weight.shape[0])
    if shares is not None:
        shares = shares.reshape(batch, num_heads, length, source)
        if average_attn_weights:
            shares = shares.mean(dim=1)
    if not batched:
        output = output.squeeze(1)
        shares = None if shares is None else shares.squeeze(0)
    return output, shares


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise AssertionError(message)


def _check_shapes(query, key, value, key_padding_mask, attn_mask, num_heads) -> bool:
    """Whether there is a batch; all numbers of dimensions must agree on that."""
    dims = query.dim()
    _require(
        dims in (2, 3),
        "query should be unbatched 2D or batched 3D tensor but received "
        f"{dims}-D query tensor",
    )
    batched = dims == 3
    case = f"For {'batched' if batched else 'unbatched'} ({dims}-D) `query`"
    _require(
        key.dim() == dims and value.dim() == dims,
        f"{case}, expected `key` and `value` to be {dims}-D but found {key.dim()}-D and "
        f"{value.dim()}-D tensors respectively",
    )
    if key_padding_mask is not None:
        _require(
            key_padding_mask.dim() == dims - 1,
            f"{case}, expected `key_padding_mask` to be `None` or {dims - 1}-D but found "
            f"{key_padding_mask.dim()}-D tensor instead",
        )
        if batched:
            _require(
                key_padding_mask.shape[0] == key.shape[1],
                f"Expected key_padded_mask.shape[0] to be {key.shape[1]}, but got "
                f"{key_padding_mask.shape[0]}",
            )
            _require(
                key_padding_mask.shape[1] == key.shape[0],
                f"Expected key_padded_mask.shape[1] to be {key.shape[0]}, but got "
                f"{key_padding_mask.shape[1]}",
            )
    if attn_mask is not None:
        _require(
            attn_mask.dim() in (2, 3),
            f"{case}, expected `attn_mask` to be `None`, 2-D or 3-D but found {attn_mask.dim()}-D "
            "tensor instead",
        )
        if not batched and attn_mask.dim() == 3:
            expected = (num_heads, query.shape[0], key.shape[0])
            _require(
                attn_mask.shape == expected,
                f"Expected `attn_mask` shape to be {expected} but got {attn_mask.shape}",
            )
    return batched


def _as_scores(mask: Tensor | None, name: str, other: Tensor | None, dtype) -> Tensor | None:
    """A mask as what is added to scores: a bool mask becomes minus infinity where it is True."""
    if mask is None:
        return None
    _require(
        mask.dtype is dtypes.bool or mask.is_floating_point(),
        f"only bool and floating types of {name} are supported",
    )
    if other is not None and mask.dtype is not other.dtype:
        warnings.warn(
            "Support for mismatched key_padding_mask and attn_mask is deprecated. Use same type "
            "for both instead.",
            stacklevel=3,
        )
    if mask.is_floating_point():
        return mask
    return mask.new_zeros(mask.shape, dtype=dtype).masked_fill_(mask, float("-inf"))


def _check_mask_shape(
    mask: Tensor | None, length: int, source: int, all_heads: int
) -> Tensor | None:
    if mask is None:
        return None
    expected = (length, source) if mask.dim() == 2 else (all_heads, length, source)
    if mask.shape != expected:
        raise RuntimeError(
            f"The shape of the {mask.dim()}D attn_mask is {mask.shape}, but should be {expected}."
        )
    return mask.unsqueeze(0) if mask.dim() == 2 else mask


def _project(
    query: Tensor, key: Tensor, value: Tensor, weight: Tensor, bias: Tensor | None
) -> list[Tensor]:
    """The three projections, in as few products as equal inputs allow."""
    if key is value and query is key:
        return list(F.linear(query, weight, bias).chunk(3, dim=-1))
    weights = weight.chunk(3)
    biases = (None,) * 3 if bias is None else bias.chunk(3)
    if key is value:
        size = query.shape[-1]
        both = F.linear(key, weight[size:], None if bias is None else bias[size:])
        return [F.linear(query, weights[0], biases[0]), *both.chunk(2, dim=-1)]
    return [F.linear(x, w, b) for x, w, b in zip((query, key, value), weights, biases)]


def _one_wider(mask: Tensor | None) -> Tensor | None:
    return None if mask is None else F.pad(mask, (0, 1))
