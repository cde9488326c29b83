"""Look-up tables of quantized models: rows in 8 bits, results in float32."""

from __future__ import annotations

from typing import Any

from jaxflow import _functions as functions
from jaxflow import nn
from jaxflow._core import dtype as dtypes
from jaxflow._core import layout as layouts
from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.dispatch import apply
from jaxflow._plans.op import OPS
from jaxflow._quantized.parts import is_quantized, parts_of
from jaxflow.nn import functional as F

from .packed import observed, quantize_weight, unsupported


class EmbeddingPackedParams(nn.Module):
    """The table, as it is saved.

    Args:
        num_embeddings, embedding_dim: its sizes.
        dtype: ``torch.quint8``.
    """

    _version = 1

    def __init__(self, num_embeddings: int, embedding_dim: int, dtype: Any = dtypes.quint8) -> None:
        super().__init__()
        if dtype is not dtypes.quint8:
            raise NotImplementedError("Unsupported dtype on quantized embedding! Supports quint8.")
        self.dtype = dtype
        self.set_weight(functions.quantize_per_channel(
            functions.zeros(num_embeddings, embedding_dim), functions.ones(num_embeddings),
            functions.zeros(num_embeddings), 0, dtypes.quint8))

    def set_weight(self, weight: Tensor) -> None:
        """Keep this table."""
        if not is_quantized(weight) or weight.qscheme() is not layouts.per_channel_affine_float_qparams:
            raise RuntimeError("a quantized embedding needs a weight with a floating zero point for each row")
        self._packed_weight = weight

    def _weight(self) -> Tensor:
        return self._packed_weight

    def forward(self, x: Tensor) -> Tensor:
        """``x``."""
        return x

    def _save_to_state_dict(self, destination: dict, prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        destination[prefix + "dtype"] = self.dtype
        destination[prefix + "_packed_weight"] = self._weight()

    def _load_from_state_dict(self, state_dict: Any, prefix: str, local_metadata: dict, strict: bool,
                              missing_keys: list, unexpected_keys: list, error_msgs: list) -> None:
        found = [prefix + name for name in ("dtype", "_packed_weight")]
        missing_keys.extend(name for name in found if name not in state_dict)
        unexpected_keys.extend(name for name in state_dict if name.startswith(prefix) and name not in found)
        if found[1] in state_dict:
            self.set_weight(state_dict[found[1]])

    def __repr__(self) -> str:
        return repr(self._weight())


class Embedding(nn.Module):
    """`torch.nn.Embedding` whose table is held in 8 bits, with a scale for each row.

    Args:
        num_embeddings, embedding_dim: sizes of the table.
        padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse: of no effect.
        _weight: the quantized table.
        dtype: ``torch.quint8``.

    Example:
        >>> model = nn.Sequential(nn.Embedding(4, 3))
        >>> model.qconfig = torch.ao.quantization.float_qparams_weight_only_qconfig
        >>> model = torch.ao.quantization.convert(torch.ao.quantization.prepare(model))
        >>> model(torch.tensor([1, 2])).shape
        torch.Size([2, 3])
    """

    _version = 1
    _FLOAT_MODULE: Any = nn.Embedding

    def __init__(self, num_embeddings: int, embedding_dim: int, padding_idx: int | None = None,
                 max_norm: float | None = None, norm_type: float = 2.0, scale_grad_by_freq: bool = False,
                 sparse: bool = False, _weight: Tensor | None = None, dtype: Any = dtypes.quint8) -> None:
        super().__init__()
        self.num_embeddings, self.embedding_dim, self.dtype = num_embeddings, embedding_dim, dtype
        self._packed_params = EmbeddingPackedParams(num_embeddings, embedding_dim, dtype)
        if _weight is not None:
            self.set_weight(_weight)

    def set_weight(self, w: Tensor) -> None:
        """Keep a table, quantized."""
        self._packed_params.set_weight(w)

    def weight(self) -> Tensor:
        """The quantized table."""
        return self._packed_params._weight()

    def _rows(self, places: Tensor) -> Tensor:
        """The rows at ``places`` in float32; only they are converted."""
        ints, scale, zero, _, _ = parts_of(self.weight())
        flat = places.reshape(-1)
        found = apply(OPS["_dequantize"], (F.embedding(flat, ints), scale[flat], zero[flat]), (0,))
        return found.reshape(*places.shape, self.embedding_dim)

    def forward(self, indices: Tensor) -> Tensor:
        """The rows at ``indices``, in float32."""
        return self._rows(indices)

    def _get_name(self) -> str:
        return "QuantizedEmbedding"

    def extra_repr(self) -> str:
        return (f"num_embeddings={self.num_embeddings}, embedding_dim={self.embedding_dim}, "
                f"dtype={self._packed_params.dtype}, qscheme={self.weight().qscheme()}")

    def __repr__(self) -> str:
        return f"{self._get_name()}({self.extra_repr()})"

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Any:
        """The layer of a float one, by the observer of weights of its ``qconfig``.

        Raises:
            AssertionError: for another layer or observer, and one without ``qconfig``.
        """
        if not isinstance(mod, cls._FLOAT_MODULE):
            raise unsupported(cls, mod)
        if not hasattr(mod, "qconfig"):
            raise AssertionError("Embedding input float module must have qconfig defined")
        made = mod.qconfig.weight()
        if made.qscheme is not layouts.per_channel_affine_float_qparams:
            raise AssertionError("Embedding quantization is currently only supported with "
                                 "torch.per_channel_affine_float_qparams.")
        weight = quantize_weight(mod.weight, observed(mod.weight, made))
        return cls(mod.num_embeddings, mod.embedding_dim, _weight=weight, **cls._options(mod))

    @classmethod
    def _options(cls, mod: Any) -> dict:
        return {}


class EmbeddingBag(Embedding):
    """`torch.nn.EmbeddingBag` whose table is held in 8 bits, with a scale for each row.

    Args:
        num_embeddings, embedding_dim: sizes of the table.
        max_norm, norm_type, scale_grad_by_freq, sparse: of no effect.
        mode: ``"sum"``; PyTorch's quantized bags have no other.
        _weight: the quantized table.
        include_last_offset: as of `torch.nn.EmbeddingBag`.
        dtype: ``torch.quint8``.
    """

    _FLOAT_MODULE: Any = nn.EmbeddingBag

    def __init__(self, num_embeddings: int, embedding_dim: int, max_norm: float | None = None,
                 norm_type: float = 2.0, scale_grad_by_freq: bool = False, mode: str = "sum",
                 sparse: bool = False, _weight: Tensor | None = None, include_last_offset: bool = False,
                 dtype: Any = dtypes.quint8) -> None:
        if mode != "sum":
            raise NotImplementedError(f"quantized EmbeddingBag has the mode 'sum' alone, got {mode!r}")
        super().__init__(num_embeddings, embedding_dim, _weight=_weight, dtype=dtype)
        self.mode, self.include_last_offset = mode, include_last_offset

    def forward(self, indices: Tensor, offsets: Tensor | None = None,
                per_sample_weights: Tensor | None = None) -> Tensor:
        """The sums of rows of each bag, in float32."""
        return F.embedding_bag(indices, self.weight().dequantize(), offsets, mode="sum",
                               per_sample_weights=per_sample_weights,
                               include_last_offset=self.include_last_offset)

    def _get_name(self) -> str:
        return "QuantizedEmbeddingBag"

    @classmethod
    def _options(cls, mod: Any) -> dict:
        return {"mode": mod.mode, "include_last_offset": mod.include_last_offset}
