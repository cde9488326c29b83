"""Multi-head attention; PyTorch has it among the activations."""

from __future__ import annotations

from typing import Any

from jaxflow import _functions as functions
from jaxflow._core.layouts import among, handler
from jaxflow._core.tensor import Tensor
from jaxflow.nn import functional as F
from jaxflow.nn import init
from jaxflow.nn.modules.linear import NonDynamicallyQuantizableLinear
from jaxflow.nn.modules.module import Module
from jaxflow.nn.parameter import Parameter


class MultiheadAttention(Module):
    """Attention in several heads at once, between learned projections of queries, keys and values.

    ``head_i = softmax(Q_i @ K_i.T / sqrt(E / num_heads)) @ V_i``, where ``Q_i``, ``K_i`` and ``V_i`` are
    the parts of size ``E / num_heads`` of the projected queries, keys and values (``E = embed_dim``); the
    heads side by side go through one more projection, ``out_proj``: Vaswani et al., "Attention Is All You
    Need", 2017.

    It is called with queries ``(L, N, E)``, keys ``(S, N, kdim)`` and values ``(S, N, vdim)``, and gives
    the outputs ``(L, N, E)`` and the attention weights ``(N, L, S)``, or None with ``need_weights=False``.
    With ``batch_first`` inputs and outputs are ``(N, L, ...)`` and ``(N, S, ...)``; the dimension ``N`` may
    be left out everywhere. The masks are arguments of `forward`.

    Args:
        embed_dim: size of queries and outputs, divided among the heads.
        num_heads: how many heads.
        dropout: probability of dropping an attention weight in training.
        bias: whether the projections learn a bias.
        add_bias_kv: append a learned position to keys and values.
        add_zero_attn: append a position of zeros to them.
        kdim: size of keys (default: ``embed_dim``).
        vdim: size of values (default: ``embed_dim``).
        batch_first: whether the batch is dimension 0 rather than 1.
        device: where to put the parameters.
        dtype: their dtype.

    Raises:
        ValueError: when ``embed_dim`` or ``num_heads`` is not positive.
        AssertionError: when the heads do not divide ``embed_dim``.

    Example:
        >>> m = nn.MultiheadAttention(embed_dim=8, num_heads=2, batch_first=True)
        >>> queries, keys = torch.ones(4, 3, 8), torch.ones(4, 5, 8)
        >>> output, weights = m(queries, keys, keys)
        >>> output.shape, weights.shape
        (torch.Size([4, 3, 8]), torch.Size([4, 3, 5]))
        >>> m(queries, keys, keys, average_attn_weights=False)[1].shape
        torch.Size([4, 2, 3, 5])
    """

    def __init__(
        self,
        embed_dim,
        num_heads,
        dropout=0.0,
        bias=True,
        add_bias_kv=False,
        add_zero_attn=False,
        kdim=None,
        vdim=None,
        batch_first=False,
        device=None,
        dtype=None,
    ) -> None:
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and "
                f"num_heads={num_heads} instead"
            )
        super().__init__()
        self.embed_dim = embed_dim
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.num_heads, self.dropout, self.batch_first = num_heads, dropout, batch_first
        self.head_dim = embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim:
            raise AssertionError("embed_dim must be divisible by num_heads")

        def parameter(*shape: int) -> Parameter:
            return Parameter(functions.empty(shape, device=device, dtype=dtype))

        same = self._qkv_same_embed_dim
        for name, wanted, rows, columns in (
            ("in_proj_weight", same, 3 * embed_dim, embed_dim),
            ("q_proj_weight", not same, embed_dim, embed_dim),
            ("k_proj_weight", not same, embed_dim, self.kdim),
            ("v_proj_weight", not same, embed_dim, self.vdim),
        ):
            self.register_parameter(name, parameter(rows, columns) if wanted else None)
        self.register_parameter("in_proj_bias", parameter(3 * embed_dim) if bias else None)
        self.out_proj = NonDynamicallyQuantizableLinear(
            embed_dim, embed_dim, bias=bias, device=device, dtype=dtype
        )
        self.bias_k = parameter(1, 1, embed_dim) if add_bias_kv else None
        self.bias_v = parameter(1, 1, embed_dim) if add_bias_kv else None
        self.add_zero_attn = add_zero_attn
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        """Projections by Glorot's rule, biases zero."""
        for weight in (
            self.in_proj_weight, self.q_proj_weight, self.k_proj_weight, self.v_proj_weight
        ):
            if weight is not None:
                init.xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            init.constant_(self.in_proj_bias, 0.0)
            init.constant_(self.out_proj.bias, 0.0)
        for bias in (self.bias_k, self.bias_v):
            if bias is not None:
                init.xavier_normal_(bias)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.__dict__.setdefault("_qkv_same_embed_dim", True)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """``(L, N, E)`` queries and ``(S, N, ...)`` keys and values to ``(L, N, E)``, and the
        weights.

        Args:
            query: as said, or ``(N, L, E)`` with ``batch_first``, or without ``N``.
            key: likewise.
            value: likewise.
            key_padding_mask: ``(N, S)``, True (or minus infinity) where a key does not count.
            need_weights: also return the attention weights.
            attn_mask: ``(L, S)`` or ``(N * heads, L, S)``, True (or an amount added to the score)
                where a query may not see a key.
            average_attn_weights: return the weights averaged over heads.
            is_causal: a hint that ``attn_mask`` is the causal mask.

        Raises:
            AssertionError: for shapes that do not go together.
            RuntimeError: for a mask of the wrong shape.
        """
        if among((query, key, value)):
            return handler("nested_attention")(
                self, query, key, value, (key_padding_mask, attn_mask), need_weights, average_attn_weights
            )
        swaps = self.batch_first and query.dim() == 3
        if swaps:
            query, key, value = _swapped(query, key, value)
        output, weights = F.multi_head_attention_forward(
            query,
            key,
            value,
            self.embed_dim,
            self.num_heads,
            self.in_proj_weight,
            self.in_proj_bias,
            self.bias_k,
            self.bias_v,
            self.add_zero_attn,
            self.dropout,
            self.out_proj.weight,
            self.out_proj.bias,
            training=self.training,
            key_padding_mask=key_padding_mask,
            need_weights=need_weights,
            attn_mask=attn_mask,
            use_separate_proj_weight=not self._qkv_same_embed_dim,
            q_proj_weight=self.q_proj_weight,
            k_proj_weight=self.k_proj_weight,
            v_proj_weight=self.v_proj_weight,
            average_attn_weights=average_attn_weights,
            is_causal=is_causal,
        )
        return output.transpose(1, 0) if swaps else output, weights


def _swapped(query: Tensor, key: Tensor, value: Tensor) -> list[Tensor]:
    """Batch and sequence exchanged; the same tensor stays the same: one projection serves."""
    done: dict[int, Tensor] = {}
    for tensor in (query, key, value):
        if id(tensor) not in done:
            done[id(tensor)] = tensor.transpose(1, 0)
    return [done[id(tensor)] for tensor in (query, key, value)]
