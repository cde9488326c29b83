"""Transformer layers, stacks of them, and the encoder-decoder model."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from typing import Any

from jaxflow import _functions as functions
from jaxflow._core.tensor import Tensor
from jaxflow.nn import functional as F
from jaxflow.nn import init
from jaxflow.nn.modules import _fast_path
from jaxflow.nn.modules.activation import MultiheadAttention
from jaxflow.nn.modules.container import ModuleList
from jaxflow.nn.modules.dropout import Dropout
from jaxflow.nn.modules.linear import Linear
from jaxflow.nn.modules.module import Module
from jaxflow.nn.modules.normalization import LayerNorm


def _causal_mask(size: int, device: Any = None, dtype: Any = None) -> Tensor:
    return functions.triu(
        functions.full((size, size), float("-inf"), dtype=dtype, device=device), diagonal=1
    )


def _is_causal(mask: Tensor | None, is_causal: bool | None) -> bool:
    """The hint, or where there is none whether the mask is the causal one."""
    if is_causal is not None:
        return is_causal
    if mask is None or mask.size(-2) != mask.size(-1):
        return False
    causal = _causal_mask(mask.size(-2), mask.device, mask.dtype)
    return mask.size() == causal.size() and bool((mask == causal).all())


def _activation(name: str) -> Callable[[Tensor], Tensor]:
    if name not in ("relu", "gelu"):
        raise RuntimeError(f"activation should be relu/gelu, not {name}")
    return getattr(F, name)


_LAYER_DOC = """{parts} and a feed-forward network, each added to its input and normalised.

With ``f`` for each of these parts in turn::

    x = norm(x + dropout(f(x)))
    x = x + dropout(f(norm(x)))         with norm_first

The feed-forward network is ``linear2(dropout(activation(linear1(x))))``. From Vaswani et al., "Attention
is all you need", 2017; on ``norm_first`` see Xiong et al., "On layer normalization in the transformer
architecture", 2020.

{call} Masks are as in `MultiheadAttention`.

Args:
    d_model: size of inputs and outputs.
    nhead: heads of the attention; they divide ``d_model``.
    dim_feedforward: size between the two linear maps.
    dropout: probability, after every part.
    activation: ``"relu"``, ``"gelu"`` or a function, between the linear maps.
    layer_norm_eps: added to the variance.
    batch_first: whether the batch is dimension 0 rather than 1.
    norm_first: normalise what goes into each part instead of what comes out.
    bias: whether linear maps and norms learn a bias.
    device: where to put the parameters.
    dtype: their dtype.

Raises:
    RuntimeError: for an unknown activation.
    AssertionError: when ``nhead`` does not divide ``d_model``.

Example:
    {example}
"""


class _Layer(Module):
    """What the layers of encoder and decoder share: `_LAYER_DOC`."""

    _attentions: tuple[str, ...] = ("self_attn",)

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Callable[[Tensor], Tensor] = F.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device=None,
        dtype=None,
    ) -> None:
        factory = {"device": device, "dtype": dtype}
        super().__init__()
        for name in self._attentions:
            attention = MultiheadAttention(
                d_model, nhead, dropout=dropout, bias=bias, batch_first=batch_first, **factory
            )
            setattr(self, name, attention)
        self.linear1 = Linear(d_model, dim_feedforward, bias=bias, **factory)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias=bias, **factory)
        self.norm_first = norm_first
        parts = range(1, len(self._attentions) + 2)
        for i in parts:
            setattr(self, f"norm{i}", LayerNorm(d_model, layer_norm_eps, bias=bias, **factory))
        for i in parts:
            setattr(self, f"dropout{i}", Dropout(dropout))
        self.activation = _activation(activation) if isinstance(activation, str) else activation

    def _attend(
        self, attention: Module, x: Tensor, memory: Tensor, mask: Tensor | None,
        padding: Tensor | None, is_causal: bool,
    ) -> Tensor:
        return attention(
            x, memory, memory, attn_mask=mask, key_padding_mask=padding, is_causal=is_causal,
            need_weights=False,
        )[0]

    def _feed_forward(self, x: Tensor) -> Tensor:
        return self.linear2(self.dropout(self.activation(self.linear1(x))))

    def _add(self, x: Tensor, part: int, compute: Callable[[Tensor], Tensor]) -> Tensor:
        """``x`` plus a part of the layer, with that part's norm and dropout."""
        norm, dropout = getattr(self, f"norm{part}"), getattr(self, f"dropout{part}")
        if self.norm_first:
            return x + dropout(compute(norm(x)))
        return norm(x + dropout(compute(x)))


class TransformerEncoderLayer(_Layer):
    __doc__ = _LAYER_DOC.format(
        parts="Self-attention",
        call="""A call ``layer(src, src_mask)`` takes ``(S, N, d_model)``, or ``(N, S, d_model)`` if
``batch_first``, and returns a tensor of the same shape.""",
        example=""">>> layer = nn.TransformerEncoderLayer(8, nhead=2, dim_feedforward=16, norm_first=True)
    >>> causal = nn.Transformer.generate_square_subsequent_mask(5)
    >>> layer(torch.zeros(5, 3, 8), src_mask=causal, is_causal=True).shape
    torch.Size([5, 3, 8])""",
    )

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        """``(S, N, d_model)`` to the same; masks as in `MultiheadAttention`."""

        def attend(x: Tensor) -> Tensor:
            return self._attend(
                self.self_attn, x, x, src_mask, src_key_padding_mask, is_causal
            )

        return self._add(self._add(src, 1, attend), 2, self._feed_forward)


class TransformerDecoderLayer(_Layer):
    __doc__ = _LAYER_DOC.format(
        parts="Self-attention, attention to a memory",
        call="""A call ``layer(tgt, memory, tgt_mask)`` takes ``(T, N, d_model)`` and a memory
``(S, N, d_model)``, or both with ``N`` first if ``batch_first``, and returns a tensor of the shape of
``tgt``.""",
        example=""">>> layer = nn.TransformerDecoderLayer(8, nhead=2, dim_feedforward=16, batch_first=True)
    >>> target, memory = torch.zeros(3, 4, 8), torch.zeros(3, 5, 8)
    >>> layer(target, memory).shape
    torch.Size([3, 4, 8])""",
    )

    _attentions = ("self_attn", "multihead_attn")

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """``(T, N, d_model)`` and a memory ``(S, N, d_model)`` to ``(T, N, d_model)``."""

        def attend(x: Tensor) -> Tensor:
            return self._attend(
                self.self_attn, x, x, tgt_mask, tgt_key_padding_mask, tgt_is_causal
            )

        def recall(x: Tensor) -> Tensor:
            return self._attend(
                self.multihead_attn, x, memory, memory_mask, memory_key_padding_mask,
                memory_is_causal,
            )

        return self._add(self._add(self._add(tgt, 1, attend), 2, recall), 3, self._feed_forward)


class _Stack(Module):
    """Copies of one layer, one after the other."""

    def __init__(self, layer: _Layer, num_layers: int, norm: Module | None) -> None:
        super().__init__()
        self.layers = ModuleList([copy.deepcopy(layer) for _ in range(num_layers)])
        self.num_layers, self.norm = num_layers, norm

    def _run(self, x: Tensor, *memory: Tensor, **masks: Any) -> Tensor:
        for layer in self.layers:
            x = layer(x, *memory, **masks)
        return x if self.norm is None else self.norm(x)


class TransformerEncoder(_Stack):
    """Encoder layers one after the other.

    A call ``encoder(src, mask, src_key_padding_mask)`` returns a tensor of the shape of ``src``,
    ``(S, N, d_model)`` or, with ``batch_first`` in the layer, ``(N, S, d_model)``. Masks are as in
    `MultiheadAttention`.

    Args:
        encoder_layer: copied for every layer, so all start with the same values.
        num_layers: how many.
        norm: applied to the last one's output.
        enable_nested_tensor: whether results are zero at the padding in inference, as PyTorch's are, which
            makes nested tensors then: in eval mode, without gradients, with ``src_key_padding_mask`` and no
            ``mask``.
        mask_check: do so only if what counts comes first in every sequence; without the check, as many
            elements are taken from the beginning as count.

    Example:
        >>> layer = nn.TransformerEncoderLayer(d_model=8, nhead=2, dim_feedforward=16, batch_first=True)
        >>> encoder = nn.TransformerEncoder(layer, num_layers=2, norm=nn.LayerNorm(8))
        >>> padding = torch.tensor([[False, False, True], [False, False, False]])
        >>> encoder(torch.zeros(2, 3, 8), src_key_padding_mask=padding).shape
        torch.Size([2, 3, 8])
        >>> encoder.layers[0] is layer, len(encoder.layers)
        (False, 2)
    """

    def __init__(
        self,
        encoder_layer: TransformerEncoderLayer,
        num_layers: int,
        norm: Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        super().__init__(encoder_layer, num_layers, norm)
        self.enable_nested_tensor, self.mask_check = enable_nested_tensor, mask_check
        refused = _fast_path.layer_refuses(encoder_layer, TransformerEncoderLayer)
        self.use_nested_tensor = enable_nested_tensor and not refused
        if enable_nested_tensor and refused:
            warnings.warn(
                f"enable_nested_tensor is True, but self.use_nested_tensor is False because {refused}",
                stacklevel=2,
            )

    def forward(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
    ) -> Tensor:
        """``(S, N, d_model)`` to the same."""
        masks = {"src_mask": mask, "is_causal": _is_causal(mask, is_causal)}
        if not _fast_path.is_taken(self, src, mask, src_key_padding_mask):
            return self._run(src, **masks, src_key_padding_mask=src_key_padding_mask)
        padding, zero = _fast_path.padding_of(src_key_padding_mask, self.mask_check)
        x = src
        for layer in self.layers:
            x = layer(x, **masks, src_key_padding_mask=padding)
        x = x.masked_fill(zero.unsqueeze(-1), 0.0)
        return x if self.norm is None else self.norm(x)


class TransformerDecoder(_Stack):
    """Decoder layers one after the other.

    A call ``decoder(tgt, memory, tgt_mask)`` takes ``(T, N, d_model)`` and an encoder's output
    ``(S, N, d_model)``, or both with ``N`` first with ``batch_first`` in the layer, and returns a tensor of
    the shape of ``tgt``. Masks are as in `MultiheadAttention`.

    Args:
        decoder_layer: copied for every layer, so all start with the same values.
        num_layers: how many.
        norm: applied to the last one's output.

    Example:
        >>> layer = nn.TransformerDecoderLayer(d_model=8, nhead=2, dim_feedforward=16)
        >>> decoder = nn.TransformerDecoder(layer, num_layers=2)
        >>> mask = nn.Transformer.generate_square_subsequent_mask(4)
        >>> decoder(torch.zeros(4, 2, 8), torch.zeros(3, 2, 8), tgt_mask=mask).shape
        torch.Size([4, 2, 8])
    """

    def __init__(
        self, decoder_layer: TransformerDecoderLayer, num_layers: int, norm: Module | None = None
    ) -> None:
        super().__init__(decoder_layer, num_layers, norm)

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """``(T, N, d_model)`` and a memory ``(S, N, d_model)`` to ``(T, N, d_model)``."""
        return self._run(
            tgt,
            memory,
            tgt_mask=tgt_mask,
            memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
            tgt_is_causal=_is_causal(tgt_mask, tgt_is_causal),
            memory_is_causal=memory_is_causal,
        )


class Transformer(Module):
    """An encoder, and a decoder that attends to what it makes of its input.

    From Vaswani et al., "Attention is all you need", 2017; embeddings and positions are not part of it, and
    both halves end with a norm. A call ``model(src, tgt)`` takes ``(S, N, d_model)`` and
    ``(T, N, d_model)``, or both with ``N`` first if ``batch_first``, and returns a tensor of the shape of
    ``tgt``.

    Args:
        d_model: size of inputs and outputs.
        nhead: heads of every attention; they divide ``d_model``.
        num_encoder_layers: layers of the encoder.
        num_decoder_layers: layers of the decoder.
        dim_feedforward: size between the linear maps of a layer.
        dropout: probability, in every layer.
        activation: ``"relu"``, ``"gelu"`` or a function.
        custom_encoder: an encoder of one's own.
        custom_decoder: a decoder of one's own.
        layer_norm_eps: added to variances.
        batch_first: whether the batch is dimension 0 rather than 1.
        norm_first: normalise what goes into each part of a layer instead of what comes out.
        bias: whether linear maps and norms learn a bias.
        device: where to put the parameters.
        dtype: their dtype.

    Raises:
        RuntimeError: for an unknown activation.
        AssertionError: when ``nhead`` does not divide ``d_model``.

    Example:
        >>> model = nn.Transformer(8, 2, num_encoder_layers=1, num_decoder_layers=1, dim_feedforward=16)
        >>> mask = model.generate_square_subsequent_mask(3)
        >>> model(torch.zeros(5, 2, 8), torch.zeros(3, 2, 8), tgt_mask=mask).shape
        torch.Size([3, 2, 8])
        >>> mask
        tensor([[0., -inf, -inf],
                [0., 0., -inf],
                [0., 0., 0.]])
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Callable[[Tensor], Tensor] = F.relu,
        custom_encoder: Any | None = None,
        custom_decoder: Any | None = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device=None,
        dtype=None,
    ) -> None:
        super().__init__()
        layer = (
            d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first,
            norm_first, bias, device, dtype,
        )

        def norm() -> LayerNorm:
            return LayerNorm(d_model, layer_norm_eps, bias=bias, device=device, dtype=dtype)

        self.encoder = custom_encoder or TransformerEncoder(
            TransformerEncoderLayer(*layer), num_encoder_layers, norm()
        )
        self.decoder = custom_decoder or TransformerDecoder(
            TransformerDecoderLayer(*layer), num_decoder_layers, norm()
        )
        self._reset_parameters()
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first

    def _reset_parameters(self) -> None:
        """Every matrix by Glorot's rule."""
        for parameter in self.parameters():
            if parameter.dim() > 1:
                init.xavier_uniform_(parameter)

    @staticmethod
    def generate_square_subsequent_mask(size: int, device=None, dtype=None) -> Tensor:
        """``(size, size)``, minus infinity above the diagonal and zero elsewhere."""
        return _causal_mask(size, device, dtype)

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """``(S, N, d_model)`` and ``(T, N, d_model)`` to ``(T, N, d_model)``.

        Raises:
            RuntimeError: when batches differ, or sizes are not ``d_model``.
        """
        batch = 0 if self.batch_first else 1
        if src.dim() == 3 and src.size(batch) != tgt.size(batch):
            raise RuntimeError("the batch number of src and tgt must be equal")
        if src.size(-1) != self.d_model or tgt.size(-1) != self.d_model:
            raise RuntimeError("the feature number of src and tgt must be equal to d_model")
        memory = self.encoder(
            src,
            mask=src_mask,
            src_key_padding_mask=src_key_padding_mask,
            is_causal=src_is_causal,
        )
        return self.decoder(
            tgt,
            memory,
            tgt_mask=tgt_mask,
            memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
            tgt_is_causal=tgt_is_causal,
            memory_is_causal=memory_is_causal,
        )
