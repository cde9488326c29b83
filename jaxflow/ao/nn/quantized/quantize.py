"""Where a quantized model begins and ends."""

from __future__ import annotations

from typing import Any

from jaxflow import _functions as functions
from jaxflow._core.tensor import Tensor
from jaxflow.nn import Module


class Quantize(Module):
    """Quantizes its input with one scale.

    Args:
        scale, zero_point: numbers, or tensors of one element.
        dtype: ``torch.quint8`` and its like.
        factory_kwargs: ``device`` and ``dtype`` of the buffers.

    Example:
        >>> torch.ao.nn.quantized.Quantize(0.5, 0, torch.qint8)(torch.tensor([0.26])).int_repr()
        tensor([1], dtype=torch.int8)
    """

    scale: Tensor
    zero_point: Tensor

    def __init__(self, scale: Any, zero_point: Any, dtype: Any, factory_kwargs: dict | None = None) -> None:
        super().__init__()
        device = (factory_kwargs or {}).get("device")
        for name, value in (("scale", scale), ("zero_point", zero_point)):
            value = value.detach() if isinstance(value, Tensor) else functions.tensor([value])
            self.register_buffer(name, value.reshape(-1).clone().to(device=device))
        self.dtype = dtype

    def forward(self, X: Tensor) -> Tensor:
        """``X`` quantized."""
        return functions.quantize_per_tensor(X, float(self.scale), int(self.zero_point), self.dtype)

    @staticmethod
    def from_float(mod: Any, use_precomputed_fake_quant: bool = False) -> Quantize:
        """The layer of a `QuantStub` that was prepared and has observed its input."""
        if not hasattr(mod, "activation_post_process"):
            raise AssertionError("expected mod to have activation_post_process attribute")
        scale, zero_point = mod.activation_post_process.calculate_qparams()
        return Quantize(scale.float(), zero_point.long(), mod.activation_post_process.dtype)

    def extra_repr(self) -> str:
        return f"scale={self.scale}, zero_point={self.zero_point}, dtype={self.dtype}"


class DeQuantize(Module):
    """Gives the numbers that its quantized input stands for.

    Example:
        >>> q = torch.quantize_per_tensor(torch.tensor([0.26]), 0.5, 0, torch.qint8)
        >>> torch.ao.nn.quantized.DeQuantize()(q)
        tensor([0.5000])
    """

    def forward(self, Xq: Tensor) -> Tensor:
        """``Xq`` in float32."""
        return Xq.dequantize()

    @staticmethod
    def from_float(mod: Any, use_precomputed_fake_quant: bool = False) -> DeQuantize:
        """The layer of a `DeQuantStub`."""
        return DeQuantize()
